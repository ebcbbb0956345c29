//! The text of explicit steps, for numbers and for kernels.

use super::{Dense, Estimate, Row, Tableau};
use crate::block::after;
use crate::compiled_loop::{Measured, StepCode, StepOutputs, ToleranceInputs};
use crate::compiled_step::StepBuilder;
use crate::dense;
use crate::natural;
use crate::pace::Tolerance;
use crate::workspace::{Formula, Place, Rows, Slot, Workspace, Writing};
use leastaction_compile::{Arithmetic, AssemblyError, Operand};
use leastaction_mechanics::Quantity;

/// The stages of a step whose first rates are known, and the change.
pub(super) fn stages<S: Workspace>(s: &mut S, rows: &[(f64, Row)], weights: Row) -> Result<(), S::Error> {
    for (i, &(c, row)) in rows.iter().enumerate() {
        stage(s, i + 1, (c, row))?;
    }
    s.combine(Slot::Change(0), Mean(weights));
    Ok(())
}

/// Rates number `i`, at y + h Σ aᵢⱼ kⱼ.
pub(super) fn stage<S: Workspace>(s: &mut S, i: usize, (c, row): (f64, Row)) -> Result<(), S::Error> {
    s.combine(Slot::At(0), Stage(row));
    s.evaluate(Quantity::Rates, c, Place::At, i)
}

impl Tableau {
    /// The step, where the first rates are known.
    pub(super) fn step<S: Workspace>(&self, s: &mut S) -> Result<(), S::Error> {
        stages(s, self.stages, self.weights)?;
        s.combine(Slot::At(0), End);
        s.evaluate(Quantity::Rates, 1.0, Place::At, self.last())
    }

    /// The step in a kernel, with all of its rates.
    fn write_step(
        &self,
        builder: &mut StepBuilder,
        [y, e, first]: [&[Operand]; 3],
        tolerance: Option<ToleranceInputs<'_>>,
    ) -> Result<(StepOutputs, Vec<Vec<Operand>>), AssemblyError> {
        let mut s = Writing::new(builder, [y, e], y.len(), self.last() + 1);
        s.rates[0] = first.to_vec();
        self.step(&mut s)?;
        let [change, _] = s.change.clone();
        let measured = tolerance.map(|ToleranceInputs { relative, absolute, natural }| {
            let sizes = natural::sizes(s.builder.assembly(), y, &change);
            let floors = Tolerance::floors(s.builder.assembly(), natural, sizes);
            let mut ratios = [s.builder.h(); 2];
            for (row, ratio) in self.estimate.rows().zip(&mut ratios) {
                s.combine(Slot::At(0), Weighted(row));
                let (states, of) = ([&s.at[0][..], y, &change], |i| absolute[i % absolute.len()]);
                *ratio = Tolerance::ratio(s.builder.assembly(), relative, of, floors, states);
            }
            Measured { ratio: self.estimate.join(s.builder.assembly(), ratios), sizes }
        });
        let rates = s.rates[self.last()].clone();
        Ok((StepOutputs { change, rates, measured }, s.rates))
    }

    /// The step as a kernel: gives the change, the last rates, the error as a multiple of what is tolerated if a tolerance is given, and with
    /// `full` the rates in between.
    pub(super) fn write_alone(
        &self,
        full: bool,
        builder: &mut StepBuilder,
        inputs: &[Vec<Operand>],
    ) -> Result<Vec<Operand>, AssemblyError> {
        let [y, e, first, natural, settings] = inputs else {
            unreachable!("a step has states, carries, rates, natural sizes and settings as inputs")
        };
        let tolerance = settings.split_first().zip(natural.first_chunk());
        let tolerance = tolerance.map(|((&relative, absolute), &natural)| ToleranceInputs {
            relative,
            absolute,
            natural,
        });
        let (outputs, rates) = self.write_step(builder, [y, e, first], tolerance)?;
        let inner = if full { rates[1..self.last()].concat() } else { Vec::new() };
        let ratio = Vec::from_iter(outputs.measured.map(|measured| measured.ratio));
        Ok([outputs.change, outputs.rates, ratio, inner].concat())
    }
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

    fn first(&self) -> Option<(Quantity, f64)> {
        Some((Quantity::Rates, 0.0))
    }

    fn write(
        &self,
        builder: &mut StepBuilder,
        state: [&[Operand]; 3],
        tolerance: Option<ToleranceInputs<'_>>,
    ) -> Result<StepOutputs, AssemblyError> {
        Ok(self.write_step(builder, state, tolerance)?.0)
    }

    fn write_inside(
        &self,
        builder: &mut StepBuilder,
        [y, e, first]: [&[Operand]; 3],
        tau: Operand,
    ) -> Result<Option<Vec<Operand>>, AssemblyError> {
        let Dense { extra, basis, terms } = &self.dense;
        let mut s = Writing::new(builder, [y, e], y.len(), self.stage_count());
        s.rates[0] = first.to_vec();
        self.step(&mut s)?;
        for (i, &row) in extra.iter().enumerate() {
            stage(&mut s, self.last() + 1 + i, row)?;
        }
        let mut rows = Vec::with_capacity(terms.len());
        for &row in *terms {
            s.combine(Slot::At(0), Weighted(row));
            rows.push(std::mem::take(&mut s.at[0]));
        }
        let a = s.builder.assembly();
        let inside = (0..y.len()).map(|i| {
            let change = dense::sum(a, *basis, tau, rows.len(), |k| rows[k][i]);
            after(a, y[i], e[i], change)
        });
        Ok(Some(inside.collect()))
    }
}

impl Estimate {
    /// The error, from those of each row. The second counts only where there is one.
    #[inline(always)]
    pub(super) fn join<A: Arithmetic>(&self, a: &mut A, [ratio, third]: [A::Value; 2]) -> A::Value {
        match self {
            Estimate::Embedded(_) => ratio,
            Estimate::Pair { .. } => {
                let (square, third) = (a.mul(ratio, ratio), a.mul(third, third));
                let third = a.mul(0.01, third);
                let sum = a.add(square, third);
                let root = a.sqrt(sum);
                let root = a.max(root, f64::MIN_POSITIVE);
                a.div(square, root)
            }
        }
    }
}

/// y + h Σ wⱼ kⱼ.
#[derive(Clone, Copy)]
struct Stage(Row);

impl Formula for Stage {
    #[inline(always)]
    fn value<A: Arithmetic>(self, a: &mut A, h: A::Value, rows: &impl Rows<A>) -> A::Value {
        let y = rows.get(Slot::State(0));
        match sum(a, self.0, rows, None) {
            Some(sum) => a.mul_add(h, sum, y),
            None => y,
        }
    }
}

/// h Σ wⱼ kⱼ.
#[derive(Clone, Copy)]
pub(super) struct Weighted(pub(super) Row);

impl Formula for Weighted {
    #[inline(always)]
    fn value<A: Arithmetic>(self, a: &mut A, h: A::Value, rows: &impl Rows<A>) -> A::Value {
        match sum(a, self.0, rows, None) {
            Some(sum) => a.mul(h, sum),
            None => a.constant(0.0),
        }
    }
}

/// h (k₀ + Σ bⱼ (kⱼ − k₀)), which is h Σ bⱼ kⱼ: but rounding of the weights, which is the same in every step and would add up, meets only
/// differences.
#[derive(Clone, Copy)]
struct Mean(Row);

impl Formula for Mean {
    #[inline(always)]
    fn value<A: Arithmetic>(self, a: &mut A, h: A::Value, rows: &impl Rows<A>) -> A::Value {
        let first = rows.get(Slot::Rates(0));
        // The first rate differs by nothing from itself.
        let others = if let [(0, _), others @ ..] = self.0 { others } else { self.0 };
        let mean = match sum(a, others, rows, Some(first)) {
            Some(sum) => a.add(first, sum),
            None => first,
        };
        a.mul(h, mean)
    }
}

/// Where the step ends, to the last bit: there the next one begins.
#[derive(Clone, Copy)]
struct End;

impl Formula for End {
    #[inline(always)]
    fn value<A: Arithmetic>(self, a: &mut A, _: A::Value, rows: &impl Rows<A>) -> A::Value {
        after(a, rows.get(Slot::State(0)), rows.get(Slot::Carry(0)), rows.get(Slot::Change(0)))
    }
}

/// Σ wⱼ kⱼ from left to right, each product rounded once with its sum; or of kⱼ less something.
#[inline(always)]
fn sum<A: Arithmetic>(a: &mut A, row: Row, rows: &impl Rows<A>, less: Option<A::Value>) -> Option<A::Value> {
    let mut sum = None;
    for &(j, weight) in row {
        let rate = rows.get(Slot::Rates(j));
        let rate = match less {
            Some(less) => a.sub(rate, less),
            None => rate,
        };
        sum = Some(match sum {
            None => a.mul(weight, rate),
            Some(sum) => a.mul_add(weight, rate, sum),
        });
    }
    sum
}
