//! A constrained Lagrangian network (M. Finzi, K. A. Wang and A. G. Wilson, NeurIPS 2020, arXiv:2010.13581): what is known and learned is as in a constrained Hamiltonian network, and
//! accelerations follow from multipliers,
//!
//! $$S\lambda=G M^{-1}f+W\dot x,\qquad\ddot x=M^{-1}(f-G^{\mathsf T}\lambda),\qquad f=-\nabla V,\quad S=GM^{-1}G^{\mathsf T},\quad W=\frac{\partial(G\dot x)}{\partial x}.$$

use super::chnn::{minus, potential_widths};
use super::structure::{Masses, Structure};
use super::{Architecture, Card, Statements};
use crate::chain::{ChainError, Writer};
use crate::parameters::{Layout, NetworkId};
use leastaction_expr::{Expr, Graph, jvp, vjp};
use leastaction_network::{Activation, NetworkError};

pub(super) const CARD: Card = Card {
    name: "clnn",
    about: "a constrained Lagrangian network: the same, by multipliers",
    build: |site, recipe| {
        Ok(Box::new(Clnn::new(site.structure(recipe)?, &recipe.hidden, recipe.activation)?))
    },
};

/// See the module.
pub struct Clnn<'g> {
    structure: Structure<'g>,
    layout: Layout,
    potential: NetworkId,
    masses: Masses,
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
        let mut layout = Layout::default();
        let potential = layout.network("potential", &potential_widths(&structure, hidden), activation)?;
        let masses = structure.masses(&mut layout);
        Ok(Clnn { structure, layout, potential, masses })
    }
}

impl<'g> Architecture<'g> for Clnn<'g> {
    fn name(&self) -> &'static str {
        "CLNN"
    }

    fn graph(&self) -> &'g Graph {
        self.structure.graph()
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn dimension(&self) -> usize {
        2 * self.structure.degrees()
    }

    fn statements(&self, numbers: &[f64]) -> Option<Statements> {
        let Clnn { structure, masses, .. } = self;
        Some(Statements {
            bodies: structure.statements(masses, numbers),
            network: "potential",
            reads: structure.names(),
        })
    }

    fn rates(&self, writer: &mut Writer<'g>, y: &[Expr<'g>]) -> Result<Vec<Expr<'g>>, ChainError> {
        let structure = &self.structure;
        let (x, v) = y.split_at(structure.degrees());
        let at = writer.network(self.potential, x)?;
        let slope = writer.pull(&at, &[writer.graph().number(1.0)])?;

        let values = structure.values(x);
        let along = |rates: &[Expr<'g>]| x.iter().copied().zip(rates.iter().copied()).collect::<Vec<_>>();
        let inverse_mass = |f: &[Expr<'g>]| structure.inverse_mass(writer, &self.masses, f);
        let factor = structure.factor(writer, &self.masses, (&values, x));
        let bends = jvp(&jvp(&values, &along(v)), &along(v));
        // The multipliers with their signs turned round.
        let alpha = factor.solve(&minus(&jvp(&values, &along(&inverse_mass(&slope))), &bends));
        let dv = inverse_mass(&minus(&vjp(&values, x, &alpha), &slope));
        Ok([v.to_vec(), dv].concat())
    }
}
