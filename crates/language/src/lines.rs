//! A text as statements.

use crate::diagnostic::Diagnostic;
use leastaction_expr::Span;

/// The statements of a text, without comments before and after them: a line that begins at the margin, and the indented lines that
/// continue it. A part is one statement, from `part` to its `end`. Empty lines and comments may stand anywhere.
pub(crate) fn statements(source: &str) -> (Vec<Span>, Vec<Diagnostic>) {
    let (mut found, mut wrong): (Vec<Span>, Vec<Diagnostic>) = (Vec::new(), Vec::new());
    let mut at = 0;
    let mut open: Option<Span> = None;
    for line in source.split_inclusive('\n') {
        let text = line.trim_end();
        let inner = text.trim_start();
        let span = Span { start: at + (text.len() - inner.len()), end: at + text.len() };
        at += line.len();
        if inner.is_empty() || inner.starts_with('#') {
            continue;
        }
        let margin = inner.len() == text.len();
        if open.is_some() && margin && begins_part(inner) {
            wrong.extend(open.take().map(unended));
        }
        match found.last_mut() {
            Some(part) if open.is_some() => {
                part.end = span.end;
                if ends_part(inner) {
                    open = None;
                }
            }
            _ if margin => {
                found.push(span);
                open = begins_part(inner).then_some(span);
            }
            Some(statement) => statement.end = span.end,
            None => {
                wrong.push(Diagnostic::at(span, "the first statement is indented").help(
                    "begin statements at the margin; an indented line continues the statement above it",
                ))
            }
        }
    }
    wrong.extend(open.map(unended));
    (found, wrong)
}

/// Whether a part begins with this line.
pub(crate) fn begins_part(line: &str) -> bool {
    line.strip_prefix("part").is_some_and(|rest| rest.starts_with(char::is_whitespace))
}

/// Whether this line ends a part.
pub(crate) fn ends_part(line: &str) -> bool {
    line.split('#').next().unwrap_or(line).trim() == "end"
}

fn unended(span: Span) -> Diagnostic {
    Diagnostic::at(span, "this part does not end")
        .label("begins here")
        .help("write `end` on a line of its own behind its last statement")
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

    #[test]
    fn parts_are_one_statement() {
        assert_eq!(
            split("part a(l)\n  coord x,\n    y\ncoord z\nend # a\ncoord x"),
            ["part a(l)\n  coord x,\n    y\ncoord z\nend # a", "coord x"]
        );
        assert_eq!(split("coord part\nparting\nend"), ["coord part", "parting", "end"]);
        assert_eq!(statements("part a\ncoord x\npart b\nend").1.len(), 1);
        assert_eq!(statements("part a\ncoord x\n").1.len(), 1);
    }
}
