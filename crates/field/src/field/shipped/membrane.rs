//! Membranes: thin sheets of triangles in plane stress.
//!
//! With the edges D of a triangle at rest and d now, the metric at rest is G = DᵀD and now g = dᵀd, and C = FᵀF in the plane of the rest
//! shape has the invariants of G⁻¹g.

use super::{Card, Given, LAMBDA, MU, Parameter};
use crate::field::vector::{dot, minus};
use crate::field::{Element, Over};
use leastaction_expr::Expr;

const THICKNESS: Parameter = Parameter::of_field("thickness", "the thickness");

pub(super) const ST_VENANT_KIRCHHOFF: Card = Card {
    name: "membrane",
    about: "a thin sheet in plane stress, after St. Venant and Kirchhoff",
    formula: "t A (mu G:G + l/2 tr(G)^2), G = (F'F - 1)/2, l = 2 lambda mu/(lambda + 2 mu)",
    reference: "J. Bonet and R. D. Wood, Nonlinear Continuum Mechanics for Finite Element Analysis, doi:10.1017/CBO9780511755446",
    over: Over::Triangles,
    parameters: &[LAMBDA, MU, THICKNESS],
    invariant: [true, true],
    energy: |given| {
        let (lambda, mu) = (given.get("lambda"), given.get("mu"));
        let plane = 2.0 * lambda * mu / (lambda + 2.0 * mu);
        let (mixed, volume) = mixed(given);
        let strain =
            [[0.5 * (mixed[0][0] - 1.0), 0.5 * mixed[0][1]], [0.5 * mixed[1][0], 0.5 * (mixed[1][1] - 1.0)]];
        let trace = strain[0][0] + strain[1][1];
        let square = strain[0][0].pow(2) + strain[1][1].pow(2) + 2.0 * strain[0][1] * strain[1][0];
        volume * (mu * square + 0.5 * plane * trace.pow(2))
    },
};

/// Of a material that keeps its volume: it becomes thinner as it grows.
pub(super) const NEO_HOOKEAN: Card = Card {
    name: "neo-hookean-membrane",
    about: "a thin sheet of an incompressible neo-Hookean material",
    formula: "t A mu/2 (tr(C) + 1/det(C) - 3), C = F'F",
    reference: "L. R. G. Treloar, The Physics of Rubber Elasticity, 1975",
    over: Over::Triangles,
    parameters: &[MU, THICKNESS],
    invariant: [true, true],
    energy: |given| {
        let ([[a, b], [c, d]], volume) = mixed(given);
        volume * (0.5 * given.get("mu")) * (a + d + 1.0 / (a * d - b * c) - 3.0)
    },
};

/// G⁻¹g, and the volume at rest.
fn mixed<'g>(given: &Given<'_, 'g>) -> ([[Expr<'g>; 2]; 2], Expr<'g>) {
    let e = &given.element;
    let metric = |at: fn(&Element<'g>, usize) -> [Expr<'g>; 3]| {
        let (a, b) = (minus(at(e, 1), at(e, 0)), minus(at(e, 2), at(e, 0)));
        [dot(a, a), dot(a, b), dot(b, b)]
    };
    let ([a0, b0, c0], [a, b, c]) = (metric(Element::rest), metric(Element::at));
    let determinant = a0 * c0 - b0 * b0;
    let inverse = [c0, -b0, a0].map(|x| x / determinant);
    let mixed = [
        [inverse[0] * a + inverse[1] * b, inverse[0] * b + inverse[1] * c],
        [inverse[1] * a + inverse[2] * b, inverse[1] * b + inverse[2] * c],
    ];
    (mixed, 0.5 * determinant.sqrt() * given.get("thickness"))
}
