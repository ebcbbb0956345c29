//! Constraints of angles, which are the same after whole turns.
//!
//! `atan2` jumps by 2π where its point passes the negative axis; a body that is turned on must not be turned back there. So what such
//! a constraint demands is met where its value is a whole number of periods:
//!
//! $$\Phi\leftarrow\frac P{2\pi}\operatorname{atan2}\Bigl(\sin\frac{2\pi\Phi}P,\cos\frac{2\pi\Phi}P\Bigr)$$
//!
//! Of Φ = Σ cₖ αₖ + … with angles α the period P is the largest number of which all 2πcₖ are multiples.

use crate::equations::symbols_of;
use leastaction_expr::{Expr, Id, Node, Op};
use rustc_hash::FxHashSet;
use std::f64::consts::TAU;

/// Gears may have ratios with denominators up to this.
const DENOMINATORS: i32 = 1000;

/// What a constraint demands of positions, up to whole turns of the angles in it. Where angles are not in it one by one, in fixed proportions, it stays
/// as it is. `fixed` are parameters.
pub(crate) fn up_to_turns<'g>(value: Expr<'g>, fixed: &FxHashSet<Id>) -> Expr<'g> {
    let Some(period) = period(value, fixed) else { return value };
    let phase = value * (TAU / period);
    phase.sin().atan2(phase.cos()) * (period / TAU)
}

/// The parameters that decide in which proportion angles turn: only of numbers it is known what they have in common.
pub(crate) fn proportions<'g>(value: Expr<'g>, fixed: &FxHashSet<Id>) -> Vec<Expr<'g>> {
    match shares(value, fixed) {
        Some(shares) if shares.len() > 1 => symbols_of(&shares),
        _ => Vec::new(),
    }
}

/// What the angles in a constraint are multiplied by, if they are in it one by one.
fn shares<'g>(value: Expr<'g>, fixed: &FxHashSet<Id>) -> Option<Vec<Expr<'g>>> {
    let graph = value.graph();
    let moves = |e: Expr<'g>| symbols_of(&[e]).into_iter().any(|symbol| !fixed.contains(&symbol.id()));
    let angles: Vec<Expr<'g>> = graph
        .order(&[value.id()])
        .into_iter()
        .filter(|(_, node)| matches!(node, Node::Apply(Op::Atan2, _)))
        .map(|(id, _)| graph.at(id))
        .filter(|&angle| moves(angle))
        .collect();
    if angles.is_empty() {
        return Some(Vec::new());
    }
    let named: Vec<_> =
        angles.iter().enumerate().map(|(k, &angle)| (angle, graph.symbol(&format!("angle {k}")))).collect();
    let sum = value.substitute(&named);
    let shares: Vec<Expr<'g>> = named.iter().map(|&(_, angle)| sum.derivative(angle)).collect();
    if shares.iter().any(|&share| moves(share)) {
        return None;
    }
    Some(shares.into_iter().filter(|share| share.as_number() != Some(0.0)).collect())
}

/// The period of a sum of angles.
fn period<'g>(value: Expr<'g>, fixed: &FxHashSet<Id>) -> Option<Expr<'g>> {
    let shares = shares(value, fixed)?;
    if let [share] = shares[..] {
        return Some(share.abs() * TAU);
    }
    let shares: Option<Vec<f64>> = shares.iter().map(|share| share.as_number().map(f64::abs)).collect();
    let shares = shares?;
    let least = shares.iter().copied().reduce(f64::min)?;
    let is_whole = |ratio: f64| (ratio - ratio.round()).abs() <= 1e-12 * ratio;
    let all_whole = |d: &i32| shares.iter().all(|share| is_whole(share / least * f64::from(*d)));
    let denominator = (1..=DENOMINATORS).find(all_whole)?;
    Some(value.like(TAU * least / f64::from(denominator)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use leastaction_expr::Graph;

    #[test]
    fn periods_are_what_all_angles_have_in_common() {
        let graph = Graph::new();
        let [x, y, u, v, t, n] = graph.symbols(["x", "y", "u", "v", "t", "n"]);
        let (a, b) = (y.atan2(x), v.atan2(u));
        let fixed = FxHashSet::from_iter([n.id()]);
        let found = |value: Expr<'_>| {
            let period = period(graph.at(value.id()), &fixed);
            period.map(|period| period.eval(&[(n, 3.0)]).unwrap_or(f64::NAN) / TAU)
        };
        assert_eq!(found(a - 2.0 * t), Some(1.0));
        assert_eq!(found(a - 2.0 * b), Some(1.0));
        assert_eq!(found(2.0 * a - 3.0 * b + t), Some(1.0));
        assert_eq!(found(a - 1.5 * b), Some(0.5));
        assert_eq!(found(n * a - t), Some(3.0));
        assert_eq!(found(a - n * b), None);
        assert_eq!(proportions(graph.at((a - n * b).id()), &fixed), [n]);
        assert_eq!([n * a - t, a - 2.0 * b, a * b].map(|value| proportions(value, &fixed).len()), [0; 3]);
        assert_eq!(found(a * b), None);
        assert_eq!(found(a.sin() - t), None);
        assert_eq!(found(x - t), None);
        let wound = up_to_turns(a - 2.0 * t, &fixed);
        let after = wound.eval(&[(x, 0.0), (y, 1.0), (t, std::f64::consts::FRAC_PI_4 + 5.0 * TAU)]);
        assert!(matches!(after, Ok(after) if after.abs() < 1e-14), "{after:?}");
    }
}
