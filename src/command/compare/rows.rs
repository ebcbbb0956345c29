//! The table of a comparison: on the terminal, as CSV, and as JSON.

use super::super::{Failure, table};
use leastaction::integrate::number;
use leastaction::output::{FileError, json, replace};
use leastaction::simulate::Trial;
use leastaction::{Card, Pace};
use std::path::Path;

/// A method at a pace, and what became of it.
pub(super) struct Row {
    pub(super) card: &'static Card,
    pub(super) pace: Pace,
    pub(super) outcome: Result<Trial, String>,
    /// How far the end is from the reference.
    pub(super) error: Option<f64>,
}

/// A table, and which of its columns there is something in.
pub(super) struct Rows {
    pub(super) rows: Vec<Row>,
    /// Whether the energy should stay as it is.
    pub(super) conserved: bool,
    pub(super) constrained: bool,
    /// By how much the reference may be off, if there is one.
    pub(super) doubt: Option<f64>,
}

impl Row {
    /// The step or the tolerance.
    pub(super) fn pace(&self) -> String {
        match &self.pace {
            Pace::Step(step) => number(step),
            Pace::Tolerance(tolerance) => number(&tolerance.relative),
            Pace::Density(density) => density.to_string(),
        }
    }

    fn kind(&self) -> &'static str {
        match self.pace {
            Pace::Step(_) => "step",
            Pace::Tolerance(_) => "tolerance",
            Pace::Density(_) => "density",
        }
    }
}

impl Rows {
    /// The nearest to the reference first, or what drifted least, and the cheapest of those that are equally accurate; what did not run
    /// last, in its order.
    pub(super) fn sort(&mut self) {
        let least = self.doubt.unwrap_or(0.0);
        let key = |row: &Row| match &row.outcome {
            Err(_) => (f64::INFINITY, 0),
            Ok(run) => {
                let error = row.error.unwrap_or_else(|| run.drift());
                (if error.is_nan() { f64::MAX } else { error.max(least) }, run.work.evaluations)
            }
        };
        self.rows.sort_by(|a, b| {
            let ((error, work), (other, more)) = (key(a), key(b));
            error.total_cmp(&other).then(work.cmp(&more))
        });
    }

    /// The rows as text, the time last because it is another one each time.
    pub(super) fn text(&self) -> String {
        let Some(first) = self.rows.first() else { return String::new() };
        let rejecting = first.kind() != "step";
        let mut heads = vec!["method", first.kind(), "order", "steps"];
        heads.extend(rejecting.then_some("rejected"));
        heads.push("evaluations");
        heads.extend(self.conserved.then_some("energy drift"));
        heads.extend(self.constrained.then_some("constraints"));
        heads.extend(self.doubt.is_some().then_some("error at the end"));
        heads.push("time");
        let mut cells = vec![heads.into_iter().map(str::to_owned).collect::<Vec<_>>()];
        for row in &self.rows {
            let mut line = vec![row.card.name.to_owned(), row.pace(), row.card.order.to_string()];
            match &row.outcome {
                Ok(run) => {
                    line.push(run.work.steps.to_string());
                    line.extend(rejecting.then(|| run.work.rejected.to_string()));
                    line.push(run.work.evaluations.to_string());
                    line.extend(self.conserved.then(|| brief(run.drift())));
                    line.extend(self.constrained.then(|| brief(run.violations.0.max(run.violations.1))));
                    line.extend(self.doubt.map(|doubt| below(row.error, doubt)));
                    line.push(format!("{:.3} ms", 1e3 * run.wall.as_secs_f64()));
                }
                // The reason takes the rest of the line.
                Err(why) => line.push(format!("– {why}")),
            }
            cells.push(line);
        }
        aligned(&cells)
    }

    /// Writes the rows to a file that ends in .csv or .json.
    pub(super) fn write(&self, path: &Path) -> Result<(), FileError> {
        let text = if is_json(path) { self.json() } else { self.csv() };
        replace(path, |out| out.write_all(text.as_bytes()))
    }

    fn csv(&self) -> String {
        let quote = |text: &str| match text.contains([',', '"', '\n']) {
            true => format!("\"{}\"", text.replace('"', "\"\"")),
            false => text.to_owned(),
        };
        let names = self.rows.first().map(|row| self.members(row)).unwrap_or_default();
        let head: Vec<_> = names.into_iter().map(|(name, _)| name).collect();
        let mut text = head.join(",") + "\n";
        for row in &self.rows {
            let cells = self.members(row).into_iter().map(|(_, value)| match value {
                Value::Text(text) => quote(&text),
                Value::Count(count) => count.to_string(),
                Value::Number(value) => format!("{value:?}"),
                Value::Nothing => String::new(),
            });
            text += &(cells.collect::<Vec<_>>().join(",") + "\n");
        }
        text
    }

    fn json(&self) -> String {
        let rows = self.rows.iter().map(|row| {
            json::object(self.members(row).into_iter().map(|(name, value)| {
                let value = match value {
                    Value::Text(text) => json::text(&text),
                    Value::Count(count) => count.to_string(),
                    Value::Number(value) => json::number(value),
                    Value::Nothing => "null".to_owned(),
                };
                (name, value)
            }))
        });
        format!("[\n  {}\n]\n", rows.collect::<Vec<_>>().join(",\n  "))
    }

    /// All that is known of a row, by name.
    fn members(&self, row: &Row) -> Vec<(&'static str, Value)> {
        let run = row.outcome.as_ref().ok();
        let count = |pick: fn(&Trial) -> u64| run.map_or(Value::Nothing, |run| Value::Count(pick(run)));
        let value = |value: Option<f64>| value.map_or(Value::Nothing, Value::Number);
        let pace = match &row.pace {
            Pace::Step(step) => Value::Number(*step),
            Pace::Tolerance(tolerance) => Value::Number(tolerance.relative),
            Pace::Density(density) => Value::Text(density.to_string()),
        };
        vec![
            ("method", Value::Text(row.card.name.to_owned())),
            (row.kind(), pace),
            ("order", Value::Count(u64::from(row.card.order))),
            ("steps", count(|run| run.work.steps)),
            ("rejected", count(|run| run.work.rejected)),
            ("evaluations", count(|run| run.work.evaluations)),
            ("energy_drift", value(run.filter(|_| self.conserved).map(Trial::drift))),
            ("constraint_position", value(run.filter(|_| self.constrained).map(|run| run.violations.0))),
            ("constraint_velocity", value(run.filter(|_| self.constrained).map(|run| run.violations.1))),
            ("end_error", value(row.error)),
            ("wall_s", value(run.map(|run| run.wall.as_secs_f64()))),
            ("refused", row.outcome.as_ref().err().map_or(Value::Nothing, |why| Value::Text(why.clone()))),
        ]
    }
}

enum Value {
    Text(String),
    Count(u64),
    Number(f64),
    Nothing,
}

fn ending(path: &Path) -> String {
    path.extension().map(|end| end.to_string_lossy().to_lowercase()).unwrap_or_default()
}

fn is_json(path: &Path) -> bool {
    ending(path) == "json"
}

/// Refuses a file whose ending is not known, or that cannot be written.
pub(super) fn check(path: &Path) -> Result<(), Failure> {
    if !matches!(ending(path).as_str(), "csv" | "json") {
        return Err(Failure::usage(format!("`{}` should end in .csv or .json", path.display())));
    }
    leastaction::output::check(path).map_err(Failure::usage)
}

/// Rows in columns; a row that is shorter than the first ends in a cell that takes the rest of its line.
fn aligned(cells: &[Vec<String>]) -> String {
    let whole = cells.first().map_or(0, Vec::len);
    let short: Vec<Option<String>> = cells
        .iter()
        .map(|row| (row.len() < whole).then(|| row.last().cloned().unwrap_or_default()))
        .collect();
    let trimmed: Vec<Vec<String>> = cells
        .iter()
        .zip(&short)
        .map(|(row, rest)| if rest.is_some() { row[..row.len() - 1].to_vec() } else { row.clone() })
        .collect();
    let text = table(&trimmed);
    let widths = (0..3).map(|c| {
        trimmed.iter().filter_map(|row| row.get(c)).map(|x| x.chars().count()).max().unwrap_or(0) + 2
    });
    let before: usize = widths.sum();
    let lines = text.lines().zip(&short).map(|(line, rest)| match rest {
        Some(rest) => format!("{line:<before$}{rest}\n"),
        None => format!("{line}\n"),
    });
    lines.collect()
}

/// Two digits, or none of nothing.
fn brief(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { format!("{value:.1e}") }
}

/// An error, as far as the reference is accurate.
fn below(error: Option<f64>, doubt: f64) -> String {
    match error {
        None => "–".to_owned(),
        Some(error) if error <= doubt => format!("<{}", brief(doubt)),
        Some(error) => brief(error),
    }
}
