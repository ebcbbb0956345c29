//! Why a run cannot begin, or ended early, and why a drift cannot be told.

use crate::card::Needs;
use crate::step::StepError;
use leastaction_mechanics::EvalError;

/// Why a run cannot begin, or ended early.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RunError {
    /// The step is zero, infinite or NaN.
    #[error("the step is {step}: it must be a finite number other than 0")]
    BadStep {
        /// The step.
        step: f64,
    },
    /// A time is infinite or NaN.
    #[error("the {what} of the run is at t = {value}: it must be finite")]
    BadTime {
        /// "start" or "end".
        what: &'static str,
        /// The time.
        value: f64,
    },
    /// The step leads away from the end.
    #[error(
        "a step of {} from t = {} leads away from the end at t = {}: use {}",
        number(.step), number(.start), number(.end), number(&-.step)
    )]
    WrongWay {
        /// The step.
        step: f64,
        /// The time of the start.
        start: f64,
        /// The time of the end.
        end: f64,
    },
    /// The run would take more steps than allowed.
    #[error("the run would take {steps:e} steps, and {limit} are allowed: use a longer step, or allow more")]
    TooManySteps {
        /// How many it would take.
        steps: f64,
        /// How many are allowed.
        limit: u64,
    },
    /// The samples to keep do not fit into memory.
    #[error(
        "{samples} samples of {dimension} numbers do not fit into memory: keep fewer, or observe the run"
    )]
    TooManySamples {
        /// How many samples were asked for.
        samples: u64,
        /// The length of each.
        dimension: usize,
    },
    /// The start does not belong to the system.
    #[error("the start has {found} numbers, and the system's states have {expected}")]
    WrongLength {
        /// The length of the system's states.
        expected: usize,
        /// The length that was given.
        found: usize,
    },
    /// The start is infinite or NaN.
    #[error("`{name}` is {value} at the start: it must be finite")]
    BadStart {
        /// The coordinate or momentum.
        name: String,
        /// Its value.
        value: f64,
    },
    /// The method does not apply to the system.
    #[error("{method} needs {needs}, which this system does not have: use {instead}")]
    NotApplicable {
        /// The method.
        method: &'static str,
        /// What it needs.
        needs: Needs,
        /// A method that does apply.
        instead: &'static str,
    },
    /// The state became infinite or NaN.
    #[error(
        "`{name}` became {value} in the step to t = {}: try a smaller step, or look for a singularity", number(.t)
    )]
    NotFinite {
        /// The time at the end of the step.
        t: f64,
        /// The coordinate or momentum.
        name: String,
        /// The lane.
        lane: usize,
        /// Its value.
        value: f64,
    },
    /// A step failed.
    #[error(transparent)]
    Step(#[from] StepError),
    /// A quantity could not be evaluated outside a step.
    #[error(transparent)]
    Eval(#[from] EvalError),
}

/// Why the drift of a quantity along a trajectory cannot be told.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DriftError {
    /// The quantity is infinite or NaN at a sample.
    #[error("the quantity is {value} at t = {}: the motion has left the range where it is defined", number(.t))]
    NotFinite {
        /// The time of the sample.
        t: f64,
        /// The value.
        value: f64,
    },
    /// The quantity could not be evaluated.
    #[error(transparent)]
    Eval(#[from] EvalError),
}

/// All digits of a number, with an exponent where it would be mostly zeros.
#[must_use]
pub fn number(value: &f64) -> String {
    let plain = *value == 0.0 || (1e-4..1e15).contains(&value.abs()) || !value.is_finite();
    if plain { value.to_string() } else { format!("{value:e}") }
}
