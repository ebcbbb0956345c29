//! How far predicted trajectories are from true ones.

/// Errors are not counted as smaller, so that those of the start, which are 0, have a logarithm.
pub const SMALLEST: f64 = 1e-8;

/// The relative error of each sample, ‖ẑ − z‖/(‖ẑ‖ + ‖z‖), of one trajectory: 1 where the prediction ran away.
#[must_use]
pub fn relative_errors(predicted: &[f64], truth: &[f64], dimension: usize) -> Vec<f64> {
    let norm = |state: &[f64]| state.iter().map(|z| z * z).sum::<f64>().sqrt();
    let error = |(predicted, truth): (&[f64], &[f64])| {
        let apart: Vec<f64> = predicted.iter().zip(truth).map(|(a, b)| a - b).collect();
        let error = norm(&apart) / (norm(predicted) + norm(truth));
        if error.is_finite() { error.clamp(SMALLEST, 1.0) } else { 1.0 }
    };
    predicted.chunks_exact(dimension).zip(truth.chunks_exact(dimension)).map(error).collect()
}

/// The geometric mean of an error over time: exp of the mean of its logarithm, by the trapezoidal rule.
#[must_use]
pub fn mean_over_time(errors: &[f64]) -> f64 {
    let logarithms: Vec<f64> = errors.iter().map(|error| error.ln()).collect();
    let sum: f64 = logarithms.windows(2).map(|pair| 0.5 * (pair[0] + pair[1])).sum();
    (sum / (logarithms.len() - 1).max(1) as f64).exp()
}

/// What many trajectories come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorSummary {
    /// The mean of the geometric means over time.
    pub mean: f64,
    /// Their geometric mean.
    pub geometric_mean: f64,
    /// How many trajectories there are.
    pub trajectories: usize,
    /// How many of the predictions ran away.
    pub lost: usize,
}

/// The errors of many trajectories, each of so many samples: over time, and summed up.
#[must_use]
pub fn summarize(
    predicted: &[f64],
    truth: &[f64],
    dimension: usize,
    samples: usize,
) -> (ErrorSummary, Vec<Vec<f64>>) {
    let each = dimension * samples;
    let pairs = predicted.chunks_exact(each).zip(truth.chunks_exact(each));
    let errors: Vec<Vec<f64>> =
        pairs.map(|(found, truth)| relative_errors(found, truth, dimension)).collect();
    let means: Vec<f64> = errors.iter().map(|errors| mean_over_time(errors)).collect();
    let count = means.len().max(1) as f64;
    let lost = predicted.chunks_exact(each).filter(|found| found.iter().any(|z| !z.is_finite())).count();
    let summary = ErrorSummary {
        mean: means.iter().sum::<f64>() / count,
        geometric_mean: (means.iter().map(|mean| mean.ln()).sum::<f64>() / count).exp(),
        trajectories: means.len(),
        lost,
    };
    (summary, errors)
}

#[cfg(test)]
mod tests {
    use super::{mean_over_time, relative_errors, summarize};

    #[test]
    fn errors_are_relative_and_their_means_geometric() {
        let truth = [3.0, 4.0, 3.0, 4.0, 0.0, 5.0];
        let found = [3.0, 4.0, 3.0, 5.0, f64::NAN, 5.0];
        let errors = relative_errors(&found, &truth, 2);
        assert_eq!(errors[0], 1e-8);
        assert!((errors[1] - 1.0 / (34f64.sqrt() + 5.0)).abs() < 1e-15);
        assert_eq!(errors[2], 1.0);
        // By the trapezoidal rule, an error that grows as eᵗ has the mean of its ends.
        assert!((mean_over_time(&[0.01, 0.1, 1.0]) - 0.1).abs() < 1e-15);
        let (summary, _) = summarize(&found, &truth, 2, 3);
        assert_eq!((summary.lost, summary.trajectories), (1, 1));
    }
}
