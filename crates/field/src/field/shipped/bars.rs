//! Bars along the edges of cells: springs whose stiffness follows from their length, so that a rope stretches alike however finely it is cut.

use super::{Card, Parameter};
use crate::field::Over;
use crate::field::vector::{length, minus};

pub(super) const CARD: Card = Card {
    name: "bars",
    about: "a bar along each edge, stiffer the shorter it is",
    formula: "EA/(2 l0) (l - l0)^2",
    reference: "Hooke's law of a thin bar",
    over: Over::Edges,
    parameters: &[Parameter::of_field("stiffness", "the force EA for each unit of strain")],
    invariant: [true, true],
    energy: |given| {
        let e = &given.element;
        let rest = length(minus(e.rest(1), e.rest(0)));
        let extension = length(minus(e.at(1), e.at(0))) - rest;
        given.get("stiffness") * extension.pow(2) * (0.5 / rest)
    },
};
