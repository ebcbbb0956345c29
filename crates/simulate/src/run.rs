//! What came of a simulation.

use crate::simulation::Simulation;
use leastaction_integrate::{Crossing, Reason, Trajectory};
use leastaction_mechanics::EvalError;
use leastaction_output::{Record, RecordError};
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
}

impl Run {
    /// Everything that can be told about the samples, with the outputs that were asked for.
    ///
    /// # Errors
    /// [`RecordError`] if a quantity cannot be computed at a sample.
    pub fn record(&self) -> Result<Record, RecordError> {
        let mut dynamics = self.simulation.dynamics.clone();
        Record::new(&self.trajectory, &mut dynamics, &self.simulation.outputs)
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
            Reason::Complete | Reason::Interrupted => None,
        }
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
        let (mut dynamics, end) = (self.simulation.dynamics.clone(), self.trajectory.end());
        let mut velocities = vec![0.0; dynamics.system().velocities().len()];
        dynamics.velocities(&[end.t], &end.block(), &mut velocities)?;
        Ok(velocities)
    }
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Run({}, {:?})", self.simulation.name, self.trajectory)
    }
}
