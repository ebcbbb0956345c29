//! A course whose steps are made by strides.

use super::adaptive::LOOKS;
use super::{Course, Pacing, interval};
use crate::error::RunError;
use crate::step::StepError;
use crate::stride::{Clock, Settings, Stride};
use leastaction_compile::LANES;

impl Course<'_> {
    /// What makes the steps of this course and perhaps another of its kind; `None` if it cannot be done so.
    pub(crate) fn stride(&mut self, blocks: usize) -> Result<Option<Stride>, RunError> {
        let (Pacing::Adaptive { controller: Some(controller), .. }, true) =
            (&self.pacing, self.target.is_empty())
        else {
            return Ok(None);
        };
        let Some(script) = self.method.script() else { return Ok(None) };
        Ok(Stride::new(self.motion.dynamics(), script, controller, blocks)?)
    }

    /// Hands the block to a stride.
    pub(crate) fn set_out(&mut self, stride: &mut Stride, block: usize) -> Result<(), StepError> {
        let Pacing::Adaptive { tolerance, controller: Some(controller) } = &mut self.pacing else {
            return Ok(());
        };
        let settings = Settings {
            relative: tolerance.relative,
            absolute: tolerance.absolute,
            end: self.end,
            longest: self.limits.longest,
            leap: leap(self.start, self.end, self.card.order),
            steps: self.limits.steps as f64,
        };
        let clock = Clock {
            late: self.late,
            next: self.next,
            before: *controller.before(),
            tried: self.tried.map(|count| count as f64),
            made: self.made.map(|count| count as f64),
            t: self.t,
        };
        let slopes =
            self.method.slopes(&mut self.motion, interval(&self.t, &[0.0; LANES], LANES), &self.block)?;
        stride.load(block, [self.block.values(), self.block.carry(), slopes], &clock, &settings);
        Ok(())
    }

    /// Takes the block back. Lanes that have come to the end count as having taken a step. Returns whether one was left where it is.
    pub(crate) fn come_in(&mut self, stride: &Stride, block: usize) -> Result<bool, StepError> {
        let Pacing::Adaptive { controller: Some(controller), .. } = &mut self.pacing else {
            return Ok(false);
        };
        let ([y, e, last], clock) = stride.told(block);
        let slopes =
            self.method.slopes(&mut self.motion, interval(&self.t, &[0.0; LANES], LANES), &self.block)?;
        slopes.copy_from_slice(last);
        self.block.set(y, e);
        *controller.before() = clock.before;
        (self.late, self.next) = (clock.late, clock.next);
        self.tried = clock.tried.map(|count| count as u64);
        self.made = clock.made.map(|count| count as u64);
        for j in 0..LANES {
            self.taken[j] = clock.t[j] == self.end && self.t[j] != self.end;
        }
        self.t = clock.t;
        let halts = stride.halts(block);
        Ok((0..LANES).any(|j| halts[j] != 0.0 && self.t[j] != self.end))
    }

    /// Counts steps that a stride has made.
    pub(crate) fn count_in(&mut self, stride: &Stride, steps: u32) {
        let work = self.motion.work_mut();
        work.steps += u64::from(steps);
        work.evaluations += u64::from(steps) * stride.evaluations();
    }
}

/// No step is longer than this for no reason.
pub(super) fn leap(start: f64, end: f64, order: u32) -> f64 {
    (end - start).abs() * f64::from(order) / (2.0 * LOOKS)
}
