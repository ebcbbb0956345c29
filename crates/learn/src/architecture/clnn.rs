//! A constrained Lagrangian network (M. Finzi, K. A. Wang and A. G. Wilson, NeurIPS 2020, arXiv:2010.13581): what is known and learned is as in a constrained Hamiltonian network, and
//! accelerations follow from multipliers,
//!
//! $$S\lambda=G M^{-1}f+W\dot x,\qquad\ddot x=M^{-1}(f-G^{\mathsf T}\lambda),\qquad f=-\nabla V,\quad S=GM^{-1}G^{\mathsf T},\quad W=\frac{\partial(G\dot x)}{\partial x}.$$

use super::Card;
use super::cartesian::{Cartesian, Constrained, minus};
use crate::chain::{ChainError, Writer};
use leastaction_expr::{Expr, jvp, vjp};

pub(super) const CARD: Card = Card {
    name: "clnn",
    about: "a constrained Lagrangian network: the same, by multipliers",
    build: |site, recipe| Ok(Box::new(Constrained::of(site, recipe, "CLNN", rates)?)),
};

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
    let bends = jvp(&jvp(&values, &along(v)), &along(v));
    // The multipliers with their signs turned round.
    let alpha = factor.solve(&minus(&jvp(&values, &along(&inverse_mass(&resistance))), &bends));
    let dv = inverse_mass(&minus(&vjp(&values, x, &alpha), &resistance));
    Ok([v.to_vec(), dv].concat())
}
