//! `leastaction equations`: the equations of motion, as text, LaTeX or code.

use super::Failure;
use super::source::{open, shown};
use clap::Args;
use leastaction::{
    Equations, Expr, Graph, PrintError, Statement, c_function, jacobian, jvp, rust_function, substitute,
};

#[derive(Args)]
#[command(
    after_help = "Examples:\n  leastaction equations pendulum\n  leastaction equations double-pendulum --latex\n  \
                  leastaction equations swing.motion --c > swing.c"
)]
pub(crate) struct Print {
    /// A system of the catalog (see `leastaction list`), a .motion file, or `-` for standard input
    system: String,
    /// Build the system with a number of pieces, where it can be chosen
    #[arg(long, value_name = "N")]
    size: Option<usize>,
    /// Print LaTeX
    #[arg(long, group = "language")]
    latex: bool,
    /// Print a function in C
    #[arg(long, group = "language")]
    c: bool,
    /// Print a function in Rust
    #[arg(long, group = "language")]
    rust: bool,
}

impl Print {
    pub(super) fn execute(self) -> Result<String, Failure> {
        let graph = Graph::new();
        let source = open(&self.system, self.size)?;
        let setup = source.setup(&graph, &[]).map_err(|errors| shown(&source, &errors))?;
        let equations = setup.model.equations().map_err(|error| shown(&source, &setup.explain(&error)))?;
        match () {
            () if self.latex => Ok(equations.latex() + "\n"),
            () if self.c => Code::of(&equations).write("//", c_function),
            () if self.rust => Code::of(&equations).write("//", rust_function),
            () => Ok(format!("{equations}\n")),
        }
    }
}

/// A function that computes what an integrator needs.
struct Code<'g> {
    name: &'static str,
    about: String,
    inputs: Vec<Expr<'g>>,
    outputs: Vec<Expr<'g>>,
}

type Language = fn(&str, &[Expr<'_>], &[Expr<'_>]) -> Result<String, PrintError>;

impl<'g> Code<'g> {
    /// Accelerations, or the field of a Hamiltonian; or, where constraints act or velocities are tied to each other by a large
    /// mass matrix, the parts of the equations that determine them.
    fn of(equations: &Equations<'g>) -> Code<'g> {
        let rest = equations.inputs.iter().chain(equations.parameters.iter().map(|(symbol, _)| symbol));
        let of = |second: &[Expr<'g>]| -> Vec<Expr<'g>> {
            let state = equations.coordinates.iter().chain(second).copied();
            std::iter::once(equations.time).chain(state).chain(rest.clone().copied()).collect()
        };
        let free = equations.constraints.is_empty();
        match &equations.statement {
            Statement::Hamiltonian(_) if free => {
                let (rates, pushes) = equations.phase_rates().unwrap_or_default();
                Code {
                    name: "field",
                    about: format!("{} to {}", list(&of(&equations.momenta)), "q', p'"),
                    inputs: of(&equations.momenta),
                    outputs: [rates, pushes].concat(),
                }
            }
            statement => {
                let accelerations = equations.accelerations().filter(|_| free);
                let inputs = match statement {
                    Statement::Hamiltonian(_) => of(&equations.momenta),
                    Statement::Lagrangian(_) => of(&equations.velocities),
                };
                match accelerations {
                    Some(outputs) => Code {
                        name: "accelerations",
                        about: format!("{} to q''", list(&inputs)),
                        inputs,
                        outputs,
                    },
                    None => Code::parts(equations, inputs),
                }
            }
        }
    }

    /// M, f, G, γ of M q'' = f − Gᵀλ, G q'' = γ with G = ∂Ψ/∂v, γ = −(dΨ/dt at q'' = 0), where Ψ is what the constraints demand of
    /// velocities; and what they demand to be 0. With a Hamiltonian q', f, G, A, γ of p' = f − Gᵀλ, A λ = γ, where A = (∂Ψ/∂p) Gᵀ
    /// and γ = dΨ/dt at λ = 0.
    fn parts(equations: &Equations<'g>, inputs: Vec<Expr<'g>>) -> Code<'g> {
        let (n, rows) = (equations.degrees(), equations.constraints.len());
        let zero = equations.graph.number(0.0);
        let mut outputs = Vec::new();
        let what = match &equations.statement {
            Statement::Lagrangian(l) => {
                let entry = |i: usize, j: usize| l.mass.get(i, j).unwrap_or(zero);
                outputs.extend((0..n * n).map(|k| entry(k / n, k % n)));
                let loads = l.loads.iter().zip(equations.forces()).map(|(&load, force)| load + force);
                outputs.extend(loads);
                format!("M ({n}×{n}, by rows), f ({n})")
            }
            Statement::Hamiltonian(_) => {
                let (rates, pushes) = equations.phase_rates().unwrap_or_default();
                outputs.extend(rates.into_iter().chain(pushes));
                format!("q' ({n}), f ({n})")
            }
        };
        let full = |expressions: &[Expr<'g>], variables: &[Expr<'g>]| {
            let mut all = vec![zero; rows * n];
            jacobian(expressions, variables).iter().for_each(|e| all[e.row * n + e.column] = e.value);
            all
        };
        let mut values: Vec<_> = equations.constraints.iter().map(|c| c.value).collect();
        let rates: Vec<_> = equations.constraints.iter().map(|c| c.rate).collect();
        let grip = full(&rates, &equations.velocities);
        outputs.extend(&grip);
        let time = (equations.time, equations.graph.number(1.0));
        let (more, law) = match &equations.statement {
            _ if rows == 0 => (String::new(), "M q'' = f".to_owned()),
            Statement::Lagrangian(_) => {
                let moving = equations.coordinates.iter().copied().zip(equations.velocities.iter().copied());
                let direction: Vec<_> = moving.chain([time]).collect();
                outputs.extend(jvp(&rates, &direction).into_iter().map(|bend| -bend));
                (format!(", gamma ({rows})"), "M q'' = f - G^T lambda, G q'' = gamma".to_owned())
            }
            Statement::Hamiltonian(_) => {
                let (flow, pushes) = equations.phase_rates().unwrap_or_default();
                let known: Vec<_> = equations.velocities.iter().copied().zip(flow.iter().copied()).collect();
                let demands = substitute(&rates, &known);
                values = substitute(&values, &known);
                let slopes = full(&demands, &equations.momenta);
                let product = |i: usize, j: usize| {
                    equations.graph.sum((0..n).map(|k| slopes[i * n + k] * grip[j * n + k]))
                };
                outputs.extend((0..rows * rows).map(|k| product(k / rows, k % rows)));
                let moving = equations.coordinates.iter().copied().zip(flow);
                let moving = moving.chain(equations.momenta.iter().copied().zip(pushes));
                outputs.extend(jvp(&demands, &moving.chain([time]).collect::<Vec<_>>()));
                (
                    format!(", A ({rows}×{rows}, by rows), gamma ({rows})"),
                    "p' = f - G^T lambda, A lambda = gamma".to_owned(),
                )
            }
        };
        let held = if rows == 0 {
            String::new()
        } else {
            format!(", G ({rows}×{n}, by rows){more}, constraints ({rows})")
        };
        outputs.extend(values);
        let about = format!("{} to {what}{held}: {law}", list(&inputs));
        Code { name: "parts", about, inputs, outputs }
    }

    fn write(&self, comment: &str, language: Language) -> Result<String, Failure> {
        let code = language(self.name, &self.inputs, &self.outputs).map_err(Failure::run)?;
        Ok(format!("{comment} {}\n{code}", self.about))
    }
}

fn list(symbols: &[Expr<'_>]) -> String {
    symbols.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may panic
mod tests {
    use super::*;
    use leastaction::language::read;

    /// x of A x = b.
    fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
        let n = b.len();
        for k in 0..n {
            let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
            a.swap(k, pivot);
            b.swap(k, pivot);
            for i in k + 1..n {
                let factor = a[i][k] / a[k][k];
                let row = a[k].clone();
                a[i].iter_mut().zip(&row).for_each(|(x, y)| *x -= factor * y);
                b[i] -= factor * b[k];
            }
        }
        for k in (0..n).rev() {
            b[k] = (b[k] - (k + 1..n).map(|j| a[k][j] * b[j]).sum::<f64>()) / a[k][k];
        }
        b
    }

    /// What the code computes at the start of a model, with the coordinates, momenta, velocities and the vector field there.
    fn at_start(text: &str) -> (Vec<f64>, usize, Vec<f64>, Vec<f64>) {
        let graph = Graph::new();
        let setup = read(&graph, text, &[]).unwrap();
        let equations = setup.model.equations().unwrap();
        let mut dynamics = equations.system().unwrap().dynamics().unwrap();
        let start = setup.start(&dynamics).unwrap();
        let state = dynamics.start(&start).unwrap();
        let (n, y) = (state.q.len(), state.block());
        let (mut field, mut v) = (vec![0.0; 2 * n], vec![0.0; n]);
        dynamics.rates(&[0.0], &y, &mut field).unwrap();
        dynamics.velocities(&[0.0], &y, &mut v).unwrap();
        let code = Code::of(&equations);
        let second = match equations.statement {
            Statement::Lagrangian(_) => v.clone(),
            Statement::Hamiltonian(_) => state.p.clone(),
        };
        let numbers: Vec<f64> = [vec![0.0], state.q, second].concat();
        let parameters = equations.parameters.iter().map(|(_, value)| *value);
        let values: Vec<_> = code.inputs.iter().copied().zip(numbers.into_iter().chain(parameters)).collect();
        (code.outputs.iter().map(|e| e.eval(&values).unwrap()).collect(), n, v, field)
    }

    /// The rates of the momenta follow from the printed parts as they follow from the equations of motion.
    #[test]
    fn the_parts_give_the_accelerations() {
        let text = "param g = 9.81\ncoord x, y, u, v\nparticle a mass 2 at [x, y]\nparticle b mass 1 at [u, v]\n\
                    gravity [0, -g]\nconstraint rod: x^2 + y^2 = 1 + t/8\nconstraint arm: (u - x)^2 + (v - y)^2 = 2\n\
                    constraint skate: u'*(v - y) = t\nstart x = 0.6, y = -0.8, u = 1.6, v = 0.2, x' = 0.4, y' = 0.3";
        let (parts, n, _, field) = at_start(text);
        let rows = 3;
        assert_eq!(parts.len(), n * n + n + rows * n + 2 * rows);
        let (mass, rest) = parts.split_at(n * n);
        let (loads, rest) = rest.split_at(n);
        let (grip, rest) = rest.split_at(rows * n);
        let (gamma, values) = rest.split_at(rows);
        assert!(values.iter().all(|value| value.abs() < 1e-12), "{values:?}");
        let entry = |i: usize, j: usize| match (i < n, j < n) {
            (true, true) => mass[i * n + j],
            (true, false) => grip[(j - n) * n + i],
            (false, true) => grip[(i - n) * n + j],
            (false, false) => 0.0,
        };
        let matrix = (0..n + rows).map(|i| (0..n + rows).map(|j| entry(i, j)).collect()).collect();
        let found = solve(matrix, [loads, gamma].concat());
        // The masses are constant here: p' = M q''.
        for i in 0..n {
            let rate: f64 = (0..n).map(|j| mass[i * n + j] * found[j]).sum();
            assert!((rate - field[n + i]).abs() < 1e-11, "{i}: {rate} instead of {}", field[n + i]);
        }
    }

    #[test]
    fn the_parts_of_a_hamiltonian_give_the_rates_of_momenta() {
        let text = "coord x, y\nmomentum a, b\nhamiltonian a^2/2 + b^2/4 + a*y/3 + 9*y\nconstraint rod: x^2 + y^2 = 1\n\
                    start x = 0.6, y = -0.8, a = 1, b = 2";
        let (parts, n, v, field) = at_start(text);
        let (flow, rest) = parts.split_at(n);
        let (pushes, rest) = rest.split_at(n);
        let &[gx, gy, a, gamma, value] = rest else { panic!("{} parts", rest.len()) };
        assert!(value.abs() < 1e-12 && flow.iter().zip(&v).all(|(a, b)| (a - b).abs() < 1e-12));
        for (i, g) in [gx, gy].into_iter().enumerate() {
            let rate = pushes[i] - g * gamma / a;
            assert!((rate - field[n + i]).abs() < 1e-11, "{i}: {rate} instead of {}", field[n + i]);
        }
    }
}
