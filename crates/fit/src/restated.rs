//! The model with fitted values, as a text.

use crate::fitted::Fit;
use leastaction_expr::Graph;
use leastaction_integrate::number;
use leastaction_language::{Errors, RestateError, restate};
use leastaction_mechanics::State;
use leastaction_simulate::{Overrides, PrepareError, Source};
use std::fmt;
use std::path::Path;

/// Values that are read back are off by no more than rounding.
const SAME: f64 = 1e-9;

/// What the text of a fitted model says of the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Restated {
    /// It begins as was fitted.
    Whole,
    /// Each of several recordings has a start of its own, and the text none of these.
    Several,
    /// The start would be at this time, and the motion depends on time.
    Late(f64),
    /// The text says its start in other words.
    Otherwise,
}

impl fmt::Display for Restated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Restated::Whole => f.write_str("with its start"),
            Restated::Several => f.write_str("without starts: each recording has its own"),
            Restated::Late(t) => write!(f, "without a start: it would be at t = {}", number(t)),
            Restated::Otherwise => f.write_str("without a start: the text says it in another way"),
        }
    }
}

/// Why a model cannot be written with fitted values.
#[derive(Debug, thiserror::Error)]
pub enum RestatedError {
    /// A parameter has no value of its own in the text.
    #[error(transparent)]
    Text(#[from] RestateError),
    /// What the text includes cannot be read.
    #[error(transparent)]
    Include(#[from] Errors),
    /// The new text cannot be read.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// A parameter is not said as a number.
    #[error("`{name}` would not have its value in it")]
    Value {
        /// Which.
        name: String,
    },
}

impl Fit {
    /// The text of a model with fitted parameters, and with the fitted start if there is one recording; and what it says of the start. The model is the one
    /// that was fitted, with what was asked for in place of its values.
    ///
    /// # Errors
    /// [`RestatedError`] if the text cannot say them.
    pub fn restated(&self, source: &Source, asked: &Overrides) -> Result<(String, Restated), RestatedError> {
        let mut values: Vec<(String, f64)> = asked.parameters.clone();
        for estimate in self.estimates.iter().filter(|estimate| estimate.recording.is_none()) {
            values.retain(|(name, _)| *name != estimate.name);
            values.push((estimate.name.clone(), estimate.value));
        }
        let system = |text: &str| {
            let read = Source::text(&source.name, text).in_folder(source.folder().unwrap_or(Path::new("")));
            let graph = Graph::new();
            let problem = read.problem(&graph, &Overrides::default())?;
            let named = problem.dynamics.system().parameters().iter().map(|(name, _)| name.clone());
            let parameters: Vec<(String, f64)> =
                named.zip(problem.dynamics.parameters().iter().copied()).collect();
            Ok::<_, RestatedError>((problem.start, parameters, problem.dynamics.system().facts().autonomous))
        };
        // A model that includes others is written with what they say.
        let whole = source.whole()?;
        let text = restate(&whole, &values, &[])?;
        let (_, parameters, autonomous) = system(&text)?;
        let off = |(name, value): &(String, f64)| {
            let found = parameters.iter().find(|(other, _)| other == name);
            found.is_none_or(|(_, found)| (found - value).abs() > SAME * value.abs())
        };
        if let Some((name, _)) = values.iter().find(|value| off(value)) {
            return Err(RestatedError::Value { name: name.clone() });
        }
        match &self.recordings[..] {
            [_, _, ..] => Ok((text, Restated::Several)),
            [one] if one.begin != 0.0 && !autonomous => Ok((text, Restated::Late(one.begin))),
            _ => {
                let start: Vec<(String, f64)> = asked.start.iter().cloned().chain(self.start(0)).collect();
                let full = restate(&whole, &values, &start)?;
                // Bodies say their starts in other words.
                match system(&full) {
                    Ok((found, ..)) if self.begins_at(&found) => Ok((full, Restated::Whole)),
                    _ => Ok((text, Restated::Otherwise)),
                }
            }
        }
    }

    /// Whether a state is the fitted one, as far as that tells coordinates.
    fn begins_at(&self, state: &State) -> bool {
        let places = self.estimates.iter().filter(|estimate| estimate.recording.is_some()).zip(&state.q);
        let size = state.q.iter().fold(1.0, |m: f64, q| m.max(q.abs()));
        // Coordinates come first; a start that is known in parts is in another order.
        self.start(0).len() != state.q.len() + state.p.len()
            || places.take(state.q.len()).all(|(estimate, q)| (estimate.value - q).abs() <= 1e-6 * size)
    }
}
