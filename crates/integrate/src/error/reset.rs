//! Why an event cannot set what it should.

use leastaction_mechanics::ProjectionError;

/// Why an event cannot set what it should.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ResetError {
    /// A state has no such number.
    #[error("the event `{event}` sets `{name}`, which is no coordinate, velocity or momentum")]
    Unknown {
        /// The event.
        event: String,
        /// What it sets.
        name: String,
    },
    /// Something is set twice.
    #[error("the event `{event}` sets `{name}` twice")]
    Twice {
        /// The event.
        event: String,
        /// What it sets.
        name: String,
    },
    /// Velocities and momenta are set together.
    #[error(
        "the event `{event}` sets the velocity `{velocity}` and the momentum `{momentum}`: set velocities or momenta, not both"
    )]
    Mixed {
        /// The event.
        event: String,
        /// The velocity.
        velocity: String,
        /// The momentum.
        momentum: String,
    },
    /// What something is set to is infinite or NaN.
    #[error("the event `{event}` sets `{name}` to {value}: it must be finite")]
    NotFinite {
        /// The event.
        event: String,
        /// What it sets.
        name: String,
        /// To what.
        value: f64,
    },
    /// Coordinates are set to what constraints do not allow.
    #[error(
        "the event `{event}` leaves the constraints: `{name}` would have to be moved by {by:.1e} to meet them. Set coordinates to what the constraints allow"
    )]
    OffConstraints {
        /// The event.
        event: String,
        /// The coordinate that is farthest from them.
        name: String,
        /// By how much.
        by: f64,
    },
    /// Velocities are set to what constraints do not allow.
    #[error(
        "the event `{event}` sets velocities that constraints do not allow: they are off by {by:.1e}. Set all velocities that are bound together, such that they move along the constraints"
    )]
    AgainstConstraints {
        /// The event.
        event: String,
        /// By how much at most.
        by: f64,
    },
    /// Parameters cannot have the values that are set.
    #[error("the event `{event}` sets what cannot be: {why}")]
    Refused {
        /// The event.
        event: String,
        /// Why.
        why: String,
    },
    /// The constraints cannot be met after the event.
    #[error("the constraints cannot be met after the event `{event}`: {source}")]
    Unmet {
        /// The event.
        event: String,
        /// Why.
        source: ProjectionError,
    },
}
