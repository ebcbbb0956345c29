//! What is wrong with a file of data.

use leastaction_output::npz::ColumnError;
use std::path::PathBuf;

/// Why data cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// The file cannot be read, or is damaged.
    #[error("cannot read `{}`: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: ColumnError,
    },
    /// Something is missing in it, or of another kind.
    #[error("`{}` is no dataset: {what}; `leastaction learn data` writes one", .path.display())]
    NoDataset {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A number is infinite or NaN.
    #[error("`{}` has {value} in trajectory {trajectory}, sample {sample}, of `{name}`", .path.display())]
    NotFinite {
        /// The file.
        path: PathBuf,
        /// What stands there.
        value: f64,
        /// Where.
        trajectory: usize,
        /// Where.
        sample: usize,
        /// Where.
        name: String,
    },
    /// Trajectories are too short.
    #[error(
        "trajectories have {samples} samples, and {length} in a row are asked for: at least 2, and no more than there are"
    )]
    Short {
        /// How many samples there are.
        samples: usize,
        /// How many are asked for.
        length: usize,
    },
}
