//! The summary of a run.

use super::source::title;
use super::{Failure, methods, table};
use leastaction::expr::Names;
use leastaction::field::CellKind;
use leastaction::integrate::{Drift, Scale, number, rounded};
use leastaction::output::Held;
use leastaction::simulate::{Balanced, Conserved, GlobalError, Measurements, Run, Warning, digits};
use leastaction::{Crossing, Pace, Projection, State, System, Work};
use std::io::IsTerminal;

/// Coordinates at the end are printed if there are at most this many.
const FEW: usize = 8;

/// At most this number of times of an event is printed.
const FIRST: usize = 3;

/// A run, how well it kept what it should, why it stopped before its end if it did, and what was written of it, by kind.
pub(super) fn summary(
    run: &Run,
    measured: &Measurements,
    stopped: Option<&str>,
    written: &[(&'static str, String)],
) -> Result<String, Failure> {
    let (simulation, trajectory) = (&run.simulation, &run.trajectory);
    let (integrator, system) = (&simulation.integrator, simulation.dynamics.system());
    let (card, work, end) = (integrator.card(), trajectory.work(), trajectory.end());
    let velocities = run.end_velocities().map_err(Failure::run)?;
    let [first, last] = [measured.energy.first, measured.energy.last].map(short);
    let row = |name: &str, text: String| vec![name.to_owned(), text];
    let parameters = system.parameters().iter().zip(simulation.dynamics.parameters());
    let parameters = lines(parameters.map(|((name, _), value)| format!("{name} = {}", number(value))));
    let because = simulation.why.iter().map(|why| row("because", why.clone()));
    let mut rows = vec![
        row("system", title(&simulation.name, &simulation.about)),
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
                "t = {} to {} in {}, {}{}",
                number(&trajectory.times()[0]),
                number(&end.t),
                steps(work, integrator.pace(), run.last_step()),
                counted(work.evaluations, "evaluation"),
                if work.iterations > 0 { format!(", {} iterations", work.iterations) } else { String::new() },
            ),
        ),
        row(
            "time",
            format!(
                "{:.3} s to compile, {:.3} s to run",
                simulation.compile.as_secs_f64(),
                run.wall.as_secs_f64()
            ),
        ),
        row(
            "energy",
            format!(
                "{first} to {last}, {} (relative{}, {})",
                match (measured.energy.drift.relative(), measured.energy.conserved) {
                    (0.0, _) if !measured.was_reset() => "the same throughout".to_owned(),
                    (0.0, _) => "the same between resets".to_owned(),
                    (drift, true) if measured.was_reset() =>
                        format!("at most {drift:.2e} off between resets"),
                    (drift, true) => format!("at most {drift:.2e} off"),
                    (drift, false) => format!("changed by up to {drift:.2e}"),
                },
                match measured.energy.drift {
                    Drift { of: Scale::Terms, scale, change } if change > 0.0 => {
                        format!(" to T + |V| = {}", rounded(scale, 3))
                    }
                    _ => String::new(),
                },
                counted(trajectory.len() as u64, "sample")
            ),
        ),
        row(
            if measured.was_reset() { "conserved between resets" } else { "conserved" },
            conserved(&measured.conserved),
        ),
    ];
    let held = run.held(&end).map_err(Failure::run)?;
    rows.extend(labelled("end", at_end(system, &end, &velocities, run.error.as_ref())));
    rows.extend(labelled("held", at_end_held(system, &held)));
    let off = |warning: &Warning| match warning {
        Warning::Drifted { name, .. } | Warning::Unexplained { name, .. } => name == "energy",
        _ => false,
    };
    let accuracy = match &run.error {
        // Both runs may have the same fault. What the text calls an invariant may be none.
        Some(error) if error.digits() > 0 && measured.warnings.iter().any(off) => {
            format!("not known, as the warning says; else {error}")
        }
        Some(error) => error.to_string(),
        None => "not known".to_owned(),
    };
    rows.push(row("accuracy", accuracy));
    rows.extend(written.iter().map(|(kind, names)| row(kind, names.clone())));
    let mut insert = |before: &str, more: Vec<Vec<String>>| {
        let place = rows.iter().position(|row| row[0] == before).unwrap_or(0);
        rows.splice(place..place, more);
    };
    insert("method", labelled("mesh", meshes(run)));
    insert("method", labelled("parameters", parameters));
    let kept = if measured.was_reset() { "conserved between resets" } else { "conserved" };
    insert(
        kept,
        measured.energy.resets.iter().map(|resets| row("resets", reset(*resets, measured))).collect(),
    );
    insert(kept, measured.work.iter().map(|work| row("work", worked(work))).collect());
    insert(kept, labelled("fields", fields(run)?));
    insert("run", because.collect());
    insert("time", stopped.iter().map(|why| row("stopped", (*why).to_owned())).collect());
    insert("end", labelled("events", events(run)));
    if let Some(placed) = simulation.placed {
        insert("end", vec![row("constraints", constraints(system, &placed, measured))]);
    }
    let (doubts, others): (Vec<_>, Vec<_>) =
        measured.warnings.iter().partition(|warning| matches!(warning, Warning::Doubtful(_)));
    let (moved, drifted): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|w| matches!(w, Warning::Moved { .. } | Warning::Assembled { .. }));
    insert("method", doubts.iter().map(|doubt| row("note", doubt.to_string())).collect());
    insert("method", moved.iter().map(|warning| row("start", warning.to_string())).collect());
    rows.extend(drifted.iter().map(|warning| row("warning", warning.to_string())));
    Ok(rows_of(rows))
}

/// Rows of a label and a text, as they fit on the terminal.
pub(super) fn rows_of(rows: Vec<Vec<String>>) -> String {
    table(&fitted(rows, columns()))
}

/// How often events set numbers, and how that changed energy and momenta.
fn reset((energy, count): (f64, usize), measured: &Measurements) -> String {
    let others =
        measured.conserved.iter().filter(|quantity| quantity.name != "energy" && quantity.brought != 0.0);
    let others: String =
        others.map(|quantity| format!(", {} by {}", quantity.name, rounded(quantity.brought, 6))).collect();
    match count {
        0 => "none".to_owned(),
        _ => format!(
            "{}, which changed the energy by {}{others}",
            counted(count as u64, "reset"),
            rounded(energy, 6)
        ),
    }
}

/// What was done, and whether the energy changed by that.
fn worked(work: &Balanced) -> String {
    // What is less than rounding of the rest is nothing.
    let number =
        |value: f64| if value.abs() < 1e-13 * work.scale { "0".to_owned() } else { rounded(value, 6) };
    let [supplied, dissipated] = [work.supplied, work.dissipated].map(number);
    let closes = match work.relative() {
        0.0 => "the balance closes exactly".to_owned(),
        off => format!("the balance closes to {off:.1e}"),
    };
    format!("{supplied} supplied, {dissipated} dissipated: {closes}")
}

/// What there is of each mesh.
fn meshes(run: &Run) -> Vec<String> {
    let lines = run.simulation.mesh_sizes().into_iter().map(|mesh| {
        let cells = mesh.cells.iter().map(|(kind, count)| match (kind, count) {
            (CellKind::Tetrahedron, 2..) => format!(", {count} tetrahedra"),
            _ => format!(", {}", counted(*count as u64, kind.name())),
        });
        let free = 3 * mesh.nodes - mesh.held;
        let held = if mesh.held > 0 { format!(", {} held", mesh.held) } else { String::new() };
        let nodes = counted(mesh.nodes as u64, "node");
        let degrees = if free == 1 { "degree" } else { "degrees" };
        format!("{}: {nodes}{}; {free} {degrees} of freedom{held}", mesh.name, cells.collect::<String>())
    });
    lines.collect()
}

/// Each field with its share of the energy.
fn fields(run: &Run) -> Result<Vec<String>, Failure> {
    let shares = run.field_shares().map_err(Failure::run)?;
    let lines = shares.iter().map(|share| {
        let [first, last] = [share.first, share.last].map(|energy| rounded(energy, 5));
        match share.field {
            Some(field) => {
                let (over, count) = (field.over.name(), field.elements);
                format!("{} on {}: {first} to {last}, {count} {over}", field.name, share.mesh)
            }
            None => format!("kinetic of {}: {first} to {last}", share.mesh),
        }
    });
    Ok(lines.collect())
}

/// How wide standard output is, if it is a terminal.
fn columns() -> Option<usize> {
    let width = std::io::stdout().is_terminal().then(|| crossterm::terminal::size().ok()).flatten();
    width.map(|(columns, _)| usize::from(columns))
}

/// Rows of a label and a text, with texts that are too long for a terminal continued below.
fn fitted(rows: Vec<Vec<String>>, columns: Option<usize>) -> Vec<Vec<String>> {
    let Some(columns) = columns else { return rows };
    let length = |text: &str| text.chars().count();
    let indent = rows.iter().filter_map(|row| row.first()).map(|label| length(label)).max().unwrap_or(0) + 2;
    let room = columns.saturating_sub(indent).max(20);
    let wrap = |text: &str| {
        let mut lines = vec![String::new()];
        for word in text.split(' ') {
            let last = lines.len() - 1;
            if !lines[last].is_empty() && length(&lines[last]) + 1 + length(word) > room {
                lines.push(word.to_owned());
            } else {
                lines[last] =
                    if lines[last].is_empty() { word.to_owned() } else { format!("{} {word}", lines[last]) };
            }
        }
        lines
    };
    rows.into_iter().flat_map(|row| labelled(&row[0], wrap(&row[1]))).collect()
}

/// Rows of which the first has a label.
pub(super) fn labelled(label: &str, texts: Vec<String>) -> Vec<Vec<String>> {
    let labels = std::iter::once(label).chain(std::iter::repeat(""));
    labels.zip(texts).map(|(label, text)| vec![label.to_owned(), text]).collect()
}

/// The state at the end; of a system with many coordinates, only how many there are.
fn at_end(system: &System, end: &State, velocities: &[f64], error: Option<&GlobalError>) -> Vec<String> {
    if system.degrees() > FEW {
        return vec![format!(
            "{} coordinates: `--json` tells all, and `--out FILE` at all times",
            system.degrees()
        )];
    }
    let errors = error.map(|error| [&error.coordinates, &error.velocities, &error.momenta]);
    let errors = errors.map_or([None; 3], |errors| errors.map(|errors| Some(errors.as_slice())));
    let all =
        [(system.coordinates(), &end.q[..]), (system.velocities(), velocities), (system.momenta(), &end.p)];
    let states = system.states();
    let own = |place: &usize| states.iter().all(|(state, _)| state != place);
    let mechanical: Vec<usize> = (0..system.degrees()).filter(own).collect();
    let mut rows: Vec<String> = all
        .into_iter()
        .zip(errors)
        .flat_map(|((names, numbers), errors)| {
            let shown =
                |numbers: &[f64]| mechanical.iter().filter_map(|&i| numbers.get(i).copied()).collect();
            let own: Names = mechanical.iter().filter(|&&i| i < names.len()).map(|&i| names.at(i)).collect();
            let (numbers, errors): (Vec<f64>, Option<Vec<f64>>) = (shown(numbers), errors.map(shown));
            values(&own, &numbers, errors.as_deref())
        })
        .collect();
    if !states.is_empty() {
        let names: Names = states.iter().map(|(_, name)| name.clone()).collect();
        let of = |numbers: &[f64]| states.iter().map(|(i, _)| numbers[*i]).collect::<Vec<f64>>();
        rows.extend(values(&names, &of(&end.p), errors[2].map(of).as_deref()));
    }
    rows
}

/// Coordinates; of many, only how many there are.
pub(super) fn at_places(names: &Names, q: &[f64]) -> Vec<String> {
    match names.len() {
        0..=FEW => values(names, q, None),
        many => vec![format!("{many} coordinates: `--json` tells all, and `--out FILE`")],
    }
}

/// Coordinates that constraints hold, at the end: they are what they must be. What holds them is in files.
fn at_end_held(system: &System, held: &Held<f64>) -> Vec<String> {
    let names = Held::names(system);
    let all = [(names.coordinates, &held.coordinates), (names.velocities, &held.velocities)];
    match system.held().len() {
        0..=FEW => all
            .into_iter()
            .flat_map(|(names, list)| values(&names.into_iter().collect(), list, None))
            .collect(),
        many => vec![format!("{many} coordinates: `--json` tells all, and `--out FILE` at all times")],
    }
}

/// Every event of a run, with how far the times of its crossings may be off.
fn events(run: &Run) -> Vec<String> {
    let lines = run.simulation.events.iter().enumerate().map(|(i, name)| {
        let all = run.trajectory.crossings().iter().enumerate();
        let error = |nth: usize| run.error.as_ref().and_then(|error| error.crossings.get(nth)).copied();
        let own =
            all.filter(|(_, crossing)| crossing.event == i).map(|(nth, crossing)| (crossing, error(nth)));
        let rests = run.trajectory.rests(i).map(|t| format!(", at rest from t = {}", rounded(t, 10)));
        event(name, &own.collect::<Vec<_>>()) + &rests.collect::<String>()
    });
    lines.collect()
}

/// How often an event happened, and when first.
fn event(name: &str, crossings: &[(&Crossing, Option<f64>)]) -> String {
    let times: Vec<_> =
        crossings.iter().take(FIRST).map(|(crossing, error)| certain(crossing.t, *error)).collect();
    let shown = times.join(", ");
    match crossings.len() {
        0 => format!("{name}: never"),
        1 => format!("{name}: once, at t = {shown}"),
        count if count <= FIRST => format!("{name}: {count} times, at t = {shown}"),
        count => format!("{name}: {count} times, first at t = {shown}"),
    }
}

/// A number of things, in words.
pub(super) fn counted(count: impl Into<u64>, what: &str) -> String {
    let count = count.into();
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// How many steps of which length.
fn steps(work: Work, pace: &Pace, last: Option<f64>) -> String {
    let count = work.steps;
    let &Pace::Step(step) = pace else {
        return format!("{} ({} rejected) by {pace}", counted(count, "step"), work.rejected);
    };
    let last = last.unwrap_or(step);
    let (step, last, even) = (number(&step), short(last), step == last);
    match count {
        1 => format!("1 step of {last}"),
        2 if !even => format!("1 step of {step} and one of {last}"),
        _ if !even => format!("{} steps of {step} and one of {last}", count - 1),
        _ => format!("{count} steps of {step}"),
    }
}

/// What is conserved, and how well it was.
fn conserved(quantities: &[Conserved]) -> String {
    let quantity_text = |Conserved { name, drift, .. }: &Conserved| {
        let of = match drift.of {
            Scale::Start => "",
            Scale::Terms if name == "energy" => " of T + |V|",
            Scale::Terms => " of its terms",
        };
        match drift.relative() {
            0.0 => format!("{name} (exactly)"),
            drift if Measurements::is_wrong(drift) => format!("{name} (not kept: {drift:.1e}{of} off)"),
            drift => format!("{name} (to {drift:.1e}{of})"),
        }
    };
    /// If there are more, those that are conserved worst are printed.
    const MOST: usize = 24;
    let mut shown: Vec<_> = quantities.iter().collect();
    if shown.len() > MOST {
        shown.sort_by(|a, b| b.drift.relative().total_cmp(&a.drift.relative()));
    }
    let all: Vec<_> = shown.iter().take(MOST).map(|quantity| quantity_text(quantity)).collect();
    match quantities.len().saturating_sub(MOST) {
        0 if all.is_empty() => "nothing found".to_owned(),
        0 => all.join(", "),
        more => format!("{}, and {more} more no worse than these", all.join(", ")),
    }
}

/// How many constraints there are, and how well they were met.
fn constraints(system: &System, placed: &Projection, measured: &Measurements) -> String {
    let (position, velocity) = (measured.position_violation, measured.velocity_violation);
    let (count, rank) = (system.constraints().len(), placed.rank);
    let rank = if rank < count { format!(" ({rank} independent)") } else { String::new() };
    let (positions, worst) = match system.position_constraints() {
        0 => ("", String::new()),
        _ => ("positions and ", format!("{position:.1e} and ")),
    };
    format!("{count}{rank}: {positions}velocities are at most {worst}{velocity:.1e} off")
}

/// Ten digits of a number: as many as a person may want to read.
fn short(value: f64) -> String {
    rounded(value, 10)
}

/// The digits of a number that are certain, but not more than a person may want to read.
fn certain(value: f64, error: Option<f64>) -> String {
    match error {
        None => short(value),
        Some(0.0) => short(value),
        Some(error) if error.is_infinite() || error.is_nan() => format!("{} ± ?", rounded(value, 1)),
        Some(error) => match digits(value, error) {
            0 => format!("{} ± {}", rounded(value, 1), rounded(error, 1)),
            digits => rounded(value, digits.min(10) as usize),
        },
    }
}

/// Names and values in lines that are not too long, as far as they are certain.
fn values(names: &Names, values: &[f64], errors: Option<&[f64]>) -> Vec<String> {
    let error = |i: usize| errors.and_then(|errors| errors.get(i)).copied();
    let values = names.iter().zip(values).enumerate();
    lines(values.map(|(i, (name, value))| format!("{name} = {}", certain(*value, error(i)))))
}

/// Items with commas between them, in lines that fit on a terminal of 80 columns beside their label.
pub(super) fn lines(items: impl Iterator<Item = String>) -> Vec<String> {
    const WIDTH: usize = 66;
    let mut lines: Vec<String> = Vec::new();
    for item in items {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 2 + item.chars().count() <= WIDTH => {
                line.push_str(", ");
                line.push_str(&item);
            }
            Some(line) => {
                line.push(',');
                lines.push(item);
            }
            None => lines.push(item),
        }
    }
    lines
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may panic
mod tests {
    use super::{constraints, events, fitted, lines};
    use leastaction::language::Setup;
    use leastaction::simulate::{Measurements, Overrides, Simulation, Source};
    use leastaction::{Graph, Model, Term};

    /// A swing of period 2π: it passes 0 at odd multiples of π/2, and never comes to 2.
    #[test]
    fn events_are_counted() {
        let text = "coord x\nkinetic x'^2/2\npotential x^2/2\nstart x = 1\nrun method gauss8, step 0.01\n\
                    event passes: x = 0\nevent falls: x = 0, falling\nevent far: x = 2";
        let swing = Source::text("swing", text);
        let events_until = |until: f64| {
            let asked = Overrides { until: Some(until), ..Overrides::default() };
            let run = swing.simulation(&Graph::new(), &asked).unwrap().run().unwrap();
            events(&run)
        };
        assert_eq!(
            events_until(13.0),
            [
                "passes: 4 times, first at t = 1.570796327, 4.71238898, 7.853981634",
                "falls: 2 times, at t = 1.570796327, 7.853981634",
                "far: never",
            ]
        );
        assert_eq!(events_until(2.0)[1], "falls: once, at t = 1.570796327");
    }

    #[test]
    fn texts_fit_on_a_terminal() {
        let rows = || vec![vec!["method".to_owned(), "one two three four five six seven".to_owned()]];
        assert_eq!(fitted(rows(), None), rows());
        assert_eq!(fitted(rows(), Some(80)), rows());
        let narrow = fitted(rows(), Some(28));
        assert_eq!(narrow, [["method", "one two three four"], ["", "five six seven"]]);
    }

    #[test]
    fn lines_fit_on_a_terminal() {
        let items = |n: usize| lines((0..n).map(|i| format!("x{i} = {}", "1".repeat(20))));
        assert_eq!(items(0), [""; 0]);
        assert_eq!(items(2).len(), 1);
        assert!(items(7).len() == 4 && items(7)[0].ends_with("1,") && items(7)[3].ends_with('1'));
        assert!(items(7).iter().all(|line| line.len() <= 67));
    }

    #[test]
    fn redundant_constraints_are_counted() {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let [x, y] = model.coordinates(["x", "y"]);
        model.particle("bob", 1.0, [x, y]);
        model.constraint("rod", x * x + y * y, 1.0);
        let line = |model: &Model<'_>| {
            let mut setup = Setup::new(model.clone());
            setup.start = vec![Term { name: "x".to_owned(), value: model.graph().number(1.0) }];
            setup.plan.until = 0.0;
            let run = Simulation::of(setup, &Overrides::default()).unwrap().run().unwrap();
            let measured = Measurements {
                position_violation: 1e-16,
                velocity_violation: 2e-15,
                ..run.measure().unwrap()
            };
            constraints(run.simulation.dynamics.system(), &run.simulation.placed.unwrap(), &measured)
        };
        assert_eq!(line(&model), "1: positions and velocities are at most 1.0e-16 and 2.0e-15 off");
        model.constraint("twin", (x * x + y * y).sqrt(), 1.0);
        assert_eq!(
            line(&model),
            "2 (1 independent): positions and velocities are at most 1.0e-16 and 2.0e-15 off"
        );
        let mut skate = Model::new(&graph);
        let [x, y] = skate.coordinates(["x", "y"]);
        skate.particle("skate", 1.0, [x, y]);
        skate.constraint("edge", skate.velocity(x), x * skate.velocity(y));
        assert_eq!(line(&skate), "1: velocities are at most 2.0e-15 off");
    }
}
