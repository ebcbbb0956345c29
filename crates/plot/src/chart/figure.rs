//! A figure: a title over columns of panels.

use super::panel::Panel;
use crate::error::PictureError;
use crate::paper::color::{GREY, INK};
use crate::paper::{Horizontal, Sheet, Vertical, font};
use leastaction_output::replace;
use std::path::Path;

const COLUMN: f64 = 500.0;
const MARGIN: f64 = 16.0;

/// Panels in columns under a title.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    pub(crate) title: String,
    /// A smaller line below the title.
    pub(crate) subtitle: String,
    pub(crate) columns: Vec<Vec<Panel>>,
    /// The height of all panels of a column together.
    pub(crate) height: f64,
}

/// A chart of several is so high, and a figure has two columns from so many charts on.
const HEIGHT: f64 = 300.0;
const TWO_COLUMNS: usize = 4;

impl Figure {
    /// Charts of one kind, one below the other, in two columns if there are more than a few.
    pub(crate) fn stacked(title: &str, subtitle: &str, panels: Vec<Panel>) -> Figure {
        let count = if panels.len() >= TWO_COLUMNS { 2 } else { 1 };
        let rows = panels.len().div_ceil(count);
        let mut columns: Vec<Vec<Panel>> = (0..count).map(|_| Vec::new()).collect();
        panels.into_iter().enumerate().for_each(|(i, panel)| columns[i / rows].push(panel));
        let height = (HEIGHT * rows as f64).max(600.0);
        Figure { title: title.to_owned(), subtitle: subtitle.to_owned(), columns, height }
    }

    pub(crate) fn sheet(&self) -> Sheet {
        let columns = self.columns.iter().filter(|column| !column.is_empty());
        let count = columns.clone().count().max(1);
        // One column alone is wide: it shows times.
        let column = if count == 1 { 1.6 * COLUMN } else { COLUMN };
        let head = if self.subtitle.is_empty() { 54.0 } else { 74.0 };
        let width = column * count as f64 + 2.0 * MARGIN;
        let mut sheet = Sheet::new(width, (head + self.height + 6.0).round());
        let title = fitted(&self.title, 20.0, width - 2.0 * MARGIN);
        sheet.text([MARGIN + 4.0, 14.0], title, 20.0, INK, (Horizontal::Left, Vertical::Top));
        let subtitle = fitted(&self.subtitle, 13.0, width - 2.0 * MARGIN);
        sheet.text([MARGIN + 4.0, 42.0], subtitle, 13.0, GREY, (Horizontal::Left, Vertical::Top));
        for (i, panels) in columns.enumerate() {
            let height = self.height / panels.len() as f64;
            for (j, panel) in panels.iter().enumerate() {
                let [left, top] = [MARGIN + column * i as f64, head + height * j as f64];
                panel.draw(&mut sheet, [left, top, column - 6.0, height - 8.0]);
            }
        }
        sheet
    }

    /// Writes the figure to a file, as its ending says.
    pub(crate) fn save(&self, path: &Path) -> Result<(), PictureError> {
        let sheet = self.sheet();
        let bytes = match ending(path).as_str() {
            "svg" => sheet.svg()?.into_bytes(),
            "png" => sheet.png()?,
            _ => return Err(PictureError::Ending { path: path.to_owned(), endings: ".svg or .png" }),
        };
        Ok(replace(path, |file| file.write_all(&bytes))?)
    }
}

/// The ending of a file's name, in small letters.
pub(crate) fn ending(path: &Path) -> String {
    path.extension().map(|end| end.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// As much of a text as fits.
fn fitted(text: &str, size: f64, room: f64) -> String {
    if font::width(text, size) <= room {
        return text.to_owned();
    }
    let mut kept: String = text.to_owned();
    while !kept.is_empty() && font::width(&kept, size) + font::width("…", size) > room {
        kept.pop();
    }
    kept.push('…');
    kept
}
