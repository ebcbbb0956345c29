//! Files that are whole or not there: written under another name, then renamed.

use crate::format::ALL;
use std::ffi::{OsStr, OsString};
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
    #[error("cannot write `{}`: something that is not a file has this name; choose another name", .path.display())]
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
    /// The file is one that is read.
    #[error("cannot write `{}`: the command reads this file; choose another name", .path.display())]
    IsRead {
        /// The file.
        path: PathBuf,
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
    let mut part = Part::for_target(path)?;
    let written = part.file.take().map_or(Ok(()), |file| fill(file, write)).and_then(|()| part.finish());
    written.map_err(|error| write_error(path, &part.target, error))
}

/// As [`replace`], for what writes to a file by its name, as another program does: the name is whole, and what it names is new and empty.
///
/// # Errors
/// What the writer says, or [`FileError`].
pub fn replace_named<E: From<FileError>>(
    path: &Path,
    write: impl FnOnce(&Path) -> Result<(), E>,
) -> Result<(), E> {
    let mut part = Part::for_target(path)?;
    part.file = None;
    let whole = std::path::absolute(&part.path);
    write(&whole.map_err(|error| write_error(path, &part.target, error))?)?;
    let synced = File::options().write(true).open(&part.path).and_then(|file| file.sync_all());
    Ok(synced.and_then(|()| part.finish()).map_err(|error| write_error(path, &part.target, error))?)
}

/// Whether a file can be written, without changing anything: before hours are spent on what to write.
///
/// # Errors
/// [`FileError`] as [`replace`], as far as it can be known now.
pub fn check(path: &Path) -> Result<(), FileError> {
    Part::for_target(path).map(drop)
}

/// Refuses to write what is read: both names lead to one file.
///
/// # Errors
/// [`FileError::IsRead`].
pub fn check_apart(path: &Path, read: &Path) -> Result<(), FileError> {
    match (fs::canonicalize(path), fs::canonicalize(read)) {
        (Ok(written), Ok(read)) if written == read => Err(FileError::IsRead { path: path.to_owned() }),
        _ => Ok(()),
    }
}

fn fill(file: File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut writer = BufWriter::with_capacity(1 << 16, file);
    write(&mut writer)?;
    let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
    // Some systems notice only now that there is no room.
    file.sync_all()
}

/// A new file in the folder of the one that it will replace. Dropping it deletes it, unless it is finished.
struct Part {
    target: PathBuf,
    path: PathBuf,
    file: Option<File>,
}

impl Part {
    fn for_target(path: &Path) -> Result<Part, FileError> {
        let owned = || path.to_owned();
        if path.to_string_lossy().ends_with(std::path::is_separator) {
            return Err(FileError::IsDirectory { path: owned() });
        }
        let target = followed(path).map_err(|error| write_error(path, path, error))?;
        let existing = fs::metadata(&target).ok();
        match &existing {
            Some(existing) if existing.is_dir() => return Err(FileError::IsDirectory { path: owned() }),
            Some(existing) if !existing.is_file() => return Err(FileError::NotAFile { path: owned() }),
            Some(existing) if existing.permissions().readonly() => {
                return Err(FileError::ReadOnly { path: owned() });
            }
            _ => {}
        }
        let Some(name) = target.file_name() else { return Err(FileError::IsDirectory { path: owned() }) };
        let refused = |error| write_error(path, &target, error);
        let (part, file) = create_part(&target, name, existing.is_some()).map_err(refused)?;
        let part = Part { target: target.clone(), path: part, file: Some(file) };
        // The permissions of the file stay the same.
        if let (Some(existing), Some(file)) = (existing, &part.file) {
            file.set_permissions(existing.permissions()).map_err(refused)?;
        }
        Ok(part)
    }

    /// Puts it in its place.
    fn finish(&self) -> io::Result<()> {
        fs::rename(&self.path, &self.target)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // It is not there if it is finished, and what could not be written cannot always be removed: the first error is the one to tell.
        self.file = None;
        let _ = fs::remove_file(&self.path);
    }
}

/// What a path leads to: a link stays a link, also one to a file that is not there yet, and what it leads to is written.
fn followed(path: &Path) -> io::Result<PathBuf> {
    /// More links than systems follow.
    const LINKS: usize = 64;
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        match fs::read_link(&path) {
            // A link is relative to where it stands; joining an absolute path gives that.
            Ok(to) => path = path.parent().map_or_else(|| to.clone(), |folder| folder.join(&to)),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("its links lead in a circle"))
}

/// A new file in the folder of another, under an unused name. If it is private, only its owner may read it.
fn create_part(target: &Path, name: &OsStr, private: bool) -> io::Result<(PathBuf, File)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}-{count}.part", std::process::id()));
        let part = target.with_file_name(hidden);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if private {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        #[cfg(not(unix))]
        let _ = private;
        match options.open(&part) {
            // Left behind by another process of the same number, or put there.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            created => return created.map(|file| (part, file)),
        }
    }
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
