//! `leastaction equations`: the equations of motion, as text, LaTeX or code.

use super::Failure;
use super::source::Source;
use clap::Args;
use leastaction::{Equations, Expr, Graph, PrintError, Statement, c_function, jacobian, rust_function};

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
        let source = Source::open(&graph, &self.system, self.size, &[])?;
        let equations = source.equations()?;
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
                let (rates, pushes) = equations.phase_field().unwrap_or_default();
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

    /// M, f, G, Ψ of M q'' = f − Gᵀλ, Ψ = 0, G = ∂Ψ/∂v.
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
                let (rates, pushes) = equations.phase_field().unwrap_or_default();
                outputs.extend(rates.into_iter().chain(pushes));
                format!("q' ({n}) and p' ({n}) without constraint forces")
            }
        };
        let rates: Vec<_> = equations.constraints.iter().map(|c| c.rate).collect();
        let mut grip = vec![zero; rows * n];
        for entry in jacobian(&rates, &equations.velocities) {
            grip[entry.row * n + entry.column] = entry.value;
        }
        outputs.extend(grip);
        outputs.extend(equations.constraints.iter().map(|c| c.value));
        let about = format!(
            "{} to {what}, G ({rows}×{n}, by rows), constraints ({rows}): M q'' = f - G^T lambda",
            list(&inputs)
        );
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
