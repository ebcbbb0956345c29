//! A pressure inside of a closed surface, which does not change with its volume.

use super::{Card, Parameter};
use crate::field::Over;
use crate::field::vector::determinant;

pub(super) const CARD: Card = Card {
    name: "pressure",
    about: "a given pressure inside of the surface",
    formula: "-p det(a, b, c)/6, which is -p V in sum",
    reference: "the divergence theorem",
    over: Over::ClosedSurface,
    parameters: &[Parameter::of_field("pressure", "the pressure inside over that outside")],
    invariant: [true, true],
    energy: |given| {
        let e = &given.element;
        -(given.get("pressure") * determinant([e.at(0), e.at(1), e.at(2)])) * (1.0 / 6.0)
    },
};
