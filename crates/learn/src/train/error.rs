//! What can go wrong in training.

use super::log::LogRow;
use super::plan::PlanError;
use crate::data::DataError;
use crate::recipe::RecipeError;
use leastaction_output::FileError;
use leastaction_output::npz::ColumnError;
use std::path::PathBuf;

/// Why nothing was learned.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// The plan cannot be.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The recipe does not go with the system.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// The data cannot be used.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The model is of other coordinates than the data.
    #[error("the model has the state {}, and the data have {}: they must be the same, in the same order", .model.join(", "), .data.join(", "))]
    Names {
        /// Those of the model.
        model: Vec<String>,
        /// Those of the data.
        data: Vec<String>,
    },
    /// Predictions ran away.
    #[error("at step {step} the loss is {loss} and the gradient has the length {length}{}: predictions run away; use a smaller rate, a warm-up, shorter chunks, or clip gradients", before(.last))]
    NotFinite {
        /// The step.
        step: u64,
        /// The loss.
        loss: f64,
        /// The length of the gradient.
        length: f64,
        /// What the log said last.
        last: Option<LogRow>,
    },
    /// A checkpoint cannot be read, or is damaged.
    #[error("cannot read the checkpoint `{}`: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: ColumnError,
    },
    /// A file is no checkpoint.
    #[error("`{}` is no checkpoint: {what}", .path.display())]
    NoCheckpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A checkpoint is of another training.
    #[error("the checkpoint `{}` belongs to another training: {what}; remove it to start again, or ask for the same training", .path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// What differs.
        what: String,
    },
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] FileError),
}

impl TrainError {
    /// Whether what was asked for cannot be. If not, it went wrong on the way, or a file is damaged or in the way.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        !matches!(
            self,
            TrainError::NotFinite { .. }
                | TrainError::Write(_)
                | TrainError::Read { .. }
                | TrainError::Data(DataError::Read { .. } | DataError::NotFinite { .. })
        )
    }
}

fn before(last: &Option<LogRow>) -> String {
    match last {
        Some(row) => format!(" (the loss was {:.3e} until step {})", row.loss, row.step),
        None => String::new(),
    }
}
