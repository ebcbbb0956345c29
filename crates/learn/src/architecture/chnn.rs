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

use super::structure::{Masses, Structure};
use super::{Architecture, Card, Statements};
use crate::chain::{ChainError, Writer};
use crate::parameters::{Layout, NetworkId};
use leastaction_expr::{Expr, Graph, jvp, vjp};
use leastaction_network::{Activation, NetworkError};

pub(super) const CARD: Card = Card {
    name: "chnn",
    about: "a constrained Hamiltonian network: Cartesian bodies with known constraints, learned masses and potential energy",
    build: |site, recipe| {
        Ok(Box::new(Chnn::new(site.structure(recipe)?, &recipe.hidden, recipe.activation)?))
    },
};

/// See the module.
pub struct Chnn<'g> {
    structure: Structure<'g>,
    layout: Layout,
    potential: NetworkId,
    masses: Masses,
}

impl<'g> Chnn<'g> {
    /// The bodies of a structure, with a network of so many units between its layers for their potential energy.
    ///
    /// # Errors
    /// [`NetworkError`] if a layer has no units.
    pub fn new(
        structure: Structure<'g>,
        hidden: &[usize],
        activation: Activation,
    ) -> Result<Chnn<'g>, NetworkError> {
        let mut layout = Layout::default();
        let potential = layout.network("potential", &potential_widths(&structure, hidden), activation)?;
        let masses = structure.masses(&mut layout);
        Ok(Chnn { structure, layout, potential, masses })
    }
}

/// From Cartesian coordinates to an energy.
pub(super) fn potential_widths(structure: &Structure<'_>, hidden: &[usize]) -> Vec<usize> {
    [&[structure.degrees()], hidden, &[1]].concat()
}

impl<'g> Architecture<'g> for Chnn<'g> {
    fn name(&self) -> &'static str {
        "CHNN"
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
        let Chnn { structure, masses, .. } = self;
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
        let speeds = jvp(&values, &along(v));
        let beta = factor.solve(&speeds);
        let dx = minus(v, &inverse_mass(&vjp(&values, x, &beta)));
        let f = minus(&slope, &vjp(&speeds, x, &beta));
        let alpha =
            factor.solve(&minus(&jvp(&values, &along(&inverse_mass(&f))), &jvp(&speeds, &along(&dx))));
        let dv = inverse_mass(&minus(&vjp(&values, x, &alpha), &f));
        Ok([dx, dv].concat())
    }
}

pub(super) fn minus<'g>(a: &[Expr<'g>], b: &[Expr<'g>]) -> Vec<Expr<'g>> {
    a.iter().zip(b).map(|(&a, &b)| a - b).collect()
}
