//! What is repeated how often: `i in 1..N, j in 1..i where i != j`.

use super::{depth_zero, parted, whole};
use crate::diagnostic::Diagnostic;
use leastaction_expr::{Kind, Parser, Span, Token, needs_quotes};

/// Indices with their ranges, and a condition on them.
#[derive(Clone, Debug)]
pub(crate) struct Clause {
    pub(super) ranges: Vec<Range>,
    /// The tokens of the condition.
    pub(super) condition: Option<Vec<Token>>,
}

/// An index and its range; or two of one range, the second after the first.
#[derive(Clone, Debug)]
pub(super) struct Range {
    pub(super) index: Span,
    pub(super) second: Option<(Span, bool)>,
    pub(super) low: Vec<Token>,
    pub(super) high: Vec<Token>,
    pub(super) span: Span,
}

/// Where the `for` of a statement stands, if it has one.
pub(super) fn find(template: &Parser<'_, '_>, tokens: &[Token]) -> Option<usize> {
    let mut depth = 0_usize;
    (0..tokens.len()).find(|&at| {
        match tokens[at].kind {
            Kind::Sign("(" | "[") => depth += 1,
            Kind::Sign(")" | "]") => depth = depth.saturating_sub(1),
            _ => {}
        }
        at > 0
            && depth == 0
            && template.text(tokens[at].span) == "for"
            && tokens[at].kind == Kind::Name
            && begins_range(template, &tokens[at + 1..])
    })
}

/// Whether a sum or a product over indices begins here.
pub(super) fn is_repeated(template: &Parser<'_, '_>, tokens: &[Token]) -> bool {
    let [word, open, rest @ ..] = tokens else { return false };
    word.kind == Kind::Name
        && matches!(template.text(word.span), "sum" | "product")
        && open.kind == Kind::Sign("(")
        && begins_range(template, rest)
}

/// Whether `i in` or `i < j in` stands here.
fn begins_range(template: &Parser<'_, '_>, tokens: &[Token]) -> bool {
    let name = |at: usize| tokens.get(at).is_some_and(|token| token.kind == Kind::Name);
    let word = |at: usize| name(at) && template.text(tokens[at].span) == "in";
    let compared = || matches!(tokens.get(1).map(|token| token.kind), Some(Kind::Sign("<" | "<=")));
    name(0) && (word(1) || compared() && name(2) && word(3))
}

impl Clause {
    /// The indices of these tokens; `at` is where they are asked for.
    pub(super) fn read(template: &Parser<'_, '_>, tokens: &[Token], at: Span) -> Result<Clause, Diagnostic> {
        let is_where = |token: &Token| token.kind == Kind::Name && template.text(token.span) == "where";
        let mut depth = 0_usize;
        let condition = tokens.iter().position(|token| {
            match token.kind {
                Kind::Sign("(" | "[") => depth += 1,
                Kind::Sign(")" | "]") => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && is_where(token)
        });
        let (ranges, condition) = match condition {
            Some(at) => (&tokens[..at], Some((tokens[at].span, tokens[at + 1..].to_vec()))),
            None => (tokens, None),
        };
        if let Some((span, condition)) = &condition
            && condition.is_empty()
        {
            return Err(Diagnostic::at(*span, "the condition is missing")
                .help("write it after `where`, as `where i != j`"));
        }
        let ranges: Result<Vec<Range>, _> =
            parted(ranges, ",").into_iter().map(|tokens| Range::read(template, tokens, at)).collect();
        Ok(Clause { ranges: ranges?, condition: condition.map(|(_, tokens)| tokens) })
    }
}

impl Range {
    fn read(template: &Parser<'_, '_>, tokens: &[Token], at: Span) -> Result<Range, Diagnostic> {
        let form = "an index and its range are written `i in 1..N`, and two of them `i < j in 1..N`";
        let Some(span) = whole(tokens) else {
            return Err(Diagnostic::at(at, "an index and its range are missing").help(form));
        };
        if !begins_range(template, tokens) {
            return Err(Diagnostic::at(span, "this is no index with its range").help(form));
        }
        let (second, bounds) = match tokens[1].kind {
            Kind::Sign(sign) => (Some((tokens[2].span, sign == "<")), &tokens[4..]),
            _ => (None, &tokens[2..]),
        };
        for index in std::iter::once(tokens[0].span).chain(second.map(|(span, _)| span)) {
            check_name(template.text(index), index)?;
        }
        let Some(dots) = depth_zero(bounds, "..") else {
            let place = whole(bounds).unwrap_or(span);
            return Err(Diagnostic::at(place, "this is no range").help(match bounds.is_empty() {
                true => form.to_owned(),
                false => format!("write `1..{}` for all from 1 to that", template.text(place)),
            }));
        };
        let (low, high) = (&bounds[..dots], &bounds[dots + 1..]);
        if low.is_empty() || high.is_empty() {
            return Err(Diagnostic::at(bounds[dots].span, "a range has two ends").help("write `1..N`"));
        }
        if let Some(more) = depth_zero(high, "..") {
            return Err(Diagnostic::at(high[more].span, "a range has two ends, and no more"));
        }
        Ok(Range { index: tokens[0].span, second, low: low.to_vec(), high: high.to_vec(), span })
    }

    /// The indices of the range.
    pub(super) fn indices(&self) -> impl Iterator<Item = Span> {
        std::iter::once(self.index).chain(self.second.map(|(span, _)| span))
    }
}

/// Refuses what cannot be an index.
fn check_name(name: &str, span: Span) -> Result<(), Diagnostic> {
    if needs_quotes(name) || name == "t" || name.contains(['.', '[']) || crate::format::is_word(name) {
        let wrong = Diagnostic::at(span, format!("`{name}` cannot be an index: it has a meaning of its own"));
        return Err(wrong.help("choose another name, as `i`"));
    }
    Ok(())
}
