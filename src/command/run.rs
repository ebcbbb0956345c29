//! `leastaction run`: runs a system and prints a summary.

use super::{Failure, methods, table};
use clap::Args;
use leastaction::catalog::{Entry, Setup};
use leastaction::integrate::number;
use leastaction::{
    Card, Choice, Dynamics, Equations, Graph, Integrator, Observable, Pace, RunError, State, System,
    Tolerance, Trajectory, Work,
};
use std::time::{Duration, Instant};

/// Conserved quantities are looked at about so many times in a run, so that watching them costs little.
const SAMPLES: u64 = 1000;

/// A conserved quantity that drifts by more than this, relatively, makes the run worthless.
const WRONG: f64 = 1e-2;

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

/// What became of a run.
struct Outcome {
    compile: Duration,
    wall: Duration,
    trajectory: Trajectory,
    /// Why the method was chosen, if it was.
    why: Option<String>,
    /// The length of the last step, if steps have one length.
    last_step: Option<f64>,
    energy_drift: f64,
    /// What should not change, by name, and by how much of itself it did.
    conserved: Vec<(String, f64)>,
}

impl Run {
    pub(crate) fn execute(self) -> Result<String, Failure> {
        let entry = Entry::named(&self.system).map_err(Failure::usage)?;
        let graph = Graph::new();
        let before = Instant::now();
        let setup = match self.size {
            Some(size) => entry.setup_sized(&graph, size).map_err(Failure::usage)?,
            None => entry.setup(&graph),
        };
        let equations = setup.model.equations().map_err(Failure::run)?;
        let system = equations.system().map_err(Failure::run)?;
        let mut dynamics = system.dynamics().map_err(Failure::run)?;
        let compile = before.elapsed();

        for (name, value) in &self.set {
            dynamics.set_parameter(name, *value).map_err(Failure::usage)?;
        }
        let start = dynamics.start(&self.start_values(&setup, system.momenta())).map_err(Failure::usage)?;
        let until = self.until.unwrap_or(setup.plan.until);
        let (integrator, why) = self.integrator(&setup, &mut dynamics, &start, until)?;
        let watched = watched(&setup, &equations, &system, &mut dynamics)?;
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
            RunError::NotApplicable { .. } | RunError::NotAdaptive { .. } | RunError::BadTolerance { .. } => {
                Failure::usage(failed.error)
            }
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
        let outcome = Outcome { compile, wall, trajectory, why, last_step, energy_drift, conserved };
        summary(entry, &integrator, &mut dynamics, &outcome)
    }

    /// The start of the catalog with what was asked for in its place. Momenta take the place of velocities.
    fn start_values<'a>(&'a self, setup: &'a Setup<'_>, momenta: &[String]) -> Vec<(&'a str, f64)> {
        let asked: Vec<(&str, f64)> =
            self.start.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let by_momenta = asked.iter().any(|(name, _)| momenta.iter().any(|p| p == name));
        let given = |name: &str| asked.iter().any(|(other, _)| *other == name);
        let kept = setup
            .start()
            .into_iter()
            .filter(|(name, _)| !(given(name) || by_momenta && name.ends_with('\'')));
        kept.collect::<Vec<_>>().into_iter().chain(asked.iter().copied()).collect()
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
        let usual = if until < start.t { -setup.plan.step } else { setup.plan.step };
        let pace = match self.tol {
            Some(tolerance) => Pace::Tolerance(Tolerance::relative(tolerance)),
            None => Pace::Step(self.step.unwrap_or(usual)),
        };
        let (integrator, why) = match &self.method {
            Some(method) => (Integrator::new(Card::named(method).map_err(Failure::usage)?, pace), None),
            None => {
                let choice = Choice::new(dynamics, start, until, Some(pace)).map_err(Failure::usage)?;
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

fn summary(
    entry: &Entry,
    integrator: &Integrator,
    dynamics: &mut Dynamics,
    outcome: &Outcome,
) -> Result<String, Failure> {
    let (card, trajectory) = (integrator.card(), &outcome.trajectory);
    let (system, work, end) = (dynamics.system().clone(), trajectory.work(), trajectory.end());
    let mut velocities = vec![0.0; system.velocities().len()];
    dynamics.velocities(&[end.t], &end.block(), &mut velocities).map_err(Failure::run)?;
    let energies = trajectory.energies(dynamics).map_err(Failure::run)?;
    let [first, last] = [energies.first(), energies.last()].map(|e| number(e.unwrap_or(&f64::NAN)));
    let row = |name: &str, text: String| vec![name.to_owned(), text];
    let parameters = system.parameters().iter().zip(dynamics.parameters());
    let parameters: Vec<_> =
        parameters.map(|((name, _), value)| format!("{name} = {}", number(value))).collect();
    let because = outcome.why.iter().map(|why| row("because", why.clone()));
    let mut rows = vec![
        row("system", format!("{}: {}", entry.name, entry.about)),
        row("parameters", parameters.join(", ")),
        row(
            "method",
            format!(
                "{} (order {}, keeps: {})",
                card.name,
                card.order,
                methods::keeps(card.kept_in(system.facts()))
            ),
        ),
        row(
            "run",
            format!(
                "t = {} to {} in {}, {} evaluations{}",
                number(&trajectory.times()[0]),
                number(&end.t),
                steps(work, integrator.pace(), outcome.last_step),
                work.evaluations,
                if work.iterations > 0 { format!(", {} iterations", work.iterations) } else { String::new() },
            ),
        ),
        row(
            "time",
            format!(
                "{:.3} s to compile, {:.3} s to run",
                outcome.compile.as_secs_f64(),
                outcome.wall.as_secs_f64()
            ),
        ),
        row(
            "energy",
            format!(
                "{first} to {last}, at most {:.2e} off (relative, {} samples)",
                outcome.energy_drift,
                trajectory.len()
            ),
        ),
        row("conserved", conserved(&outcome.conserved)),
        row("end", values(system.coordinates(), &end.q)),
        row("", values(system.velocities(), &velocities)),
        row("", values(system.momenta(), &end.p)),
    ];
    let after = rows.iter().position(|row| row[0] == "method").map_or(0, |method| method + 1);
    rows.splice(after..after, because);
    for (name, drift) in outcome.conserved.iter().filter(|(_, drift)| *drift > WRONG) {
        rows.push(row(
            "warning",
            format!("{name} should not change, and drifted by {drift:.1e} of itself: do not trust this result, try a smaller step"),
        ));
    }
    Ok(table(&rows))
}

/// How many steps of which length.
fn steps(work: Work, pace: &Pace, last: Option<f64>) -> String {
    let count = work.steps;
    let (&Pace::Step(step), Some(last)) = (pace, last) else {
        return format!("{count} steps ({} rejected) by {pace}", work.rejected);
    };
    let (step, last, even) = (number(&step), number(&last), step == last);
    match count {
        1 => format!("1 step of {last}"),
        2 if !even => format!("1 step of {step} and one of {last}"),
        _ if !even => format!("{} steps of {step} and one of {last}", count - 1),
        _ => format!("{count} steps of {step}"),
    }
}

/// What is conserved, and how well it was.
fn conserved(quantities: &[(String, f64)]) -> String {
    let told = |(name, drift): &(String, f64)| match *drift {
        0.0 => format!("{name} (exactly)"),
        drift => format!("{name} (to {drift:.1e})"),
    };
    let all: Vec<_> = quantities.iter().map(told).collect();
    if all.is_empty() { "nothing found".to_owned() } else { all.join(", ") }
}

fn values(names: &[String], values: &[f64]) -> String {
    names
        .iter()
        .zip(values)
        .map(|(name, value)| format!("{name} = {}", number(value)))
        .collect::<Vec<_>>()
        .join(", ")
}
