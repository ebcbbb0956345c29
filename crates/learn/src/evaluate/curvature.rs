//! How many parameters data tell of: the effective dimension of the Hessian of a loss (D. J. C. MacKay, *Bayesian Model Comparison and Backprop Nets*, NIPS 1991; W. J. Maddox, G. Benton and
//! A. G. Wilson, arXiv:2003.02139),
//!
//! $$N(z)=\sum_i\frac{\lambda_i}{\lambda_i+z},$$
//!
//! with its eigenvalues λ as parts of the largest one. The loss is that of squared deviations: sizes have no curvature of their own.

use crate::objective::{Chunks, Objective};
use crate::predictor::Predictor;
use crate::share::Loss;
use leastaction_expr::Random;
use leastaction_linear::{Lanczos, SymmetricMap};
use std::convert::Infallible;

/// The largest eigenvalues of the Hessian of a loss.
#[derive(Clone, Debug, PartialEq)]
pub struct Curvature {
    /// They, in descending order.
    pub values: Vec<f64>,
    /// Whether each is as good as was asked.
    pub converged: bool,
}

impl Curvature {
    /// The effective dimension, where eigenvalues that are `z` of the largest one count as a half. Negative ones do not count.
    #[must_use]
    pub fn effective_dimension(&self, z: f64) -> f64 {
        let largest = self.values.first().copied().unwrap_or(0.0);
        let positive = self.values.iter().filter(|value| **value > 0.0);
        positive.map(|value| value / largest).map(|part| part / (part + z)).sum()
    }

    /// Whether all are known that count at `z`: the smallest one is much smaller than `z` of the largest, or there are no others.
    #[must_use]
    pub fn complete(&self, z: f64, parameters: usize) -> bool {
        let ends = [self.values.first(), self.values.last()].map(|value| value.copied().unwrap_or(0.0));
        self.values.len() >= parameters || ends[1] <= 0.1 * z * ends[0]
    }
}

/// The so many largest eigenvalues at these parameters, by products of the Hessian, which are differences of gradients in double precision.
///
/// # Panics
/// If parameters or chunks are not those of the predictor.
#[must_use]
pub fn curvature(
    predictor: &Predictor,
    parameters: &[f64],
    dt: f64,
    chunks: Chunks<'_>,
    count: usize,
    threads: usize,
) -> Curvature {
    let objective = Objective::<f64>::new(predictor, Loss::Squared, dt, threads);
    let memory = [(); 2].map(|()| vec![0.0; parameters.len()]);
    let mut map = Hessian { objective, parameters, chunks, memory, random: Random::new(1) };
    let most = (2 * count + 20).min(parameters.len());
    let lanczos = Lanczos { count, tolerance: 1e-3, most, block: 1, careful: false };
    let found = match lanczos.largest(&mut map) {
        Ok(found) => found,
        Err(never) => match never {},
    };
    Curvature { values: found.values, converged: found.converged }
}

struct Hessian<'a> {
    objective: Objective<f64>,
    parameters: &'a [f64],
    chunks: Chunks<'a>,
    /// Parameters that are moved, and a gradient.
    memory: [Vec<f64>; 2],
    random: Random,
}

impl SymmetricMap for Hessian<'_> {
    type Error = Infallible;

    fn dimension(&self) -> usize {
        self.parameters.len()
    }

    fn apply(&mut self, x: &[f64], out: &mut [f64]) -> Result<(), Infallible> {
        let Hessian { objective, parameters, chunks, memory: [moved, gradient], .. } = self;
        let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        // The third root of a rounding is best for central differences.
        let h = 6e-6 * (1.0 + length(parameters)) / length(x).max(f64::MIN_POSITIVE);
        out.fill(0.0);
        for side in [h, -h] {
            for ((to, at), x) in moved.iter_mut().zip(*parameters).zip(x) {
                *to = at + side * x;
            }
            objective.loss_and_gradient(moved, *chunks, gradient);
            out.iter_mut().zip(&*gradient).for_each(|(out, slope)| *out += slope / (2.0 * side));
        }
        Ok(())
    }

    fn weigh(&self, x: &[f64], out: &mut [f64]) {
        out.copy_from_slice(x);
    }

    fn sample(&mut self, out: &mut [f64]) {
        out.iter_mut().for_each(|x| *x = self.random.normal());
    }
}
