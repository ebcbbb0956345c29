//! A text with other values of parameters, and another start.

use crate::lines::statements;
use leastaction_expr::{Kind, Span, Token, tokens};

/// Why a value cannot be written into a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestateError {
    /// The text cannot be cut into words.
    #[error("the text of the model cannot be read")]
    Text,
    /// No statement gives the parameter its value.
    #[error("the text has no line `param {name} = …` in which its value could stand")]
    NoParameter {
        /// The parameter.
        name: String,
    },
    /// A list of parameters has one value for all.
    #[error("`{name}` is one of several parameters that the text gives one value")]
    Several {
        /// The parameter.
        name: String,
    },
}

/// A text with these values of parameters in place of those in it, and with these values at the start: in place of those in it, or else in a statement of their own. All else, comments too,
/// stays as it is.
///
/// ```
/// let text = "param l = 2*0.5, m = 1 # of the bob\ncoord th\nstart th = 1\n";
/// let values = [("l".to_owned(), 1.25)];
/// let start = [("th".to_owned(), 0.5), ("th'".to_owned(), -0.25)];
/// assert_eq!(
///     leastaction_language::restate(text, &values, &start)?,
///     "param l = 1.25, m = 1 # of the bob\ncoord th\nstart th = 0.5\nstart th' = -0.25\n"
/// );
/// # Ok::<(), leastaction_language::RestateError>(())
/// ```
///
/// # Errors
/// [`RestateError`] if a parameter has no value of its own in the text.
pub fn restate(
    source: &str,
    parameters: &[(String, f64)],
    start: &[(String, f64)],
) -> Result<String, RestateError> {
    let (stated, started) = (assignments(source, "param")?, assignments(source, "start")?);
    let mut changes: Vec<(Span, f64)> = Vec::new();
    for (name, value) in parameters {
        if name.contains('[') {
            return Err(RestateError::Several { name: name.clone() });
        }
        match stated.iter().find(|(other, _)| other == name) {
            Some((_, span)) => changes.push((*span, *value)),
            None => return Err(RestateError::NoParameter { name: name.clone() }),
        }
    }
    let mut more = Vec::new();
    for (name, value) in start {
        match started.iter().find(|(other, _)| other == name) {
            Some((_, span)) => changes.push((*span, *value)),
            None => more.push(format!("{name} = {}", written(*value))),
        }
    }
    changes.sort_by_key(|(span, _)| span.start);
    let (mut text, mut at) = (String::new(), 0);
    for (span, value) in changes {
        text.push_str(&source[at..span.start]);
        text.push_str(&written(value));
        at = span.end;
    }
    text.push_str(&source[at..]);
    if !more.is_empty() {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!("start {}\n", more.join(", ")));
    }
    Ok(text)
}

/// All digits of a number.
fn written(value: f64) -> String {
    let plain = value == 0.0 || (1e-4..1e15).contains(&value.abs());
    if plain { value.to_string() } else { format!("{value:e}") }
}

/// The names that statements with this word give values, and where the values stand.
fn assignments(source: &str, word: &str) -> Result<Vec<(String, Span)>, RestateError> {
    let mut found = Vec::new();
    for span in statements(source).0 {
        let text = &source[span.start..span.end];
        let all = tokens(text).map_err(|_| RestateError::Text)?;
        let said = |token: &Token| &text[token.span.start..token.span.end];
        let mut all = all.iter().filter(|token| !matches!(token.kind, Kind::Newline | Kind::End)).peekable();
        if all.next().is_none_or(|first| said(first) != word) {
            continue;
        }
        while all.peek().is_some() {
            let (mut name, mut value, mut depth) = (String::new(), None::<Span>, 0);
            let mut is_value = false;
            for token in all.by_ref() {
                let sign = if let Kind::Sign(sign) = token.kind { sign } else { "" };
                match sign {
                    "(" | "[" | "{" => depth += 1,
                    ")" | "]" | "}" => depth -= 1,
                    "," if depth == 0 => break,
                    _ => {}
                }
                match (is_value, sign) {
                    (false, "=") => is_value = true,
                    (false, _) => name.push_str(said(token)),
                    (true, _) => {
                        let begin = value.map_or(token.span.start, |span| span.start);
                        value = Some(Span { start: begin, end: token.span.end });
                    }
                }
            }
            let shifted = |value: Span| Span { start: span.start + value.start, end: span.start + value.end };
            found.extend(value.map(|value| (name, shifted(value))));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::{RestateError, restate};

    fn changed(
        text: &str,
        parameters: &[(&str, f64)],
        start: &[(&str, f64)],
    ) -> Result<String, RestateError> {
        let owned =
            |list: &[(&str, f64)]| list.iter().map(|(name, x)| ((*name).to_owned(), *x)).collect::<Vec<_>>();
        restate(text, &owned(parameters), &owned(start))
    }

    #[test]
    fn values_are_put_where_they_stand() {
        let text = "# m = 3\nparam a = max(1, 2), b = 3 # b = 4\nparam\n  c = 1e-3,\n  d = -2\nlet e = a\ncoord x\nstart x = a + 1, x' = 0";
        assert_eq!(
            changed(text, &[("c", 5e-7), ("a", -0.5), ("d", 4.0)], &[("x'", 2.0)]).unwrap(),
            "# m = 3\nparam a = -0.5, b = 3 # b = 4\nparam\n  c = 5e-7,\n  d = 4\nlet e = a\ncoord x\nstart x = a + 1, x' = 2"
        );
        assert_eq!(changed("coord x", &[], &[("x", 1.0)]).unwrap(), "coord x\nstart x = 1\n");
        assert_eq!(changed(text, &[], &[]).unwrap(), text);
    }

    #[test]
    fn what_has_no_value_of_its_own_is_refused() {
        let text = "param m[3] = 1\nparam k = 2\n";
        assert!(matches!(changed(text, &[("m[3]", 2.0)], &[]), Err(RestateError::Several { .. })));
        assert!(matches!(changed(text, &[("g", 2.0)], &[]), Err(RestateError::NoParameter { .. })));
    }
}
