//! What is learned, as files name it, judged by the trajectories for tests of a dataset: what `evaluate` and `rollout` share.

use super::super::Failure;
use super::train::failure;
use leastaction::learn::evaluate::{Comparison, ComparisonError, ComparisonPlan, Contender};
use leastaction::learn::{Dataset, Learned};
use std::path::{Path, PathBuf};

/// Reads the files, and compares what is in them.
pub(super) fn compared(
    learned: &[PathBuf],
    data: &Path,
    plan: &ComparisonPlan,
) -> Result<Comparison, Failure> {
    let dataset = Dataset::read(data).map_err(|error| failure(&error.into()))?;
    let mut contenders = Vec::new();
    for path in learned {
        let (learned, predictor) = Learned::read(path).map_err(Failure::run)?;
        contenders.push(Contender { name: path.display().to_string(), learned, predictor });
    }
    Comparison::new(dataset, &data.display().to_string(), contenders, plan).map_err(|error| match error {
        ComparisonError::Perturbed { .. } => Failure::usage(format!("{error} (--perturbed)")),
        ComparisonError::Beyond { .. } => Failure::usage(format!("{error} (--times 1)")),
        ComparisonError::Large { .. } => Failure::usage(format!("{error} (--starts, --times)")),
        ComparisonError::NoTests { .. }
        | ComparisonError::NoTraining { .. }
        | ComparisonError::Other { .. } => Failure::usage(error),
        error => Failure::run(error),
    })
}
