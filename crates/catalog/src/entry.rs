//! An entry of the catalog: a text, and a way to draw starts at random.

use crate::system::ALL;
use leastaction_expr::Random;
use leastaction_expr::{Graph, nearest};
use leastaction_language::{Setup, about, format, read};
use std::borrow::Cow;

/// A system in the catalog.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name.
    pub name: &'static str,
    /// How many pieces it has by default, if it can be built with any number of them.
    pub size: Option<usize>,
    text: Text,
    pub(crate) draw: Option<Draw>,
}

/// What a system is, in the `.motion` language.
#[derive(Clone, Copy, Debug)]
enum Text {
    Whole(&'static str),
    /// Written for a number of pieces.
    Sized(fn(usize) -> String),
}

/// A way to draw starts of a size at random: values by name, which need not meet the constraints yet.
pub(crate) type Draw = fn(&mut Random, usize) -> Vec<(String, f64)>;

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

    /// A system of a text.
    pub(crate) const fn new(name: &'static str, text: &'static str) -> Entry {
        Entry { name, size: None, text: Text::Whole(text), draw: None }
    }

    /// A system of any size, with its usual size.
    pub(crate) const fn sized(name: &'static str, usual: usize, text: fn(usize) -> String) -> Entry {
        Entry { name, size: Some(usual), text: Text::Sized(text), draw: None }
    }

    /// The system with starts that are drawn at random.
    pub(crate) const fn drawn(mut self, draw: Draw) -> Entry {
        self.draw = Some(draw);
        self
    }

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

    /// What it is, in one line: the comment that its text begins with.
    #[must_use]
    pub fn about(&self) -> String {
        match self.text {
            Text::Whole(text) => about(text).to_owned(),
            Text::Sized(text) => about(&text(1)).to_owned(),
        }
    }

    /// What it is, in the `.motion` language: with a number of pieces, or with the usual one.
    ///
    /// ```
    /// # use leastaction_catalog::Entry;
    /// let text = Entry::named("n-pendulum")?.source(Some(5))?;
    /// assert!(text.contains("particle bob5 mass m5 at [x5, y5]"));
    /// # Ok::<(), leastaction_catalog::EntryError>(())
    /// ```
    ///
    /// # Errors
    /// [`EntryError`] if the size cannot be chosen, or not like this.
    pub fn source(&self, size: Option<usize>) -> Result<Cow<'static, str>, EntryError> {
        let size = self.checked(size)?;
        Ok(match self.text {
            Text::Whole(text) => Cow::Borrowed(text),
            Text::Sized(text) => Cow::Owned(format(&text(size)).expect(SOUND)),
        })
    }

    /// Builds the system, at its usual size.
    #[must_use]
    pub fn setup<'g>(&self, graph: &'g Graph) -> Setup<'g> {
        read(graph, &self.source(None).expect(SOUND), &[]).expect(SOUND)
    }

    /// Builds the system with a number of pieces.
    ///
    /// # Errors
    /// [`EntryError`] if the size cannot be chosen, or not like this.
    pub fn setup_sized<'g>(&self, graph: &'g Graph, size: usize) -> Result<Setup<'g>, EntryError> {
        Ok(read(graph, &self.source(Some(size))?, &[]).expect(SOUND))
    }

    /// The number of pieces: 1 for systems without a size.
    pub(crate) fn checked(&self, size: Option<usize>) -> Result<usize, EntryError> {
        match (self.size, size) {
            (None, Some(_)) => Err(EntryError::FixedSize { name: self.name }),
            (Some(_), Some(size)) if size == 0 || size > Entry::LARGEST => {
                Err(EntryError::BadSize { name: self.name, size })
            }
            (usual, size) => Ok(size.or(usual).unwrap_or(1)),
        }
    }
}

/// What the tests of the catalog make sure of.
const SOUND: &str = "the catalog is sound";

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
