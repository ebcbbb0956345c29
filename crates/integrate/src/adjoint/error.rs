//! Why a run has no gradient.

use crate::error::{Failed, RunError, number};
use leastaction_mechanics::{EvalError, SettingError};

/// Why a run has no gradient.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AdjointError {
    /// The run cannot begin, or failed on the way.
    #[error(transparent)]
    Run(#[from] Failed),
    /// Something could not be evaluated, or has no reverse.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// There is no such parameter.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The method has no adjoint.
    #[error("there are no gradients of runs by {method} yet: use one of {}", .works.join(", "))]
    Method {
        /// The name of the method.
        method: &'static str,
        /// Those that have one.
        works: Vec<&'static str>,
    },
    /// The rates of the system are not one formula.
    #[error("there are no gradients of this system yet: {why}")]
    System {
        /// What stands in the way.
        why: &'static str,
    },
    /// A step of the system would be too large a program.
    #[error(
        "the reverse of a step of {method} would take more than {limit} instructions for this system: use a method of fewer stages"
    )]
    TooLarge {
        /// The name of the method.
        method: &'static str,
        /// The most there may be.
        limit: usize,
    },
    /// The run passed a switch, at a time that may depend on what is differentiated by.
    #[error(
        "the run passes a switch at t = {} (a comparison, `abs`, `min`, `max` or the like changes its branch there), and gradients across switches are not known yet: end the run before",
        number(.t)
    )]
    Switch {
        /// When the first is passed.
        t: f64,
    },
    /// The run passed a configuration in which constraints depend on each other.
    #[error(
        "the run passes a configuration at t = {} in which constraints depend on each other, and gradients across it are not known: end the run before, or use coordinates that keep the constraints",
        number(.t)
    )]
    Passage {
        /// When the step begins that passes it.
        t: f64,
    },
    /// An event sets numbers, at a time that may depend on what is differentiated by.
    #[error(
        "gradients across the event `{event}` are not known yet, because it sets something: end the run there with `stop`, without setting anything"
    )]
    Reset {
        /// The event.
        event: String,
    },
    /// The equations of an implicit step were not solved again.
    #[error("the equations of the step at t = {} have another solution now than in the run: try a smaller step", number(.t))]
    Unsolved {
        /// When the step begins.
        t: f64,
    },
    /// There is no such sample or event.
    #[error("there is no {what} {index}: the run has {count}, counted from 0")]
    Missing {
        /// "sample" or "event".
        what: &'static str,
        /// What was asked for.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// Weights are of another length than a state.
    #[error("{found} weights were given for a state of {expected} numbers")]
    Length {
        /// The numbers of a state.
        expected: usize,
        /// The number of weights.
        found: usize,
    },
    /// A weight is infinite or NaN.
    #[error("a weight is {value}: weights must be finite")]
    Weight {
        /// The weight.
        value: f64,
    },
    /// An event has no formula.
    #[error(
        "event {event} has no derivatives: it is no formula of the state, as an energy, a multiplier or an input that changes is not; write it out in coordinates"
    )]
    Event {
        /// Which of the events, by its place.
        event: usize,
    },
    /// At an event its observable does not cross zero, but touches it.
    #[error("at t = {} event {event} only touches zero: its time has no derivative there", number(.t))]
    Touches {
        /// Which of the events, by its place.
        event: usize,
        /// When.
        t: f64,
    },
    /// Runs that are to be gone back over side by side are not alike.
    #[error(
        "runs that are differentiated side by side are of one system, by one method, and by the same parameters: these differ in their {what}"
    )]
    Apart {
        /// What they differ in.
        what: &'static str,
    },
    /// A derivative is infinite or NaN.
    #[error(
        "the derivative by {name} is infinite or NaN: something in the motion is not differentiable there, as a root or a power at zero is not, or an opaque energy does not provide it"
    )]
    NotFinite {
        /// By what.
        name: String,
    },
}

impl From<RunError> for AdjointError {
    fn from(error: RunError) -> AdjointError {
        AdjointError::Run(error.into())
    }
}
