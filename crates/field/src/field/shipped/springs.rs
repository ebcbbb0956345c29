//! Springs along the edges of cells, all of the same stiffness.

use super::{Card, Parameter};
use crate::field::Over;
use crate::field::vector::{length, minus};

pub(super) const CARD: Card = Card {
    name: "springs",
    about: "a spring along each edge",
    formula: "k/2 (l - l0)^2",
    reference: "Hooke's law",
    over: Over::Edges,
    parameters: &[Parameter::of_field("stiffness", "the force for each unit of extension")],
    invariant: [true, true],
    energy: |given| {
        let e = &given.element;
        let extension = length(minus(e.at(1), e.at(0))) - length(minus(e.rest(1), e.rest(0)));
        0.5 * given.get("stiffness") * extension.pow(2)
    },
};
