//! One step of a method, and what it may ask of the system.

use crate::block::Block;
use leastaction_compile::LANES;
use leastaction_mechanics::{Dynamics, EvalError};

/// A method at work: its memory, and its step.
///
/// The same code serves one trajectory and eight lanes: the block and the interval say how many there are.
/// A step allocates nothing and leaves the block as it was if it fails.
pub trait Step {
    /// Advances a block over an interval.
    ///
    /// # Errors
    /// [`StepError`] if the field cannot be evaluated or the equations of the step cannot be solved.
    fn advance(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &mut Block,
    ) -> Result<(), StepError>;
}

/// The time and the step of each lane.
#[derive(Clone, Copy, Debug)]
pub struct Interval<'a> {
    /// The times at which the step begins.
    pub t: &'a [f64],
    /// The lengths of the step.
    pub h: &'a [f64],
}

/// The work of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Work {
    /// Steps.
    pub steps: u64,
    /// Evaluations of the vector field, whole or half, each for a whole block.
    pub evaluations: u64,
    /// Evaluations of the field's derivatives.
    pub jacobians: u64,
    /// Iterations of implicit methods.
    pub iterations: u64,
}

/// The vector field as a method sees it, with a tally of the work.
pub struct Motion<'d> {
    dynamics: &'d mut Dynamics,
    work: Work,
    times: [f64; LANES],
}

impl<'d> Motion<'d> {
    /// The motion of a system.
    #[must_use]
    pub fn new(dynamics: &'d mut Dynamics) -> Motion<'d> {
        Motion { dynamics, work: Work::default(), times: [0.0; LANES] }
    }

    /// The system.
    #[must_use]
    pub fn dynamics(&mut self) -> &mut Dynamics {
        self.dynamics
    }

    /// The work so far.
    #[must_use]
    pub fn work(&self) -> Work {
        self.work
    }

    pub(crate) fn count_step(&mut self) {
        self.work.steps += 1;
    }

    pub(crate) fn count_iterations(&mut self, iterations: u32) {
        self.work.iterations += u64::from(iterations);
    }

    /// The vector field (q̇, ṗ) at y, at the times t + c·h.
    ///
    /// # Errors
    /// [`EvalError`] as [`Dynamics::field`].
    #[inline]
    pub fn rates(
        &mut self,
        interval: Interval<'_>,
        c: f64,
        y: &[f64],
        rates: &mut [f64],
    ) -> Result<(), EvalError> {
        self.work.evaluations += 1;
        self.set_times(interval, c);
        self.dynamics.field(&self.times[..interval.t.len().min(LANES)], y, rates)
    }

    /// The derivatives of the vector field at y, at the times t + c·h.
    ///
    /// # Errors
    /// [`EvalError`] as [`Dynamics::jacobian`].
    pub fn slopes(
        &mut self,
        interval: Interval<'_>,
        c: f64,
        y: &[f64],
        matrix: &mut [f64],
    ) -> Result<(), EvalError> {
        self.work.jacobians += 1;
        self.set_times(interval, c);
        self.dynamics.jacobian(&self.times[..interval.t.len().min(LANES)], y, matrix)
    }

    fn set_times(&mut self, interval: Interval<'_>, c: f64) {
        let lanes = self.times.iter_mut().zip(interval.t.iter().zip(interval.h));
        lanes.for_each(|(time, (t, h))| *time = t + c * h);
    }
}

/// Why a step failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StepError {
    /// The vector field could not be evaluated.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// The equations of an implicit step were not solved.
    #[error(
        "the implicit step at t = {} was not solved (residual {residual:.1e} after {iterations} iterations): try a smaller step",
        crate::error::number(.t)
    )]
    NoConvergence {
        /// The time at which the step begins.
        t: f64,
        /// The lane.
        lane: usize,
        /// What is left, relative to the state.
        residual: f64,
        /// How many iterations were made.
        iterations: u32,
    },
}
