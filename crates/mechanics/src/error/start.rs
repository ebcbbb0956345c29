//! What can be wrong with an initial state.

use super::{EvalError, SettingError, list, named};
use crate::constraint::project::ProjectionError;
use leastaction_expr::Advice;

/// Something that must be a finite number at the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartQuantity {
    /// The time.
    Time,
    /// A coordinate, a velocity or a momentum that is given.
    Given(String),
    /// A momentum that follows from velocities.
    Momentum(String),
    /// A named share of the energy.
    Share(String),
    /// The energy of an element, by the name of the share and the number of the element.
    Element(String, usize),
    /// The energy.
    Energy,
    /// The rate of a coordinate or a momentum.
    Rate(String),
}

impl std::fmt::Display for StartQuantity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StartQuantity::Time => f.write_str("the time"),
            StartQuantity::Given(name) => write!(f, "`{name}`"),
            StartQuantity::Momentum(name) => write!(f, "the momentum `{name}`"),
            StartQuantity::Share(name) => write!(f, "the energy{}", named(name)),
            StartQuantity::Element(name, element) => {
                write!(f, "the energy of element {element} of `{name}`")
            }
            StartQuantity::Energy => f.write_str("the energy"),
            StartQuantity::Rate(name) => write!(f, "the rate of `{name}`"),
        }
    }
}

/// Why there is no such starting state.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StartError {
    /// A name is neither a coordinate, nor a velocity, nor a momentum.
    UnknownName {
        /// The name.
        name: String,
        /// A name that is spelt alike.
        nearest: Option<String>,
    },
    /// A name is given twice.
    Twice {
        /// The name.
        name: String,
    },
    /// Velocities and momenta are both given.
    Mixed {
        /// A velocity that is set.
        velocity: String,
        /// A momentum that is set.
        momentum: String,
    },
    /// A value, or something that follows from the values, is infinite or NaN.
    NotFinite {
        /// The quantity.
        what: StartQuantity,
        /// Its value.
        value: f64,
    },
    /// The mass matrix is singular at the start, as at the pole of polar coordinates, or with a length that is zero.
    SingularMass {
        /// The time.
        t: f64,
        /// The coordinates that move without inertia.
        coordinates: Vec<String>,
    },
    /// Another velocity has the same momentum, and is the one that the equations of motion find.
    OtherVelocity {
        /// The velocity.
        name: String,
        /// What is given.
        given: f64,
        /// What is found.
        other: f64,
    },
    /// A coordinate that a constraint holds is given another value.
    Held {
        /// The coordinate, or its velocity.
        name: String,
        /// The value that is given.
        value: f64,
        /// The value at which it is held.
        held: f64,
        /// The constraint.
        constraint: String,
    },
    /// The start is far from what constraints allow.
    FarFromConstraints {
        /// The coordinate that would have to move most.
        coordinate: String,
        /// By how much.
        moved: f64,
    },
    /// The constraints cannot be met near the start.
    Projection(#[from] ProjectionError),
    /// J is not skew at the start.
    NotSkew {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// The entry.
        value: f64,
        /// The entry mirrored at the diagonal.
        mirror: f64,
    },
    /// R is not symmetric positive semidefinite at the start.
    NotDissipative {
        /// What shows it.
        found: String,
    },
    /// The parameters of this start cannot be set.
    Setting(#[from] SettingError),
    /// Something could not be computed there.
    Eval(#[from] EvalError),
}

impl StartError {
    /// What is wrong, and what to do.
    #[must_use]
    pub fn advice(&self) -> Advice {
        use StartError as E;
        match self {
            E::UnknownName { name, nearest } => Advice::cause(format!(
                "the start sets `{name}`, which is no coordinate, velocity or momentum"
            ))
            .nearest(nearest.as_ref()),
            E::Twice { name } => Advice::cause(format!("the start sets `{name}` twice")),
            E::Mixed { velocity, momentum } => Advice::cause(format!(
                "the start sets the velocity `{velocity}` and the momentum `{momentum}`"
            ))
            .remedy("give velocities or momenta, not both"),
            E::NotFinite { what, value } => Advice::cause(format!("{what} is {value} at the start"))
                .remedy("check the start and the parameters"),
            E::SingularMass { t, coordinates } => {
                Advice::cause(format!("the mass matrix is singular at the start (t = {t})")).remedy(format!(
                    "the motion of {} is not determined there; start elsewhere, or change the parameters",
                    list(coordinates)
                ))
            }
            E::OtherVelocity { name, given, other } => Advice::cause(format!(
                "the start sets `{name}` to {given}, but {other} has the same momentum, and is what the equations of motion find"
            ))
            .remedy("momenta do not tell velocities apart here: write an energy whose momenta do, as where ∂²L/∂v² keeps its sign"),
            E::Held { name, value, held, constraint } => Advice::cause(format!(
                "the start sets `{name}` to {value}, but the constraint{} holds it at {held}",
                named(constraint)
            ))
            .remedy("leave it out, or change the constraint"),
            E::FarFromConstraints { coordinate, moved } => Advice::cause(
                "the start is far from what the constraints allow",
            )
            .remedy(format!(
                "`{coordinate}` would have to move by {moved:.3}; give a start that is nearer, and that of all coordinates which are not 0 there"
            )),
            E::Projection(error) => Advice::cause("there is no such start").remedy(error.to_string()),
            E::NotSkew { row, column, value, mirror } => {
                Advice::cause("J is not skew-symmetric at the start")
                    .remedy(format!("J[{row}][{column}] = {value} and J[{column}][{row}] = {mirror}"))
            }
            E::NotDissipative { found } => {
                Advice::cause(format!("R is not positive semidefinite at the start ({found})"))
                    .remedy("dissipation would create energy")
            }
            E::Setting(error) => error.advice(),
            E::Eval(error) => Advice::cause(error.to_string()),
        }
    }
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.advice().fmt(f)
    }
}
