//! The commands: each turns its arguments into text.

mod check;
mod equations;
mod fmt;
mod list;
mod methods;
mod new;
mod run;
mod setting;
mod shell;
mod source;
mod summary;

use clap::Subcommand;
use std::fmt::Display;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run a system and print a summary.
    Run(run::Run),
    /// List the systems of the catalog.
    List,
    /// Print the equations of motion as text, LaTeX, C or Rust.
    Equations(equations::Print),
    /// List the integration methods, or tell all about one.
    Methods(methods::Methods),
    /// Write a commented .motion file to start from.
    New(new::New),
    /// Find what is wrong with .motion files.
    Check(check::Check),
    /// Write .motion files in their usual form.
    Fmt(fmt::Fmt),
    /// Print a script that completes commands in a shell.
    Completions(shell::Completions),
    /// Print the manual page.
    Man(shell::Man),
}

impl Command {
    pub(crate) fn execute(self) -> Result<String, Failure> {
        match self {
            Command::Run(run) => run.execute(),
            Command::List => Ok(list::text()),
            Command::Equations(print) => print.execute(),
            Command::Methods(methods) => methods.execute(),
            Command::New(new) => new.execute(),
            Command::Check(check) => check.execute(),
            Command::Fmt(fmt) => fmt.execute(),
            Command::Completions(completions) => Ok(completions.execute()),
            Command::Man(man) => man.execute(),
        }
    }
}

/// Why a command failed: wrongly asked, or gone wrong.
pub(crate) struct Failure {
    pub(crate) usage: bool,
    pub(crate) message: String,
    /// Whether the message says by itself that it is one of errors.
    pub(crate) report: bool,
}

impl Failure {
    /// What was asked for cannot be.
    fn usage(error: impl Display) -> Failure {
        Failure { usage: true, message: error.to_string(), report: false }
    }

    /// A text is wrong, and this shows where.
    fn report(message: String) -> Failure {
        Failure { usage: false, message, report: true }
    }

    /// What was asked for went wrong.
    fn run(error: impl Display) -> Failure {
        Failure { usage: false, message: error.to_string(), report: false }
    }
}

/// Rows of cells as text, aligned in columns, the last one as it is.
fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| rows.iter().filter_map(|row| row.get(c)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|c| width(c).unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}"));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}
