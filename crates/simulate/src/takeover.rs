//! A run by a method that was chosen may show that another one is better: then that one goes on from where the run stands, and the run says so. What was computed until there
//! is as good as its tolerance, and is kept with its samples and events.

use crate::simulation::Simulation;
use leastaction_integrate::{Block, Card, Integrator, Moment, Pace, RunError};
use leastaction_mechanics::State;
use std::ops::ControlFlow;

/// A run is looked at whenever it has tried so many steps,
const OFTEN: u64 = 20_000;
/// and goes on as it is if it will try fewer than this at its present pace.
const BEARABLE: f64 = 1e6;
/// What may take over: it goes on where other methods creep.
const OTHER: &str = "radau5";
/// It tries so many steps, and takes over if they lead so many times as far as those of the run: a step is some times the work.
const TRIAL: u64 = 500;
const FURTHER: f64 = 30.0;

/// Watches whether a run creeps.
pub(crate) struct Watched<'s> {
    simulation: &'s Simulation,
    /// Where the run was at the last look, and after how many steps; and when the next is due, if there is one.
    last: (f64, u64),
    next: Option<u64>,
    /// What was found of a run that creeps.
    pub(crate) creeps: Option<Creeps>,
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
        let by_tolerance = matches!(integrator.pace(), Pace::Tolerance(_)) && integrator.card().name != OTHER;
        let next = (simulation.why.is_some() && by_tolerance).then_some(OFTEN);
        Watched { simulation, last: (simulation.start.t, 0), next, creeps: None }
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
        if (self.simulation.until - t).abs() <= BEARABLE * pace {
            return ControlFlow::Continue(());
        }
        self.creeps = self.simulation.creeps(&moment.state(), pace).map(|other| Creeps { t, tried, other });
        // What does not help now will not help soon.
        self.next = Some(2 * tried);
        if self.creeps.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Simulation {
    /// The method that goes on from a state much faster than at this pace, the way of a step, if it does.
    fn creeps(&self, here: &State, pace: f64) -> Option<&'static Card> {
        let other =
            Card::named(OTHER).ok().filter(|card| card.needs.met_by(self.dynamics.system().facts()))?;
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
