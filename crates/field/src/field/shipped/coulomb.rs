//! Coulomb's law between all pairs of nodes.

use super::{Card, Parameter};
use crate::field::Over;
use crate::field::vector::{length, minus};

pub(super) const CARD: Card = Card {
    name: "coulomb",
    about: "Coulomb's law between all pairs of nodes",
    formula: "k q1 q2 / r",
    reference: "C. A. Coulomb, 1785",
    over: Over::Pairs,
    parameters: &[
        Parameter::of_nodes("charge", "the charge of each node"),
        Parameter::of_field("k", "Coulomb's constant").or(1.0),
    ],
    invariant: [true, true],
    energy: |given| {
        let charges = given.of_nodes("charge");
        let product = charges[0] * charges[1];
        given.get("k") * product / length(minus(given.element.at(1), given.element.at(0)))
    },
};
