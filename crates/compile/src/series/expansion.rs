//! An expansion: where it is, its coefficients, and a step.

use super::reach::{self, KINDS, SHARES, TOLERATED};
use crate::kernel::{ArgumentError, LANES, check};

/// A Taylor expansion of the motion about one state, or about [`LANES`] states: the states, and the coefficients that
/// [`SeriesEvaluator::expand`](super::SeriesEvaluator::expand) finds there.
///
/// Numbers lie as kernels read them: coefficients by order, steps, shares of the tolerance, inputs; lanes innermost.
#[derive(Clone, Debug)]
pub struct Expansion {
    numbers: Vec<f64>,
    /// What stands for the absolute tolerance of each component, if they differ.
    each: Vec<f64>,
    width: usize,
    pub(super) states: usize,
    pub(super) order: usize,
}

impl Expansion {
    pub(super) fn new([states, order, inputs]: [usize; 3], width: usize) -> Result<Expansion, ArgumentError> {
        if width != 1 {
            check("states", LANES, width)?;
        }
        let numbers = vec![0.0; (states * order + 1 + SHARES + inputs) * width];
        let mut expansion = Expansion { numbers, each: Vec::new(), width, states, order };
        expansion.tolerate(0.0, &[0.0]);
        Ok(expansion)
    }

    /// The number of states: 1, or [`LANES`].
    #[inline]
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// The coefficients: that of order k of component i of n in lane j of w is number ((k − 1)·n + i)·w + j.
    #[inline]
    #[must_use]
    pub fn coefficients(&self) -> &[f64] {
        &self.numbers[..self.places()[0]]
    }

    /// Where it is: the states, and what follows them among the field's inputs.
    #[inline]
    #[must_use]
    pub fn inputs(&self) -> &[f64] {
        &self.numbers[self.places()[2]..]
    }

    /// Where it is to be, for [`SeriesEvaluator::expand`](super::SeriesEvaluator::expand) to find its coefficients.
    #[inline]
    pub fn inputs_mut(&mut self) -> &mut [f64] {
        let from = self.places()[2];
        &mut self.numbers[from..]
    }

    /// Sets what [`SeriesEvaluator::reach`](super::SeriesEvaluator::reach) allows: the remainder of a step relative to the state, or in its
    /// units, whichever is more; in these one of all components, or one of each.
    pub fn tolerate(&mut self, relative: f64, absolute: &[f64]) {
        let smallest = absolute.iter().fold(f64::INFINITY, |m: f64, x| m.min(*x));
        let each = if absolute.len() > 1 { absolute } else { &[] };
        self.each = each.iter().map(|absolute| reach::absolute_share(*absolute)).collect();
        let (width, [_, shares, inputs]) = (self.width, self.places());
        let rows = self.numbers[shares..inputs].chunks_exact_mut(width);
        for (row, share) in rows.zip(reach::shares(self.order, relative, smallest)) {
            row.fill(share);
        }
    }

    /// Sets what states are measured by at least, of each half and in each lane: the natural sizes of coordinates and of momenta.
    pub fn set_natural(&mut self, sizes: [[f64; LANES]; KINDS]) {
        let (width, [_, shares, inputs]) = (self.width, self.places());
        let rows = self.numbers[shares..inputs].chunks_exact_mut(width).skip(TOLERATED);
        rows.zip(&sizes).for_each(|(row, size)| row.copy_from_slice(&size[..width]));
    }

    /// What stands for the absolute tolerance of each component, if they differ.
    pub(super) fn each(&self) -> &[f64] {
        &self.each
    }

    /// Where steps, shares and inputs begin.
    #[inline]
    fn places(&self) -> [usize; 3] {
        let steps = self.states * self.order * self.width;
        [steps, steps + self.width, steps + (1 + SHARES) * self.width]
    }

    /// Coefficients to be found, and the inputs that they follow from.
    #[inline]
    pub(super) fn open(&mut self) -> (&mut [f64], &[f64]) {
        let [steps, _, inputs] = self.places();
        let (head, tail) = self.numbers.split_at_mut(inputs);
        (&mut head[..steps], tail)
    }

    /// Coefficients and steps, with these steps.
    #[inline]
    pub(super) fn with_steps(&mut self, h: &[f64]) -> &[f64] {
        let [steps, shares, _] = self.places();
        self.numbers[steps..shares].copy_from_slice(h);
        &self.numbers[..shares]
    }

    /// The row of a coefficient; order 0 is the state.
    #[inline]
    pub(super) fn place(&self, k: usize, i: usize) -> usize {
        let count = self.states * self.order;
        if k == 0 { count + 1 + SHARES + i } else { (k - 1) * self.states + i }
    }

    /// Everything.
    #[inline]
    pub(super) fn numbers(&self) -> &[f64] {
        &self.numbers
    }
}
