//! What can go wrong when something is computed at a state, or is to be.

use super::suggestion;
use crate::facts::Form;
use leastaction_compile::{CodeError, LANES};
use leastaction_expr::ParseError;

/// Why something cannot be computed at a state.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EvalError {
    /// The number of times, which is the number of lanes, is neither 1 nor a multiple of 8.
    #[error(
        "{found} times were given: give 1 for one state, or {LANES} for a block of lanes; most quantities also take a multiple of that"
    )]
    Width {
        /// How many were given.
        found: usize,
    },
    /// A slice has the wrong length.
    #[error("{what}: {expected} numbers are expected, {found} were given")]
    WrongLength {
        /// What the slice holds.
        what: &'static str,
        /// The length that is right.
        expected: usize,
        /// The length that was found.
        found: usize,
    },
    /// The form of the system does not have the quantity: port-Hamiltonian systems have no velocities, for example.
    #[error("{what} are not defined for a system stated by its {form}")]
    Undefined {
        /// The quantity.
        what: &'static str,
        /// The form.
        form: Form,
    },
    /// The quantity is no kernel of expressions, because an energy is no formula.
    #[error("{what} have no expressions: the energy `{energy}` is not a formula")]
    NoFormula {
        /// The quantity.
        what: &'static str,
        /// The name of the energy.
        energy: String,
    },
    /// The quantity has no derivatives backwards.
    #[error("there are no derivatives backwards of this system: {why}")]
    NoReverse {
        /// What stands in the way.
        why: &'static str,
    },
    /// The mass matrix is singular at this state.
    #[error("the mass matrix is singular at t = {t}: the motion of `{coordinate}` is not determined there")]
    SingularMass {
        /// The time.
        t: f64,
        /// The lane.
        lane: usize,
        /// The coordinate where elimination failed.
        coordinate: String,
    },
    /// Velocities did not follow from momenta, or momenta from velocities.
    #[error(
        "no {what} were found at t = {t} (residual {residual:.1e} after {iterations} iterations): the state may be outside \
             the range where they are defined"
    )]
    NoConvergence {
        /// "velocities for these momenta" or "momenta for these velocities".
        what: &'static str,
        /// The time.
        t: f64,
        /// The lane.
        lane: usize,
        /// What is left.
        residual: f64,
        /// How many iterations were made.
        iterations: u32,
    },
    /// Code could not be made for the quantity.
    #[error("{what} cannot be compiled: {source}")]
    Compile {
        /// The quantity.
        what: &'static str,
        /// Why.
        source: CodeError,
    },
}

impl EvalError {
    /// The lane in which something could not be computed.
    #[must_use]
    pub fn lane(&self) -> Option<usize> {
        match self {
            EvalError::SingularMass { lane, .. } | EvalError::NoConvergence { lane, .. } => Some(*lane),
            EvalError::Width { .. }
            | EvalError::WrongLength { .. }
            | EvalError::Undefined { .. }
            | EvalError::NoFormula { .. }
            | EvalError::NoReverse { .. }
            | EvalError::Compile { .. } => None,
        }
    }

    /// The error of a group of lanes, in the wider block where the group begins at this lane.
    pub(crate) fn in_group(mut self, first: usize) -> EvalError {
        if let EvalError::SingularMass { lane, .. } | EvalError::NoConvergence { lane, .. } = &mut self {
            *lane += first;
        }
        self
    }
}

/// Why an expression cannot be observed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ObserveError {
    /// The text is not an expression.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// The expression uses a name that the system does not have.
    #[error("the expression uses `{name}`, which the system does not have{}", suggestion(.nearest))]
    UnknownName {
        /// The name.
        name: String,
        /// A name that is spelt alike.
        nearest: Option<String>,
    },
    /// How fast the expression changes along the motion is not known.
    #[error("the rate along the motion is not known: {reason}")]
    NoRate {
        /// Why, and what to do.
        reason: &'static str,
    },
    /// Code could not be made for the expression.
    #[error("the expression cannot be compiled: {0}")]
    Compile(#[from] CodeError),
}
