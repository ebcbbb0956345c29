//! Vector mathematics: functions written out in primitives, the same for every backend.
//!
//! An expansion is branch-free code for all lanes. Where a rare argument needs another method (a huge angle, a
//! subnormal logarithm), [`Arithmetic::repair`] redoes those lanes with the operator's `value` from the table.
//! Every expansion is within 2 ulp of the exact value on the whole domain; `tests/accuracy` measures it. The
//! polynomials are printed by `tools/minimax.py`. The errors stated are the largest at a million points or more.

mod constant_power;
mod double;
mod exponential;
mod inverse;
mod logarithm;
mod polynomial;
mod power;
mod trigonometric;

use crate::arithmetic::{Arithmetic, Exact};
use crate::instruction::{Test, call};
pub(crate) use constant_power::constant_power;
use leastaction_expr::Op;
pub(crate) use trigonometric::sine_and_cosine;

/// 1.5·2⁵²: added to a number of size below 2⁵¹, it leaves the nearest integer in the low bits.
const MAGIC: f64 = 6_755_399_441_055_744.0;

/// ln 2 − [`LN_2`](std::f64::consts::LN_2).
const LN_2_LOW: f64 = 2.3190468138462996e-17;

/// The operator written out, or `None` if it has no vector expansion and is to be called lane by lane. `paired` for
/// a sine or cosine if the other is needed as well.
#[inline(always)]
pub(crate) fn expand<A: Arithmetic>(b: &mut A, op: Op, x: &[A::Value], paired: bool) -> Option<A::Value> {
    let first = x[0];
    Some(match op {
        Op::Neg => b.neg(first),
        Op::Abs => b.abs(first),
        Op::Sign => {
            let not_positive = b.select(Test::Less, first, 0.0, -1.0, first);
            b.select(Test::Less, 0.0, first, 1.0, not_positive)
        }
        Op::Min | Op::Max => {
            let other = x[1];
            let chosen = if op == Op::Min { b.min(first, other) } else { b.max(first, other) };
            // The instruction returns its second argument for NaN, so only a NaN in the first is lost.
            b.select(Test::Differ, first, first, first, chosen)
        }
        Op::Sin if paired => sine_and_cosine(b, first).0,
        Op::Sin => trigonometric::sine_alone(b, first),
        Op::Cos => sine_and_cosine(b, first).1,
        Op::Tan => trigonometric::tangent(b, first),
        Op::Exp => exponential::exp(b, first),
        Op::Expm1 => exponential::expm1(b, first),
        Op::Logistic => exponential::logistic(b, first),
        Op::Ln => logarithm::ln(b, first),
        Op::Ln1p => logarithm::ln1p(b, first),
        Op::Sinh => exponential::sinh(b, first),
        Op::Cosh => exponential::cosh(b, first),
        Op::Asin => inverse::asin(b, first),
        Op::Acos => inverse::acos(b, first),
        Op::Atan => inverse::atan(b, first),
        Op::Atan2 => inverse::atan2(b, first, x[1]),
        Op::Hypot => inverse::hypot(b, first, x[1]),
        Op::Pow => power::power(b, first, x[1]),
        Op::Tanh => exponential::tanh(b, first),
        _ => return None,
    })
}

/// The operator's value in one lane, as every backend computes it.
pub(crate) fn value(op: Op, x: &[f64; 3], paired: bool) -> f64 {
    let x = &x[..op.row().arity];
    expand(&mut Exact::default(), op, x, paired).unwrap_or_else(|| call(op, x))
}
