//! What a run leaves behind: a [`Record`] of everything that can be told about its samples, and the files it is written to.

#![forbid(unsafe_code)]

mod record;

pub use record::{Column, Group, Path, Record, RecordError};
