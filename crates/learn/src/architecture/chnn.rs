//! A constrained Hamiltonian network (M. Finzi, K. A. Wang and A. G. Wilson, *Simplifying Hamiltonian and Lagrangian Neural Networks via Explicit Constraints*,
//! NeurIPS 2020, arXiv:2010.13581): bodies in Cartesian coordinates, whose potential energy and masses are learned, and whose constraints are known.
//!
//! The field of H = pᵀM⁻¹p/2 + V(x) is projected onto what Ψ = (Φ, G v) allows, with v = M⁻¹p and G = ∂Φ/∂x, off the surface too:
//!
//! $$\dot z=J\nabla H-J\,D\Psi^{\mathsf T}\,[D\Psi\,J\,D\Psi^{\mathsf T}]^{-1}\,D\Psi\,J\nabla H.$$
//!
//! The matrix in the middle is \[\[0, S\], \[−S, K\]\] with S = G M⁻¹ Gᵀ positive definite, so that one factorisation and two solutions are enough. With W = ∂(G v)/∂x,
//!
//! $$S\beta=Gv,\quad\dot x=v-M^{-1}G^{\mathsf T}\beta,\quad f=\nabla V-W^{\mathsf T}\beta,\quad S\alpha=GM^{-1}f-W\dot x,\quad\dot v=M^{-1}(G^{\mathsf T}\alpha-f).$$

use super::Card;
use super::cartesian::{Cartesian, Constrained, minus};
use super::structure::Structure;
use crate::chain::{ChainError, Writer};
use leastaction_expr::{Expr, jvp, vjp};
use leastaction_network::{Activation, NetworkError};

pub(super) const CARD: Card = Card {
    name: "chnn",
    about: "a constrained Hamiltonian network: Cartesian bodies with known constraints, learned masses and potential energy",
    build: |site, recipe| Ok(Box::new(Constrained::of(site, recipe, "CHNN", rates)?)),
};

/// The bodies of a structure, with a network of so many units between its layers for their potential energy.
///
/// # Errors
/// [`NetworkError`] if a layer has no units.
pub fn chnn<'g>(
    structure: Structure<'g>,
    hidden: &[usize],
    activation: Activation,
) -> Result<Constrained<'g>, NetworkError> {
    Ok(Constrained { bodies: Cartesian::new(structure, hidden, activation)?, name: "CHNN", rates })
}

/// ẏ, where y = \[x…, ẋ…\].
fn rates<'g>(
    bodies: &Cartesian<'g>,
    writer: &mut Writer<'g>,
    y: &[Expr<'g>],
) -> Result<Vec<Expr<'g>>, ChainError> {
    let (x, v) = y.split_at(bodies.structure.degrees());
    let resistance = bodies.resistance(writer, x, v)?;

    let values = bodies.structure.values(x);
    let along = |rates: &[Expr<'g>]| x.iter().copied().zip(rates.iter().copied()).collect::<Vec<_>>();
    let inverse_mass = |f: &[Expr<'g>]| bodies.inverse_mass(writer, f);
    let factor = bodies.structure.factor(writer, &bodies.masses, (&values, x));
    let speeds = jvp(&values, &along(v));
    let beta = factor.solve(&speeds);
    let dx = minus(v, &inverse_mass(&vjp(&values, x, &beta)));
    let f = minus(&resistance, &vjp(&speeds, x, &beta));
    let alpha = factor.solve(&minus(&jvp(&values, &along(&inverse_mass(&f))), &jvp(&speeds, &along(&dx))));
    let dv = inverse_mass(&minus(&vjp(&values, x, &alpha), &f));
    Ok([dx, dv].concat())
}
