//! What names mean, and what expressions are worth: a number or a vector.

use super::function::{Function, FunctionText};
use crate::Expr;
use crate::advice::Advice;
use crate::op::Op;
use rustc_hash::FxHashMap;
use std::cell::Cell;

/// What a text means: one expression, or a vector of them.
///
/// ```
/// # use leastaction_expr::{Graph, Parser, Scope, Value};
/// # let graph = Graph::new();
/// let value = Parser::new(&graph, "2*[x, 1]")?.expression(&Scope::open())?;
/// assert_eq!(value, Value::Vector(vec![2.0 * graph.symbol("x"), graph.number(2.0)]));
/// assert_eq!(value.shape(), "a vector of 2");
/// # Ok::<(), leastaction_expr::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value<'g> {
    /// An expression.
    Scalar(Expr<'g>),
    /// The components of a vector; at least one.
    Vector(Vec<Expr<'g>>),
}

impl<'g> From<Expr<'g>> for Value<'g> {
    fn from(expr: Expr<'g>) -> Value<'g> {
        Value::Scalar(expr)
    }
}

impl<'g> From<Vec<Expr<'g>>> for Value<'g> {
    fn from(components: Vec<Expr<'g>>) -> Value<'g> {
        Value::Vector(components)
    }
}

impl<'g> Value<'g> {
    /// The expression, if it is one.
    ///
    /// # Errors
    /// What it is instead, in words: "a vector of 2".
    pub fn scalar(self) -> Result<Expr<'g>, String> {
        match self {
            Value::Scalar(expr) => Ok(expr),
            Value::Vector(_) => Err(self.shape()),
        }
    }

    /// The shape in words: "a number" or "a vector of 2".
    #[must_use]
    pub fn shape(&self) -> String {
        match self {
            Value::Scalar(_) => "a number".into(),
            Value::Vector(components) => format!("a vector of {}", components.len()),
        }
    }

    /// −v, for a number or a vector.
    pub(super) fn negate(self) -> Value<'g> {
        match self {
            Value::Scalar(expr) => Value::Scalar(-expr),
            Value::Vector(components) => components.into_iter().map(|c| -c).collect::<Vec<_>>().into(),
        }
    }

    /// An infix operator between numbers and vectors, or what is wrong with it.
    pub(super) fn join(op: Op, a: Value<'g>, b: Value<'g>) -> Result<Value<'g>, Advice> {
        let apply = |a: Expr<'g>, b: Expr<'g>| a.graph().apply(op, &[a, b]);
        match (op, a, b) {
            (_, Value::Scalar(a), Value::Scalar(b)) => Ok(apply(a, b).into()),
            (Op::Add | Op::Sub, Value::Vector(a), Value::Vector(b)) if a.len() == b.len() => {
                Ok(a.into_iter().zip(b).map(|(a, b)| apply(a, b)).collect::<Vec<_>>().into())
            }
            (Op::Mul, Value::Scalar(k), Value::Vector(v)) => {
                Ok(v.into_iter().map(|c| apply(k, c)).collect::<Vec<_>>().into())
            }
            (Op::Mul | Op::Div, Value::Vector(v), Value::Scalar(k)) => {
                Ok(v.into_iter().map(|c| apply(c, k)).collect::<Vec<_>>().into())
            }
            (_, a, b) => {
                let (name, first, second) = (op.row().name, a.shape(), b.shape());
                let wrong = Advice::cause(format!("`{name}` does not take {first} and {second}"));
                Err(match (op, &a, &b) {
                    (Op::Mul, ..) => wrong.remedy("write `dot(a, b)` for the scalar product"),
                    (Op::Pow, Value::Vector(_), _) => {
                        wrong.remedy("write `dot(a, a)` for the square of the length")
                    }
                    (Op::Add | Op::Sub, Value::Vector(_), Value::Vector(_)) => {
                        wrong.remedy("the lengths must be equal")
                    }
                    _ => wrong,
                })
            }
        }
    }

    /// Σ aᵢ·bᵢ, or what is wrong with it.
    pub(super) fn dot(a: &Value<'g>, b: &Value<'g>) -> Result<Expr<'g>, Advice> {
        let products = match (a, b) {
            (Value::Vector(a), Value::Vector(b)) if a.len() == b.len() => {
                a.iter().zip(b).map(|(&a, &b)| a * b)
            }
            _ => {
                let (a, b) = (a.shape(), b.shape());
                let cause = format!("`dot` takes two vectors of equal length, not {a} and {b}");
                return Err(Advice::cause(cause));
            }
        };
        products.reduce(|sum, product| sum + product).ok_or_else(|| Advice::cause("`dot` takes components"))
    }

    /// a × b in space, or what is wrong with it.
    pub(super) fn cross(a: &Value<'g>, b: &Value<'g>) -> Result<Value<'g>, Advice> {
        match (a, b) {
            (Value::Vector(a), Value::Vector(b)) if a.len() == 3 && b.len() == 3 => {
                let part = |i: usize, j: usize| a[i] * b[j] - a[j] * b[i];
                Ok(vec![part(1, 2), part(2, 0), part(0, 1)].into())
            }
            _ => {
                let cause = format!("`cross` takes two vectors of 3, not {} and {}", a.shape(), b.shape());
                Err(Advice::cause(cause))
            }
        }
    }

    /// √(Σ vᵢ²), or what is wrong with it.
    pub(super) fn norm(v: &Value<'g>) -> Result<Expr<'g>, Advice> {
        match v {
            Value::Vector(_) => Value::dot(v, v).map(Expr::sqrt),
            Value::Scalar(_) => {
                Err(Advice::cause("`norm` takes a vector").remedy("for a number write `abs`"))
            }
        }
    }
}

/// The names that a text may use, and what they mean.
///
/// A primed name such as `x'` is a name of its own, so a scope says which time derivatives there are.
///
/// ```
/// # use leastaction_expr::{Graph, Parser, Scope};
/// # let graph = Graph::new();
/// let mut scope = Scope::closed();
/// for name in ["theta", "theta'", "l"] {
///     scope.define(name, graph.symbol(name));
/// }
/// let read = |text| Parser::new(&graph, text)?.expression(&scope);
/// assert!(read("l^2*theta'").is_ok());
/// assert_eq!(read("l*thta").unwrap_err().to_string(), "unknown name `thta`; did you mean `theta`?");
/// assert!(read("l'").unwrap_err().to_string().ends_with("`l` has none here"));
/// ```
#[derive(Clone, Debug)]
pub struct Scope<'g> {
    known: FxHashMap<Box<str>, Value<'g>>,
    functions: FxHashMap<Box<str>, Function<'g>>,
    open: bool,
    /// How many terms functions have brought in.
    spent: Cell<usize>,
}

impl<'g> Scope<'g> {
    /// A scope in which any unknown name is the symbol of that name.
    #[must_use]
    pub fn open() -> Scope<'g> {
        Scope { open: true, ..Scope::closed() }
    }

    /// A scope in which a name must be defined.
    #[must_use]
    pub fn closed() -> Scope<'g> {
        Scope {
            known: FxHashMap::default(),
            functions: FxHashMap::default(),
            open: false,
            spent: Cell::new(0),
        }
    }

    /// Gives a name a meaning, in place of any earlier one.
    pub fn define(&mut self, name: &str, value: impl Into<Value<'g>>) {
        self.known.insert(name.into(), value.into());
    }

    pub(super) fn insert_function(&mut self, name: &str, function: Function<'g>) {
        self.functions.insert(name.into(), function);
    }

    /// Counts terms that a function brings in; whether they are not too many.
    pub(super) fn spend(&self, terms: usize, limit: usize) -> bool {
        let spent = self.spent.get().saturating_add(terms);
        self.spent.set(spent);
        spent <= limit
    }

    /// Gives a name a meaning, or none, for a while; gives the meaning it had.
    pub fn replace(&mut self, name: &str, value: Option<Value<'g>>) -> Option<Value<'g>> {
        match value {
            Some(value) => self.known.insert(name.into(), value),
            None => self.known.remove(name),
        }
    }

    pub(super) fn function(&self, name: &str) -> Option<&Function<'g>> {
        self.functions.get(name)
    }

    /// The names of functions that are defined, in no particular order.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        self.functions.keys().map(AsRef::as_ref)
    }

    /// What a name means, if it is defined.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value<'g>> {
        self.known.get(name)
    }

    /// The defined names, in no particular order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.known.keys().map(AsRef::as_ref)
    }

    /// The defined names with what they mean, in no particular order.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&str, &Value<'g>)> {
        self.known.iter().map(|(name, value)| (&**name, value))
    }

    pub(super) fn function_texts(&self) -> impl Iterator<Item = (Box<str>, FunctionText)> {
        self.functions.iter().map(|(name, function)| (name.clone(), function.source.clone()))
    }

    pub(super) fn is_open(&self) -> bool {
        self.open
    }
}
