//! A run that is prepared.

use crate::error::{FailedRun, PrepareError};
use crate::method::Method;
use crate::overrides::Overrides;
use crate::problem::{Named, Problem};
use crate::run::Run;
use crate::takeover::Watched;
use leastaction_integrate::{Failed, Integrator, Moment, RunError};
use leastaction_language::{Doubt, Drawing, MovingMesh, Setup};
use leastaction_mechanics::{Dynamics, Observable, Projection, State};
use leastaction_output::About;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// A run that is prepared: a problem with a method, and all that is asked for along the way.
#[derive(Clone)]
pub struct Simulation {
    /// The name of the system; empty if it has none.
    pub name: String,
    /// What it is, in a line.
    pub about: String,
    /// The system with its parameters and inputs.
    pub dynamics: Dynamics,
    /// The initial state.
    pub start: State,
    /// How far that was moved to meet the constraints, if there are any.
    pub placed: Option<Projection>,
    /// The time at the end.
    pub until: f64,
    /// How long it took to derive and compile the equations of motion.
    pub compile: Duration,
    /// The method with its pace, the times of samples, and the events.
    pub integrator: Integrator,
    /// Why the method was chosen, if it was.
    pub why: Option<String>,
    /// The names of the events, in the integrator's order.
    pub events: Vec<String>,
    /// What is recorded besides what always is.
    pub outputs: Vec<Named>,
    /// What should not change besides the energy.
    pub conserved: Vec<Named>,
    /// Angles whose jumps energies or forces feel.
    pub(crate) jumping: Vec<Observable>,
    /// How it is drawn.
    pub drawing: Drawing,
    /// The meshes whose nodes move.
    pub meshes: Vec<MovingMesh>,
    /// What in the text is hardly meant.
    pub doubts: Vec<Doubt>,
    /// The length of the last step, if steps have one length.
    pub(crate) last_step: Option<f64>,
    /// So many samples there are, for pictures, for one that is recorded.
    pub(crate) finer: usize,
}

impl Simulation {
    /// Prepares all that a setup says, with what is asked for in its place.
    ///
    /// # Errors
    /// As [`Problem::new`], and if there is no such method, sampling, output or event.
    pub fn of(setup: Setup<'_>, overrides: &Overrides) -> Result<Simulation, PrepareError> {
        Simulation::new(Problem::new(setup, overrides)?, overrides)
    }

    /// Prepares a run of a problem.
    ///
    /// # Errors
    /// [`PrepareError`] if there is no such method, sampling, output or event.
    pub fn new(mut problem: Problem<'_>, overrides: &Overrides) -> Result<Simulation, PrepareError> {
        overrides.check().map_err(PrepareError::usage)?;
        let Method { integrator, why } = problem.method(overrides)?;
        let conserved = problem.conserved()?;
        let jumping = problem.jumping_angles()?;
        let mut outputs = problem.outputs()?;
        problem.asked_outputs(&overrides.outputs, &mut outputs)?;
        let last_step = integrator.last_step_between(problem.start.t, problem.until)?;
        let (integrator, finer) = problem.with_samples(integrator, overrides)?;
        let integrator = problem.with_events(integrator)?;
        let mut events = problem.events();
        let integrator = problem.with_asked_events(integrator, &overrides.events, &mut events)?;
        let system = problem.dynamics.system();
        let balanced = !system.conserves_energy() && system.knows_power();
        let integrator = if balanced { integrator.balanced() } else { integrator };
        let Problem { name, setup, dynamics, start, placed, until, compile, .. } = problem;
        let Setup { about, drawing, meshes, doubts, .. } = setup;
        Ok(Simulation {
            name,
            about,
            dynamics,
            start,
            placed,
            until,
            compile,
            integrator,
            why,
            events,
            outputs,
            conserved,
            jumping,
            drawing,
            meshes,
            doubts,
            last_step,
            finer,
        })
    }

    /// Whether some event sets something anew.
    #[must_use]
    pub fn has_resets(&self) -> bool {
        self.integrator.events().iter().any(|event| event.reset().is_some())
    }

    /// Runs.
    ///
    /// # Errors
    /// [`FailedRun`] if the run cannot begin, or fails on the way: it has what was computed until then.
    pub fn run(&self) -> Result<Run, FailedRun> {
        self.run_watched(|_| ControlFlow::Continue(()))
    }

    /// Runs, and shows each step to somebody who may report progress, or interrupt. What was computed until then is kept. If a method that was chosen
    /// creeps and another does not, that one goes on from there, and the simulation of the run says so.
    ///
    /// # Errors
    /// As [`Simulation::run`].
    pub fn run_watched(
        &self,
        mut watch: impl FnMut(&mut Moment<'_, '_>) -> ControlFlow<()>,
    ) -> Result<Run, FailedRun> {
        let mut simulation = self.clone();
        let before = Instant::now();
        let mut watched = Watched::new(self);
        let both = |moment: &mut Moment<'_, '_>| {
            watched.judge(moment)?;
            watch(moment)
        };
        let mut ran = self.integrator.run_watched(&mut simulation.dynamics, &self.start, self.until, both);
        if let (Some(creeps), Ok(so_far)) = (watched.creeps, &mut ran) {
            simulation = creeps.taken_over(simulation);
            let (integrator, span) = (simulation.integrator.clone(), (self.start.t, self.until));
            ran = integrator.take_over(&mut simulation.dynamics, so_far.clone(), span, &mut watch);
        }
        // What begins to slip slowly is held stiffly in its direction at first.
        if let Err(Failed { error: RunError::StepTooShort { t, .. }, trajectory: Some(so_far) }) = &ran
            && let Some(slips) = self.slips(so_far, *t)
        {
            let (mut other, span) = (slips.taken_over(simulation.clone()), (self.start.t, self.until));
            let integrator = other.integrator.clone();
            let continued = integrator.take_over(&mut other.dynamics, (**so_far).clone(), span, &mut watch);
            if continued.is_ok() {
                (simulation, ran) = (other, continued);
            }
        }
        if let (Some((t, what)), Ok(so_far)) = (watched.rests, &ran) {
            let error = RunError::Chatter { t, what, lane: 0 };
            ran = Err(Failed { error, trajectory: Some(Box::new(so_far.clone())) });
        }
        let wall = before.elapsed();
        match ran {
            Ok(trajectory) => Ok(Run { simulation, trajectory, wall, error: None }),
            Err(Failed { error, trajectory }) => {
                let run =
                    trajectory.map(|kept| Box::new(Run { simulation, trajectory: *kept, wall, error: None }));
                Err(FailedRun { error, run })
            }
        }
    }

    /// What files say about a run that ended like this.
    #[must_use]
    pub fn describe(&self, ended: String) -> About {
        describe(&self.name, &self.integrator, &self.dynamics, ended)
    }
}

/// What files say about runs of a system that ended like this.
#[must_use]
pub fn describe(system: &str, integrator: &Integrator, dynamics: &Dynamics, ended: String) -> About {
    let names = dynamics.system().parameters().iter().map(|(name, _)| name.clone());
    About {
        system: system.to_owned(),
        method: integrator.card().name.to_owned(),
        pace: integrator.pace().to_string(),
        parameters: names.zip(dynamics.parameters().iter().copied()).collect(),
        ended,
        warnings: Vec::new(),
        notes: Vec::new(),
    }
}
