//! Vector mathematics: functions written out in primitives, the same for every backend.
//!
//! An expansion is branch-free code for all lanes. Where a rare argument needs another method (a huge angle, a
//! subnormal logarithm), [`Builder::repair`] redoes those lanes with the operator's `value` from the table.

use crate::builder::Builder;
use crate::instruction::{Operand, Test};
use leastaction_expr::Op;

/// What an expansion may know of its surroundings.
#[derive(Clone, Copy)]
pub(crate) struct Context {
    /// Whether the program needs both sine and cosine of the argument.
    pub(crate) paired: bool,
}

/// The operator written out, or `None` if it has no vector expansion and is to be called lane by lane.
pub(crate) fn expand(b: &mut Builder, op: Op, x: &[Operand], _context: Context) -> Option<Operand> {
    let first = x[0];
    Some(match op {
        Op::Neg => b.neg(first),
        Op::Abs => b.abs(first),
        Op::Sign => {
            let [zero, one, minus_one] = [0.0, 1.0, -1.0].map(|v| b.constant(v));
            let not_positive = b.select(Test::Less, first, zero, minus_one, first);
            b.select(Test::Less, zero, first, one, not_positive)
        }
        Op::Min | Op::Max => {
            let other = x[1];
            let chosen = if op == Op::Min { b.min(first, other) } else { b.max(first, other) };
            // The instruction returns its second argument for NaN, so only a NaN in the first is lost.
            b.select(Test::Differ, first, first, first, chosen)
        }
        _ => return None,
    })
}
