//! `leastaction equations`: the equations of motion, as text, LaTeX or code.

use super::Failure;
use super::source::{open, shown};
use clap::Args;
use leastaction::{Equations, Expr, Graph, PrintError, c_function, rust_function};

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
            () if self.c => write(&equations, c_function),
            () if self.rust => write(&equations, rust_function),
            () => Ok(format!("{equations}\n")),
        }
    }
}

type Language = fn(&str, &[Expr<'_>], &[Expr<'_>]) -> Result<String, PrintError>;

fn write(equations: &Equations<'_>, language: Language) -> Result<String, Failure> {
    let function = equations.function().map_err(Failure::run)?;
    let code = language(function.name, &function.inputs, &function.outputs).map_err(Failure::run)?;
    Ok(format!("// {}\n{code}", function.about))
}
