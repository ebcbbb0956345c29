//! The plot of many orbits: how one quantity goes with another along each of them.

use crate::chart::{Axis, Figure, Panel, Series, Style, ending};
use crate::chosen::{note, spread};
use crate::error::PictureError;
use crate::paper::color;
use crate::view::drawable;
use std::path::Path;

/// More orbits than this cover each other.
const MOST: usize = 300;

/// An SVG with more points than this is slow to show.
const POINTS: usize = 150_000;

/// The orbits of a number of motions.
#[derive(Clone, Debug, PartialEq)]
pub struct Portrait {
    /// What stands above.
    pub title: String,
    /// And below that.
    pub subtitle: String,
    /// The name of each orbit.
    pub names: Vec<String>,
    /// What is drawn, each in a chart of its own.
    pub charts: Vec<PortraitChart>,
}

/// One quantity over another.
#[derive(Clone, Debug, PartialEq)]
pub struct PortraitChart {
    /// What the axes show, to the right and upwards.
    pub labels: [String; 2],
    /// The points of each orbit in their order.
    pub orbits: Vec<Vec<[f64; 2]>>,
}

impl Portrait {
    /// Writes the plot to a file that ends in .svg or .png.
    ///
    /// # Errors
    /// [`PictureError`] if there is nothing to show, or if the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), PictureError> {
        let most = if ending(path) == "svg" { POINTS } else { usize::MAX };
        self.figure(most)?.save(path)
    }

    fn figure(&self, most: usize) -> Result<Figure, PictureError> {
        if self.charts.iter().all(|chart| chart.orbits.iter().all(Vec::is_empty)) {
            return Err(PictureError::Empty);
        }
        let panels = self.charts.iter().map(|chart| self.panel(chart, most / self.charts.len()));
        Ok(Figure::stacked(&self.title, &self.subtitle, panels.collect::<Result<_, _>>()?))
    }

    fn panel(&self, chart: &PortraitChart, most: usize) -> Result<Panel, PictureError> {
        let [over, what] = &chart.labels;
        let shown = spread(chart.orbits.len(), MOST);
        let orbits = || shown.iter().map(|&i| &chart.orbits[i]);
        let whole = |p: &&[f64; 2]| p.iter().all(|v| drawable(*v));
        let known = || orbits().flatten().filter(whole);
        if known().next().is_none() {
            return Err(PictureError::NotFinite { what: format!("{what} over {over}") });
        }
        let [x, y] = [0, 1].map(|axis| Axis::linear(&chart.labels[axis], known().map(|p| p[axis]), 0.04));
        let mut panel = Panel::new(format!("{what} over {over}"), x, y);
        let every = orbits().map(Vec::len).sum::<usize>().div_ceil(most.max(1)).max(1);
        let several = shown.len() > color::SEVERAL;
        let last = shown.len().saturating_sub(1).max(1);
        for (index, (&place, orbit)) in shown.iter().zip(orbits()).enumerate() {
            let end = orbit.len().saturating_sub(1);
            let kept = orbit.iter().enumerate().filter(|(i, _)| i % every == 0 || *i == end);
            let points = kept.map(|(_, point)| *point).collect();
            let (name, style) = match several {
                true => (String::new(), Style::Curve(color::scale(index as f64 / last as f64))),
                false => (self.names.get(place).cloned().unwrap_or_default(), Style::Line),
            };
            panel.series.push(Series { name, points, index, style });
        }
        if let (true, [first, .., last]) = (several, &self.names[..]) {
            panel.scale = Some([first.clone(), last.clone()]);
        }
        panel.notes = note(shown.len(), chart.orbits.len());
        panel.notes.extend((every > 1).then(|| format!("1 of {every} points")));
        Ok(panel)
    }
}

#[cfg(test)]
mod tests {
    use super::{Portrait, PortraitChart};
    use crate::chart::Style;

    /// Circles with this number of points, each larger than the one before.
    fn circles(count: usize, points: usize) -> Portrait {
        let circle = |k: usize| {
            let at = |i: usize| (0.1 * i as f64).sin_cos();
            (0..points).map(|i| [(1 + k) as f64 * at(i).1, (1 + k) as f64 * at(i).0]).collect()
        };
        Portrait {
            title: "t".to_owned(),
            subtitle: "s".to_owned(),
            names: (0..count).map(|k| k.to_string()).collect(),
            charts: vec![PortraitChart {
                labels: ["x".to_owned(), "x'".to_owned()],
                orbits: (0..count).map(circle).collect(),
            }],
        }
    }

    #[test]
    fn a_few_orbits_have_names_and_many_a_scale() {
        let few = circles(3, 50).figure(1000).unwrap();
        let panel = &few.columns[0][0];
        assert_eq!((panel.title.as_str(), panel.series.len()), ("x' over x", 3));
        assert_eq!((panel.series[2].name.as_str(), panel.scale.is_none()), ("2", true));
        // The largest has the radius 3, and the axes hold it.
        assert!(panel.x.high > 3.0 && panel.x.high < 3.5, "{}", panel.x.high);

        let many = circles(1000, 50).figure(5000).unwrap();
        let panel = &many.columns[0][0];
        assert_eq!(panel.scale, Some(["0".to_owned(), "999".to_owned()]));
        assert_eq!(panel.notes, ["300 of 1000", "1 of 3 points"]);
        assert!(panel.series.iter().all(|series| matches!(series.style, Style::Curve(_))));
        // Every third point of 50, and the last: 0, 3, …, 48 and 49.
        assert!(panel.series.iter().all(|series| series.points.len() == 18));
    }

    #[test]
    fn nothing_to_show_is_an_error() {
        assert!(circles(0, 5).figure(100).is_err() && circles(4, 0).figure(100).is_err());
        let mut broken = circles(1, 5);
        broken.charts[0].orbits[0].iter_mut().for_each(|point| point[0] = f64::NAN);
        assert!(broken.figure(100).is_err());
    }
}
