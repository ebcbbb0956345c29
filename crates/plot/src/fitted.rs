//! The plot of a fit: what was measured beside the motion that was fitted to it, and what is left.

use crate::chart::{Axis, Figure, Over, Panel, Series, Style, thin_series};
use crate::error::PictureError;
use crate::paper::color;
use crate::view::drawable;
use std::path::Path;

/// At most so many measured quantities are shown.
const MOST: usize = 6;

/// The height of a panel.
const HEIGHT: f64 = 270.0;

/// Points and lines are thinned to so many slices of time.
const SLICES: usize = 900;

/// A measured quantity beside the one of a motion; points that are not finite are gaps, as between recordings.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedCurve {
    /// What was measured.
    pub name: String,
    /// Times and measured values.
    pub data: Vec<[f64; 2]>,
    /// Times and values of the motion.
    pub fit: Vec<[f64; 2]>,
    /// Times and what is left.
    pub residuals: Vec<[f64; 2]>,
    /// The noise of the measurement: most residuals are within twice of it.
    pub sigma: f64,
}

/// Measured quantities beside those of a motion.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedPlot {
    /// What stands above.
    pub title: String,
    /// And below that.
    pub subtitle: String,
    /// What was measured.
    pub curves: Vec<FittedCurve>,
}

impl FittedPlot {
    /// Writes the plot to a file that ends in .svg or .png.
    ///
    /// # Errors
    /// [`PictureError`] if there is nothing to show, or if the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), PictureError> {
        self.figure()?.save(path)
    }

    /// The plot as SVG.
    ///
    /// # Errors
    /// [`PictureError`] if there is nothing to show.
    pub fn svg(&self) -> Result<String, PictureError> {
        self.figure()?.sheet().svg()
    }

    fn figure(&self) -> Result<Figure, PictureError> {
        if self.curves.iter().all(|curve| curve.data.is_empty()) {
            return Err(PictureError::Empty);
        }
        let shown = &self.curves[..self.curves.len().min(MOST)];
        let mut columns =
            vec![shown.iter().map(at_right).collect(), shown.iter().map(left).collect::<Vec<Panel>>()];
        if shown.len() < self.curves.len() {
            let first: &mut Vec<Panel> = &mut columns[0];
            first[0].notes.push(format!("{} of {} quantities shown", shown.len(), self.curves.len()));
        }
        let height = HEIGHT * shown.len() as f64;
        Ok(Figure { title: self.title.clone(), subtitle: self.subtitle.clone(), columns, height })
    }
}

fn at_right(curve: &FittedCurve) -> Panel {
    let all = || curve.data.iter().chain(&curve.fit);
    let x = Axis::linear("t", all().map(|point| point[0]), 0.0);
    let y = Axis::linear(&curve.name, all().map(|point| point[1]), 0.05);
    let mut panel = Panel::new(format!("{}: measured (dots) and fitted", curve.name), x, y);
    panel.series.push(dots(&curve.data));
    panel.series.push(Series {
        name: String::new(),
        points: thin_series(&curve.fit, SLICES),
        index: 1,
        style: Style::Line,
    });
    panel
}

fn left(curve: &FittedCurve) -> Panel {
    let finite = || curve.residuals.iter().filter(|point| point.iter().all(|x| drawable(*x)));
    let band = 2.0 * curve.sigma;
    let x = Axis::linear("t", curve.residuals.iter().map(|point| point[0]), 0.0);
    let y = Axis::linear("residual", finite().map(|point| point[1]).chain([-band, band]), 0.05);
    let mut panel = Panel::new(format!("{}: residuals, and twice the noise", curve.name), x, y);
    let ends = [f64::INFINITY, f64::NEG_INFINITY];
    let [low, high] = finite().fold(ends, |[low, high], point| [low.min(point[0]), high.max(point[0])]);
    if low <= high && band.is_finite() {
        let corners = vec![[low, -band], [high, -band], [high, band], [low, band]];
        panel.over.push(Over::Area(corners, color::series(0).faint(0.18).over(color::WHITE)));
        panel.over.push(Over::Still(vec![[low, 0.0], [high, 0.0]]));
    }
    panel.series.push(dots(&curve.residuals));
    panel
}

fn dots(points: &[[f64; 2]]) -> Series {
    let points =
        points.iter().filter(|point| point.iter().all(|x| drawable(*x))).copied().collect::<Vec<_>>();
    Series {
        name: String::new(),
        points: thin_series(&points, SLICES),
        index: 0,
        style: Style::Points(color::series(0), 1.6),
    }
}

#[cfg(test)]
mod tests {
    use super::{FittedCurve, FittedPlot};

    #[test]
    fn a_fit_is_shown_with_its_residuals_and_gaps_are_left_out() {
        let line =
            |offset: f64| (0..50).map(|i| [f64::from(i), f64::from(i % 7) + offset]).collect::<Vec<_>>();
        let mut data = line(0.1);
        data[7][1] = f64::NAN;
        let curve = |name: &str| FittedCurve {
            name: name.to_owned(),
            data: data.clone(),
            fit: line(0.0),
            residuals: data.iter().zip(line(0.0)).map(|(a, b)| [a[0], a[1] - b[1]]).collect(),
            sigma: 0.1,
        };
        let plot =
            |curves: Vec<FittedCurve>| FittedPlot { title: "swing".into(), subtitle: String::new(), curves };
        let svg = plot(vec![curve("th"), curve("x")]).figure().unwrap().sheet().svg().unwrap();
        assert!(svg.contains("th: measured") && svg.contains("x: residuals") && !svg.contains("NaN"));
        let many = (0..9).map(|i| curve(&format!("q{i}"))).collect();
        assert!(plot(many).figure().unwrap().sheet().svg().unwrap().contains("6 of 9 quantities shown"));
        assert!(plot(Vec::new()).figure().is_err());
    }
}
