//! sin² + cos² = 1, and cos a cos b + sin a sin b = cos(a − b), with their like.

use super::poly::{Atom, AtomId, Atoms, Poly, Product, multiplied};
use super::ratio::Ratio;
use crate::op::Op;

impl Atoms {
    /// A sum in which sines and cosines are put together as far as that makes it shorter.
    pub(super) fn trigonometric(&mut self, mut sum: Poly) -> Option<Poly> {
        // Each step has fewer terms than the one before.
        while let Some(shorter) = self.square(&sum).or_else(|| self.pair(&sum)) {
            sum = shorter;
        }
        Some(sum)
    }

    fn call_of(&self, atom: AtomId, op: Op) -> Option<&Poly> {
        match &self.all[atom as usize] {
            Atom::Call(other, arguments) if *other == op => arguments.first(),
            _ => None,
        }
    }

    fn find(&self, op: Op, argument: &Poly) -> Option<AtomId> {
        let is = |atom: &Atom| matches!(atom, Atom::Call(other, arguments) if *other == op && arguments[0] == *argument);
        self.all.iter().position(is).map(|at| at as AtomId)
    }

    /// k R sin² + k R cos² = k R, and k R − k R sin² = k R cos².
    fn square(&mut self, sum: &Poly) -> Option<Poly> {
        for (term, &k) in &sum.0 {
            for &(atom, n) in term.iter().filter(|(_, n)| *n >= 2) {
                let (other, argument) = match (self.call_of(atom, Op::Sin), self.call_of(atom, Op::Cos)) {
                    (Some(argument), _) => (Op::Cos, argument.clone()),
                    (_, Some(argument)) => (Op::Sin, argument.clone()),
                    _ => continue,
                };
                let _ = n;
                let rest = multiplied(term, &vec![(atom, -2)]);
                if let Some(partner) = self.find(other, &argument) {
                    let both = multiplied(&rest, &vec![(partner, 2)]);
                    if sum.0.get(&both) == Some(&k) {
                        let mut shorter = sum.clone();
                        shorter.0.remove(term);
                        shorter.0.remove(&both);
                        shorter.add(rest, k);
                        return Some(shorter);
                    }
                }
                if sum.0.get(&rest) == Some(&k.negated()) {
                    let partner = self.atom(Atom::Call(other, vec![argument]));
                    let mut shorter = sum.clone();
                    shorter.0.remove(term);
                    shorter.0.remove(&rest);
                    shorter.add(multiplied(&rest, &vec![(partner, 2)]), k.negated());
                    return Some(shorter);
                }
            }
        }
        None
    }

    /// The angle and the function of a factor.
    fn angle(&self, atom: AtomId) -> Option<(bool, &Poly)> {
        match (self.call_of(atom, Op::Sin), self.call_of(atom, Op::Cos)) {
            (Some(argument), _) => Some((true, argument)),
            (_, Some(argument)) => Some((false, argument)),
            _ => None,
        }
    }

    /// Products of two functions of two angles, put together.
    fn pair(&mut self, sum: &Poly) -> Option<Poly> {
        for (term, &k) in &sum.0 {
            let factors: Vec<(AtomId, bool, Poly)> = term
                .iter()
                .filter(|(_, n)| *n >= 1)
                .filter_map(|&(atom, _)| self.angle(atom).map(|(sine, angle)| (atom, sine, angle.clone())))
                .collect();
            for (i, (a, a_sine, a_angle)) in factors.iter().enumerate() {
                for (b, b_sine, b_angle) in &factors[i + 1..] {
                    if a_angle == b_angle {
                        continue;
                    }
                    let turned = |sine: &bool| if *sine { Op::Cos } else { Op::Sin };
                    let partner = (self.find(turned(a_sine), a_angle), self.find(turned(b_sine), b_angle));
                    let (Some(c), Some(d)) = partner else { continue };
                    let rest: Product = multiplied(term, &vec![(*a, -1)]);
                    let rest = multiplied(&rest, &vec![(*b, -1)]);
                    let other = multiplied(&multiplied(&rest, &vec![(c, 1)]), &vec![(d, 1)]);
                    let Some(&second) = sum.0.get(&other) else { continue };
                    let (same, opposite) = (second == k, second == k.negated());
                    if !same && !opposite {
                        continue;
                    }
                    let minus = a_angle.clone().plus(&b_angle.negated());
                    let plus = a_angle.clone().plus(b_angle);
                    let (op, angle, sign) = match (a_sine, b_sine, same) {
                        (false, false, true) | (true, true, true) => (Op::Cos, minus, Ratio::ONE),
                        (false, false, false) => (Op::Cos, plus, Ratio::ONE),
                        (true, true, false) => (Op::Cos, plus, Ratio::Exact(-1, 1)),
                        (true, false, true) | (false, true, true) => (Op::Sin, plus, Ratio::ONE),
                        (true, false, false) => (Op::Sin, minus, Ratio::ONE),
                        (false, true, false) => (Op::Sin, minus, Ratio::Exact(-1, 1)),
                    };
                    let mut shorter = sum.clone();
                    shorter.0.remove(term);
                    shorter.0.remove(&other);
                    let whole = self.turned(op, angle).scaled(sign.times(k));
                    for (function, &coefficient) in &whole.0 {
                        shorter.add(multiplied(function, &rest), coefficient);
                    }
                    return Some(shorter);
                }
            }
        }
        None
    }

    /// A sine or cosine, of a positive angle.
    fn turned(&mut self, op: Op, angle: Poly) -> Poly {
        if angle.is_zero() {
            return if op == Op::Cos { Poly::number(Ratio::ONE) } else { Poly::default() };
        }
        let negative = angle.0.values().next().is_some_and(|first| first.is_negative());
        let (angle, sign) = match (negative, op) {
            (true, Op::Sin) => (angle.negated(), Ratio::Exact(-1, 1)),
            (true, _) => (angle.negated(), Ratio::ONE),
            _ => (angle, Ratio::ONE),
        };
        let atom = self.atom(Atom::Call(op, vec![angle]));
        Poly::of(vec![(atom, 1)], sign)
    }
}
