//! Why there is no fit.

use crate::data::RecordingError;
use leastaction_integrate::{AdjointError, number};
use leastaction_mechanics::{EvalError, ObserveError, StartError};
use leastaction_simulate::PrepareError;

/// Why there is no fit.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// The model cannot be prepared.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// The data cannot be used.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// There are no data.
    #[error("there are no data")]
    NoData,
    /// What is measured is no expression of the model.
    #[error("`{what}` is measured, but not known: {source}")]
    Observe {
        /// What.
        what: String,
        /// Why.
        source: ObserveError,
    },
    /// There is no such parameter.
    #[error("there is no parameter `{name}`{}; there are {}", .nearest.as_ref().map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default(), .parameters.join(", "))]
    NoParameter {
        /// What is missing.
        name: String,
        /// One that is spelt alike.
        nearest: Option<String>,
        /// Those that are there.
        parameters: Vec<String>,
    },
    /// There is no such number of the start.
    #[error("the start has no `{name}`; it has {}", .names.join(", "))]
    NoStart {
        /// What is missing.
        name: String,
        /// Those that are there.
        names: Vec<String>,
    },
    /// A parameter is named twice.
    #[error("`{name}` is named twice: leave one out")]
    Twice {
        /// Which.
        name: String,
    },
    /// Nothing is unknown.
    #[error("nothing is free: the model has no parameters, and its start is known")]
    NothingFree,
    /// The first guess is outside of the limits.
    #[error("`{name}` is {} in the model, outside of its limits {} to {}: set it within them", number(.value), number(.low), number(.high))]
    Outside {
        /// Which.
        name: String,
        /// Its value.
        value: f64,
        /// The least.
        low: f64,
        /// The largest.
        high: f64,
    },
    /// There are too few measured numbers.
    #[error(
        "{measured} measured numbers are too few for {unknowns} unknowns ({}): measure more, or hold some of them",
        .names.join(", ")
    )]
    TooFew {
        /// How many are measured.
        measured: usize,
        /// How many are unknown.
        unknowns: usize,
        /// What is unknown.
        names: Vec<String>,
    },
    /// A recording begins before the model does.
    #[error(
        "`{recording}` begins at t = {}, before the known start at 0: shift its times, or let the start be unknown",
        number(.t)
    )]
    Before {
        /// Which.
        recording: String,
        /// When.
        t: f64,
    },
    /// The model does not start.
    #[error("the model cannot start with the first guess: {0}")]
    Start(#[from] StartError),
    /// The model does not run.
    #[error("the model cannot be run over the first data of `{recording}` with the first guess: {source}")]
    Run {
        /// The recording.
        recording: String,
        /// Why.
        source: Box<AdjointError>,
    },
    /// The model stops before the data end.
    #[error("the model stops at t = {} by an event, before the data of `{recording}` end: use data until then", number(.t))]
    Stops {
        /// The recording.
        recording: String,
        /// When.
        t: f64,
    },
    /// Something measured cannot be computed.
    #[error("what is measured cannot be computed with the first guess: {0}")]
    Eval(#[from] EvalError),
    /// What is measured does not depend on anything that is unknown.
    #[error("what is measured is infinite or NaN with the first guess: `{what}`")]
    NotFinite {
        /// What.
        what: String,
    },
    /// It was interrupted.
    #[error("interrupted before a fit was found")]
    Interrupted,
    /// The least squares cannot be solved.
    #[error("the derivatives of what is measured are too large for least squares: measure in other units")]
    Overflow,
}
