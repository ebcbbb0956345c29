//! Explicit steps as kernels make them, operation for operation as the loops between evaluations do.

use super::{Estimate, Row, Tableau};
use crate::pace::Tolerance;
use crate::stride::{Script, Written};
use crate::whole::Draft;
use leastaction_compile::{AssemblyError, Operand};
use leastaction_mechanics::Quantity;

/// The stages of a step as a kernel makes them, operation for operation as [`gather`](leastaction_compile::gather) and
/// [`advance`](leastaction_compile::advance) do: from the states and the first slopes. Gives the
/// change and the slopes.
pub(super) fn write_stages(
    (stages, weights): (&[(f64, Row)], Row),
    draft: &mut Draft,
    y: &[Operand],
    first: &[Operand],
) -> Result<(Vec<Operand>, Vec<Vec<Operand>>), AssemblyError> {
    let (n, h) = (y.len(), draft.h());
    let mut slopes = vec![first.to_vec()];
    for &(c, row) in stages {
        let mut state = Vec::with_capacity(n);
        for i in 0..n {
            let sum = sum(draft, row, |_, j| slopes[j][i]);
            state.push(sum.map_or(y[i], |sum| draft.mul_add(h, sum, y[i])));
        }
        slopes.push(draft.quantity(Quantity::Field, c, &state)?);
    }
    // The first slope differs by nothing from itself.
    let weights = if let [(0, _), others @ ..] = weights { others } else { weights };
    let mut change = Vec::with_capacity(n);
    for i in 0..n {
        let sum = sum(draft, weights, |draft, j| draft.sub(slopes[j][i], first[i]));
        let mean = sum.map_or(first[i], |sum| draft.add(first[i], sum));
        change.push(draft.mul(h, mean));
    }
    Ok((change, slopes))
}

/// A step from the states, their carries and the first slopes: gives the change and all slopes.
fn write_step(
    tableau: &Tableau,
    draft: &mut Draft,
    [y, e, first]: [&[Operand]; 3],
) -> Result<(Vec<Operand>, Vec<Vec<Operand>>), AssemblyError> {
    let (change, mut slopes) = write_stages((tableau.stages, tableau.weights), draft, y, first)?;
    let mut end = Vec::with_capacity(y.len());
    for i in 0..y.len() {
        let moved = draft.add(e[i], change[i]);
        end.push(draft.add(y[i], moved));
    }
    slopes.push(draft.quantity(Quantity::Field, 1.0, &end)?);
    Ok((change, slopes))
}

/// The errors of a step as multiples of what is tolerated: one for each row of the estimate.
fn write_ratios(
    tableau: &Tableau,
    draft: &mut Draft,
    tolerance: [Operand; 2],
    y: &[Operand],
    change: &[Operand],
    slopes: &[Vec<Operand>],
) -> Vec<Operand> {
    let (h, mut ratios) = (draft.h(), Vec::new());
    for row in tableau.estimate.rows() {
        let mut error = |i: usize| {
            let sum = sum(draft, row, |_, j| slopes[j][i]);
            sum.map_or(h, |sum| draft.mul(h, sum))
        };
        let errors: Vec<Operand> = (0..y.len()).map(&mut error).collect();
        ratios.push(Tolerance::write_ratio(draft, tolerance, &errors, y, change));
    }
    ratios
}

/// A step as a kernel: gives the change, the last slopes, the errors as multiples of what is tolerated if a tolerance is given, and if it shall tell
/// them the slopes in between.
pub(super) fn write(
    tableau: &Tableau,
    telling: bool,
    draft: &mut Draft,
    inputs: &[Vec<Operand>],
) -> Result<Vec<Operand>, AssemblyError> {
    let [y, e, first, tolerance] = inputs else { return Ok(Vec::new()) };
    let (change, slopes) = write_step(tableau, draft, [y, e, first])?;
    let mut outputs = change.clone();
    outputs.extend(&slopes[tableau.last()]);
    if let &[relative, absolute] = tolerance.as_slice() {
        outputs.extend(write_ratios(tableau, draft, [relative, absolute], y, &change, &slopes));
    }
    if telling {
        outputs.extend(slopes[1..tableau.last()].iter().flatten());
    }
    Ok(outputs)
}

impl Script for Tableau {
    fn method(&self) -> &'static str {
        self.method
    }

    fn quantities(&self) -> Vec<(Quantity, usize)> {
        vec![(Quantity::Field, self.stages.len() + 1)]
    }

    fn slopes(&self, dimension: usize) -> usize {
        dimension
    }

    fn write(
        &self,
        draft: &mut Draft,
        state: [&[Operand]; 3],
        tolerance: Option<[Operand; 2]>,
    ) -> Result<Written, AssemblyError> {
        let (change, mut slopes) = write_step(self, draft, state)?;
        let ratio = tolerance.map(|tolerance| {
            let ratios = write_ratios(self, draft, tolerance, state[0], &change, &slopes);
            self.estimate.write_join(draft, &ratios)
        });
        Ok(Written { change, slopes: slopes.pop().unwrap_or_default(), ratio })
    }
}

impl Estimate {
    /// [`Estimate::join`] in a kernel.
    fn write_join(&self, draft: &mut Draft, ratios: &[Operand]) -> Operand {
        let &[ratio, third] = ratios else { return ratios.first().map_or(draft.h(), |ratio| *ratio) };
        let [hundredth, least] = [0.01, f64::MIN_POSITIVE].map(|x| draft.number(x));
        let (square, third) = (draft.mul(ratio, ratio), draft.mul(third, third));
        let third = draft.mul(hundredth, third);
        let sum = draft.add(square, third);
        let root = draft.sqrt(sum);
        let root = draft.max(root, least);
        draft.div(square, root)
    }
}

/// Σ wⱼ xⱼ, from left to right.
fn sum(draft: &mut Draft, row: Row, mut value: impl FnMut(&mut Draft, usize) -> Operand) -> Option<Operand> {
    let mut sum = None;
    for &(j, weight) in row {
        let (weight, value) = (draft.number(weight), value(draft, j));
        sum = Some(match sum {
            None => draft.mul(weight, value),
            Some(sum) => draft.mul_add(weight, value, sum),
        });
    }
    sum
}
