//! `leastaction fmt`: writes .motion files in their usual form.

use super::Failure;
use super::source::{open_file, shown};
use clap::Args;
use leastaction::language;
use leastaction::output::replace;
use std::io::Write;
use std::path::Path;

#[derive(Args)]
#[command(after_help = "Examples:\n  leastaction fmt swing.motion\n  leastaction fmt --check *.motion\n  \
                  leastaction fmt - < swing.motion")]
pub(crate) struct Fmt {
    /// Files to format in place; `-` formats standard input to standard output
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Change nothing, and fail if a file is not formatted
    #[arg(long)]
    check: bool,
}

impl Fmt {
    pub(super) fn execute(self) -> Result<String, Failure> {
        let (mut out, mut untidy) = (String::new(), Vec::new());
        for path in &self.files {
            let source = open_file(path)?;
            let tidy = language::format(&source.text).map_err(|errors| shown(&source, &errors))?;
            let same = tidy == source.text;
            match (self.check, path.as_str()) {
                (true, _) if !same => untidy.push(source.title),
                (false, "-") => out.push_str(&tidy),
                (false, path) if !same => {
                    let write = |file: &mut dyn Write| file.write_all(tidy.as_bytes());
                    replace(Path::new(path), write).map_err(Failure::run)?;
                }
                _ => {}
            }
        }
        match untidy.as_slice() {
            [] => Ok(out),
            files => Err(Failure::run(format!(
                "not formatted: {}\nformat it by `leastaction fmt {}`",
                files.join(", "),
                files.join(" ")
            ))),
        }
    }
}
