//! Where a system comes from, and what is said if something is wrong with it, or with what is asked of it.

use super::Failure;
use leastaction::RunError;
use leastaction::catalog::{self, EntryError, SampleError};
use leastaction::language::Errors;
use leastaction::simulate::{Cause, Fault, PrepareError, SectionError, Source, SourceError, fault_of};
use std::io::IsTerminal;
use std::path::Path;

/// A system of the catalog, a file, or standard input for `-`.
pub(super) fn open(system: &str, size: Option<usize>) -> Result<Source, Failure> {
    let opened = match (system, size) {
        ("-", Some(_)) => Err(SourceError::Size),
        ("-", None) => return open_file(system),
        _ => Source::open(system, size),
    };
    opened.map_err(|error| unreadable(system, &error))
}

/// A file, or standard input for `-`.
pub(super) fn open_file(path: &str) -> Result<Source, Failure> {
    let opened = match path {
        "-" => Source::read("model", "standard input", std::io::stdin())
            .map(|source| source.in_folder(Path::new("."))),
        path => Source::file(path),
    };
    opened.map_err(|error| unreadable(path, &error))
}

fn unreadable(system: &str, error: &SourceError) -> Failure {
    match error {
        SourceError::Entry(error @ EntryError::Unknown { .. }) => no_system(system, error),
        SourceError::Text { title, source } => rendered(source, title, ""),
        SourceError::Size => Failure::usage(format!("{error} (--size)")),
        error => Failure::usage(error),
    }
}

/// A name that is not in the catalog may be that of a file.
fn no_system(system: &str, error: &EntryError) -> Failure {
    let file = format!("{system}.motion");
    match [system, &file].into_iter().find(|path| Path::new(path).is_file()) {
        Some(path) => Failure::usage(format!("{error}\nthere is a file of that name: write `./{path}`")),
        None => Failure::usage(error),
    }
}

/// What is wrong with a text, shown in it.
pub(super) fn shown(source: &Source, errors: &Errors) -> Failure {
    rendered(errors, &source.title, &source.text)
}

fn rendered(errors: &Errors, title: &str, text: &str) -> Failure {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let colour = std::io::stderr().is_terminal() && !plain;
    Failure::report(errors.render(title, text, colour))
}

/// Why a run of a system cannot be prepared.
pub(super) fn unprepared(source: &Source, error: &PrepareError) -> Failure {
    match (error.fault, &error.cause, &error.diagnostics) {
        (Fault::Model, _, Some(errors)) => shown(source, errors),
        (_, Cause::Run(error), _) => refused(error),
        (_, Cause::NoStep { .. }, _) => Failure::usage(format!("{error} (--step)")),
        (_, Cause::NoCatalog, _) => Failure::usage(format!("{error} (--seed)")),
        (_, Cause::Sample(SampleError::NoSampling), _) => {
            let drawn: Vec<&str> = catalog::ALL.iter().filter(|e| e.has_samples()).map(|e| e.name).collect();
            let (name, drawn) = (&source.name, drawn.join(", "));
            Failure::usage(format!(
                "{name} has no random starts: give one (--start); {drawn} have some (--seed)"
            ))
        }
        (_, Cause::Section(wrong), _) => Failure::usage(match wrong {
            SectionError::Surface { .. } => {
                format!("{wrong}: write --through \"x\", or --through \"x = 0.5\"")
            }
            SectionError::NothingShown => format!("{wrong} (--show A,B)"),
            SectionError::Drawn => {
                "starts drawn at random (--seed) are neither varied nor brought to an energy".to_owned()
            }
            SectionError::OneStart => format!("{wrong}: --vary NAME=FROM..TO, or --seed N"),
            SectionError::Observe { .. } | SectionError::Solved { .. } => wrong.to_string(),
        }),
        (Fault::Usage, ..) => Failure::usage(error.title()),
        _ => Failure::run(error),
    }
}

/// Why a run cannot begin.
pub(super) fn refused(error: &RunError) -> Failure {
    match (error, fault_of(error)) {
        // On the command line, more steps are allowed by an option.
        (RunError::TooManySteps { .. }, _) => Failure::usage(format!("{error} (--max-steps)")),
        (_, Fault::Usage) => Failure::usage(error),
        _ => Failure::run(error),
    }
}

/// The name of a system, and what it is if it says so.
pub(super) fn title(name: &str, about: &str) -> String {
    if about.is_empty() { name.to_owned() } else { format!("{name}: {about}") }
}
