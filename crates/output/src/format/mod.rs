//! Formats of files, one file each. All of them have the columns of [`Table::columns`] under the same names.

mod csv;
mod json;
pub mod npz;
mod parquet;

pub use csv::fields as csv_fields;

use crate::about::About;
use crate::file::FileError;
use crate::table::Table;
use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;

/// A format, by the ending of a file's name.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// The ending, without the dot.
    pub ending: &'static str,
    /// What it is, and how what is not a finite number is written.
    pub about: &'static str,
    writer: fn(&dyn Table, &About, &mut dyn Write) -> io::Result<()>,
}

/// All formats.
pub const ALL: &[Format] = &[csv::FORMAT, npz::FORMAT, parquet::FORMAT, json::FORMAT];

impl Format {
    /// The format of a file.
    ///
    /// # Errors
    /// [`FileError::UnknownEnding`] names those that are known.
    pub fn of(path: &Path) -> Result<&'static Format, FileError> {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let known = ALL.iter().find(|format| format.ending.eq_ignore_ascii_case(ending));
        known.ok_or_else(|| FileError::UnknownEnding { path: path.to_owned() })
    }

    /// Writes a record, or another table. No more than a part of a table is in memory at a time.
    ///
    /// # Errors
    /// Those of the writer; and if two columns have one name.
    pub fn write(&self, table: &dyn Table, about: &About, writer: &mut dyn Write) -> io::Result<()> {
        let mut seen = HashSet::new();
        let twice = table.columns().into_iter().map(|(_, name)| name).find(|name| !seen.insert(name.clone()));
        if let Some(name) = twice {
            return Err(io::Error::other(format!("two columns are called `{name}`; give one another name")));
        }
        (self.writer)(table, about, writer)
    }
}
