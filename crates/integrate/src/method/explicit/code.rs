//! Explicit steps as kernels make them, operation for operation as the loops between evaluations do.

use super::{Estimate, Row, Tableau};
use crate::compiled_loop::{StepCode, StepOutputs};
use crate::compiled_step::StepBuilder;
use crate::pace::Tolerance;
use leastaction_compile::{AssemblyError, Operand};
use leastaction_mechanics::Quantity;

/// The stages of a step as a kernel makes them, operation for operation as [`gather`](leastaction_compile::gather) and
/// [`advance`](leastaction_compile::advance) do: from the states and the first rates. Gives the
/// change and the stages.
pub(super) fn write_stages(
    (rows, weights): (&[(f64, Row)], Row),
    builder: &mut StepBuilder,
    y: &[Operand],
    first: &[Operand],
) -> Result<(Vec<Operand>, Vec<Vec<Operand>>), AssemblyError> {
    let (n, h) = (y.len(), builder.h());
    let mut stages = vec![first.to_vec()];
    for &(c, row) in rows {
        let mut state = Vec::with_capacity(n);
        for i in 0..n {
            let sum = sum(builder, row, |_, j| stages[j][i]);
            state.push(sum.map_or(y[i], |sum| builder.mul_add(h, sum, y[i])));
        }
        stages.push(builder.quantity(Quantity::Rates, c, &state)?);
    }
    // The first rate differs by nothing from itself.
    let weights = if let [(0, _), others @ ..] = weights { others } else { weights };
    let mut change = Vec::with_capacity(n);
    for i in 0..n {
        let sum = sum(builder, weights, |builder, j| builder.sub(stages[j][i], first[i]));
        let mean = sum.map_or(first[i], |sum| builder.add(first[i], sum));
        change.push(builder.mul(h, mean));
    }
    Ok((change, stages))
}

/// A step from the states, their carries and the first rates: gives the change and all stages.
fn write_step(
    tableau: &Tableau,
    builder: &mut StepBuilder,
    [y, e, first]: [&[Operand]; 3],
) -> Result<(Vec<Operand>, Vec<Vec<Operand>>), AssemblyError> {
    let (change, mut stages) = write_stages((tableau.stages, tableau.weights), builder, y, first)?;
    let mut end = Vec::with_capacity(y.len());
    for i in 0..y.len() {
        let moved = builder.add(e[i], change[i]);
        end.push(builder.add(y[i], moved));
    }
    stages.push(builder.quantity(Quantity::Rates, 1.0, &end)?);
    Ok((change, stages))
}

/// The errors of a step as multiples of what is tolerated: one for each row of the estimate.
fn write_ratios(
    tableau: &Tableau,
    builder: &mut StepBuilder,
    tolerance: [Operand; 2],
    y: &[Operand],
    change: &[Operand],
    stages: &[Vec<Operand>],
) -> Vec<Operand> {
    let (h, mut ratios) = (builder.h(), Vec::new());
    for row in tableau.estimate.rows() {
        let mut error = |i: usize| {
            let sum = sum(builder, row, |_, j| stages[j][i]);
            sum.map_or(h, |sum| builder.mul(h, sum))
        };
        let errors: Vec<Operand> = (0..y.len()).map(&mut error).collect();
        ratios.push(Tolerance::write_ratio(builder, tolerance, &errors, y, change));
    }
    ratios
}

/// A step as a kernel: gives the change, the last rates, the errors as multiples of what is tolerated if a tolerance is given, and if it is full/// them the stages in between.
pub(super) fn write(
    tableau: &Tableau,
    full: bool,
    builder: &mut StepBuilder,
    inputs: &[Vec<Operand>],
) -> Result<Vec<Operand>, AssemblyError> {
    let [y, e, first, tolerance] = inputs else { return Ok(Vec::new()) };
    let (change, stages) = write_step(tableau, builder, [y, e, first])?;
    let mut outputs = change.clone();
    outputs.extend(&stages[tableau.last()]);
    if let &[relative, absolute] = tolerance.as_slice() {
        outputs.extend(write_ratios(tableau, builder, [relative, absolute], y, &change, &stages));
    }
    if full {
        outputs.extend(stages[1..tableau.last()].iter().flatten());
    }
    Ok(outputs)
}

impl StepCode for Tableau {
    fn method(&self) -> &'static str {
        self.method
    }

    fn quantities(&self) -> Vec<(Quantity, usize)> {
        vec![(Quantity::Rates, self.stages.len() + 1)]
    }

    fn carried(&self, dimension: usize) -> usize {
        dimension
    }

    fn write(
        &self,
        builder: &mut StepBuilder,
        state: [&[Operand]; 3],
        tolerance: Option<[Operand; 2]>,
    ) -> Result<StepOutputs, AssemblyError> {
        let (change, mut stages) = write_step(self, builder, state)?;
        let ratio = tolerance.map(|tolerance| {
            let ratios = write_ratios(self, builder, tolerance, state[0], &change, &stages);
            self.estimate.write_join(builder, &ratios)
        });
        Ok(StepOutputs { change, rates: stages.pop().unwrap_or_default(), ratio })
    }
}

impl Estimate {
    /// [`Estimate::join`] in a kernel.
    fn write_join(&self, builder: &mut StepBuilder, ratios: &[Operand]) -> Operand {
        let &[ratio, third] = ratios else { return ratios.first().map_or(builder.h(), |ratio| *ratio) };
        let [hundredth, least] = [0.01, f64::MIN_POSITIVE].map(|x| builder.number(x));
        let (square, third) = (builder.mul(ratio, ratio), builder.mul(third, third));
        let third = builder.mul(hundredth, third);
        let sum = builder.add(square, third);
        let root = builder.sqrt(sum);
        let root = builder.max(root, least);
        builder.div(square, root)
    }
}

/// Σ wⱼ xⱼ, from left to right.
fn sum(
    builder: &mut StepBuilder,
    row: Row,
    mut value: impl FnMut(&mut StepBuilder, usize) -> Operand,
) -> Option<Operand> {
    let mut sum = None;
    for &(j, weight) in row {
        let (weight, value) = (builder.number(weight), value(builder, j));
        sum = Some(match sum {
            None => builder.mul(weight, value),
            Some(sum) => builder.mul_add(weight, value, sum),
        });
    }
    sum
}
