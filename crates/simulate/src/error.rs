//! Why a model cannot be read, prepared, run or measured, and whose fault that is.

use crate::diagnosis::at_pole;
use crate::run::Run;
use crate::section::SectionError;
use leastaction_catalog::{EntryError, SampleError};
use leastaction_expr::UnboundSymbol;
use leastaction_integrate::{DriftError, ResetError, RunError, UnknownMethod, number};
use leastaction_language::Errors;
use leastaction_mechanics::{EvalError, ModelError, ObserveError, SettingError, StartError};
use std::fmt;

/// Whose fault an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// What was asked for cannot be.
    Usage,
    /// The model is wrong.
    Model,
    /// What was asked for went wrong.
    Run,
}

/// Why there is no such text.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The catalog has no such system.
    #[error(transparent)]
    Entry(#[from] EntryError),
    /// Only systems of the catalog have a size.
    #[error("only systems of the catalog have a size")]
    Size,
    /// It cannot be read.
    #[error("cannot read {title}: {source}")]
    Read {
        /// What it is called.
        title: String,
        /// Why.
        source: std::io::Error,
    },
    /// It is no text.
    #[error("{title}: {source}")]
    Text {
        /// What it is called.
        title: String,
        /// Why.
        source: Errors,
    },
}

impl SourceError {
    /// Whose fault it is.
    #[must_use]
    pub fn fault(&self) -> Fault {
        if let SourceError::Text { .. } = self { Fault::Model } else { Fault::Usage }
    }
}

/// Why a run cannot be prepared.
#[derive(Debug)]
pub struct PrepareError {
    /// Whose fault it is.
    pub fault: Fault,
    /// Why.
    pub cause: Cause,
    /// The same at its place in the text, if that is to blame.
    pub diagnostics: Option<Errors>,
}

/// What stands in the way of a run.
#[derive(Debug, thiserror::Error)]
pub enum Cause {
    /// The text cannot be read.
    #[error(transparent)]
    Text(#[from] Errors),
    /// The model has no equations of motion, or they cannot be compiled.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A parameter or an input cannot have its value.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// There is no such parameter, nor one that is spelt alike.
    #[error("{source} (parameters: {})", listed(.parameters))]
    Unknown {
        /// What is missing.
        source: SettingError,
        /// The parameters there are.
        parameters: Vec<String>,
    },
    /// A value of the initial condition depends on more than parameters.
    #[error(transparent)]
    Unbound(#[from] UnboundSymbol),
    /// There is no such initial condition.
    #[error(transparent)]
    Start(#[from] StartError),
    /// No initial condition can be drawn.
    #[error(transparent)]
    Sample(#[from] SampleError),
    /// Initial conditions are drawn for systems of the catalog only.
    #[error("only systems of the catalog have random starts")]
    NoCatalog,
    /// There is no such method.
    #[error(transparent)]
    Method(#[from] UnknownMethod),
    /// Something that has an absolute tolerance is no part of the state.
    #[error("`{name}` is no part of the state: it has no tolerance")]
    NoTolerance {
        /// What.
        name: String,
    },
    /// The method finds no steps by itself.
    #[error("{method} needs a step: give one")]
    NoStep {
        /// The method.
        method: &'static str,
    },
    /// The time between samples is not usable.
    #[error("samples every {every}: the time between them must be finite and above 0")]
    Every {
        /// That time.
        every: f64,
    },
    /// An event cannot set what it should.
    #[error(transparent)]
    Reset(#[from] ResetError),
    /// The run is longer than the table of an input.
    #[error(
        "the table of the input `{input}` has times from {} to {}, and the run goes from {} to {}: end the run earlier, or write `held` after the table, \
         so that its first value holds before it and its last one after it",
        number(.from), number(.to), number(.first), number(.last)
    )]
    OutsideTable {
        /// The input.
        input: String,
        /// The first time of the table.
        from: f64,
        /// Its last time.
        to: f64,
        /// The first time of the run.
        first: f64,
        /// Its last time.
        last: f64,
    },
    /// Something is not done with a model whose events set something.
    #[error(
        "the event `{event}` of the model sets something, and {what} not follow motions over that: {instead}"
    )]
    Resets {
        /// The event.
        event: String,
        /// What is not done, with "do" or "does".
        what: &'static str,
        /// What to do instead.
        instead: String,
    },
    /// An event that is asked for has one value.
    #[error(
        "the event `{name}={expression}` has one value all the time, and never passes 0: write what passes 0, as `low=x - 1`, or `low: x = 1`"
    )]
    NeverPasses {
        /// Its name.
        name: String,
        /// Its text.
        expression: String,
    },
    /// An event or an output that is asked for has the name of another one.
    #[error("two {what}s have the name `{name}`: give another one")]
    Named {
        /// "event" or "output".
        what: &'static str,
        /// The name.
        name: String,
    },
    /// The expression of an event or of an output that is asked for cannot be observed.
    #[error("the {what} `{name}={expression}`: {source}")]
    Expression {
        /// "event" or "output".
        what: &'static str,
        /// Its name.
        name: String,
        /// Its text.
        expression: String,
        /// Why.
        source: Box<ObserveError>,
    },
    /// Two things are asked for that exclude each other.
    #[error("{one} and {other} exclude each other: leave one out")]
    Both {
        /// One of them.
        one: &'static str,
        /// The other.
        other: &'static str,
    },
    /// What should be recorded, watched or looked for cannot be observed.
    #[error(transparent)]
    Observe(#[from] ObserveError),
    /// There is no such section.
    #[error(transparent)]
    Section(#[from] SectionError),
    /// A run like this cannot begin.
    #[error(transparent)]
    Run(#[from] RunError),
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

impl PrepareError {
    /// An error in what was asked for.
    pub(crate) fn usage(cause: impl Into<Cause>) -> PrepareError {
        PrepareError { fault: Fault::Usage, cause: cause.into(), diagnostics: None }
    }

    /// An error in a model, shown in its text.
    pub(crate) fn model(cause: impl Into<Cause>, diagnostics: Errors) -> PrepareError {
        PrepareError { fault: Fault::Model, cause: cause.into(), diagnostics: Some(diagnostics) }
    }

    /// An error in computing.
    pub(crate) fn run(cause: impl Into<Cause>) -> PrepareError {
        PrepareError { fault: Fault::Run, cause: cause.into(), diagnostics: None }
    }

    /// Whether nobody says how starts of the system are drawn.
    #[must_use]
    pub fn has_no_draws(&self) -> bool {
        matches!(self.cause, Cause::NoCatalog | Cause::Sample(SampleError::NoSampling))
    }

    /// Why, in a line.
    #[must_use]
    pub fn title(&self) -> String {
        match self.diagnostics.as_ref().and_then(|errors| errors.diagnostics.first()) {
            Some(first) => first.message.clone(),
            None => self.cause.to_string(),
        }
    }
}

impl fmt::Display for PrepareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.fmt(f)
    }
}

impl std::error::Error for PrepareError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.source()
    }
}

impl From<Errors> for PrepareError {
    fn from(errors: Errors) -> PrepareError {
        PrepareError::model(errors.clone(), errors)
    }
}

impl From<RunError> for PrepareError {
    fn from(error: RunError) -> PrepareError {
        PrepareError { fault: fault_of(&error), cause: error.into(), diagnostics: None }
    }
}

/// Whose fault it is that a run cannot begin: mostly that of what was asked for.
#[must_use]
pub fn fault_of(error: &RunError) -> Fault {
    match error {
        RunError::Step(_) | RunError::Eval(_) => Fault::Run,
        _ => Fault::Usage,
    }
}

/// A run that failed, with what there is of it.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct FailedRun {
    /// Why.
    #[source]
    pub error: RunError,
    /// The run until then; nothing if it could not begin.
    pub run: Option<Box<Run>>,
}

impl FailedRun {
    /// Whose fault it is.
    #[must_use]
    pub fn fault(&self) -> Fault {
        if self.run.is_some() { Fault::Run } else { fault_of(&self.error) }
    }
}

/// Why a run cannot be measured.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeasureError {
    /// The drift of a quantity that should not change cannot be computed.
    #[error("the drift of the {what} cannot be computed: {source}")]
    Drift {
        /// What.
        what: String,
        /// Why.
        source: DriftError,
    },
    /// The motion came to a pole of its coordinates, and nothing is known from there on.
    #[error("the motion is not defined at t = {}: {}", number(.t), at_pole(.coordinate))]
    Pole {
        /// The time.
        t: f64,
        /// The coordinate whose inertia vanishes.
        coordinate: String,
    },
    /// A quantity cannot be evaluated.
    #[error(transparent)]
    Eval(#[from] EvalError),
}
