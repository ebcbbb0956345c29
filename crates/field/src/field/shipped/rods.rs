//! Bending of rods that are straight at rest: discrete elastic rods, without twist.

use super::{Card, Parameter};
use crate::field::Over;
use crate::field::vector::{cross, dot, length, minus};

/// A rod counts as straight at rest if it bends by less than this.
const STRAIGHT: f64 = 1e-6;

pub(super) const CARD: Card = Card {
    name: "rods",
    about: "bending of rods that are straight at rest, at each node between two segments",
    formula: "B |c|^2/(l1 + l2), c = 2 a×b/(|a||b| + a·b) for the segments a and b, of rest lengths l1 and l2",
    reference: "M. Bergou, M. Wardetzky, S. Robinson, B. Audoly and E. Grinspun, doi:10.1145/1360612.1360662",
    over: Over::Bends,
    parameters: &[Parameter::of_field("stiffness", "the bending stiffness B = E I")],
    invariant: [true, true],
    energy: |given| {
        let e = &given.element;
        let (a, b) = (minus(e.at(1), e.at(0)), minus(e.at(2), e.at(1)));
        let (a0, b0) = (minus(e.rest(1), e.rest(0)), minus(e.rest(2), e.rest(1)));
        let turn = cross(a, b);
        let opening = (dot(a, a) * dot(b, b)).sqrt() + dot(a, b);
        let (l1, l2) = (length(a0), length(b0));
        // A rod that is bent at rest has no finite constant, and so is refused.
        let bent = length(cross(a0, b0)) / (l1 * l2);
        let over_length =
            bent.lt(STRAIGHT).select(4.0, f64::MAX) * bent.lt(STRAIGHT).select(1.0, f64::MAX) / (l1 + l2);
        given.get("stiffness") * dot(turn, turn) / opening.pow(2) * over_length
    },
};
