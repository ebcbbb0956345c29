//! The plot of a comparison: how methods keep the energy, and what that costs them.

use crate::chart::{Axis, Figure, Over, Panel, Series, Style, thin_series};
use crate::error::PictureError;
use crate::motion::largest_so_far;
use crate::view::drawable;
use std::path::Path;

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
    /// The methods.
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
        let columns = vec![vec![self.drift()?], vec![self.cost()?]];
        Ok(Figure { title, subtitle, columns, height: 480.0 })
    }

    fn drift(&self) -> Result<Panel, PictureError> {
        let errors = || self.contenders.iter().flat_map(|contender| contender.errors.iter().copied());
        let times = self.contenders.iter().flat_map(|contender| contender.times.iter().copied());
        let (broken, zeros) = (errors().filter(|v| !drawable(*v)).count(), errors().any(|v| v == 0.0));
        let y = Axis::log(&self.measure, errors());
        let message = y.is_none().then(|| match broken {
            0 => "exactly 0 at all samples".to_owned(),
            _ => "no error is finite".to_owned(),
        });
        let y = y.unwrap_or_else(|| Axis { log: true, ..Axis::linear(&self.measure, [1e-17, 1e-15], 0.0) });
        let mut panel = Panel::new("Largest error so far", Axis::linear("t", times, 0.0), y);
        for (index, contender) in self.contenders.iter().enumerate() {
            let points: Vec<_> =
                contender.times.iter().zip(&contender.errors).map(|(t, v)| [*t, *v]).collect();
            let points = thin_series(&largest_so_far(&points), 600);
            panel.series.push(Series { name: contender.name.clone(), points, index, style: Style::Line });
        }
        panel.notes.extend((zeros && message.is_none()).then(|| "lower edge: exactly 0".to_owned()));
        panel.notes.extend((broken > 0).then(|| format!("{broken} values not finite: left out")));
        panel.message = message;
        Ok(panel)
    }

    fn cost(&self) -> Result<Panel, PictureError> {
        let ends = || {
            self.contenders.iter().map(|contender| {
                let worst = contender.errors.iter().copied().filter(|v| drawable(*v)).fold(0.0, f64::max);
                let whole = contender.errors.iter().all(|v| drawable(*v)) && !contender.errors.is_empty();
                (contender, whole.then_some([contender.work, worst]))
            })
        };
        let points = || ends().filter_map(|(_, at)| at);
        let x = Axis::log(&self.work, points().map(|p| p[0]));
        let y = Axis::log(&self.measure, points().map(|p| p[1]));
        let message = (x.is_none() || y.is_none()).then(|| "no method has an error to show".to_owned());
        let axis = |axis: Option<Axis>, label: &str| {
            axis.unwrap_or_else(|| Axis { log: true, ..Axis::linear(label, [1.0, 10.0], 0.0) })
        };
        let mut panel = Panel::new("Work and error", axis(x, &self.work), axis(y, &self.measure));
        if message.is_none() {
            let mark = |(index, (contender, at)): (usize, (&Contender, Option<[f64; 2]>))| {
                Some(Over::Labelled(at?, index, contender.name.clone()))
            };
            panel.over = ends().enumerate().filter_map(mark).collect();
        }
        let failed: Vec<_> = ends().filter(|(_, at)| at.is_none()).map(|(c, _)| c.name.as_str()).collect();
        panel.notes.extend((!failed.is_empty()).then(|| format!("not finite: {}", failed.join(", "))));
        panel.message = message;
        Ok(panel)
    }
}
