//! The run loop.

use crate::block::Block;
use crate::card::Card;
use crate::error::RunError;
use crate::grid::Grid;
use crate::method::{ALL, UnknownMethod};
use crate::step::{Interval, Motion, Work};
use crate::trajectory::Trajectory;
use leastaction_compile::LANES;
use leastaction_mechanics::{Dynamics, EvalError, Quantity, State, System};
use std::ops::ControlFlow;

/// A method with its step: what turns a start into a trajectory.
///
/// ```
/// use leastaction_expr::Graph;
/// use leastaction_integrate::Integrator;
/// use leastaction_mechanics::Model;
///
/// let graph = Graph::new();
/// let mut model = Model::new(&graph);
/// let x = model.coordinate("x");
/// model.particle("ball", 1.0, [x]);
/// model.gravity([-9.81]);
/// let mut dynamics = model.system()?.dynamics()?;
/// let start = dynamics.start(&[("x'", 5.0)])?;
/// let flight = Integrator::named("implicit-midpoint", 0.1)?.run(&mut dynamics, &start, 1.0)?;
/// assert!((flight.end().q[0] - (5.0 - 9.81 / 2.0)).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Integrator {
    card: &'static Card,
    step: f64,
    every: u64,
    limit: u64,
}

/// A moment of a run, as its observer sees it.
pub struct Sample<'a> {
    /// How many steps were made.
    pub step: u64,
    /// The time.
    pub t: f64,
    /// The state block \[q…, p…\] of each lane.
    pub block: &'a Block,
    /// The system, to compute what is wanted of the state.
    pub dynamics: &'a mut Dynamics,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct End {
    /// The time that was reached: the end, unless the observer broke off.
    pub t: f64,
    /// The work it took.
    pub work: Work,
}

impl Integrator {
    /// More steps than this are not made unless [`Integrator::at_most`] allows them.
    pub const STEP_LIMIT: u64 = 1_000_000_000;

    /// A method with a step. Negative steps lead back in time.
    #[must_use]
    pub fn new(card: &'static Card, step: f64) -> Integrator {
        Integrator { card, step, every: 1, limit: Integrator::STEP_LIMIT }
    }

    /// The method with this name, with a step.
    ///
    /// # Errors
    /// [`UnknownMethod`] if there is none.
    pub fn named(name: &str, step: f64) -> Result<Integrator, UnknownMethod> {
        Ok(Integrator::new(Card::named(name)?, step))
    }

    /// Samples every so many steps, besides start and end.
    #[must_use]
    pub fn every(self, steps: u64) -> Integrator {
        Integrator { every: steps.max(1), ..self }
    }

    /// Samples start and end only.
    #[must_use]
    pub fn ends_only(self) -> Integrator {
        self.every(u64::MAX)
    }

    /// Allows so many steps.
    #[must_use]
    pub fn at_most(self, steps: u64) -> Integrator {
        Integrator { limit: steps, ..self }
    }

    /// The method.
    #[must_use]
    pub fn card(&self) -> &'static Card {
        self.card
    }

    /// The step.
    #[must_use]
    pub fn step(&self) -> f64 {
        self.step
    }

    /// How many steps lead from one time to another.
    ///
    /// # Errors
    /// [`RunError`] if none do.
    pub fn steps_between(&self, start: f64, end: f64) -> Result<u64, RunError> {
        Ok(Grid::new(start, end, self.step, self.limit)?.steps)
    }

    /// The length of the last step from one time to another: shorter than the others if they would not end there.
    ///
    /// # Errors
    /// [`RunError`] if no steps lead there.
    pub fn last_step_between(&self, start: f64, end: f64) -> Result<f64, RunError> {
        let grid = Grid::new(start, end, self.step, self.limit)?;
        Ok(grid.step(grid.steps.saturating_sub(1)))
    }

    /// Runs from a start to an end time, and keeps the samples.
    ///
    /// # Errors
    /// [`RunError`] says why the run cannot begin, or where it failed.
    pub fn run(&self, dynamics: &mut Dynamics, start: &State, end: f64) -> Result<Trajectory, RunError> {
        let steps = self.steps_between(start.t, end)?;
        let samples = steps.div_ceil(self.every) + 1;
        let mut trajectory = Trajectory::with_room(dynamics.system(), samples)?;
        let ending = self.observe(dynamics, start, end, |sample| {
            trajectory.push(sample.t, sample.block.values());
            Ok(ControlFlow::Continue(()))
        })?;
        trajectory.work = ending.work;
        Ok(trajectory)
    }

    /// Runs from a start to an end time, and shows an observer the samples. The observer may break off.
    ///
    /// # Errors
    /// [`RunError`] says why the run cannot begin, or where it failed.
    pub fn observe(
        &self,
        dynamics: &mut Dynamics,
        start: &State,
        end: f64,
        observer: impl FnMut(Sample<'_>) -> Result<ControlFlow<()>, EvalError>,
    ) -> Result<End, RunError> {
        self.march(dynamics, start.t, &mut Block::one(&start.block()), end, observer)
    }

    /// Advances a block of one state, or of eight, from a time to another, and shows an observer the samples.
    ///
    /// # Errors
    /// [`RunError`] says why the run cannot begin, or where it failed; the block is then as it was after the last good step.
    pub fn march(
        &self,
        dynamics: &mut Dynamics,
        start: f64,
        block: &mut Block,
        end: f64,
        mut observer: impl FnMut(Sample<'_>) -> Result<ControlFlow<()>, EvalError>,
    ) -> Result<End, RunError> {
        let grid = Grid::new(start, end, self.step, self.limit)?;
        self.check(dynamics.system(), block)?;
        let mut method = (self.card.stepper)(block);
        if dynamics.system().facts().closed {
            dynamics.prepare(&[Quantity::Field])?;
        }
        let mut motion = Motion::new(dynamics);
        let width = block.width();
        let (mut t, mut h) = ([start; LANES], [self.step; LANES]);
        for i in 0..=grid.steps {
            let now = grid.time(i);
            if i == grid.steps || i % self.every == 0 {
                let sample = Sample { step: i, t: now, block, dynamics: motion.dynamics() };
                if observer(sample)?.is_break() || i == grid.steps {
                    return Ok(End { t: now, work: motion.work() });
                }
            }
            t.fill(now);
            h.fill(grid.step(i));
            method.advance(&mut motion, Interval { t: &t[..width], h: &h[..width] }, block)?;
            motion.count_step();
            if let Some((component, lane)) = block.not_finite() {
                let name = name(motion.dynamics().system(), component);
                let value = block.lane(lane)[component];
                return Err(RunError::NotFinite { t: grid.time(i + 1), name, lane, value });
            }
        }
        Ok(End { t: end, work: motion.work() })
    }

    fn check(&self, system: &System, block: &Block) -> Result<(), RunError> {
        if !self.card.needs.met_by(system.facts()) {
            let Card { name: method, needs, .. } = *self.card;
            return Err(RunError::NotApplicable { method, needs, instead: applicable(system) });
        }
        if block.dimension() != system.dimension() {
            return Err(RunError::WrongLength { expected: system.dimension(), found: block.dimension() });
        }
        match block.not_finite() {
            None => Ok(()),
            Some((component, lane)) => {
                let value = block.lane(lane)[component];
                Err(RunError::BadStart { name: name(system, component), value })
            }
        }
    }
}

/// A method that applies to a system: the one that keeps most.
fn applicable(system: &System) -> &'static str {
    let fitting = ALL.iter().filter(|card| card.needs.met_by(system.facts()));
    fitting.max_by_key(|card| card.keeps.len()).map_or("another method", |card| card.name)
}

/// The name of a component of the state.
fn name(system: &System, component: usize) -> String {
    let names = system.coordinates().iter().chain(system.momenta());
    names.skip(component).take(1).cloned().collect()
}
