//! Clauses: a word, and what belongs to it.

use crate::diagnostic::Diagnostic;
use crate::reader::Reader;
use leastaction_expr::{Kind, ParseError, Parser, Span, nearest};

/// The next word, which must be one of these.
pub(super) fn one_of(
    parser: &mut Parser<'_, '_>,
    words: &[&'static str],
    expected: &'static str,
) -> Result<(&'static str, Span), Diagnostic> {
    let token = parser.peek();
    let found = parser.text(token.span);
    if let Some(word) = words.iter().find(|word| token.kind == Kind::Name && **word == found) {
        parser.advance();
        return Ok((word, token.span));
    }
    let found = if token.kind == Kind::End { "the end".to_owned() } else { format!("`{found}`") };
    let wrong = Diagnostic::from(ParseError::Expected { span: token.span, expected, found });
    match nearest(parser.text(token.span), words.iter().copied()) {
        Some(word) if token.kind == Kind::Name => Err(wrong.help(format!("did you mean `{word}`?"))),
        _ if words.len() > 1 => Err(wrong.help(format!("there is {}", words.join(", ")))),
        _ => Err(wrong),
    }
}

/// Says that a clause stands twice.
pub(super) fn twice(word: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::at(span, format!("`{word}` is given twice"))
        .related(first, "given here first")
        .help("remove one of them")
}

/// A vector of so many numbers that are known when the text is read, and 0 for what is left of three.
pub(super) fn numbers<'g, 's>(
    reader: &Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    dimensions: usize,
) -> Result<[f64; 3], Diagnostic> {
    let (components, span) = reader.vector(parser)?;
    if components.len() != dimensions {
        let found = match components.len() {
            1 => "a number".to_owned(),
            more => format!("one of {more}"),
        };
        return Err(Diagnostic::at(span, format!("a vector of {dimensions} is expected here, not {found}")));
    }
    let mut all = [0.0; 3];
    for (to, component) in all.iter_mut().zip(components) {
        *to = reader.known(component, span)?;
    }
    Ok(all)
}
