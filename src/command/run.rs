//! `leastaction run`: runs a system and prints a summary.

use super::{Failure, methods, table};
use clap::Args;
use leastaction::catalog::{Entry, Setup};
use leastaction::{
    Card, Dynamics, End, Equations, Graph, Integrator, Observable, RunError, State, System, energy_scale,
};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Conserved quantities are looked at about so many times in a run, so that watching them costs little.
const SAMPLES: u64 = 1000;

#[derive(Args)]
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
    /// Integrate with a method (see `leastaction methods`)
    #[arg(long, value_name = "NAME")]
    method: Option<String>,
    /// Use a step
    #[arg(long, value_name = "H", allow_negative_numbers = true)]
    step: Option<f64>,
    /// Run until a time; before 0 leads back in time
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    until: Option<f64>,
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

/// A quantity that should not change, watched along a run.
struct Watch {
    name: String,
    what: Observable,
    first: Option<f64>,
    /// The largest change since the start.
    change: f64,
}

/// What became of a run.
struct Outcome {
    start: State,
    end: State,
    ending: End,
    /// The energy at the start and at the end.
    energy: [f64; 2],
    /// The largest relative change of the energy, and at how many samples.
    drift: f64,
    samples: u64,
    wall: Duration,
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
        let integrator = self.integrator(&setup)?;
        let until = self.until.unwrap_or(setup.plan.until);
        let mut watches = watches(&setup, &equations, &system, &mut dynamics)?;
        let outcome = run(&mut dynamics, &integrator, start, until, &mut watches)?;
        summary(entry, &integrator, &mut dynamics, &outcome, compile, &watches)
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

    fn integrator(&self, setup: &Setup<'_>) -> Result<Integrator, Failure> {
        let method = self.method.as_deref().unwrap_or(setup.plan.method);
        let card = Card::named(method).map_err(Failure::usage)?;
        // A step that nobody asked for goes the way that was asked for.
        let back = self.until.is_some_and(|t| t < 0.0);
        let usual = if back { -setup.plan.step } else { setup.plan.step };
        Ok(Integrator::new(card, self.step.unwrap_or(usual)))
    }
}

/// Watches over what a symmetry conserves, and the invariants of the catalog that are found to be conserved.
fn watches(
    setup: &Setup<'_>,
    equations: &Equations<'_>,
    system: &System,
    dynamics: &mut Dynamics,
) -> Result<Vec<Watch>, Failure> {
    let momenta = system.conserved().into_iter().filter(|name| *name != "energy");
    let momenta = momenta.map(|name| (name.to_owned(), name.to_owned()));
    let kept = setup.invariants.iter().filter(|term| equations.is_conserved(term.value) == Some(true));
    let kept = kept.map(|term| (term.name.clone(), term.value.to_string()));
    let watch = |(name, text): (String, String)| {
        let what = dynamics.observable(&text).map_err(Failure::run)?;
        Ok(Watch { name, what, first: None, change: 0.0 })
    };
    momenta.chain(kept).map(watch).collect()
}

fn run(
    dynamics: &mut Dynamics,
    integrator: &Integrator,
    start: State,
    until: f64,
    watches: &mut [Watch],
) -> Result<Outcome, Failure> {
    let steps = integrator.steps_between(start.t, until).map_err(Failure::usage)?;
    let scale = energy_scale(dynamics, &start).map_err(Failure::run)?;
    let integrator = integrator.every(steps / SAMPLES);
    let (mut first, mut last, mut largest, mut samples) = (None, [0.0], 0.0_f64, 0);
    let (degrees, mut end) = (dynamics.system().degrees(), start.clone());
    let before = Instant::now();
    let ending = integrator.observe(dynamics, &start, until, |sample| {
        sample.dynamics.energy(&[sample.t], sample.block.values(), &mut last)?;
        largest = largest.max((last[0] - *first.get_or_insert(last[0])).abs());
        samples += 1;
        for watch in &mut *watches {
            let mut value = [0.0];
            sample.dynamics.observe(watch.what, &[sample.t], sample.block.values(), &mut value)?;
            watch.change = watch.change.max((value[0] - *watch.first.get_or_insert(value[0])).abs());
        }
        if sample.step == steps {
            end = State::from_block(sample.t, sample.block.values(), degrees);
        }
        Ok(ControlFlow::Continue(()))
    });
    let wall = before.elapsed();
    let ending = ending.map_err(|error| match error {
        RunError::NotApplicable { .. } => Failure::usage(error),
        other => Failure::run(other),
    })?;
    let energy = [first.unwrap_or(f64::NAN), last[0]];
    Ok(Outcome { start, end, ending, energy, drift: largest / scale, samples, wall })
}

fn summary(
    entry: &Entry,
    integrator: &Integrator,
    dynamics: &mut Dynamics,
    outcome: &Outcome,
    compile: Duration,
    watches: &[Watch],
) -> Result<String, Failure> {
    let (card, work) = (integrator.card(), outcome.ending.work);
    let system = dynamics.system().clone();
    let mut velocities = vec![0.0; system.velocities().len()];
    dynamics.velocities(&[outcome.end.t], &outcome.end.block(), &mut velocities).map_err(Failure::run)?;
    let row = |name: &str, text: String| vec![name.to_owned(), text];
    let parameters = system.parameters().iter().zip(dynamics.parameters());
    let parameters: Vec<_> =
        parameters.map(|((name, _), value)| format!("{name} = {}", number(*value))).collect();
    let rows = [
        row("system", format!("{}: {}", entry.name, entry.about)),
        row("parameters", parameters.join(", ")),
        row("method", format!("{} (order {}, keeps: {})", card.name, card.order, methods::keeps(card))),
        row(
            "run",
            format!(
                "t = {} to {} in {} steps of {}, {} evaluations{}",
                outcome.start.t,
                outcome.end.t,
                work.steps,
                integrator.step(),
                work.evaluations,
                if work.iterations > 0 { format!(", {} iterations", work.iterations) } else { String::new() },
            ),
        ),
        row(
            "time",
            format!("{:.3} s to compile, {:.3} s to run", compile.as_secs_f64(), outcome.wall.as_secs_f64()),
        ),
        row(
            "energy",
            format!(
                "{} to {}, at most {:.2e} off (relative, {} samples)",
                number(outcome.energy[0]),
                number(outcome.energy[1]),
                outcome.drift,
                outcome.samples
            ),
        ),
        row("conserved", conserved(&system, watches)),
        row("end", values(system.coordinates(), &outcome.end.q)),
        row("", values(system.velocities(), &velocities)),
        row("", values(system.momenta(), &outcome.end.p)),
    ];
    Ok(table(&rows))
}

/// What is conserved, and how well it was.
fn conserved(system: &System, watches: &[Watch]) -> String {
    let energy = system.conserved().contains(&"energy").then(|| "energy".to_owned());
    let watched = watches.iter().map(|watch| format!("{} (to {:.1e})", watch.name, watch.change));
    let all: Vec<String> = energy.into_iter().chain(watched).collect();
    if all.is_empty() { "nothing found".to_owned() } else { all.join(", ") }
}

fn values(names: &[String], values: &[f64]) -> String {
    names
        .iter()
        .zip(values)
        .map(|(name, value)| format!("{name} = {}", number(*value)))
        .collect::<Vec<_>>()
        .join(", ")
}

/// All digits of a number, with an exponent where it is very small or very large.
fn number(value: f64) -> String {
    if value == 0.0 || (1e-4..1e15).contains(&value.abs()) { value.to_string() } else { format!("{value:e}") }
}
