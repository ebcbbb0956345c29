//! What a run leaves behind: a [`Record`] of everything that can be told about its samples, and the files it is written to.
//!
//! ```
//! use leastaction_output::{About, Column, Format, Record};
//!
//! let fall = Record {
//!     times: vec![0.0, 1.0],
//!     coordinates: vec![Column { name: "y".to_owned(), values: vec![0.0, -4.905] }],
//!     energy: vec![0.0, 0.0],
//!     ..Record::default()
//! };
//! let mut text = Vec::new();
//! Format::of("fall.csv".as_ref())?.write(&fall, &About::default(), &mut text)?;
//! assert_eq!(text, b"t,y,energy\n0.0,0.0,0.0\n1.0,-4.905,0.0\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod about;
mod file;
mod format;
pub mod json;
mod record;

pub use about::About;
pub use file::{FileError, check, replace};
pub use format::{ALL as FORMATS, Format};
pub use record::{Column, Group, Path, Record, RecordError};

/// Writes a record to a file in the format of the file's ending. The file is whole, or as it was before.
///
/// # Errors
/// [`FileError`] if the ending is not known, or the file cannot be written.
pub fn write(path: &std::path::Path, record: &Record, about: &About) -> Result<(), FileError> {
    let format = Format::of(path)?;
    replace(path, |writer| format.write(record, about, writer))
}
