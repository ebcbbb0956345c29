//! Bending of thin shells, at the hinges between triangles.

use super::{Card, Parameter};
use crate::field::vector::{ExprVector, cross, dot, length, minus};
use crate::field::{Element, Over};
use leastaction_expr::Expr;

pub(super) const CARD: Card = Card {
    name: "hinges",
    about: "bending at the edge between two triangles",
    formula: "3 k |e0|^2/(A1 + A2) (theta - theta0)^2, with the edge and the areas at rest",
    reference: "E. Grinspun, A. N. Hirani, M. Desbrun and P. Schröder, doi:10.2312/SCA03/062-067",
    over: Over::Hinges,
    parameters: &[Parameter::of_field("stiffness", "the bending stiffness")],
    invariant: [true, true],
    energy: |given| {
        let e = &given.element;
        let (now, rest) = (shape(e, Element::at), shape(e, Element::rest));
        // A3 = (A1 + A2)/3 of the normals, which are twice as long as the areas.
        let factor = 6.0 * rest.edge.pow(2) / (length(rest.normals[0]) + length(rest.normals[1]));
        given.get("stiffness") * factor * (now.angle - rest.angle).pow(2)
    },
};

struct Shape<'g> {
    /// Between the normals: 0 if the triangles are flat.
    angle: Expr<'g>,
    edge: Expr<'g>,
    normals: [ExprVector<'g>; 2],
}

fn shape<'g>(e: &Element<'g>, at: impl Fn(&Element<'g>, usize) -> ExprVector<'g>) -> Shape<'g> {
    let from_first = |node: usize| minus(at(e, node), at(e, 0));
    let edge = from_first(1);
    let normals = [cross(edge, from_first(2)), cross(from_first(3), edge)];
    let length = length(edge);
    let angle = (dot(cross(normals[0], normals[1]), edge) / length).atan2(dot(normals[0], normals[1]));
    Shape { angle, edge: length, normals }
}
