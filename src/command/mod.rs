//! The commands: each turns its arguments into text.

mod canvas;
mod compare;
mod files;
mod json;
mod list;
mod methods;
mod pictures;
mod progress;
mod run;
mod section;
mod setting;
mod source;
mod summary;
mod watch;

use clap::Subcommand;
use std::fmt::Display;

#[derive(Subcommand)]
#[allow(clippy::large_enum_variant)] // there is one command
pub(crate) enum Command {
    /// Run a system of the catalog and print a summary.
    Run(run::Run),
    /// Watch a system move, in the terminal.
    Watch(watch::Watch),
    /// Find where orbits pass a surface: a Poincaré section.
    Section(section::Section),
    /// Compare methods on a system: what they cost, and how well they do.
    Compare(compare::Compare),
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
            Command::Section(section) => section.execute(),
            Command::Compare(compare) => compare.execute(),
            Command::List => Ok(list::text()),
            Command::Methods(methods) => methods.execute(),
        }
    }
}

/// Why a command failed: wrongly asked, gone wrong, or broken off.
pub(crate) struct Failure {
    /// The exit code: 2, 1 or 130.
    pub(crate) code: u8,
    /// What there is to print all the same.
    pub(crate) said: String,
    /// What went wrong; empty if that is said already.
    pub(crate) message: String,
}

impl Failure {
    /// What was asked for cannot be.
    fn usage(error: impl Display) -> Failure {
        Failure { code: 2, said: String::new(), message: error.to_string() }
    }

    /// What was asked for went wrong.
    fn run(error: impl Display) -> Failure {
        Failure { code: 1, said: String::new(), message: error.to_string() }
    }

    /// What was asked for was broken off by Ctrl-C: 128 and the number of its signal, as shells say it.
    fn interrupted(error: impl Display) -> Failure {
        Failure { code: 130, said: String::new(), message: error.to_string() }
    }

    /// The failure with what there is to print all the same.
    fn saying(self, said: String) -> Failure {
        Failure { said, ..self }
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
