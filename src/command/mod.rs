//! The commands: each turns its arguments into text.

mod canvas;
mod check;
mod compare;
mod ensemble;
mod equations;
mod files;
mod fit;
mod fmt;
mod json;
mod learn;
mod list;
mod merge;
mod methods;
mod new;
mod pictures;
mod progress;
mod rest;
mod run;
mod section;
mod setting;
mod shell;
mod show;
mod source;
mod summary;
mod sweep;
mod watch;

pub use ensemble::ensemble_pictures;
pub use fit::{picture as fit_picture, summary as fit_summary};
pub use learn::{losses as losses_picture, picture as rollout_picture, summary as evaluation_summary};

use clap::{Parser, Subcommand};
use progress::Interruption;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal, Write};

/// Write the energy, get the motion.
#[derive(Parser)]
#[command(
    version,
    arg_required_else_help = true,
    after_help = "Examples:\n  leastaction list\n  leastaction run double-pendulum\n  \
                  leastaction run two-body --set m1=1 --start \"th'=0.7\" --method rk4 --step 1e-3 --until 10"
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

/// Runs the command line with these arguments, the first of which is the name of the program, and returns the exit code.
pub fn command_line(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            // If it cannot be printed, there is no place for a message.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    let (text, code, message) = match arguments.command.execute() {
        Ok(text) => (text, 0, String::new()),
        Err(Failure { code, said, message }) => (said, code, message),
    };
    let mut out = std::io::stdout().lock();
    let printed = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    // If standard error is closed, too, there is no place for a message.
    if !message.is_empty() {
        let _ = writeln!(std::io::stderr(), "{}", message.trim_end());
    }
    match printed {
        Ok(()) => code,
        // Whoever reads has seen enough, as `head` does.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => code,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: cannot write to standard output: {error}");
            1
        }
    }
}

#[derive(Subcommand)]
#[allow(clippy::large_enum_variant)] // there is one command
pub(crate) enum Command {
    /// Run a system and print a summary.
    Run(run::Run),
    /// Watch a system move, in the terminal.
    Watch(watch::Watch),
    /// Run many trajectories from initial conditions that are sampled.
    Ensemble(ensemble::Ensemble),
    /// Put the shards of an ensemble together.
    Merge(merge::Merge),
    /// Find where orbits pass a surface: a Poincaré section.
    Section(section::Section),
    /// Find where a system rests: all forces balance.
    Equilibrium(rest::Rest),
    /// Find the normal modes about an equilibrium, with their frequencies.
    Modes(rest::Modes),
    /// Compare methods on a system: what they cost, and how well they do.
    Compare(compare::Compare),
    /// Fit parameters and starts of a system to measurements.
    Fit(fit::Fit),
    /// Learn energies from data: make datasets, train networks, judge and run them.
    #[command(subcommand)]
    Learn(learn::Learn),
    /// List the systems of the catalog.
    #[command(
        after_help = "Examples:\n  leastaction list\n  leastaction run pendulum\n  leastaction show pendulum"
    )]
    List,
    /// Print the text of a system.
    Show(show::Show),
    /// Print the equations of motion as text, LaTeX, Markdown or code.
    Equations(equations::Print),
    /// List the integration methods, or describe one in full.
    Methods(methods::Methods),
    /// Write a commented .motion file to start from.
    New(new::New),
    /// Find what is wrong with .motion files.
    Check(check::Check),
    /// Format .motion files.
    Fmt(fmt::Fmt),
    /// Print a script that completes commands in a shell.
    Completions(shell::Completions),
    /// Print the manual page.
    Man(shell::Man),
}

impl Command {
    /// What there is to print. What files say is not obeyed by a terminal.
    pub(crate) fn execute(self) -> Result<String, Failure> {
        // A text itself is passed on byte by byte, but to a terminal.
        let is_text = matches!(self, Command::Show(_) | Command::Fmt(_));
        let shown = |text: String| match is_text && !std::io::stdout().is_terminal() {
            true => text,
            false => visible(&text),
        };
        match self.executed() {
            Ok(text) => Ok(shown(text)),
            Err(failure) => Err(Failure { said: shown(failure.said), ..failure }),
        }
    }

    fn executed(self) -> Result<String, Failure> {
        match self {
            Command::Run(run) => run.execute(),
            Command::Watch(watch) => watch.execute(),
            Command::Ensemble(ensemble) => ensemble.execute(),
            Command::Merge(merge) => merge.execute(),
            Command::Section(section) => section.execute(),
            Command::Equilibrium(rest) => rest.execute(),
            Command::Modes(modes) => modes.execute(),
            Command::Compare(compare) => compare.execute(),
            Command::Fit(fit) => fit.execute(),
            Command::Learn(learn) => learn.execute(),
            Command::List => Ok(list::text()),
            Command::Show(show) => show.execute(),
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

/// Why a command failed: wrongly asked, gone wrong, or interrupted.
pub(crate) struct Failure {
    /// The exit code: 2, 1, or 128 and the number of a signal.
    pub(crate) code: u8,
    /// What there is to print all the same.
    pub(crate) said: String,
    /// What went wrong; empty if that is said already.
    pub(crate) message: String,
}

impl Failure {
    fn new(code: u8, error: impl Display) -> Failure {
        let error = visible(&error.to_string());
        let message = if error.is_empty() { error } else { format!("error: {error}") };
        Failure { code, said: String::new(), message }
    }

    /// Wrong usage.
    fn usage(error: impl Display) -> Failure {
        Failure::new(2, error)
    }

    /// A run or a model failed.
    fn run(error: impl Display) -> Failure {
        Failure::new(1, error)
    }

    /// It was interrupted.
    fn interrupted(by: Interruption, error: impl Display) -> Failure {
        Failure::new(by.code(), error)
    }

    /// A text is wrong, and this shows where.
    fn report(message: String) -> Failure {
        Failure { code: 1, said: String::new(), message }
    }

    /// The failure with what there is to print all the same.
    fn saying(self, said: String) -> Failure {
        Failure { said, ..self }
    }
}

/// A text with what a terminal would obey written out: control characters, of which lines and tabs remain, and marks that turn the direction of
/// writing round, which hide what is said.
fn visible(text: &str) -> String {
    let obeyed = |c: char| {
        c.is_control() && !matches!(c, '\n' | '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(obeyed) {
        return text.to_owned();
    }
    // The ends of lines of Windows are lines too.
    let text = text.replace("\r\n", "\n");
    text.chars().map(|c| if obeyed(c) { c.escape_unicode().to_string() } else { c.to_string() }).collect()
}

/// Rows of cells as text, aligned in columns, the last one as it is.
fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| rows.iter().filter_map(|row| row.get(c)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|c| width(c).unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        // By hand: the widths of `format!` end at 65 535.
        let padded = |(cell, &width): (&String, &usize)| {
            format!("{cell}{}", " ".repeat(width.saturating_sub(cell.chars().count())))
        };
        let cells = row.iter().zip(&widths).map(padded);
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}
