//! What can be wrong with bodies and joints.

use super::rotation::RotationError;
use crate::error::{EvalError, suggestion};

/// Why a body, a point of it or a joint cannot be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BodyError {
    /// The name is taken.
    #[error("there is a body `{name}` already: rename one of them")]
    Twice {
        /// The name.
        name: String,
    },
    /// No body of the model has this name.
    #[error("the model has no body `{name}`{}", suggestion(.nearest))]
    Unknown {
        /// The name.
        name: String,
        /// A body that is spelt alike.
        nearest: Option<String>,
    },
    /// A point belongs to a body of another model.
    #[error("`{what}` holds the body `{body}`, which this model does not have: add it to this model first")]
    Stranger {
        /// The joint or force.
        what: String,
        /// The body.
        body: String,
    },
    /// A joint has both ends on one body.
    #[error("`{what}` joins the body `{body}` to itself: its points never move against each other")]
    Itself {
        /// The joint.
        what: String,
        /// The body.
        body: String,
    },
    /// Bodies, points or vectors of the plane and of space are mixed.
    #[error("{what} has {found} dimensions, {expected} are expected")]
    Dimensions {
        /// What does not fit.
        what: String,
        /// How many dimensions it has.
        found: usize,
        /// How many it should have.
        expected: usize,
    },
    /// A number is infinite or NaN.
    #[error("{what} is {value}: numbers must be finite")]
    NotFinite {
        /// What it is.
        what: String,
        /// The number.
        value: f64,
    },
    /// A mass, a moment or a length is not positive.
    #[error("{what} is {value}: it must be positive")]
    NotPositive {
        /// What it is.
        what: String,
        /// The number.
        value: f64,
    },
    /// A direction has no length.
    #[error("the axis of `{what}` has length 0: give a direction")]
    ZeroAxis {
        /// The joint.
        what: String,
    },
    /// A body does not know the direction, because it is a rod or a point.
    #[error("`{body}` is {kind}, so {what} is not defined: {remedy}")]
    Undefined {
        /// The body.
        body: String,
        /// "a rod" or "a point".
        kind: &'static str,
        /// What is not defined.
        what: String,
        /// What to do.
        remedy: &'static str,
    },
    /// A body in the plane cannot be turned out of it.
    #[error("`{body}` moves in the plane: {what} must be about the z axis")]
    OutOfPlane {
        /// The body.
        body: String,
        /// "its rotation" or "its angular velocity".
        what: &'static str,
    },
    /// Something is not a rotation.
    #[error(transparent)]
    Rotation(#[from] RotationError),
    /// A state does not belong to the system, or has no velocities.
    #[error(transparent)]
    Eval(#[from] EvalError),
}
