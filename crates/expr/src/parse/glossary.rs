//! What names mean, kept for expressions that are read later.

use super::function::FunctionText;
use super::{Scope, Value};
use crate::owned::{Rebind, Rebinding};
use crate::{Expr, Graph};
use std::collections::BTreeMap;

/// The names of a [`Scope`] and what they mean, as plain data that threads can share.
///
/// ```
/// # use leastaction_expr::{Graph, Parser, Scope};
/// # let graph = Graph::new();
/// let mut scope = Scope::closed();
/// let th = graph.symbol("th");
/// scope.define("th", th);
/// scope.define("bob", vec![th.sin(), -th.cos()]);
/// Parser::new(&graph, "2*a")?.function(&mut scope, "twice", &["a"])?;
///
/// let later = scope.glossary().scope();
/// let read = |text| Parser::new(&graph, text)?.expression(&later);
/// assert_eq!(read("twice(norm(bob))")?, read("2*sqrt(sin(th)^2 + cos(th)^2)")?);
/// # Ok::<(), leastaction_expr::ParseError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Glossary<'g> {
    values: BTreeMap<Box<str>, Value<'g>>,
    functions: BTreeMap<Box<str>, FunctionText>,
}

impl<'g> Scope<'g> {
    /// The names and what they mean. Symbols that mean themselves are left out.
    #[must_use]
    pub fn glossary(&self) -> Glossary<'g> {
        let itself = |name: &str, value: &Value<'g>| match value {
            Value::Scalar(e) => e.as_symbol().is_some_and(|symbol| symbol.is_called(name)),
            Value::Vector(_) => false,
        };
        let values = self.entries().filter(|(name, value)| !itself(name, value));
        Glossary {
            values: values.map(|(name, value)| (name.into(), value.clone())).collect(),
            functions: self.function_texts().collect(),
        }
    }
}

impl<'g> Glossary<'g> {
    /// The scope to read expressions with: names that are not here are symbols.
    #[must_use]
    pub fn scope(&self) -> Scope<'g> {
        let mut scope = Scope::open();
        self.values.iter().for_each(|(name, value)| scope.define(name, value.clone()));
        self.functions.iter().for_each(|(name, text)| scope.insert_function(name, text.function()));
        scope
    }

    /// Gives a name a meaning, unless it has one.
    pub fn add(&mut self, name: &str, value: impl Into<Value<'g>>) {
        self.values.entry(name.into()).or_insert_with(|| value.into());
    }

    /// What a name means.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value<'g>> {
        self.values.get(name)
    }

    /// All names of values.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(AsRef::as_ref)
    }

    /// The same without a graph, to be kept where none can be borrowed.
    #[must_use]
    pub fn detached(&self, graph: &Graph) -> Glossary<'static> {
        self.rebind(Rebinding::detached(graph))
    }

    /// The same over the graph that it was [detached](Glossary::detached) from, or over a copy of it.
    #[must_use]
    pub fn attached<'h>(&self, graph: &'h Graph) -> Glossary<'h> {
        self.rebind(Rebinding::attached(graph))
    }
}

impl Rebind for Glossary<'_> {
    type To<'h> = Glossary<'h>;

    fn rebind<'h>(&self, graphs: Rebinding<'_, 'h>) -> Glossary<'h> {
        let each = |e: &Expr<'_>| e.rebind(graphs);
        let value = |value: &Value<'_>| match value {
            Value::Scalar(e) => Value::Scalar(each(e)),
            Value::Vector(components) => Value::Vector(components.iter().map(each).collect()),
        };
        Glossary {
            values: self.values.iter().map(|(name, it)| (name.clone(), value(it))).collect(),
            functions: self.functions.clone(),
        }
    }
}
