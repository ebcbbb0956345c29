//! What can be wrong with bodies and joints.

use super::rotation::RotationError;
use crate::error::EvalError;
use leastaction_expr::Advice;
use std::fmt;

/// Something that has a number or a direction: of a body, of a joint, or of a force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodySite {
    /// A body as a whole.
    Body(String),
    /// The mass of a body.
    Mass(String),
    /// A second moment of a body.
    Moment(String),
    /// The inertia of a body.
    Inertia(String),
    /// The pose of a body.
    Pose(String),
    /// A number in the pose of a body.
    PoseNumber(String),
    /// A point of a body.
    BodyPoint(String),
    /// A direction at a point of a body.
    Direction(String),
    /// The point about which the angular momentum of a body is.
    MomentumPoint(String),
    /// What is one number in the plane only, and the body.
    Planar(&'static str, String),
    /// A point that a joint or a force holds.
    Point(String),
    /// The point of a body in a joint.
    JointPoint {
        /// The body.
        body: String,
        /// The joint.
        joint: String,
    },
    /// The axis of a joint.
    Axis(String),
    /// A joint of space, and what it is in the plane.
    SpaceJoint(String, &'static str),
    /// The length of a joint, or the stiffness, the rest length or the resistance of what pulls.
    Size(&'static str, String),
    /// A force on a body.
    Force(String),
    /// What a body can be asked for, in words.
    Own(&'static str),
}

impl fmt::Display for BodySite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BodySite::Body(body) => write!(f, "body `{body}`"),
            BodySite::Mass(body) => write!(f, "the mass of body `{body}`"),
            BodySite::Moment(body) => write!(f, "a second moment of body `{body}`"),
            BodySite::Inertia(body) => write!(f, "a number in the inertia of body `{body}`"),
            BodySite::Pose(body) => write!(f, "the pose of body `{body}`"),
            BodySite::PoseNumber(body) => write!(f, "a number in the pose of body `{body}`"),
            BodySite::BodyPoint(body) => write!(f, "a point of body `{body}`"),
            BodySite::Direction(body) => write!(f, "a direction at `{body}`"),
            BodySite::MomentumPoint(body) => write!(f, "the point of the angular momentum of `{body}`"),
            BodySite::Planar(what, body) => {
                write!(f, "{what} is one number in the plane only: body `{body}`")
            }
            BodySite::Point(joint) => write!(f, "a point of `{joint}`"),
            BodySite::JointPoint { body, joint } => write!(f, "the point of {body} in `{joint}`"),
            BodySite::Axis(joint) => write!(f, "the axis of `{joint}`"),
            BodySite::SpaceJoint(joint, planar) => {
                write!(f, "`{joint}`, a joint of space that in the plane is a {planar},")
            }
            BodySite::Size(what, joint) => write!(f, "the {what} of `{joint}`"),
            BodySite::Force(body) => write!(f, "a force on {body}"),
            BodySite::Own(what) => f.write_str(what),
        }
    }
}

/// Why a body, a point of it or a joint cannot be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BodyError {
    /// The name is taken.
    Twice {
        /// The name.
        name: String,
    },
    /// No body of the model has this name.
    Unknown {
        /// The name.
        name: String,
        /// A body that is spelt alike.
        nearest: Option<String>,
    },
    /// A point belongs to a body of another model.
    Stranger {
        /// The joint or force.
        holder: String,
        /// The body.
        body: String,
    },
    /// A joint has both ends on one body.
    Itself {
        /// The joint.
        joint: String,
        /// The body.
        body: String,
    },
    /// Bodies, points or vectors of the plane and of space are mixed.
    Dimensions {
        /// What does not fit.
        what: BodySite,
        /// How many dimensions it has.
        found: usize,
        /// How many it should have.
        expected: usize,
    },
    /// A number is infinite or NaN.
    NotFinite {
        /// What it is.
        what: BodySite,
        /// The number.
        value: f64,
    },
    /// A mass, a moment or a length is not positive.
    NotPositive {
        /// What it is.
        what: BodySite,
        /// The number.
        value: f64,
    },
    /// A direction has no length.
    ZeroAxis {
        /// The joint, or the body.
        owner: String,
    },
    /// A body does not know the direction, because it is a rod or a point.
    Undefined {
        /// The body.
        body: String,
        /// "a rod" or "a point".
        kind: &'static str,
        /// What is not defined.
        what: BodySite,
        /// What to do.
        remedy: &'static str,
    },
    /// A body in the plane cannot be turned out of it.
    OutOfPlane {
        /// The body.
        body: String,
        /// "its rotation" or "its angular velocity".
        what: &'static str,
    },
    /// Something is not a rotation.
    Rotation(#[from] RotationError),
    /// A state does not belong to the system, or has no velocities.
    Eval(#[from] EvalError),
}

impl BodyError {
    /// What is wrong, and what to do.
    #[must_use]
    pub fn advice(&self) -> Advice {
        use BodyError as E;
        match self {
            E::Twice { name } => {
                Advice::cause(format!("there is a body `{name}` already")).remedy("rename one of them")
            }
            E::Unknown { name, nearest } => {
                Advice::cause(format!("the model has no body `{name}`")).nearest(nearest.as_ref())
            }
            E::Stranger { holder, body } => {
                Advice::cause(format!("`{holder}` holds the body `{body}`, which this model does not have"))
                    .remedy("add it to this model first")
            }
            E::Itself { joint, body } => {
                Advice::cause(format!("`{joint}` joins the body `{body}` to itself"))
                    .remedy("its points never move against each other")
            }
            E::Dimensions { what, found, expected } => {
                Advice::cause(format!("{what} has {found} dimensions, {expected} are expected"))
            }
            E::NotFinite { what, value } => {
                Advice::cause(format!("{what} is {value}")).remedy("numbers must be finite")
            }
            E::NotPositive { what, value } => {
                Advice::cause(format!("{what} is {value}")).remedy("it must be positive")
            }
            E::ZeroAxis { owner } => {
                Advice::cause(format!("the axis of `{owner}` has length 0")).remedy("give a direction")
            }
            E::Undefined { body, kind, what, remedy } => {
                Advice::cause(format!("`{body}` is {kind}, so {what} is not defined")).remedy(*remedy)
            }
            E::OutOfPlane { body, what } => Advice::cause(format!("`{body}` moves in the plane"))
                .remedy(format!("{what} must be about the z axis")),
            E::Rotation(error) => error.advice(),
            E::Eval(error) => Advice::cause(error.to_string()),
        }
    }
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.advice().fmt(f)
    }
}
