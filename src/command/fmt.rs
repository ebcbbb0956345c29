//! `leastaction fmt`: writes .motion files in their usual form.

use super::Failure;
use super::source::Text;
use clap::Args;
use leastaction::language;

#[derive(Args)]
#[command(after_help = "Examples:\n  leastaction fmt swing.motion\n  leastaction fmt --check *.motion\n  \
                  leastaction fmt - < swing.motion")]
pub(crate) struct Fmt {
    /// Files to format in place; `-` formats standard input to standard output
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Change nothing, and fail if a file is not in its usual form
    #[arg(long)]
    check: bool,
}

impl Fmt {
    pub(super) fn execute(self) -> Result<String, Failure> {
        let (mut out, mut untidy) = (String::new(), Vec::new());
        for path in &self.files {
            let text = Text::read(path)?;
            let tidy = language::format(&text.text).map_err(|errors| text.wrong(&errors))?;
            let same = tidy == text.text;
            match (self.check, path.as_str()) {
                (true, _) if !same => untidy.push(text.title),
                (false, "-") => out.push_str(&tidy),
                (false, path) if !same => write(path, &tidy)?,
                _ => {}
            }
        }
        match untidy.as_slice() {
            [] => Ok(out),
            files => Err(Failure::run(format!(
                "not in the usual form: {}\nwrite it so by `leastaction fmt {}`",
                files.join(", "),
                files.join(" ")
            ))),
        }
    }
}

/// Writes a file beside itself first, so that it is never there in part.
fn write(path: &str, text: &str) -> Result<(), Failure> {
    let beside = format!("{path}.{}.tmp", std::process::id());
    let written = std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, path));
    written.map_err(|error| {
        let _ = std::fs::remove_file(&beside);
        Failure::run(format!("cannot write {path}: {error}"))
    })
}
