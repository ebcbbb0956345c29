//! Files that are whole or not there: written under another name, then renamed.

use crate::format::ALL;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Why a file cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The ending says nothing.
    #[error("cannot tell how to write `{}` from its ending: use {}", .path.display(), endings())]
    UnknownEnding {
        /// The file.
        path: PathBuf,
    },
    /// There is a directory of this name.
    #[error("cannot write `{}`: it is a directory; name a file in it", .path.display())]
    IsDirectory {
        /// The file.
        path: PathBuf,
    },
    /// There is something of this name that is no file.
    #[error("cannot write `{}`: there is something of this name that is no file; choose another name", .path.display())]
    NotAFile {
        /// The file.
        path: PathBuf,
    },
    /// There is no directory to write to.
    #[error("cannot write `{}`: there is no directory `{}`; make it first", .path.display(), .directory.display())]
    NoDirectory {
        /// The file.
        path: PathBuf,
        /// The directory.
        directory: PathBuf,
    },
    /// The directory does not take files.
    #[error("cannot write `{}`: not allowed to write to `{}` ({reason}); choose another directory", .path.display(), .directory.display())]
    Denied {
        /// The file.
        path: PathBuf,
        /// The directory.
        directory: PathBuf,
        /// What the system says.
        reason: io::Error,
    },
    /// The file is there, and not to be changed.
    #[error("cannot write `{}`: it is there and read-only; remove it, or choose another name", .path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// There is no room.
    #[error("cannot write `{}`: there is no room for it ({reason}); make room, take fewer samples, or write elsewhere", .path.display())]
    Full {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: io::Error,
    },
    /// Something else.
    #[error("cannot write `{}`: {reason}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: io::Error,
    },
}

fn endings() -> String {
    let known: Vec<_> = ALL.iter().map(|format| format!(".{}", format.ending)).collect();
    match known.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => known.concat(),
    }
}

/// Writes a file: under another name in the same directory first, which is renamed when everything has been written. When that fails,
/// what was there before is still there, and nothing else.
///
/// ```
/// let path = std::env::temp_dir().join(format!("greeting-{}.txt", std::process::id()));
/// leastaction_output::replace(&path, |writer| std::io::Write::write_all(writer, b"hello"))?;
/// assert_eq!(std::fs::read(&path)?, b"hello");
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`FileError`] says what is in the way, and what to do.
pub fn replace(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), FileError> {
    let (target, part, file) = begin(path)?;
    let written = fill(file, write).and_then(|()| fs::rename(&part, &target));
    written.map_err(|error| {
        // What could not be written cannot always be removed either; the first error is the one to tell.
        let _ = fs::remove_file(&part);
        write_error(path, &target, error)
    })
}

/// Whether a file can be written, without changing anything: before hours are spent on what to write.
///
/// # Errors
/// [`FileError`] as [`replace`], as far as it can be known now.
pub fn check(path: &Path) -> Result<(), FileError> {
    let (target, part, file) = begin(path)?;
    drop(file);
    fs::remove_file(&part).map_err(|error| write_error(path, &target, error))
}

fn fill(file: File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut writer = BufWriter::with_capacity(1 << 16, file);
    write(&mut writer)?;
    let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
    // Some systems notice only now that there is no room.
    file.sync_all()
}

/// The file that a path leads to, and a new one beside it.
fn begin(path: &Path) -> Result<(PathBuf, PathBuf, File), FileError> {
    let owned = || path.to_owned();
    // A link stays a link: what it leads to is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| owned());
    match fs::metadata(&target) {
        Ok(found) if found.is_dir() => return Err(FileError::IsDirectory { path: owned() }),
        Ok(found) if !found.is_file() => return Err(FileError::NotAFile { path: owned() }),
        Ok(found) if found.permissions().readonly() => return Err(FileError::ReadOnly { path: owned() }),
        _ => {}
    }
    if path.to_string_lossy().ends_with(std::path::is_separator) {
        return Err(FileError::IsDirectory { path: owned() });
    }
    let Some(name) = target.file_name() else { return Err(FileError::IsDirectory { path: owned() }) };
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}-{count}.part", std::process::id()));
    let part = target.with_file_name(hidden);
    let file = OpenOptions::new().write(true).create_new(true).open(&part);
    let file = file.map_err(|error| write_error(path, &target, error))?;
    Ok((target, part, file))
}

/// What stands behind an error of the system.
fn write_error(path: &Path, target: &Path, reason: io::Error) -> FileError {
    let path = path.to_owned();
    let directory = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    match reason.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => FileError::NoDirectory { path, directory },
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            FileError::Denied { path, directory, reason }
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            FileError::Full { path, reason }
        }
        _ => FileError::Write { path, reason },
    }
}
