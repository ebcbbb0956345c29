//! What is reported of a training on its way.

use leastaction_output::json::{number, object};
use leastaction_output::{FileError, replace};
use std::path::Path;

/// A row of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct LogRow {
    /// How many steps were made.
    pub step: u64,
    /// The rate of the last one.
    pub rate: f64,
    /// The mean loss of the steps since the row before.
    pub loss: f64,
    /// The loss on what is for validation; NaN if nothing is.
    pub validated: f64,
    /// The mean length of gradients since the row before.
    pub length: f64,
    /// How long it had taken, in seconds.
    pub seconds: f64,
}

impl LogRow {
    /// The names of its numbers.
    pub const NAMES: [&'static str; 6] = ["step", "rate", "loss", "validation", "gradient", "seconds"];

    /// Its numbers.
    #[must_use]
    pub fn numbers(&self) -> [f64; 6] {
        [self.step as f64, self.rate, self.loss, self.validated, self.length, self.seconds]
    }

    pub(super) fn of(numbers: &[f64]) -> Option<LogRow> {
        let &[step, rate, loss, validated, length, seconds] = numbers else { return None };
        Some(LogRow { step: step as u64, rate, loss, validated, length, seconds })
    }
}

/// Writes rows to a file, by its ending: `.jsonl` has an object in each line, all others columns separated by commas.
///
/// # Errors
/// [`FileError`] says what is in the way.
pub(super) fn write_log(path: &Path, rows: &[LogRow]) -> Result<(), FileError> {
    let lines = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("jsonl"));
    replace(path, |writer| {
        if !lines {
            writeln!(writer, "{}", LogRow::NAMES.join(","))?;
        }
        for row in rows {
            let values = row.numbers();
            if lines {
                writeln!(writer, "{}", object(LogRow::NAMES.iter().zip(values.map(number))))?;
            } else {
                let step = std::iter::once(row.step.to_string());
                let rest = values[1..].iter().map(|value| format!("{value:?}"));
                writeln!(writer, "{}", step.chain(rest).collect::<Vec<_>>().join(","))?;
            }
        }
        Ok(())
    })
}
