//! What was learned, judged on trajectories that were not learned from.

mod error;
mod perturbed;
mod rollout;

pub use error::{ErrorSummary, SMALLEST, mean_over_time, relative_errors, summarize};
pub use perturbed::perturbed;
pub use rollout::rollout;
