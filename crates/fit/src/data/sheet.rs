//! Files of columns: CSV with a line of names ([RFC 4180](https://www.rfc-editor.org/rfc/rfc4180)), and archives of NumPy.

use leastaction_output::csv_fields;
use leastaction_output::npz::{self, ColumnError};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// No table of measurements is so long: more is not read.
const LONGEST: u64 = 1 << 30;

/// Columns of a file by name, all of one length. What is empty or no number is a gap, or a column of text.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// What it is called.
    pub name: String,
    /// Names, and values; NaN where a cell is empty.
    pub columns: Vec<(String, Vec<f64>)>,
    /// Cells that are neither numbers nor empty: column, line and text of the first in each column.
    pub words: Vec<(String, usize, String)>,
}

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SheetError {
    /// The system does not give it.
    #[error("cannot read {}: {source}", .path.display())]
    System {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The ending says nothing.
    #[error("cannot tell how to read {} from its ending: use .csv or .npz", .path.display())]
    Ending {
        /// The file.
        path: PathBuf,
    },
    /// It is not text.
    #[error("{} is not a text: line {line} is not UTF-8", .path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// Where.
        line: usize,
    },
    /// It is too long.
    #[error("{} is longer than {} MB: take every tenth row, or less of it", .path.display(), LONGEST >> 20)]
    TooLong {
        /// The file.
        path: PathBuf,
    },
    /// There is nothing in it.
    #[error("{} is empty: it should begin with a line of names, such as `t,x`", .path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The first line has numbers.
    #[error("{} begins with numbers: it should begin with a line of names, such as `t,x`", .path.display())]
    NoNames {
        /// The file.
        path: PathBuf,
    },
    /// Another character stands between columns.
    #[error("{}: the names are not separated by commas, but by {separator}: write a .csv with commas and decimal points", .path.display())]
    Separator {
        /// The file.
        path: PathBuf,
        /// What stands between them.
        separator: &'static str,
    },
    /// Two columns have one name.
    #[error("{}: two columns are called `{name}`: rename one", .path.display())]
    Twice {
        /// The file.
        path: PathBuf,
        /// The name.
        name: String,
    },
    /// A line has too many cells, or too few.
    #[error("{}: line {line} has {found} cells, where the line of names has {expected}", .path.display())]
    Cells {
        /// The file.
        path: PathBuf,
        /// Which line, counted from 1.
        line: usize,
        /// How many names there are.
        expected: usize,
        /// How many cells.
        found: usize,
    },
    /// There are only names.
    #[error("{} has no rows below its names", .path.display())]
    NoRows {
        /// The file.
        path: PathBuf,
    },
    /// An archive cannot be read.
    #[error("cannot read `{column}` of {}: {source}", .path.display())]
    Archive {
        /// The file.
        path: PathBuf,
        /// The array.
        column: String,
        /// Why.
        source: ColumnError,
    },
}

impl Sheet {
    /// Reads a file by its ending: .csv or .npz. Arrays of an archive that are no columns of numbers, as long as most, are left out.
    ///
    /// # Errors
    /// [`SheetError`].
    pub fn read(path: &Path) -> Result<Sheet, SheetError> {
        match path.extension() {
            Some(end) if end.eq_ignore_ascii_case("csv") => Sheet::read_csv(path),
            Some(end) if end.eq_ignore_ascii_case("npz") => Sheet::read_npz(path),
            _ => Err(SheetError::Ending { path: path.to_owned() }),
        }
    }

    fn read_csv(path: &Path) -> Result<Sheet, SheetError> {
        let system = |source| SheetError::System { path: path.to_owned(), source };
        let file = File::open(path).map_err(system)?;
        if file.metadata().map_err(system)?.len() > LONGEST {
            return Err(SheetError::TooLong { path: path.to_owned() });
        }
        let mut lines = BufReader::with_capacity(1 << 16, file.take(LONGEST));
        let (mut bytes, mut number) = (Vec::new(), 0);
        let mut next = || -> Result<Option<(usize, String)>, SheetError> {
            loop {
                bytes.clear();
                if lines.read_until(b'\n', &mut bytes).map_err(system)? == 0 {
                    return Ok(None);
                }
                number += 1;
                let wrong = || SheetError::NotText { path: path.to_owned(), line: number };
                let line = std::str::from_utf8(&bytes).map_err(|_| wrong())?;
                // Spreadsheets like to begin with a byte order mark.
                let line = line.trim_start_matches('\u{feff}').trim_end_matches(['\n', '\r']);
                if !line.trim().is_empty() && !line.starts_with('#') {
                    return Ok(Some((number, line.to_owned())));
                }
            }
        };
        let Some((_, head)) = next()? else { return Err(SheetError::Empty { path: path.to_owned() }) };
        let names: Vec<String> = csv_fields(&head).map(|name| name.trim().to_owned()).collect();
        if names.iter().all(|name| name.is_empty() || name.parse::<f64>().is_ok()) {
            return Err(SheetError::NoNames { path: path.to_owned() });
        }
        if let ([one], Some(separator)) = (&names[..], separator_of(&head)) {
            debug_assert!(!one.is_empty());
            return Err(SheetError::Separator { path: path.to_owned(), separator });
        }
        if let Some(name) = twice(&names) {
            return Err(SheetError::Twice { path: path.to_owned(), name });
        }
        let mut columns: Vec<(String, Vec<f64>)> = names.into_iter().map(|name| (name, Vec::new())).collect();
        let mut words: Vec<(String, usize, String)> = Vec::new();
        while let Some((line, text)) = next()? {
            let cells: Vec<String> = csv_fields(&text).collect();
            if cells.len() != columns.len() {
                let (expected, found) = (columns.len(), cells.len());
                return Err(SheetError::Cells { path: path.to_owned(), line, expected, found });
            }
            for ((name, values), cell) in columns.iter_mut().zip(&cells) {
                let cell = cell.trim();
                let value = match cell.parse::<f64>() {
                    Ok(value) => value,
                    Err(_) => {
                        let is_gap = cell.is_empty()
                            || ["na", "n/a", "null", "-"].contains(&cell.to_lowercase().as_str());
                        if !is_gap && words.iter().all(|(column, ..)| column != name) {
                            words.push((name.clone(), line, cell.to_owned()));
                        }
                        f64::NAN
                    }
                };
                values.push(value);
            }
        }
        if columns.iter().all(|(_, values)| values.is_empty()) {
            return Err(SheetError::NoRows { path: path.to_owned() });
        }
        Ok(Sheet { name: path.display().to_string(), columns, words })
    }

    fn read_npz(path: &Path) -> Result<Sheet, SheetError> {
        let failed = |column: &str, source| match source {
            ColumnError::System(source) => SheetError::System { path: path.to_owned(), source },
            source => SheetError::Archive { path: path.to_owned(), column: column.to_owned(), source },
        };
        // No array has this name, so the error lists the others.
        let names = match npz::column(path, "\n") {
            Err(ColumnError::NoColumn { columns }) => columns,
            Err(source) => return Err(failed("all", source)),
            Ok(_) => Vec::new(),
        };
        if let Some(name) = twice(&names) {
            return Err(SheetError::Twice { path: path.to_owned(), name });
        }
        let mut columns = Vec::new();
        for name in names {
            match npz::column(path, &name) {
                Ok(values) => columns.push((name, values)),
                // What is no column of numbers is not measured.
                Err(ColumnError::Kind { .. } | ColumnError::NotOneAxis | ColumnError::NotNumbers) => {}
                Err(source) => return Err(failed(&name, source)),
            }
        }
        if columns.iter().all(|(_, values)| values.is_empty()) {
            return Err(SheetError::NoRows { path: path.to_owned() });
        }
        Ok(Sheet { name: path.display().to_string(), columns, words: Vec::new() })
    }

    /// The values of a column.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        self.columns.iter().find(|(other, _)| other == name).map(|(_, values)| values.as_slice())
    }
}

fn twice(names: &[String]) -> Option<String> {
    let mut names = names.iter().enumerate();
    let all: Vec<&String> = names.clone().map(|(_, name)| name).collect();
    names.find(|(i, name)| all[..*i].contains(name)).map(|(_, name)| name.clone())
}

/// What else than a comma may stand between names.
fn separator_of(head: &str) -> Option<&'static str> {
    let known = [(';', "semicolons"), ('\t', "tabs")];
    known.into_iter().find(|(mark, _)| head.contains(*mark)).map(|(_, name)| name)
}
