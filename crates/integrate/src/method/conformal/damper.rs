//! Damping p ↦ e^{−Γs} p, by what it changes: X = e^{−Γs} − 1, which keeps its digits where s is short.
//!
//! For a diagonal Γ that is `expm1` of each rate. Else X is found for a part s/2ᵏ by its power series, and doubled k times by
//! (1 + X)² − 1 = 2X + X².

use crate::error::RunError;
use leastaction_compile::LANES;
use leastaction_mechanics::Dynamics;

pub(super) struct Damper {
    gamma: Gamma,
    degrees: usize,
    width: usize,
    /// The lengths of damping in a step, as parts of it.
    weights: Vec<f64>,
    /// X for each of them, component-major, lanes innermost; and the steps for which they hold.
    factors: Vec<f64>,
    steps: [f64; LANES],
    /// A vector, and three matrices, to work with.
    before: Vec<f64>,
    work: [Vec<f64>; 3],
}

enum Gamma {
    /// The rates of each momentum.
    Diagonal(Vec<f64>),
    /// A matrix by rows.
    Full(Vec<f64>),
}

impl Damper {
    pub(super) fn new(dynamics: &Dynamics, width: usize, weights: Vec<f64>) -> Result<Damper, RunError> {
        let degrees = dynamics.system().degrees();
        let mut matrix = vec![0.0; degrees * degrees];
        dynamics.damping(&mut matrix)?;
        let aside = |place: usize| place / degrees != place % degrees;
        let gamma = if matrix.iter().enumerate().all(|(place, value)| *value == 0.0 || !aside(place)) {
            Gamma::Diagonal((0..degrees).map(|i| matrix[i * degrees + i]).collect())
        } else {
            Gamma::Full(matrix)
        };
        let (each, room) = match gamma {
            Gamma::Diagonal(_) => (degrees, 0),
            Gamma::Full(_) => (degrees * degrees, degrees * degrees),
        };
        Ok(Damper {
            gamma,
            degrees,
            width,
            factors: vec![0.0; weights.len() * each * width],
            weights,
            steps: [0.0; LANES],
            before: vec![0.0; degrees * width],
            work: std::array::from_fn(|_| vec![0.0; room]),
        })
    }

    /// Prepares for steps of these lengths.
    pub(super) fn set(&mut self, h: &[f64]) {
        for (j, &h) in h.iter().enumerate() {
            if std::mem::replace(&mut self.steps[j], h).to_bits() == h.to_bits() {
                continue;
            }
            for (k, weight) in self.weights.iter().enumerate() {
                let s = weight * h;
                let x: &[f64] = match &self.gamma {
                    Gamma::Diagonal(rates) => {
                        let factors = self.factors[k * self.degrees * self.width..].iter_mut();
                        let lane = factors.skip(j).step_by(self.width);
                        lane.zip(rates).for_each(|(x, rate)| *x = (-rate * s).exp_m1());
                        continue;
                    }
                    Gamma::Full(matrix) => exponential(matrix, self.degrees, -s, &mut self.work),
                };
                let factors = self.factors[k * x.len() * self.width..].iter_mut();
                factors.skip(j).step_by(self.width).zip(x).for_each(|(to, x)| *to = *x);
            }
        }
    }

    /// Adds what damping changes of the momenta, in the part with this number.
    pub(super) fn damp(&mut self, part: usize, momenta: &[f64], change: &mut [f64]) {
        let (n, width) = (self.degrees, self.width);
        match &self.gamma {
            Gamma::Diagonal(_) => {
                let factors = &self.factors[part * n * width..][..n * width];
                let rows = factors.iter().zip(momenta);
                change.iter_mut().zip(rows).for_each(|(change, (x, p))| *change += x * p);
            }
            Gamma::Full(_) => {
                let factors = &self.factors[part * n * n * width..][..n * n * width];
                self.before.fill(0.0);
                for (i, k) in (0..n).flat_map(|i| (0..n).map(move |k| (i, k))) {
                    let x = &factors[(i * n + k) * width..][..width];
                    let p = &momenta[k * width..][..width];
                    let sum = &mut self.before[i * width..][..width];
                    (0..width).for_each(|j| sum[j] += x[j] * p[j]);
                }
                change.iter_mut().zip(&self.before).for_each(|(change, sum)| *change += sum);
            }
        }
    }
}

/// e^{sΓ} − 1.
fn exponential<'a>(gamma: &[f64], n: usize, s: f64, work: &'a mut [Vec<f64>; 3]) -> &'a [f64] {
    let norm = |row: &[f64]| row.iter().map(|x| (s * x).abs()).sum::<f64>();
    let size = gamma.chunks_exact(n).map(norm).fold(0.0, f64::max);
    // Halvings until the norm is below 1/2, where 16 terms leave less than rounding. What is not finite stays so.
    let halvings = if size > 0.5 && size.is_finite() { (2.0 * size).log2().ceil() as i32 } else { 0 };
    let scale = s * 0.5_f64.powi(halvings);
    let [x, term, product] = work;
    x.iter_mut().zip(gamma).for_each(|(x, g)| *x = scale * g);
    term.copy_from_slice(x);
    for k in 2..=16 {
        multiply(term, gamma, n, scale / f64::from(k), product);
        std::mem::swap(term, product);
        x.iter_mut().zip(term.iter()).for_each(|(x, term)| *x += term);
    }
    for _ in 0..halvings {
        multiply(x, x, n, 1.0, product);
        x.iter_mut().zip(product.iter()).for_each(|(x, square)| *x = 2.0 * *x + square);
    }
    x
}

/// c·ab.
fn multiply(a: &[f64], b: &[f64], n: usize, c: f64, product: &mut [f64]) {
    for (i, k) in (0..n).flat_map(|i| (0..n).map(move |k| (i, k))) {
        product[i * n + k] = c * (0..n).map(|j| a[i * n + j] * b[j * n + k]).sum::<f64>();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rotation and a shear, whose exponentials are known, with short and with long steps.
    #[test]
    fn exponentials_are_those_known() {
        for s in [1e-9, 0.3, -7.0, 40.0_f64] {
            let mut work = std::array::from_fn(|_| vec![0.0; 4]);
            let turn = exponential(&[0.0, 1.0, -1.0, 0.0], 2, s, &mut work);
            let expected =
                [-2.0 * (0.5 * s).sin().powi(2), s.sin(), -s.sin(), -2.0 * (0.5 * s).sin().powi(2)];
            let error = turn.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(error < 1e-14 * s.abs().max(1e-7), "{s}: {error:e}");
            let shear = exponential(&[-0.1, 2.0, 0.0, -0.1], 2, s, &mut work);
            let decay = (-0.1 * s).exp();
            let expected = [(-0.1 * s).exp_m1(), 2.0 * s * decay, 0.0, (-0.1 * s).exp_m1()];
            for (a, b) in shear.iter().zip(expected) {
                assert!((a - b).abs() <= 1e-14 * b.abs().max(decay), "{s}: {a} {b}");
            }
        }
    }
}
