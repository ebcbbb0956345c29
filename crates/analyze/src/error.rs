//! What can go wrong.

use leastaction_mechanics::{EvalError, ProjectionError};

/// Why there is no equilibrium, or there are no modes.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AnalyzeError {
    /// Something cannot be computed.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// The constraints cannot be met.
    #[error(transparent)]
    Projection(#[from] ProjectionError),
    /// A constraint is one of velocities.
    #[error(
        "the constraint `{constraint}` is one of velocities: it lets bodies rest anywhere, so equilibria are not isolated; equilibria and modes are found for \
         constraints of positions"
    )]
    Velocity {
        /// The constraint.
        constraint: String,
    },
    /// Forces do not derive from an energy.
    #[error(
        "the force on `{coordinate}` does not derive from an energy (it changes with `{other}` otherwise than the force on that changes with it): \
         equilibria are found by energy"
    )]
    NotConservative {
        /// A coordinate.
        coordinate: String,
        /// Another one.
        other: String,
    },
    /// Forces change with time.
    #[error(
        "there is no equilibrium: forces balance at t = {t}, but the acceleration of `{coordinate}` is {acceleration:.3e} at t = {later}"
    )]
    Moving {
        /// The time at which forces balance.
        t: f64,
        /// Another time.
        later: f64,
        /// The coordinate that is accelerated most then.
        coordinate: String,
        /// By so much.
        acceleration: f64,
    },
    /// The energy is infinite or NaN where the search begins.
    #[error("the energy is {energy} where the search starts: start at another place")]
    NoEnergy {
        /// The energy.
        energy: f64,
    },
    /// The energy has no minimum.
    #[error(
        "the energy falls without end: `{coordinate}` is at {value:.3e} after {iterations} iterations, and the energy at {energy:.6e}; nothing holds \
         the system, or something attracts without limit"
    )]
    Unbounded {
        /// The coordinate that moved farthest.
        coordinate: String,
        /// Where it is.
        value: f64,
        /// The energy there.
        energy: f64,
        /// How many iterations were made.
        iterations: usize,
    },
    /// Forces do not balance.
    #[error(
        "no equilibrium was found in {iterations} iterations: the largest force that is left is {residual:.3e} on `{coordinate}`, of {scale:.3e}; begin \
         closer to one"
    )]
    NotConverged {
        /// How many iterations were made.
        iterations: usize,
        /// The largest force that is left.
        residual: f64,
        /// What forces are made of.
        scale: f64,
        /// The coordinate on which it acts.
        coordinate: String,
    },
    /// The place is no equilibrium.
    #[error(
        "this is no equilibrium: a force of {residual:.3e} acts on `{coordinate}`, where forces are of {scale:.3e}; find one first"
    )]
    NotAtRest {
        /// The largest force.
        residual: f64,
        /// What forces are made of.
        scale: f64,
        /// The coordinate on which it acts.
        coordinate: String,
    },
    /// There are coordinates without inertia.
    #[error("`{coordinate}` has no inertia: there are no modes, as nothing says how fast it moves")]
    NoMass {
        /// The coordinate.
        coordinate: String,
    },
    /// Lanczos' method did not converge.
    #[error(
        "the {count} lowest modes were not found: after {products} products the worst has a residual of {residual:.1e}; ask for fewer"
    )]
    Modes {
        /// How many were wanted.
        count: usize,
        /// How many products were made.
        products: usize,
        /// The largest residual, relative to its mode.
        residual: f64,
    },
    /// No shift makes the stiffness positive.
    #[error(
        "the stiffness is not finite, or no shift makes it positive definite: the energy is not smooth there"
    )]
    NoFactors,
    /// Gyroscopic forces couple many coordinates.
    #[error(
        "forces that depend on velocities couple {degrees} coordinates: with so many, modes are found only without such forces (up to {most} with)"
    )]
    Gyroscopic {
        /// How many coordinates there are.
        degrees: usize,
        /// How many there may be.
        most: usize,
    },
}
