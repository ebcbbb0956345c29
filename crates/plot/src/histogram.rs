//! The plot of how often values occur.

use crate::chart::{Axis, Figure, Over, Panel};
use crate::error::PictureError;
use crate::paper::color;
use std::path::Path;

/// How often values between two numbers occur, in bins of one width.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// What the values are.
    pub what: String,
    /// Where the first bin begins.
    pub low: f64,
    /// Where the last bin ends.
    pub high: f64,
    /// How many values each bin has.
    pub counts: Vec<u64>,
    /// How many values are in none.
    pub outside: u64,
}

/// Histograms side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Histograms {
    /// What stands above.
    pub title: String,
    /// And below that.
    pub subtitle: String,
    /// The histograms.
    pub histograms: Vec<Bars>,
}

impl Histograms {
    /// Writes the plot to a file that ends in .svg or .png.
    ///
    /// # Errors
    /// [`PictureError`] if there is nothing to show, or if the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), PictureError> {
        self.figure()?.save(path)
    }

    fn figure(&self) -> Result<Figure, PictureError> {
        let panels: Vec<Panel> = self.histograms.iter().filter_map(panel).collect();
        if panels.is_empty() {
            return Err(PictureError::Empty);
        }
        let height = 400.0 * panels.len().min(3) as f64;
        let (title, subtitle) = (self.title.clone(), self.subtitle.clone());
        Ok(Figure { title, subtitle, columns: vec![panels], height })
    }
}

fn panel(bars: &Bars) -> Option<Panel> {
    let count = bars.counts.len();
    let most = *bars.counts.iter().max()?;
    let edge = |i: usize| bars.low + (bars.high - bars.low) * i as f64 / count as f64;
    let x = Axis::linear(&bars.what, [bars.low, bars.high], 0.0);
    let y = Axis::linear("trajectories", [0.0, 1.05 * most.max(1) as f64], 0.0);
    let mut panel = Panel::new("", x, y);
    let mut outline = vec![[edge(0), 0.0]];
    for (i, &height) in bars.counts.iter().enumerate() {
        let height = height as f64;
        let corners = [[edge(i), height], [edge(i + 1), height]];
        let area = vec![[edge(i), 0.0], corners[0], corners[1], [edge(i + 1), 0.0]];
        panel.over.push(Over::Area(area, color::series(0).faint(0.35).over(color::WHITE)));
        outline.extend(corners);
    }
    outline.push([edge(count), 0.0]);
    panel.over.push(Over::Line(outline));
    panel.notes.extend((bars.outside > 0).then(|| format!("{} outside of the range", bars.outside)));
    Some(panel)
}
