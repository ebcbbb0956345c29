//! The summary of a run as JSON, for machines.

use super::Failure;
use leastaction::Form;
use leastaction::expr::Names;
use leastaction::output::json::{list, number, object, text};
use leastaction::simulate::{Measurements, Run, Warning};

/// One document. Numbers have 17 digits; `constraints` is null for a system without any, and so are numbers that are not finite.
pub(super) fn json(run: &Run, measured: &Measurements) -> Result<String, Failure> {
    let (simulation, system) = (&run.simulation, run.simulation.dynamics.system());
    let (work, end) = (run.trajectory.work(), run.trajectory.end());
    let energy = object([
        ("start", number(measured.energy.first)),
        ("end", number(measured.energy.last)),
        ("max_relative_error", number(measured.energy.drift)),
    ]);
    let constraints = match system.facts().constrained {
        true => object([
            ("max_position", number(measured.position_violation)),
            ("max_velocity", number(measured.velocity_violation)),
        ]),
        false => "null".to_owned(),
    };
    let moving = system.facts().form != Form::Ports;
    let velocities = if moving { run.end_velocities().map_err(Failure::run)? } else { Vec::new() };
    let values = |names: &Names, values: &[f64]| {
        let some = names.iter().zip(values).map(|(name, value)| (name, number(*value)));
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
        ("system", text(&simulation.name)),
        ("method", text(simulation.integrator.card().name)),
        ("t", number(end.t)),
        ("steps", work.steps.to_string()),
        ("rejected", work.rejected.to_string()),
        ("evaluations", work.evaluations.to_string()),
        ("compile_s", number(simulation.compile.as_secs_f64())),
        ("wall_s", number(run.wall.as_secs_f64())),
        ("energy", energy),
        ("constraints", constraints),
        ("state", state),
        ("warnings", list(measured.warnings.iter().map(warning))),
    ];
    let lines = members.map(|(name, value)| format!("  {}: {value}", text(name)));
    Ok(format!("{{\n{}\n}}\n", lines.join(",\n")))
}

fn warning(warning: &Warning) -> String {
    object([("code", text(warning.code())), ("message", text(&warning.to_string()))])
}
