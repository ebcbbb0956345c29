//! Texts of expressions, read with the names of a model.

use crate::equations::{motion, symbols_of};
use crate::error::ObserveError;
use crate::observe::{Measured, Observed, Read};
use crate::quantity::Quantity;
use crate::source::Source;
use leastaction_expr::{Expr, Id, Kind, Scope, Token, Value, nearest, substitute, tokens};
use rustc_hash::{FxHashMap, FxHashSet};

/// The names of the components of a position.
const AXES: [&str; 3] = ["x", "y", "z"];

/// What a symbol is, in expressions that are observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Parameter,
    Read(Read),
}

/// An expression that was read.
pub(crate) struct Reading<'g> {
    /// The expression, of parameters and what is read.
    pub(crate) value: Expr<'g>,
    /// What is read, under which symbol: what is measured comes first.
    pub(crate) reads: Vec<(Expr<'g>, Read)>,
}

impl Source {
    /// An expression of what can be observed, of parameters, and of names defined by these.
    pub(crate) fn read(&self, what: Observed<'_>) -> Result<Reading<'_>, ObserveError> {
        let value = match what {
            Observed::Text(text) => match self.graph.symbol(text.trim()) {
                symbol if self.roles().contains_key(&symbol.id()) || self.is_defined(symbol) => symbol,
                _ => {
                    let mut scope = self.scope();
                    let tokens = tokens(text)?;
                    self.define_nodes(&mut scope, text, &tokens);
                    self.define_rates(&mut scope, text, &tokens);
                    self.graph.parse_in(&mut scope, text)?
                }
            },
            Observed::Value(value) => self.graph.adopt(value),
        };
        let is_known = |symbol: &Expr<'_>| self.roles().contains_key(&symbol.id());
        let value = match symbols_of(&[value]).iter().all(is_known) {
            true => value,
            false => self.resolved(&[value])[0],
        };
        let (mut measured, mut reads) = (Vec::new(), Vec::new());
        for symbol in symbols_of(&[value]) {
            match self.roles().get(&symbol.id()) {
                Some(Role::Parameter) => {}
                Some(&Role::Read(read)) => reads.push((symbol, read)),
                None => {
                    let name = symbol.as_symbol().map(|symbol| symbol.to_string()).unwrap_or_default();
                    let named = self.measured.iter().find(|(other, _)| *other == name);
                    let Some(what) = named.map(|(_, what)| *what).or_else(|| self.acceleration(&name)) else {
                        return Err(self.unknown(name));
                    };
                    measured.push((symbol, Read::Measured(what)));
                }
            }
        }
        measured.extend(reads);
        Ok(Reading { value, reads: measured })
    }

    /// The acceleration of a coordinate, which is called like its velocity with one more dash.
    fn acceleration(&self, name: &str) -> Option<Measured> {
        let velocity = self.graph.symbol(name.strip_suffix('\'')?);
        match self.roles().get(&velocity.id())? {
            Role::Read(Read::Velocity(place)) => Some(Measured::Acceleration(*place)),
            _ => None,
        }
    }

    /// Whether a symbol stands for something else.
    fn is_defined(&self, symbol: Expr<'_>) -> bool {
        self.definitions.iter().any(|(name, _)| *name == symbol.id())
    }

    /// What symbols are, in expressions that are observed.
    fn roles(&self) -> &FxHashMap<Id, Role> {
        self.roles.get_or_init(|| {
            let n = self.coordinates.len();
            let each = |ids: &[Id], role: &dyn Fn(usize) -> Role| -> Vec<(Id, Role)> {
                ids.iter().enumerate().map(|(i, &id)| (id, role(i))).collect()
            };
            let lists = [
                each(&self.parameters, &|_| Role::Parameter),
                each(&[self.time], &|_| Role::Read(Read::Time)),
                each(&self.inputs, &|i| Role::Read(Read::Input(i))),
                each(&self.velocities, &|i| Role::Read(Read::Velocity(i))),
                each(&self.momenta, &|i| Role::Read(Read::State(n + i))),
                each(&self.coordinates, &|i| Role::Read(Read::State(i))),
            ];
            let mut roles: FxHashMap<Id, Role> = lists.into_iter().flatten().collect();
            // What events set is the value of a state, and no parameter along a run.
            for (name, _) in &self.definitions {
                if roles.get(name) == Some(&Role::Parameter) {
                    roles.remove(name);
                }
            }
            roles
        })
    }

    /// What names mean: those of the model, and where its particles and points are.
    fn scope(&self) -> Scope<'_> {
        let mut names = self.names.attached(&self.graph);
        let positions = self.plan(Quantity::Positions).map_or(&[][..], |plan| &plan.outputs);
        let mut positions = positions.iter().map(|&id| self.graph.at(id));
        let defined = self.definitions.iter().map(|(name, _)| *name);
        let defined: FxHashSet<Id> = defined.collect();
        for place in &self.places {
            let position: Vec<_> = positions.by_ref().take(place.dimensions).collect();
            for (&component, axis) in position.iter().zip(AXES) {
                names.add(&format!("{}.{axis}", place.name), component);
            }
            // A particle may have the name of a coordinate, which then means that.
            let symbol = self.graph.symbol(&place.name).id();
            if !(defined.contains(&symbol) || self.roles().contains_key(&symbol)) {
                names.add(&place.name, position);
            }
        }
        names.scope()
    }

    /// Gives meaning to the nodes that a text uses: they are where their coordinates are.
    fn define_nodes<'g>(&'g self, scope: &mut Scope<'g>, text: &str, tokens: &[Token]) {
        let named = tokens.iter().filter(|token| token.kind == Kind::Name && self.lumped.is_some());
        for token in named {
            let name = &text[token.span.start..token.span.end];
            if !name.ends_with(']') || scope.get(name).is_some() {
                continue;
            }
            let components = AXES.map(|axis| self.graph.symbol(&format!("{name}.{axis}")));
            let known =
                |symbol: &Expr<'_>| self.roles().contains_key(&symbol.id()) || self.is_defined(*symbol);
            let place: Vec<_> = components.into_iter().take_while(known).collect();
            if !place.is_empty() {
                scope.define(name, Value::Vector(place));
            }
        }
    }

    /// An expression in which momenta over masses stand for velocities of nodes.
    pub(crate) fn with_momenta_of_nodes<'g>(&'g self, value: Expr<'g>) -> Expr<'g> {
        let Some(lumped) = &self.lumped else { return value };
        let momentum = |symbol: Expr<'g>| match self.roles().get(&symbol.id()) {
            Some(&Role::Read(Read::Velocity(place))) => {
                let (mass, unit) = lumped.mass(place)?;
                let mass = unit.map_or_else(|| symbol.like(mass), |unit| mass * self.graph.at(unit));
                Some((symbol, self.graph.at(self.momenta[place]) / mass))
            }
            _ => None,
        };
        let known: Vec<_> = symbols_of(&[value]).into_iter().filter_map(momentum).collect();
        value.substitute(&known)
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
        let still = |symbol: &Expr<'_>| match self.roles().get(&symbol.id()) {
            Some(Role::Parameter | Role::Read(Read::Time)) => true,
            Some(Role::Read(Read::State(place))) => *place < q.len(),
            _ => false,
        };
        let known = symbols_of(&values).iter().all(still);
        known.then(|| motion(&q, time).derivatives(&values))
    }

    /// Expressions with what is defined in place of its names.
    fn resolved<'g>(&'g self, values: &[Expr<'g>]) -> Vec<Expr<'g>> {
        let at = |id| self.graph.at(id);
        let defined: Vec<_> = self.definitions.iter().map(|&(name, value)| (at(name), at(value))).collect();
        substitute(values, &defined)
    }

    /// Refuses a name.
    fn unknown(&self, name: String) -> ObserveError {
        let defined = self.definitions.iter().map(|&(name, _)| name);
        let symbols = self
            .observed()
            .into_iter()
            .chain(self.parameters.iter().copied())
            .chain(defined)
            .map(|id| self.graph.at(id).to_string());
        let measured = self.measured.iter().map(|(name, _)| name.clone());
        let scope = self.scope();
        let names: Vec<String> = symbols.chain(measured).chain(scope.names().map(str::to_owned)).collect();
        let nearest = nearest(&name, names.iter().map(String::as_str));
        ObserveError::UnknownName { name, nearest }
    }
}
