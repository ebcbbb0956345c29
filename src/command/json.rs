//! The summary of a run as JSON, for machines.

use super::Failure;
use super::source::Source;
use super::summary::Outcome;
use leastaction::output::json::{number, object, text};
use leastaction::{Dynamics, Form, Integrator};

/// One document. Numbers have 17 digits; `constraints` is null for a system without any, and so are numbers that are not finite.
pub(super) fn json(
    source: &Source<'_>,
    integrator: &Integrator,
    dynamics: &mut Dynamics,
    outcome: &Outcome,
) -> Result<String, Failure> {
    let (trajectory, system) = (&outcome.trajectory, dynamics.system().clone());
    let (work, end) = (trajectory.work(), trajectory.end());
    let energies = trajectory.energies(dynamics).map_err(Failure::run)?;
    let [first, last] = [energies.first(), energies.last()].map(|e| number(*e.unwrap_or(&f64::NAN)));
    let energy = object([
        ("start", first),
        ("end", last),
        ("max_relative_error", number(outcome.measured.energy_drift)),
    ]);
    let (position, velocity) = outcome.measured.violations;
    let constraints = match system.facts().constrained {
        true => object([("max_position", number(position)), ("max_velocity", number(velocity))]),
        false => "null".to_owned(),
    };
    let mut velocities = vec![0.0; system.velocities().len()];
    let moving = system.facts().form != Form::Ports;
    if moving {
        dynamics.velocities(&[end.t], &end.block(), &mut velocities).map_err(Failure::run)?;
    }
    let values = |names: &[String], values: &[f64]| {
        let some = names.iter().zip(values).map(|(name, value)| (name.clone(), number(*value)));
        object(some.collect::<Vec<_>>())
    };
    let rates = |names, numbers| if moving { values(names, numbers) } else { "{}".to_owned() };
    let state = object([
        ("t", number(end.t)),
        ("coordinates", values(system.coordinates(), &end.q)),
        ("velocities", rates(system.velocities(), &velocities)),
        ("momenta", rates(system.momenta(), &end.p)),
    ]);
    let members = [
        ("system", text(&source.name)),
        ("method", text(integrator.card().name)),
        ("t", number(end.t)),
        ("steps", work.steps.to_string()),
        ("rejected", work.rejected.to_string()),
        ("evaluations", work.evaluations.to_string()),
        ("compile_s", number(outcome.compile.as_secs_f64())),
        ("wall_s", number(outcome.wall.as_secs_f64())),
        ("energy", energy),
        ("constraints", constraints),
        ("state", state),
    ];
    let lines = members.map(|(name, value)| format!("  {}: {value}", text(name)));
    Ok(format!("{{\n{}\n}}\n", lines.join(",\n")))
}
