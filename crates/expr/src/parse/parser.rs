//! A cursor on tokens: what a larger language needs besides expressions.

use super::expression::needs_quotes;
use super::{Kind, ParseError, Scope, Span, Token, Value, tokens};
use crate::Graph;
use std::borrow::Cow;
use std::rc::Rc;

/// A reader of tokens that turns expressions into nodes of a graph.
///
/// It stands at a token and leaves off at the first that does not continue the expression, so a
/// larger language can read its keywords with the same parser and its expressions with [`Parser::expression`].
///
/// ```
/// # use leastaction_expr::{Graph, Parser, Scope, Value};
/// let graph = Graph::new();
/// let mut parser = Parser::new(&graph, "particle a at [l*sin(q), -l*cos(q)]\n")?;
/// assert!(parser.accept_word("particle"));
/// let (name, span) = parser.name()?;
/// assert_eq!((&*name, span.start), ("a", 9));
/// assert!(parser.accept_word("at"));
/// let Value::Vector(place) = parser.expression(&Scope::open())? else { panic!() };
/// let [l, q] = graph.symbols(["l", "q"]);
/// assert_eq!(place, [l * q.sin(), -(l * q.cos())]);
/// # Ok::<(), leastaction_expr::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Parser<'g, 's> {
    pub(super) graph: &'g Graph,
    source: &'s str,
    /// Where the source begins, in the places of tokens.
    begins: usize,
    /// Shared, so that a look ahead with a copy of the parser costs nothing.
    tokens: Rc<[Token]>,
    pub(super) at: usize,
}

impl<'g, 's> Parser<'g, 's> {
    /// A parser at the first token of a source.
    ///
    /// # Errors
    /// As [`tokens`].
    pub fn new(graph: &'g Graph, source: &'s str) -> Result<Parser<'g, 's>, ParseError> {
        Ok(Parser { graph, source, begins: 0, tokens: tokens(source)?.into(), at: 0 })
    }

    /// A parser of a part of a source, at its first token. Places are those of the whole.
    ///
    /// ```
    /// # use leastaction_expr::{Graph, Parser, Span};
    /// # let graph = Graph::new();
    /// let mut parser = Parser::within(&graph, "one\ntwo\n", Span { start: 4, end: 7 })?;
    /// assert_eq!(parser.name()?, ("two".into(), Span { start: 4, end: 7 }));
    /// assert!(parser.finish().is_ok());
    /// # Ok::<(), leastaction_expr::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// As [`tokens`].
    pub fn within(graph: &'g Graph, source: &'s str, part: Span) -> Result<Parser<'g, 's>, ParseError> {
        let text = source.get(part.start..part.end).unwrap_or("");
        let mut tokens = tokens(text).map_err(|error| error.shifted(part.start))?;
        tokens.iter_mut().for_each(|token| token.span = token.span.shifted(part.start));
        Ok(Parser { graph, source, begins: 0, tokens: tokens.into(), at: 0 })
    }

    /// A parser of a source that stands at a place among others: places count from there.
    ///
    /// ```
    /// # use leastaction_expr::{Graph, Parser, Span};
    /// # let graph = Graph::new();
    /// let mut parser = Parser::placed(&graph, "two", 100)?;
    /// assert_eq!(parser.name()?, ("two".into(), Span { start: 100, end: 103 }));
    /// # Ok::<(), leastaction_expr::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// As [`tokens`].
    pub fn placed(graph: &'g Graph, source: &'s str, begins: usize) -> Result<Parser<'g, 's>, ParseError> {
        let mut tokens = tokens(source).map_err(|error| error.shifted(begins))?;
        tokens.iter_mut().for_each(|token| token.span = token.span.shifted(begins));
        Ok(Parser { graph, source, begins, tokens: tokens.into(), at: 0 })
    }

    /// The parser for a text in which the ends of lines mean nothing.
    #[must_use]
    pub fn ignore_newlines(mut self) -> Parser<'g, 's> {
        self.tokens = self.tokens.iter().copied().filter(|token| token.kind != Kind::Newline).collect();
        self
    }

    /// The token it stands at.
    #[must_use]
    pub fn peek(&self) -> Token {
        self.token(self.at)
    }

    /// The token after the one it stands at.
    #[must_use]
    pub fn peek_next(&self) -> Token {
        self.token(self.at + 1)
    }

    /// The token it stands at, and steps over it. At the end it stays.
    pub fn advance(&mut self) -> Token {
        let token = self.peek();
        self.at = (self.at + 1).min(self.tokens.len().saturating_sub(1));
        token
    }

    /// The source of a span.
    #[must_use]
    pub fn text(&self, span: Span) -> &'s str {
        let inside = |at: usize| at.checked_sub(self.begins);
        let range = inside(span.start).zip(inside(span.end));
        range.and_then(|(start, end)| self.source.get(start..end)).unwrap_or("")
    }

    /// Steps over this sign; whether it was there.
    pub fn accept(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek().kind, Kind::Sign(other) if other == sign);
        if found {
            self.advance();
        }
        found
    }

    /// Steps over this word; whether it was there.
    pub fn accept_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    /// Steps over a name, in backquotes or not, and gives it with its place.
    ///
    /// # Errors
    /// [`ParseError::Expected`] if there is no name.
    pub fn name(&mut self) -> Result<(Cow<'s, str>, Span), ParseError> {
        let token = self.peek();
        let text = self.text(token.span);
        let name = match token.kind {
            Kind::Name => Cow::Borrowed(text),
            Kind::Quoted => Cow::Owned(text[1..text.len() - 1].replace("``", "`")),
            _ => return Err(self.unexpected("a name")),
        };
        self.advance();
        Ok((name, token.span))
    }

    /// Steps over a text in double quotes, and gives what is between them with its place.
    ///
    /// # Errors
    /// [`ParseError::Expected`] if there is none.
    pub fn quotation(&mut self, expected: &'static str) -> Result<(&'s str, Span), ParseError> {
        let token = self.peek();
        let text = self.text(token.span);
        if token.kind != Kind::Text {
            return Err(self.unexpected(expected));
        }
        self.advance();
        Ok((&text[1..text.len() - 1], token.span))
    }

    /// The tokens from the current one on.
    #[must_use]
    pub fn rest(&self) -> &[Token] {
        self.tokens.get(self.at..).unwrap_or_default()
    }

    /// An error at the current token: what is expected instead of it.
    ///
    /// ```
    /// # use leastaction_expr::{Graph, Parser};
    /// # let graph = Graph::new();
    /// let parser = Parser::new(&graph, "; x")?;
    /// assert_eq!(parser.unexpected("a statement").to_string(), "expected a statement, found `;`");
    /// # Ok::<(), leastaction_expr::ParseError>(())
    /// ```
    #[must_use]
    pub fn unexpected(&self, expected: &'static str) -> ParseError {
        let token = self.peek();
        let found = match token.kind {
            Kind::End => "the end".into(),
            Kind::Newline => "the end of the line".into(),
            _ => format!("`{}`", self.text(token.span)),
        };
        ParseError::Expected { span: token.span, expected, found }
    }

    /// As [`Parser::unexpected`], where an operator may follow: of two operands in a row it is said that an operator is missing.
    #[must_use]
    pub fn unexpected_operand(&self, expected: &'static str) -> ParseError {
        let token = self.peek();
        if let Some(before) = self.at.checked_sub(1).map(|at| self.token(at))
            && matches!(
                before.kind,
                Kind::Number(_) | Kind::Name | Kind::Quoted | Kind::Sign(")" | "]" | "'")
            )
            && matches!(token.kind, Kind::Number(_) | Kind::Name | Kind::Quoted | Kind::Sign("(" | "["))
        {
            let side = |token: Token| match token.kind {
                Kind::Sign("(" | ")") => "(…)",
                Kind::Sign("[" | "]") => "[…]",
                Kind::Sign(_) => "…'",
                _ => self.text(token.span),
            };
            let product = format!("{}*{}", side(before), side(token));
            return ParseError::MissingOperator { span: before.span.to(token.span), product };
        }
        self.unexpected(expected)
    }

    /// Makes sure that nothing is left but line ends.
    ///
    /// # Errors
    /// [`ParseError::Expected`] or [`ParseError::MissingOperator`] if something is.
    pub fn finish(&mut self) -> Result<(), ParseError> {
        while self.peek().kind == Kind::Newline {
            self.advance();
        }
        if self.peek().kind == Kind::End {
            Ok(())
        } else {
            Err(self.unexpected_operand("an operator or the end"))
        }
    }

    /// Definitions `let name = expression;`, which enter the scope, and an expression.
    ///
    /// # Errors
    /// [`ParseError`] with the place.
    ///
    /// ```
    /// # use leastaction_expr::{Graph, Parser, Scope};
    /// # let graph = Graph::new();
    /// let mut scope = Scope::open();
    /// Parser::new(&graph, "let r = x - y; r^2")?.block(&mut scope)?;
    /// assert_eq!(scope.get("r"), Some(&(graph.symbol("x") - graph.symbol("y")).into()));
    /// # Ok::<(), leastaction_expr::ParseError>(())
    /// ```
    pub fn block(&mut self, scope: &mut Scope<'g>) -> Result<Value<'g>, ParseError> {
        while self.accept_word("let") {
            let quoted = self.peek().kind == Kind::Quoted;
            let (name, span) = self.name()?;
            let problem = if !quoted && needs_quotes(&name) {
                Some("has a meaning of its own")
            } else {
                scope.get(&name).map(|_| "is already defined")
            };
            if let Some(problem) = problem {
                return Err(ParseError::CannotDefine { span, name: name.into(), problem });
            }
            if !self.accept("=") {
                return Err(self.unexpected("`=`"));
            }
            let value = self.expression(scope)?;
            if !self.accept(";") {
                return Err(self.unexpected_operand("an operator or `;`"));
            }
            scope.define(&name, value);
        }
        self.expression(scope)
    }

    fn is_word(&self, word: &str) -> bool {
        let token = self.peek();
        token.kind == Kind::Name && self.text(token.span) == word
    }

    pub(super) fn token(&self, at: usize) -> Token {
        let end = self.begins + self.source.len();
        let nothing = Span { start: end, end };
        let end = self.tokens.last().copied().unwrap_or(Token { kind: Kind::End, span: nothing });
        self.tokens.get(at).copied().unwrap_or(end)
    }

    /// The place of the token before.
    #[must_use]
    pub fn previous(&self) -> Span {
        self.token(self.at.saturating_sub(1)).span
    }
}
