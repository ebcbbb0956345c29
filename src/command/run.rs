//! `leastaction run`: runs a system and prints a summary.

use super::Failure;
use super::source::Source;
use super::summary::{Outcome, summary};
use clap::Args;
use leastaction::language::Setup;
use leastaction::{
    Card, Choice, Dynamics, Equations, Graph, Integrator, Observable, Pace, RunError, State, System,
    Tolerance,
};
use std::time::Instant;

/// Conserved quantities are looked at about so many times in a run, so that watching them costs little.
const SAMPLES: u64 = 1000;

#[derive(Args)]
#[command(after_help = "Examples:\n  leastaction run two-body --start \"th'=0.7\" --set m1=1 --until 10\n  \
                  leastaction run coupled-chain --size 3 --method rk4 --step 1e-3\n  \
                  leastaction run double-pendulum --tol 1e-12")]
pub(crate) struct Run {
    /// A system of the catalog (see `leastaction list`)
    system: String,
    /// Set a parameter
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment, allow_hyphen_values = true)]
    set: Vec<(String, f64)>,
    /// Set a coordinate, a velocity (`x'`) or a momentum (`p_x`) at the start
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment, allow_hyphen_values = true)]
    start: Vec<(String, f64)>,
    /// Draw the start at random, where the catalog says how; the same start for the same number
    #[arg(long, value_name = "N", conflicts_with = "start")]
    seed: Option<u64>,
    /// Build the system with a number of pieces, where it can be chosen
    #[arg(long, value_name = "N")]
    size: Option<usize>,
    /// Integrate with a method (see `leastaction methods`); left out, one is chosen
    #[arg(long, value_name = "NAME")]
    method: Option<String>,
    /// Use a step
    #[arg(long, value_name = "H", allow_hyphen_values = true)]
    step: Option<f64>,
    /// Let the method find its steps from a relative tolerance
    #[arg(long, value_name = "TOL", conflicts_with = "step")]
    tol: Option<f64>,
    /// Run until a time; before 0 leads back in time
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    until: Option<f64>,
    /// Allow so many steps
    #[arg(long, value_name = "N", default_value_t = Integrator::STEP_LIMIT)]
    max_steps: u64,
}

/// Reads `NAME=VALUE`.
fn assignment(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE, such as m1=2")?;
    match value.trim().parse() {
        Ok(value) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value)),
        Ok(_) => Err("there is no name before `=`".to_owned()),
        Err(_) => Err(format!("`{}` is not a number", value.trim())),
    }
}

impl Run {
    pub(crate) fn execute(self) -> Result<String, Failure> {
        let graph = Graph::new();
        let before = Instant::now();
        let source = Source::open(&graph, &self.system, self.size)?;
        let setup = &source.setup;
        let equations = setup.model.equations().map_err(Failure::run)?;
        let system = equations.system().map_err(Failure::run)?;
        let mut dynamics = system.dynamics().map_err(Failure::run)?;
        let compile = before.elapsed();

        for (name, value) in &self.set {
            dynamics.set_parameter(name, *value).map_err(Failure::usage)?;
        }
        let start = match self.seed {
            Some(seed) => source.sample(&mut dynamics, seed)?,
            None => {
                let values = self.start_values(setup, &dynamics)?;
                dynamics.start(&values).map_err(Failure::usage)?
            }
        };
        let placed = dynamics.placed();
        let until = self.until.unwrap_or(setup.plan.until);
        let (integrator, why) = self.integrator(setup, &mut dynamics, &start, until)?;
        let watched = watched(setup, &equations, &system, &mut dynamics)?;
        let steps = integrator.steps_between(start.t, until).map_err(too_many)?;
        let last_step = integrator.last_step_between(start.t, until).map_err(Failure::usage)?;
        let integrator = match steps {
            Some(steps) => integrator.every(steps / SAMPLES),
            None if until == start.t => integrator.ends_only(),
            None => integrator.spaced((until - start.t).abs() / SAMPLES as f64),
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
        summary(&source, &integrator, &mut dynamics, &outcome)
    }

    /// The start of the catalog with what was asked for in its place. Momenta take the place of velocities.
    fn start_values<'a>(
        &'a self,
        setup: &'a Setup<'_>,
        dynamics: &Dynamics,
    ) -> Result<Vec<(&'a str, f64)>, Failure> {
        let asked: Vec<(&str, f64)> =
            self.start.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let momenta = dynamics.system().momenta();
        let by_momenta = asked.iter().any(|(name, _)| momenta.iter().any(|p| p == name));
        let given = |name: &str| asked.iter().any(|(other, _)| *other == name);
        let mut values = setup.start(dynamics).map_err(Failure::run)?;
        values.retain(|(name, _)| !(given(name) || by_momenta && name.ends_with('\'')));
        values.extend(asked);
        Ok(values)
    }

    /// The method and the pace that were asked for. A method that nobody asked for is chosen, and why is said.
    fn integrator(
        &self,
        setup: &Setup<'_>,
        dynamics: &mut Dynamics,
        start: &State,
        until: f64,
    ) -> Result<(Integrator, Option<String>), Failure> {
        // A step that nobody asked for goes the way that was asked for.
        let usual = setup.plan.step.map(|step| if until < start.t { -step.abs() } else { step.abs() });
        let pace = match (self.tol, self.step.or(usual)) {
            (Some(tolerance), _) => Some(Pace::Tolerance(Tolerance::relative(tolerance))),
            (None, step) => step.map(Pace::Step),
        };
        let (integrator, why) = match &self.method {
            Some(method) => {
                let card = Card::named(method).map_err(Failure::usage)?;
                let pace = pace.ok_or_else(|| {
                    Failure::usage(format!("how long are the steps of {method}? (--step, or --tol)"))
                })?;
                (Integrator::new(card, pace), None)
            }
            None => {
                let choice = Choice::new(dynamics, start, until, pace).map_err(Failure::usage)?;
                (choice.integrator, Some(choice.why))
            }
        };
        Ok((integrator.at_most(self.max_steps), why))
    }
}

/// What a symmetry conserves besides the energy, and the invariants of the catalog that are found to be conserved.
fn watched(
    setup: &Setup<'_>,
    equations: &Equations<'_>,
    system: &System,
    dynamics: &mut Dynamics,
) -> Result<Vec<(String, Observable)>, Failure> {
    let momenta = system.conserved().into_iter().filter(|name| *name != "energy");
    let momenta = momenta.map(|name| (name.to_owned(), name.to_owned()));
    let kept = setup.invariants.iter().filter(|term| equations.is_conserved(term.value) == Some(true));
    let kept = kept.map(|term| (term.name.clone(), term.value.to_string()));
    let watch =
        |(name, text): (String, String)| Ok((name, dynamics.observable(&text).map_err(Failure::run)?));
    momenta.chain(kept).map(watch).collect()
}

/// On the command line, more steps are allowed by an option.
fn too_many(error: RunError) -> Failure {
    match error {
        RunError::TooManySteps { .. } => Failure::usage(format!("{error} (--max-steps)")),
        other => Failure::usage(other),
    }
}
