//! The plot of what was chosen: quantities against time or against each other, of one run or of several side by side.

use crate::chart::{Axis, Figure, Panel, Series, Style, thin_series};
use crate::chosen::{note, spread};
use crate::error::PictureError;
use leastaction_output::Record;
use std::path::Path;

/// A curve is drawn from this number of slices.
const SLICES: usize = 1200;
/// At most so many curves are in one chart.
const MOST: usize = 12;

/// What is drawn: the names of columns against time, or one over another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What is drawn upwards.
    pub what: Vec<String>,
    /// What is drawn to the right; time, if nothing is said.
    pub over: Option<String>,
}

/// Runs with what is drawn of them.
#[derive(Clone, Debug)]
pub struct Several<'a> {
    /// The runs, with the name of each; empty for a single one.
    pub runs: Vec<(String, &'a Record)>,
    /// What is drawn of each, in a chart of its own.
    pub choices: Vec<Choice>,
    /// What stands above.
    pub title: &'a str,
    /// And below that.
    pub subtitle: &'a str,
}

impl Several<'_> {
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
        if self.choices.is_empty() || self.runs.iter().all(|(_, record)| record.is_empty()) {
            return Err(PictureError::Empty);
        }
        let panels = self.choices.iter().map(|choice| self.panel(choice)).collect();
        Ok(Figure::stacked(self.title, self.subtitle, panels))
    }

    fn panel(&self, choice: &Choice) -> Panel {
        let column = |record: &Record, name: &str| {
            record.columns().find(|(_, other, _)| other == name).map(|(.., values)| values.to_vec())
        };
        let all: Vec<(&str, &Record, &String)> = self
            .runs
            .iter()
            .flat_map(|(run, record)| choice.what.iter().map(move |what| (run.as_str(), *record, what)))
            .collect();
        let shown = spread(all.len(), MOST);
        let mut series = Vec::new();
        for (index, &i) in shown.iter().enumerate() {
            let (run, record, what) = all[i];
            let across =
                choice.over.as_ref().map_or_else(|| Some(record.times.clone()), |x| column(record, x));
            let (Some(across), Some(up)) = (across, column(record, what)) else { continue };
            let points: Vec<_> = across.into_iter().zip(up).map(|(x, y)| [x, y]).collect();
            let points = if choice.over.is_some() { points } else { thin_series(&points, SLICES) };
            let name = match (run, choice.what.len()) {
                ("", _) => what.clone(),
                (run, 1) => run.to_owned(),
                (run, _) => format!("{what}, {run}"),
            };
            series.push(Series { name, points, index, style: Style::Line });
        }
        let names = choice.what.join(", ");
        let along = choice.over.as_deref().unwrap_or("t");
        let room = if choice.over.is_some() { 0.05 } else { 0.0 };
        let x = Axis::linear(along, series.iter().flat_map(|s| s.points.iter().map(|p| p[0])), room);
        let y = Axis::linear(names.clone(), series.iter().flat_map(|s| s.points.iter().map(|p| p[1])), 0.05);
        let title = match &choice.over {
            Some(over) => format!("{names} over {over}"),
            None => names,
        };
        let mut panel = Panel::new(title, x, y);
        panel.notes = note(shown.len(), all.len());
        panel.series = series;
        panel
    }
}

#[cfg(test)]
mod tests {
    use super::{Choice, Several};
    use leastaction_output::{Column, Record};

    #[test]
    fn each_run_has_its_curve() {
        let record = |scale: f64| {
            let column = |name: &str, k: f64| Column { name: name.to_owned(), values: vec![0.0, k * scale] };
            Record {
                times: vec![0.0, 1.0],
                coordinates: vec![column("x", 1.0)].into(),
                velocities: vec![column("x'", 2.0)].into(),
                ..Record::default()
            }
        };
        let (one, two) = (record(1.0), record(3.0));
        let choice =
            |over: Option<&str>| Choice { what: vec!["x'".to_owned()], over: over.map(str::to_owned) };
        let curves = Several {
            runs: vec![("A = 1".to_owned(), &one), ("A = 3".to_owned(), &two)],
            choices: vec![choice(None), choice(Some("x"))],
            title: "t",
            subtitle: "s",
        };
        let figure = curves.figure().unwrap();
        let panels: Vec<_> = figure.columns.iter().flatten().collect();
        assert_eq!(panels.len(), 2);
        let named: Vec<_> = panels[0].series.iter().map(|series| series.name.as_str()).collect();
        assert_eq!(named, ["A = 1", "A = 3"]);
        assert_eq!(panels[0].series[1].points, [[0.0, 0.0], [1.0, 6.0]]);
        assert_eq!(panels[1].series[1].points, [[0.0, 0.0], [3.0, 6.0]]);
        assert_eq!((panels[1].x.label.as_str(), panels[1].title.as_str()), ("x", "x' over x"));
        let none = Several { choices: Vec::new(), ..curves };
        assert!(none.svg().is_err());
    }
}
