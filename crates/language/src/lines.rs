//! A text as statements.

use crate::diagnostic::Diagnostic;
use leastaction_expr::Span;

/// The statements of a text, without comments before and after them: a line that begins at the margin, and the indented lines that
/// continue it. Empty lines and comments may stand anywhere.
pub(crate) fn statements(source: &str) -> (Vec<Span>, Vec<Diagnostic>) {
    let (mut found, mut wrong): (Vec<Span>, Vec<Diagnostic>) = (Vec::new(), Vec::new());
    let mut at = 0;
    for line in source.split_inclusive('\n') {
        let text = line.trim_end();
        let inner = text.trim_start();
        let span = Span { start: at + (text.len() - inner.len()), end: at + text.len() };
        at += line.len();
        if inner.is_empty() || inner.starts_with('#') {
            continue;
        }
        match found.last_mut() {
            _ if inner.len() == text.len() => found.push(span),
            Some(statement) => statement.end = span.end,
            None => {
                wrong.push(Diagnostic::at(span, "the first statement is indented").help(
                    "begin statements at the margin; an indented line continues the statement above it",
                ))
            }
        }
    }
    (found, wrong)
}

#[cfg(test)]
mod tests {
    use super::statements;

    fn split(source: &str) -> Vec<&str> {
        statements(source).0.iter().map(|span| &source[span.start..span.end]).collect()
    }

    #[test]
    fn indented_lines_continue() {
        assert_eq!(
            split("# a\n\ncoord x,\n  # why\n\n   y # rate\nrun\n"),
            ["coord x,\n  # why\n\n   y # rate", "run"]
        );
        assert_eq!(split("a\r\nb"), ["a", "b"]);
        assert_eq!(statements("  coord x\ncoord y").1.len(), 1);
        assert!(split("").is_empty());
    }
}
