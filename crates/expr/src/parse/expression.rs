//! Expressions: what waits for an operand is kept on stacks, so that nothing recurses.

use super::function::Names;
use super::lexer::{is_identifier, is_path};
use super::suggest::nearest;
use super::{Kind, ParseError, Parser, Scope, Span, Value};
use crate::advice::Advice;
use crate::op::{Form, Op};

/// Names that are no symbols, besides the functions.
const RESERVED: &[&str] = &["let", "pi", "π", "inf", "nan"];

/// A vector in a text has so many components at most: what is done to it is done to each.
const MOST_COMPONENTS: usize = 16;

/// Functions that a scope defines may bring so many terms into a text.
pub(super) const MOST_TERMS: usize = 1_000_000;

/// Functions of vectors.
const VECTOR_FUNCTIONS: &[&str] = &["dot", "norm", "cross"];

/// Other names of functions of the table.
const ALIASES: &[(&str, Op)] = &[("log", Op::Ln), ("log1p", Op::Ln1p)];

impl<'g, 's> Parser<'g, 's> {
    /// An expression, from the current token on. It may be nested as deep as memory allows: what waits for an
    /// operand is kept on stacks, not in recursive calls.
    ///
    /// # Errors
    /// [`ParseError`] with the place.
    pub fn expression(&mut self, scope: &Scope<'g>) -> Result<Value<'g>, ParseError> {
        self.expression_of(Names { scope, frame: None, depth: 0 })
    }

    pub(super) fn expression_of(&mut self, names: Names<'_, 'g>) -> Result<Value<'g>, ParseError> {
        let mut levels: Vec<Level<'g, 's>> = Vec::new();
        let mut waiting: Vec<Waiting<'g>> = Vec::new();
        loop {
            let mut part = match self.read(names)? {
                Read::Minus(start) => {
                    waiting.push(Waiting::Minus(start));
                    continue;
                }
                Read::Open(bracket) => {
                    let outside = std::mem::take(&mut waiting);
                    levels.push(Level { bracket, values: Vec::new(), outside });
                    continue;
                }
                Read::Part(part) => part,
            };
            // After an operand: an operator, which waits for the next one, or the end of a bracket.
            loop {
                if self.accept("^") {
                    waiting.push(Waiting::Power(part));
                    break;
                }
                let sign = infix_sign(self.peek().kind);
                part = self.join_waiting(&mut waiting, part, sign.as_ref().map_or(0, |sign| sign.binding))?;
                if let Some(sign) = sign {
                    self.advance();
                    waiting.push(Waiting::Infix(sign, part));
                    break;
                }
                let Some(mut level) = levels.pop() else { return Ok(part.value) };
                level.values.push(part.value);
                if self.accept(",") {
                    levels.push(level);
                    break;
                }
                part = self.close(names, level.bracket, level.values)?;
                waiting = level.outside;
            }
        }
    }

    /// The next step towards an operand: a minus, an opening bracket, or the operand.
    fn read(&mut self, names: Names<'_, 'g>) -> Result<Read<'g, 's>, ParseError> {
        let token = self.peek();
        let start = token.span;
        let number = match token.kind {
            Kind::Sign("-") => {
                self.advance();
                return Ok(Read::Minus(start));
            }
            Kind::Sign("(") => return Ok(self.open(start, Role::Group)),
            Kind::Sign("[") => return Ok(self.open(start, Role::Vector)),
            Kind::Quoted => return self.named(names),
            Kind::Number(value) => value,
            Kind::Name => match self.text(start) {
                "pi" | "π" => std::f64::consts::PI,
                "let" | "inf" | "nan" => return Err(self.unexpected("an expression")),
                name if self.peek_next().kind == Kind::Sign("(") => return self.call(names, name),
                name if is_function(name)
                    || RESERVED.contains(&name)
                    || names.scope.function(name).is_some() =>
                {
                    return Err(ParseError::NotCalled { span: start, name: name.into() });
                }
                _ => return self.named(names),
            },
            _ => return Err(self.unexpected("an expression")),
        };
        self.advance();
        let value = self.graph.number(number).into();
        self.without_primes(Part { value, start }).map(Read::Part)
    }

    fn open(&mut self, start: Span, role: Role<'s>) -> Read<'g, 's> {
        let sign = self.advance().span;
        Read::Open(Bracket { role, start, sign })
    }

    /// A name with its primes.
    fn named(&mut self, names: Names<'_, 'g>) -> Result<Read<'g, 's>, ParseError> {
        let (base, start) = self.name()?;
        let mut dots = 0_usize;
        while self.accept("'") {
            dots += 1;
        }
        let span = start.to(self.previous());
        let name = if dots == 0 { base.clone() } else { format!("{base}{}", "'".repeat(dots)).into() };
        let argument = names.argument(&base);
        let value = if let Some(value) = names.get(&name) {
            value.clone()
        } else if let Some(name) = argument.filter(|_| dots > 0) {
            return Err(ParseError::RateOfArgument { span, name: name.into() });
        } else if dots > 0 && names.get(&base).is_some() || dots > u8::MAX.into() {
            return Err(ParseError::NoDerivative { span, what: format!("`{base}`") });
        } else if names.scope.is_open() && argument.is_none() {
            self.graph.symbol(&name).into()
        } else {
            let suggestion = nearest(&name, names.all().chain(functions()));
            return Err(ParseError::UnknownName { span, name: name.into(), suggestion });
        };
        Ok(Read::Part(Part { value, start }))
    }

    /// The beginning of a call.
    fn call(&mut self, names: Names<'_, 'g>, name: &'s str) -> Result<Read<'g, 's>, ParseError> {
        let span = self.advance().span;
        if function(name).is_some()
            || VECTOR_FUNCTIONS.contains(&name)
            || names.scope.function(name).is_some()
        {
            return Ok(self.open(span, Role::Call(name)));
        }
        if names.get(name).is_some() {
            return Err(self.unexpected_operand("an operator"));
        }
        let suggestion = nearest(name, names.scope.functions().chain(functions()));
        Err(ParseError::UnknownFunction { span, name: name.into(), suggestion })
    }

    /// Makes sure that the name of a value or a function at the current token is known; those of arguments depend on what they are.
    pub(super) fn check_name(&mut self, names: Names<'_, 'g>) -> Result<(), ParseError> {
        let token = self.peek();
        let text = self.text(token.span);
        if token.kind == Kind::Name && self.peek_next().kind == Kind::Sign("(") {
            self.call(names, text)?;
        } else if token.kind == Kind::Quoted
            || !(RESERVED.contains(&text) || is_function(text) || names.argument(text).is_some())
        {
            self.named(names)?;
        }
        Ok(())
    }

    /// Applies the operators that wait for this operand and bind at least as tightly as the next.
    fn join_waiting(
        &self,
        waiting: &mut Vec<Waiting<'g>>,
        mut right: Part<'g>,
        next: u8,
    ) -> Result<Part<'g>, ParseError> {
        while let Some(operator) = waiting.pop_if(|operator| operator.binding() >= next) {
            let (op, left, swapped) = match operator {
                Waiting::Minus(start) => {
                    right = Part { value: right.value.negate(), start };
                    continue;
                }
                Waiting::Power(base) => (Op::Pow, base, false),
                Waiting::Infix(sign, _) if sign.compares && next > 0 => {
                    return Err(ParseError::ChainedComparison { span: self.peek().span });
                }
                Waiting::Infix(sign, left) => (sign.op, left, sign.swapped),
            };
            let start = left.start;
            let (a, b) = if swapped { (right.value, left.value) } else { (left.value, right.value) };
            let value = Value::join(op, a, b).map_err(|problem| self.shape_error(start, problem))?;
            right = Part { value, start };
        }
        Ok(right)
    }

    /// What stands between brackets, once they are closed.
    fn close(
        &mut self,
        names: Names<'_, 'g>,
        bracket: Bracket<'s>,
        mut values: Vec<Value<'g>>,
    ) -> Result<Part<'g>, ParseError> {
        let Bracket { role, start, sign } = bracket;
        let (closing, expected) = match role {
            Role::Group => (")", "an operator or `)`"),
            Role::Vector => ("]", "an operator, `,` or `]`"),
            Role::Call(_) => (")", "an operator, `,` or `)`"),
        };
        if !self.accept(closing) {
            let bracket = if closing == "]" { "[" } else { "(" };
            let token = self.peek();
            return Err(match token.kind {
                Kind::End => ParseError::Unclosed { span: sign, bracket },
                Kind::Sign(")" | "]") => {
                    let found = self.text(token.span).into();
                    ParseError::Mismatched { span: token.span, found, bracket, opened: sign }
                }
                _ => self.unexpected_operand(expected),
            });
        }
        let value = match role {
            Role::Call(name) => self.apply(names, name, start, values)?,
            Role::Vector if values.len() > MOST_COMPONENTS => {
                let problem = Advice::cause(format!("a vector has at most {MOST_COMPONENTS} components"));
                return Err(self.shape_error(start, problem));
            }
            Role::Vector => {
                let problem = |found| Advice::cause(format!("a component is a number, not {found}"));
                let components = values.into_iter().map(Value::scalar).collect::<Result<Vec<_>, _>>();
                components.map_err(|found| self.shape_error(start, problem(found)))?.into()
            }
            Role::Group => match (values.pop(), values.is_empty()) {
                (Some(value), true) => value,
                _ => {
                    let (expected, found) = ("one expression in parentheses", "several".into());
                    return Err(ParseError::Expected { span: start.to(self.previous()), expected, found });
                }
            },
        };
        self.without_primes(Part { value, start })
    }

    /// A function applied to the values between its parentheses.
    fn apply(
        &self,
        names: Names<'_, 'g>,
        name: &str,
        start: Span,
        values: Vec<Value<'g>>,
    ) -> Result<Value<'g>, ParseError> {
        let (own, op) = (names.scope.function(name), function(name));
        let expected = match (own, op) {
            (Some(own), _) => own.arity(),
            (None, Some(op)) => op.row().arity,
            (None, None) if name == "norm" => 1,
            (None, None) => 2,
        };
        let span = start.to(self.previous());
        if values.len() != expected {
            return Err(ParseError::Arity { span, name: name.into(), expected, found: values.len() });
        }
        if let Some(own) = own {
            let form =
                own.form(self.graph, names, name, &values).map_err(|error| match error.innermost() {
                    ParseError::TooLarge { limit, .. } => ParseError::TooLarge { span, limit: *limit },
                    // Of calls within calls the first and the last are told: in between there may be thousands.
                    inside => {
                        let given: Vec<_> = values.iter().map(Value::shape).collect();
                        ParseError::InFunction {
                            span,
                            name: name.into(),
                            given: given.join(" and "),
                            inside: inside.clone().into(),
                        }
                    }
                })?;
            if !names.scope.spend(form.terms, MOST_TERMS) {
                return Err(ParseError::TooLarge { span, limit: MOST_TERMS });
            }
            return Ok(form.of(self.graph, &values));
        }
        let numbers = || {
            let numbers: Result<Vec<_>, _> = values.iter().cloned().map(Value::scalar).collect();
            numbers.map_err(|found| Advice::cause(format!("`{name}` takes numbers, not {found}")))
        };
        let result = match (op, &values[..]) {
            (Some(op), _) => numbers().map(|numbers| self.graph.apply(op, &numbers).into()),
            (None, [a, b]) if name == "cross" => Value::cross(a, b),
            (None, [a, b]) => Value::dot(a, b).map(Value::Scalar),
            (None, _) => Value::norm(&values[0]).map(Value::Scalar),
        };
        result.map_err(|problem| self.shape_error(start, problem))
    }

    fn without_primes(&self, part: Part<'g>) -> Result<Part<'g>, ParseError> {
        if self.peek().kind == Kind::Sign("'") {
            let what = format!("`{}`", self.text(part.start.to(self.previous())));
            return Err(ParseError::NoDerivative { span: part.start.to(self.peek().span), what });
        }
        Ok(part)
    }

    fn shape_error(&self, start: Span, problem: Advice) -> ParseError {
        ParseError::Shape { span: start.to(self.previous()), problem }
    }
}

/// A value and where its text begins.
struct Part<'g> {
    value: Value<'g>,
    start: Span,
}

/// An operator that waits for its right operand.
enum Waiting<'g> {
    Minus(Span),
    Power(Part<'g>),
    Infix(InfixSign, Part<'g>),
}

impl Waiting<'_> {
    fn binding(&self) -> u8 {
        match self {
            // All infix operators bind less.
            Waiting::Minus(_) | Waiting::Power(_) => u8::MAX,
            Waiting::Infix(sign, _) => sign.binding,
        }
    }
}

/// An open bracket, what has been read in it, and the operators that wait for it.
struct Level<'g, 's> {
    bracket: Bracket<'s>,
    values: Vec<Value<'g>>,
    outside: Vec<Waiting<'g>>,
}

struct Bracket<'s> {
    role: Role<'s>,
    /// Where the operand begins: at the function's name, for a call.
    start: Span,
    sign: Span,
}

enum Role<'s> {
    Group,
    Vector,
    Call(&'s str),
}

/// A step towards an operand.
enum Read<'g, 's> {
    Minus(Span),
    Open(Bracket<'s>),
    Part(Part<'g>),
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
    table.chain(VECTOR_FUNCTIONS.iter().copied())
}

/// Whether a symbol of this name must stand in backquotes, because it means something else or is no name.
#[must_use]
pub fn needs_quotes(name: &str) -> bool {
    RESERVED.contains(&name) || is_function(name) || !(is_identifier(name) || is_path(name))
}

/// Whether a name is that of a function.
fn is_function(name: &str) -> bool {
    VECTOR_FUNCTIONS.contains(&name) || function(name).is_some()
}
