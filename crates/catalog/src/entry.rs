//! An entry of the catalog, and what it sets up.

use crate::sample::Sampler;
use crate::system::ALL;
use leastaction_expr::{Expr, Graph, nearest};
use leastaction_language::Drawing;
use leastaction_mechanics::{Model, Term};

/// A system in the catalog.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// How many pieces it has by default, if it can be built with any number of them.
    pub size: Option<usize>,
    /// Builds it with a number of pieces, which entries without a size do not look at.
    pub build: for<'g> fn(&'g Graph, usize) -> Setup<'g>,
}

/// A model with everything needed to run and to draw it.
#[derive(Clone, Debug)]
pub struct Setup<'g> {
    /// The model, with default parameters.
    pub model: Model<'g>,
    /// Values at the start by name, where they are not 0: coordinates and velocities.
    pub start: Vec<(String, f64)>,
    /// How it is run by default.
    pub plan: Plan,
    /// What the motion conserves, as expressions of coordinates and velocities, besides what its system finds by itself: the energy,
    /// and the momenta of coordinates that nothing depends on.
    pub invariants: Vec<Term<'g>>,
    /// How it is drawn.
    pub drawing: Drawing,
    /// How starts are drawn at random.
    pub(crate) sampler: Option<Sampler>,
}

/// How a system is run by default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// The step.
    pub step: f64,
    /// The time at the end; runs start at 0.
    pub until: f64,
}

/// Why the catalog has no such system.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// No system has this name.
    #[error("there is no system `{name}`{}", suggestion(.nearest))]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// A system that is spelt alike.
        nearest: Option<String>,
    },
    /// The system has no size to choose.
    #[error("`{name}` has a fixed number of pieces: only {} can be given a size", sizable())]
    FixedSize {
        /// The system.
        name: &'static str,
    },
    /// The size is 0, or so large that the system would never be built.
    #[error("`{name}` cannot have {size} pieces: choose 1 to {}", Entry::LARGEST)]
    BadSize {
        /// The system.
        name: &'static str,
        /// The size that was asked for.
        size: usize,
    },
}

impl Entry {
    /// The largest size a system is built with.
    pub const LARGEST: usize = 1000;

    /// The system with this name.
    ///
    /// # Errors
    /// [`EntryError::Unknown`] if there is none.
    pub fn named(name: &str) -> Result<&'static Entry, EntryError> {
        ALL.iter().find(|entry| entry.name == name).ok_or_else(|| EntryError::Unknown {
            name: name.to_owned(),
            nearest: nearest(name, ALL.iter().map(|entry| entry.name)),
        })
    }

    /// Builds the system, at its default size.
    #[must_use]
    pub fn setup<'g>(&self, graph: &'g Graph) -> Setup<'g> {
        (self.build)(graph, self.size.unwrap_or(1))
    }

    /// Builds the system with a number of pieces.
    ///
    /// # Errors
    /// [`EntryError`] if the size cannot be chosen, or not like this.
    pub fn setup_sized<'g>(&self, graph: &'g Graph, size: usize) -> Result<Setup<'g>, EntryError> {
        match self.size {
            None => Err(EntryError::FixedSize { name: self.name }),
            Some(_) if size == 0 || size > Entry::LARGEST => {
                Err(EntryError::BadSize { name: self.name, size })
            }
            Some(_) => Ok((self.build)(graph, size)),
        }
    }
}

impl<'g> Setup<'g> {
    /// A model that starts at rest at the origin, with a plan, no invariants and no drawing.
    pub(crate) fn new(model: Model<'g>, plan: Plan) -> Setup<'g> {
        let (start, invariants, drawing) = (Vec::new(), Vec::new(), Drawing::default());
        Setup { model, start, plan, invariants, drawing, sampler: None }
    }

    pub(crate) fn starting<S: Into<String>>(
        mut self,
        values: impl IntoIterator<Item = (S, f64)>,
    ) -> Setup<'g> {
        self.start.extend(values.into_iter().map(|(name, value)| (name.into(), value)));
        self
    }

    pub(crate) fn conserving(mut self, name: &str, value: Expr<'g>) -> Setup<'g> {
        self.invariants.push(Term { name: name.to_owned(), value });
        self
    }

    pub(crate) fn drawn(self, drawing: Drawing) -> Setup<'g> {
        Setup { drawing, ..self }
    }

    /// The values at the start, as [`leastaction_mechanics::Dynamics::start`] takes them.
    #[must_use]
    pub fn start(&self) -> Vec<(&str, f64)> {
        self.start.iter().map(|(name, value)| (name.as_str(), *value)).collect()
    }
}

fn suggestion(nearest: &Option<String>) -> String {
    match nearest {
        Some(name) => format!(": did you mean `{name}`?"),
        None => format!(": choose one of {}", ALL.iter().map(|e| e.name).collect::<Vec<_>>().join(", ")),
    }
}

fn sizable() -> String {
    let names = ALL.iter().filter(|e| e.size.is_some()).map(|e| format!("`{}`", e.name));
    names.collect::<Vec<_>>().join(", ")
}
