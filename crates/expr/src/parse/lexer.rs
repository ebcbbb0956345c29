//! Text to tokens.

use super::ParseError;

/// A range of bytes in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

impl Span {
    /// The span from the start of this one to the end of a later one.
    #[must_use]
    pub fn to(self, last: Span) -> Span {
        Span { start: self.start, end: last.end }
    }

    pub(super) fn shifted(self, by: usize) -> Span {
        Span { start: self.start + by, end: self.end + by }
    }
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A number; always finite and not negative.
    Number(f64),
    /// An identifier or keyword, or several with points between them, as they stand in the source.
    Name,
    /// A name in backquotes.
    Quoted,
    /// A text in double quotes, on one line: the name of a file.
    Text,
    /// An operator or punctuation.
    Sign(&'static str),
    /// The end of a line outside of brackets. Runs of empty lines give one.
    Newline,
    /// The end of the source.
    End,
}

/// A token and its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Where it stands.
    pub span: Span,
}

/// Longer signs first, so that the first match is the longest.
const SIGNS: &[&str] = &[
    "<=", ">=", "==", "!=", "..", "<", ">", "+", "-", "*", "/", "^", "(", ")", "[", "]", ",", ";", "=", "'",
    ":",
];

/// What people type or paste for a sign, and what to write instead.
const LOOKALIKES: &[(&str, &str)] = &[
    ("**", "^"),
    ("−", "-"),
    ("–", "-"),
    ("·", "*"),
    ("⋅", "*"),
    ("×", "*"),
    ("÷", "/"),
    ("≤", "<="),
    ("≥", ">="),
    ("≠", "!="),
    ("²", "^2"),
    ("³", "^3"),
    ("√", "sqrt(…)"),
    ("′", "'"),
    ("’", "'"),
    ("{", "("),
    ("}", ")"),
];

/// The tokens of a source; the last is [`Kind::End`].
///
/// Comments are left out, and so are line ends inside brackets.
///
/// # Errors
/// [`ParseError`] for a character that begins no token, an unclosed backquote, or a number that is malformed or
/// outside the range of a double.
///
/// ```
/// use leastaction_expr::{Kind, tokens};
/// let source = "2*θ'  # an angle's rate";
/// let kinds: Vec<Kind> = tokens(source)?.iter().map(|token| token.kind).collect();
/// assert_eq!(kinds, [Kind::Number(2.0), Kind::Sign("*"), Kind::Name, Kind::Sign("'"), Kind::End]);
/// # Ok::<(), leastaction_expr::ParseError>(())
/// ```
pub fn tokens(source: &str) -> Result<Vec<Token>, ParseError> {
    let mut found: Vec<Token> = Vec::new();
    let mut brackets = 0_usize;
    let mut at = 0;
    while let Some(first) = source[at..].chars().next() {
        let rest = &source[at..];
        let (kind, length) = if first == '\n' {
            (Some(Kind::Newline), 1)
        } else if first.is_whitespace() {
            (None, first.len_utf8())
        } else if first == '#' {
            (None, rest.find('\n').unwrap_or(rest.len()))
        } else if begins_name(first) {
            (Some(Kind::Name), name_length(rest))
        } else if first == '`' {
            (Some(Kind::Quoted), quoted_length(rest, at)?)
        } else if let Some(length) = text_length(rest) {
            (Some(Kind::Text), length)
        } else if begins_number(rest) {
            let (value, length) = number(rest, at)?;
            (Some(Kind::Number(value)), length)
        } else if follows_index(&found, at) && begins_part(rest) {
            (Some(Kind::Sign(".")), 1)
        } else {
            let sign = sign(rest, first, at)?;
            (Some(Kind::Sign(sign)), sign.len())
        };
        match kind {
            Some(Kind::Sign("(" | "[")) => brackets += 1,
            Some(Kind::Sign(")" | "]")) => brackets = brackets.saturating_sub(1),
            _ => {}
        }
        let repeated = brackets > 0 || found.last().is_none_or(|last| last.kind == Kind::Newline);
        if let Some(kind) = kind.filter(|&kind| kind != Kind::Newline || !repeated) {
            found.push(Token { kind, span: Span { start: at, end: at + length } });
        }
        at += length;
    }
    found.push(Token { kind: Kind::End, span: Span { start: at, end: at } });
    Ok(found)
}

/// Whether a bracket is closed right here, so that a part may follow: `b[i].x`.
fn follows_index(found: &[Token], at: usize) -> bool {
    found.last().is_some_and(|last| last.kind == Kind::Sign("]") && last.span.end == at)
}

fn begins_part(rest: &str) -> bool {
    rest.strip_prefix('.').is_some_and(|part| part.starts_with(begins_name))
}

/// Whether a text is one identifier.
pub(crate) fn is_identifier(text: &str) -> bool {
    text.starts_with(begins_name) && text.chars().all(continues_name)
}

/// Whether a text is a name with parts or indices, as those of a [block](crate::Graph::block) have, and is read as one name.
pub(crate) fn is_path(text: &str) -> bool {
    text.starts_with(begins_name) && text.contains(['[', '.']) && name_length(text) == text.len()
}

fn begins_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// Letters, digits and subscript digits; superscripts are left out because `x²` is meant as a power.
fn continues_name(c: char) -> bool {
    begins_name(c) || c.is_ascii_digit() || ('₀'..='₉').contains(&c)
}

/// The length of a name, which may have parts: `bob.x` is one name, and so are `rope[17].x` and `u[2][3]`.
fn name_length(rest: &str) -> usize {
    let mut end = 0;
    loop {
        end += rest[end..].find(|c| !continues_name(c)).unwrap_or(rest.len() - end);
        while let length @ 1.. = number_length(&rest[end..]) {
            end += length;
        }
        match rest[end..].strip_prefix('.') {
            Some(part) if part.starts_with(begins_name) => end += 1,
            _ => return end,
        }
    }
}

/// The length of a number in brackets that follows a name at once, or 0.
fn number_length(rest: &str) -> usize {
    let Some(inside) = rest.strip_prefix('[') else { return 0 };
    let digits = inside.find(|c: char| !c.is_ascii_digit()).unwrap_or(inside.len());
    if digits > 0 && inside[digits..].starts_with(']') { digits + 2 } else { 0 }
}

/// The length of a name in backquotes, in which two backquotes stand for one.
fn quoted_length(rest: &str, at: usize) -> Result<usize, ParseError> {
    let bytes = rest.as_bytes();
    let mut end = 1;
    while end < bytes.len() {
        match (bytes[end], bytes.get(end + 1)) {
            (b'`', Some(b'`')) => end += 2,
            (b'`', _) => return Ok(end + 1),
            _ => end += 1,
        }
    }
    Err(ParseError::UnclosedQuote { span: Span { start: at, end: at + 1 } })
}

/// The length of a text in double quotes that ends on its line, if one begins here.
fn text_length(rest: &str) -> Option<usize> {
    let inside = rest.strip_prefix('"')?;
    let end = inside.find(['"', '\n'])?;
    inside[end..].starts_with('"').then_some(end + 2)
}

fn begins_number(rest: &str) -> bool {
    let digits = rest.strip_prefix('.').unwrap_or(rest);
    digits.starts_with(|c: char| c.is_ascii_digit())
}

fn number(rest: &str, at: usize) -> Result<(f64, usize), ParseError> {
    let digits = |from: usize| {
        let tail = &rest[from..];
        from + tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len())
    };
    let mut end = digits(0);
    // Two points are those of a range: `1..5`.
    if rest[end..].starts_with('.') && !rest[end..].starts_with("..") {
        end = digits(end + 1);
    }
    let mantissa = end;
    if rest[end..].starts_with(['e', 'E']) {
        let signed = end + 1 + usize::from(rest[end + 1..].starts_with(['+', '-']));
        if digits(signed) > signed {
            end = digits(signed);
        }
    }
    let malformed = rest[end..].starts_with('.') && !rest[end..].starts_with("..");
    let span = Span { start: at, end: at + end + usize::from(malformed) };
    match rest[..end].parse::<f64>() {
        Ok(value) if !malformed => {
            let vanished = value == 0.0 && rest[..mantissa].contains(|c| matches!(c, '1'..='9'));
            if value.is_finite() && !vanished {
                Ok((value, end))
            } else {
                Err(ParseError::NumberRange { span, number: rest[..end].into() })
            }
        }
        _ => Err(ParseError::MalformedNumber { span }),
    }
}

fn sign(rest: &str, first: char, at: usize) -> Result<&'static str, ParseError> {
    let lookalike = LOOKALIKES.iter().find(|(wrong, _)| rest.starts_with(wrong));
    let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
    match (lookalike, sign) {
        (None, Some(sign)) => Ok(sign),
        (lookalike, _) => {
            let found = lookalike.map_or_else(|| first.to_string(), |(wrong, _)| (*wrong).to_string());
            Err(ParseError::UnexpectedCharacter {
                span: Span { start: at, end: at + found.len() },
                found,
                instead: lookalike.map(|&(_, right)| right),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Form, Op};

    fn kinds(source: &str) -> Vec<Kind> {
        tokens(source).unwrap().into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn numbers_in_all_notations() {
        let numbers = [1.0, 0.5, 2.0, 1e-3, 1.5e8, 20.0].map(Kind::Number);
        assert_eq!(kinds("1 .5 2. 1e-3 1.5E+8 2.e1")[..6], numbers);
        assert_eq!(kinds("2exp")[..2], [Kind::Number(2.0), Kind::Name]);
        assert_eq!(kinds("2e+x")[..2], [Kind::Number(2.0), Kind::Name]);
    }

    #[test]
    fn numbers_out_of_range_and_malformed() {
        let span = Span { start: 4, end: 9 };
        let number = "1e999".into();
        assert_eq!(tokens("x + 1e999"), Err(ParseError::NumberRange { span, number }));
        assert!(matches!(tokens("1e-999"), Err(ParseError::NumberRange { .. })));
        assert_eq!(kinds("0e-999 5e-324")[..2], [Kind::Number(0.0), Kind::Number(5e-324)]);
        let span = Span { start: 0, end: 4 };
        assert_eq!(tokens("1.5.2"), Err(ParseError::MalformedNumber { span }));
    }

    #[test]
    fn ranges_have_two_points() {
        let range = [Kind::Number(1.0), Kind::Sign(".."), Kind::Number(2.5), Kind::End];
        assert_eq!(kinds("1..2.5"), range);
        assert_eq!(kinds("1 .. 2.5"), range);
        assert_eq!(kinds("N..M-1").len(), 6);
        assert!(tokens("1...2").is_ok() && tokens("1.2.3").is_err());
    }

    #[test]
    fn spans_count_bytes() {
        let found = tokens("ω₁ + `два`'").unwrap();
        let spans: Vec<(usize, usize)> = found.iter().map(|t| (t.span.start, t.span.end)).collect();
        assert_eq!(spans, [(0, 5), (6, 7), (8, 16), (16, 17), (17, 17)]);
    }

    #[test]
    fn line_ends_count_outside_of_brackets() {
        let expected = [
            Kind::Name,
            Kind::Newline,
            Kind::Sign("("),
            Kind::Name,
            Kind::Sign(")"),
            Kind::Newline,
            Kind::End,
        ];
        assert_eq!(kinds("\n\na # first\n\n  \n(\nb\n)\n"), expected);
    }

    #[test]
    fn names_have_parts() {
        assert_eq!(
            kinds("bob.x' + a.b.c"),
            [Kind::Name, Kind::Sign("'"), Kind::Sign("+"), Kind::Name, Kind::End]
        );
        assert!(tokens("bob.").is_err() && tokens("bob .x").is_err());
        assert_eq!(kinds("x.5")[..2], [Kind::Name, Kind::Number(0.5)]);
        assert_eq!(kinds("rope[17].x' + s[0]").len(), 5);
        assert_eq!(kinds("gravity [3] at[0, 1]").len(), 11);
        assert_eq!(kinds("u[2][3].x'").len(), 3);
        assert_eq!(kinds("b[i].x")[3..6], [Kind::Sign("]"), Kind::Sign("."), Kind::Name]);
        assert!(tokens("b[i] .x").is_err() && tokens("b[i].5").is_ok() && tokens("(b).x").is_err());
    }

    #[test]
    fn backquotes() {
        assert_eq!(kinds("`a ``b``` ``"), [Kind::Quoted, Kind::Quoted, Kind::End]);
        assert_eq!(tokens("x*`ab").unwrap_err().span(), Span { start: 2, end: 3 });
    }

    #[test]
    fn texts_end_on_their_line() {
        assert_eq!(kinds("file \"a b#.msh\" x"), [Kind::Name, Kind::Text, Kind::Name, Kind::End]);
        assert_eq!(tokens("x \"a\nb\"").unwrap_err().span(), Span { start: 2, end: 3 });
    }

    #[test]
    fn lookalikes_are_explained() {
        assert_eq!(tokens("a × b").unwrap_err().to_string(), "`×` is not part of the language; write `*`");
        assert_eq!(tokens("x²").unwrap_err().span(), Span { start: 1, end: 3 });
        assert_eq!(tokens("x**2").unwrap_err().to_string(), "`**` is not part of the language; write `^`");
        assert_eq!(tokens("x ? 2").unwrap_err().to_string(), "`?` is not part of the language");
    }

    #[test]
    fn every_sign_of_the_table_is_a_token() {
        for op in Op::ALL {
            if let Form::Infix { symbol, .. } | Form::Prefix { symbol, .. } = op.row().form {
                assert_eq!(kinds(symbol)[0], Kind::Sign(symbol));
            }
        }
    }
}
