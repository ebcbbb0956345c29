//! Tokens to nodes.

use super::lexer::is_identifier;
use super::suggest::nearest;
use super::{Kind, ParseError, Scope, Span, Token, Value, tokens};
use crate::Graph;
use crate::op::{Form, Op};
use std::borrow::Cow;

/// How many brackets, calls, exponents and minus signs may stand inside each other. The parser recurses only there,
/// so this bounds its stack.
pub(crate) const MAX_DEPTH: usize = 200;

/// Names that are no symbols, besides the functions.
const RESERVED: &[&str] = &["let", "pi", "π", "inf", "nan", "dot", "norm"];

/// Other names of functions of the table.
const ALIASES: &[(&str, Op)] = &[("log", Op::Ln), ("log1p", Op::Ln1p)];

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
#[derive(Debug)]
pub struct Parser<'g, 's> {
    graph: &'g Graph,
    source: &'s str,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl<'g, 's> Parser<'g, 's> {
    /// A parser at the first token of a source.
    ///
    /// # Errors
    /// As [`tokens`].
    pub fn new(graph: &'g Graph, source: &'s str) -> Result<Parser<'g, 's>, ParseError> {
        Ok(Parser { graph, source, tokens: tokens(source)?, at: 0, depth: 0 })
    }

    /// The parser for a text in which the ends of lines mean nothing.
    #[must_use]
    pub fn ignore_newlines(mut self) -> Parser<'g, 's> {
        self.tokens.retain(|token| token.kind != Kind::Newline);
        self
    }

    /// The token it stands at.
    #[must_use]
    pub fn peek(&self) -> Token {
        self.token(self.at)
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
        self.source.get(span.start..span.end).unwrap_or("")
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

    /// An error at the current token: what is expected instead of it.
    #[must_use]
    pub fn unexpected(&self, expected: &'static str) -> ParseError {
        let token = self.peek();
        if let Some(before) = self.at.checked_sub(1).map(|at| self.token(at))
            && matches!(
                before.kind,
                Kind::Number(_) | Kind::Name | Kind::Quoted | Kind::Sign(")" | "]" | "'")
            )
            && matches!(token.kind, Kind::Number(_) | Kind::Name | Kind::Quoted | Kind::Sign("(" | "["))
        {
            let product = format!("{}*{}", self.text(before.span), self.text(token.span));
            return ParseError::MissingOperator { span: before.span.to(token.span), product };
        }
        let found = match token.kind {
            Kind::End => "the end".into(),
            Kind::Newline => "the end of the line".into(),
            _ => format!("`{}`", self.text(token.span)),
        };
        ParseError::Expected { span: token.span, expected, found }
    }

    /// Makes sure that nothing is left but line ends.
    ///
    /// # Errors
    /// [`ParseError::Expected`] or [`ParseError::MissingOperator`] if something is.
    pub fn finish(&mut self) -> Result<(), ParseError> {
        while self.peek().kind == Kind::Newline {
            self.advance();
        }
        if self.peek().kind == Kind::End { Ok(()) } else { Err(self.unexpected("an operator or the end")) }
    }

    /// Definitions `let name = expression;`, which enter the scope, and an expression.
    ///
    /// # Errors
    /// [`ParseError`] with the place.
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
                return Err(self.unexpected("an operator or `;`"));
            }
            scope.define(&name, value);
        }
        self.expression(scope)
    }

    /// An expression, from the current token on.
    ///
    /// # Errors
    /// [`ParseError`] with the place.
    pub fn expression(&mut self, scope: &Scope<'g>) -> Result<Value<'g>, ParseError> {
        self.infix(scope, 0)
    }

    /// Operators that bind at least this tightly, in a loop: a long sum needs no stack.
    fn infix(&mut self, scope: &Scope<'g>, minimum: u8) -> Result<Value<'g>, ParseError> {
        let start = self.peek().span;
        let mut left = self.unary(scope)?;
        let mut compared = false;
        while let Some(sign) = infix_sign(self.peek().kind)
            && sign.binding >= minimum
        {
            let place = self.advance().span;
            if sign.compares && std::mem::replace(&mut compared, true) {
                return Err(ParseError::ChainedComparison { span: place });
            }
            let right = self.infix(scope, sign.binding + 1)?;
            let (a, b) = if sign.swapped { (right, left) } else { (left, right) };
            left = self.join(sign.op, a, b, start)?;
        }
        Ok(left)
    }

    fn join(&self, op: Op, a: Value<'g>, b: Value<'g>, start: Span) -> Result<Value<'g>, ParseError> {
        Value::join(op, a, b).map_err(|problem| self.shape_error(start, problem))
    }

    fn shape_error(&self, start: Span, problem: String) -> ParseError {
        ParseError::Shape { span: start.to(self.previous()), problem }
    }

    fn unary(&mut self, scope: &Scope<'g>) -> Result<Value<'g>, ParseError> {
        if self.accept("-") {
            return Ok(self.nested(|parser| parser.unary(scope))?.negate());
        }
        let start = self.peek().span;
        let base = self.operand(scope)?;
        if self.accept("^") {
            let exponent = self.nested(|parser| parser.unary(scope))?;
            return self.join(Op::Pow, base, exponent, start);
        }
        Ok(base)
    }

    fn operand(&mut self, scope: &Scope<'g>) -> Result<Value<'g>, ParseError> {
        let token = self.peek();
        let value: Value<'g> = match token.kind {
            Kind::Number(value) => {
                self.advance();
                self.graph.number(value).into()
            }
            Kind::Name => match self.text(token.span) {
                "pi" | "π" => {
                    self.advance();
                    self.graph.number(std::f64::consts::PI).into()
                }
                "let" | "inf" | "nan" => return Err(self.unexpected("an expression")),
                name if self.token(self.at + 1).kind == Kind::Sign("(") => self.call(scope, name)?,
                name if needs_quotes(name) => {
                    return Err(ParseError::NotCalled { span: token.span, name: name.into() });
                }
                _ => return self.named(scope),
            },
            Kind::Quoted => return self.named(scope),
            Kind::Sign("(") => {
                let mut inner = self.list(scope, ")", "an operator or `)`")?;
                match (inner.pop(), inner.is_empty()) {
                    (Some(value), true) => value,
                    _ => {
                        let span = token.span.to(self.previous());
                        let (expected, found) = ("one expression in parentheses", "several".into());
                        return Err(ParseError::Expected { span, expected, found });
                    }
                }
            }
            Kind::Sign("[") => {
                let components = self.list(scope, "]", "an operator, `,` or `]`")?;
                let scalars = components.into_iter().map(Value::scalar).collect::<Result<Vec<_>, _>>();
                let problem = |found| format!("a component is a number, not {found}");
                scalars.map_err(|found| self.shape_error(token.span, problem(found)))?.into()
            }
            _ => return Err(self.unexpected("an expression")),
        };
        if self.peek().kind == Kind::Sign("'") {
            let what = format!("`{}`", self.text(token.span.to(self.previous())));
            return Err(ParseError::NoDerivative { span: token.span.to(self.peek().span), what });
        }
        Ok(value)
    }

    /// A name with its primes.
    fn named(&mut self, scope: &Scope<'g>) -> Result<Value<'g>, ParseError> {
        let (base, start) = self.name()?;
        let mut dots = 0_usize;
        while self.accept("'") {
            dots += 1;
        }
        let span = start.to(self.previous());
        let name = if dots == 0 { base.clone() } else { format!("{base}{}", "'".repeat(dots)).into() };
        if let Some(value) = scope.get(&name) {
            return Ok(value.clone());
        }
        if dots > 0 && scope.get(&base).is_some() || dots > u8::MAX.into() {
            return Err(ParseError::NoDerivative { span, what: format!("`{base}`") });
        }
        if scope.is_open() {
            return Ok(self.graph.symbol(&name).into());
        }
        let suggestion = nearest(&name, scope.names().chain(functions()));
        Err(ParseError::UnknownName { span, name: name.into(), suggestion })
    }

    fn call(&mut self, scope: &Scope<'g>, name: &'s str) -> Result<Value<'g>, ParseError> {
        let start = self.advance().span;
        let op = function(name);
        if op.is_none() && !matches!(name, "dot" | "norm") {
            if scope.get(name).is_some() {
                return Err(self.unexpected("an operator"));
            }
            let suggestion = nearest(name, functions());
            return Err(ParseError::UnknownFunction { span: start, name: name.into(), suggestion });
        }
        let arguments = self.list(scope, ")", "an operator, `,` or `)`")?;
        let expected = op.map_or(if name == "dot" { 2 } else { 1 }, |op| op.row().arity);
        if arguments.len() != expected {
            let span = start.to(self.previous());
            return Err(ParseError::Arity { span, name: name.into(), expected, found: arguments.len() });
        }
        let Some(op) = op else {
            let result = match &arguments[..] {
                [a, b] => Value::dot(a, b),
                _ => Value::norm(&arguments[0]),
            };
            return result.map(Value::Scalar).map_err(|problem| self.shape_error(start, problem));
        };
        let scalars = arguments.into_iter().map(Value::scalar).collect::<Result<Vec<_>, _>>();
        let problem = |found| format!("`{name}` takes numbers, not {found}");
        let scalars = scalars.map_err(|found| self.shape_error(start, problem(found)))?;
        Ok(self.graph.apply(op, &scalars).into())
    }

    /// Expressions between commas, from an opening to a closing bracket.
    fn list(
        &mut self,
        scope: &Scope<'g>,
        close: &'static str,
        expected: &'static str,
    ) -> Result<Vec<Value<'g>>, ParseError> {
        let open = self.advance();
        let mut values = Vec::new();
        loop {
            values.push(self.nested(|parser| parser.expression(scope))?);
            if self.accept(close) {
                return Ok(values);
            }
            if !self.accept(",") {
                return Err(match (self.peek().kind, open.kind) {
                    (Kind::End, Kind::Sign(bracket)) => ParseError::Unclosed { span: open.span, bracket },
                    _ => self.unexpected(expected),
                });
            }
        }
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, ParseError>) -> Result<T, ParseError> {
        if self.depth == MAX_DEPTH {
            return Err(ParseError::TooDeep { span: self.previous(), limit: MAX_DEPTH });
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn is_word(&self, word: &str) -> bool {
        let token = self.peek();
        token.kind == Kind::Name && self.text(token.span) == word
    }

    fn token(&self, at: usize) -> Token {
        let end = Span { start: self.source.len(), end: self.source.len() };
        self.tokens.get(at).copied().unwrap_or(Token { kind: Kind::End, span: end })
    }

    fn previous(&self) -> Span {
        self.token(self.at.saturating_sub(1)).span
    }
}

struct InfixSign {
    op: Op,
    binding: u8,
    compares: bool,
    /// `a > b` is `b < a`.
    swapped: bool,
}

/// The left-associative operator that a token stands for; the power is read elsewhere.
fn infix_sign(kind: Kind) -> Option<InfixSign> {
    let Kind::Sign(sign) = kind else { return None };
    let (sign, swapped) = match sign {
        ">" => ("<", true),
        ">=" => ("<=", true),
        _ => (sign, false),
    };
    Op::ALL.iter().find_map(|&op| match op.row().form {
        Form::Infix { symbol, binding, right: false } if symbol == sign => {
            Some(InfixSign { op, binding, compares: binding == 1, swapped })
        }
        _ => None,
    })
}

fn function(name: &str) -> Option<Op> {
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name).map(|&(_, op)| op);
    alias.or_else(|| Op::function(name))
}

/// The names of all functions.
fn functions<'a>() -> impl Iterator<Item = &'a str> {
    let table = Op::ALL.iter().map(|op| op.row()).filter(|row| row.form == Form::Call).map(|row| row.name);
    table.chain(["dot", "norm"])
}

/// Whether a symbol of this name must stand in backquotes.
pub(crate) fn needs_quotes(name: &str) -> bool {
    !is_identifier(name) || RESERVED.contains(&name) || function(name).is_some()
}
