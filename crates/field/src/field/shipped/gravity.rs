//! Uniform gravity: the weight of each node.

use super::{Card, Parameter};
use crate::field::Over;

pub(super) const CARD: Card = Card {
    name: "gravity",
    about: "uniform gravity on each node",
    formula: "-m (g·x)",
    reference: "the weight of a point mass",
    over: Over::Nodes,
    parameters: &[
        Parameter::of_nodes("mass", "the mass of each node"),
        Parameter::of_field("gx", "the acceleration along x").or(0.0),
        Parameter::of_field("gy", "the acceleration along y").or(0.0),
        Parameter::of_field("gz", "the acceleration along z").or(-9.81),
    ],
    invariant: [false, false],
    energy: |given| {
        let at = given.element.at(0);
        let pull = given.get("gx") * at[0] + given.get("gy") * at[1] + given.get("gz") * at[2];
        -(given.get("mass") * pull)
    },
};
