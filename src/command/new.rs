//! `leastaction new`: a commented file to start from.

use super::Failure;
use clap::Args;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

#[derive(Args)]
#[command(after_help = "Examples:\n  leastaction new swing\n  leastaction run swing.motion")]
pub(crate) struct New {
    /// The name of the file; `.motion` is added
    name: String,
}

/// What a new file says.
const STARTER: &str = include_str!("starter.motion");

impl New {
    pub(super) fn execute(self) -> Result<String, Failure> {
        let path = match self.name.strip_suffix(".motion") {
            Some(_) => self.name.clone(),
            None => format!("{}.motion", self.name),
        };
        if Path::new(&path).file_stem().is_none_or(|stem| stem.is_empty() || stem == ".motion") {
            return Err(Failure::usage("a file needs a name"));
        }
        let opened = OpenOptions::new().write(true).create_new(true).open(&path);
        let written = opened.and_then(|mut file| {
            let written = file.write_all(STARTER.as_bytes()).and_then(|()| file.sync_all());
            // If there is no room, nothing remains of the file; the first error is the one to report.
            written.inspect_err(|_| _ = std::fs::remove_file(&path))
        });
        match written {
            Ok(()) => {
                let file = if path.contains(' ') { format!("\"{path}\"") } else { path.clone() };
                Ok(format!(
                    "{path} is a pendulum on a cart. Try\n  leastaction run {file}\n  leastaction watch {file}\n"
                ))
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                Err(Failure::run(format!("{path} is there already: choose another name, or remove it")))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(Failure::run(format!("cannot write {path}: its folder is not there; make it first")))
            }
            Err(error) => Err(Failure::run(format!("cannot write {path}: {error}"))),
        }
    }
}
