//! Surface tension: an energy in proportion to the area.

use super::{Card, Parameter};
use crate::field::Over;
use crate::field::vector::{cross, length, minus};

pub(super) const CARD: Card = Card {
    name: "surface-tension",
    about: "an energy in proportion to the area of the surface",
    formula: "gamma A",
    reference: "the law of Young and Laplace follows: p = 2 gamma/R in a sphere",
    over: Over::Surface,
    parameters: &[Parameter::of_field("tension", "the energy for each unit of area")],
    invariant: [true, true],
    energy: |given| {
        let e = &given.element;
        let normal = cross(minus(e.at(1), e.at(0)), minus(e.at(2), e.at(0)));
        0.5 * given.get("tension") * length(normal)
    },
};
