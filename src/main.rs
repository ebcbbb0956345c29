//! The command line of leastaction.

use std::process::ExitCode;

fn main() -> ExitCode {
    leastaction::command_line(std::env::args_os()).into()
}
