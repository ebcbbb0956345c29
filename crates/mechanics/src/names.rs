//! Names that are made from other names: of momenta, multipliers, reactions and integrals of states. Their prefixes stand here alone.

use leastaction_expr::Expr;

const MOMENTUM: &str = "p_";
const MULTIPLIER: &str = "lambda_";
const REACTION: &str = "reaction_";
const INTEGRAL: &str = "int_";

/// The name of the momentum of a coordinate, if it is given no other.
#[must_use]
pub fn momentum(coordinate: &str) -> String {
    format!("{MOMENTUM}{coordinate}")
}

/// The same, of a coordinate that is a symbol.
pub(crate) fn momentum_of(coordinate: Expr<'_>) -> Option<Expr<'_>> {
    coordinate.prefixed(MOMENTUM)
}

/// The coordinate whose momentum has this name, if it is given no other.
#[must_use]
pub fn coordinate_of(momentum: &str) -> Option<&str> {
    momentum.strip_prefix(MOMENTUM)
}

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

/// Whether a name is that of a reaction.
pub(crate) fn is_reaction(name: &str) -> bool {
    name.starts_with(REACTION)
}

/// The prefix of a name that is made from another one, and that other name.
#[must_use]
pub fn split_name(name: &str) -> Option<(&str, &str)> {
    let prefix =
        [MOMENTUM, MULTIPLIER, REACTION, INTEGRAL].into_iter().find(|prefix| name.starts_with(prefix))?;
    Some(name.split_at(prefix.len()))
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
