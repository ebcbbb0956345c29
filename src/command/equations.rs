//! `leastaction equations`: the equations of motion, as text, LaTeX, Markdown or code.

use super::Failure;
use super::setting::assignment;
use super::source::{open, shown};
use clap::{Args, ValueEnum};
use leastaction::{
    EquationForm, Equations, Expr, Function, Graph, PrintError, c_function, julia_function, python_function,
    rust_function, substitute,
};

#[derive(Args)]
#[command(
    after_help = "Examples:\n  leastaction equations pendulum\n  leastaction equations double-pendulum --latex\n  \
                  leastaction equations cart-pole --form solved --set g=9.81\n  \
                  leastaction equations kepler --form hamilton --energies --markdown\n  \
                  leastaction equations swing.motion --c > swing.c"
)]
pub(crate) struct Print {
    /// A system of the catalog (see `leastaction list`), a .motion file, or `-` for standard input
    system: String,
    /// Put a number in place of a parameter
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment, allow_hyphen_values = true)]
    set: Vec<(String, f64)>,
    /// Build the system with this number of pieces, if the catalog allows it
    #[arg(long, value_name = "N")]
    size: Option<usize>,
    /// Print this form of the equations
    #[arg(long, value_enum, default_value_t = Form::Stated)]
    form: Form,
    /// Print the energies, too, and the momenta where they are used
    #[arg(long)]
    energies: bool,
    /// Print LaTeX
    #[arg(long, group = "language")]
    latex: bool,
    /// Print Markdown with LaTeX in it
    #[arg(long, group = "language")]
    markdown: bool,
    /// Print a function in C
    #[arg(long, group = "language", conflicts_with_all = ["form", "energies"])]
    c: bool,
    /// Print a function in Rust
    #[arg(long, group = "language", conflicts_with_all = ["form", "energies"])]
    rust: bool,
    /// Print a function in Python, with NumPy
    #[arg(long, group = "language", conflicts_with_all = ["form", "energies"])]
    python: bool,
    /// Print a function in Julia
    #[arg(long, group = "language", conflicts_with_all = ["form", "energies"])]
    julia: bool,
}

/// The form of the equations of motion.
#[derive(Clone, Copy, ValueEnum)]
enum Form {
    /// As they follow from what is stated: Lagrange's, or Hamilton's
    Stated,
    /// Solved for accelerations
    Solved,
    /// Hamilton's, with momenta
    Hamilton,
}

impl Print {
    pub(super) fn execute(self) -> Result<String, Failure> {
        let graph = Graph::new();
        let source = open(&self.system, self.size)?;
        let setup = source.setup(&graph, &self.set).map_err(|errors| shown(&source, &errors))?;
        let equations = setup.model.equations().map_err(|error| shown(&source, &setup.explain(&error)))?;
        let numbers = self.numbers(&equations)?;
        let events = setup.events.iter().filter(|event| !event.sets.is_empty());
        let events: Vec<_> = events.map(|event| format!("`{}`", event.name)).collect();
        let note = (!events.is_empty()).then(|| {
            format!(
                "These are the equations between events: what {} {} is not in them.",
                events.join(", "),
                if events.len() == 1 { "sets" } else { "set" }
            )
        });
        let commented = |sign: &str| note.as_ref().map_or(String::new(), |note| format!("{sign} {note}\n"));
        let written = |sign: &str, language: Language| {
            Ok(commented(sign) + &write(&equations, &numbers, (sign, language))?)
        };
        match () {
            () if self.c => written("//", c_function),
            () if self.rust => written("//", rust_function),
            () if self.python => written("#", python_function),
            () if self.julia => written("#", julia_function),
            () => {
                let form = match self.form {
                    Form::Stated => EquationForm::Stated,
                    Form::Solved => EquationForm::Solved,
                    Form::Hamilton => EquationForm::Hamilton,
                };
                let page = equations.page(form, &numbers).map_err(Failure::usage)?;
                let page = if self.energies { page } else { page.motion_only() };
                match () {
                    () if self.latex => Ok(commented("%") + &page.latex() + "\n"),
                    () => {
                        let page = if self.markdown { page.markdown() } else { format!("{page}\n") };
                        let note = note.map_or(String::new(), |note| format!("\n{note}\n"));
                        Ok(page + &note)
                    }
                }
            }
        }
    }
}

impl Print {
    /// The parameters that are set, each with its number.
    fn numbers<'g>(&self, equations: &Equations<'g>) -> Result<Vec<(Expr<'g>, Expr<'g>)>, Failure> {
        let number = |(name, value): &(String, f64)| {
            let symbol = equations.graph.symbol(name);
            let known = equations.parameters.iter().any(|(parameter, _)| *parameter == symbol);
            if !known {
                let all: Vec<_> = equations.parameters.iter().map(|(p, _)| p.to_string()).collect();
                let all = if all.is_empty() {
                    "it has none".to_owned()
                } else {
                    format!("parameters: {}", all.join(", "))
                };
                return Err(Failure::usage(format!("there is no parameter `{name}` ({all})")));
            }
            if !value.is_finite() {
                return Err(Failure::usage(format!("`{name}` cannot be {value}: give a finite number")));
            }
            Ok((symbol, equations.graph.number(*value)))
        };
        self.set.iter().map(number).collect()
    }
}

type Language = fn(&str, &[Expr<'_>], &[Expr<'_>]) -> Result<String, PrintError>;

/// A function in a language whose comments begin like this.
fn write<'g>(
    equations: &Equations<'g>,
    numbers: &[(Expr<'g>, Expr<'g>)],
    (comment, language): (&str, Language),
) -> Result<String, Failure> {
    let Function { name, about, mut inputs, outputs } = equations.function().map_err(Failure::run)?;
    let outputs = substitute(&outputs, numbers);
    inputs.retain(|input| numbers.iter().all(|(symbol, _)| symbol != input));
    let code = language(name, &inputs, &outputs).map_err(Failure::run)?;
    Ok(format!("{comment} {about}\n{code}"))
}
