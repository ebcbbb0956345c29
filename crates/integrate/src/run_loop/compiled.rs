//! A run whose steps are made by a compiled loop.

use super::adaptive::{LOOKS, next_mark};
use super::{Pacing, RunLoop, interval};
use crate::clock::Clock;
use crate::compiled_loop::{CompiledLoop, Pacer, Settings};
use crate::error::RunError;
use crate::natural;
use crate::pace::Tolerance;
use crate::step::StepError;
use leastaction_compile::LANES;

impl RunLoop<'_> {
    /// Whether a compiled loop can make the steps of this run.
    pub(crate) fn can_compile_loop(&mut self) -> bool {
        let paced = !matches!(self.pacing, Pacing::Density(_) | Pacing::Adaptive { controller: None, .. });
        paced
            && self.target.is_empty()
            && self.switching.is_none()
            && self.method.compiled().is_some_and(|method| method.code().is_some())
    }

    /// What makes the steps of this run, and perhaps of another of its kind; `None` if it cannot be done so.
    pub(crate) fn compiled_loop(&mut self, blocks: usize) -> Result<Option<CompiledLoop>, RunError> {
        let pacer = match &self.pacing {
            Pacing::Adaptive { controller: Some(controller), tolerance } => {
                Pacer::Tolerance(controller, &tolerance.absolute)
            }
            Pacing::Fixed { .. } => Pacer::Grid,
            _ => return Ok(None),
        };
        match self.method.compiled().and_then(|method| method.code()) {
            Some(code) if self.target.is_empty() => {
                Ok(CompiledLoop::new(self.motion.dynamics(), code, pacer, blocks)?)
            }
            _ => Ok(None),
        }
    }

    /// Hands the block to a compiled loop.
    pub(crate) fn load_into(&mut self, compiled: &mut CompiledLoop, block: usize) -> Result<(), StepError> {
        let tried = if let Pacing::Fixed { done, .. } = &self.pacing { *done } else { self.tried };
        let clock = Clock {
            late: self.late,
            next: self.next,
            before: self.remembered().map_or([0.0; LANES], |before| *before),
            tried: tried.map(|count| count as f64),
            accepted: self.accepted.map(|count| count as f64),
            natural: *self.motion.natural(),
            rough: self.rough,
            t: self.t,
        };
        let (settings, still) = (self.settings(), [0.0; LANES]);
        let RunLoop { method, motion, block: states, t, pacing, .. } = self;
        let Some(method) = method.compiled() else { unreachable!("its step was compiled into the loop") };
        let each =
            if let Pacing::Adaptive { tolerance, .. } = pacing { tolerance.absolute.each() } else { &[] };
        let rates = method.rates(motion, interval(t, &still, LANES), states)?;
        compiled.load(block, [states.values(), states.carry(), rates], &clock, (&settings, each));
        Ok(())
    }

    /// Takes the block back. Lanes that have come to the end count as having taken a step. Returns whether one was left where it is.
    pub(crate) fn unload_from(&mut self, compiled: &CompiledLoop, block: usize) -> bool {
        let ([y, e, rates], clock) = compiled.state_of(block);
        self.block.set(y, e);
        let Some(method) = self.method.compiled() else {
            unreachable!("its step was compiled into the loop")
        };
        method.set_rates(rates, &self.block);
        if let Some(before) = self.remembered() {
            *before = clock.before;
        }
        let (were_over, tried) = (self.over(), clock.tried.map(|count| count as u64));
        match &mut self.pacing {
            Pacing::Fixed { done, .. } => *done = tried,
            _ => self.tried = tried,
        }
        (self.t, self.late, self.next) = (clock.t, clock.late, clock.next);
        (*self.motion.natural_mut(), self.rough) = (clock.natural, clock.rough);
        self.accepted = clock.accepted.map(|count| count as u64);
        let are_over = self.over();
        self.taken = std::array::from_fn(|j| are_over[j] && !were_over[j]);
        let halts = compiled.halts(block);
        (0..LANES).any(|j| halts[j] != 0.0 && !are_over[j])
    }

    /// Counts steps that a compiled loop has made.
    pub(crate) fn count_steps(&mut self, compiled: &CompiledLoop, steps: u32) {
        let work = self.motion.work_mut();
        work.steps += u64::from(steps);
        work.evaluations += u64::from(steps) * compiled.evaluations();
    }

    fn over(&self) -> [bool; LANES] {
        std::array::from_fn(|j| self.is_over(j))
    }

    /// What the controller remembers, if there is one.
    fn remembered(&mut self) -> Option<&mut [f64; LANES]> {
        match &mut self.pacing {
            Pacing::Adaptive { controller: Some(controller), .. } => Some(controller.before()),
            _ => None,
        }
    }

    fn settings(&self) -> Settings {
        match &self.pacing {
            Pacing::Fixed { grid, .. } => {
                let [start, step, last, end, steps] = grid.settings();
                [start, step, last, end, steps, 0.0, 0.0].map(|setting| [setting; LANES])
            }
            Pacing::Adaptive { tolerance, .. } => {
                let leap = leap(self.start, self.end, self.card.order);
                let (Tolerance { relative, absolute }, fading) =
                    (tolerance, natural::fading(self.start, self.end));
                let all = |setting| [setting; LANES];
                let steps = self.tried.map(|tried| next_mark(tried).min(self.limits.steps) as f64);
                let before = [*relative, absolute.largest(), self.end, self.limits.longest, leap].map(all);
                let [relative, absolute, end, longest, leap] = before;
                [relative, absolute, end, longest, leap, steps, all(fading)]
            }
            Pacing::Density(_) => unreachable!("steps from a density are not compiled into a loop"),
        }
    }
}

/// No step is longer than this for no reason.
pub(super) fn leap(start: f64, end: f64, order: u32) -> f64 {
    (end - start).abs() * f64::from(order) / (2.0 * LOOKS)
}
