//! Values of expressions at points without pattern, to decide what folding cannot see: whether an expression is
//! zero everywhere, and whether a matrix is singular everywhere.

use leastaction_expr::{Expr, Graph, Id, Node};
use std::collections::HashMap;

/// Points tried before a verdict; those where the expression is not defined do not count.
pub(crate) const POINTS: u64 = 8;
/// Points that must agree.
const ENOUGH: usize = 2;
/// How much each operation is disturbed to learn how much of a value is rounding.
const NOISE: f64 = 1e-12;
const DISTURBANCES: u64 = 4;

/// Where to evaluate: parameters near their defaults, everything else at sizes from 1/8 to 1, positive at the even points, all negative at the first odd one.
pub(crate) struct Probe<'g> {
    graph: &'g Graph,
    parameters: HashMap<Id, f64>,
}

impl<'g> Probe<'g> {
    pub(crate) fn new(graph: &'g Graph, parameters: &[(Expr<'g>, f64)]) -> Probe<'g> {
        Probe { graph, parameters: parameters.iter().map(|(p, value)| (p.id(), *value)).collect() }
    }

    /// Whether an expression is zero everywhere: folded to zero, or nothing but rounding at every point tried.
    pub(crate) fn is_zero(&self, e: Expr<'g>) -> bool {
        self.zeros(&[e]) == [true]
    }

    /// Which expressions are zero everywhere.
    ///
    /// What is rounding shows when every operation is disturbed a little: a value that changes by as much as itself
    /// carries no information (J. Vignes, A stochastic arithmetic for reliable scientific computation,
    /// Math. Comput. Simul. 35, 1993).
    pub(crate) fn zeros(&self, expressions: &[Expr<'g>]) -> Vec<bool> {
        let mut zero: Vec<bool> =
            expressions.iter().map(|e| e.as_number().is_none_or(|v| v == 0.0)).collect();
        let mut agreeing = vec![0; expressions.len()];
        for point in 0..POINTS {
            let open: Vec<usize> =
                (0..expressions.len()).filter(|&i| zero[i] && expressions[i].as_number().is_none()).collect();
            if open.is_empty() {
                break;
            }
            let roots: Vec<_> = open.iter().map(|&i| expressions[i]).collect();
            let values = self.values(&roots, point, 0);
            let mut moved = vec![0.0f64; open.len()];
            for disturbance in 1..=DISTURBANCES {
                let disturbed = self.values(&roots, point, disturbance);
                for (m, (d, v)) in moved.iter_mut().zip(disturbed.iter().zip(&values)) {
                    *m = m.max((d - v).abs());
                }
            }
            for (k, &i) in open.iter().enumerate().filter(|(k, _)| values[*k].is_finite()) {
                zero[i] = values[k].abs() <= moved[k];
                agreeing[i] += 1;
            }
        }
        let undecided = |i: usize| expressions[i].as_number().is_none() && agreeing[i] < ENOUGH;
        (0..expressions.len()).map(|i| zero[i] && !undecided(i)).collect()
    }

    /// The values of several expressions at a point, with each operation disturbed if `disturbance` is not 0.
    pub(crate) fn values(&self, roots: &[Expr<'g>], point: u64, disturbance: u64) -> Vec<f64> {
        let ids: Vec<Id> = roots.iter().map(|e| e.id()).collect();
        let mut known = vec![0.0; ids.iter().map(|id| id.index() + 1).max().unwrap_or(0)];
        for id in self.graph.order(&ids) {
            let node = self.graph.node(id);
            let value = match node {
                Node::Number(bits) => f64::from_bits(bits),
                Node::Symbol(_) => {
                    let r = random(id.index() as u64, point + 1);
                    match self.parameters.get(&id) {
                        Some(&default) if default != 0.0 => default * (0.75 + 0.5 * r),
                        _ => {
                            let mixed = point % 2 == 1 && random(id.index() as u64, !point) < 0.5;
                            let negative = point == 1 || mixed;
                            let size = if point % 4 < 2 { 0.5 } else { 1.0 };
                            size * (0.25 + 0.75 * r) * if negative { -1.0 } else { 1.0 }
                        }
                    }
                }
                Node::Apply(op, _) => {
                    let mut arguments = [0.0; 3];
                    arguments.iter_mut().zip(node.arguments()).for_each(|(x, a)| *x = known[a.index()]);
                    let value = (op.row().value)(&arguments[..op.row().arity]);
                    match disturbance {
                        0 => value,
                        k => value * (1.0 + NOISE * (random(id.index() as u64, !k) - 0.5)),
                    }
                }
            };
            known[id.index()] = value;
        }
        ids.iter().map(|id| known[id.index()]).collect()
    }
}

/// A number in [0, 1) that looks random (SplitMix64: Steele, Lea and Flood, OOPSLA 2014).
fn random(a: u64, b: u64) -> f64 {
    let mut z = a.wrapping_add(b.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}
