//! Pairs of bodies in space, without a list of all of them.

use super::Many;
use super::index::Index;
use super::terms::{Condition, OneTerm, Slot};
use crate::diagnostic::Diagnostic;
use crate::reader::{Reader, symbols_in};
use leastaction_expr::{Expr, Value};
use leastaction_field::{Field, Mesh, Over};
use leastaction_mechanics::Energy;

/// Fewer bodies have a list of their pairs, if there is no cut-off.
const FEW: i64 = 128;

impl<'g, 's> Reader<'g, 's> {
    /// The sum over all pairs, or those within a cut-off, of what has places in space, if it is one: `i < j in A..B`, and both ends are members of one array
    /// whose members are coordinates that follow each other.
    pub(super) fn pairs_of(
        &mut self,
        many: &Many<'g, 's>,
        term: &OneTerm<'g>,
        coefficient: Expr<'g>,
    ) -> Result<Option<Energy<'g>>, Diagnostic> {
        let ([range], [a, b]) = (&many.clause.ranges[..], &term.slots[..]) else { return Ok(None) };
        let Some((_, true)) = range.second else { return Ok(None) };
        let own = |slot: &Slot<'g>| match &slot.index[..] {
            [Index::Affine(0, slopes)] => slopes
                .iter()
                .position(|slope| *slope == 1)
                .filter(|_| slopes.iter().map(|slope| slope.abs()).sum::<i64>() == 1),
            _ => None,
        };
        let (first, second) = match (own(a), own(b)) {
            (Some(0), Some(1)) => (a, b),
            (Some(1), Some(0)) => (b, a),
            _ => return Ok(None),
        };
        if a.array != b.array || a.symbols.len() != 3 {
            return Ok(None);
        }
        let used = symbols_in(term.value);
        if term.indices.symbols.iter().any(|index| used.contains(index)) {
            return Ok(None);
        }
        let symbols = &term.indices.symbols;
        let (low, high) =
            (term.bounds[0][0].value(symbols, &[0, 0])?, term.bounds[0][1].value(symbols, &[0, 0])?);
        let cutoff = match &term.condition {
            None if high - low + 1 < FEW => return Ok(None),
            None => None,
            Some(Condition::OfIndices(_)) => return Ok(None),
            Some(Condition::OfPlaces(condition)) => match cutoff(*condition, first, second) {
                Some(cutoff) => Some(cutoff),
                None => return Ok(None),
            },
        };
        let Some(start) = self.in_a_row(&first.array, low, high) else { return Ok(None) };
        let energy = coefficient * term.value;
        let field = Field::new(self.graph, "pairs", Over::Pairs, |element| {
            let ends = [first, second].into_iter().zip([0, 1].map(|node| element.at(node)));
            let known: Vec<_> = ends
                .flat_map(|(slot, at)| slot.symbols.iter().copied().zip((0..3).map(move |axis| at[axis])))
                .collect();
            energy.substitute(&known)
        });
        let field = match cutoff {
            Some(cutoff) => field.within(cutoff),
            None => field,
        };
        let nodes: Vec<[f64; 3]> = (low..=high).map(|i| [i as f64, 0.0, 0.0]).collect();
        let refused = |message: String| Diagnostic::at(many.span, message);
        let mesh = Mesh::new(nodes).map_err(|error| refused(error.to_string()))?;
        field.potential(&mesh, start).map(Some).map_err(|error| refused(error.to_string()))
    }

    /// The first coordinate of members whose components are coordinates that all follow each other.
    fn in_a_row(&self, array: &str, low: i64, high: i64) -> Option<u32> {
        let all = self.setup.model.declared_coordinates();
        let member = |i: i64| match self.scope.get(&format!("{array}[{i}]")) {
            Some(Value::Vector(components)) if components.len() == 3 => Some(components),
            _ => None,
        };
        let start = member(low)?[0];
        let start = all.iter().position(|q| *q == start)?;
        let mut own = all.get(start..)?.chunks_exact(3);
        (low..=high)
            .all(|i| own.next().zip(member(i)).is_some_and(|(own, member)| own == &member[..]))
            .then_some(start as u32)
    }
}

/// The cut-off R of a condition `norm(a[i] - a[j]) < R`.
fn cutoff<'g>(condition: Expr<'g>, a: &Slot<'g>, b: &Slot<'g>) -> Option<Expr<'g>> {
    use leastaction_expr::{Node, Op};
    let Node::Apply(op, [left, right, _]) = condition.node() else { return None };
    let graph = condition.graph();
    let (left, right) = match op {
        Op::Lt | Op::Le => (graph.at(left), graph.at(right)),
        _ => return None,
    };
    let apart = |from: &Slot<'g>, to: &Slot<'g>| {
        let squares = from.symbols.iter().zip(&to.symbols).map(|(&from, &to)| (from - to) * (from - to));
        squares.reduce(|sum, square| sum + square).map(Expr::sqrt)
    };
    let moving = |e: Expr<'g>| {
        let used = symbols_in(e);
        a.symbols.iter().chain(&b.symbols).any(|symbol| used.contains(symbol))
    };
    let is_distance = Some(left) == apart(a, b) || Some(left) == apart(b, a);
    (is_distance && !moving(right)).then_some(right)
}
