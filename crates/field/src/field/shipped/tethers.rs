//! Tethers: springs of no length from each node to where it is at rest.

use super::{Card, Parameter};
use crate::field::Over;
use crate::field::vector::{dot, minus};

pub(super) const CARD: Card = Card {
    name: "tethers",
    about: "a spring of no length from each node to its place at rest",
    formula: "k/2 |x - x0|^2",
    reference: "Hooke's law",
    over: Over::Nodes,
    parameters: &[Parameter::of_field("stiffness", "the force for each unit of length")],
    invariant: [false, false],
    energy: |given| {
        let away = minus(given.element.at(0), given.element.rest(0));
        0.5 * given.get("stiffness") * dot(away, away)
    },
};
