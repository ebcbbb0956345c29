//! A run by a method that was chosen may show that another one is better: then that one goes on from where the run stands, and the run says so. What was computed until there
//! is as good as its tolerance, and is kept with its samples and events.

use crate::simulation::Simulation;
use leastaction_integrate::{Block, Card, Integrator, Moment, Pace, RunError, Trajectory};
use leastaction_mechanics::{Dynamics, Observable, State, SwitchKind};
use std::ops::ControlFlow;

/// A run is looked at whenever it has tried so many steps,
const OFTEN: u64 = 20_000;
/// and goes on as it is if it will try fewer than this at its present pace: what the trial of another method costs is then not worth it, least of all where a step solves for many
/// numbers.
const BEARABLE: f64 = 1e5;
const BEARABLE_FOR_MANY: f64 = 1e6;
const MANY: usize = 32;
/// What may take over: it goes on where other methods creep.
const OTHER: &str = "radau5";
/// It tries so many steps, and takes over if they lead so many times as far as those of the run: a step is some times the work.
const TRIAL: u64 = 500;
const FURTHER: f64 = 30.0;

/// A length of velocities that is this part of what it was is rest.
const REST: f64 = 1e-6;

/// Watches whether a run creeps.
pub(crate) struct Watched<'s> {
    simulation: &'s Simulation,
    /// Where the run was at the last look, and after how many steps; and when the next is due, if there is one.
    last: (f64, u64),
    next: Option<u64>,
    /// What was found of a run that creeps.
    pub(crate) creeps: Option<Creeps>,
    /// Lengths of velocities that forces are divided by, and what computes them.
    speeds: Vec<Speed>,
    dynamics: Dynamics,
    /// Where the run came to rest, and by which of them: no direction is written there.
    pub(crate) rests: Option<(f64, String)>,
}

/// A length of velocities.
struct Speed {
    name: String,
    what: Observable,
    /// The largest value that was seen.
    largest: f64,
    /// Whether it is 0 at rest; that of a smooth law is not, nor that against a belt.
    vanishes: bool,
}

/// A run that creeps where another method does not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Creeps {
    /// Where it was left.
    t: f64,
    /// How many steps it had tried.
    tried: u64,
    /// What goes on.
    other: &'static Card,
}

impl Watched<'_> {
    /// Only a method that was chosen is judged, and only steps that a tolerance sets are changed.
    pub(crate) fn new(simulation: &Simulation) -> Watched<'_> {
        let integrator = &simulation.integrator;
        let by_tolerance = matches!(integrator.pace(), Pace::Tolerance(_));
        let mut dynamics = simulation.dynamics.clone();
        let directions = dynamics.system().facts().directions.clone().into_iter();
        let mut at_rest = simulation.start.clone();
        at_rest.p.fill(0.0);
        let speed = |name: String| {
            let (what, mut value) = (dynamics.observable(&name).ok()?, [0.0]);
            dynamics.observe(what, &[at_rest.t], &at_rest.block(), &mut value).ok()?;
            Some(Speed { name, what, largest: 0.0, vanishes: value[0] == 0.0 })
        };
        let speeds: Vec<_> = directions.filter_map(speed).collect();
        let next = (by_tolerance && (simulation.is_replaceable() || !speeds.is_empty())).then_some(OFTEN);
        let last = (simulation.start.t, 0);
        let mut watched = Watched { simulation, last, next, creeps: None, speeds, dynamics, rests: None };
        watched.rest(&simulation.start, false);
        watched
    }

    /// A speed that is none any more, as far as looks at states tell; of all, or of those that are 0 at rest.
    fn rest(&mut self, state: &State, all: bool) -> Option<String> {
        let y = state.block();
        let mut name = None;
        for speed in &mut self.speeds {
            let mut value = [0.0];
            self.dynamics.observe(speed.what, &[state.t], &y, &mut value).ok()?;
            speed.largest = speed.largest.max(value[0]);
            if value[0] <= REST * speed.largest && (all || speed.vanishes) {
                name = Some(speed.name.clone());
            }
        }
        name
    }

    /// Breaks off if the run creeps, and another method would not.
    pub(crate) fn judge(&mut self, moment: &Moment<'_, '_>) -> ControlFlow<()> {
        let work = moment.work();
        let tried = work.steps + work.rejected;
        if self.next.is_none_or(|next| tried < next) {
            return ControlFlow::Continue(());
        }
        let (t, (before, tried_before)) = (moment.t(), self.last);
        let pace = (t - before).abs() / (tried - tried_before) as f64;
        (self.last, self.next) = ((t, tried), Some(tried + OFTEN));
        let many = self.simulation.dynamics.system().dimension() > MANY;
        let bearable = if many { BEARABLE_FOR_MANY } else { BEARABLE };
        if (self.simulation.until - t).abs() <= bearable * pace {
            return ControlFlow::Continue(());
        }
        let here = moment.state();
        self.rests = self.rest(&here, false).map(|speed| (t, speed));
        if self.rests.is_none() && self.simulation.is_replaceable() {
            self.creeps = self.simulation.creeps(&here, pace).map(|other| Creeps { t, tried, other });
        }
        if self.creeps.is_none() && self.rests.is_none() {
            self.rests = self.rest(&here, true).map(|speed| (t, speed));
        }
        // What does not help now will not help soon.
        self.next = Some(2 * tried);
        match self.creeps.is_some() || self.rests.is_some() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

impl Simulation {
    /// Whether the method was chosen, and is not what others are replaced by.
    fn is_replaceable(&self) -> bool {
        self.why.is_some() && self.integrator.card().name != OTHER
    }

    /// What goes on where steps become too short because something has just begun to slip, in a direction that friction holds stiffly while it is slow.
    pub(crate) fn slips(&self, so_far: &Trajectory, t: f64) -> Option<Creeps> {
        let mut switches = self.dynamics.system().switches().iter();
        let slips = switches.any(|switch| switch.kind == SwitchKind::Direction);
        let Ok(other) = Card::named(OTHER) else { unreachable!("`{OTHER}` is a method") };
        let by_tolerance = matches!(self.integrator.pace(), Pace::Tolerance(_));
        let goes_on = slips && by_tolerance && other.needs.met_by(self.dynamics.system().facts());
        let work = so_far.work();
        (goes_on && self.is_replaceable()).then_some(Creeps { t, tried: work.steps + work.rejected, other })
    }

    /// The method that goes on from a state much faster than at this pace, the way of a step, if it does.
    fn creeps(&self, here: &State, pace: f64) -> Option<&'static Card> {
        let Ok(other) = Card::named(OTHER) else { unreachable!("`{OTHER}` is a method") };
        if !other.needs.met_by(self.dynamics.system().facts()) {
            return None;
        }
        let trial = Integrator::new(other, self.integrator.pace().clone()).at_most(TRIAL);
        let (mut reached, mut dynamics) = (here.t, self.dynamics.clone());
        let block = &mut Block::one(&here.block());
        let ended = trial.march(&mut dynamics, here.t, block, self.until, |sample| {
            reached = sample.t;
            Ok(ControlFlow::Continue(()))
        });
        if !matches!(ended, Ok(_) | Err(RunError::OutOfSteps { .. })) {
            return None;
        }
        let further = (reached - here.t).abs() / TRIAL as f64 > FURTHER * pace;
        (further || reached == self.until).then_some(other)
    }
}

impl Creeps {
    /// The same with the method that goes on.
    pub(crate) fn taken_over(self, simulation: Simulation) -> Simulation {
        let Creeps { t, tried, other } = self;
        let creeping = simulation.integrator.card().name;
        let why = format!(
            "{creeping} was chosen, but had tried {tried} steps by t = {t:.3e}: it is stiff there, and {} went on",
            other.name
        );
        Simulation { integrator: simulation.integrator.clone().by(other), why: Some(why), ..simulation }
    }
}
