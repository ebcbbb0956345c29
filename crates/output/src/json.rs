//! JSON as it is written here: numbers have 17 significant digits, which is enough to read back every bit.

use crate::table::{Cell, ColumnKind};
use std::fmt::Write;
use std::io;

/// A number with 17 significant digits, which always looks like one that is not whole, so that readers keep its sign and its kind; what
/// is not finite is `null`, since JSON has no word for it.
///
/// ```
/// # use leastaction_output::json::number;
/// assert_eq!([number(0.1), number(-0.0), number(1e300)], ["0.10000000000000001", "-0.0", "1.0000000000000001e+300"]);
/// assert_eq!([number(f64::NAN), number(3.0), number(2.5e-5)], ["null", "3.0", "2.5000000000000001e-05"]);
/// ```
#[must_use]
pub fn number(value: f64) -> String {
    const DIGITS: i32 = 17;
    if !value.is_finite() {
        return "null".to_owned();
    }
    let scientific = format!("{value:.16e}");
    let exponent =
        scientific.split_once('e').and_then(|(digits, text)| Some((digits, text.parse::<i32>().ok()?)));
    let Some((digits, exponent)) = exponent else { unreachable!("{scientific} has an exponent") };
    // As C's `%.17g` chooses, but for whole numbers.
    if (-4..DIGITS - 1).contains(&exponent) {
        let places = (DIGITS - 1 - exponent) as usize;
        let plain = format!("{value:.places$}");
        let bare = plain.trim_end_matches('0');
        return if bare.ends_with('.') { format!("{bare}0") } else { bare.to_owned() };
    }
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// A text in quotes.
///
/// ```
/// # use leastaction_output::json::text;
/// assert_eq!(text("a \"b\"\n\u{1}é"), r#""a \"b\"\n\u0001é""#);
/// ```
#[must_use]
pub fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c)); // writing to a string does not fail
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// An object on one line, of names and values that are JSON already.
pub fn object<N: AsRef<str>, V: AsRef<str>>(members: impl IntoIterator<Item = (N, V)>) -> String {
    let members =
        members.into_iter().map(|(name, value)| format!("{}: {}", text(name.as_ref()), value.as_ref()));
    format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
}

/// A list on one line, of values that are JSON already.
pub fn list<V: AsRef<str>>(values: impl IntoIterator<Item = V>) -> String {
    let values: Vec<String> = values.into_iter().map(|value| value.as_ref().to_owned()).collect();
    format!("[{}]", values.join(", "))
}

/// A number of a column, as what it means.
///
/// # Errors
/// If it is not what the column says.
pub fn cell(kind: &ColumnKind, value: f64) -> io::Result<String> {
    Ok(match kind.cell(value)? {
        Cell::Number(value) => number(value),
        Cell::Whole(value) => value.to_string(),
        Cell::Word(word) => text(word),
    })
}
