//! The equations of motion as text and as LaTeX.

mod page;

pub use page::{EquationForm, FormError, Page, Row};

use crate::check::state_of;
use crate::equations::{Equations, Statement, rate};
use crate::names::multiplier;
use leastaction_expr::{Expr, Id, jacobian};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt;

/// A line: an equation that may be arranged, or one whose left side stays, and of which the right side may be known as a fraction.
#[derive(Clone, Copy)]
enum RowOf<'g> {
    Equation(Expr<'g>, Expr<'g>),
    Definition(Expr<'g>, Expr<'g>),
    Quotient(Expr<'g>, Expr<'g>, [Expr<'g>; 2]),
    /// One that stays as it was written.
    Given(Expr<'g>, Expr<'g>),
}

impl<'g> Equations<'g> {
    /// The equations of motion, left sides and right sides: M q̈ = … − Gᵀλ in rows for a Lagrangian, q̇ = … and ṗ = … − Gᵀλ for a
    /// Hamiltonian; then what constraints demand, Φ = 0 or Ψ = 0. The multiplier of a constraint `rod` is called `lambda_rod`, and the
    /// force on `x` of an energy `springs` that is no formula `force_springs_x`.
    #[must_use]
    pub fn sides(&self) -> Vec<(Expr<'g>, Expr<'g>)> {
        let sides = |row| match row {
            RowOf::Equation(left, right)
            | RowOf::Definition(left, right)
            | RowOf::Given(left, right)
            | RowOf::Quotient(left, right, _) => (left, right),
        };
        self.rows().into_iter().map(sides).collect()
    }

    fn rows(&self) -> Vec<RowOf<'g>> {
        let mut rows: Vec<_> = match &self.statement {
            Statement::Lagrangian(l) => {
                let accelerations: Vec<_> = self.velocities.iter().map(|&v| rate(v)).collect();
                let row = |i: usize| {
                    let terms =
                        (0..self.degrees()).filter_map(|j| Some(l.mass.get(i, j)? * accelerations[j]));
                    self.graph.sum(terms)
                };
                let right = l.loads.iter().zip(self.forces()).map(|(&load, force)| load + force);
                let right = right.zip(self.other_forces()).map(|(formula, other)| formula + other);
                let right = right.zip(self.constraint_forces()).map(|(free, pull)| free + pull);
                let sides = (0..self.degrees()).map(row).zip(right).enumerate();
                sides
                    .map(|(i, (left, right))| match self.state_rate(i) {
                        Some(rate) => RowOf::Definition(rate, self.with_states(right)),
                        None => RowOf::Equation(left, self.with_states(right)),
                    })
                    .collect()
            }
            Statement::Hamiltonian(h) => {
                let moving = |(i, _): &(usize, _)| !self.states.contains(i);
                let rates = self.velocities.iter().copied().zip(h.gradient(&self.momenta));
                let rates = rates.enumerate().filter(moving).map(|(_, sides)| sides);
                let forces = self.formula_momentum_rates().into_iter().zip(self.other_forces());
                let forces = forces.map(|(formula, other)| formula + other).zip(self.constraint_forces());
                let forces = forces.map(|(free, pull)| free + pull);
                let changes = self.momenta.iter().map(|&p| rate(p));
                let changes = changes.enumerate().map(|(i, change)| self.state_rate(i).unwrap_or(change));
                let sides = rates.chain(changes.zip(forces));
                sides.map(|(left, right)| RowOf::Definition(left, self.with_states(right))).collect()
            }
        };
        rows.extend(self.constraint_rows());
        rows
    }

    /// What constraints demand.
    fn constraint_rows(&self) -> impl Iterator<Item = RowOf<'g>> {
        self.constraints.iter().map(|c| RowOf::Given(c.value, self.graph.number(0.0)))
    }

    /// An expression in which states have their names.
    fn with_states(&self, expression: Expr<'g>) -> Expr<'g> {
        let states = self.states.iter().map(|&i| (self.velocities[i], self.state_symbol(i)));
        expression.substitute(&states.collect::<Vec<_>>())
    }

    /// The name of a state, as a symbol.
    fn state_symbol(&self, place: usize) -> Expr<'g> {
        self.graph.symbol(&state_of(self.coordinates[place]))
    }

    /// The rate of a state, by the place of the coordinate whose rate it is; `None` for others.
    fn state_rate(&self, place: usize) -> Option<Expr<'g>> {
        self.states.contains(&place).then(|| rate(self.state_symbol(place)))
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

    /// The forces of energies that are no formulas, with a symbol for each.
    fn other_forces(&self) -> Vec<Expr<'g>> {
        let mut forces = vec![self.graph.number(0.0); self.degrees()];
        let places: FxHashMap<usize, usize> = (0..self.degrees()).map(|i| (self.place(i), i)).collect();
        for potential in &self.potential {
            // Held coordinates stand after the others, and move as they must; so do nodes that are computed from numbers.
            let reads = potential.reads().iter().filter_map(|&i| places.get(&(i as usize)).copied());
            let reads: std::collections::BTreeSet<usize> = reads.collect();
            let mut taken = self.symbols();
            for i in reads {
                let parts = ["force", &potential.name, &self.coordinates[i].to_string()];
                forces[i] += self.unused_symbol(&parts.join("_"), &mut taken);
            }
        }
        forces
    }

    /// The symbols of the model.
    fn symbols(&self) -> FxHashSet<Id> {
        let parameters = self.parameters.iter().map(|(p, _)| *p);
        let symbols = parameters.chain(self.coordinates.iter().copied());
        symbols.chain(self.momenta.iter().chain(&self.inputs).copied()).map(|symbol| symbol.id()).collect()
    }

    /// A symbol that stands for nothing else, named after a text.
    fn unused_symbol(&self, text: &str, taken: &mut FxHashSet<Id>) -> Expr<'g> {
        let letter = |c: char| if c.is_alphanumeric() { c } else { '_' };
        let mut name: String = text.chars().map(letter).collect();
        while !taken.insert(self.graph.symbol(&name).id()) {
            name.push('_');
        }
        self.graph.symbol(&name)
    }

    /// A symbol for the multiplier of each constraint, which stands for nothing else.
    fn multiplier_symbols(&self) -> Vec<Expr<'g>> {
        let mut taken = self.symbols();
        let symbol = |c: &crate::Constraint<'g>| self.unused_symbol(&multiplier(&c.name), &mut taken);
        self.constraints.iter().map(symbol).collect()
    }

    /// The equations of motion in LaTeX, aligned at their equal signs: what [`Equations::page`] has of them, as they are stated.
    #[must_use]
    pub fn latex(&self) -> String {
        self.stated().latex()
    }

    fn stated(&self) -> Page<'g> {
        let page = self.page(EquationForm::Stated, &[]);
        page.unwrap_or_else(|_| unreachable!("all equations have the form in which they are stated"))
            .motion_only()
    }

    /// One line for all nodes of a name, in text and in LaTeX.
    fn node_lines(&self) -> Vec<[String; 2]> {
        let nodes = self.nodes.iter().flat_map(|nodes| nodes.blocks.iter().map(move |b| (nodes, b)));
        let lines = nodes.map(|(nodes, block)| {
            let energies = self.potential.iter().filter(|potential| potential.formula().is_none());
            let mut forces: Vec<String> =
                energies.map(|potential| format!("force_{}", potential.name)).collect();
            if nodes.gravity.iter().any(|g| g.as_number() != Some(0.0)) {
                let gravity: Vec<_> = nodes.gravity.iter().map(ToString::to_string).collect();
                forces.push(format!("m*[{}]", gravity.join(", ")));
            }
            if block.damping.as_number() != Some(0.0) {
                forces.push(format!("-m*({})*{}[i]'", block.damping, block.name));
            }
            if nodes.is_driven() {
                forces.push("what is applied".to_owned());
            }
            if forces.is_empty() {
                forces.push("0".to_owned());
            }
            let name = block.name.replace('_', "\\_");
            [
                format!("m*{}[i]'' = {}", block.name, forces.join(" + ")),
                format!("m_i\\,\\ddot x_i &= f_i \\qquad\\text{{for each node of {name}}}"),
            ]
        });
        lines.collect()
    }
}

/// One equation of motion a line, then one constraint a line, and one line for all nodes of a name: what [`Equations::page`] has of them, as they
/// are stated.
impl fmt::Display for Equations<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stated().fmt(f)
    }
}
