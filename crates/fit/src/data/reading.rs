//! What the columns of a file mean.

use super::recording::{Channel, Recording};
use super::sheet::Sheet;
use crate::error::FitError;
use crate::fitting::measurable;
use leastaction_expr::{Graph, ParseError, nearest};
use leastaction_simulate::{Overrides, Source};

/// An expression of the model, and the formula in the columns of a file that gives its measured values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measure {
    /// The expression, in names of the model.
    pub what: String,
    /// The formula, in names of columns: mostly only one.
    pub formula: String,
}

/// What the columns of a file mean. By default, those that have names of the model are measured, and time is the column `t`, or `time`.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Reading {
    /// A formula for the time.
    pub time: Option<String>,
    /// What is measured. If nothing is said, it is all that has a name of the model.
    pub measures: Vec<Measure>,
    /// Standard deviations of what is measured: formulas, or numbers. Columns `sigma_x` and `x_sigma` are those of `x`.
    pub sigmas: Vec<Measure>,
}

/// Why columns have no meaning.
#[derive(Debug, thiserror::Error)]
pub enum ReadingError {
    /// A formula cannot be read.
    #[error("the formula `{formula}`: {source}")]
    Formula {
        /// Its text.
        formula: String,
        /// Why.
        source: ParseError,
    },
    /// There is no such column.
    #[error("{sheet} has no column `{column}`{}; it has {}", did_you_mean(.nearest), .columns.join(", "))]
    NoColumn {
        /// The file.
        sheet: String,
        /// What is missing.
        column: String,
        /// One that is spelt alike.
        nearest: Option<String>,
        /// Those that are there.
        columns: Vec<String>,
    },
    /// There is no column of times.
    #[error("{sheet} has no column `t` or `time`; it has {}: say which formula of these is the time", .columns.join(", "))]
    NoTime {
        /// The file.
        sheet: String,
        /// Those that are there.
        columns: Vec<String>,
    },
    /// No column has a name of the model.
    #[error(
        "{sheet} measures nothing that the model names: its columns are {}, the model's coordinates {}; say which expression a column measures",
        .columns.join(", "),
        .coordinates.join(", ")
    )]
    Nothing {
        /// The file.
        sheet: String,
        /// Its columns.
        columns: Vec<String>,
        /// The coordinates of the model.
        coordinates: Vec<String>,
    },
    /// A cell is text.
    #[error(
        "{sheet}, line {line}: `{text}` in the column `{column}` is no number; leave the cell empty where nothing was measured"
    )]
    Word {
        /// The file.
        sheet: String,
        /// The column.
        column: String,
        /// Which line, counted from 1.
        line: usize,
        /// What stands there.
        text: String,
    },
    /// Columns of one formula have different lengths.
    #[error("{sheet}: `{column}` has {found} values, and others have {expected}")]
    Length {
        /// The file.
        sheet: String,
        /// The column.
        column: String,
        /// How many are expected.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A standard deviation is given for what is not measured.
    #[error("a sigma is given for `{what}`, which is not measured; measured are {}", .measured.join(", "))]
    Sigma {
        /// For what.
        what: String,
        /// What is measured.
        measured: Vec<String>,
    },
}

fn did_you_mean(name: &Option<String>) -> String {
    name.as_ref().map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

impl Reading {
    /// What a file measures, of a model in which some names can be measured and which has these coordinates. Gives the columns that are not used, too.
    ///
    /// # Errors
    /// [`ReadingError`] if there is no time, nothing is measured, or a formula has no meaning.
    pub fn recording(
        &self,
        sheet: &Sheet,
        is_known: impl Fn(&str) -> bool,
        coordinates: &[String],
    ) -> Result<(Recording, Vec<String>), ReadingError> {
        let names = || sheet.columns.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        let time = match &self.time {
            Some(formula) => formula.clone(),
            None => match ["t", "time"].into_iter().find(|name| sheet.column(name).is_some()) {
                Some(name) => name.to_owned(),
                None => return Err(ReadingError::NoTime { sheet: sheet.name.clone(), columns: names() }),
            },
        };
        let mut used = Vec::new();
        let times = values(sheet, &time, None, &mut used)?;
        let measures = match self.measures.is_empty() {
            true => {
                let plain = names().into_iter().filter(|name| *name != time && is_known(name));
                plain.map(|name| Measure { what: name.clone(), formula: name }).collect()
            }
            false => self.measures.clone(),
        };
        if measures.is_empty() {
            let (sheet, coordinates) = (sheet.name.clone(), coordinates.to_vec());
            return Err(ReadingError::Nothing { sheet, columns: names(), coordinates });
        }
        for Measure { what, .. } in &self.sigmas {
            if measures.iter().all(|measure| measure.what != *what) {
                let measured = measures.iter().map(|measure| measure.what.clone()).collect();
                return Err(ReadingError::Sigma { what: what.clone(), measured });
            }
        }
        let mut recording = Recording::new(&sheet.name, times);
        let count = recording.times.len();
        for Measure { what, formula } in measures {
            let stated =
                self.sigmas.iter().find(|sigma| sigma.what == what).map(|sigma| sigma.formula.clone());
            let by_name = [format!("sigma_{formula}"), format!("{formula}_sigma")];
            let by_name = by_name.into_iter().find(|name| sheet.column(name).is_some());
            let sigma = stated.or(by_name).map(|formula| values(sheet, &formula, Some(count), &mut used));
            let values = values(sheet, &formula, Some(count), &mut used)?;
            recording.channels.push(Channel { what, values, sigma: sigma.transpose()? });
        }
        let unused = names().into_iter().filter(|name| !used.contains(name)).collect();
        Ok((recording, unused))
    }
}

/// Why files say nothing of a model.
#[derive(Debug, thiserror::Error)]
pub enum UnreadError {
    /// The model cannot be prepared.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// Columns have no meaning.
    #[error(transparent)]
    Reading(#[from] ReadingError),
}

/// What files measure of a model from one time to another, and the columns that are not used.
///
/// # Errors
/// [`UnreadError`] if the model is wrong, or columns have no meaning.
pub fn recordings(
    source: &Source,
    sheets: &[Sheet],
    reading: &Reading,
    overrides: &Overrides,
    [from, until]: [f64; 2],
) -> Result<(Vec<Recording>, Vec<String>), UnreadError> {
    let (mut recordings, mut all_unused) = (Vec::new(), Vec::new());
    for sheet in sheets {
        let names: Vec<String> = sheet.columns.iter().map(|(name, _)| name.clone()).collect();
        let (known, coordinates) = measurable(source, &names, overrides)?;
        let is_known = |name: &str| names.iter().position(|other| other == name).is_some_and(|i| known[i]);
        let (recording, unused) = reading.recording(sheet, is_known, &coordinates)?;
        // The check of all recordings reports rows without a time.
        let whole = recording.times.iter().any(|t| t.is_nan());
        recordings.push(if whole { recording } else { recording.between(from, until) });
        all_unused.extend(unused.into_iter().filter(|name| !all_unused.contains(name)).collect::<Vec<_>>());
    }
    Ok((recordings, all_unused))
}

/// What a formula gives in each row.
fn values(
    sheet: &Sheet,
    formula: &str,
    count: Option<usize>,
    used: &mut Vec<String>,
) -> Result<Vec<f64>, ReadingError> {
    let formula = formula.trim();
    let mut column = |name: &str| -> Result<Vec<f64>, ReadingError> {
        let Some(values) = sheet.column(name) else {
            let columns: Vec<String> = sheet.columns.iter().map(|(name, _)| name.clone()).collect();
            let nearest = nearest(name, columns.iter().map(String::as_str));
            let (sheet, column) = (sheet.name.clone(), name.to_owned());
            return Err(ReadingError::NoColumn { sheet, column, nearest, columns });
        };
        if let Some((column, line, text)) = sheet.words.iter().find(|(column, ..)| column == name) {
            let (sheet, column, text) = (sheet.name.clone(), column.clone(), text.clone());
            return Err(ReadingError::Word { sheet, column, line: *line, text });
        }
        match count {
            Some(expected) if values.len() != expected => {
                let (sheet, column, found) = (sheet.name.clone(), name.to_owned(), values.len());
                Err(ReadingError::Length { sheet, column, expected, found })
            }
            _ => {
                used.push(name.to_owned());
                Ok(values.to_vec())
            }
        }
    };
    if sheet.column(formula).is_some() {
        return column(formula);
    }
    let graph = Graph::new();
    let read = graph.parse(formula);
    let value = read.map_err(|source| ReadingError::Formula { formula: formula.to_owned(), source })?;
    let symbols = value.free_symbols();
    let mut columns = Vec::with_capacity(symbols.len());
    for symbol in &symbols {
        columns.push(column(&symbol.to_string())?);
    }
    let rows = columns.iter().map(Vec::len).max().or(count).unwrap_or(1);
    if let Some((symbol, short)) = symbols.iter().zip(&columns).find(|(_, column)| column.len() != rows) {
        let (sheet, column) = (sheet.name.clone(), symbol.to_string());
        return Err(ReadingError::Length { sheet, column, expected: rows, found: short.len() });
    }
    let row = |i: usize| {
        let given: Vec<_> =
            symbols.iter().zip(&columns).map(|(symbol, column)| (*symbol, column[i])).collect();
        value.eval(&given).unwrap_or_else(|_| unreachable!("all symbols are given"))
    };
    Ok((0..rows).map(row).collect())
}
