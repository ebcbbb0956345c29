//! The plot of normal modes: each as it is drawn where it has gone farthest, or, where nothing is drawn, by its coordinates.

use crate::animation;
use crate::chart::{Axis, Figure, Over, Panel, Series, Style};
use crate::error::PictureError;
use crate::scene::Scene;
use leastaction_language::Drawing;
use leastaction_output::Record;
use std::path::Path;

/// At most so many modes are shown.
pub const MOST_MODES: usize = 6;

/// Two columns of panels of this height.
const HEIGHT: f64 = 340.0;

/// A mode, as a motion of one period about rest.
#[derive(Clone, Debug)]
pub struct ModePicture<'a> {
    /// What stands above it: its number and frequency.
    pub name: String,
    /// The motion, which is at rest at its first sample and farthest from there after a quarter of the others.
    pub record: Record,
    /// By how much coordinates move in it.
    pub shape: &'a [f64],
}

/// Modes of a system.
#[derive(Clone, Debug)]
pub struct ModesPlot<'a> {
    /// How the system is drawn.
    pub drawing: &'a Drawing,
    /// What stands above: the system.
    pub title: &'a str,
    /// And below that.
    pub subtitle: &'a str,
    /// The modes.
    pub modes: &'a [ModePicture<'a>],
}

impl ModesPlot<'_> {
    /// Writes the plot to a file that ends in .svg or .png.
    ///
    /// # Errors
    /// [`PictureError`] if there is nothing to show, or if the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), PictureError> {
        self.figure()?.save(path)
    }

    /// The plot as PNG.
    ///
    /// # Errors
    /// [`PictureError`] if there is nothing to show.
    pub fn png(&self) -> Result<Vec<u8>, PictureError> {
        self.figure()?.sheet().png()
    }

    fn figure(&self) -> Result<Figure, PictureError> {
        let mut columns = vec![Vec::new(), Vec::new()];
        for (i, mode) in self.modes.iter().take(MOST_MODES).enumerate() {
            columns[i % 2].push(self.panel(mode)?);
        }
        if columns[0].is_empty() {
            return Err(PictureError::Empty);
        }
        if columns[1].len() < columns[0].len() && !columns[1].is_empty() {
            columns[1].push(Panel::blank());
        }
        let height = HEIGHT * columns[0].len() as f64;
        Ok(Figure { title: self.title.to_owned(), subtitle: self.subtitle.to_owned(), columns, height })
    }

    fn panel(&self, mode: &ModePicture<'_>) -> Result<Panel, PictureError> {
        let record = &mode.record;
        if record.is_empty() {
            return Err(PictureError::Empty);
        }
        if self.drawing.parts.is_empty() {
            return Ok(bars(mode));
        }
        let scene = Scene::of(self.drawing, record)?;
        let picture = animation::still(record, &scene, (record.len() - 1) / 4)?;
        Ok(Panel::picture(mode.name.clone(), picture))
    }
}

/// How much each coordinate moves, as lines from a zero.
fn bars(mode: &ModePicture<'_>) -> Panel {
    let points = mode.shape.iter().enumerate().map(|(i, x)| [i as f64 + 1.0, *x]);
    let points: Vec<[f64; 2]> = points.collect();
    let x = Axis::linear("coordinate", [0.5, points.len() as f64 + 0.5], 0.0);
    let y = Axis::linear("shape", points.iter().map(|point| point[1]).chain([0.0]), 0.05);
    let mut panel = Panel::new(mode.name.clone(), x, y);
    panel.over = points.iter().map(|&[i, x]| Over::Line(vec![[i, 0.0], [i, x]])).collect();
    panel.series = vec![Series { name: String::new(), points, index: 0, style: Style::Line }];
    panel
}
