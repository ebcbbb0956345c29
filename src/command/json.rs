//! The summary of a run as JSON, for machines.

use super::Failure;
use leastaction::expr::Names;
use leastaction::integrate::{Drift, Scale};
use leastaction::mechanics::multiplier;
use leastaction::output::Held;
use leastaction::output::json::{list, number, object, text};
use leastaction::simulate::{
    Balanced, Conserved, Diagnosis, FieldShare, Measurements, Others, Reduced, Run, Warning,
};
use leastaction::{Form, RunError, State};

/// What there is to say besides the run itself.
pub(super) struct Ending<'a> {
    /// How the run ended: `complete`, or why before its time.
    pub(super) ended: &'a str,
    /// What was measured, if it could be.
    pub(super) measured: Option<&'a Measurements>,
    /// Why the run failed, if it did, and what is known of that.
    pub(super) failure: Option<(&'a RunError, Option<&'a Diagnosis>)>,
    /// What was asked of the whole run.
    pub(super) reduced: Reduced,
}

/// One document. Numbers have 17 digits; `constraints` is null for a system without any, and so is what is not known, and numbers that are not finite.
pub(super) fn json(run: &Run, ending: &Ending<'_>) -> Result<String, Failure> {
    let (simulation, system) = (&run.simulation, run.simulation.dynamics.system());
    let (work, end, integrator) = (run.trajectory.work(), run.trajectory.end(), &simulation.integrator);
    let moving = system.facts().form != Form::Ports;
    let values = |names: &Names, values: &[f64]| {
        let some = names.iter().zip(values).map(|(name, value)| (name, number(*value)));
        object(some.collect::<Vec<_>>())
    };
    let rates =
        |names: &Names, numbers: &[f64]| if moving { values(names, numbers) } else { "{}".to_owned() };
    let held = Held::names(system);
    let state = |state: &State| -> Result<String, Failure> {
        let velocities = if moving { run.velocities(state).map_err(Failure::run)? } else { Vec::new() };
        let multipliers = run.multipliers(state).map_err(Failure::run)?;
        let values_held = run.held(state).map_err(Failure::run)?;
        let with_held =
            |names: &mut dyn Iterator<Item = String>, own: &[f64], held: &[String], more: &[f64]| {
                let all = names.zip(own).chain(held.iter().cloned().zip(more));
                object(all.map(|(name, value)| (name, number(*value))).collect::<Vec<_>>())
            };
        let constraints = system.constraints().iter().map(|(name, _)| multiplier(name));
        let mut members = vec![
            ("t", number(state.t)),
            (
                "coordinates",
                with_held(
                    &mut system.coordinates().iter(),
                    &state.q,
                    &held.coordinates,
                    &values_held.coordinates,
                ),
            ),
            (
                "velocities",
                with_held(
                    &mut system.velocities().iter(),
                    &velocities,
                    &held.velocities,
                    &values_held.velocities,
                ),
            ),
            ("momenta", rates(system.momenta(), &state.p)),
            (
                "multipliers",
                with_held(&mut { constraints }, &multipliers, &held.reactions, &values_held.reactions),
            ),
        ];
        let states = system.states().iter().map(|(i, name)| (name, number(state.p[*i])));
        let states: Vec<_> = states.collect();
        members.extend((!states.is_empty()).then(|| ("states", object(states))));
        Ok(object(members))
    };
    let accuracy = run.error.as_ref().map(|error| {
        object([
            ("digits", error.digits().to_string()),
            ("t", number(error.t)),
            ("max_relative_error", number(error.relative)),
            ("coordinates", values(system.coordinates(), &error.coordinates)),
            ("velocities", rates(system.velocities(), &error.velocities)),
            ("momenta", rates(system.momenta(), &error.momenta)),
            ("compared_with", text(&error.companion.to_string())),
        ])
    });
    let parameters = system.parameters().iter().zip(simulation.dynamics.parameters());
    let outputs = run.end_outputs().map_err(Failure::run)?;
    let null = || "null".to_owned();
    let measured = ending.measured;
    let mut members = vec![
        ("system", text(&simulation.name)),
        ("ended", text(ending.ended)),
        ("failure", ending.failure.map_or_else(null, |(error, diagnosis)| failure(error, diagnosis))),
        ("warnings", list(measured.iter().flat_map(|measured| &measured.warnings).map(warning))),
        ("parameters", object(parameters.map(|((name, _), value)| (name, number(*value))))),
        ("method", text(integrator.card().name)),
        ("pace", text(&integrator.pace().to_string())),
        ("because", simulation.why.as_ref().map_or_else(null, |why| text(why))),
        ("t", number(end.t)),
        ("steps", work.steps.to_string()),
        ("rejected", work.rejected.to_string()),
        ("evaluations", work.evaluations.to_string()),
        ("compile_s", number(simulation.compile.as_secs_f64())),
        ("wall_s", number(run.wall.as_secs_f64())),
        ("energy", measured.map_or_else(null, energy)),
        ("work", measured.and_then(|measured| measured.work.as_ref()).map_or_else(null, worked)),
        ("conserved", measured.map_or_else(null, |measured| list(measured.conserved.iter().map(conserved)))),
        ("meshes", list(meshes(run)?)),
        ("constraints", measured.filter(|_| system.facts().constrained).map_or_else(null, constraints)),
        ("start", state(&simulation.start)?),
        ("state", state(&end)?),
        ("accuracy", accuracy.unwrap_or_else(null)),
        ("outputs", object(outputs.into_iter().map(|(name, value)| (name, number(value))))),
        ("events", list(events(run))),
    ];
    if !ending.reduced.values.is_empty() {
        let values = ending.reduced.values.iter().map(|(what, value)| (what, number(*value)));
        members.push(("reduced", object(values)));
    }
    let lines = members.into_iter().map(|(name, value)| format!("  {}: {value}", text(name)));
    Ok(format!("{{\n{}\n}}\n", lines.collect::<Vec<_>>().join(",\n")))
}

/// Every mesh with its size, and its fields with their energies.
fn meshes(run: &Run) -> Result<Vec<String>, Failure> {
    let shares = run.field_shares().map_err(Failure::run)?;
    let all = run.simulation.mesh_sizes().into_iter().map(|mesh| {
        let own = || shares.iter().filter(|share| share.mesh == mesh.name);
        let energies = |share: &FieldShare<'_>| {
            [("energy_start", number(share.first)), ("energy_end", number(share.last))]
        };
        let fields = own().filter_map(|share| {
            let field = share.field?;
            let size = [
                ("name", text(&field.name)),
                ("over", text(field.over.name())),
                ("elements", field.elements.to_string()),
            ];
            Some(object(size.into_iter().chain(energies(share))))
        });
        let kinetic = own().find(|share| share.field.is_none()).map(|share| object(energies(share)));
        let cells = mesh.cells.iter().map(|(kind, count)| (kind.name(), count.to_string()));
        object([
            ("name", text(mesh.name)),
            ("nodes", mesh.nodes.to_string()),
            ("cells", object(cells.collect::<Vec<_>>())),
            ("held", mesh.held.to_string()),
            ("kinetic", kinetic.unwrap_or_else(|| "null".to_owned())),
            ("fields", list(fields)),
        ])
    });
    Ok(all.collect())
}

fn energy(measured: &Measurements) -> String {
    let mut members = vec![("start", number(measured.energy.first)), ("end", number(measured.energy.last))];
    members.extend(drift(&measured.energy.drift));
    members.push(("conserved", (measured.energy.conserved && !measured.was_reset()).to_string()));
    if let Some((brought, count)) = measured.energy.resets {
        members.extend([("resets", count.to_string()), ("by_resets", number(brought))]);
    }
    object(members)
}

/// What was done on the energy and lost of it, and what is left besides.
fn worked(work: &Balanced) -> String {
    object([
        ("supplied", number(work.supplied)),
        ("dissipated", number(work.dissipated)),
        ("residual", number(work.residual)),
        ("scale", number(work.scale)),
    ])
}

fn conserved(Conserved { name, drift: change, brought }: &Conserved) -> String {
    let resets = (*brought != 0.0).then(|| ("by_resets", number(*brought)));
    object(std::iter::once(("name", text(name))).chain(drift(change)).chain(resets))
}

fn constraints(measured: &Measurements) -> String {
    object([
        ("max_position", number(measured.position_violation)),
        ("max_velocity", number(measured.velocity_violation)),
    ])
}

/// A change, and what it is measured by: the size at the start, or the sum of the sizes of the terms.
fn drift(drift: &Drift) -> [(&'static str, String); 4] {
    let relative_to = match drift.of {
        Scale::Start => "start",
        Scale::Terms => "terms",
    };
    [
        ("max_relative_error", number(drift.relative())),
        ("max_change", number(drift.change)),
        ("scale", number(drift.scale)),
        ("relative_to", text(relative_to)),
    ]
}

/// Every event with all its times, the way it was crossed there, and how far the times may be off.
fn events(run: &Run) -> Vec<String> {
    let all = run.simulation.events.iter().enumerate().map(|(i, name)| {
        let crossings = || run.trajectory.crossings().iter().enumerate().filter(|(_, c)| c.event == i);
        let error = |nth: usize| run.error.as_ref().and_then(|error| error.crossings.get(nth));
        object([
            ("name", text(name)),
            ("count", crossings().count().to_string()),
            ("times", list(crossings().map(|(_, crossing)| number(crossing.t)))),
            ("rising", list(crossings().map(|(_, crossing)| crossing.rising.to_string()))),
            ("at_rest", list(run.trajectory.rests(i).map(number))),
            (
                "errors",
                list(crossings().map(|(nth, _)| error(nth).map_or("null".to_owned(), |e| number(*e)))),
            ),
        ])
    });
    all.collect()
}

pub(super) fn warning(warning: &Warning) -> String {
    object([("code", text(warning.code())), ("message", text(&warning.to_string()))])
}

fn failure(error: &RunError, diagnosis: Option<&Diagnosis>) -> String {
    let mut members = vec![("message", text(&error.to_string()))];
    if let Some(Diagnosis { t, name, value, rate, tried, pole, unstable, others }) = diagnosis {
        members.extend([
            ("t", number(*t)),
            ("name", text(name)),
            ("value", number(*value)),
            ("rate", number(*rate)),
            ("tried", text(tried)),
            ("pole", pole.as_ref().map_or("null".to_owned(), |name| text(name))),
            ("stable_up_to", unstable.map_or("null".to_owned(), |[_, limit]| number(limit))),
        ]);
        let passes = match others {
            Some(Others::Passes { method, tolerance, .. }) => {
                object([("method", text(method)), ("tolerance", number(*tolerance))])
            }
            Some(Others::Fail { .. }) | None => "null".to_owned(),
        };
        members.push(("passed_by", passes));
    }
    object(members)
}
