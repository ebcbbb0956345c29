//! The equations of motion as one function of expressions, to be printed as code in another language.

use crate::equations::{Equations, Statement, along};
use crate::error::EvalError;
use crate::source::dense;
use leastaction_expr::{Expr, jvp};

/// A function that computes what an integrator needs.
#[derive(Clone, Debug)]
pub struct Function<'g> {
    /// `field`, `accelerations`, or `parts` of the equations that determine these.
    pub name: &'static str,
    /// Its arguments, its results, and the equations that they are parts of.
    pub about: String,
    /// Its arguments: time, coordinates, velocities or momenta, inputs and parameters.
    pub inputs: Vec<Expr<'g>>,
    /// Its results.
    pub outputs: Vec<Expr<'g>>,
}

impl<'g> Equations<'g> {
    /// Accelerations, or the rates of a Hamiltonian system; or, where constraints act or velocities are tied to each other by a large
    /// mass matrix, the parts of the equations that determine them.
    ///
    /// # Errors
    /// [`EvalError::NoFormula`] if an energy is not a formula.
    pub fn function(&self) -> Result<Function<'g>, EvalError> {
        if let Some(other) = self.potential.iter().find(|potential| potential.formula().is_none()) {
            return Err(EvalError::NoFormula { what: "equations", energy: other.name.clone() });
        }
        if let Some(block) = self.nodes.iter().flat_map(|nodes| &nodes.blocks).next() {
            return Err(EvalError::NoFormula { what: "equations", energy: block.name.clone() });
        }
        let second = match &self.statement {
            Statement::Hamiltonian(_) => &self.momenta,
            Statement::Lagrangian(_) => &self.velocities,
        };
        let parameters = self.parameters.iter().map(|(symbol, _)| symbol);
        let rest = second.iter().chain(&self.inputs).chain(parameters);
        let inputs: Vec<_> = [&self.time].into_iter().chain(&self.coordinates).chain(rest).copied().collect();
        let list = inputs.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let free = self.constraints.is_empty();
        Ok(match (&self.statement, self.accelerations().filter(|_| free)) {
            (Statement::Hamiltonian(_), _) if free => {
                let (rates, forces) = self.hamiltonian_rates();
                let outputs = [rates, forces].concat();
                Function { name: "field", about: format!("{list} to q', p'"), inputs, outputs }
            }
            (_, Some(outputs)) => {
                Function { name: "accelerations", about: format!("{list} to q''"), inputs, outputs }
            }
            (_, None) => {
                let (about, outputs) = self.parts();
                Function { name: "parts", about: format!("{list} to {about}"), inputs, outputs }
            }
        })
    }

    /// (q̇, ṗ) without the forces of constraints.
    fn hamiltonian_rates(&self) -> (Vec<Expr<'g>>, Vec<Expr<'g>>) {
        let Some(rates) = self.phase_rates() else { unreachable!("a Hamiltonian of formulas has its rates") };
        rates
    }

    /// M, f, G, γ of M q'' = f − Gᵀλ, G q'' = γ with G = ∂Ψ/∂v, γ = −(dΨ/dt at q'' = 0), where Ψ is what the constraints demand of
    /// velocities; and what they demand to be 0. With a Hamiltonian q', f, G, A, γ of p' = f − Gᵀλ, A λ = γ, where A = (∂Ψ/∂p) Gᵀ
    /// and γ = dΨ/dt at λ = 0.
    fn parts(&self) -> (String, Vec<Expr<'g>>) {
        let (n, rows, graph) = (self.degrees(), self.constraints.len(), self.graph);
        let mut values: Vec<_> = self.constraints.iter().map(|c| c.value).collect();
        let rates: Vec<_> = self.constraints.iter().map(|c| c.rate).collect();
        let jacobian = dense(graph, &rates, &self.velocities);
        let (mut outputs, what, more, law) = match &self.statement {
            Statement::Lagrangian(l) => {
                let zero = graph.number(0.0);
                let mass = (0..n * n).map(|k| l.mass.get(k / n, k % n).unwrap_or(zero));
                let loads = l.loads.iter().zip(self.forces()).map(|(&load, force)| load + force);
                let mut outputs: Vec<_> = mass.chain(loads).chain(jacobian).collect();
                outputs.extend(along(&rates, &self.coordinates, self.time).into_iter().map(|bend| -bend));
                let law = match rows {
                    0 => "M q'' = f",
                    _ => "M q'' = f - G^T lambda, G q'' = gamma",
                };
                (outputs, format!("M ({n}×{n}, by rows), f ({n})"), format!(", gamma ({rows})"), law)
            }
            Statement::Hamiltonian(_) => {
                let (velocities, forces) = self.hamiltonian_rates();
                let demands = self.in_phase_space(&rates, &velocities);
                values = self.in_phase_space(&values, &velocities);
                let by_momenta = dense(graph, &demands, &self.momenta);
                let product = |i: usize, j: usize| {
                    graph.sum((0..n).map(|k| by_momenta[i * n + k] * jacobian[j * n + k]))
                };
                let matrix: Vec<_> = (0..rows * rows).map(|k| product(k / rows, k % rows)).collect();
                let states = self.coordinates.iter().chain(&self.momenta).copied();
                let moving = states.zip(velocities.iter().chain(&forces).copied());
                let direction: Vec<_> = moving.chain([(self.time, graph.number(1.0))]).collect();
                let bends = jvp(&demands, &direction);
                let outputs = [velocities, forces, jacobian.clone(), matrix, bends].concat();
                let more = format!(", A ({rows}×{rows}, by rows), gamma ({rows})");
                (outputs, format!("q' ({n}), f ({n})"), more, "p' = f - G^T lambda, A lambda = gamma")
            }
        };
        outputs.extend(values);
        let constrained = match rows {
            0 => String::new(),
            _ => format!(", G ({rows}×{n}, by rows){more}, constraints ({rows})"),
        };
        (format!("{what}{constrained}: {law}"), outputs)
    }
}
