//! `leastaction check`: finds what is wrong with .motion files.

use super::Failure;
use super::run::outputs;
use super::source::Source;
use clap::Args;
use leastaction::{Card, Graph};

#[derive(Args)]
#[command(after_help = "Examples:\n  leastaction check swing.motion\n  leastaction check *.motion")]
pub(crate) struct Check {
    /// Files to check; `-` for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
}

impl Check {
    pub(super) fn execute(self) -> Result<String, Failure> {
        let (mut out, mut wrong) = (String::new(), Vec::new());
        for path in &self.files {
            match check(path) {
                Ok(found) => out.push_str(&format!("{path}: {found}\n")),
                Err(failure) => wrong.push(failure),
            }
        }
        if wrong.is_empty() {
            return Ok(out);
        }
        let code = wrong.iter().map(|failure| failure.code).min().unwrap_or(1);
        let lines: Vec<&str> = wrong.iter().map(|failure| failure.message.trim_end()).collect();
        Err(Failure { code, said: out, message: lines.join("\n") })
    }
}

/// Everything that can be wrong before a run: the text, the equations of motion, the start, the method, the outputs.
fn check(path: &str) -> Result<String, Failure> {
    let graph = Graph::new();
    let source = Source::open_file(&graph, path, &[])?;
    let mut dynamics = source.dynamics(&source.equations()?, &[])?;
    let start = source.setup.start(&dynamics).map_err(Failure::run)?;
    dynamics.start(&start).map_err(|error| source.wrong(&error))?;
    if let Some(method) = &source.setup.plan.method {
        Card::named(method).map_err(|error| source.wrong_clause("method", &error))?;
    }
    outputs(&source.setup, &mut dynamics, |errors| source.report(errors))?;
    let system = dynamics.system();
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let mut found = vec![count(system.degrees(), "coordinate")];
    if !system.constraints().is_empty() {
        found.push(count(system.constraints().len(), "constraint"));
    }
    Ok(format!("{}, nothing wrong", found.join(", ")))
}
