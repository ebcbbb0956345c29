//! The Taylor method: as many terms of the motion's power series as the tolerance asks for.
//!
//! $$y(t+h)=y+\sum_{k=1}^N c_kh^k,\qquad c_k=\tfrac1{k!}y^{(k)}(t)$$
//!
//! The coefficients come from recurrences that are generated from the vector field and compiled. The work of a step grows as N²,
//! and the step that a tolerance ε allows as ε^{1/(N+1)}, so that N is best near −½ ln ε; measured, a little below. Where one coefficient is larger than
//! another, ρ = (|cⱼ|/|cₖ|)^{1/(k−j)} is about the radius of convergence, and h = ρ ε^{1/(N+1−j)} leaves a remainder of ε relative to
//! the term of order j. The smallest of these over several high orders k is taken, because at a point of symmetry any one of them
//! may vanish, and the largest over the first few j, because a component may pass through zero.
//!
//! What lies beyond the horizon of its coefficients a series does not see: a branch of the field, or a wall or a hill whose tail is too small to
//! count where the step begins. Therefore no step is believed before its defect, the field less the series' slope, was looked at: at its end, and
//! on the way as often as the length of the run asks for (as defect control does; W. H. Enright, J. Comput. Appl. Math. 31 (1990) 93).

use crate::block::Block;
use crate::card::{Card, Kind, Needs, Sizing};
use crate::dense::{Basis, Polynomial};
use crate::error::RunError;
use crate::pace::{Pace, Tolerance};
use crate::step::{Interval, Motion, Step, StepError};
use leastaction_compile::{ArgumentError, LANES, SeriesEvaluator};
use leastaction_mechanics::{Dynamics, EvalError, Revision};

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

/// The finest tolerance that defects are held against: below, they are rounding.
const FINEST: f64 = 1e-14;

/// A step so many times the last one is looked into as often as it is longer, up to so often.
const SUDDEN: f64 = 4.0;
const OFTEN: f64 = 64.0;

/// How often a step that fails the check is halved.
const HALVINGS: usize = 100;

struct Taylor {
    series: SeriesEvaluator,
    order: usize,
    revision: Revision,
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
    /// The sums of the series, then what rounding left of them; and the steps that they are of.
    sums: Vec<f64>,
    summed: [f64; LANES],
    /// What rounding left of the last step that was taken.
    left: Vec<f64>,
    rates: Vec<f64>,
    slopes: Vec<f64>,
    /// The step that is proposed, and the last that was taken; 0 before the first.
    proposed: [f64; LANES],
    last: [f64; LANES],
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
        let extra = usize::from(!system.facts().autonomous);
        let len = system.dimension() * width;
        Ok(Taylor {
            branches: series.branches(),
            ends: series.ends(),
            series: series.evaluator(dynamics.parameters()).map_err(refused)?,
            order,
            revision: Revision::default(),
            foresight,
            inputs: vec![0.0; len + extra * width],
            coefficients: vec![0.0; order * len],
            fresh: false,
            sums: vec![0.0; 2 * len],
            left: vec![0.0; len],
            rates: vec![0.0; len],
            slopes: vec![0.0; len],
            summed: [f64::NAN; LANES],
            proposed: [0.0; LANES],
            last: [0.0; LANES],
        })
    }

    /// The coefficients at a block.
    fn expand(&mut self, motion: &mut Motion<'_>, t: &[f64], block: &Block) -> Result<(), StepError> {
        let (series, revision) = (&mut self.series, &mut self.revision);
        let passed = motion.dynamics().pass_parameters(revision, |lane, values| match lane {
            None => series.set_parameters(values),
            Some(lane) => series.set_parameters_in(lane, values),
        });
        passed.map_err(refused)?;
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

    /// How often a step is looked into: as often as the run asks for, and more often if it is much longer than the last.
    fn looks(&self, lane: usize, step: f64, look: f64) -> f64 {
        let (step, last) = (step.abs(), self.last[lane].abs());
        let least = if self.branches || last == 0.0 { 2.0 } else { 1.0 };
        let sudden = if last > 0.0 && step > SUDDEN * last { (step / last).min(OFTEN) } else { 1.0 };
        (step / look).max(sudden).max(least).ceil()
    }

    /// Shortens steps over which the series does not satisfy the equations of motion. Looks are from left to right: what is good up to one of them
    /// stays, and what is not good up to the first is halved.
    fn check(
        &mut self,
        motion: &mut Motion<'_>,
        t: &[f64],
        block: &Block,
        mut looks: [f64; LANES],
        steps: &mut [f64],
    ) -> Result<(), StepError> {
        let Some(Tolerance { relative, absolute }) = self.foresight.as_ref().map(|f| f.tolerance) else {
            return Ok(());
        };
        let width = t.len();
        let finest = if relative > 0.0 { relative.max(FINEST) } else { 0.0 };
        let tolerance = Tolerance { relative: finest, absolute };
        let (mut ratios, mut h) = ([0.0; LANES], [0.0; LANES]);
        let (mut at, mut halvings) = ([1.0; LANES], [0; LANES]);
        while (0..width).any(|j| at[j] <= looks[j]) {
            for (j, step) in steps.iter().enumerate() {
                h[j] = if at[j] < looks[j] { step * (at[j] / looks[j]) } else { *step };
            }
            self.defects(motion, Interval { t, h: &h[..width] }, block)?;
            let change = &self.sums[..self.rates.len()];
            tolerance.ratios(&self.rates, block.values(), change, &mut ratios[..width]);
            for (j, step) in steps.iter_mut().enumerate() {
                if at[j] > looks[j] {
                    continue; // an earlier look has settled it
                }
                if ratios[j] <= GROSS {
                    at[j] += 1.0;
                    continue;
                }
                motion.work_mut().rejected += 1;
                halvings[j] += 1;
                (*step, at[j], looks[j]) = match () {
                    () if at[j] > 1.0 => (*step * ((at[j] - 1.0) / looks[j]), f64::INFINITY, 0.0),
                    // No step is short enough, and the run will say so.
                    () if halvings[j] > HALVINGS => (0.0, f64::INFINITY, 0.0),
                    () => (0.5 * h[j], 1.0, 2.0),
                };
            }
        }
        Ok(())
    }

    /// How far the series is from satisfying the equations of motion after a step, times the step; and its sums there.
    fn defects(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
    ) -> Result<(), StepError> {
        let Taylor { series, coefficients, sums, rates, slopes, inputs, .. } = self;
        let (len, width) = (rates.len(), interval.h.len());
        series.sum(coefficients, interval.h, sums).map_err(refused)?;
        self.summed[..width].copy_from_slice(interval.h);
        let at = &mut inputs[..len];
        at.iter_mut().zip(&sums[..len]).zip(block.values()).for_each(|((at, change), y)| *at = y + change);
        motion.rates(interval, 1.0, at, rates)?;
        match <&[f64; LANES]>::try_from(interval.h).ok() {
            None => defect::<1>(coefficients, &[interval.h[0]], slopes, rates),
            Some(h) => defect::<LANES>(coefficients, h, slopes, rates),
        }
        Ok(())
    }

    /// Whether a lane stays where it is: the field vanishes there, and does not depend on time.
    fn is_still(&self, lane: usize, width: usize) -> bool {
        let len = self.rates.len();
        self.inputs.len() == len
            && self.coefficients[..len].iter().skip(lane).step_by(width).all(|c| *c == 0.0)
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
        if !self.fresh || self.summed[..interval.h.len()] != *interval.h {
            self.series.sum(&self.coefficients, interval.h, &mut self.sums).map_err(refused)?;
        }
        self.fresh = false;
        self.proposed[..interval.h.len()].copy_from_slice(interval.h);
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
        for (j, _) in lanes.iter().enumerate().filter(|(_, taken)| **taken) {
            self.last[j] = self.proposed[j];
        }
    }

    fn memory(&mut self, visit: &mut dyn FnMut(&mut [f64])) {
        visit(&mut self.left);
        visit(&mut self.last);
    }

    fn foresee(
        &mut self,
        motion: &mut Motion<'_>,
        t: &[f64],
        block: &Block,
        look: f64,
        steps: &mut [f64],
    ) -> Result<(), StepError> {
        self.expand(motion, t, block)?;
        (self.fresh, self.summed) = (true, [f64::NAN; LANES]);
        let Some(foresight) = &self.foresight else { return Ok(()) };
        let mut looks = [0.0; LANES];
        for (j, step) in steps.iter_mut().enumerate() {
            let reach = match t.len() {
                _ if self.ends => Some(f64::INFINITY),
                1 => self.reach::<1>(foresight, block, j),
                _ => self.reach::<LANES>(foresight, block, j),
            };
            // Where a coefficient is not finite, the step is neither, and the run ends with that.
            let Some(reach) = reach else { continue };
            *step = step.abs().min(reach.exp2()).copysign(*step);
            // Of polynomials, and of rest, all is known.
            let known = self.ends && !self.branches || self.is_still(j, t.len());
            looks[j] = if known || *step == 0.0 { 0.0 } else { self.looks(j, *step, look) };
        }
        self.check(motion, t, block, looks, steps)
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

/// Rates less the slopes of series after steps, times these: Σ k cₖ hᵏ⁻¹, several components at a time, so that none waits for another.
fn defect<const W: usize>(coefficients: &[f64], h: &[f64; W], slopes: &mut [f64], rates: &mut [f64]) {
    const SIDE: usize = 4;
    let len = rates.len();
    let (mut weights, mut powers) = ([[0.0; W]; MOST + 1], [1.0; W]);
    let weights = &mut weights[..coefficients.len() / len];
    for (k, weights) in weights.iter_mut().enumerate() {
        for j in 0..W {
            weights[j] = (k + 1) as f64 * powers[j];
            powers[j] *= h[j];
        }
    }
    let (sides, rest) = slopes.as_chunks_mut::<SIDE>();
    let whole = SIDE * sides.len();
    for (i, side) in sides.iter_mut().enumerate() {
        let mut sums = [0.0; SIDE];
        for (row, weights) in coefficients.chunks_exact(len).zip(weights.iter()) {
            let from = SIDE * i;
            for (j, (sum, c)) in sums.iter_mut().zip(&row[from..from + SIDE]).enumerate() {
                *sum += weights[(from + j) % W] * c;
            }
        }
        *side = sums;
    }
    for (j, slope) in rest.iter_mut().enumerate() {
        let place = whole + j;
        let terms = coefficients.iter().skip(place).step_by(len).zip(weights.iter());
        *slope = terms.fold(0.0, |sum, (c, weights)| sum + weights[place % W] * c);
    }
    for (place, (rate, slope)) in rates.iter_mut().zip(slopes).enumerate() {
        *rate = (*rate - *slope) * h[place % W];
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
