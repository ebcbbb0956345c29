//! Training: parameters that make predictions agree with data.

mod adamw;
mod checkpoint;
mod error;
mod log;
mod plan;
mod trainer;

pub use adamw::{AdamW, AdamWOptions};
pub use error::TrainError;
pub use log::{LogRow, write_log};
pub use plan::{PlanError, TrainingPlan};
pub use trainer::{Ending, Trainer};
