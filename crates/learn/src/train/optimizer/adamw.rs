//! AdamW (I. Loshchilov and F. Hutter, *Decoupled Weight Decay Regularization*, ICLR 2019, arXiv:1711.05101):
//!
//! $$m\leftarrow\beta_1m+(1-\beta_1)g,\quad s\leftarrow\beta_2s+(1-\beta_2)g^2,\quad\theta\leftarrow\theta-\eta\,w\,\theta-\eta\,\frac{m/(1-\beta_1^k)}{\sqrt{s/(1-\beta_2^k)}+\varepsilon}.$$

use leastaction_compile::{Loops, vectorized};
use std::ops::Range;

/// What AdamW is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamWOptions {
    /// How much of the mean of gradients is kept from step to step.
    pub beta1: f64,
    /// How much of the mean of their squares is.
    pub beta2: f64,
    /// What keeps the quotient finite.
    pub epsilon: f64,
    /// By how much parameters decay for each unit of the rate.
    pub decay: f64,
}

impl Default for AdamWOptions {
    fn default() -> AdamWOptions {
        AdamWOptions { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, decay: 1e-4 }
    }
}

/// The state of the optimizer.
#[derive(Clone, Debug, PartialEq)]
pub struct AdamW {
    pub(crate) options: AdamWOptions,
    pub(crate) steps: u64,
    /// Means of gradients, and of their squares.
    pub(crate) means: Vec<f64>,
    pub(crate) squares: Vec<f64>,
}

impl AdamW {
    /// For so many parameters.
    #[must_use]
    pub fn new(parameters: usize, options: AdamWOptions) -> AdamW {
        AdamW { options, steps: 0, means: vec![0.0; parameters], squares: vec![0.0; parameters] }
    }

    /// Changes parameters by a gradient, at a rate.
    ///
    /// # Panics
    /// If there are more or fewer of them than it was made for.
    pub fn step(&mut self, rate: f64, gradient: &[f64], parameters: &mut [f64]) {
        assert_eq!(gradient.len(), self.means.len(), "derivatives by all parameters");
        self.begin();
        self.change(0..gradient.len(), (rate, self.options.decay), gradient, parameters);
    }

    /// Begins a step.
    pub(super) fn begin(&mut self) {
        self.steps += 1;
    }

    /// Changes some parameters in the step that was begun, at a rate and with a decay of their own. The gradient is theirs.
    pub(super) fn change(
        &mut self,
        range: Range<usize>,
        (rate, decay): (f64, f64),
        gradient: &[f64],
        parameters: &mut [f64],
    ) {
        let AdamWOptions { beta1, beta2, epsilon, .. } = self.options;
        let power = |beta: f64| 1.0 - beta.powf(self.steps as f64);
        let (kept, size, root) = (1.0 - rate * decay, rate / power(beta1), power(beta2).sqrt());
        vectorized(Update {
            means: &mut self.means[range.clone()],
            squares: &mut self.squares[range.clone()],
            gradient,
            parameters: &mut parameters[range],
            betas: [beta1, beta2],
            factors: [kept, size, root, epsilon],
        });
    }
}

struct Update<'a> {
    means: &'a mut [f64],
    squares: &'a mut [f64],
    gradient: &'a [f64],
    parameters: &'a mut [f64],
    betas: [f64; 2],
    factors: [f64; 4],
}

impl Loops for Update<'_> {
    type Result = ();

    #[inline(always)]
    fn run(self) {
        let Update {
            means,
            squares,
            gradient,
            parameters,
            betas: [b1, b2],
            factors: [kept, size, root, epsilon],
        } = self;
        let rows = means.iter_mut().zip(squares).zip(gradient.iter().zip(parameters));
        for ((mean, square), (&g, parameter)) in rows {
            *mean = b1 * *mean + (1.0 - b1) * g;
            *square = b2 * *square + (1.0 - b2) * g * g;
            *parameter = *parameter * kept - size * *mean / (square.sqrt() / root + epsilon);
        }
    }
}
