//! Newton's gravitation between all pairs of nodes, softened after Plummer.

use super::{Card, Parameter};
use crate::field::Over;
use crate::field::vector::{dot, minus};

pub(super) const CARD: Card = Card {
    name: "gravitation",
    about: "Newton's gravitation between all pairs of nodes",
    formula: "-G m1 m2 / sqrt(r^2 + s^2)",
    reference: "H. C. Plummer, doi:10.1093/mnras/71.5.460",
    over: Over::Pairs,
    parameters: &[
        Parameter::of_nodes("mass", "the mass of each node"),
        Parameter::of_field("G", "the constant of gravitation").or(1.0),
        Parameter::of_field("softening", "the length below which the force is softened").or(0.0),
    ],
    invariant: [true, true],
    energy: |given| {
        let apart = minus(given.element.at(1), given.element.at(0));
        let masses = given.of_nodes("mass");
        let product = masses[0] * masses[1];
        // One division, in forces too.
        -(given.get("G") * product) * (1.0 / (dot(apart, apart) + given.get("softening").pow(2)).sqrt())
    },
};
