//! The Taylor method: as many terms of the motion's power series as the tolerance asks for.
//!
//! $$y(t+h)=y+\sum_{k=1}^N c_kh^k,\qquad c_k=\tfrac1{k!}y^{(k)}(t)$$
//!
//! The coefficients come from recurrences that are generated from the vector field and compiled. The work of a step grows as N²,
//! and the step that a remainder of ε allows as ε^{1/(N+1)}, so that N is best near 1 − ½ ln ε, or a little above. How long a step may be its coefficients tell
//! ([`SeriesEvaluator::reach`]).
//!
//! What lies beyond the horizon of its coefficients a series does not see: a branch of the field, or a wall or a hill whose tail is too small to
//! count where the step begins. Therefore no step is believed before its defect, the field less the series' derivative, was looked at: at its end, and
//! on the way as often as the length of the run asks for (as defect control does; W. H. Enright, J. Comput. Appl. Math. 31 (1990) 93). The look at
//! the end costs nothing: the field there is the first coefficient of the next step's expansion.

use crate::block::{Block, copy_in, scale};
use crate::card::{Card, Kind, Needs, Sizing};
use crate::dense::{Basis, Polynomial};
use crate::error::RunError;
use crate::pace::{LATELY, Pace, Tolerance};
use crate::run::checkpoint::Kept;
use crate::step::{Foreseen, Interpolated, Interval, Motion, Step, StepError};
use leastaction_compile::{ArgumentError, Expansion, LANES, SeriesEvaluator};
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

/// Instructions of a field that is short.
const SHORT: usize = 16;

/// How many times smaller than the tolerance the remainder of a step is: remainders all point one way and add up, where the errors of other methods
/// take turns.
const MARGIN: f64 = 10.0;

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
    /// Sets the steps, if it does.
    tolerance: Option<Tolerance>,
    /// Whether the field has branches, which a series does not see.
    branches: bool,
    /// Whether the motion is a polynomial.
    ends: bool,
    /// Where the step begins; and where it leads, if that was found.
    here: Expansion,
    there: Expansion,
    checked: bool,
    /// Whether `here` is where the step to come begins.
    fresh: bool,
    /// The sums of the series, what rounding left of them, and their derivatives; and the steps that they are of.
    sums: Vec<f64>,
    summed: [f64; LANES],
    /// What rounding left of the last step that was taken.
    left: Vec<f64>,
    /// The field less the series' derivative, times the step.
    defects: Vec<f64>,
    /// The step that is proposed, and the last that was taken; 0 before the first.
    proposed: [f64; LANES],
    last: [f64; LANES],
}

impl Taylor {
    fn new(dynamics: &mut Dynamics, width: usize, pace: &Pace) -> Result<Taylor, RunError> {
        let system = dynamics.system().clone();
        let (order, tolerance) = match pace {
            Pace::Step(_) | Pace::Density(_) => (ORDER, None),
            Pace::Tolerance(tolerance) => {
                let field = system.rates_program()?;
                (order(tolerance, field.body().len()), Some(tolerance.clone()))
            }
        };
        let series = system.series(order)?;
        let len = system.dimension() * width;
        let mut here = series.expansion(width).map_err(refused)?;
        if let Some(Tolerance { relative, absolute }) = &tolerance {
            here.tolerate(relative / MARGIN, absolute.times(1.0 / MARGIN).as_slice());
        }
        Ok(Taylor {
            branches: series.branches(),
            ends: series.ends(),
            series: series.evaluator(dynamics.parameters()).map_err(refused)?,
            order,
            revision: Revision::default(),
            tolerance,
            there: here.clone(),
            here,
            checked: false,
            fresh: false,
            sums: vec![0.0; 3 * len],
            left: vec![0.0; len],
            defects: vec![0.0; len],
            summed: [f64::NAN; LANES],
            proposed: [0.0; LANES],
            last: [0.0; LANES],
        })
    }

    /// The expansion at a block.
    fn expand(&mut self, motion: &mut Motion<'_>, t: &[f64], block: &Block) -> Result<(), StepError> {
        let Taylor { series, revision, checked, .. } = self;
        let passed = motion.dynamics().pass_parameters(revision, |lane, values| {
            *checked = false;
            match lane {
                None => series.set_parameters(values),
                Some(lane) => series.set_parameters_in(lane, values),
            }
        });
        passed.map_err(refused)?;
        motion.work_mut().evaluations += 1;
        let values = block.values();
        // To the bit, with the signs of zeros: a run that is resumed here does not have what was found.
        let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits();
        if self.checked && self.there.inputs().iter().zip(values).all(same) {
            std::mem::swap(&mut self.here, &mut self.there);
            self.checked = false;
            return Ok(());
        }
        let (states, time) = self.here.inputs_mut().split_at_mut(values.len());
        states.copy_from_slice(values);
        if !time.is_empty() {
            time.copy_from_slice(t);
        }
        Ok(self.series.expand(&mut self.here).map_err(refused)?)
    }

    /// The sums after a step.
    fn sum(&mut self, h: &[f64]) -> Result<(), StepError> {
        self.series.sum(&mut self.here, h, &mut self.sums).map_err(refused)?;
        self.summed[..h.len()].copy_from_slice(h);
        Ok(())
    }

    /// Whether the field depends on the time.
    fn is_timed(&self) -> bool {
        self.here.inputs().len() > self.left.len()
    }

    /// How often a step is looked into: as often as the run asks for, and more often if it is much longer than the last.
    fn looks(&self, lane: usize, step: f64, look: f64) -> f64 {
        let (step, last) = (step.abs(), self.last[lane].abs());
        if step <= look && step <= SUDDEN * last && !self.branches {
            return 1.0;
        }
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
        let Some(Tolerance { relative, absolute }) = self.tolerance.clone() else {
            unreachable!("steps are foreseen for a tolerance")
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
            self.look(motion, Interval { t, h: &h[..width] }, block, h[..width] == *steps)?;
            if !self.is_close(finest, block.values()) {
                let change = &self.sums[..self.defects.len()];
                tolerance.ratios(
                    motion.natural(),
                    &self.defects,
                    block.values(),
                    change,
                    &mut ratios[..width],
                );
            } else {
                ratios.fill(0.0);
            }
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

    /// Whether all defects are small beside their components: then they need not be weighed.
    fn is_close(&self, relative: f64, y: &[f64]) -> bool {
        let most = GROSS * relative;
        self.defects.iter().zip(y).fold(true, |close, (defect, y)| close & (defect.abs() <= most * y.abs()))
    }

    /// How far the series is from satisfying the equations of motion after a step, times the step; and its sums there. If the step is to be
    /// taken, the field there is the beginning of the next expansion, which is found in its stead.
    fn look(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        is_end: bool,
    ) -> Result<(), StepError> {
        self.sum(interval.h)?;
        self.checked = is_end && !self.is_timed();
        let (len, width) = (self.left.len(), interval.h.len());
        let Taylor { series, there, sums, left, defects, .. } = self;
        let (change, derivatives) = (&sums[..len], &sums[2 * len..]);
        let at = &mut there.inputs_mut()[..len];
        if self.checked {
            let (y, carry) = (&block.values()[..len], &block.carry()[..len]);
            let (change, left) = (&change[..len], &left[..len]);
            for place in 0..len {
                at[place] = y[place] + (carry[place] + (change[place] + left[place]));
            }
            // Lanes that rest stay where they are.
            for j in (0..width).filter(|&j| interval.h[j] == 0.0) {
                (j..len).step_by(width).for_each(|place| at[place] = y[place]);
            }
            series.expand(there).map_err(refused)?;
            defects.copy_from_slice(&there.coefficients()[..len]);
        } else {
            at.iter_mut().zip(change).zip(block.values()).for_each(|((at, change), y)| *at = y + change);
            motion.rates(interval, 1.0, at, defects)?;
        }
        defects.iter_mut().zip(derivatives).for_each(|(defect, derivative)| *defect -= derivative);
        scale(defects, interval.h);
        Ok(())
    }

    /// Lanes that stay where they are: the field vanishes there, and does not depend on time.
    fn still(&self, width: usize) -> [bool; LANES] {
        let mut still = [!self.is_timed(); LANES];
        for row in self.here.coefficients()[..self.left.len()].chunks_exact(width) {
            still.iter_mut().zip(row).for_each(|(still, c)| *still &= *c == 0.0);
        }
        still
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
            self.sum(interval.h)?;
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
        copy_in(lanes, &lost[..self.left.len()], &mut self.left);
        for (j, _) in lanes.iter().enumerate().filter(|(_, taken)| **taken) {
            self.last[j] = self.proposed[j];
        }
    }

    fn memory(&mut self, visit: &mut dyn FnMut(Kept<'_>)) {
        visit(Kept::Numbers(&mut self.left));
        visit(Kept::Numbers(&mut self.last));
    }

    fn foreseen(&mut self) -> Option<&mut dyn Foreseen> {
        Some(self)
    }

    fn interpolated(&mut self) -> Option<&mut dyn Interpolated> {
        Some(self)
    }
}

impl Foreseen for Taylor {
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
        if self.tolerance.is_none() {
            return Ok(());
        }
        let (mut looks, mut reach) = ([0.0; LANES], [f64::INFINITY; LANES]);
        if !self.ends {
            self.here.set_natural(motion.natural().map(|sizes| sizes.map(|size| LATELY * size)));
            self.series.reach(&self.here, &mut reach[..t.len()]).map_err(refused)?;
        }
        let still = self.still(t.len());
        for (j, step) in steps.iter_mut().enumerate() {
            // Where a coefficient is not finite, the step is neither, and the run ends with that.
            if reach[j].is_nan() {
                continue;
            }
            *step = step.abs().min(reach[j]).copysign(*step);
            // Of polynomials, and of rest, all is known.
            let known = self.ends && !self.branches || still[j];
            looks[j] = if known || *step == 0.0 { 0.0 } else { self.looks(j, *step, look) };
        }
        self.check(motion, t, block, looks, steps)
    }
}

impl Interpolated for Taylor {
    fn polynomial(
        &mut self,
        _: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        _: &[f64],
        polynomial: &mut Polynomial,
    ) -> Result<(), StepError> {
        let (len, width) = (block.values().len(), block.width());
        let terms = polynomial.begin(block, Basis::Powers, self.order);
        let mut powers = [1.0; LANES];
        for (row, found) in terms.chunks_exact_mut(len).zip(self.here.coefficients().chunks_exact(len)) {
            powers.iter_mut().zip(interval.h).for_each(|(power, h)| *power *= h);
            for (place, (term, coefficient)) in row.iter_mut().zip(found).enumerate() {
                *term = coefficient * powers[place % width];
            }
        }
        Ok(())
    }
}

/// The order for a tolerance and a field of so many instructions. Of a short one, what else a step takes is as much work as its coefficients, so that
/// fewer steps of a higher order are better.
fn order(tolerance: &Tolerance, instructions: usize) -> usize {
    let finest = if tolerance.relative > 0.0 { tolerance.relative } else { tolerance.absolute.smallest() };
    let share = if instructions <= SHORT { 0.6 } else { 0.5 };
    let best = (1.0 - share * (finest / MARGIN).min(1.0).ln()).round();
    best.clamp(LEAST as f64, MOST as f64) as usize
}

/// What the kernels refuse: nothing, for lengths are made to fit and parameters were checked.
#[cold]
fn refused(error: ArgumentError) -> EvalError {
    EvalError::Compile { what: "Taylor series", source: error.into() }
}
