//! Constraints that jump, and places that jump in time: nothing that moves can follow them.

use crate::equations::symbols_of;
use crate::error::ModelError;
use crate::model::{Model, Particle, Term};
use leastaction_expr::{Expr, Id, Node, Op};
use rustc_hash::{FxHashMap, FxHashSet};

/// Pieces of a `select` meet if they differ by less than this part of their values.
const MEETS: f64 = 1e-6;

/// Borders are looked for among so many values on each side of 0, for each power of ten between these.
const VALUES: i32 = 64;
const POWERS: std::ops::RangeInclusive<i32> = -6..=6;

/// Refuses constraints with values that jump where something changes, and masses whose places jump in time. A `select` does not where its pieces meet: for some numbers
/// in place of the values of parameters that are sampled.
pub(crate) fn check_jumps(model: &Model<'_>, sampled: &[&str]) -> Result<(), ModelError> {
    let names = || sampled.iter().map(|&name| name.to_owned()).collect();
    let held = model.holds.iter().flat_map(|hold| hold.values.iter().map(|(_, value)| (&hold.name, value)));
    let constants = model.parameters.iter().enumerate().map(|(i, (parameter, value))| {
        let other = sampled.contains(&parameter.to_string().as_str());
        (parameter.id(), if other { 0.83 + 0.23 * i as f64 } else { *value })
    });
    let constants = constants.collect();
    let mut search = Search { constants, only: None, borders: FxHashMap::default() };
    let constraints = model.constraints.iter().map(|Term { name, value }| (name, value));
    if let Some(constraint) = search.first_jump(constraints.chain(held)) {
        return Err(ModelError::JumpingConstraint { constraint, sampled: names() });
    }
    let has_mass = |particle: &&Particle<'_>| particle.inertias.iter().any(|m| m.as_number() != Some(0.0));
    let massive = model.particles.iter().filter(has_mass);
    let places = massive.flat_map(|particle| particle.position.iter().map(|place| (&particle.name, place)));
    // What a place jumps by with the coordinates may be a turn or a period, which changes no velocity.
    search.only = Some(model.time.id());
    match search.first_jump(places) {
        Some(particle) => Err(ModelError::JumpingPlace { particle, sampled: names() }),
        None => Ok(()),
    }
}

/// Whether an expression jumps where one of these symbols changes, with all else as it is.
pub(crate) fn jumps<'g>(value: Expr<'g>, symbols: &[Expr<'g>], parameters: &[(Expr<'g>, f64)]) -> bool {
    let constants = parameters.iter().map(|(parameter, value)| (parameter.id(), *value)).collect();
    let mut search = Search { constants, only: None, borders: FxHashMap::default() };
    let graph = value.graph();
    let conditions = graph.order(&[value.id()]).into_iter().filter_map(|(id, node)| {
        let first = graph.at(*node.arguments().first()?);
        match node {
            Node::Apply(Op::Lt | Op::Le, _) => Some(graph.at(id)),
            Node::Apply(Op::Sign, _) => Some(first.lt(0.0)),
            // This changes its sign where the integers are.
            Node::Apply(Op::Floor, _) => Some((std::f64::consts::PI * first).sin().lt(0.0)),
            _ => None,
        }
    });
    let conditions: Vec<_> = conditions.collect();
    conditions.into_iter().any(|condition| {
        let changing = symbols_of(&[condition]).into_iter().filter(|s| symbols.contains(s));
        changing.collect::<Vec<_>>().into_iter().any(|symbol| {
            let mut line = search.line(value, symbol);
            search.borders(condition, symbol).iter().any(|&border| line.jumps(border))
        })
    })
}

struct Search {
    /// The values of parameters.
    constants: FxHashMap<Id, f64>,
    /// What may change, if not all but parameters.
    only: Option<Id>,
    /// Where a condition changes, by the condition and the symbol that changes.
    borders: FxHashMap<(Id, Id), Vec<f64>>,
}

impl Search {
    /// The name of the first value that jumps where something changes.
    fn first_jump<'a, 'g: 'a>(
        &mut self,
        values: impl IntoIterator<Item = (&'a String, &'a Expr<'g>)>,
    ) -> Option<String> {
        let (mut seen, mut open) = (FxHashSet::default(), Vec::new());
        for (name, value) in values {
            let graph = value.graph();
            // From the value down to what it is made of, but not to conditions.
            open.push(value.id());
            while let Some(id) = open.pop() {
                let node = graph.node(id);
                let Node::Apply(op, _) = node else { continue };
                let jumps = match op {
                    Op::Floor | Op::Sign | Op::Lt | Op::Le | Op::Eq | Op::Ne => {
                        symbols_of(&[graph.at(id)]).iter().any(|s| self.changes(*s))
                    }
                    Op::Select => self.pieces_part(graph.at(id), graph.at(node.arguments()[0])),
                    _ => false,
                };
                if jumps {
                    return Some(name.clone());
                }
                let arguments = if op == Op::Select { &node.arguments()[1..] } else { node.arguments() };
                open.extend(arguments.iter().filter(|id| seen.insert(**id)));
            }
        }
        None
    }

    fn changes(&self, symbol: Expr<'_>) -> bool {
        match self.only {
            Some(only) => symbol.id() == only,
            None => !self.constants.contains_key(&symbol.id()),
        }
    }

    /// Whether the pieces of a `select` do not meet where its condition changes with time or with something else.
    fn pieces_part<'g>(&mut self, select: Expr<'g>, condition: Expr<'g>) -> bool {
        let changing = symbols_of(&[condition]).into_iter().filter(|s| self.changes(*s));
        changing.collect::<Vec<_>>().into_iter().any(|symbol| {
            let mut line = self.line(select, symbol);
            self.borders(condition, symbol).iter().any(|&border| line.jumps(border))
        })
    }

    /// Where a condition changes along one symbol.
    fn borders<'g>(&mut self, condition: Expr<'g>, symbol: Expr<'g>) -> &[f64] {
        let key = (condition.id(), symbol.id());
        if !self.borders.contains_key(&key) {
            let borders = self.find_borders(condition, symbol);
            self.borders.insert(key, borders);
        }
        &self.borders[&key]
    }

    fn find_borders<'g>(&self, condition: Expr<'g>, symbol: Expr<'g>) -> Vec<f64> {
        let graph = condition.graph();
        if let Node::Apply(Op::Lt | Op::Le, [a, b, _]) = graph.node(condition.id()) {
            let difference = graph.at(a) - graph.at(b);
            let slope = difference.derivative(symbol);
            if !symbols_of(&[slope]).contains(&symbol) {
                let (at_0, slope) = (self.line(difference, symbol).at(0.0), self.line(slope, symbol).at(0.0));
                let border = -at_0 / slope;
                let (below, above) = just_around(border, 1e-9);
                let mut line = self.line(condition, symbol);
                if border.is_finite() && line.at(below) != line.at(above) {
                    return vec![border];
                }
            }
        }
        let mut line = self.line(condition, symbol);
        let mut holds = |x: f64| line.at(x) != 0.0;
        let mut borders = Vec::new();
        for (power, sign) in POWERS.flat_map(|power| [(power, 1.0), (power, -1.0)]) {
            let place = |i: i32| sign * 10f64.powi(power) * f64::from(i) / f64::from(VALUES);
            for i in 0..VALUES {
                let (mut low, mut high) = (place(i), place(i + 1));
                let first = holds(low);
                if first == holds(high) {
                    continue;
                }
                loop {
                    let middle = 0.5 * (low + high);
                    if middle == low || middle == high {
                        break;
                    }
                    *(if holds(middle) == first { &mut low } else { &mut high }) = middle;
                }
                borders.push(high);
            }
        }
        borders
    }

    /// An expression along one symbol. Parameters have their values, and all else has some.
    fn line<'g>(&self, value: Expr<'g>, symbol: Expr<'g>) -> Line<'g> {
        let mut symbols = symbols_of(&[value]);
        symbols.retain(|other| *other != symbol);
        let some = (0..symbols.len()).map(|i| 0.37 + 0.19 * i as f64);
        let known =
            symbols.iter().zip(some).map(|(s, some)| (*s, *self.constants.get(&s.id()).unwrap_or(&some)));
        Line { value, values: [(symbol, 0.0)].into_iter().chain(known).collect() }
    }
}

/// An expression of one symbol.
struct Line<'g> {
    value: Expr<'g>,
    values: Vec<(Expr<'g>, f64)>,
}

impl Line<'_> {
    fn at(&mut self, x: f64) -> f64 {
        self.values[0].1 = x;
        self.value.eval(&self.values).unwrap_or(f64::NAN)
    }

    /// Whether the values on both sides differ, and as much when they are nearer.
    fn jumps(&mut self, border: f64) -> bool {
        let [far, near] = [1e-9, 1e-11].map(|distance| {
            let (below, above) = just_around(border, distance);
            let (a, b) = (self.at(below), self.at(above));
            ((b - a).abs(), a.abs().max(b.abs()))
        });
        near.0 > MEETS * near.1 && near.0 > 0.5 * far.0
    }
}

/// Values a little below and above.
fn just_around(x: f64, distance: f64) -> (f64, f64) {
    let distance = if x == 0.0 { distance } else { distance * x.abs() };
    (x - distance, x + distance)
}
