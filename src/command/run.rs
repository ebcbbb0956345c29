//! `leastaction run`: runs a system and prints a summary.

use super::Failure;
use super::pictures::{Pictures, Shown};
use super::setting::{Prepared, Setting};
use super::summary::{Outcome, summary};
use clap::Args;
use leastaction::output::Record;
use leastaction::{Graph, RunError};
use std::time::Instant;

/// Conserved quantities are looked at about so many times in a run, so that watching them costs little.
const SAMPLES: u64 = 1000;

#[derive(Args)]
#[command(after_help = "Examples:\n  leastaction run two-body --start \"th'=0.7\" --set m1=1 --until 10\n  \
                  leastaction run coupled-chain --size 3 --method rk4 --step 1e-3\n  \
                  leastaction run double-pendulum --tol 1e-12")]
pub(crate) struct Run {
    #[command(flatten)]
    setting: Setting,
    #[command(flatten)]
    pictures: Pictures,
}

impl Run {
    pub(crate) fn execute(self) -> Result<String, Failure> {
        let graph = Graph::new();
        let mut prepared = self.setting.prepare(&graph)?;
        let watched = prepared.watched()?;
        let Prepared { source, mut dynamics, start, placed, until, integrator, why, compile, .. } = prepared;
        let system = dynamics.system().clone();
        let steps = integrator.steps_between(start.t, until).map_err(too_many)?;
        let last_step = integrator.last_step_between(start.t, until).map_err(Failure::usage)?;
        let samples = self.pictures.samples().unwrap_or(0).max(SAMPLES);
        let integrator = match steps {
            Some(steps) => integrator.every(steps / samples),
            None if until == start.t => integrator.ends_only(),
            None => integrator.spaced((until - start.t).abs() / samples as f64),
        };
        let before = Instant::now();
        let trajectory = integrator.run(&mut dynamics, &start, until);
        let wall = before.elapsed();
        let trajectory = trajectory.map_err(|failed| match failed.error {
            RunError::NotApplicable { .. }
            | RunError::Constrained { .. }
            | RunError::NotAdaptive { .. }
            | RunError::BadTolerance { .. } => Failure::usage(failed.error),
            other => Failure::run(other),
        })?;

        let drifted =
            |name: &str, error| Failure::run(format!("the drift of the {name} cannot be told: {error}"));
        let energy_drift = trajectory.energy_drift(&mut dynamics).map_err(|e| drifted("energy", e))?;
        let energy = system.conserved().contains(&"energy").then(|| ("energy".to_owned(), energy_drift));
        let mut conserved: Vec<_> = energy.into_iter().collect();
        for (name, what) in watched {
            let drift = trajectory.drift(&mut dynamics, what).map_err(|e| drifted(&name, e))?;
            conserved.push((name, drift));
        }
        let violations = trajectory.violations(&mut dynamics).map_err(|e| drifted("constraints", e))?;
        let outcome = Outcome {
            compile,
            wall,
            trajectory,
            why,
            last_step,
            energy_drift,
            conserved,
            placed,
            violations,
        };
        let text = summary(&source, &integrator, &mut dynamics, &outcome)?;
        if self.pictures.samples().is_some() {
            let record = Record::new(&outcome.trajectory, &mut dynamics, &[]).map_err(Failure::run)?;
            let conserved = system.conserved().contains(&"energy");
            self.pictures.write(&Shown {
                system: &source.name,
                method: integrator.card(),
                pace: integrator.pace(),
                drawing: &source.setup.drawing,
                record: &record,
                energy_drift: conserved.then_some(outcome.energy_drift),
            })?;
        }
        Ok(text)
    }
}

/// On the command line, more steps are allowed by an option.
fn too_many(error: RunError) -> Failure {
    match error {
        RunError::TooManySteps { .. } => Failure::usage(format!("{error} (--max-steps)")),
        other => Failure::usage(other),
    }
}
