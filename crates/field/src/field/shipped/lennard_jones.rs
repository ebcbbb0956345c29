//! The Lennard-Jones potential between all pairs of nodes, whole, or cut off so that energy and force end at zero.

use super::{CUTOFF, Card, Given, Parameter};
use crate::field::Over;
use crate::field::vector::{dot, minus};
use leastaction_expr::Expr;

const EPSILON: Parameter = Parameter::of_field("epsilon", "the depth of the well").or(1.0);
const SIGMA: Parameter = Parameter::of_field("sigma", "the distance at which the energy is zero").or(1.0);

pub(super) const CARD: Card = Card {
    name: "lennard-jones",
    about: "the Lennard-Jones potential between all pairs of nodes",
    formula: "4 eps ((s/r)^12 - (s/r)^6)",
    reference: "J. E. Jones, doi:10.1098/rspa.1924.0082",
    over: Over::Pairs,
    parameters: &[EPSILON, SIGMA],
    invariant: [true, true],
    energy: |given| potential(given, square(given)),
};

/// Cut off with a shifted force: V(r) − V(c) − (r − c) V′(c) up to the cut-off c. A jump of the force, as with a shifted energy alone, would
/// let the energy drift.
pub(super) const CUT: Card = Card {
    name: "lennard-jones-cut",
    about: "the Lennard-Jones potential, cut off with energy and force shifted to zero",
    formula: "V(r) - V(c) - (r - c) V'(c) where r < c, V = 4 eps ((s/r)^12 - (s/r)^6)",
    reference: "S. Toxvaerd and J. C. Dyre, doi:10.1063/1.3558787",
    over: Over::Pairs,
    parameters: &[
        EPSILON,
        SIGMA,
        Parameter::of_field(CUTOFF, "the distance from which on there is no force"),
    ],
    invariant: [true, true],
    energy: |given| {
        let (square, cutoff) = (square(given), given.get(CUTOFF));
        let sixth = (given.get("sigma") / cutoff).pow(6);
        let slope = given.get("epsilon") * 24.0 * (sixth - 2.0 * sixth.pow(2)) / cutoff;
        let at_cutoff = potential(given, cutoff.pow(2));
        let shifted = potential(given, square) - at_cutoff - (square.sqrt() - cutoff) * slope;
        square.lt(cutoff.pow(2)).select(shifted, 0.0)
    },
};

fn square<'g>(given: &Given<'_, 'g>) -> Expr<'g> {
    let apart = minus(given.element.at(1), given.element.at(0));
    dot(apart, apart)
}

/// At the square of a distance.
fn potential<'g>(given: &Given<'_, 'g>, square: Expr<'g>) -> Expr<'g> {
    let sixth = (given.get("sigma").pow(2) / square).pow(3);
    4.0 * given.get("epsilon") * (sixth.pow(2) - sixth)
}
