//! Training: parameters that make predictions agree with data.

mod checkpoint;
mod error;
mod log;
mod optimizer;
mod plan;
mod trainer;

pub use error::TrainError;
pub use log::{LogRow, write_log};
pub use optimizer::{AdamW, AdamWOptions, OptimizerKind};
pub use plan::{PlanError, TrainingPlan};
pub use trainer::{Ending, Trainer};
