//! The plot of values over a plane: each cell of a grid has the colour of its value.

use crate::chart::{Axis, Figure, Panel, Series, Style, short};
use crate::error::PictureError;
use crate::paper::{Image, color};
use std::path::Path;

/// Values over a plane.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// What stands above.
    pub title: String,
    /// And below that.
    pub subtitle: String,
    /// What the axes show.
    pub labels: [String; 2],
    /// What the axes reach from and to, at the outer edges of the outer cells.
    pub ranges: [[f64; 2]; 2],
    /// The number of cells from left to right.
    pub columns: usize,
    /// The values, from left to right and from below upwards. NaN where there is none.
    pub values: Vec<f64>,
    /// What the values are.
    pub what: String,
    /// What stands in the legend for cells without a value, with their number after it.
    pub without: String,
    /// Whether colours follow the logarithm of values.
    pub log: bool,
    /// The values that there are, if they stand for kinds of things: each has a colour of its own.
    pub categories: Vec<f64>,
}

impl Map {
    /// So many kinds of things have colours that can be told apart.
    pub const CATEGORIES: usize = color::SEVERAL;

    /// Writes the plot to a file that ends in .svg or .png.
    ///
    /// # Errors
    /// [`PictureError`] if there is nothing to show, or if the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), PictureError> {
        self.figure()?.save(path)
    }

    fn figure(&self) -> Result<Figure, PictureError> {
        let columns = self.columns.max(1);
        if self.values.is_empty() || !self.values.len().is_multiple_of(columns) {
            return Err(PictureError::Empty);
        }
        let scaled = |value: f64| if self.log { value.ln() } else { value };
        let known = || self.values.iter().copied().filter(|value| scaled(*value).is_finite());
        let (low, high) = known().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        if low > high {
            return Err(PictureError::NotFinite { what: self.what.clone() });
        }
        let (from, to) = (scaled(low), scaled(high));
        let kind = |value: f64| self.categories.iter().position(|category| *category == value);
        let shade = |value: f64| match scaled(value) {
            _ if kind(value).is_some() => color::series(kind(value).unwrap_or(0)),
            at if !at.is_finite() => color::GRID,
            at if to > from => color::scale((at - from) / (to - from)),
            _ => color::scale(0.0),
        };
        // A sheet counts from above.
        let cells = self.values.rchunks_exact(columns).flatten().map(|value| shade(*value)).collect();
        let axis = |i: usize| {
            let [low, high] = self.ranges[i];
            Axis { label: self.labels[i].clone(), low, high, log: false }
        };
        let mut panel = Panel::new("", axis(0), axis(1));
        panel.image = Some(Image { cells, columns, smooth: false });
        for (index, category) in self.categories.iter().enumerate() {
            let share = known().filter(|value| value == category).count() as f64 / known().count() as f64;
            let name = format!("{} = {category} ({:.1} %)", self.what, 100.0 * share);
            let style = Style::Points(color::series(index), 4.0);
            panel.series.push(Series { name, points: Vec::new(), index, style });
        }
        let log = if self.log { " (colours by the logarithm)" } else { "" };
        let ends = [format!("{} from {}", self.what, short(low, 4)), format!("to {}{log}", short(high, 4))];
        panel.scale = self.categories.is_empty().then_some(ends);
        let without = self.values.len() - known().count();
        panel
            .notes
            .extend((without > 0).then(|| format!("{}: {without} of {}", self.without, self.values.len())));
        let (title, subtitle) = (self.title.clone(), self.subtitle.clone());
        Ok(Figure { title, subtitle, columns: vec![vec![panel]], height: 800.0 })
    }
}
