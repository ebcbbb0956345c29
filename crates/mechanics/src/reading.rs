//! Texts of expressions, read with the names of a model.

use crate::equations::{motion, symbols_of};
use crate::error::ObserveError;
use crate::observe::{Measured, Observed};
use crate::quantity::Quantity;
use crate::source::Source;
use leastaction_expr::{Expr, Id, Kind, Scope, Token, Value, nearest, substitute, tokens};
use rustc_hash::FxHashSet;

/// The names of the components of a position.
const AXES: [&str; 3] = ["x", "y", "z"];

/// An expression that was read.
pub(crate) struct Reading<'g> {
    /// The expression, of what can be observed, of parameters, and of what is measured.
    pub(crate) value: Expr<'g>,
    /// What is measured, under which symbol.
    pub(crate) measured: Vec<(Expr<'g>, Measured)>,
}

impl Source {
    /// An expression of what can be observed, of parameters, and of names defined by these.
    pub(crate) fn read(&self, what: Observed<'_>) -> Result<Reading<'_>, ObserveError> {
        let value = match what {
            Observed::Text(text) => {
                let mut scope = self.scope();
                self.define_rates(&mut scope, text, &tokens(text)?);
                self.graph.parse_in(&mut scope, text)?
            }
            Observed::Value(value) => self.graph.adopt(value),
        };
        let value = self.resolved(&[value])[0];
        let known: FxHashSet<Id> = self.known().collect();
        let mut measured = Vec::new();
        for symbol in symbols_of(&[value]).into_iter().filter(|symbol| !known.contains(&symbol.id())) {
            let name = symbol.as_symbol().map(|symbol| symbol.to_string()).unwrap_or_default();
            match self.measured.iter().find(|(other, _)| *other == name) {
                Some(&(_, what)) => measured.push((symbol, what)),
                None => return Err(self.unknown(name)),
            }
        }
        Ok(Reading { value, measured })
    }

    /// What names mean: those of the model, and where its particles and points are.
    fn scope(&self) -> Scope<'_> {
        let mut names = self.names.attached(&self.graph);
        let positions = self.plan(Quantity::Positions).map_or(&[][..], |plan| &plan.outputs);
        let mut positions = positions.iter().map(|&id| self.graph.at(id));
        let defined = self.definitions.iter().map(|(name, _)| *name);
        let taken: FxHashSet<Id> = self.known().chain(defined).collect();
        for place in &self.places {
            let position: Vec<_> = positions.by_ref().take(place.dimensions).collect();
            for (&component, axis) in position.iter().zip(AXES) {
                names.add(&format!("{}.{axis}", place.name), component);
            }
            // A particle may have the name of a coordinate, which then means that.
            if !taken.contains(&self.graph.symbol(&place.name).id()) {
                names.add(&place.name, position);
            }
        }
        names.scope()
    }

    /// Gives meaning to the rates that a text uses, of names and of components, where they follow from coordinates, velocities and time.
    fn define_rates<'g>(&'g self, scope: &mut Scope<'g>, text: &str, tokens: &[Token]) {
        for pair in tokens.windows(2) {
            let [name, Token { kind: Kind::Sign("'"), .. }] = pair else { continue };
            let name = &text[name.span.start..name.span.end];
            let rated = format!("{name}'");
            let (Some(value), None) = (scope.get(name), scope.get(&rated)) else { continue };
            let rate = match value {
                Value::Scalar(e) => self.rates(&[*e]).map(|rates| Value::Scalar(rates[0])),
                Value::Vector(components) => self.rates(components).map(Value::Vector),
            };
            rate.into_iter().for_each(|rate| scope.define(&rated, rate));
        }
    }

    /// How expressions change along the motion, if that follows from coordinates, velocities and time.
    fn rates<'g>(&'g self, values: &[Expr<'g>]) -> Option<Vec<Expr<'g>>> {
        let values = self.resolved(values);
        let (q, time) = (self.expressions(&self.coordinates), self.graph.at(self.time));
        let parameters = self.expressions(&self.parameters);
        let still: FxHashSet<_> = q.iter().chain(&parameters).chain([&time]).map(|e| e.id()).collect();
        let known = symbols_of(&values).iter().all(|symbol| still.contains(&symbol.id()));
        known.then(|| motion(&q, time).derivatives(&values))
    }

    /// Expressions with what is defined in place of its names.
    fn resolved<'g>(&'g self, values: &[Expr<'g>]) -> Vec<Expr<'g>> {
        let at = |id| self.graph.at(id);
        let defined: Vec<_> = self.definitions.iter().map(|&(name, value)| (at(name), at(value))).collect();
        substitute(values, &defined)
    }

    /// What an observable may depend on: \[q…, p…, v…, t, u…\] and parameters.
    fn known(&self) -> impl Iterator<Item = Id> {
        self.observed().into_iter().chain(self.parameters.iter().copied())
    }

    /// Refuses a name.
    fn unknown(&self, name: String) -> ObserveError {
        let defined = self.definitions.iter().map(|&(name, _)| name);
        let symbols = self.known().chain(defined).map(|id| self.graph.at(id).to_string());
        let measured = self.measured.iter().map(|(name, _)| name.clone());
        let scope = self.scope();
        let names: Vec<String> = symbols.chain(measured).chain(scope.names().map(str::to_owned)).collect();
        let nearest = nearest(&name, names.iter().map(String::as_str));
        ObserveError::UnknownName { name, nearest }
    }
}
