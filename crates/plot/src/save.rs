//! Files that are whole or not there.

use crate::error::PictureError;
use std::fs;
use std::path::Path;

/// Writes a file beside its place, and then moves it there.
pub(crate) fn save(path: &Path, bytes: &[u8]) -> Result<(), PictureError> {
    let refused = |error| PictureError::Write { path: path.to_owned(), error };
    let mut name = path.file_name().map(ToOwned::to_owned).unwrap_or_default();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let written = fs::write(&part, bytes).and_then(|()| fs::rename(&part, path));
    if written.is_err() {
        // It may never have come to be.
        let _ = fs::remove_file(&part);
    }
    written.map_err(refused)
}
