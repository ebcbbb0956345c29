//! Words, numbers and lists between parentheses.

use leastaction_expr::{Expr, Graph};

/// A number, or an expression of numbers such as `pi/4`.
pub(crate) fn number(text: &str) -> Option<f64> {
    text.parse().ok().or_else(|| Graph::new().parse(text).ok().and_then(Expr::as_number))
}

/// The word before parentheses, and what is inside them.
pub(crate) fn call(text: &str) -> Option<(&str, &str)> {
    let (word, inside) = text.trim().strip_suffix(')')?.split_once('(')?;
    Some((word.trim(), inside))
}

/// What stands between commas that are not inside parentheses or quotes.
pub(crate) fn parts(inside: &str) -> Vec<&str> {
    if inside.trim().is_empty() {
        return Vec::new();
    }
    let (mut depth, mut quoted, mut begin, mut parts) = (0i32, false, 0, Vec::new());
    for (at, letter) in inside.char_indices() {
        match letter {
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => {
                parts.push(inside[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(inside[begin..].trim());
    parts
}
