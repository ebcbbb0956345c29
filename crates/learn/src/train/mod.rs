//! Training: parameters that make predictions agree with data.

mod checkpoint;
mod error;
mod files;
mod log;
mod optimizer;
mod plan;
mod trainer;

pub use error::TrainError;
pub use files::TrainingFiles;
pub use log::LogRow;
pub use optimizer::{AdamW, AdamWOptions, OptimizerKind};
pub use plan::{PlanError, TrainingPlan};
pub use trainer::{Ending, Trainer};
