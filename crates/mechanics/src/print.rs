//! The equations of motion as text and as LaTeX.

use crate::equations::{Equations, Statement, rate};
use leastaction_expr::Expr;
use std::fmt;

impl<'g> Equations<'g> {
    /// The equations of motion, left sides and right sides: M q̈ = … in rows for a Lagrangian, q̇ = … and ṗ = … for a Hamiltonian.
    #[must_use]
    pub fn sides(&self) -> Vec<(Expr<'g>, Expr<'g>)> {
        match &self.statement {
            Statement::Lagrangian(l) => {
                let accelerations: Vec<_> = self.velocities.iter().map(|&v| rate(v)).collect();
                let row = |i: usize| {
                    let terms =
                        (0..self.degrees()).filter_map(|j| Some(l.mass.get(i, j)? * accelerations[j]));
                    self.graph.sum(terms)
                };
                let right = l.loads.iter().zip(self.forces()).map(|(&load, force)| load + force);
                (0..self.degrees()).map(row).zip(right).collect()
            }
            Statement::Hamiltonian(h) => {
                let rates = self.velocities.iter().copied().zip(h.gradient(&self.momenta));
                let pushes = self.momenta.iter().map(|&p| rate(p)).zip(self.pushes());
                rates.chain(pushes).collect()
            }
        }
    }

    /// The equations of motion in LaTeX, aligned at their equal signs.
    #[must_use]
    pub fn latex(&self) -> String {
        let line = |(left, right): (Expr<'g>, Expr<'g>)| format!("  {} &= {}", left.latex(), right.latex());
        let lines: Vec<_> = self.sides().into_iter().map(line).collect();
        format!("\\begin{{aligned}}\n{}\n\\end{{aligned}}", lines.join(" \\\\\n"))
    }
}

/// One equation of motion a line.
impl fmt::Display for Equations<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<_> = self.sides().iter().map(|(left, right)| format!("{left} = {right}")).collect();
        f.write_str(&lines.join("\n"))
    }
}
