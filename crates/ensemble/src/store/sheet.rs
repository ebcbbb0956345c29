//! A table made of the rows of many chunks, which stay where they are until they are asked for.

use crate::reduce::Rows;
use leastaction_output::{ColumnKind, Table};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// Where the rows of a chunk are.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// In a file, from here on, column by column.
    File { path: Arc<PathBuf>, at: u64, rows: u64 },
    /// In memory.
    Memory(Vec<Vec<f64>>),
}

impl Source {
    fn rows(&self) -> u64 {
        match self {
            Source::File { rows, .. } => *rows,
            Source::Memory(columns) => columns.first().map_or(0, |column| column.len() as u64),
        }
    }
}

/// Rows of numbers known of trajectories, in their order.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    columns: Vec<(&'static str, String)>,
    kinds: Vec<ColumnKind>,
    /// The rows of each chunk, and how many are before them.
    chunks: Vec<(u64, Source)>,
    rows: u64,
}

impl Sheet {
    pub(crate) fn new(rows: &dyn Rows) -> Sheet {
        let columns = rows.columns();
        let kinds = (0..columns.len()).map(|column| rows.kind(column)).collect();
        Sheet { columns, kinds, chunks: Vec::new(), rows: 0 }
    }

    pub(crate) fn push(&mut self, source: Source) {
        let rows = source.rows();
        if rows > 0 {
            self.chunks.push((self.rows, source));
            self.rows += rows;
        }
    }
}

impl Table for Sheet {
    fn columns(&self) -> Vec<(&'static str, String)> {
        self.columns.clone()
    }

    fn kind(&self, column: usize) -> ColumnKind {
        self.kinds.get(column).cloned().unwrap_or_default()
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn read(&self, column: usize, rows: Range<u64>, into: &mut Vec<f64>) -> io::Result<()> {
        if column >= self.columns.len() || rows.end > self.rows {
            return Err(io::Error::other("the table has no such rows"));
        }
        let begin = self.chunks.partition_point(|(before, source)| before + source.rows() <= rows.start);
        for (before, source) in &self.chunks[begin..] {
            let part = rows.start.max(*before)..rows.end.min(before + source.rows());
            if part.is_empty() {
                break;
            }
            let part = part.start - before..part.end - before;
            match source {
                Source::Memory(columns) => {
                    into.extend_from_slice(&columns[column][part.start as usize..part.end as usize]);
                }
                Source::File { path, at, rows } => {
                    let mut file = File::open(path.as_path())?;
                    file.seek(SeekFrom::Start(at + 8 * (column as u64 * rows + part.start)))?;
                    let mut file = BufReader::with_capacity(1 << 16, file);
                    for _ in part {
                        let mut bytes = [0; 8];
                        file.read_exact(&mut bytes)?;
                        into.push(f64::from_le_bytes(bytes));
                    }
                }
            }
        }
        Ok(())
    }
}
