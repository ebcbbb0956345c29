//! A constrained Lagrangian network (M. Finzi, K. A. Wang and A. G. Wilson, NeurIPS 2020, arXiv:2010.13581): what is known and learned is as in a constrained Hamiltonian network, and
//! accelerations follow from multipliers,
//!
//! $$S\lambda=G M^{-1}f+W\dot x,\qquad\ddot x=M^{-1}(f-G^{\mathsf T}\lambda),\qquad f=-\nabla V,\quad S=GM^{-1}G^{\mathsf T},\quad W=\frac{\partial(G\dot x)}{\partial x}.$$

use super::cartesian::{Cartesian, minus};
use super::structure::Structure;
use super::{Architecture, Card, Statements};
use crate::chain::{ChainError, Writer};
use crate::parameters::Layout;
use leastaction_expr::{Expr, Graph, jvp, vjp};
use leastaction_network::{Activation, NetworkError};

pub(super) const CARD: Card = Card {
    name: "clnn",
    about: "a constrained Lagrangian network: the same, by multipliers",
    build: |site, recipe| Ok(Box::new(Clnn { bodies: Cartesian::of(site, recipe)? })),
};

/// See the module.
pub struct Clnn<'g> {
    bodies: Cartesian<'g>,
}

impl<'g> Clnn<'g> {
    /// The bodies of a structure, with a network of so many units between its layers for their potential energy.
    ///
    /// # Errors
    /// [`NetworkError`] if a layer has no units.
    pub fn new(
        structure: Structure<'g>,
        hidden: &[usize],
        activation: Activation,
    ) -> Result<Clnn<'g>, NetworkError> {
        Ok(Clnn { bodies: Cartesian::new(structure, hidden, activation)? })
    }
}

impl<'g> Architecture<'g> for Clnn<'g> {
    fn name(&self) -> &'static str {
        "CLNN"
    }

    fn graph(&self) -> &'g Graph {
        self.bodies.structure.graph()
    }

    fn layout(&self) -> &Layout {
        &self.bodies.layout
    }

    fn dimension(&self) -> usize {
        2 * self.bodies.structure.degrees()
    }

    fn statements(&self, numbers: &[f64]) -> Option<Statements> {
        Some(self.bodies.statements(numbers))
    }

    fn rates(&self, writer: &mut Writer<'g>, y: &[Expr<'g>]) -> Result<Vec<Expr<'g>>, ChainError> {
        let bodies = &self.bodies;
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

    fn rattle(
        &self,
        writer: &mut Writer<'g>,
        y: &[Expr<'g>],
        h: Expr<'g>,
    ) -> Option<Result<Vec<Expr<'g>>, ChainError>> {
        self.bodies.is_symplectic().then(|| self.bodies.rattle(writer, y, h))
    }
}
