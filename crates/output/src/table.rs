//! Tables: columns of numbers that need not be in memory at once.

use crate::record::Group;
use std::io;
use std::ops::Range;

/// What the numbers of a column are.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum ColumnKind {
    /// Any numbers.
    #[default]
    Number,
    /// Whole numbers, all finite.
    Whole,
    /// Words: each number is the place of one in this list.
    Word(Vec<String>),
}

/// What stands in a row of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell<'a> {
    Number(f64),
    Whole(i64),
    Word(&'a str),
}

impl ColumnKind {
    /// What a number of the column means.
    ///
    /// # Errors
    /// If it is not what the column says.
    pub(crate) fn cell(&self, value: f64) -> io::Result<Cell<'_>> {
        let whole = value as i64;
        match self {
            ColumnKind::Number => Ok(Cell::Number(value)),
            ColumnKind::Whole if whole as f64 == value => Ok(Cell::Whole(whole)),
            ColumnKind::Word(words) if whole as f64 == value => {
                let word = usize::try_from(whole).ok().and_then(|place| words.get(place));
                word.map(|word| Cell::Word(word)).ok_or_else(|| io::Error::other("a table lacks a word"))
            }
            _ => Err(io::Error::other(format!("{value} stands where a whole number should"))),
        }
    }
}

/// Columns of numbers, all of one length, read part by part.
pub trait Table {
    /// What each column belongs to, and its name.
    fn columns(&self) -> Vec<(&'static str, String)>;

    /// What the numbers of a column are.
    fn kind(&self, column: usize) -> ColumnKind {
        let _ = column;
        ColumnKind::Number
    }

    /// How many rows there are.
    fn rows(&self) -> u64;

    /// Appends some rows of a column.
    ///
    /// # Errors
    /// Those of whatever the table is read from.
    fn read(&self, column: usize, rows: Range<u64>, into: &mut Vec<f64>) -> io::Result<()>;
}

/// A [`Record`](crate::Record) as a table.
#[derive(Clone, Debug)]
pub struct RecordTable<'a> {
    pub(crate) columns: Vec<(Group, String, &'a [f64])>,
    pub(crate) rows: usize,
}

impl Table for RecordTable<'_> {
    fn columns(&self) -> Vec<(&'static str, String)> {
        self.columns.iter().map(|(group, name, _)| (group.word(), name.clone())).collect()
    }

    fn rows(&self) -> u64 {
        self.rows as u64
    }

    fn read(&self, column: usize, rows: Range<u64>, into: &mut Vec<f64>) -> io::Result<()> {
        let values = self.columns.get(column).map(|(.., values)| values);
        let part = values.and_then(|values| values.get(rows.start as usize..rows.end as usize));
        into.extend_from_slice(part.ok_or_else(|| io::Error::other("the record has no such rows"))?);
        Ok(())
    }
}

/// The rows of a table, a number of them at a time.
pub(crate) fn parts(rows: Range<u64>, most: u64) -> impl Iterator<Item = Range<u64>> + Clone {
    let count = (rows.end - rows.start).div_ceil(most);
    (0..count).map(move |i| {
        let begin = rows.start + i * most;
        begin..(begin + most).min(rows.end)
    })
}
