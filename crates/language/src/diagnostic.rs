//! What is wrong with a text, where, and what to do about it.

use leastaction_expr::{Advice, Span};
use std::fmt;
use std::sync::Arc;

/// A file that a text includes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The way there from the folder of the text.
    pub path: String,
    /// What it says.
    pub text: String,
}

impl File {
    /// A place in it, as a line.
    pub(crate) fn at(&self, span: Span) -> String {
        let before = self.text.get(..span.start).unwrap_or(&self.text);
        format!("{}:{}", self.path, 1 + before.matches('\n').count())
    }
}

/// Something wrong at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong, in a sentence.
    pub message: String,
    /// Where; nowhere for what the whole text lacks.
    pub span: Option<Span>,
    /// A word on the place.
    pub label: Option<String>,
    /// What to do.
    pub help: Option<String>,
    /// Other places that have to do with it.
    pub related: Vec<(Span, String)>,
    /// The file that it is in, if that is not the text itself but one that it includes.
    pub file: Option<Arc<File>>,
    /// The name that is not known, if that is what is wrong.
    pub(crate) unknown: Option<Box<str>>,
    /// Whether something else should stand there.
    pub(crate) unexpected: bool,
}

impl Diagnostic {
    /// Something wrong at a place.
    pub(crate) fn at(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { span: Some(span), ..Diagnostic::of_all(message) }
    }

    /// Something wrong with the text as a whole.
    pub(crate) fn of_all(message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            message: message.into(),
            span: None,
            label: None,
            help: None,
            related: Vec::new(),
            file: None,
            unknown: None,
            unexpected: false,
        }
    }

    /// The same in a text of which this one is a part that begins at a byte.
    pub(crate) fn shifted(mut self, by: usize) -> Diagnostic {
        let places = self.span.iter_mut().chain(self.related.iter_mut().map(|(span, _)| span));
        places.for_each(|span| *span = Span { start: span.start + by, end: span.end + by });
        self
    }

    pub(crate) fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = Some(label.into());
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    pub(crate) fn unknown(mut self, name: &str) -> Diagnostic {
        self.unknown = Some(name.split(['.', '\'', '[']).next().unwrap_or(name).into());
        self
    }

    pub(crate) fn related(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.related.push((span, label.into()));
        self
    }
}

impl From<Advice> for Diagnostic {
    fn from(advice: Advice) -> Diagnostic {
        Diagnostic { help: advice.remedy, ..Diagnostic::of_all(advice.cause) }
    }
}

/// All that is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Errors {
    /// In the order of the text; at least one.
    pub diagnostics: Vec<Diagnostic>,
}

impl std::error::Error for Errors {}

impl From<Diagnostic> for Errors {
    fn from(diagnostic: Diagnostic) -> Errors {
        Errors { diagnostics: vec![diagnostic] }
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let messages: Vec<&str> = self.diagnostics.iter().map(|d| d.message.as_str()).collect();
        f.write_str(&messages.join("\n"))
    }
}
