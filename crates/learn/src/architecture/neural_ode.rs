//! A neural differential equation (R. T. Q. Chen and others, *Neural Ordinary Differential Equations*, NeurIPS 2018, arXiv:1806.07366): ż = N(q, q̇), which knows nothing of mechanics.

use super::chart::Chart;
use super::{Architecture, BuildError, Card};
use crate::chain::{ChainError, Writer};
use crate::parameters::{Layout, NetworkId};
use leastaction_expr::{Expr, Graph};

pub(super) const CARD: Card = Card {
    name: "neural-ode",
    about: "a neural differential equation: all rates by one network",
    build: |site, recipe| {
        if recipe.damping {
            return Err(BuildError::Damping);
        }
        let chart = Chart::of(site)?;
        let (n, mut layout) = (chart.degrees(), Layout::default());
        let widths = [&[chart.feature_count() + n], &recipe.hidden[..], &[2 * n]].concat();
        let rates = layout.network("rates", &widths, recipe.activation)?;
        Ok(Box::new(NeuralOde { chart, layout, rates }))
    },
};

/// See the module.
pub struct NeuralOde<'g> {
    chart: Chart<'g>,
    layout: Layout,
    rates: NetworkId,
}

impl<'g> Architecture<'g> for NeuralOde<'g> {
    fn name(&self) -> &'static str {
        "NeuralODE"
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
        let at = writer.network(self.rates, &[&self.chart.features(q), v].concat())?;
        writer.outputs(&at)
    }
}
