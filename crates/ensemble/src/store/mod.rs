//! Chunks on disk: a directory with a manifest that says what is run, and a file for each chunk of trajectories that is done.
//!
//! A file is whole or not there (`leastaction_output::replace`), and its last eight bytes check the others. What is there need not be run again; what is damaged is. A shard
//! is a directory with some of the chunks, all numbered as in the whole.

mod chunk;
mod manifest;
mod sheet;

pub use chunk::Part;
pub use manifest::{Manifest, ManifestError, Shard, ShardError};
pub use sheet::Sheet;

pub(crate) use chunk::StoredChunk;
use leastaction_output::FileError;
pub(crate) use sheet::Source;
use std::fs;
use std::path::{Path, PathBuf};

/// Why chunks cannot be kept, or put together.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] FileError),
    /// A file cannot be read.
    #[error("cannot read `{}`: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A directory cannot be made.
    #[error("cannot make the directory `{}`: {source}; give one that can be written", .directory.display())]
    Make {
        /// The directory.
        directory: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A directory is not one of chunks.
    #[error("`{}` has no manifest, but something else is in it: give a directory that is empty, or not there", .directory.display())]
    Occupied {
        /// The directory.
        directory: PathBuf,
    },
    /// There is no manifest.
    #[error("`{}` is not a directory of chunks: it has no manifest", .directory.display())]
    NoManifest {
        /// The directory.
        directory: PathBuf,
    },
    /// The manifest cannot be read.
    #[error("the manifest `{}` is damaged ({source}): remove the directory, and run again", .path.display())]
    BadManifest {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: ManifestError,
    },
    /// Something else was run.
    #[error("`{}` belongs to another run: its {key} is `{there}`, and here it is `{here}`; choose another directory, or run as before", .directory.display())]
    Differs {
        /// The directory.
        directory: PathBuf,
        /// What differs.
        key: String,
        /// What it is there.
        there: String,
        /// What it is here.
        here: String,
    },
    /// Two directories have the same chunk.
    #[error("`{}` and `{}` both have trajectories {first} to {last}: leave one out", .one.display(), .other.display())]
    Overlap {
        /// One directory.
        one: PathBuf,
        /// The other.
        other: PathBuf,
        /// The first trajectory of the chunk.
        first: u64,
        /// The last one.
        last: u64,
    },
    /// Chunks are not there.
    #[error("trajectories {} are missing: run these shards to their end first", ranges(.missing))]
    Missing {
        /// From and to which trajectory.
        missing: Vec<(u64, u64)>,
    },
    /// A chunk is damaged.
    #[error("`{}` is damaged: run its shard again, which computes it anew", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// There is nothing to put together.
    #[error("there is nothing to merge: give the directories of the shards")]
    Nothing,
}

/// Whether a file is what [`leastaction_output::replace`] writes before a manifest is whole.
fn is_part_of_manifest(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let inner = name.strip_prefix('.').and_then(|name| name.strip_suffix(".part"));
    inner.is_some_and(|inner| inner.starts_with(Manifest::NAME)) && path.is_file()
}

fn ranges(missing: &[(u64, u64)]) -> String {
    const MOST: usize = 8;
    let mut list: Vec<String> =
        missing.iter().take(MOST).map(|(first, last)| format!("{first} to {last}")).collect();
    if missing.len() > MOST {
        list.push(format!("and {} more gaps", missing.len() - MOST));
    }
    list.join(", ")
}

/// A directory of chunks.
#[derive(Clone, Debug)]
pub struct Store {
    directory: PathBuf,
    manifest: Manifest,
}

impl Store {
    /// The directory of a run: a new one, or one in which the same was begun.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be made, or something else was run there.
    pub fn begin(directory: &Path, manifest: &Manifest) -> Result<Store, StoreError> {
        let store = Store { directory: directory.to_owned(), manifest: manifest.clone() };
        let path = store.directory.join(Manifest::NAME);
        if path.exists() {
            Manifest::load(directory)?.check_same(manifest, directory, true)?;
            return Ok(store);
        }
        let failed = |source| StoreError::Read { path: directory.to_owned(), source };
        fs::create_dir_all(directory)
            .map_err(|source| StoreError::Make { directory: directory.to_owned(), source })?;
        for entry in fs::read_dir(directory).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            // A run that was killed while it wrote its manifest leaves a part of it, and nothing else.
            if !is_part_of_manifest(&path) {
                return Err(StoreError::Occupied { directory: directory.to_owned() });
            }
            fs::remove_file(&path).map_err(|source| StoreError::Read { path, source })?;
        }
        leastaction_output::replace(&path, |writer| writer.write_all(manifest.to_string().as_bytes()))?;
        Ok(store)
    }

    /// A directory that is there.
    ///
    /// # Errors
    /// [`StoreError`] if it has no manifest that can be read.
    pub fn open(directory: &Path) -> Result<Store, StoreError> {
        Ok(Store { directory: directory.to_owned(), manifest: Manifest::load(directory)? })
    }

    /// What is run.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    fn path(&self, number: u64) -> PathBuf {
        self.directory.join(format!("{number:09}.chunk"))
    }

    /// The chunks that are there, of those in a range: which are whole, and the files of those that are damaged.
    pub(crate) fn whole(&self, range: &std::ops::Range<u64>) -> Result<(Vec<u64>, Vec<PathBuf>), StoreError> {
        let (mut whole, mut damaged) = (Vec::new(), Vec::new());
        for number in self.numbers()?.into_iter().filter(|number| range.contains(number)) {
            match self.read(number) {
                Ok(_) => whole.push(number),
                Err(StoreError::Damaged { path }) => damaged.push(path),
                Err(error) => return Err(error),
            }
        }
        Ok((whole, damaged))
    }

    /// The numbers of all chunks that are there.
    pub(crate) fn numbers(&self) -> Result<Vec<u64>, StoreError> {
        let failed = |source| StoreError::Read { path: self.directory.clone(), source };
        let mut numbers = Vec::new();
        for entry in fs::read_dir(&self.directory).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let number: Option<u64> =
                path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse().ok());
            if path.extension().is_some_and(|ending| ending == "chunk") {
                numbers.extend(number);
            }
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    pub(crate) fn write(&self, number: u64, parts: &[Part]) -> Result<(), StoreError> {
        let bytes = chunk::bytes(self.manifest.identity(), number, parts);
        Ok(leastaction_output::replace(&self.path(number), |writer| writer.write_all(&bytes))?)
    }

    /// A chunk, with where its columns are.
    pub(crate) fn read(&self, number: u64) -> Result<StoredChunk, StoreError> {
        let path = self.path(number);
        let bytes = fs::read(&path).map_err(|source| StoreError::Read { path: path.clone(), source })?;
        chunk::read(&bytes, self.manifest.identity(), number, &path).ok_or(StoreError::Damaged { path })
    }
}
