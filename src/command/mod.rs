//! The commands: each turns its arguments into text.

mod canvas;
mod list;
mod methods;
mod run;
mod setting;
mod source;
mod summary;
mod watch;

use clap::Subcommand;
use std::fmt::Display;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run a system of the catalog and print a summary.
    Run(run::Run),
    /// Watch a system move, in the terminal.
    Watch(watch::Watch),
    /// List the systems of the catalog.
    List,
    /// List the integration methods, or tell all about one.
    Methods(methods::Methods),
}

impl Command {
    pub(crate) fn execute(self) -> Result<String, Failure> {
        match self {
            Command::Run(run) => run.execute(),
            Command::Watch(watch) => watch.execute(),
            Command::List => Ok(list::text()),
            Command::Methods(methods) => methods.execute(),
        }
    }
}

/// Why a command failed: wrongly asked, or gone wrong.
pub(crate) struct Failure {
    pub(crate) usage: bool,
    pub(crate) message: String,
}

impl Failure {
    /// What was asked for cannot be.
    fn usage(error: impl Display) -> Failure {
        Failure { usage: true, message: error.to_string() }
    }

    /// What was asked for went wrong.
    fn run(error: impl Display) -> Failure {
        Failure { usage: false, message: error.to_string() }
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
