//! A penalty on the volume of each tetrahedron.

use super::{Card, Parameter};
use crate::field::Over;
use crate::field::vector::{determinant, minus};

pub(super) const CARD: Card = Card {
    name: "volume",
    about: "an energy that keeps the volume of each tetrahedron",
    formula: "K V/2 (v/V - 1)^2, with the volumes v now and V at rest",
    reference: "the energy of compression",
    over: Over::Tetrahedra,
    parameters: &[Parameter::of_field("bulk", "the bulk modulus")],
    invariant: [true, true],
    energy: |given| {
        let e = &given.element;
        let now = determinant([1, 2, 3].map(|node| minus(e.at(node), e.at(0))));
        let rest = determinant([1, 2, 3].map(|node| minus(e.rest(node), e.rest(0))));
        given.get("bulk") * (now * (1.0 / rest) - 1.0).pow(2) * (rest / 12.0)
    },
};
