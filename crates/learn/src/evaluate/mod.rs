//! What was learned, judged on trajectories that were not learned from.

mod band;
mod comparison;
mod curvature;
mod error;
mod judge;
mod perturbed;
mod rollout;

pub use band::Band;
pub use comparison::{Comparison, ComparisonError, ComparisonPlan, Contender};
pub use curvature::{Curvature, curvature};
pub use error::{ErrorSummary, SMALLEST, mean_over_time, relative_errors, summarize};
pub use judge::{Judge, JudgeError, Judgement};
pub use perturbed::perturbed;
pub use rollout::rollout;
