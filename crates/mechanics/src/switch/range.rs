//! Bounds of expressions, whatever their symbols are.

use leastaction_expr::{Expr, Id, Node, Op};
use rustc_hash::FxHashMap;

type Range = (f64, f64);
const ALL: Range = (f64::NEG_INFINITY, f64::INFINITY);

/// Whether an expression is above zero everywhere, or below zero everywhere, as far as bounds of its parts tell.
pub(super) fn excludes_zero(e: Expr<'_>) -> bool {
    let mut known: FxHashMap<Id, Range> = FxHashMap::default();
    let mut last = ALL;
    for (id, node) in e.graph().order(&[e.id()]) {
        last = match node {
            Node::Number(bits) => (f64::from_bits(bits), f64::from_bits(bits)),
            Node::Symbol(_) => ALL,
            Node::Apply(op, _) => {
                let mut arguments = [ALL; 3];
                arguments.iter_mut().zip(node.arguments()).for_each(|(range, id)| *range = known[id]);
                let same = node.arguments().first() == node.arguments().get(1);
                bounded(apply(op, arguments, same))
            }
        };
        known.insert(id, last);
    }
    last.0 > 0.0 || last.1 < 0.0
}

/// Nothing is known where bounds are not numbers.
fn bounded(range: Range) -> Range {
    if range.0.is_nan() || range.1.is_nan() { ALL } else { range }
}

fn apply(op: Op, [a, b, c]: [Range; 3], same: bool) -> Range {
    let hull = |a: Range, b: Range| (a.0.min(b.0), a.1.max(b.1));
    match op {
        Op::Add => (a.0 + b.0, a.1 + b.1),
        Op::Sub => (a.0 - b.1, a.1 - b.0),
        Op::Neg => (-a.1, -a.0),
        Op::Mul if same => square(a),
        Op::Mul => product(a, b),
        Op::Div if b.0 > 0.0 || b.1 < 0.0 => product(a, (1.0 / b.1, 1.0 / b.0)),
        Op::Pow if b.0 == b.1 && b.0 % 2.0 == 0.0 && b.0 > 0.0 => {
            let (low, high) = size(a);
            (low.powf(b.0), high.powf(b.0))
        }
        Op::Sqrt => (a.0.max(0.0).sqrt(), a.1.max(0.0).sqrt()),
        Op::Abs => size(a),
        Op::Hypot => (size(a).0.max(size(b).0), size(a).1 + size(b).1),
        Op::Exp => (a.0.exp().max(f64::MIN_POSITIVE), a.1.exp()),
        Op::Cosh => (1.0, f64::INFINITY),
        Op::Sin | Op::Cos | Op::Tanh | Op::Erf | Op::Sign => (-1.0, 1.0),
        Op::Logistic | Op::Lt | Op::Le | Op::Eq | Op::Ne => (0.0, 1.0),
        Op::Min => (a.0.min(b.0), a.1.min(b.1)),
        Op::Max => (a.0.max(b.0), a.1.max(b.1)),
        Op::Floor => (a.0.floor(), a.1.floor()),
        Op::Select => hull(b, c),
        _ => ALL,
    }
}

/// The range of the absolute value.
fn size(a: Range) -> Range {
    let high = a.0.abs().max(a.1.abs());
    if a.0 <= 0.0 && a.1 >= 0.0 { (0.0, high) } else { (a.0.abs().min(a.1.abs()), high) }
}

fn square(a: Range) -> Range {
    let (low, high) = size(a);
    (low * low, high * high)
}

fn product(a: Range, b: Range) -> Range {
    let all = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1];
    if all.iter().any(|x| x.is_nan()) {
        return ALL;
    }
    all.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |range, x| (range.0.min(*x), range.1.max(*x)))
}

#[cfg(test)]
mod tests {
    use super::excludes_zero;
    use leastaction_expr::Graph;

    #[test]
    fn what_is_never_zero_is_known() {
        let graph = Graph::new();
        let never = ["x^2 + 1", "exp(x)", "-1 - abs(x)", "cosh(x) + y^2", "2 + sin(x*y)", "max(x, 1)"];
        for text in never {
            assert!(excludes_zero(graph.parse(text).unwrap()), "{text}");
        }
        for text in [
            "x",
            "x^2",
            "x*y",
            "1 + sin(x)",
            "x^2 + y",
            "exp(x) - 1",
            "1/x",
            "min(x, 1)",
            "sqrt(x)",
            "x^3 + 1",
        ] {
            assert!(!excludes_zero(graph.parse(text).unwrap()), "{text}");
        }
    }
}
