//! The summary of a run.

use super::source::Source;
use super::{Failure, methods, table};
use leastaction::integrate::number;
use leastaction::language::Event;
use leastaction::{Dynamics, Integrator, Observable, Pace, Projection, State, System, Trajectory, Work};
use std::io::IsTerminal;
use std::time::Duration;

/// A conserved quantity that drifts by more than this, relatively, makes the run worthless.
const WRONG: f64 = 1e-2;

/// A start that is moved by less than this, relatively, was where it should be.
const ROUNDING: f64 = 1e-12;

/// Coordinates at the end are told if there are not more than this.
const FEW: usize = 8;

/// So many times of an event are told.
const FIRST: usize = 3;

/// What became of a run.
pub(super) struct Outcome {
    pub(super) compile: Duration,
    pub(super) wall: Duration,
    pub(super) trajectory: Trajectory,
    /// Why the method was chosen, if it was.
    pub(super) why: Option<String>,
    /// The length of the last step, if steps have one length.
    pub(super) last_step: Option<f64>,
    pub(super) measured: Measured,
    /// How far the start was moved onto constraints, if there are any.
    pub(super) placed: Option<Projection>,
    /// Why the run stopped before its end, if it did.
    pub(super) stopped: Option<String>,
    /// What was written, by kind.
    pub(super) written: Vec<(&'static str, String)>,
}

/// How well a run kept what it should.
pub(super) struct Measured {
    pub(super) energy_drift: f64,
    /// What should not change, by name, and by how much of itself it did.
    pub(super) conserved: Vec<(String, f64)>,
    /// By how much constraints of positions, and what all demand of velocities, are violated at most.
    pub(super) violations: (f64, f64),
}

impl Measured {
    pub(super) fn new(
        trajectory: &Trajectory,
        dynamics: &mut Dynamics,
        watched: &[(String, Observable)],
    ) -> Result<Measured, Failure> {
        let drifted =
            |name: &str, error| Failure::run(format!("the drift of the {name} cannot be told: {error}"));
        let energy_drift = trajectory.energy_drift(dynamics).map_err(|e| drifted("energy", e))?;
        let energy =
            dynamics.system().conserved().contains(&"energy").then(|| ("energy".to_owned(), energy_drift));
        let mut conserved: Vec<_> = energy.into_iter().collect();
        for (name, what) in watched {
            let drift = trajectory.drift(dynamics, *what).map_err(|e| drifted(name, e))?;
            conserved.push((name.clone(), drift));
        }
        let violations = trajectory.violations(dynamics).map_err(|e| drifted("constraints", e))?;
        Ok(Measured { energy_drift, conserved, violations })
    }
}

pub(super) fn summary(
    source: &Source<'_>,
    integrator: &Integrator,
    dynamics: &mut Dynamics,
    outcome: &Outcome,
) -> Result<String, Failure> {
    let (card, trajectory) = (integrator.card(), &outcome.trajectory);
    let (system, work, end) = (dynamics.system().clone(), trajectory.work(), trajectory.end());
    let mut velocities = vec![0.0; system.velocities().len()];
    dynamics.velocities(&[end.t], &end.block(), &mut velocities).map_err(Failure::run)?;
    let energies = trajectory.energies(dynamics).map_err(Failure::run)?;
    let [first, last] = [energies.first(), energies.last()].map(|e| short(*e.unwrap_or(&f64::NAN)));
    let row = |name: &str, text: String| vec![name.to_owned(), text];
    let parameters = system.parameters().iter().zip(dynamics.parameters());
    let parameters = lines(parameters.map(|((name, _), value)| format!("{name} = {}", number(value))));
    let because = outcome.why.iter().map(|why| row("because", why.clone()));
    let mut rows = vec![
        row("system", source.told()),
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
                steps(work, integrator.pace(), outcome.last_step),
                several(work.evaluations, "evaluation"),
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
                "{first} to {last}, {} (relative, {})",
                match (outcome.measured.energy_drift, system.conserved().contains(&"energy")) {
                    (0.0, _) => "the same throughout".to_owned(),
                    (drift, true) => format!("at most {drift:.2e} off"),
                    (drift, false) => format!("changed by up to {drift:.2e}"),
                },
                several(trajectory.len() as u64, "sample")
            ),
        ),
        row("conserved", conserved(&outcome.measured.conserved)),
    ];
    rows.extend(labelled("end", at_end(&system, &end, &velocities)));
    rows.extend(outcome.written.iter().map(|(kind, names)| row(kind, names.clone())));
    let mut insert = |before: &str, more: Vec<Vec<String>>| {
        let place = rows.iter().position(|row| row[0] == before).unwrap_or(0);
        rows.splice(place..place, more);
    };
    insert("method", labelled("parameters", parameters));
    insert("run", because.collect());
    insert("time", outcome.stopped.iter().map(|why| row("stopped", why.clone())).collect());
    insert("end", labelled("events", events(&source.setup.events, trajectory)));
    if let Some(placed) = outcome.placed {
        insert("end", vec![row("constraints", constraints(&system, &placed, outcome.measured.violations))]);
        let begun = trajectory.state(0).unwrap_or_default();
        insert(
            "method",
            moved(dynamics, &begun, &placed)?.map(|text| row("start", text)).into_iter().collect(),
        );
    }
    for (name, drift) in outcome.measured.conserved.iter().filter(|(_, drift)| *drift > WRONG) {
        rows.push(row(
            "warning",
            format!(
                "{name} should not change, and drifted by {drift:.1e} of itself: do not trust this result, try a smaller {}",
                if let Pace::Step(_) = integrator.pace() { "step" } else { "tolerance" }
            ),
        ));
    }
    Ok(table(&fitted(rows, columns())))
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
    let beside = rows.iter().filter_map(|row| row.first()).map(|label| length(label)).max().unwrap_or(0) + 2;
    let room = columns.saturating_sub(beside).max(20);
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
fn labelled(label: &str, texts: Vec<String>) -> Vec<Vec<String>> {
    let labels = std::iter::once(label).chain(std::iter::repeat(""));
    labels.zip(texts).map(|(label, text)| vec![label.to_owned(), text]).collect()
}

/// The state at the end; of a system with many coordinates, only how many there are.
fn at_end(system: &System, end: &State, velocities: &[f64]) -> Vec<String> {
    if system.degrees() > FEW {
        return vec![format!(
            "{} coordinates: `--json` tells all, and `--out FILE` at all times",
            system.degrees()
        )];
    }
    let all =
        [(system.coordinates(), &end.q[..]), (system.velocities(), velocities), (system.momenta(), &end.p)];
    all.into_iter().flat_map(|(names, numbers)| values(names, numbers)).collect()
}

/// How often each event happened, and when first.
fn events(events: &[Event<'_>], trajectory: &Trajectory) -> Vec<String> {
    let told = |(i, event): (usize, &Event<'_>)| {
        let times: Vec<_> = trajectory
            .crossings()
            .iter()
            .filter(|crossing| crossing.event == i)
            .map(|crossing| short(crossing.t))
            .collect();
        let shown = times[..times.len().min(FIRST)].join(", ");
        match times.len() {
            0 => format!("{}: never", event.name),
            1 => format!("{}: once, at t = {shown}", event.name),
            count if count <= FIRST => format!("{}: {count} times, at t = {shown}", event.name),
            count => format!("{}: {count} times, first at t = {shown}", event.name),
        }
    };
    events.iter().enumerate().map(told).collect()
}

/// A number of things.
fn several(count: impl Into<u64>, what: &str) -> String {
    let count = count.into();
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// How many steps of which length.
fn steps(work: Work, pace: &Pace, last: Option<f64>) -> String {
    let count = work.steps;
    let &Pace::Step(step) = pace else {
        return format!("{} ({} rejected) by {pace}", several(count, "step"), work.rejected);
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
fn conserved(quantities: &[(String, f64)]) -> String {
    let told = |(name, drift): &(String, f64)| match *drift {
        0.0 => format!("{name} (exactly)"),
        drift if drift > WRONG => format!("{name} (not kept: {drift:.1e} off)"),
        drift => format!("{name} (to {drift:.1e})"),
    };
    let all: Vec<_> = quantities.iter().map(told).collect();
    if all.is_empty() { "nothing found".to_owned() } else { all.join(", ") }
}

/// How many constraints there are, and how well they were met.
fn constraints(system: &System, placed: &Projection, (position, velocity): (f64, f64)) -> String {
    let (count, rank) = (system.constraints().len(), placed.rank);
    let rank = if rank < count { format!(" ({rank} independent)") } else { String::new() };
    let (positions, worst) = match system.position_constraints() {
        0 => ("", String::new()),
        _ => ("positions and ", format!("{position:.1e} and ")),
    };
    format!("{count}{rank}: {positions}velocities are at most {worst}{velocity:.1e} off")
}

/// How far the start was moved onto constraints, if by more than rounding.
fn moved(dynamics: &mut Dynamics, start: &State, placed: &Projection) -> Result<Option<String>, Failure> {
    let largest = |numbers: &[f64]| numbers.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let mut velocities = vec![0.0; start.q.len()];
    dynamics.velocities(&[start.t], &start.block(), &mut velocities).map_err(Failure::run)?;
    let name = &dynamics.system().coordinates()[placed.farthest];
    let position =
        (placed.moved > ROUNDING * largest(&start.q)).then(|| format!("{name} by {}", roughly(placed.moved)));
    let velocity = (placed.deflected > ROUNDING * largest(&velocities))
        .then(|| format!("velocities by up to {}", roughly(placed.deflected)));
    let changes: Vec<_> = position.into_iter().chain(velocity).collect();
    let told = || format!("the start was moved onto its constraints: {}", changes.join(", "));
    Ok((!changes.is_empty()).then(told))
}

/// Two digits of a number.
fn roughly(value: f64) -> String {
    number(&format!("{value:.1e}").parse().unwrap_or(value))
}

/// Ten digits of a number: as many as a person may want to read.
fn short(value: f64) -> String {
    number(&format!("{value:.9e}").parse().unwrap_or(value))
}

/// Names and values in lines that are not too long.
fn values(names: &[String], values: &[f64]) -> Vec<String> {
    lines(names.iter().zip(values).map(|(name, value)| format!("{name} = {}", short(*value))))
}

/// Items with commas between them, in lines that fit on a terminal of 80 columns beside their label.
fn lines(items: impl Iterator<Item = String>) -> Vec<String> {
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
    use leastaction::language::{self, Direction};
    use leastaction::{Event, Graph, Integrator, Model};

    /// A swing of period 2π: it passes 0 at odd multiples of π/2, and never comes to 2.
    #[test]
    fn events_are_counted() {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let x = model.coordinate("x");
        model.particle("bob", 1.0, [x]);
        model.potential("spring", x * x / 2.0);
        let mut dynamics = model.system().unwrap().dynamics().unwrap();
        let start = dynamics.start(&[("x", 1.0)]).unwrap();
        let event = |name: &str| language::Event {
            name: name.to_owned(),
            value: x,
            direction: Direction::Both,
            stop: false,
        };
        let all = ["passes", "falls", "far"].map(event);
        let [zero, far] = ["x", "x - 2"].map(|text| Event::new(dynamics.observable(text).unwrap()));
        let swings = Integrator::named("gauss8", 0.01).unwrap().event(zero).event(zero.falling()).event(far);
        let told = |until: f64, dynamics: &mut _| events(&all, &swings.run(dynamics, &start, until).unwrap());
        assert_eq!(
            told(13.0, &mut dynamics),
            [
                "passes: 4 times, first at t = 1.570796327, 4.71238898, 7.853981634",
                "falls: 2 times, at t = 1.570796327, 7.853981634",
                "far: never",
            ]
        );
        assert_eq!(told(2.0, &mut dynamics)[1], "falls: once, at t = 1.570796327");
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
        let told = |model: &Model<'_>| {
            let system = model.system().unwrap();
            let mut dynamics = system.dynamics().unwrap();
            dynamics.start(&[("x", 1.0)]).unwrap();
            constraints(&system, &dynamics.placed().unwrap(), (1e-16, 2e-15))
        };
        assert_eq!(told(&model), "1: positions and velocities are at most 1.0e-16 and 2.0e-15 off");
        model.constraint("twin", (x * x + y * y).sqrt(), 1.0);
        assert_eq!(
            told(&model),
            "2 (1 independent): positions and velocities are at most 1.0e-16 and 2.0e-15 off"
        );
        let mut skate = Model::new(&graph);
        let [x, y] = skate.coordinates(["x", "y"]);
        skate.particle("skate", 1.0, [x, y]);
        skate.constraint("edge", skate.velocity(x), x * skate.velocity(y));
        assert_eq!(told(&skate), "1: velocities are at most 2.0e-15 off");
    }
}
