//! What can be wrong with checkpoints and their files.

use std::path::PathBuf;

/// Why a checkpoint cannot be kept in a file, or read from one.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointFileError {
    /// The file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// What is in it is not a checkpoint.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

/// Why a run cannot be resumed from a checkpoint.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CheckpointError {
    /// This is not a checkpoint.
    #[error("line {line} of the checkpoint: expected {expected}")]
    Format {
        /// The line, from 1.
        line: usize,
        /// What should stand there.
        expected: &'static str,
    },
    /// It is not as it was written.
    #[error(
        "the checkpoint was cut off or changed after it was written: go on from another one, or start anew"
    )]
    Changed,
    /// It belongs to another system.
    #[error("the checkpoint is of a system with the states {}, and this one has {}", found.join(", "), expected.join(", "))]
    System {
        /// The states of the system.
        expected: Vec<String>,
        /// The states in the checkpoint.
        found: Vec<String>,
    },
    /// A parameter has another value now.
    #[error("`{name}` was {then} in the checkpoint's run, and is {now} now: set it back to go on")]
    Parameter {
        /// The parameter.
        name: String,
        /// Its value.
        now: f64,
        /// Its value in the checkpoint.
        then: f64,
    },
    /// It is not of a run of this integrator.
    #[error("the checkpoint is of a run by {found}, and this integrator is {expected}")]
    Integrator {
        /// This one.
        expected: String,
        /// The one in the checkpoint.
        found: String,
    },
    /// It has too few or too many numbers.
    #[error(
        "the checkpoint has {found} numbers, which is not what this method keeps: it was written by another version"
    )]
    Count {
        /// How many there are.
        found: usize,
    },
}
