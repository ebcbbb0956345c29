//! What is recorded of coordinates that are held.

use leastaction_expr::needs_quotes;
use leastaction_mechanics::{Dynamics, EvalError, Observable, ObserveError, System, reaction};

/// Not more held coordinates than this are recorded one by one.
const MOST: usize = 64;

/// Names, observables or values of coordinates that are held, of their velocities, and of the forces with which they are held.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Held<T> {
    /// Of the coordinates.
    pub coordinates: Vec<T>,
    /// Of their velocities.
    pub velocities: Vec<T>,
    /// Of the reactions, each the sum over what is held under one name.
    pub reactions: Vec<T>,
}

impl<T> Held<T> {
    fn map<U, E>(&self, mut f: impl FnMut(&T) -> Result<U, E>) -> Result<Held<U>, E> {
        let mut each = |list: &[T]| list.iter().map(&mut f).collect::<Result<Vec<U>, E>>();
        Ok(Held {
            coordinates: each(&self.coordinates)?,
            velocities: each(&self.velocities)?,
            reactions: each(&self.reactions)?,
        })
    }
}

impl Held<String> {
    /// The names in a system. Where many coordinates are held, as those of nodes of a mesh are, only the reactions are recorded.
    #[must_use]
    pub fn names(system: &System) -> Held<String> {
        let held = if system.held().len() > MOST { &[] } else { system.held() };
        let each = |name: fn(&str) -> String| held.iter().map(|(held, _)| name(held)).collect();
        Held {
            coordinates: each(str::to_owned),
            velocities: each(|name| format!("{name}'")),
            reactions: system.holds().iter().map(|name| reaction(name)).collect(),
        }
    }

    /// What is observed under these names.
    ///
    /// # Errors
    /// [`EvalError`] if code cannot be made for it.
    pub fn observables(&self, dynamics: &mut Dynamics) -> Result<Held<Observable>, EvalError> {
        self.map(|name| {
            let plain = name.trim_end_matches('\'');
            // A name that is not a plain word would be read as an expression: it is first tried in backquotes.
            let quoted = needs_quotes(plain).then(|| format!("`{plain}`{}", &name[plain.len()..]));
            let found = quoted.and_then(|quoted| dynamics.observable(quoted.as_str()).ok());
            found.map_or_else(|| dynamics.observable(name), Ok).map_err(|error| match error {
                ObserveError::Compile(source) => EvalError::Compile { what: "held coordinates", source },
                other => unreachable!("what is held is known by name: {other}"),
            })
        })
    }
}

impl Held<Observable> {
    /// The values at a state.
    ///
    /// # Errors
    /// [`EvalError`] if one cannot be computed.
    pub fn at(&self, dynamics: &mut Dynamics, t: f64, y: &[f64]) -> Result<Held<f64>, EvalError> {
        self.map(|what| {
            let mut value = [0.0];
            dynamics.observe(*what, &[t], y, &mut value)?;
            Ok(value[0])
        })
    }
}
