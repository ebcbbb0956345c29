//! What many trajectories have in common over time: geometric means, with how well these are known.

/// Geometric means over trajectories, sample by sample.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Band {
    /// The geometric means.
    pub middle: Vec<f64>,
    /// Where they lie with a confidence of 95 %, if logarithms are about normal: between these
    pub low: Vec<f64>,
    /// and these. With fewer than three trajectories, nothing is known of it, and both are NaN.
    pub high: Vec<f64>,
}

impl Band {
    /// Of trajectories, each with one positive number for each sample.
    #[must_use]
    pub fn of(trajectories: &[Vec<f64>]) -> Band {
        let samples = trajectories.first().map_or(0, Vec::len);
        let count = trajectories.len() as f64;
        let mut band = Band::default();
        for sample in 0..samples {
            let logarithms = || trajectories.iter().map(|values| values[sample].ln());
            let mean = logarithms().sum::<f64>() / count;
            let squares: f64 = logarithms().map(|value| (value - mean) * (value - mean)).sum();
            let half = match trajectories.len() {
                0..=2 => f64::NAN,
                _ => quantile(count - 1.0) * (squares / ((count - 1.0) * count)).sqrt(),
            };
            band.middle.push(mean.exp());
            band.low.push((mean - half).exp());
            band.high.push((mean + half).exp());
        }
        band
    }

    /// Where the middle first comes to a value, among times as far apart as samples.
    #[must_use]
    pub fn reaches(&self, value: f64, dt: f64) -> Option<f64> {
        self.middle.iter().position(|&middle| middle >= value).map(|sample| sample as f64 * dt)
    }
}

/// The number that Student's t exceeds in 1 of 40 cases, by the expansion in 1/ν of M. Abramowitz and I. Stegun, *Handbook of Mathematical Functions*, 26.7.5: to 3 % from 2 degrees of
/// freedom on, and to a thousandth from 5 on.
fn quantile(degrees: f64) -> f64 {
    let x = 1.959_963_984_540_054_f64;
    let terms = [
        (x.powi(3) + x) / 4.0,
        (5.0 * x.powi(5) + 16.0 * x.powi(3) + 3.0 * x) / 96.0,
        (3.0 * x.powi(7) + 19.0 * x.powi(5) + 17.0 * x.powi(3) - 15.0 * x) / 384.0,
        (79.0 * x.powi(9) + 776.0 * x.powi(7) + 1482.0 * x.powi(5) - 1920.0 * x.powi(3) - 945.0 * x)
            / 92160.0,
    ];
    terms.iter().rev().fold(0.0, |sum, term| (sum + term) / degrees) + x
}

#[cfg(test)]
mod tests {
    use super::{Band, quantile};
    use leastaction_expr::Random;

    #[test]
    fn quantiles_are_those_of_tables() {
        for (degrees, expected, within) in
            [(2.0, 4.303, 0.13), (5.0, 2.571, 3e-3), (10.0, 2.228, 1e-3), (99.0, 1.984, 1e-3)]
        {
            assert!((quantile(degrees) - expected).abs() < within, "{degrees}: {}", quantile(degrees));
        }
    }

    #[test]
    fn bands_hold_the_mean_as_often_as_they_say() {
        let mut random = Random::new(5);
        let held = (0..2000).filter(|_| {
            let trajectories: Vec<Vec<f64>> =
                (0..8).map(|_| vec![(2.0 * random.normal() - 7.0).exp()]).collect();
            let band = Band::of(&trajectories);
            (band.low[0]..band.high[0]).contains(&(-7.0_f64).exp())
        });
        let held = held.count();
        assert!((1860..1940).contains(&held), "{held} of 2000, and 1900 are expected");
        let few = Band::of(&[vec![1e-3, 1.0], vec![1e-5, 1.0]]);
        assert!((few.middle[0] - 1e-4).abs() < 1e-16 && few.low[0].is_nan());
        assert_eq!(few.reaches(0.5, 0.1), Some(0.1));
    }
}
