//! What follows from rest positions alone is computed once for each element, not at each evaluation: the largest parts of an energy that
//! have nothing moving in them become constants of the element.

use super::FieldError;
use super::element::Table;
use leastaction_compile::{CodeError, Kernel, LANES, Program};
use leastaction_expr::{Expr, Id, Node, substitute};
use rustc_hash::FxHashMap;

/// Expressions in which constants of elements stand for what does not move.
pub(super) struct Hoisted<'g> {
    pub(super) expressions: Vec<Expr<'g>>,
    pub(super) constants: Vec<Expr<'g>>,
    /// For each element and constant, its value.
    pub(super) values: Vec<f64>,
}

/// What an expression has in it.
#[derive(Clone, Copy, PartialEq)]
enum Has {
    NumbersOnly,
    /// Symbols of the table.
    Still,
    Moving,
}

pub(super) fn hoisted<'g>(expressions: &[Expr<'g>], table: &Table<'g>) -> Result<Hoisted<'g>, FieldError> {
    let still = largest_still_parts(expressions, &table.symbols);
    let graph = expressions[0].graph();
    let constants: Vec<_> = (0..still.len()).map(|i| graph.symbol(&format!("element_constant{i}"))).collect();
    let replacements: Vec<_> = still.iter().copied().zip(constants.iter().copied()).collect();
    let values = evaluated(&still, table)?;
    Ok(Hoisted { expressions: substitute(expressions, &replacements), constants, values })
}

/// The largest parts of expressions that have symbols of the table in them and no others, in the order in which they stand.
fn largest_still_parts<'g>(expressions: &[Expr<'g>], symbols: &[Expr<'g>]) -> Vec<Expr<'g>> {
    let graph = expressions[0].graph();
    let roots: Vec<Id> = expressions.iter().map(|e| e.id()).collect();
    let mut has: FxHashMap<Id, Has> = symbols.iter().map(|symbol| (symbol.id(), Has::Still)).collect();
    let mut parts = Vec::new();
    let mut add = |id: Id, has: Has| {
        if has == Has::Still && !parts.contains(&id) {
            parts.push(id);
        }
    };
    for (id, node) in graph.order(&roots) {
        let kind = match &node {
            Node::Number(_) => Has::NumbersOnly,
            Node::Symbol(_) => *has.get(&id).unwrap_or(&Has::Moving),
            Node::Apply(..) => {
                let of = |argument: &Id| has[argument];
                let moving = node.arguments().iter().any(|argument| of(argument) == Has::Moving);
                let still = node.arguments().iter().any(|argument| of(argument) == Has::Still);
                match (moving, still) {
                    (true, _) => Has::Moving,
                    (false, true) => Has::Still,
                    (false, false) => Has::NumbersOnly,
                }
            }
        };
        has.insert(id, kind);
        if kind == Has::Moving {
            node.arguments().iter().for_each(|argument| add(*argument, has[argument]));
        }
    }
    roots.iter().for_each(|root| add(*root, has[root]));
    parts.into_iter().map(|id| graph.at(id)).collect()
}

/// The values of expressions of a table, for each element.
pub(super) fn evaluated(outputs: &[Expr<'_>], table: &Table<'_>) -> Result<Vec<f64>, FieldError> {
    if outputs.is_empty() {
        return Ok(Vec::new());
    }
    let program = Program::build(&table.symbols, &[], outputs).map_err(CodeError::from)?;
    let kernel = Kernel::compile_lightly(program).map_err(CodeError::from)?;
    let mut evaluator =
        kernel.evaluator(&[]).unwrap_or_else(|_| unreachable!("the program has no parameters"));
    let (inputs, count) = (table.symbols.len(), outputs.len());
    let (mut block, mut outputs) = (vec![0.0; inputs * LANES], vec![0.0; count * LANES]);
    let mut values = Vec::with_capacity(table.elements * count);
    for first in (0..table.elements).step_by(LANES) {
        let filled = LANES.min(table.elements - first);
        for lane in 0..LANES {
            let row = &table.values[(first + lane.min(filled - 1)) * inputs..][..inputs];
            row.iter().enumerate().for_each(|(i, &value)| block[i * LANES + lane] = value);
        }
        let fits = evaluator.eval_lanes(&block, &mut outputs);
        fits.unwrap_or_else(|_| unreachable!("blocks have the program's lengths"));
        for lane in 0..filled {
            values.extend((0..count).map(|i| outputs[i * LANES + lane]));
        }
    }
    Ok(values)
}
