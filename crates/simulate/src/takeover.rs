//! A run by a method that was chosen may show that another one is better: then that one takes over, and the run says so.

use crate::simulation::Simulation;
use leastaction_integrate::{Block, Card, Integrator, Moment, Pace, RunError};
use std::ops::ControlFlow;

/// A run is judged once it has tried so many steps,
const EARLY: u64 = 20_000;
/// and goes on as it is if it will try fewer than this.
const BEARABLE: f64 = 1e6;
/// What may take over: it goes on where other methods creep.
const OTHER: &str = "radau5";
/// It tries so many steps, and takes over if they lead so many times as far as those of the run: a step is some times the work.
const TRIAL: u64 = 500;
const FURTHER: f64 = 30.0;

/// Watches whether a run creeps.
pub(crate) struct Watched {
    is_judged: bool,
    /// Where a run was left that creeps: the time, and how many steps it had tried.
    pub(crate) creeps: Option<(f64, u64)>,
}

impl Watched {
    /// Only a method that was chosen is judged, and only steps that a tolerance sets are changed.
    pub(crate) fn new(simulation: &Simulation) -> Watched {
        let integrator = &simulation.integrator;
        let by_tolerance = matches!(integrator.pace(), Pace::Tolerance(_)) && integrator.card().name != OTHER;
        Watched { is_judged: simulation.why.is_none() || !by_tolerance, creeps: None }
    }

    /// Breaks off if the run creeps.
    pub(crate) fn judge(&mut self, moment: &Moment<'_, '_>) -> ControlFlow<()> {
        let work = moment.work();
        let tried = work.steps + work.rejected;
        if self.is_judged || tried < EARLY {
            return ControlFlow::Continue(());
        }
        self.is_judged = true;
        if tried as f64 <= BEARABLE * moment.fraction() {
            return ControlFlow::Continue(());
        }
        self.creeps = Some((moment.t(), tried));
        ControlFlow::Break(())
    }
}

impl Simulation {
    /// The same with a method that does better than one that came to a time by so many steps, if it does.
    pub(crate) fn taken_over(&self, (t, tried): (f64, u64)) -> Option<Simulation> {
        let card =
            Card::named(OTHER).ok().filter(|card| card.needs.met_by(self.dynamics.system().facts()))?;
        let trial = Integrator::new(card, self.integrator.pace().clone()).at_most(TRIAL);
        let (mut reached, mut dynamics) = (self.start.t, self.dynamics.clone());
        let block = &mut Block::one(&self.start.block());
        let ended = trial.march(&mut dynamics, self.start.t, block, self.until, |sample| {
            reached = sample.t;
            Ok(ControlFlow::Continue(()))
        });
        if !matches!(ended, Ok(_) | Err(RunError::OutOfSteps { .. })) {
            return None;
        }
        let per_step = |t: f64, steps: u64| (t - self.start.t).abs() / steps as f64;
        if per_step(reached, TRIAL) < FURTHER * per_step(t, tried) {
            return None;
        }
        let creeping = self.integrator.card().name;
        let why =
            format!("{creeping} was chosen, but had tried {tried} steps by t = {t:.3e}: it is stiff there");
        Some(Simulation { integrator: self.integrator.clone().by(card), why: Some(why), ..self.clone() })
    }
}
