//! Values from a file: a row for each trajectory, from a column of a CSV file with a line of names
//! ([RFC 4180](https://www.rfc-editor.org/rfc/rfc4180)), or from an array of a NumPy archive. Numbers are read to the nearest `f64`, so what was written to the last bit
//! is read to the last bit.

use super::{Arguments, Draw, Kind, Law, Role, SampleError, SampleFileError, Span};
use leastaction_expr::nearest;
use leastaction_integrate::checksum;
use leastaction_output::csv_fields as fields;
use leastaction_output::npz::{self, ColumnError};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) const KIND: Kind = Kind {
    name: "file",
    form: "file(starts.csv) or file(starts.csv, column)",
    about: "a row for each trajectory, from a column of a .csv or .npz file",
    read: |arguments| {
        arguments.expect(1..=2)?;
        let path = PathBuf::from(plain(arguments.list[0]));
        let column = arguments.list.get(1).map_or(arguments.name, |column| plain(column));
        Ok(Arc::new(Rows { values: read(arguments, &path, column)?.into() }))
    },
};

#[derive(Debug)]
struct Rows {
    values: Arc<[f64]>,
}

impl Law for Rows {
    fn draw(&self, _: &Role) -> Result<Draw, SampleError> {
        let values = self.values.clone();
        // There are as many rows as trajectories.
        Ok(Box::new(move |index, _| values[index as usize]))
    }

    fn span(&self) -> Span {
        Span::Rows(self.values.len() as u64)
    }

    fn content(&self) -> Option<u64> {
        let bytes = self.values.iter().flat_map(|value| value.to_le_bytes());
        Some(checksum(bytes))
    }
}

/// A text without quotes around it.
fn plain(text: &str) -> &str {
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}

fn read(arguments: &Arguments<'_>, path: &Path, column: &str) -> Result<Vec<f64>, SampleError> {
    let text = || arguments.text.to_owned();
    let failed = |source| SampleError::File { text: text(), path: path.to_owned(), source };
    match path.extension() {
        Some(ending) if ending.eq_ignore_ascii_case("npz") => return read_arrays(arguments, path, column),
        Some(ending) if !ending.eq_ignore_ascii_case("csv") => {
            return Err(failed(SampleFileError::Ending));
        }
        _ => {}
    }
    let file = File::open(path).map_err(|error| failed(error.into()))?;
    let mut lines = BufReader::with_capacity(1 << 16, file);
    let (mut line, mut number) = (String::new(), 0u64);
    let mut next = |line: &mut String| -> Result<Option<u64>, SampleError> {
        loop {
            line.clear();
            if lines.read_line(line).map_err(|error| failed(error.into()))? == 0 {
                return Ok(None);
            }
            number += 1;
            // Spreadsheets like to begin with a byte order mark.
            let bare = line.trim_start_matches('\u{feff}').trim_end_matches(['\n', '\r']).len();
            if bare > 0 {
                line.truncate(line.trim_end_matches(['\n', '\r']).len());
                return Ok(Some(number));
            }
        }
    };
    if next(&mut line)?.is_none() {
        return Err(failed(SampleFileError::Empty));
    }
    let names: Vec<String> = fields(line.trim_start_matches('\u{feff}')).collect();
    let Some(place) = names.iter().position(|name| name.trim() == column) else {
        return Err(no_column(arguments, path, column, &names));
    };
    let mut values = Vec::new();
    while let Some(number) = next(&mut line)? {
        let field = fields(&line).nth(place).unwrap_or_default();
        let value = field.trim().parse().ok().filter(|value: &f64| value.is_finite());
        values.push(value.ok_or_else(|| SampleError::Value {
            text: text(),
            path: path.to_owned(),
            line: number,
            column: column.to_owned(),
            value: field.trim().to_owned(),
        })?);
    }
    match values.is_empty() {
        true => Err(failed(SampleFileError::NoRows)),
        false => Ok(values),
    }
}

/// The numbers of an array of NumPy.
fn read_arrays(arguments: &Arguments<'_>, path: &Path, column: &str) -> Result<Vec<f64>, SampleError> {
    let text = || arguments.text.to_owned();
    let failed = |source| SampleError::File { text: text(), path: path.to_owned(), source };
    let values = npz::column(path, column).map_err(|error| match error {
        ColumnError::NoColumn { columns } => no_column(arguments, path, column, &columns),
        error => failed(error.into()),
    })?;
    match values.iter().position(|value| !value.is_finite()) {
        Some(row) => {
            let (column, value) = (column.to_owned(), values[row]);
            Err(failed(SampleFileError::NotFinite { column, row, value }))
        }
        None if values.is_empty() => Err(failed(SampleFileError::EmptyColumn { column: column.to_owned() })),
        None => Ok(values),
    }
}

fn no_column(arguments: &Arguments<'_>, path: &Path, column: &str, names: &[String]) -> SampleError {
    SampleError::Column {
        text: arguments.text.to_owned(),
        path: path.to_owned(),
        column: column.to_owned(),
        nearest: nearest(column, names.iter().map(String::as_str)),
        columns: names.join(", "),
    }
}
