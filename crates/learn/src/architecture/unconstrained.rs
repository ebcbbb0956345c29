//! What networks share that know a system by coordinates without constraints: a potential energy V(q), and the inverse of the mass matrix,
//! M⁻¹(q) = L Lᵀ + 10⁻⁴, with L lower triangular and a diagonal of softplus. Both networks read features of q, of which angles have their cosine and sine.

use super::chart::Chart;
use super::damping::Damping;
use super::{BuildError, Site};
use crate::chain::{ChainError, Evaluated, Writer};
use crate::parameters::{Layout, NetworkId};
use crate::recipe::Recipe;
use leastaction_expr::{Expr, jvp, vjp};
use leastaction_mechanics::Symmetric;

/// What is added to the diagonal of M⁻¹.
const LEAST: f64 = 1e-4;

/// A potential energy and an inverse mass matrix, by networks.
pub(super) struct Energies<'g> {
    pub(super) chart: Chart<'g>,
    pub(super) layout: Layout,
    potential: NetworkId,
    cholesky: NetworkId,
    damping: Option<Damping>,
}

/// The network of the mass matrix at a configuration.
pub(super) struct Masses<'g> {
    at: Evaluated<'g>,
    /// Its outputs, and the entries of L by rows.
    raw: Vec<Expr<'g>>,
    factor: Vec<Vec<Expr<'g>>>,
}

impl<'g> Energies<'g> {
    pub(super) fn new(site: &Site<'_, 'g>, recipe: &Recipe) -> Result<Energies<'g>, BuildError> {
        let chart = Chart::of(site)?;
        let (n, mut layout) = (chart.degrees(), Layout::default());
        let widths = |outputs: usize| [&[chart.feature_count()], &recipe.hidden[..], &[outputs]].concat();
        let potential = layout.network("potential", &widths(1), recipe.activation)?;
        let cholesky = layout.network("inverse mass", &widths(n * (n + 1) / 2), recipe.activation)?;
        let damping = recipe.damping.then(|| Damping::new(&mut layout, n));
        Ok(Energies { chart, layout, potential, cholesky, damping })
    }

    /// The forces of friction at velocities, with their signs turned round, added to others.
    pub(super) fn with_friction(
        &self,
        writer: &Writer<'g>,
        v: &[Expr<'g>],
        forces: Vec<Expr<'g>>,
    ) -> Vec<Expr<'g>> {
        match &self.damping {
            Some(damping) => forces.into_iter().zip(damping.forces(writer, v)).map(|(a, b)| a + b).collect(),
            None => forces,
        }
    }

    /// The mass matrix at q.
    pub(super) fn masses(&self, writer: &mut Writer<'g>, q: &[Expr<'g>]) -> Result<Masses<'g>, ChainError> {
        let at = writer.network(self.cholesky, &self.chart.features(q))?;
        let raw = writer.outputs(&at)?;
        let mut rows = Vec::new();
        let mut next = raw.iter().copied();
        for i in 0..q.len() {
            let mut row: Vec<Expr<'g>> = next.by_ref().take(i + 1).collect();
            row[i] = softplus(row[i]);
            rows.push(row);
        }
        Ok(Masses { at, raw, factor: rows })
    }

    /// ∂V/∂q.
    pub(super) fn slope(&self, writer: &mut Writer<'g>, q: &[Expr<'g>]) -> Result<Vec<Expr<'g>>, ChainError> {
        let features = self.chart.features(q);
        let at = writer.network(self.potential, &features)?;
        let pulled = writer.pull(&at, &[writer.graph().number(1.0)])?;
        Ok(vjp(&features, q, &pulled))
    }

    /// ∂(pᵀM⁻¹p/2)/∂q.
    pub(super) fn kinetic_slope(
        &self,
        writer: &mut Writer<'g>,
        masses: &Masses<'g>,
        (q, p): (&[Expr<'g>], &[Expr<'g>]),
    ) -> Result<Vec<Expr<'g>>, ChainError> {
        let moved = masses.transposed(p);
        let kinetic = 0.5 * writer.graph().sum(moved.iter().map(|&x| x * x));
        let weights = kinetic.gradient(&masses.raw);
        let pulled = writer.pull(&masses.at, &weights)?;
        Ok(vjp(&self.chart.features(q), q, &pulled))
    }

    /// How M⁻¹p changes with q at the rates v, p held.
    pub(super) fn turning(
        &self,
        writer: &mut Writer<'g>,
        masses: &Masses<'g>,
        [q, v, p]: [&[Expr<'g>]; 3],
    ) -> Result<Vec<Expr<'g>>, ChainError> {
        let along: Vec<_> = q.iter().copied().zip(v.iter().copied()).collect();
        let direction = jvp(&self.chart.features(q), &along);
        let rates = writer.push(&masses.at, &direction)?;
        let along: Vec<_> = masses.raw.iter().copied().zip(rates).collect();
        Ok(jvp(&masses.velocities(p), &along))
    }
}

impl<'g> Masses<'g> {
    /// Lᵀ p.
    fn transposed(&self, p: &[Expr<'g>]) -> Vec<Expr<'g>> {
        let graph = p[0].graph();
        (0..p.len()).map(|j| graph.sum((j..p.len()).map(|i| self.factor[i][j] * p[i]))).collect()
    }

    /// M⁻¹ p.
    pub(super) fn velocities(&self, p: &[Expr<'g>]) -> Vec<Expr<'g>> {
        let (graph, moved) = (p[0].graph(), self.transposed(p));
        let row = |(i, row): (usize, &Vec<Expr<'g>>)| {
            LEAST * p[i] + graph.sum(row.iter().zip(&moved).map(|(&l, &x)| l * x))
        };
        self.factor.iter().enumerate().map(row).collect()
    }

    /// p with M⁻¹ p = v.
    pub(super) fn momenta(&self, v: &[Expr<'g>]) -> Vec<Expr<'g>> {
        let (graph, n) = (v[0].graph(), v.len());
        let mut matrix = Symmetric::zero(n);
        for i in 0..n {
            for j in 0..=i {
                let product = graph.sum((0..=j).map(|k| self.factor[i][k] * self.factor[j][k]));
                matrix.add(i, j, if i == j { product + LEAST } else { product });
            }
        }
        matrix.factored().solve(v)
    }
}

/// ln(1 + eˣ), for any x.
fn softplus(x: Expr<'_>) -> Expr<'_> {
    (-x.abs()).exp().ln1p() + x.max(0.0)
}
