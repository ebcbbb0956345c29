//! Names with values, and how these change along the motion: `x'` of a name `x`, found when a statement asks for it.

use crate::reader::{AXES, Reader, symbols};
use leastaction_expr::{Expr, Kind, Value};

/// Rates are found of so many terms, for all names together.
const MOST_RATED: usize = 5_000_000;

impl<'g> Reader<'g, '_> {
    /// Gives a name a value and its components, and its rate if there is one and somebody asks for it.
    pub(crate) fn define(&mut self, name: &str, value: &Value<'g>) {
        self.define_with_parts(name, value.clone());
        self.rateless.insert(name.to_owned(), value.clone());
    }

    /// Finds the rates that a statement uses, of names and of their components.
    pub(crate) fn rates(&mut self, named: &[(&str, Kind, Kind)]) {
        for &(name, ..) in named.iter().filter(|(.., after)| *after == Kind::Sign("'")) {
            let whole = name.rsplit_once('.').map_or(name, |(whole, _)| whole);
            for name in [name, whole] {
                let Some(value) = self.rateless.remove(name) else { continue };
                self.rated += terms(&value);
                if self.rated <= MOST_RATED
                    && let Some(rate) = self.rate(&value)
                {
                    self.define_with_parts(&format!("{name}'"), rate);
                }
            }
        }
    }

    fn define_with_parts(&mut self, name: &str, value: Value<'g>) {
        if let Value::Vector(components) = &value {
            let (base, primes) = name.split_at(name.find('\'').unwrap_or(name.len()));
            for (&component, axis) in components.iter().zip(AXES) {
                self.scope.define(&format!("{base}.{axis}{primes}"), component);
            }
        }
        self.scope.define(name, value);
    }

    /// How a value changes along the motion, if that follows from coordinates, velocities and time.
    fn rate(&self, value: &Value<'g>) -> Option<Value<'g>> {
        let rate = |e: Expr<'g>| {
            let rate = self.setup.model.velocity(e);
            // A rate is known if its symbols are: accelerations, and rates of inputs and momenta, are not.
            let known = symbols(rate).iter().all(|name| self.scope.get(name).is_some());
            known.then_some(rate)
        };
        match value {
            Value::Scalar(e) => rate(*e).map(Value::Scalar),
            Value::Vector(components) => {
                components.iter().map(|&e| rate(e)).collect::<Option<Vec<_>>>().map(Value::Vector)
            }
        }
    }
}

/// How many terms a value has.
fn terms(value: &Value<'_>) -> usize {
    let count = |e: &Expr<'_>| e.graph().order(&[e.id()]).len();
    match value {
        Value::Scalar(e) => count(e),
        Value::Vector(components) => components.iter().map(count).sum(),
    }
}
