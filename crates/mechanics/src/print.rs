//! The equations of motion as text and as LaTeX.

use crate::equations::{Equations, Statement, rate};
use leastaction_expr::{Expr, jacobian};
use std::fmt;

impl<'g> Equations<'g> {
    /// The equations of motion, left sides and right sides: M q̈ = … − Gᵀλ in rows for a Lagrangian, q̇ = … and ṗ = … − Gᵀλ for a
    /// Hamiltonian; then what constraints demand, Φ = 0 or Ψ = 0. The multiplier of a constraint `rod` is called `lambda_rod`.
    #[must_use]
    pub fn sides(&self) -> Vec<(Expr<'g>, Expr<'g>)> {
        let mut sides: Vec<_> = match &self.statement {
            Statement::Lagrangian(l) => {
                let accelerations: Vec<_> = self.velocities.iter().map(|&v| rate(v)).collect();
                let row = |i: usize| {
                    let terms =
                        (0..self.degrees()).filter_map(|j| Some(l.mass.get(i, j)? * accelerations[j]));
                    self.graph.sum(terms)
                };
                let right = l.loads.iter().zip(self.forces()).map(|(&load, force)| load + force);
                let right = right.zip(self.constraint_forces()).map(|(free, pull)| free + pull);
                (0..self.degrees()).map(row).zip(right).collect()
            }
            Statement::Hamiltonian(h) => {
                let rates = self.velocities.iter().copied().zip(h.gradient(&self.momenta));
                let forces = self.momentum_rates().into_iter().zip(self.constraint_forces());
                let forces = forces.map(|(free, pull)| free + pull);
                rates.chain(self.momenta.iter().map(|&p| rate(p)).zip(forces)).collect()
            }
        };
        sides.extend(self.constraints.iter().map(|c| (c.value, self.graph.number(0.0))));
        sides
    }

    /// −Gᵀλ with a symbol for each multiplier.
    fn constraint_forces(&self) -> Vec<Expr<'g>> {
        let rates: Vec<_> = self.constraints.iter().map(|c| c.rate).collect();
        let multipliers = self.multiplier_symbols();
        let mut forces = vec![self.graph.number(0.0); self.degrees()];
        for entry in jacobian(&rates, &self.velocities) {
            forces[entry.column] -= entry.value * multipliers[entry.row];
        }
        forces
    }

    /// A symbol for the multiplier of each constraint, which stands for nothing else.
    fn multiplier_symbols(&self) -> Vec<Expr<'g>> {
        let parameters = self.parameters.iter().map(|(p, _)| *p);
        let mut taken: Vec<_> = parameters.chain(self.coordinates.iter().copied()).collect();
        taken.extend(self.momenta.iter().chain(&self.inputs));
        let mut symbols = Vec::with_capacity(self.constraints.len());
        for constraint in &self.constraints {
            let letter = |c: char| if c.is_alphanumeric() { c } else { '_' };
            let mut name: String = "lambda_".chars().chain(constraint.name.chars().map(letter)).collect();
            while taken.contains(&self.graph.symbol(&name)) {
                name.push('_');
            }
            let symbol = self.graph.symbol(&name);
            taken.push(symbol);
            symbols.push(symbol);
        }
        symbols
    }

    /// The equations of motion in LaTeX, aligned at their equal signs.
    #[must_use]
    pub fn latex(&self) -> String {
        let line = |(left, right): (Expr<'g>, Expr<'g>)| format!("  {} &= {}", left.latex(), right.latex());
        let lines: Vec<_> = self.sides().into_iter().map(line).collect();
        format!("\\begin{{aligned}}\n{}\n\\end{{aligned}}", lines.join(" \\\\\n"))
    }
}

/// One equation of motion a line, then one constraint a line.
impl fmt::Display for Equations<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<_> = self.sides().iter().map(|(left, right)| format!("{left} = {right}")).collect();
        f.write_str(&lines.join("\n"))
    }
}
