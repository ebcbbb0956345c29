//! What can be wrong with a text, and how it is shown.

use super::Span;
use crate::advice::Advice;

/// Why a text is not an expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// Something else should stand here.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// The place.
        span: Span,
        /// What could stand here.
        expected: &'static str,
        /// What stands here.
        found: String,
    },
    /// Two operands follow each other.
    #[error("an operator is missing; for a product write `{product}`")]
    MissingOperator {
        /// Both operands.
        span: Span,
        /// The product that may be meant.
        product: String,
    },
    /// A bracket is open at the end.
    #[error("`{bracket}` is never closed")]
    Unclosed {
        /// The bracket.
        span: Span,
        /// The bracket.
        bracket: &'static str,
    },
    /// A bracket is closed by one of the other kind.
    #[error("`{bracket}` is still open where `{found}` stands")]
    Mismatched {
        /// The closing bracket.
        span: Span,
        /// What stands there.
        found: String,
        /// The bracket that is open.
        bracket: &'static str,
        /// Its place.
        opened: Span,
    },
    /// A name in backquotes does not end.
    #[error("the name in backquotes is never closed")]
    UnclosedQuote {
        /// The first backquote.
        span: Span,
    },
    /// A character that means nothing here.
    #[error("`{found}` is not part of the language{}", write_instead(*.instead))]
    UnexpectedCharacter {
        /// The place.
        span: Span,
        /// The character, or the characters that look like an operator.
        found: String,
        /// What is probably meant.
        instead: Option<&'static str>,
    },
    /// A number with two decimal points.
    #[error("this is not a number")]
    MalformedNumber {
        /// The number.
        span: Span,
    },
    /// A number too large for a double, or so small that it would become 0.
    #[error("`{number}` is outside the range of a 64-bit number")]
    NumberRange {
        /// The number.
        span: Span,
        /// The number as written.
        number: String,
    },
    /// A name that the scope does not know.
    #[error("unknown name `{name}`{}", did_you_mean(.suggestion))]
    UnknownName {
        /// The name.
        span: Span,
        /// The name, with its primes.
        name: String,
        /// The nearest known name.
        suggestion: Option<String>,
    },
    /// A call of something that is not a function.
    #[error("unknown function `{name}`{}", did_you_mean(.suggestion))]
    UnknownFunction {
        /// The name.
        span: Span,
        /// The name.
        name: String,
        /// The nearest known function.
        suggestion: Option<String>,
    },
    /// A function without its arguments.
    #[error("`{name}` is a function: write `{name}(…)`, or `` `{name}` `` for a symbol of that name")]
    NotCalled {
        /// The name.
        span: Span,
        /// The name.
        name: String,
    },
    /// A function with too few or too many arguments.
    #[error("`{name}` takes {}, not {found}", arguments(*.expected))]
    Arity {
        /// The call.
        span: Span,
        /// The function.
        name: String,
        /// How many it takes.
        expected: usize,
        /// How many are given.
        found: usize,
    },
    /// `a < b < c`
    #[error("comparisons do not chain: multiply them, as in `(a < b)*(b < c)`")]
    ChainedComparison {
        /// The second comparison sign.
        span: Span,
    },
    /// A vector where a number is needed, or vectors that do not fit.
    #[error("{problem}")]
    Shape {
        /// The operation and its operands.
        span: Span,
        /// What is applied to what, and what to do.
        problem: Advice,
    },
    /// A function of the text with arguments that its value cannot have.
    #[error("`{name}` does not take {given}: {}", .inside.innermost())]
    InFunction {
        /// The call.
        span: Span,
        /// The function.
        name: String,
        /// What the arguments are, in words.
        given: String,
        /// What is wrong in the text of the function.
        inside: Box<ParseError>,
    },
    /// Primes behind an argument of the function whose text this is.
    #[error("the rate of the argument `{name}` is not known; give it as another argument")]
    RateOfArgument {
        /// The argument and its primes.
        span: Span,
        /// The argument.
        name: String,
    },
    /// Functions of functions have become too much.
    #[error("this is too large: functions of functions have put more than {limit} terms here")]
    TooLarge {
        /// The call.
        span: Span,
        /// How many terms there may be.
        limit: usize,
    },
    /// Primes behind something that has no time derivative.
    #[error("`'` is the time derivative of a symbol; {what} has none here")]
    NoDerivative {
        /// The operand and its primes.
        span: Span,
        /// What stands before the primes.
        what: String,
    },
    /// A definition of a name that cannot be defined.
    #[error("`{name}` {problem}; choose another name")]
    CannotDefine {
        /// The name.
        span: Span,
        /// The name.
        name: String,
        /// Why not.
        problem: &'static str,
    },
}

impl ParseError {
    /// The place in the source.
    #[must_use]
    pub fn span(&self) -> Span {
        *self.clone().place()
    }

    /// The same error in a source of which this one is a part that begins at a byte.
    pub(super) fn shifted(mut self, by: usize) -> ParseError {
        let place = self.place();
        *place = place.shifted(by);
        if let ParseError::Mismatched { opened, .. } = &mut self {
            *opened = opened.shifted(by);
        }
        self
    }

    fn place(&mut self) -> &mut Span {
        match self {
            ParseError::Expected { span, .. }
            | ParseError::MissingOperator { span, .. }
            | ParseError::Unclosed { span, .. }
            | ParseError::Mismatched { span, .. }
            | ParseError::UnclosedQuote { span }
            | ParseError::UnexpectedCharacter { span, .. }
            | ParseError::MalformedNumber { span }
            | ParseError::NumberRange { span, .. }
            | ParseError::UnknownName { span, .. }
            | ParseError::UnknownFunction { span, .. }
            | ParseError::NotCalled { span, .. }
            | ParseError::Arity { span, .. }
            | ParseError::ChainedComparison { span }
            | ParseError::Shape { span, .. }
            | ParseError::InFunction { span, .. }
            | ParseError::RateOfArgument { span, .. }
            | ParseError::TooLarge { span, .. }
            | ParseError::NoDerivative { span, .. }
            | ParseError::CannotDefine { span, .. } => span,
        }
    }

    /// The message with its line and column, and the source line with the place underlined.
    ///
    /// ```
    /// let source = "let a = 2;\nsn(a)";
    /// let error = leastaction_expr::Graph::new().parse(source).unwrap_err();
    /// assert_eq!(error.render(source), "\
    /// 2:1: unknown function `sn`; did you mean `sin`?
    ///   | sn(a)
    ///   | ^^");
    /// ```
    #[must_use]
    pub fn render(&self, source: &str) -> String {
        /// How many characters of a long line are shown before the place, and at least after it.
        const CONTEXT: usize = 60;
        let start = source.floor_char_boundary(self.span().start);
        let end = source.floor_char_boundary(self.span().end).max(start);
        let line_start = source[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = source[start..].find('\n').map_or(source.len(), |newline| start + newline);
        let line = 1 + source[..line_start].matches('\n').count();
        let column = 1 + source[line_start..start].chars().count();

        let left: Vec<char> = source[line_start..start].chars().rev().take(CONTEXT).collect();
        let marked = source[start..end.min(line_end)].chars().take(2 * CONTEXT).count().max(1);
        let right = source[start..line_end].chars().take(marked.max(CONTEXT));
        let shown: String = left.iter().rev().copied().chain(right).map(blank).collect();
        let (gap, carets) = (" ".repeat(left.len()), "^".repeat(marked));
        format!("{line}:{column}: {self}\n  | {}\n  | {gap}{carets}", shown.trim_end())
    }
}

/// Tabs and other control characters would move the underline away from its place.
fn blank(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}

fn did_you_mean(suggestion: &Option<String>) -> String {
    suggestion.as_ref().map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

fn write_instead(instead: Option<&str>) -> String {
    instead.map_or_else(String::new, |sign| format!("; write `{sign}`"))
}

fn arguments(count: usize) -> String {
    format!("{count} argument{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    #[test]
    fn underlines_multi_byte_text_by_characters() {
        let source = "ω₁ +\n\tθθ*`ж`*1e999";
        let error = crate::Graph::new().parse(source).unwrap_err();
        let expected =
            "2:9: `1e999` is outside the range of a 64-bit number\n  |  θθ*`ж`*1e999\n  |         ^^^^^";
        assert_eq!(error.render(source), expected);
    }

    #[test]
    fn marks_the_end_and_survives_another_source() {
        let error = crate::Graph::new().parse("1 + ").unwrap_err();
        assert_eq!(error.render("1 + "), "1:5: expected an expression, found the end\n  | 1 +\n  |     ^");
        assert!(error.render("").starts_with("1:1: "));
        assert!(error.render("θθθ").starts_with("1:3: "));
    }

    #[test]
    fn shows_only_a_part_of_a_long_line() {
        let source = format!("{}?{}", "x + ".repeat(100_000), " + x".repeat(100_000));
        let rendered = crate::Graph::new().parse(&source).unwrap_err().render(&source);
        assert!(rendered.len() < 500, "{rendered}");
    }
}
