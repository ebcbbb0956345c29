//! Tetrahedra of elastic materials: V ψ(F) for the volume V at rest and the deformation gradient F = Ds Dm⁻¹, with the edges Dm at rest and
//! Ds now as columns.

pub(super) mod corotational;
pub(super) mod linear;
pub(super) mod mooney_rivlin;
pub(super) mod neo_hookean;
pub(super) mod st_venant_kirchhoff;
pub(super) mod stable_neo_hookean;

use super::{Card, Given, LAMBDA, MU, Parameter};
use crate::field::Over;
use crate::field::vector::{Columns, determinant, dot, inverse_rows, minus};
use leastaction_expr::Expr;

/// The deformation of a tetrahedron.
struct Deformation<'g> {
    /// F, by its columns.
    gradient: Columns<'g, 3>,
    /// The volume at rest.
    volume: Expr<'g>,
}

impl<'g> Deformation<'g> {
    fn of(given: &Given<'_, 'g>) -> Deformation<'g> {
        let e = &given.element;
        let now = [1, 2, 3].map(|node| minus(e.at(node), e.at(0)));
        let rest = [1, 2, 3].map(|node| minus(e.rest(node), e.rest(0)));
        let inverse = inverse_rows(rest);
        let entry = |i: usize, j: usize| {
            now[0][i] * inverse[0][j] + now[1][i] * inverse[1][j] + now[2][i] * inverse[2][j]
        };
        let gradient = std::array::from_fn(|j| std::array::from_fn(|i| entry(i, j)));
        Deformation { gradient, volume: determinant(rest) * (1.0 / 6.0) }
    }

    /// C = FᵀF: its entries 00, 11, 22, 12, 20, 01.
    fn right(&self) -> [Expr<'g>; 6] {
        let [a, b, c] = self.gradient;
        [dot(a, a), dot(b, b), dot(c, c), dot(b, c), dot(c, a), dot(a, b)]
    }

    /// J = det F.
    fn jacobian(&self) -> Expr<'g> {
        determinant(self.gradient)
    }

    /// I₁ = tr C.
    fn first(&self) -> Expr<'g> {
        let [a, b, c] = self.gradient;
        dot(a, a) + dot(b, b) + dot(c, c)
    }

    /// I₂ = (I₁² − tr C²)/2.
    fn second(&self) -> Expr<'g> {
        let [a, b, c, d, e, f] = self.right();
        a * b + b * c + c * a - d.pow(2) - e.pow(2) - f.pow(2)
    }
}

/// A material by its energy for each unit of volume at rest.
const fn card(
    name: &'static str,
    about: &'static str,
    formula: &'static str,
    reference: &'static str,
    parameters: &'static [Parameter],
    energy: for<'g> fn(&mut Given<'_, 'g>) -> Expr<'g>,
) -> Card {
    Card {
        name,
        about,
        formula,
        reference,
        over: Over::Tetrahedra,
        parameters,
        invariant: [true, true],
        energy,
    }
}

/// Those of Hooke's law.
const LAME: &[Parameter] = &[LAMBDA, MU];
