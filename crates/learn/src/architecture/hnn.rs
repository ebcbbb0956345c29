//! A Hamiltonian network (S. Greydanus, M. Dzamba and J. Yosinski, *Hamiltonian Neural Networks*, NeurIPS 2019, arXiv:1906.01563; with a mass matrix as in
//! Y. D. Zhong, B. Dey and A. Chakraborty, *Symplectic ODE-Net*, ICLR 2020, arXiv:1909.12077): H = pᵀM⁻¹(q)p/2 + V(q),
//!
//! $$\dot q=M^{-1}p,\qquad\dot p=-\frac{\partial V}{\partial q}-\frac{\partial}{\partial q}\Bigl(\tfrac12p^{\mathsf T}M^{-1}p\Bigr).$$

use super::chart::Chart;
use super::unconstrained::Energies;
use super::{Architecture, Card};
use crate::chain::{ChainError, Writer};
use crate::parameters::Layout;
use leastaction_expr::{Expr, Graph};

pub(super) const CARD: Card = Card {
    name: "hnn",
    about: "a Hamiltonian network: potential energy and mass matrix learned, in coordinates without constraints",
    build: |site, recipe| Ok(Box::new(Hnn { energies: Energies::new(site, recipe)? })),
};

/// See the module.
pub struct Hnn<'g> {
    energies: Energies<'g>,
}

impl<'g> Architecture<'g> for Hnn<'g> {
    fn name(&self) -> &'static str {
        "HNN"
    }

    fn graph(&self) -> &'g Graph {
        self.energies.chart.graph()
    }

    fn layout(&self) -> &Layout {
        &self.energies.layout
    }

    fn dimension(&self) -> usize {
        2 * self.energies.chart.degrees()
    }

    fn chart(&self) -> Option<&Chart<'g>> {
        Some(&self.energies.chart)
    }

    fn encode(&self, writer: &mut Writer<'g>, z: &[Expr<'g>]) -> Result<Vec<Expr<'g>>, ChainError> {
        let (q, v) = z.split_at(z.len() / 2);
        let masses = self.energies.masses(writer, q)?;
        Ok([q, &masses.momenta(v)].concat())
    }

    fn decode(&self, writer: &mut Writer<'g>, y: &[Expr<'g>]) -> Result<Vec<Expr<'g>>, ChainError> {
        let (q, p) = y.split_at(y.len() / 2);
        let masses = self.energies.masses(writer, q)?;
        Ok([q, &masses.velocities(p)].concat())
    }

    fn rates(&self, writer: &mut Writer<'g>, y: &[Expr<'g>]) -> Result<Vec<Expr<'g>>, ChainError> {
        let (q, p) = y.split_at(y.len() / 2);
        let masses = self.energies.masses(writer, q)?;
        let velocities = masses.velocities(p);
        let potential = self.energies.slope(writer, q)?;
        let potential = self.energies.with_friction(writer, &velocities, potential);
        let kinetic = self.energies.kinetic_slope(writer, &masses, (q, p))?;
        let forces = potential.iter().zip(&kinetic).map(|(&v, &k)| -(v + k));
        Ok(velocities.iter().copied().chain(forces).collect())
    }
}
