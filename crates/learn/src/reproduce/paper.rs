//! The numbers that were published, as the authors give them with their code: of 100 trajectories, the mean and the geometric mean of the geometric mean of the relative error over time.

/// What was published of a network on a system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// The mean.
    pub mean: f64,
    /// The geometric mean.
    pub geometric_mean: f64,
}

/// What was published of an architecture by its name in the literature, or of the `truth`, on a system.
#[must_use]
pub fn published(case: &str, network: &str) -> Option<Published> {
    let network = if network == "truth" { "truth-perturbed-1e-4" } else { network };
    include_str!("paper.csv").lines().skip(1).find_map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        let &[row, name, mean, geometric_mean] = &cells[..] else { return None };
        let numbers = Published { mean: mean.parse().ok()?, geometric_mean: geometric_mean.parse().ok()? };
        (row == case && name == network).then_some(numbers)
    })
}

#[cfg(test)]
mod tests {
    use super::published;
    use crate::reproduce::CASES;

    #[test]
    fn every_case_was_published() {
        for case in CASES {
            for network in ["truth", "CHNN", "CLNN", "HNN", "DeLaN", "NeuralODE"] {
                let found =
                    published(case.name, network).unwrap_or_else(|| panic!("{} {network}", case.name));
                assert!(found.mean > 0.0 && found.geometric_mean > 0.0 && found.mean < 1.0);
            }
        }
        assert_eq!(published("3-Pendulum", "CHNN").unwrap().geometric_mean, 0.0003434);
        assert_eq!(published("4-Pendulum", "CHNN"), None);
    }
}
