//! The plot of a comparison: how methods keep the energy, and what that costs them.

use crate::chart::{Axis, Figure, Over, Panel, Series, Style, thin_series};
use crate::chosen::spread;
use crate::error::PictureError;
use crate::motion::largest_so_far;
use crate::paper::color::SEVERAL;
use crate::view::drawable;
use std::path::Path;

/// Methods differ by all the digits there are.
const DECADES: i32 = 20;

/// Smaller errors are rounding: they are no better.
const ROUNDING: f64 = 1e-15;

/// So many names of methods fit into a note.
const NAMED: usize = 3;

/// What a method did.
#[derive(Clone, Debug, PartialEq)]
pub struct Contender {
    /// The method, and its step if several are compared.
    pub name: String,
    /// The times.
    pub times: Vec<f64>,
    /// The relative error of the energy at each of them.
    pub errors: Vec<f64>,
    /// What it cost: evaluations, or seconds.
    pub work: f64,
    /// Whether it was asked for by name, and goes before those that were not.
    pub asked: bool,
}

impl Contender {
    /// The largest error; none if one is not finite.
    fn worst(&self) -> Option<f64> {
        let whole = self.errors.iter().all(|v| drawable(*v)) && !self.errors.is_empty();
        whole.then(|| self.errors.iter().copied().fold(0.0, f64::max))
    }

    /// Whether another is no worse at no more cost, and better in one of both.
    fn yields_to(&self, other: &Contender) -> bool {
        let key = |c: &Contender| [c.worst().unwrap_or(f64::INFINITY).max(ROUNDING), c.work];
        let (mine, other) = (key(self), key(other));
        other != mine && other.iter().zip(mine).all(|(other, mine)| *other <= mine)
    }
}

/// Methods on one system.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What stands above.
    pub title: String,
    /// And below that.
    pub subtitle: String,
    /// What is compared: the error of the energy, if nothing else is.
    pub measure: String,
    /// What work is counted in.
    pub work: String,
    /// The methods; of many, the best are shown.
    pub contenders: Vec<Contender>,
}

impl Comparison {
    /// Writes the plot to a file that ends in .svg or .png.
    ///
    /// # Errors
    /// [`PictureError`] if there is nothing to show, or if the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), PictureError> {
        self.figure()?.save(path)
    }

    fn figure(&self) -> Result<Figure, PictureError> {
        if self.contenders.iter().all(|contender| contender.times.is_empty()) {
            return Err(PictureError::Empty);
        }
        let (title, subtitle) = (self.title.clone(), self.subtitle.clone());
        let shown = self.shown();
        let columns = vec![vec![self.drift(&shown)], vec![self.cost(&shown)]];
        Ok(Figure { title, subtitle, columns, height: 480.0 + 5.0 * shown.len() as f64 })
    }

    /// Which are shown, as many as can be distinguished: those asked for, then those that no other beats in error and cost, then those
    /// that only these beat, and so on.
    fn shown(&self) -> Vec<&Contender> {
        let (mut asked, mut other): (Vec<usize>, Vec<usize>) =
            (0..self.contenders.len()).partition(|&i| self.contenders[i].asked);
        let mut chosen: Vec<usize> = Vec::new();
        for rest in [&mut asked, &mut other] {
            while !rest.is_empty() && chosen.len() < SEVERAL {
                let yields =
                    |&i: &usize| rest.iter().any(|&j| self.contenders[i].yields_to(&self.contenders[j]));
                let (behind, mut front): (Vec<usize>, Vec<usize>) = rest.iter().partition(|i| yields(i));
                front.sort_by(|&i, &j| self.contenders[i].work.total_cmp(&self.contenders[j].work));
                chosen.extend(spread(front.len(), SEVERAL - chosen.len()).into_iter().map(|i| front[i]));
                *rest = behind;
            }
        }
        chosen.sort_unstable();
        chosen.into_iter().map(|i| &self.contenders[i]).collect()
    }

    fn drift(&self, shown: &[&Contender]) -> Panel {
        let errors = || shown.iter().flat_map(|contender| contender.errors.iter().copied());
        let times = shown.iter().flat_map(|contender| contender.times.iter().copied());
        let (broken, zeros) = (errors().filter(|v| !drawable(*v)).count(), errors().any(|v| v == 0.0));
        let y = Axis::log_over(&self.measure, errors(), DECADES);
        let message = y.is_none().then(|| match broken {
            0 => "exactly 0 at all samples".to_owned(),
            _ => "no error is finite".to_owned(),
        });
        let y = y.unwrap_or_else(|| Axis { log: true, ..Axis::linear(&self.measure, [1e-17, 1e-15], 0.0) });
        let mut panel = Panel::new("Largest error so far", Axis::linear("t", times, 0.0), y);
        for (index, contender) in shown.iter().enumerate() {
            let points: Vec<_> =
                contender.times.iter().zip(&contender.errors).map(|(t, v)| [*t, *v]).collect();
            let points = thin_series(&largest_so_far(&points), 600);
            panel.series.push(Series { name: contender.name.clone(), points, index, style: Style::Line });
        }
        let all = self.contenders.len();
        panel.notes.extend((shown.len() < all).then(|| format!("{} of {all} shown", shown.len())));
        panel.notes.extend((zeros && message.is_none()).then(|| "lower edge: exactly 0".to_owned()));
        panel.notes.extend((broken > 0).then(|| format!("{broken} values not finite: left out")));
        panel.message = message;
        panel
    }

    fn cost(&self, shown: &[&Contender]) -> Panel {
        let end = |contender: &Contender| contender.worst().map(|worst| [contender.work, worst]);
        let points = || self.contenders.iter().filter_map(end);
        let x = Axis::log(&self.work, points().map(|p| p[0]));
        let y = Axis::log_over(&self.measure, points().map(|p| p[1]), DECADES);
        let message = (x.is_none() || y.is_none()).then(|| "no method has an error to show".to_owned());
        let axis = |axis: Option<Axis>, label: &str| {
            axis.unwrap_or_else(|| Axis { log: true, ..Axis::linear(label, [1.0, 10.0], 0.0) })
        };
        let mut panel = Panel::new("Work and error", axis(x, &self.work), axis(y, &self.measure));
        if message.is_none() {
            let is_shown = |contender: &Contender| shown.iter().any(|other| std::ptr::eq(*other, contender));
            let others = self.contenders.iter().filter(|contender| !is_shown(contender)).filter_map(end);
            panel.over = others.map(|at| Over::Disc(at, 2.0)).collect();
            panel.notes.extend((!panel.over.is_empty()).then(|| "grey: the others".to_owned()));
            let marks = shown.iter().enumerate();
            panel.over.extend(marks.filter_map(|(index, contender)| {
                Some(Over::Labelled(end(contender)?, index, contender.name.clone()))
            }));
        }
        let failed: Vec<_> =
            self.contenders.iter().filter(|c| c.worst().is_none()).map(|c| c.name.as_str()).collect();
        let names = match failed.len() {
            0..=NAMED => failed.join(", "),
            many => format!("{} and {} more", failed[..NAMED].join(", "), many - NAMED),
        };
        panel.notes.extend((!failed.is_empty()).then(|| format!("not finite: {names}")));
        panel.message = message;
        panel
    }
}
