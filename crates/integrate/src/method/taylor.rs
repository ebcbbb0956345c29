//! The Taylor method: as many terms of the motion's power series as the tolerance asks for.
//!
//! $$y(t+h)=y+\sum_{k=1}^N c_kh^k,\qquad c_k=\tfrac1{k!}y^{(k)}(t)$$
//!
//! The coefficients come from recurrences that are generated from the vector field and compiled. The work of a step grows as N²,
//! and the step that a tolerance ε allows as ε^{1/(N+1)}, so that N is best near −½ ln ε; measured, a little below. Where one coefficient is larger than
//! another, ρ = (|cⱼ|/|cₖ|)^{1/(k−j)} is about the radius of convergence, and h = ρ ε^{1/(N+1−j)} leaves a remainder of ε relative to
//! the term of order j. The smallest of these over several high orders k is taken, because at a point of symmetry any one of them
//! may vanish, and the largest over the first few j, because a component may pass through zero.

use crate::block::Block;
use crate::card::{Card, Kind, Needs, Sizing};
use crate::dense::{Basis, Polynomial};
use crate::error::RunError;
use crate::pace::{Pace, Tolerance};
use crate::step::{Interval, Motion, Step, StepError};
use leastaction_compile::{ArgumentError, LANES, SeriesEvaluator};
use leastaction_mechanics::{Dynamics, EvalError};

pub(super) const CARD: Card = Card {
    name: "taylor",
    about: "Taylor series, of an order that the tolerance sets",
    order: ORDER as u32,
    keeps: &[],
    needs: Needs::Closed,
    kind: Kind::Explicit,
    sizing: Sizing::Foreseen,
    cite: "doi:10.1080/10586458.2005.10128904",
    stepper: |dynamics, width, pace| Ok(Box::new(Taylor::new(dynamics, width, pace)?)),
};

/// The order with steps of one length.
const ORDER: usize = 20;

/// Orders that a tolerance can set.
const LEAST: usize = 4;
const MOST: usize = 40;

/// How many of the highest orders tell the radius of convergence, at least; and how many of these must not vanish in all components.
/// From a point of symmetry only every other order may be there, or every fourth, or fewer.
const TELLING: usize = 4;
const PRESENT: usize = 2;

/// Terms that the remainder is measured against: the first few.
const MEASURES: usize = 3;

/// A component smaller than 2 to this power, relative to the largest of its kind, is measured by that one, as in [`Tolerance`].
const SMALL: f64 = -6.64;

/// By how much the defect of a step may exceed the tolerance where it is checked: only what a series cannot see is meant.
const GROSS: f64 = 1e2;

/// How often a step that fails the check is halved.
const HALVINGS: usize = 100;

struct Taylor {
    series: SeriesEvaluator,
    order: usize,
    parameters: Vec<f64>,
    foresight: Option<Foresight>,
    /// Whether the field has branches, which a series does not see.
    branches: bool,
    /// Whether the motion is a polynomial.
    ends: bool,
    /// The state, and the time if the field depends on it.
    inputs: Vec<f64>,
    coefficients: Vec<f64>,
    /// Whether the coefficients are those of the step to come.
    fresh: bool,
    /// The sums of the series, then what rounding left of them.
    sums: Vec<f64>,
    /// What rounding left of the last step that was taken.
    left: Vec<f64>,
    rates: Vec<f64>,
}

/// What the longest step follows from, beside the coefficients. All logarithms are of base 2.
struct Foresight {
    tolerance: Tolerance,
    absolute: f64,
    /// By order.
    weights: Vec<Weights>,
}

/// Exponents of the roots that coefficients of one order are taken to.
struct Weights {
    of_order: f64,
    /// By the term that the remainder is measured against.
    between: [f64; MEASURES],
    /// What the relative tolerance allows beyond the radius of convergence.
    shares: [f64; MEASURES],
}

impl Foresight {
    fn new(order: usize, tolerance: Tolerance) -> Foresight {
        let relative = |j: usize| tolerance.relative.log2() / (order + 1 - j) as f64;
        let weights = |k: usize| Weights {
            of_order: 1.0 / k.max(1) as f64,
            between: std::array::from_fn(|j| if j < k { 1.0 / (k - j) as f64 } else { 0.0 }),
            shares: std::array::from_fn(|j| if j < k { relative(j) } else { f64::NEG_INFINITY }),
        };
        let weights = (0..=order).map(weights).collect();
        Foresight { tolerance, absolute: tolerance.absolute.log2(), weights }
    }
}

impl Taylor {
    fn new(dynamics: &mut Dynamics, width: usize, pace: &Pace) -> Result<Taylor, RunError> {
        let (order, foresight) = match *pace {
            Pace::Step(_) | Pace::Density(_) => (ORDER, None),
            Pace::Tolerance(tolerance) => {
                let order = order(tolerance);
                (order, Some(Foresight::new(order, tolerance)))
            }
        };
        let system = dynamics.system().clone();
        let series = system.series(order)?;
        let parameters = dynamics.parameters().to_vec();
        let extra = usize::from(!system.facts().autonomous);
        let len = system.dimension() * width;
        Ok(Taylor {
            branches: series.branches(),
            ends: series.ends(),
            series: series.evaluator(&parameters).map_err(refused)?,
            order,
            parameters,
            foresight,
            inputs: vec![0.0; len + extra * width],
            coefficients: vec![0.0; order * len],
            fresh: false,
            sums: vec![0.0; 2 * len],
            left: vec![0.0; len],
            rates: vec![0.0; len],
        })
    }

    /// The coefficients at a block.
    fn expand(&mut self, motion: &mut Motion<'_>, t: &[f64], block: &Block) -> Result<(), StepError> {
        if motion.dynamics().parameters() != self.parameters {
            self.parameters.copy_from_slice(motion.dynamics().parameters());
            self.series.set_parameters(&self.parameters).map_err(refused)?;
        }
        let values = block.values();
        self.inputs[..values.len()].copy_from_slice(values);
        let time = &mut self.inputs[values.len()..];
        if !time.is_empty() {
            time.copy_from_slice(t);
        }
        motion.work_mut().evaluations += 1;
        let found = match t.len() {
            1 => self.series.eval(&self.inputs, &mut self.coefficients),
            _ => self.series.eval_lanes(&self.inputs, &mut self.coefficients),
        };
        Ok(found.map_err(refused)?)
    }

    /// The lowest order that is asked about the radius of convergence.
    fn telling(&self, is_present: impl Fn(usize) -> bool) -> usize {
        let mut present = 0;
        for k in (2..=self.order).rev() {
            present += usize::from(is_present(k));
            if present >= PRESENT && k + TELLING <= self.order + 1 {
                return k;
            }
        }
        2
    }

    /// The logarithm (of base 2) of the longest step in one lane, infinite if the series ends; `None` if it is not finite.
    fn reach<const W: usize>(&self, foresight: &Foresight, block: &Block, lane: usize) -> Option<f64> {
        let rows = block.dimension();
        let values = block.values().as_chunks::<W>().0;
        let coefficients = self.coefficients.as_chunks::<W>().0;
        let row = |k: usize| if k == 0 { values } else { &coefficients[(k - 1) * rows..][..rows] };
        let first: [&[[f64; W]]; MEASURES] = std::array::from_fn(row);
        let from = self.telling(|k| row(k).iter().any(|c| c[lane] != 0.0));
        let telling = &coefficients[(from - 1) * rows..];
        let (mut reach, mut top) = (f64::INFINITY, ZERO);
        let half = rows.div_ceil(2);
        for part in [0..half, half..rows] {
            let mut largest = [ZERO; MEASURES];
            for i in part.clone() {
                (0..MEASURES).for_each(|j| largest[j] = larger(largest[j], log2(first[j][i][lane]) + SMALL));
            }
            for i in part {
                let measures: [f64; MEASURES] =
                    std::array::from_fn(|j| larger(log2(first[j][i][lane]), largest[j]));
                if measures.iter().all(|m| *m == ZERO) && foresight.absolute == f64::NEG_INFINITY {
                    continue; // there is nothing to measure by
                }
                for (weights, row) in foresight.weights[from..].iter().zip(telling.chunks_exact(rows)) {
                    let size = log2(row[i][lane]);
                    top = larger(top, size);
                    let mut furthest = (foresight.absolute - size) * weights.of_order;
                    for j in 0..MEASURES {
                        let radius = (measures[j] - size) * weights.between[j];
                        furthest = larger(furthest, radius + weights.shares[j]);
                    }
                    if furthest < reach {
                        reach = furthest;
                    }
                }
            }
        }
        match top {
            ZERO => Some(f64::INFINITY),
            top if top >= NOT_FINITE => None,
            _ => Some(reach),
        }
    }

    /// Halves steps over which the series does not satisfy the equations of motion: it has run past a branch of the field.
    fn check(
        &mut self,
        motion: &mut Motion<'_>,
        tolerance: Tolerance,
        t: &[f64],
        block: &Block,
        steps: &mut [f64],
    ) -> Result<(), StepError> {
        let width = t.len();
        let mut ratios = [0.0; LANES];
        for _ in 0..HALVINGS {
            let mut halved = false;
            for part in [0.5, 1.0] {
                let mut h = [0.0; LANES];
                h.iter_mut().zip(steps.iter()).for_each(|(h, step)| *h = part * step);
                let h = &h[..width];
                let Taylor { series, coefficients, sums, rates, .. } = self;
                series.sum(coefficients, h, sums).map_err(refused)?;
                let change = &sums[..rates.len()];
                let at = &mut self.inputs[..rates.len()];
                at.iter_mut().zip(change).zip(block.values()).for_each(|((at, change), y)| *at = y + change);
                motion.rates(Interval { t, h }, 1.0, at, rates)?;
                for (place, rate) in rates.iter_mut().enumerate() {
                    let (len, h) = (change.len(), h[place % width]);
                    let slope = (1..=self.order)
                        .rev()
                        .fold(0.0, |sum, k| sum * h + k as f64 * coefficients[(k - 1) * len + place]);
                    *rate = (*rate - slope) * h;
                }
                tolerance.ratios(rates, block.values(), change, &mut ratios[..width]);
                for (step, ratio) in steps.iter_mut().zip(ratios) {
                    if ratio > GROSS || ratio.is_nan() {
                        *step *= 0.5;
                        halved = true;
                    }
                }
            }
            if !halved {
                return Ok(());
            }
        }
        // No step is short enough, and the run will say so.
        for (step, ratio) in steps.iter_mut().zip(ratios) {
            if ratio > GROSS || ratio.is_nan() {
                *step = 0.0;
            }
        }
        Ok(())
    }
}

impl Step for Taylor {
    fn step(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        change: &mut [f64],
    ) -> Result<(), StepError> {
        if !self.fresh {
            self.expand(motion, interval.t, block)?;
        }
        self.fresh = false;
        self.series.sum(&self.coefficients, interval.h, &mut self.sums).map_err(refused)?;
        let (sums, lost) = self.sums.split_at_mut(change.len());
        for (((change, lost), sum), left) in change.iter_mut().zip(lost).zip(sums).zip(&self.left) {
            *change = *sum + left;
            *lost += left - (*change - *sum);
        }
        Ok(())
    }

    fn accept(&mut self, lanes: &[bool]) {
        let lost = &self.sums[self.left.len()..];
        for (place, (left, lost)) in self.left.iter_mut().zip(lost).enumerate() {
            if lanes[place % lanes.len()] {
                *left = *lost;
            }
        }
    }

    fn memory(&mut self, visit: &mut dyn FnMut(&mut [f64])) {
        visit(&mut self.left);
    }

    fn foresee(
        &mut self,
        motion: &mut Motion<'_>,
        t: &[f64],
        block: &Block,
        steps: &mut [f64],
    ) -> Result<(), StepError> {
        self.expand(motion, t, block)?;
        self.fresh = true;
        let Some(foresight) = &self.foresight else { return Ok(()) };
        let tolerance = foresight.tolerance;
        let mut endless = false;
        for (j, step) in steps.iter_mut().enumerate() {
            let reach = match t.len() {
                _ if self.ends => Some(f64::INFINITY),
                1 => self.reach::<1>(foresight, block, j),
                _ => self.reach::<LANES>(foresight, block, j),
            };
            // Where a coefficient is not finite, the step is neither, and the run ends with that.
            let Some(reach) = reach else { continue };
            endless |= reach == f64::INFINITY;
            *step = step.abs().min(reach.exp2()).copysign(*step);
        }
        if self.branches || endless {
            self.check(motion, tolerance, t, block, steps)?;
        }
        Ok(())
    }

    fn polynomial(
        &mut self,
        _: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        _: &[f64],
        polynomial: &mut Polynomial,
    ) -> Result<bool, StepError> {
        let (len, width) = (block.values().len(), block.width());
        let terms = polynomial.begin(block, Basis::Powers, self.order);
        let mut powers = [1.0; LANES];
        for (row, found) in terms.chunks_exact_mut(len).zip(self.coefficients.chunks_exact(len)) {
            powers.iter_mut().zip(interval.h).for_each(|(power, h)| *power *= h);
            for (place, (term, coefficient)) in row.iter_mut().zip(found).enumerate() {
                *term = coefficient * powers[place % width];
            }
        }
        Ok(true)
    }
}

/// The order for a tolerance.
fn order(tolerance: Tolerance) -> usize {
    let finest = if tolerance.relative > 0.0 { tolerance.relative } else { tolerance.absolute };
    let best = (-0.45 * finest.min(1.0).ln()).ceil() + 1.0;
    best.clamp(LEAST as f64, MOST as f64) as usize
}

/// [`log2`] of 0.
const ZERO: f64 = -1023.0;

/// [`log2`] of an infinity; that of a NaN is larger.
const NOT_FINITE: f64 = 1024.0;

/// The logarithm of a size, to a tenth: taken to a high root, it need not be better. It is the exponent, with the fraction after it as
/// if the logarithm were linear between powers of two.
fn log2(x: f64) -> f64 {
    x.abs().to_bits() as i64 as f64 * (1.0 / (1u64 << 52) as f64) + ZERO
}

/// The larger of two numbers, without a thought for NaN.
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// What the kernels refuse: nothing, for lengths are made to fit and parameters were checked.
#[cold]
fn refused(error: ArgumentError) -> EvalError {
    EvalError::Compile { what: "Taylor series", reason: error.to_string() }
}
