//! A deep Lagrangian network (M. Lutter, C. Ritter and J. Peters, *Deep Lagrangian Networks*, ICLR 2019, arXiv:1907.04490): L = q̇ᵀM(q)q̇/2 − V(q), with a network for the inverse of M. Euler
//! and Lagrange's equations are solved for accelerations: with p = M q̇,
//!
//! $$\ddot q=M^{-1}\dot p+\Bigl(\frac{d}{dt}M^{-1}\Bigr)p,\qquad\dot p=-\frac{\partial V}{\partial q}-\frac{\partial}{\partial q}\Bigl(\tfrac12p^{\mathsf T}M^{-1}p\Bigr).$$

use super::chart::Chart;
use super::unconstrained::Energies;
use super::{Architecture, Card};
use crate::chain::{ChainError, Writer};
use crate::parameters::Layout;
use leastaction_expr::{Expr, Graph};

pub(super) const CARD: Card = Card {
    name: "delan",
    about: "a deep Lagrangian network: the same energies, by accelerations",
    build: |site, recipe| Ok(Box::new(DeLaN { energies: Energies::new(site, recipe)? })),
};

/// See the module.
pub struct DeLaN<'g> {
    energies: Energies<'g>,
}

impl<'g> Architecture<'g> for DeLaN<'g> {
    fn name(&self) -> &'static str {
        "DeLaN"
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

    fn rates(&self, writer: &mut Writer<'g>, y: &[Expr<'g>]) -> Result<Vec<Expr<'g>>, ChainError> {
        let (q, v) = y.split_at(y.len() / 2);
        let masses = self.energies.masses(writer, q)?;
        let p = writer.store(&masses.momenta(v));
        let potential = self.energies.slope(writer, q)?;
        let potential = self.energies.with_friction(writer, v, potential);
        let kinetic = self.energies.kinetic_slope(writer, &masses, (q, &p))?;
        let turning = self.energies.turning(writer, &masses, [q, v, &p])?;
        let forces: Vec<Expr<'g>> = potential.iter().zip(&kinetic).map(|(&v, &k)| -(v + k)).collect();
        let accelerations = masses.velocities(&forces).into_iter().zip(turning).map(|(a, b)| a + b);
        Ok(v.iter().copied().chain(accelerations).collect())
    }
}
