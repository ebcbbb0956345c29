//! What is not drawn: the start of the system itself, which may depend on parameters that are.

use super::SampleError;
use leastaction_expr::{Expr, Id, Node, Op, UnboundSymbol};
use leastaction_mechanics::{SettingError, System, Term};
use std::collections::HashMap;
use std::sync::Arc;

/// The start values of a system that are not drawn, by name. What is not named is 0.
#[derive(Clone, Debug, Default)]
pub struct Rest {
    pub(super) list: Vec<(String, Amount)>,
    pub(super) limits: Vec<Limit>,
}

/// A function of parameters that has a range.
#[derive(Clone, Debug)]
pub(super) struct Limit {
    name: String,
    value: Arc<Formula>,
    holds: fn(f64) -> bool,
    range: &'static str,
}

impl Limit {
    /// Refuses parameters with which it is out of its range.
    pub(super) fn check(&self, parameters: &[f64]) -> Result<(), SettingError> {
        let value = self.value.value(parameters);
        match (self.holds)(value) {
            true => Ok(()),
            false => Err(SettingError::OutOfRange { name: self.name.clone(), value, range: self.range }),
        }
    }
}

/// A start value.
#[derive(Clone, Debug)]
pub(super) enum Amount {
    Number(f64),
    /// A function of parameters.
    Computed(Arc<Formula>),
}

/// A function of parameters as the operations of [`Expr::eval`], in its order: a trajectory starts with the bits of a run of its own. Code that is compiled
/// takes products into sums, and rounds otherwise.
#[derive(Debug)]
pub(super) struct Formula {
    steps: Vec<Step>,
    text: String,
}

#[derive(Debug)]
enum Step {
    Number(f64),
    /// A parameter by its place in the system's order.
    Parameter(usize),
    /// An operator, and the steps that give its arguments.
    Apply(Op, Vec<usize>),
}

impl Formula {
    fn new(value: Expr<'_>, parameters: &[Expr<'_>]) -> Result<Formula, UnboundSymbol> {
        let graph = value.graph();
        let mut places: HashMap<Id, usize> = HashMap::new();
        let mut steps = Vec::new();
        for (id, node) in graph.order(&[value.id()]) {
            let step = match node {
                Node::Number(bits) => Step::Number(f64::from_bits(bits)),
                Node::Symbol(index) => {
                    let place = parameters.iter().position(|parameter| parameter.id() == id);
                    Step::Parameter(place.ok_or_else(|| UnboundSymbol { symbol: graph.symbol_at(index) })?)
                }
                Node::Apply(op, _) => Step::Apply(op, node.arguments().iter().map(|id| places[id]).collect()),
            };
            places.insert(id, steps.len());
            steps.push(step);
        }
        Ok(Formula { steps, text: value.to_string() })
    }

    fn value(&self, parameters: &[f64]) -> f64 {
        let mut known: Vec<f64> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let value = match step {
                Step::Number(value) => *value,
                Step::Parameter(place) => parameters[*place],
                Step::Apply(op, places) => {
                    let mut arguments = [0.0; 3];
                    arguments.iter_mut().zip(places).for_each(|(argument, &place)| *argument = known[place]);
                    (op.row().value)(&arguments[..op.row().arity])
                }
            };
            known.push(value);
        }
        known[known.len() - 1]
    }
}

/// A function of the parameters of a system.
fn formula(value: Expr<'_>, system: &System) -> Result<Arc<Formula>, UnboundSymbol> {
    let names = system.parameters().iter();
    let parameters: Vec<_> = names.map(|(name, _)| value.graph().symbol(name)).collect();
    Formula::new(value, &parameters).map(Arc::new)
}

impl Amount {
    /// The value with these parameters of the system.
    pub(super) fn value(&self, parameters: &[f64]) -> f64 {
        match self {
            Amount::Number(value) => *value,
            Amount::Computed(formula) => formula.value(parameters),
        }
    }
}

impl Rest {
    /// Values by name.
    #[must_use]
    pub fn numbers<N: AsRef<str>>(values: impl IntoIterator<Item = (N, f64)>) -> Rest {
        let list = values.into_iter().map(|(name, value)| (name.as_ref().to_owned(), Amount::Number(value)));
        Rest { list: list.collect(), limits: Vec::new() }
    }

    /// Values that are functions of the parameters of a system: where those are drawn, they follow.
    ///
    /// # Errors
    /// [`SampleError::Rest`] if a value depends on something else.
    pub fn terms(terms: &[Term<'_>], system: &System) -> Result<Rest, SampleError> {
        let amount = |value: Expr<'_>| match value.as_number() {
            Some(value) => Ok(Amount::Number(value)),
            None => formula(value, system).map(Amount::Computed),
        };
        let list = terms.iter().map(|term| Ok((term.name.clone(), amount(term.value)?)));
        Ok(Rest { list: list.collect::<Result<_, UnboundSymbol>>()?, limits: Vec::new() })
    }

    /// With a function of parameters that must be in its range: a trajectory where it is not fails.
    ///
    /// # Errors
    /// [`SampleError::Rest`] if it depends on something else.
    pub fn within(
        mut self,
        name: &str,
        value: Expr<'_>,
        (holds, range): (fn(f64) -> bool, &'static str),
        system: &System,
    ) -> Result<Rest, SampleError> {
        let value = formula(value, system)?;
        self.limits.push(Limit { name: name.to_owned(), value, holds, range });
        Ok(self)
    }

    /// With a value in the place of another.
    #[must_use]
    pub fn with(mut self, name: &str, value: f64) -> Rest {
        self.list.retain(|(other, _)| other != name);
        self.list.push((name.to_owned(), Amount::Number(value)));
        self
    }

    /// With values of names that it does not have yet.
    #[must_use]
    pub fn and<N: AsRef<str>>(mut self, values: impl IntoIterator<Item = (N, f64)>) -> Rest {
        self.list.extend(Rest::numbers(values).list);
        self
    }

    /// What the values are, in words.
    pub(crate) fn texts(&self) -> Vec<String> {
        let line = |(name, amount): &(String, Amount)| match amount {
            Amount::Number(value) => format!("{name}={value:?}"),
            Amount::Computed(formula) => format!("{name}={}", formula.text),
        };
        self.list.iter().map(line).collect()
    }
}
