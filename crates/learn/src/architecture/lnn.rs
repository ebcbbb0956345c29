//! A Lagrangian network (M. Cranmer and others, *Lagrangian Neural Networks*, 2020, arXiv:2003.04630): any Lagrangian L(q, q̇) by one network, which need not be quadratic in velocities. Euler and
//! Lagrange's equations are solved for accelerations,
//!
//! $$\frac{\partial^2L}{\partial\dot q^2}\,\ddot q=\frac{\partial L}{\partial q}-\frac{\partial^2L}{\partial\dot q\,\partial q}\,\dot q.$$
//!
//! Here L = q̇²/2 + N(q, q̇), so that the matrix on the left can be solved with from the beginning. It is factored without pivots: where it becomes singular, predictions run away, and training says so.

use super::chart::Chart;
use super::damping::Damping;
use super::{Architecture, Card};
use crate::chain::{ChainError, Writer};
use crate::parameters::{Layout, NetworkId};
use leastaction_expr::{Expr, Graph, jvp, vjp};
use leastaction_mechanics::Symmetric;

pub(super) const CARD: Card = Card {
    name: "lnn",
    about: "a Lagrangian network: any function of coordinates and velocities, in coordinates without constraints",
    build: |site, recipe| {
        let chart = Chart::of(site)?;
        let (n, mut layout) = (chart.degrees(), Layout::default());
        let widths = [&[chart.feature_count() + n], &recipe.hidden[..], &[1]].concat();
        let lagrangian = layout.network("lagrangian", &widths, recipe.activation)?;
        let damping = recipe.damping.then(|| Damping::new(&mut layout, n));
        Ok(Box::new(Lnn { chart, layout, lagrangian, damping }))
    },
};

/// See the module.
pub struct Lnn<'g> {
    chart: Chart<'g>,
    layout: Layout,
    lagrangian: NetworkId,
    damping: Option<Damping>,
}

impl<'g> Architecture<'g> for Lnn<'g> {
    fn name(&self) -> &'static str {
        "LNN"
    }

    fn graph(&self) -> &'g Graph {
        self.chart.graph()
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn dimension(&self) -> usize {
        2 * self.chart.degrees()
    }

    fn chart(&self) -> Option<&Chart<'g>> {
        Some(&self.chart)
    }

    fn rates(&self, writer: &mut Writer<'g>, y: &[Expr<'g>]) -> Result<Vec<Expr<'g>>, ChainError> {
        let (q, v) = y.split_at(y.len() / 2);
        let (graph, n) = (self.graph(), q.len());
        let (zero, one) = (graph.number(0.0), graph.number(1.0));
        let features = self.chart.features(q);
        let places = features.len();
        let at = writer.network(self.lagrangian, &[&features[..], v].concat())?;
        let slopes = writer.pull(&at, &[one])?;
        let forces = vjp(&features, q, &slopes[..places]);
        let along: Vec<_> = q.iter().copied().zip(v.iter().copied()).collect();
        let turned = jvp(&features, &along);
        let mut mass = Symmetric::zero(n);
        let mut loads = Vec::with_capacity(n);
        for i in 0..n {
            let mut direction = vec![zero; places + n];
            direction[places + i] = one;
            let row = writer.curve(&at, &[one], &direction)?;
            for (j, &entry) in row[places..].iter().enumerate().take(i + 1) {
                mass.add(i, j, if i == j { one + entry } else { entry });
            }
            let moved = graph.sum(row[..places].iter().zip(&turned).map(|(&a, &b)| a * b));
            loads.push(forces[i] - moved);
        }
        if let Some(damping) = &self.damping {
            loads.iter_mut().zip(damping.forces(writer, v)).for_each(|(load, force)| *load -= force);
        }
        let accelerations = mass.factored().solve(&loads);
        Ok([v, &accelerations[..]].concat())
    }
}
