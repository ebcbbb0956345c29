//! Levels: what is compared with a number is, where it is a monotonic function of something, that something compared with another number.
//!
//! A border is looked for by the values of its function within a step. Those of a bell, exp(−u²) − 1/2, are the same number everywhere but near the bell,
//! and tell nothing of where it is; those of its argument, −u² − ln 1/2, do.

use leastaction_expr::{Expr, Node, Op};

/// So many functions are taken away from each other at most.
const DEEP: usize = 32;

/// What is below zero where a is below b, and above where it is above: a − b, or, where one of them is a number and the other a bell, such as e^(−u²), or something alike, what is
/// inside of it and the number that belongs to that.
#[must_use]
pub fn difference<'g>(a: Expr<'g>, b: Expr<'g>) -> Expr<'g> {
    let level = match (a.as_number(), b.as_number()) {
        (None, Some(level)) => inner(a, level).map(|(inner, level, sign)| (inner - level) * sign),
        (Some(level), None) => inner(b, level).map(|(inner, level, sign)| (level - inner) * sign),
        _ => None,
    };
    level.unwrap_or(a - b)
}

/// What is inside of monotonic functions, the number that stands for the level there, and −1 if it falls where the whole rises; `None` if there is no such function
/// besides sums and products with numbers, or if the level is not among its values.
fn inner(whole: Expr<'_>, level: f64) -> Option<(Expr<'_>, f64, f64)> {
    let (graph, mut e, mut level, mut sign, mut any) = (whole.graph(), whole, level, 1.0, false);
    for _ in 0..DEEP {
        let node = graph.node(e.id());
        let Node::Apply(op, [a, b, _]) = node else { break };
        let number = |id| graph.at(id).as_number();
        let numbers = if node.arguments().len() == 2 { (number(a), number(b)) } else { (None, None) };
        (e, level, sign) = match (op, numbers) {
            (Op::Neg, _) => (graph.at(a), -level, -sign),
            (Op::Add, (Some(x), None)) => (graph.at(b), level - x, sign),
            (Op::Add, (None, Some(x))) => (graph.at(a), level - x, sign),
            (Op::Sub, (Some(x), None)) => (graph.at(b), x - level, -sign),
            (Op::Sub, (None, Some(x))) => (graph.at(a), level + x, sign),
            (Op::Mul, (Some(x), None)) if x != 0.0 => (graph.at(b), level / x, sign * x.signum()),
            (Op::Mul, (None, Some(x))) if x != 0.0 => (graph.at(a), level / x, sign * x.signum()),
            (Op::Div, (None, Some(x))) if x != 0.0 => (graph.at(a), level * x, sign * x.signum()),
            (Op::Exp, _) if level > 0.0 => (graph.at(a), level.ln(), sign),
            (Op::Logistic, _) if level > 0.0 && level < 1.0 => {
                (graph.at(a), (level / (1.0 - level)).ln(), sign)
            }
            (Op::Tanh, _) if level.abs() < 1.0 => (graph.at(a), level.atanh(), sign),
            (Op::Atan, _) if level.abs() < std::f64::consts::FRAC_PI_2 => (graph.at(a), level.tan(), sign),
            _ => break,
        };
        any |= matches!(op, Op::Exp | Op::Logistic | Op::Tanh | Op::Atan);
    }
    (any && level.is_finite()).then_some((e, level, sign))
}

#[cfg(test)]
mod tests {
    use super::*;
    use leastaction_expr::Graph;

    #[test]
    fn levels_are_those_of_arguments() {
        let graph = Graph::new();
        let cases = [
            ("exp(-x^2) < 0.5", "-x^2 - ln(0.5)"),
            ("0.5 < exp(-x^2)", "ln(0.5) + x^2"),
            ("3 - 2*exp(x) <= 1", "-x"),
            ("1 < tanh(x/2)*4 - 1", "2*atanh(0.5) - x"),
            ("logistic(x) < 0.75", "x - ln(3)"),
            ("atan(x) < 1", "x - tan(1)"),
        ];
        for (text, expected) in cases {
            let condition = graph.parse(text).unwrap();
            let arguments = condition.node().arguments().to_vec();
            let found = difference(graph.at(arguments[0]), graph.at(arguments[1]));
            let expected = graph.parse(expected).unwrap();
            for x in [-1.3, -0.2, 0.4, 1.7] {
                let value = |e: Expr<'_>| e.eval(&[(graph.symbol("x"), x)]).unwrap();
                let holds = value(condition) != 0.0;
                assert_eq!(value(found) < 0.0, holds, "{text} at {x}");
                assert!((value(found) - value(expected)).abs() < 1e-14, "{text} at {x}");
            }
        }
        // Nothing is gained, or there is no such level.
        for text in ["x + 1 < 3", "exp(x) < -1", "tanh(x) < 2", "exp(x) < y"] {
            let condition = graph.parse(text).unwrap();
            let [a, b] = [0, 1].map(|i| graph.at(condition.node().arguments()[i]));
            assert_eq!(difference(a, b), a - b, "{text}");
        }
    }
}
