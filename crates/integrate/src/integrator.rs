//! A method with its step, and the settings of its runs.

mod run;

use crate::block::Block;
use crate::card::{Card, Keeps};
use crate::error::RunError;
use crate::method::UnknownMethod;
use crate::pace::Pace;
use crate::run::checkpoint::Checkpoint;
use crate::run::event::{Event, Hit};
use crate::run::grid::Grid;
use crate::run::schedule::{Output, Schedule};
use crate::run_loop::{Limits, RunLoop};
use crate::step::Work;
use leastaction_mechanics::{Dynamics, State, System};

/// The samples of a trajectory of an ensemble may have so many numbers: 128 MB.
const SAMPLE_ROOM: u64 = 1 << 24;

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
#[derive(Clone, Debug)]
pub struct Integrator {
    pub(crate) card: &'static Card,
    pub(crate) pace: Pace,
    pub(crate) output: Output,
    pub(crate) events: Vec<Event>,
    pub(crate) keeping: Vec<Keeps>,
    pub(crate) compiled: Option<bool>,
    pub(crate) limit: u64,
    pub(crate) longest: f64,
    /// By so many roundings a step ends beyond a border that it lands on.
    pub(crate) beyond: f64,
    pub(crate) balanced: bool,
    /// When the first ticks were, if that was in a run that this one goes on with.
    pub(crate) ticking_since: Option<f64>,
}

/// A moment of a run, as its observer sees it.
pub struct Sample<'a> {
    /// How many steps were made.
    pub step: u64,
    /// The time.
    pub t: f64,
    /// The event that happens here; `None` for a sample that was asked for.
    pub event: Option<Hit>,
    /// The part of the next step after which it is; `None` between steps.
    pub within: Option<f64>,
    /// The state after the event, if that sets numbers.
    pub after: Option<&'a State>,
    /// The state block \[q…, p…\] of each lane.
    pub block: &'a Block,
    /// The system, to compute what is wanted of the state.
    pub dynamics: &'a mut Dynamics,
}

/// A run between two steps, as who watches over it sees it.
pub struct Moment<'a, 'd> {
    run: &'a mut RunLoop<'d>,
    pace: &'a Pace,
}

impl Moment<'_, '_> {
    /// The time that was reached.
    #[must_use]
    pub fn t(&self) -> f64 {
        self.run.times()[0]
    }

    /// How much of the way is done, from 0 to 1.
    #[must_use]
    pub fn fraction(&self) -> f64 {
        let span = self.run.end - self.run.start;
        if span == 0.0 { 1.0 } else { (self.t() - self.run.start) / span }
    }

    /// The work so far.
    #[must_use]
    pub fn work(&self) -> Work {
        self.run.motion.work()
    }

    /// The state that was reached.
    #[must_use]
    pub fn state(&self) -> State {
        let degrees = self.run.motion.system().degrees();
        State::from_block(self.t(), self.run.block.values(), degrees)
    }

    /// All that the rest of the run depends on.
    pub fn checkpoint(&mut self) -> Checkpoint {
        Checkpoint::of(self.run, self.pace)
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It came to its end.
    Complete,
    /// Its observer broke off, or who watched over it.
    Interrupted,
    /// A terminal event happened: this one, by its place.
    Event(usize),
    /// An event that sets numbers happens again and again in ever shorter times, or at one: this one, by its place. The motion comes no further.
    Accumulated(usize),
}

impl Integrator {
    /// More steps than this are not made unless [`Integrator::at_most`] allows them.
    pub const STEP_LIMIT: u64 = 1_000_000_000;

    /// A method with a pace: a step, a [`Tolerance`](crate::Tolerance), or a [`Density`](crate::Density). Negative steps lead back in time.
    #[must_use]
    pub fn new(card: &'static Card, pace: impl Into<Pace>) -> Integrator {
        Integrator {
            card,
            pace: pace.into(),
            output: Output::Every(1),
            events: Vec::new(),
            keeping: Vec::new(),
            compiled: None,
            limit: Integrator::STEP_LIMIT,
            longest: f64::INFINITY,
            beyond: 0.0,
            balanced: false,
            ticking_since: None,
        }
    }

    /// The method with this name, with a pace.
    ///
    /// # Errors
    /// [`UnknownMethod`] if there is none.
    pub fn named(name: &str, pace: impl Into<Pace>) -> Result<Integrator, UnknownMethod> {
        Ok(Integrator::new(Card::named(name)?, pace))
    }

    /// The same by another method.
    #[must_use]
    pub fn by(self, card: &'static Card) -> Integrator {
        Integrator { card, ..self }
    }

    /// Samples every so many steps, besides start and end.
    #[must_use]
    pub fn every(self, steps: u64) -> Integrator {
        Integrator { output: Output::Every(steps.max(1)), ..self }
    }

    /// Samples start and end only.
    #[must_use]
    pub fn ends_only(self) -> Integrator {
        self.every(u64::MAX)
    }

    /// Samples at these times, in the order of the run. States between steps come from the step's polynomial.
    #[must_use]
    pub fn at(self, times: &[f64]) -> Integrator {
        Integrator { output: Output::Times(times.to_vec()), ..self }
    }

    /// Samples at times with this spacing from the start on, and at the end.
    #[must_use]
    pub fn spaced(self, spacing: f64) -> Integrator {
        Integrator { output: Output::Spaced(spacing), ..self }
    }

    /// Samples that are taken every so many steps at times instead, if steps have one length: those of the same steps, and the end. An
    /// [`Ensemble`](crate::Ensemble) samples at times.
    ///
    /// # Errors
    /// [`RunError`] if no steps lead from one time to the other.
    pub fn timed(self, start: f64, end: f64) -> Result<Integrator, RunError> {
        let (Output::Every(steps), Some(grid)) = (&self.output, self.grid(start, end)?) else {
            return Ok(self);
        };
        let samples = grid.steps.div_ceil(*steps) + 1;
        if samples > SAMPLE_ROOM {
            return Err(RunError::TooManySamples { samples, dimension: 1 });
        }
        let times: Vec<f64> =
            (0..samples).map(|i| grid.time(grid.steps.min(i.saturating_mul(*steps)))).collect();
        Ok(self.at(&times))
    }

    /// The times of samples that are taken at times, or spaced. Those that are taken every so many steps have none.
    ///
    /// # Errors
    /// [`RunError`] if they do not lead from start to end, or are too many to be kept of a trajectory of this system.
    pub fn sample_times(&self, system: &System, start: f64, end: f64) -> Result<Vec<f64>, RunError> {
        let mut schedule = Schedule::new(&self.output, start, end, None)?;
        let (mut times, dimension) = (Vec::new(), system.dimension());
        if schedule.next().is_some() {
            let samples = self.samples_between(start, end)?;
            if samples.saturating_mul(dimension as u64) > SAMPLE_ROOM {
                return Err(RunError::TooManySamples { samples, dimension });
            }
        }
        while let Some(time) = schedule.next() {
            times.push(time);
            schedule.pass();
        }
        Ok(times)
    }

    /// Looks for an event. Events are counted from 0, in the order in which they are asked for.
    #[must_use]
    pub fn event(mut self, event: Event) -> Integrator {
        self.events.push(event);
        self
    }

    /// Refuses to run unless this is kept: by the method, and by the system itself.
    #[must_use]
    pub fn keeping(mut self, what: Keeps) -> Integrator {
        self.keeping.push(what);
        self
    }

    /// Compiles steps of explicit methods as a whole, or does not. Left alone, runs of many steps do. The bits are the same.
    #[must_use]
    pub fn compiled(self, whole: bool) -> Integrator {
        Integrator { compiled: Some(whole), ..self }
    }

    /// Allows so many steps.
    #[must_use]
    pub fn at_most(self, steps: u64) -> Integrator {
        Integrator { limit: steps, ..self }
    }

    /// Lets a tolerance find no steps longer than this: less than the shortest pulse that the field has. Left alone, a run looks at the field a hundred
    /// times at least, and what is shorter than a hundredth of it may go unseen. Steps of one length, and those of a density, stay as they are.
    #[must_use]
    pub fn longest_step(self, step: f64) -> Integrator {
        Integrator { longest: step, ..self }
    }

    /// Integrates the power that is supplied and dissipated along a recorded run, for its [balance](crate::Trajectory::balance). The motion has the same bits.
    #[must_use]
    pub fn balanced(self) -> Integrator {
        Integrator { balanced: true, ..self }
    }

    pub(crate) fn limits(&self, steps: u64) -> Limits {
        Limits { steps, longest: self.longest, beyond: self.beyond, compiled: self.compiled }
    }

    /// How many steps it may take, and how long they may be.
    #[must_use]
    pub fn bounds(&self) -> (u64, f64) {
        (self.limit, self.longest)
    }

    /// The events that are looked for, in their order.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The method.
    #[must_use]
    pub fn card(&self) -> &'static Card {
        self.card
    }

    /// The pace.
    #[must_use]
    pub fn pace(&self) -> &Pace {
        &self.pace
    }

    /// How many steps of one length lead from one time to another; unknown if something else sets them.
    ///
    /// # Errors
    /// [`RunError`] if none do.
    pub fn steps_between(&self, start: f64, end: f64) -> Result<Option<u64>, RunError> {
        Ok(self.grid(start, end)?.map(|grid| grid.steps))
    }

    /// The length of the last step from one time to another: shorter than the others if they would not end there.
    ///
    /// # Errors
    /// [`RunError`] if no steps lead there.
    pub fn last_step_between(&self, start: f64, end: f64) -> Result<Option<f64>, RunError> {
        Ok(self.grid(start, end)?.map(|grid| grid.step(grid.steps.saturating_sub(1))))
    }

    fn grid(&self, start: f64, end: f64) -> Result<Option<Grid>, RunError> {
        match self.pace {
            Pace::Step(step) => Grid::new(start, end, step, self.limit).map(Some),
            Pace::Tolerance(_) | Pace::Density(_) => Ok(None),
        }
    }
}
