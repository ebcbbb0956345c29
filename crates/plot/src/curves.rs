//! The plot of curves over a quantity, with bands that say how well they are known: errors of predictions over time, losses of a training.

use crate::chart::{Axis, Figure, Over, Panel, Series, Style, thin_series};
use crate::error::PictureError;
use crate::paper::color;
use crate::view::drawable;
use std::path::Path;

/// A curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// What the legend calls it.
    pub name: String,
    /// Its points.
    pub points: Vec<[f64; 2]>,
    /// Between which values it lies, for each point; none if nothing is known of it.
    pub band: Vec<[f64; 2]>,
    /// Which colour and which mark it has.
    pub index: usize,
}

/// What one chart shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CurveChart {
    /// What stands above.
    pub title: String,
    /// What the axes show.
    pub labels: [String; 2],
    /// Whether the axes are logarithmic.
    pub log: [bool; 2],
    /// Whether points are not joined.
    pub points: bool,
    /// Whether there is a line where both axes show the same.
    pub diagonal: bool,
    /// The curves.
    pub curves: Vec<Curve>,
}

/// Charts of curves, in columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curves {
    /// What stands above.
    pub title: String,
    /// And below that.
    pub subtitle: String,
    /// The charts of each column.
    pub columns: Vec<Vec<CurveChart>>,
}

impl Curves {
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
        let charts = || self.columns.iter().flatten();
        let points = || charts().flat_map(|chart| &chart.curves).flat_map(|curve| &curve.points);
        if !points().any(|p| p.iter().all(|x| drawable(*x))) {
            let what = "the curves".to_owned();
            return Err(match points().count() {
                0 => PictureError::Empty,
                _ => PictureError::NotFinite { what },
            });
        }
        let rows = self.columns.iter().map(Vec::len).max().unwrap_or(0);
        let columns = self.columns.iter().map(|column| {
            let filled = column.iter().map(CurveChart::panel);
            filled.chain(std::iter::repeat_with(Panel::blank)).take(rows).collect()
        });
        let (title, subtitle) = (self.title.clone(), self.subtitle.clone());
        let height = if rows == 1 { 480.0 } else { 360.0 * rows as f64 };
        Ok(Figure { title, subtitle, columns: columns.collect(), height })
    }
}

impl CurveChart {
    fn axis(&self, which: usize) -> Axis {
        let own = self.curves.iter().flat_map(|curve| &curve.points).map(|p| p[which]);
        let band = self.curves.iter().flat_map(|curve| curve.band.iter().flatten()).copied();
        let values = own.chain(band.filter(|_| which == 1));
        // Both axes of a diagonal show the same.
        let values: Vec<f64> = match self.diagonal {
            true => self.curves.iter().flat_map(|curve| curve.points.iter().flatten()).copied().collect(),
            false => values.collect(),
        };
        let label = &self.labels[which];
        let log = if self.log[which] { Axis::log(label, values.iter().copied()) } else { None };
        let empty = || Axis { log: true, ..Axis::linear(label, [1e-3, 1.0], 0.0) };
        match (log, self.log[which]) {
            (Some(axis), _) => axis,
            (None, true) => empty(),
            (None, false) => Axis::linear(label, values, if self.points { 0.05 } else { 0.0 }),
        }
    }

    fn panel(&self) -> Panel {
        let (x, y) = (self.axis(0), self.axis(1));
        let ends = [x.low.max(y.low), x.high.min(y.high)];
        let mut panel = Panel::new(&self.title, x, y);
        if self.diagonal {
            panel.over.push(Over::Still(ends.map(|at| [at, at]).to_vec()));
        }
        for curve in &self.curves {
            let hue = color::series(curve.index);
            let pairs = curve.points.iter().zip(&curve.band);
            let known: Vec<([f64; 2], [f64; 2])> = pairs
                .map(|(p, b)| (*p, *b))
                .filter(|(p, b)| drawable(p[0]) && b.iter().all(|v| drawable(*v)))
                .collect();
            if known.len() > 1 {
                let there = known.iter().map(|(p, band)| [p[0], band[0]]);
                let back = known.iter().rev().map(|(p, band)| [p[0], band[1]]);
                panel.over.push(Over::Area(there.chain(back).collect(), hue.faint(0.2)));
            }
            let style = if self.points { Style::Points(hue, 4.5) } else { Style::Line };
            let points = if self.points { curve.points.clone() } else { thin_series(&curve.points, 600) };
            panel.series.push(Series { name: curve.name.clone(), points, index: curve.index, style });
        }
        let none = self.curves.iter().flat_map(|c| &c.points).all(|p| p.iter().any(|v| !drawable(*v)));
        panel.message = none.then(|| "nothing finite to show".to_owned());
        panel
    }
}

#[cfg(test)]
mod tests {
    use super::{Curve, CurveChart, Curves};
    use crate::error::PictureError;

    fn chart(points: Vec<[f64; 2]>, band: Vec<[f64; 2]>) -> CurveChart {
        let curves = vec![Curve { name: "ours".to_owned(), points, band, index: 0 }];
        let labels = ["t", "error"].map(str::to_owned);
        CurveChart { labels, log: [false, true], curves, ..CurveChart::default() }
    }

    #[test]
    fn bands_and_curves_are_drawn_and_what_is_not_finite_is_not() {
        let points = vec![[0.0, 1e-4], [1.0, 1e-3], [2.0, f64::NAN], [3.0, 1e-2]];
        let band = vec![[1e-5, 1e-3], [1e-4, 1e-2], [1e-4, 1e-2], [1e-3, f64::INFINITY]];
        let plot = Curves {
            title: "a title".to_owned(),
            columns: vec![vec![chart(points, band)], vec![]],
            ..Curves::default()
        };
        let svg = plot.figure().unwrap().sheet().svg().unwrap();
        assert!(svg.contains("ours") && svg.contains("<polygon"), "{svg}");
        let empty = Curves { columns: vec![vec![chart(vec![], vec![])]], ..Curves::default() };
        assert!(matches!(empty.figure(), Err(PictureError::Empty)));
        let broken = chart(vec![[0.0, f64::NAN]], vec![]);
        let broken = Curves { columns: vec![vec![broken]], ..Curves::default() };
        assert!(matches!(broken.figure(), Err(PictureError::NotFinite { .. })));
        // Nothing above 0 on a logarithmic axis, beside a chart that has something.
        let mut diagonal = chart(vec![[0.1, 0.2]], vec![]);
        (diagonal.diagonal, diagonal.points, diagonal.log) = (true, true, [true, true]);
        let plot =
            Curves { columns: vec![vec![chart(vec![[0.0, 0.0]], vec![]), diagonal]], ..Curves::default() };
        assert!(plot.figure().unwrap().sheet().svg().unwrap().len() > 1000);
    }
}
