//! Friction that is learned: Rayleigh's function D = q̇ᵀ L Lᵀ q̇/2 with L lower triangular, so that it never adds energy.

use crate::chain::Writer;
use crate::parameters::{Layout, NumberId};
use leastaction_expr::Expr;

/// What the diagonal of L begins with: at 0, nothing would be learned.
const FIRST: f64 = 0.1;

/// The entries of L, row by row.
pub(super) struct Damping {
    rows: Vec<Vec<NumberId>>,
}

impl Damping {
    /// Adds the entries for so many velocities to what is learned.
    pub(super) fn new(layout: &mut Layout, size: usize) -> Damping {
        let mut entry =
            |i: usize, j: usize| layout.number(&format!("damping {i},{j}"), if i == j { FIRST } else { 0.0 });
        Damping { rows: (0..size).map(|i| (0..=i).map(|j| entry(i, j)).collect()).collect() }
    }

    /// L Lᵀ v.
    pub(super) fn forces<'g>(&self, writer: &Writer<'g>, v: &[Expr<'g>]) -> Vec<Expr<'g>> {
        let (graph, n) = (writer.graph(), self.rows.len());
        let entry = |i: usize, j: usize| writer.number(self.rows[i][j]);
        let moved: Vec<Expr<'g>> = (0..n).map(|j| graph.sum((j..n).map(|i| entry(i, j) * v[i]))).collect();
        (0..n).map(|i| graph.sum((0..=i).map(|j| entry(i, j) * moved[j]))).collect()
    }

    /// L Lᵀ with these numbers.
    pub(super) fn matrix(&self, numbers: &[f64]) -> Vec<Vec<f64>> {
        let entry = |i: usize, j: usize| self.rows[i].get(j).map_or(0.0, |id| numbers[id.0]);
        let n = self.rows.len();
        let product = |i: usize, j: usize| (0..n).map(|k| entry(i, k) * entry(j, k)).sum();
        (0..n).map(|i| (0..n).map(|j| product(i, j)).collect()).collect()
    }
}
