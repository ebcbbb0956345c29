//! Names that are made from other names: of multipliers, reactions and integrals of states. Their prefixes stand here alone.

const MULTIPLIER: &str = "lambda_";
const REACTION: &str = "reaction_";
const INTEGRAL: &str = "int_";

/// The name of the multiplier of a constraint.
#[must_use]
pub fn multiplier(constraint: &str) -> String {
    format!("{MULTIPLIER}{constraint}")
}

/// The name of the force with which a constraint holds a coordinate.
#[must_use]
pub fn reaction(constraint: &str) -> String {
    format!("{REACTION}{constraint}")
}

/// The constraint whose multiplier or reaction has this name.
#[must_use]
pub fn constraint_of(name: &str) -> Option<&str> {
    name.strip_prefix(MULTIPLIER).or_else(|| name.strip_prefix(REACTION))
}

/// The name of the coordinate whose rate a state is.
#[must_use]
pub fn integral(state: &str) -> String {
    format!("{INTEGRAL}{state}")
}

/// The state whose integral has this name.
pub(crate) fn state_of(integral: &str) -> Option<&str> {
    integral.strip_prefix(INTEGRAL)
}
