//! The output of a run: a [`Record`] of everything that can be computed from its samples, and the files it is written to.
//!
//! A file's ending says its format ([`FORMATS`]). All formats have the same columns under the same names, in the order of
//! [`Record::columns`]: `t`; coordinates `th1`; velocities `th1'`; momenta `p_th1`; positions of particles and points `bob.x`; `energy` (and `jacobi`, where p·v − L is another function than T + V); multipliers
//! `lambda_rod`; `violation` and `violation'`, the largest of constraints and of what they demand of velocities; and what the model asks for by
//! `output`. All of them have every bit of every finite number. CSV has columns only; the others also say what was run ([`About`]).
//!
//! | ending | read it by | what is not finite |
//! |---|---|---|
//! | `.csv` | `pandas.read_csv("run.csv")`, any spreadsheet | `NaN`, `inf`, `-inf` |
//! | `.npz` | `numpy.load("run.npz")["th1"]`; `json.loads(str(data["#about"]))` | as it is |
//! | `.parquet` | `pyarrow.parquet.read_table("run.parquet")` and its `schema.metadata` | as it is |
//! | `.json` | `json.load(file)["columns"]["th1"]`, and `["about"]` | `null`, counted in `not_finite` |
//!
//! Coordinates as one array of NumPy, a row for each sample:
//! `numpy.stack([data[name] for name in about["groups"]["coordinates"]], axis=1)`.
//!
//! ```
//! use leastaction_output::{About, Column, Format, Record};
//!
//! let fall = Record {
//!     times: vec![0.0, 1.0],
//!     coordinates: vec![Column { name: "y".to_owned(), values: vec![0.0, -4.905] }].into(),
//!     energy: vec![0.0, 0.0],
//!     ..Record::default()
//! };
//! let mut text = Vec::new();
//! Format::of("fall.csv".as_ref())?.write(&fall.table(), &About::default(), &mut text)?;
//! assert_eq!(text, b"t,y,energy\n0.0,0.0,0.0\n1.0,-4.905,0.0\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod about;
mod columns;
mod file;
mod format;
mod held;
pub mod json;
mod record;
mod series;
mod table;

pub use about::About;
pub use columns::{Column, ColumnRef, Columns};
pub use file::{FileError, check, check_apart, replace, replace_named};
pub use format::{ALL as FORMATS, Format, csv_fields, npz};
pub use held::Held;
pub use record::{Group, Path, Record, RecordError};
pub use series::{MeshPart, MeshSeries};
pub use table::{ColumnKind, RecordTable, Table};

/// Writes a record, or another table, to a file in the format of the file's ending. The file is whole, or as it was before.
///
/// # Errors
/// [`FileError`] if the ending is not known, or the file cannot be written.
pub fn write(path: &std::path::Path, table: &dyn Table, about: &About) -> Result<(), FileError> {
    let format = Format::of(path)?;
    replace(path, |writer| format.write(table, about, writer))
}
