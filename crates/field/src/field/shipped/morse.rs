//! The Morse potential between all pairs of nodes.

use super::{Card, Parameter};
use crate::field::Over;
use crate::field::vector::{length, minus};

pub(super) const CARD: Card = Card {
    name: "morse",
    about: "the Morse potential between all pairs of nodes",
    formula: "D ((1 - exp(-a (r - r0)))^2 - 1)",
    reference: "P. M. Morse, doi:10.1103/PhysRev.34.57",
    over: Over::Pairs,
    parameters: &[
        Parameter::of_field("depth", "the depth D of the well"),
        Parameter::of_field("a", "the reciprocal width of the well"),
        Parameter::of_field("r0", "the distance at which the energy is least"),
    ],
    invariant: [true, true],
    energy: |given| {
        let apart = length(minus(given.element.at(1), given.element.at(0)));
        let decay = (-(given.get("a") * (apart - given.get("r0")))).exp();
        given.get("depth") * decay * (decay - 2.0)
    },
};
