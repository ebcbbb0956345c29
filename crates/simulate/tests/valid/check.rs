//! What must hold for every valid model.

use super::write::Model;
use crate::networks::{beside_weights, folder};
use crate::sampled::{FAILED, one_by_one, together};
use leastaction_expr::{Graph, Random};
use leastaction_integrate::{Card, Work};
use leastaction_language::{Setup, format, read, read_in};
use leastaction_mechanics::Term;
use leastaction_simulate::{Overrides, Source};
use std::collections::hash_map::DefaultHasher;
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};
use std::ops::ControlFlow;

/// Whether there was something to check, or what is wrong.
pub(super) type Check = fn(&Model) -> Result<bool, String>;

pub(super) const CHECKS: &[(&str, Check)] = &[
    ("it is valid", is_valid),
    ("formatting changes no meaning", formats),
    ("expressions are read as they are printed", prints),
    ("its Hamiltonian moves it in the same way", has_two_forms),
    ("methods agree", methods_agree),
    ("an ensemble has the bits of its runs", ensemble_is_runs),
];

fn source(model: &Model) -> Source {
    beside_weights(&model.text)
}

fn is_valid(model: &Model) -> Result<bool, String> {
    match source(model).simulation(&Graph::new(), &Overrides::default()) {
        Ok(_) => Ok(true),
        Err(error) => Err(error
            .diagnostics
            .map_or(error.cause.to_string(), |all| all.render("model", &model.text, false))),
    }
}

/// All that a text says, in words.
fn meaning(text: &str) -> Result<String, String> {
    let graph = Graph::new();
    let setup = read_in(&graph, text, &[], Some(folder()), &[])
        .map_err(|errors| errors.render("model", text, false))?;
    let Setup { about, model, start, plan, outputs, invariants, events, drawing, .. } = &setup;
    let equations = model.equations().map_err(|error| error.to_string())?;
    let mut all = format!("{about}\n{equations}\n{plan:?}\n{drawing:?}\n");
    for Term { name, value } in start.iter().chain(outputs).chain(invariants) {
        let _ = writeln!(all, "{name} = {value}");
    }
    for event in events {
        let _ = writeln!(all, "{}: {} {:?} {}", event.name, event.value, event.direction, event.stop);
        for Term { name, value } in event.sets.iter().chain(&event.finally) {
            let _ = writeln!(all, "set {name} = {value}");
        }
    }
    for (name, value) in model.stated_inputs() {
        let _ = writeln!(all, "{name} = {value}");
    }
    Ok(all)
}

/// A text as someone writes it who does not care for spaces.
fn untidy(text: &str) -> String {
    let line = |line: &str| match line.starts_with('#') {
        true => format!("{line}\n"),
        false => {
            line.replace(" = ", "=").replace(", ", " ,\n     ").replace(" + ", "+").replace('[', "[ ")
                + "  # so\n\n\n"
        }
    };
    text.lines().map(line).collect()
}

fn formats(model: &Model) -> Result<bool, String> {
    let tidied = |text: &str| format(text).map_err(|errors| errors.render("model", text, false));
    let known = meaning(&model.text)?;
    for text in [model.text.clone(), untidy(&model.text)] {
        let tidy = tidied(&text)?;
        if tidied(&tidy)? != tidy {
            return Err(format!("formatting twice is another thing:\n{tidy}\n{}", tidied(&tidy)?));
        }
        let found = meaning(&tidy)?;
        if found != known {
            return Err(format!("it means another thing:\n{tidy}\n{known}\n{found}"));
        }
    }
    Ok(true)
}

fn prints(model: &Model) -> Result<bool, String> {
    let graph = Graph::new();
    let setup =
        read_in(&graph, &model.text, &[], Some(folder()), &[]).map_err(|errors| errors.to_string())?;
    let equations = setup.model.equations().map_err(|error| error.to_string())?;
    let terms = setup.outputs.iter().chain(&setup.start).map(|term| term.value);
    let forces = equations.forces();
    let derived = equations
        .hamiltonian()
        .into_iter()
        .chain(equations.accelerations().into_iter().flatten())
        .chain(forces);
    for expression in terms.chain(derived) {
        let text = expression.to_string();
        // What is printed grows with every use of what is shared.
        if text.len() > 20_000 {
            continue;
        }
        let again = graph.parse(&text).map_err(|error| error.render(&text))?;
        if again.id() != expression.id() {
            return Err(format!("`{text}` became `{again}`"));
        }
    }
    Ok(true)
}

/// The model of its Hamiltonian, written down, has the same rates.
fn has_two_forms(model: &Model) -> Result<bool, String> {
    let graph = Graph::new();
    let problem = source(model).problem(&graph, &Overrides::default()).map_err(|error| error.to_string())?;
    let (equations, mut dynamics) = (&problem.equations, problem.dynamics.clone());
    let Some(hamiltonian) = equations.hamiltonian().filter(|_| model.natural).map(|h| h.to_string()) else {
        return Ok(false);
    };
    if hamiltonian.len() > 20_000 {
        return Ok(false);
    }
    let system = dynamics.system().clone();
    let list = |names: &leastaction_expr::Names| names.iter().collect::<Vec<_>>().join(", ");
    let mut text: String =
        system.parameters().iter().map(|(name, value)| format!("param {name} = {value:?}\n")).collect();
    // What occurs more than once stands before, in lines of its own.
    let (shared, last) = hamiltonian.rsplit_once(";\n").unwrap_or(("", &hamiltonian));
    let shared = shared.replace(";\n", "\n");
    let _ = writeln!(
        text,
        "coord {}\nmomentum {}\n{shared}\nhamiltonian {last}",
        list(system.coordinates()),
        list(system.momenta())
    );
    let other_graph = Graph::new();
    let other =
        read(&other_graph, &text, &[]).map_err(|errors| errors.render("hamiltonian", &text, false))?;
    let other = other.model.system().map_err(|error| format!("{error}\n{text}"))?;
    let mut other = other.dynamics().map_err(|error| error.to_string())?;
    let size = system.dimension();
    let mut random = Random::new(7);
    for _ in 0..5 {
        let (t, y) =
            ([random.between(0.0, 2.0)], (0..size).map(|_| random.between(-1.0, 1.0)).collect::<Vec<_>>());
        let (mut one, mut two) = (vec![0.0; size], vec![0.0; size]);
        dynamics.rates(&t, &y, &mut one).map_err(|error| error.to_string())?;
        other.rates(&t, &y, &mut two).map_err(|error| error.to_string())?;
        let unit = one.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        if one.iter().zip(&two).any(|(a, b)| (a - b).abs() > 1e-9 * unit || a.is_nan() != b.is_nan()) {
            return Err(format!("at {t:?}, {y:?}: {one:?} and {two:?}\n{text}"));
        }
    }
    Ok(true)
}

/// Whoever waits for more steps than this gives up.
const PATIENCE: u64 = 100_000;

fn end(model: &Model, asked: &Overrides) -> Result<Vec<f64>, String> {
    let simulation = source(model).simulation(&Graph::new(), asked).map_err(|error| error.to_string())?;
    let run = simulation.run_watched(|moment| match moment.work() {
        Work { steps, rejected, .. } if steps + rejected > PATIENCE => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    let run = run.map_err(|failed| failed.error.to_string())?;
    match run.is_interrupted() {
        true => Err("it does not end".to_owned()),
        false => Ok(run.trajectory.end().block()),
    }
}

/// Methods and the tolerances or steps at which their errors are far below what is compared. Each model is run by the first and by one of the others.
const METHODS: [(&str, Option<f64>, Option<f64>); 6] = [
    ("dop853", Some(1e-12), None),
    ("vern9", Some(1e-12), None),
    ("taylor", Some(1e-12), None),
    ("radau5", Some(1e-10), None),
    ("gauss6", None, Some(0.005)),
    ("rattle6", None, Some(0.005)),
];

fn methods_agree(model: &Model) -> Result<bool, String> {
    if !model.smooth {
        return Ok(false);
    }
    let mut ends = vec![("default settings", end(model, &Overrides::default())?)];
    let graph = Graph::new();
    let problem = source(model).problem(&graph, &Overrides::default()).map_err(|error| error.to_string())?;
    let chosen = [METHODS[0], METHODS[1 + model.text.len() % (METHODS.len() - 1)]];
    for (name, tolerance, step) in chosen {
        let card = Card::named(name).map_err(|error| error.to_string())?;
        if !card.needs.met_by(problem.dynamics.system().facts()) {
            continue;
        }
        let asked = Overrides { method: Some(name.to_owned()), tolerance, step, ..Overrides::default() };
        ends.push((name, end(model, &asked).map_err(|error| format!("{name}: {error}"))?));
    }
    let (_, expected) = &ends[1.min(ends.len() - 1)];
    let unit = expected.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    let off = |found: &[f64]| {
        found
            .iter()
            .zip(expected)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, |m: f64, x| if x > m || x.is_nan() { x } else { m })
            / unit
    };
    for (name, found) in &ends {
        let far = off(found);
        if far <= 1e-6 {
            continue;
        }
        // Where something spins fast, a step of one length is too long; then a shorter one is better by what the order promises.
        let step = METHODS.iter().find(|(other, ..)| other == name).and_then(|(.., step)| *step);
        let finer = step.map(|step| Overrides {
            method: Some((*name).to_owned()),
            step: Some(step / 4.0),
            ..Overrides::default()
        });
        let near = finer.map(|asked| end(model, &asked).map(|found| off(&found))).transpose()?;
        if near.is_none_or(|near| near > 1e-6_f64.max(far / 500.0) || near.is_nan()) {
            return Err(format!(
                "{name} is {far:.1e} off, with shorter steps {near:?}: {found:?} and {expected:?}"
            ));
        }
    }
    Ok(true)
}

/// With the parameter `A` drawn, or a refusal that says where it cannot be.
fn ensemble_is_runs(model: &Model) -> Result<bool, String> {
    if !model.text.lines().any(|line| line.starts_with("param A = 2")) {
        return Ok(false);
    }
    match together(&source(model)) {
        Ok(ends) if ends == one_by_one(&source(model)) => Ok(true),
        Ok(ends) => Err(format!("{ends:x?} and {:x?}", one_by_one(&source(model)))),
        Err(refusal) if refusal.contains("cannot be sampled") => Ok(false),
        // With other values of the parameter an energy may jump on the way, as it does alone.
        Err(refusal) if refusal.starts_with(FAILED) && refusal.contains("the energy jumps") => Ok(false),
        Err(refusal) => Err(refusal),
    }
}

/// A number made of all bits of where a model ends, by default settings, by a method whose steps are compiled whole, and in lanes.
pub(super) fn digest(model: &Model) -> u64 {
    let mut hasher = DefaultHasher::new();
    let compiled =
        Overrides { method: Some("dop853".to_owned()), tolerance: Some(1e-9), ..Overrides::default() };
    for asked in [Overrides::default(), compiled] {
        match end(model, &asked) {
            Ok(end) => end.iter().for_each(|x| x.to_bits().hash(&mut hasher)),
            Err(error) => error.hash(&mut hasher),
        }
    }
    together(&source(model)).hash(&mut hasher);
    hasher.finish()
}
