//! What came of a simulation.

use crate::global_error::GlobalError;
use crate::meshes::colour;
use crate::simulation::Simulation;
use leastaction_ensemble::{ReduceError, Values};
use leastaction_integrate::{Crossing, Reason, Trajectory};
use leastaction_mechanics::{EvalError, State};
use leastaction_output::{Held, Record, RecordError};
use std::time::Duration;

/// What came of a simulation: all of it, or what there is if it was interrupted, or failed on the way.
#[derive(Clone)]
pub struct Run {
    /// What was run.
    pub simulation: Simulation,
    /// The samples.
    pub trajectory: Trajectory,
    /// How long it took.
    pub wall: Duration,
    /// By how much the end may be off, if that was [judged](Simulation::run_judged).
    pub error: Option<GlobalError>,
}

impl Run {
    /// Everything that can be told about the samples, with the outputs that were asked for.
    ///
    /// # Errors
    /// [`RecordError`] if a quantity cannot be computed at a sample.
    pub fn record(&self) -> Result<Record, RecordError> {
        match self.simulation.finer {
            1 => self.fine_record(),
            finer => self.recorded(&self.trajectory.thinned(finer)),
        }
    }

    /// The same of all samples, also those that are there for pictures only.
    ///
    /// # Errors
    /// As [`Run::record`].
    pub fn fine_record(&self) -> Result<Record, RecordError> {
        self.recorded(&self.trajectory)
    }

    fn recorded(&self, trajectory: &Trajectory) -> Result<Record, RecordError> {
        let mut dynamics = self.simulation.dynamics.clone();
        let mut record = Record::new(trajectory, &mut dynamics, &self.simulation.outputs)?;
        colour(&mut record, &self.simulation.drawing, &mut dynamics, trajectory.samples())?;
        Ok(record)
    }

    /// Every event by name, with its crossings in the order of the run.
    pub fn events(&self) -> impl Iterator<Item = (&str, Vec<&Crossing>)> {
        self.simulation.events.iter().enumerate().map(|(i, name)| {
            let crossings = self.trajectory.crossings().iter();
            (name.as_str(), crossings.filter(|crossing| crossing.event == i).collect())
        })
    }

    /// The event that ended the run, if one did.
    #[must_use]
    pub fn stopped_by(&self) -> Option<&str> {
        match self.trajectory.reason() {
            Reason::Event(i) => Some(&self.simulation.events[i]),
            Reason::Complete | Reason::Interrupted | Reason::Accumulated(_) => None,
        }
    }

    /// The event that happens again and again in ever shorter times, and the time at which that comes to an end, if this is how the run ended.
    #[must_use]
    pub fn accumulated(&self) -> Option<(&str, f64)> {
        let Reason::Accumulated(i) = self.trajectory.reason() else { return None };
        let end = self.trajectory.end().t;
        Some((&self.simulation.events[i], self.trajectory.accumulation().unwrap_or(end)))
    }

    /// Whether the run was interrupted.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.trajectory.reason() == Reason::Interrupted
    }

    /// The length of the last step, if steps have one length and the run came to its end.
    #[must_use]
    pub fn last_step(&self) -> Option<f64> {
        self.simulation.last_step.filter(|_| self.trajectory.reason() == Reason::Complete)
    }

    /// The velocities at the end.
    ///
    /// # Errors
    /// [`EvalError`] if they cannot be computed.
    pub fn end_velocities(&self) -> Result<Vec<f64>, EvalError> {
        self.velocities(&self.trajectory.end())
    }

    /// The velocities at a state.
    ///
    /// # Errors
    /// [`EvalError`] if they cannot be computed.
    pub fn velocities(&self, state: &State) -> Result<Vec<f64>, EvalError> {
        let mut dynamics = self.simulation.dynamics.clone();
        let mut velocities = vec![0.0; dynamics.system().velocities().len()];
        dynamics.velocities(&[state.t], &state.block(), &mut velocities)?;
        Ok(velocities)
    }

    /// The coordinates that constraints hold, at a state, with their velocities and what holds them.
    ///
    /// # Errors
    /// [`EvalError`] if one cannot be computed.
    pub fn held(&self, state: &State) -> Result<Held<f64>, EvalError> {
        let mut dynamics = self.simulation.dynamics.clone();
        let observables = Held::names(dynamics.system()).observables(&mut dynamics)?;
        observables.at(&mut dynamics, state.t, &state.block())
    }

    /// The multipliers of the other constraints at a state.
    ///
    /// # Errors
    /// [`EvalError`] if they cannot be computed.
    pub fn multipliers(&self, state: &State) -> Result<Vec<f64>, EvalError> {
        let mut dynamics = self.simulation.dynamics.clone();
        let mut multipliers = vec![0.0; dynamics.system().constraints().len()];
        if !multipliers.is_empty() {
            dynamics.multipliers(&[state.t], &state.block(), &mut multipliers)?;
        }
        Ok(multipliers)
    }

    /// The outputs at the end, by name.
    ///
    /// # Errors
    /// [`EvalError`] if one cannot be computed.
    pub fn end_outputs(&self) -> Result<Vec<(&str, f64)>, EvalError> {
        let (mut dynamics, end) = (self.simulation.dynamics.clone(), self.trajectory.end());
        let (block, mut value) = (end.block(), [0.0]);
        let outputs = self.simulation.outputs.iter().map(|(name, what)| {
            dynamics.observe(*what, &[end.t], &block, &mut value)?;
            Ok((name.as_str(), value[0]))
        });
        outputs.collect()
    }
}

/// Numbers of a whole run: `max(x')`, `mean(energy)`, `first(top)`, as [reductions](leastaction_ensemble::reduce) of ensembles have them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reduced {
    /// The texts, with their values; NaN if there is none.
    pub values: Vec<(String, f64)>,
    /// How many samples counted.
    pub samples: usize,
}

impl Simulation {
    /// Refuses what runs cannot be reduced to, before anything is computed.
    ///
    /// # Errors
    /// [`ReduceError`] if a text is no expression of the system, or there is no such event.
    pub fn check_reduced(&self, texts: &[String]) -> Result<(), ReduceError> {
        Values::new(&self.dynamics, &self.events, texts).map(drop)
    }
}

impl Run {
    /// What the samples that are recorded, and the events, come to. Those before a time, if one is given, do not count.
    ///
    /// # Errors
    /// As for [`Simulation::check_reduced`].
    pub fn reduced(&self, texts: &[String], from: Option<f64>) -> Result<Reduced, ReduceError> {
        let mut values = Values::new(&self.simulation.dynamics, &self.simulation.events, texts)?;
        let trajectory = self.trajectory.thinned(self.simulation.finer);
        let backwards = self.simulation.until < self.simulation.start.t;
        let counts = |t: &f64| from.is_none_or(|from| if backwards { *t <= from } else { *t >= from });
        let samples = trajectory.times().iter().filter(|t| counts(t)).count();
        Ok(Reduced { values: values.of(&trajectory, from), samples })
    }
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Run({}, {:?})", self.simulation.name, self.trajectory)
    }
}
