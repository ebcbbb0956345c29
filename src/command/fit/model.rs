//! The model with fitted values, as a text.

use leastaction::fit::Fit;
use leastaction::language::restate;
use leastaction::output::replace;
use leastaction::simulate::{Overrides, Source};
use leastaction::{Graph, State};
use std::path::{Path, PathBuf};

/// Values that are read back are off by no more than rounding.
const SAME: f64 = 1e-9;

/// Reads the name of a model's file.
pub(super) fn motion_file(name: &str) -> Result<PathBuf, String> {
    match Path::new(name).extension() {
        Some(end) if end == "motion" => Ok(PathBuf::from(name)),
        _ => Err("the name should end in .motion".to_owned()),
    }
}

/// Writes the model with fitted parameters, and with the fitted start if there is one recording. Gives what there is to say of it.
pub(super) fn write(path: &Path, fit: &Fit, source: &Source, asked: &Overrides) -> Result<String, String> {
    let failed = |why: &dyn std::fmt::Display| format!("`{}` is not written: {why}", path.display());
    let mut values: Vec<(String, f64)> = asked.parameters.clone();
    for estimate in fit.estimates.iter().filter(|estimate| estimate.recording.is_none()) {
        values.retain(|(name, _)| *name != estimate.name);
        values.push((estimate.name.clone(), estimate.value));
    }
    let system = |text: &str| {
        let read = Source::text(&source.name, text).in_folder(source.folder().unwrap_or(Path::new("")));
        let graph = Graph::new();
        let problem = read.problem(&graph, &Overrides::default()).map_err(|error| failed(&error))?;
        let named = problem.dynamics.system().parameters().iter().map(|(name, _)| name.clone());
        let parameters: Vec<(String, f64)> =
            named.zip(problem.dynamics.parameters().iter().copied()).collect();
        Ok::<_, String>((problem.start, parameters, problem.dynamics.system().facts().autonomous))
    };
    // A model that includes others is written with what they say.
    let whole = source.whole().map_err(|error| failed(&error))?;
    let text = restate(&whole, &values, &[]).map_err(|error| failed(&error))?;
    let (_, parameters, autonomous) = system(&text)?;
    let off = |(name, value): &(String, f64)| {
        let found = parameters.iter().find(|(other, _)| other == name);
        found.is_none_or(|(_, found)| (found - value).abs() > SAME * value.abs())
    };
    if let Some((name, _)) = values.iter().find(|value| off(value)) {
        return Err(failed(&format!("`{name}` would not have its value in it")));
    }
    let (text, more) = match &fit.recordings[..] {
        [_, _, ..] => (text, ", without starts: each recording has its own".to_owned()),
        [one] if one.begin != 0.0 && !autonomous => {
            (text, format!(", without a start: it would be at t = {}", one.begin))
        }
        _ => {
            let start: Vec<(String, f64)> = asked.start.iter().cloned().chain(fit.start(0)).collect();
            let full = restate(&whole, &values, &start).map_err(|error| failed(&error))?;
            // Bodies say their starts in other words.
            match system(&full) {
                Ok((found, ..)) if begins(&found, fit) => (full, String::new()),
                _ => (text, ", without a start: the text says it in another way".to_owned()),
            }
        }
    };
    replace(path, |file| file.write_all(text.as_bytes())).map_err(|error| error.to_string())?;
    Ok(more)
}

/// Whether a state is the fitted one, as far as that tells coordinates.
fn begins(state: &State, fit: &Fit) -> bool {
    let places = fit.estimates.iter().filter(|estimate| estimate.recording.is_some()).zip(&state.q);
    let size = state.q.iter().fold(1.0, |m: f64, q| m.max(q.abs()));
    // Coordinates come first; a start that is known in parts is in another order.
    fit.start(0).len() != state.q.len() + state.p.len()
        || places.take(state.q.len()).all(|(estimate, q)| (estimate.value - q).abs() <= 1e-6 * size)
}
