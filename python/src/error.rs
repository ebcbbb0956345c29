//! Errors of the engine as exceptions of Python: one map, onto the classes of `python/leastaction/_errors.py`.

use leastaction::language::{Diagnostic, Errors};
use leastaction::simulate::{Fault, PrepareError, Source, SourceError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::fmt::Display;

/// An exception of the package, by the name of its class, with more to be asked of it.
pub(crate) fn exception(
    py: Python<'_>,
    class: &str,
    message: String,
    attributes: &[(&str, Bound<'_, PyAny>)],
) -> PyErr {
    let create = || {
        let error = py.import("leastaction._errors")?.getattr(class)?.call1((in_python(&message),))?;
        for (name, value) in attributes {
            error.setattr(*name, value)?;
        }
        Ok(PyErr::from_value(error))
    };
    create().unwrap_or_else(|error| error)
}

/// Options of the command line that messages name, and what they are called here.
const OPTIONS: [(&str, &str); 24] = [
    ("atol", "atol"),
    ("chunk", "chunk"),
    ("count", "count"),
    ("differences", "differences"),
    ("event", "events"),
    ("every", "every"),
    ("from", "since"),
    ("keep", "keep"),
    ("max-step", "max_step"),
    ("max-steps", "max_steps"),
    ("method", "method"),
    ("model", "model"),
    ("reduce", "reduce"),
    ("sample", "sample"),
    ("samples", "samples"),
    ("seed", "seed"),
    ("set", "parameters"),
    ("show", "show"),
    ("start", "start"),
    ("step", "step"),
    ("stop", "stop"),
    ("threads", "threads"),
    ("tol", "tol"),
    ("until", "until"),
];

/// A message in which options have the names of arguments: `every=` for `--every`, and `parameters={'l': …}` for `--set l=…`.
fn in_python(message: &str) -> String {
    let mut said = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(at) = rest.find("--") {
        let (before, option) = (&rest[..at], &rest[at + 2..]);
        let length = option.find(|c: char| !(c.is_ascii_lowercase() || c == '-')).unwrap_or(option.len());
        let (word, after) = option.split_at(length);
        let begins =
            said.chars().chain(before.chars()).last().is_none_or(|c| c.is_whitespace() || "(`".contains(c));
        let known = OPTIONS.iter().find(|(name, _)| begins && *name == word);
        said.push_str(before);
        rest = after;
        let Some((_, name)) = known else {
            said.push_str("--");
            said.push_str(word);
            continue;
        };
        let setting = after.strip_prefix(' ').and_then(|setting| setting.split_once('='));
        match setting.filter(|(what, _)| *word == *"set" && !what.is_empty() && !what.contains(' ')) {
            Some((what, value)) => {
                let end = value.find(['`', ' ', ',', ';']).unwrap_or(value.len());
                said.push_str(&format!("{name}={{'{what}': {}}}", &value[..end]));
                rest = &value[end..];
            }
            None => {
                said.push_str(name);
                said.push('=');
                // A value follows it at once.
                rest = after
                    .strip_prefix(' ')
                    .filter(|value| value.starts_with(|c: char| c.is_ascii_digit()))
                    .unwrap_or(after);
            }
        }
    }
    said + rest
}

/// What was asked for cannot be.
pub(crate) fn usage(error: impl Display) -> PyErr {
    Python::attach(|py| exception(py, "UsageError", error.to_string(), &[]))
}

/// What was asked for went wrong.
pub(crate) fn failed(error: impl Display) -> PyErr {
    Python::attach(|py| exception(py, "RunError", error.to_string(), &[]))
}

/// A text is wrong: each mistake at its place.
pub(crate) fn wrong_text(title: &str, text: &str, errors: &Errors) -> PyErr {
    Python::attach(|py| {
        let list = errors.diagnostics.iter().map(|diagnostic| dictionary(py, text, diagnostic));
        let list = match list.collect::<PyResult<Vec<_>>>().and_then(|list| PyList::new(py, list)) {
            Ok(list) => list,
            Err(error) => return error,
        };
        exception(py, "ModelError", errors.render(title, text, false), &[("diagnostics", list.into_any())])
    })
}

/// A mistake as a dictionary: where it is, in characters, and its line and column, counted from 1; in a file, if it is not in the text itself but in
/// one that this includes.
fn dictionary<'py>(py: Python<'py>, text: &str, diagnostic: &Diagnostic) -> PyResult<Bound<'py, PyDict>> {
    let members = PyDict::new(py);
    members.set_item("message", &diagnostic.message)?;
    members.set_item("help", diagnostic.help.as_deref().map(in_python))?;
    members.set_item("file", diagnostic.file.as_ref().map(|file| file.path.as_str()))?;
    let text = diagnostic.file.as_ref().map_or(text, |file| file.text.as_str());
    let place = |at: usize| text.get(..at).unwrap_or(text);
    let span = diagnostic.span.map(|span| [span.start, span.end].map(|at| place(at).chars().count()));
    members.set_item("span", span.map(|[start, end]| (start, end)))?;
    let before = diagnostic.span.map(|span| place(span.start));
    members.set_item("line", before.map(|before| before.matches('\n').count() + 1))?;
    let line = |before: &str| before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    members.set_item("column", before.map(line))?;
    Ok(members)
}

/// Why a run of a text cannot be prepared.
pub(crate) fn unprepared(source: &Source, error: &PrepareError) -> PyErr {
    match (error.fault, &error.diagnostics) {
        (Fault::Model, Some(errors)) => wrong_text(&source.title, &source.text, errors),
        (Fault::Run, _) => failed(error),
        _ => usage(error.title()),
    }
}

/// Why there is no such text.
pub(crate) fn unreadable(error: &SourceError) -> PyErr {
    match error {
        SourceError::Text { title, source } => wrong_text(title, "", source),
        error => usage(error),
    }
}
