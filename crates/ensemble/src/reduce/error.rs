//! What can be wrong with a reduction.

use super::ALL;
use leastaction_mechanics::ObserveError;

/// Why trajectories cannot be reduced.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReduceError {
    /// There is no such reduction.
    #[error("`{text}`: there is no reduction `{word}`{}", remedy(.nearest))]
    UnknownKind {
        /// The text.
        text: String,
        /// The word.
        word: String,
        /// One that is near.
        nearest: Option<String>,
    },
    /// There are too many arguments, or too few.
    #[error("`{text}`: {found} given, but it is written {form}")]
    ArgumentCount {
        /// The text.
        text: String,
        /// How it should be written.
        form: &'static str,
        /// How many there are.
        found: usize,
    },
    /// Something is not a number.
    #[error("`{text}`: `{part}` is not a finite number")]
    NotANumber {
        /// The text.
        text: String,
        /// The part that should be one.
        part: String,
    },
    /// Bins are not bins.
    #[error(
        "`{text}`: {low}, {high}, {count} are not bins: give the lower end, the higher end, and a whole number from 1 to 2^24"
    )]
    Bins {
        /// The text.
        text: String,
        /// The lower end.
        low: f64,
        /// The higher end.
        high: f64,
        /// How many.
        count: f64,
    },
    /// A part is not between 0 and 1.
    #[error(
        "`{text}`: {value} is not a part: quantiles are of parts from 0 to 1, such as 0.5 for the median"
    )]
    Part {
        /// The text.
        text: String,
        /// What was given.
        value: f64,
    },
    /// An expression cannot be observed.
    #[error("`{text}`: {}{source}", .part.as_ref().map_or_else(String::new, |part| format!("in `{part}`, ")))]
    Observe {
        /// The text.
        text: String,
        /// The expression, if it is only a part of the text.
        part: Option<String>,
        /// Why.
        source: ObserveError,
    },
    /// There is no such event.
    #[error("`{text}`: there is no event `{name}`{}; {}", suggestion(.nearest), events(.known))]
    UnknownEvent {
        /// The text.
        text: String,
        /// The event.
        name: String,
        /// One that is near.
        nearest: Option<String>,
        /// Those that there are.
        known: Vec<String>,
    },
    /// A map needs a grid.
    #[error(
        "`{text}`: a map needs a grid with one trajectory at each point: sample by x=grid(low, high, points)"
    )]
    NoGrid {
        /// The text.
        text: String,
    },
    /// A map does not fit into memory.
    #[error(
        "`{text}`: a map of {points} points does not fit into memory: take a grid of {most} points at most"
    )]
    MapSize {
        /// The text.
        text: String,
        /// How many points there are.
        points: u64,
        /// How many there may be.
        most: u64,
    },
    /// Nothing says when samples are taken.
    #[error("`{text}`: nothing says when samples are taken: let the integrator sample at times, or spaced")]
    NoTimes {
        /// The text.
        text: String,
    },
    /// Rows do not fit into memory.
    #[error(
        "`{text}`: its rows need {gigabytes:.0} GB, which is too much for memory: keep them in a directory"
    )]
    Memory {
        /// The text.
        text: String,
        /// How much they need.
        gigabytes: f64,
    },
    /// Points of the grid are drawn more than once.
    #[error(
        "`{text}`: a map has one value at each point of the grid, but there are {count} trajectories for {points} points; ask for {points}"
    )]
    Repeated {
        /// The text.
        text: String,
        /// How many trajectories there are.
        count: u64,
        /// How many points there are.
        points: u64,
    },
}

impl ReduceError {
    /// As a part of a larger text.
    pub(super) fn within(self, whole: &str) -> ReduceError {
        let whole = whole.to_owned();
        match self {
            ReduceError::Observe { text, source, .. } => {
                ReduceError::Observe { text: whole, part: Some(text), source }
            }
            ReduceError::UnknownEvent { name, nearest, known, .. } => {
                ReduceError::UnknownEvent { text: whole, name, nearest, known }
            }
            other => other,
        }
    }
}

fn remedy(nearest: &Option<String>) -> String {
    match nearest {
        Some(name) => format!(": did you mean `{name}`?"),
        None => {
            let known: Vec<_> = ALL.iter().map(|kind| kind.form).collect();
            format!("; there are {}", known.join(", "))
        }
    }
}

fn suggestion(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |name| format!(": did you mean `{name}`?"))
}

fn events(known: &[String]) -> String {
    match known.is_empty() {
        true => "the model has no events: add one, such as event top: y' = 0, falling".to_owned(),
        false => format!("there are {}", known.join(", ")),
    }
}
