//! The command line of leastaction.

mod command;

use clap::Parser;
use command::{Command, Failure};
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

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

fn main() -> ExitCode {
    let (text, code, message) = match Arguments::parse().command.execute() {
        Ok(text) => (text, 0, String::new()),
        Err(Failure { code, said, message }) => (said, code, message),
    };
    let mut out = std::io::stdout().lock();
    let printed = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    // Nobody is left to tell if standard error is closed too.
    if !message.is_empty() {
        let _ = writeln!(std::io::stderr(), "{}", message.trim_end());
    }
    match printed {
        Ok(()) => ExitCode::from(code),
        // Whoever reads has seen enough, as `head` does.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::from(code),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: cannot write to standard output: {error}");
            ExitCode::FAILURE
        }
    }
}
