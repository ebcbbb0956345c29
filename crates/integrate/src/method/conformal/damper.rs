//! Damping p ↦ e^{−Γs} p, by what it changes: X = e^{−Γs} − 1, which keeps its digits where s is short.
//!
//! For a diagonal Γ that is `expm1` of each rate. Else X is found for a part s/2ᵏ by its power series, and doubled k times by
//! (1 + X)² − 1 = 2X + X². Which way it goes depends on where entries of Γ stand, not on their values, so that all parameters go
//! the same.

use leastaction_compile::LANES;
use leastaction_mechanics::{Dynamics, EvalError, Revision};

pub(super) struct Damper {
    /// Γ by rows, lane by lane, and the parameters that it is of.
    gamma: Vec<f64>,
    revision: Revision,
    diagonal: bool,
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

impl Damper {
    pub(super) fn new(dynamics: &Dynamics, width: usize, weights: Vec<f64>) -> Result<Damper, EvalError> {
        let degrees = dynamics.system().degrees();
        let diagonal = dynamics.system().damped().iter().all(|(row, column)| row == column);
        let (each, room) = if diagonal { (degrees, 0) } else { (degrees * degrees, degrees * degrees) };
        let mut damper = Damper {
            gamma: vec![0.0; degrees * degrees * width],
            revision: Revision::default(),
            diagonal,
            degrees,
            width,
            factors: vec![0.0; weights.len() * each * width],
            weights,
            steps: [0.0; LANES],
            before: vec![0.0; degrees * width],
            work: std::array::from_fn(|_| vec![0.0; room]),
        };
        damper.follow(dynamics)?;
        Ok(damper)
    }

    /// Takes over what has changed of Γ.
    fn follow(&mut self, dynamics: &Dynamics) -> Result<(), EvalError> {
        let (size, width) = (self.degrees * self.degrees, self.width);
        dynamics.pass_parameters(&mut self.revision, |lane, _| {
            for j in (0..width).filter(|j| lane.is_none_or(|lane| lane == *j)) {
                let matrix = &mut self.gamma[j * size..][..size];
                if width == 1 {
                    dynamics.damping(matrix)?
                } else {
                    dynamics.damping_in(j, matrix)?
                }
                self.steps[j] = f64::NAN; // factors are to be found anew
            }
            Ok(())
        })
    }

    /// Prepares for steps of these lengths.
    pub(super) fn set(&mut self, dynamics: &Dynamics, h: &[f64]) -> Result<(), EvalError> {
        self.follow(dynamics)?;
        let (n, width) = (self.degrees, self.width);
        for (j, &h) in h.iter().enumerate() {
            if std::mem::replace(&mut self.steps[j], h).to_bits() == h.to_bits() {
                continue;
            }
            let gamma = &self.gamma[j * n * n..][..n * n];
            for (k, weight) in self.weights.iter().enumerate() {
                let s = weight * h;
                if self.diagonal {
                    let lane = self.factors[k * n * width..].iter_mut().skip(j).step_by(width);
                    let rates = gamma.iter().step_by(n + 1);
                    lane.zip(rates).for_each(|(x, rate)| *x = (-rate * s).exp_m1());
                } else {
                    let x = exponential(gamma, n, -s, &mut self.work);
                    let lane = self.factors[k * n * n * width..].iter_mut().skip(j).step_by(width);
                    lane.zip(x).for_each(|(to, x)| *to = *x);
                }
            }
        }
        Ok(())
    }

    /// Adds what damping changes of the momenta, in the part with this number.
    pub(super) fn damp(&mut self, part: usize, momenta: &[f64], change: &mut [f64]) {
        let (n, width) = (self.degrees, self.width);
        if self.diagonal {
            let factors = &self.factors[part * n * width..][..n * width];
            let rows = factors.iter().zip(momenta);
            change.iter_mut().zip(rows).for_each(|(change, (x, p))| *change += x * p);
            return;
        }
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
