//! Identities that save convolutions: powers of one base, and sines and cosines of sums.
//!
//! A product of powers of u is a power of u, so that of √u, 1/√u and its cube, as in the force of gravity, only one series is needed:
//! u·D y = a·y·D u, that is
//!
//! $$y_k=\frac{ay_0}{u_0}u_k+\frac1{u_0}\sum_{0<j<k}\Bigl(\frac{(a+1)j}k-1\Bigr)u_jy_{k-j}$$
//!
//! And cos a cos b + sin a sin b, as in the energy of a double pendulum, is the cosine of a − b.

use super::draft::Draft;
use super::tape::{ENDLESS, Node, Rule, Start};
use crate::instruction::{Code, Operand};
use leastaction_expr::Op;

/// A series that is c·uᵃ: u, a, the series of uᵃ, and c unless it is 1.
#[derive(Clone, Copy)]
pub(super) struct Power {
    base: Node,
    exponent: f64,
    pure: Node,
    factor: Option<Node>,
}

impl Draft {
    /// The number that a series is, if it is a constant of the program.
    pub(super) fn number(&self, node: Node) -> Option<f64> {
        match self.tape.starts[node as usize] {
            Start::Given(Operand::Constant(place)) => Some(self.builder.constants[place as usize]),
            _ => None,
        }
    }

    /// Remembers that a series is a power.
    pub(super) fn is_power(&mut self, node: Node, base: Node, exponent: f64) {
        self.powers.insert(node, Power { base, exponent, pure: node, factor: None });
    }

    /// Remembers that c·y is a power if y is.
    pub(super) fn is_multiple(&mut self, node: Node, c: Node, y: Node) {
        if let Some(&Power { factor: None, base, exponent, pure }) = self.powers.get(&y) {
            self.powers.insert(node, Power { base, exponent, pure, factor: Some(c) });
        }
    }

    /// Remembers that 1/y is a power if y is.
    pub(super) fn is_inverse(&mut self, node: Node, y: Node) {
        if let Some(&Power { factor: None, base, exponent, .. }) = self.powers.get(&y) {
            self.is_power(node, base, -exponent);
        }
    }

    /// A product of two powers of one base.
    pub(super) fn joined(&mut self, u: Node, v: Node, start: Start) -> Option<Node> {
        if !self.joins {
            return None;
        }
        let itself = |base: Node| Power { base, exponent: 1.0, pure: base, factor: None };
        let (a, b) = match (self.powers.get(&u), self.powers.get(&v)) {
            (Some(&a), Some(&b)) => (a, b),
            (Some(&a), None) if a.base == v => (a, itself(v)),
            (None, Some(&b)) if b.base == u => (itself(u), b),
            _ => return None,
        };
        let exponent = a.exponent + b.exponent;
        // Other powers are no less work than products.
        if a.base != b.base || exponent >= 0.0 || exponent.fract() == 0.0 && exponent != -1.0 {
            return None;
        }
        let own = Start::Apply(Code::Mul, [a.pure, b.pure, a.pure, a.pure]);
        let factor = match (a.factor, b.factor) {
            (Some(c), Some(d)) => Some(self.fixed(Code::Mul, [c, d, c, c])),
            (c, d) => c.or(d),
        };
        let pure = self.pure_power(a.base, exponent, if factor.is_none() { start } else { own });
        let Some(c) = factor else { return Some(pure) };
        let node = self.node(start, Rule::Scale(Code::Mul, [c, pure, c]));
        self.powers.insert(node, Power { base: a.base, exponent, pure, factor });
        Some(node)
    }

    /// uᵃ for a number a.
    fn pure_power(&mut self, u: Node, exponent: f64, start: Start) -> Node {
        if exponent == -1.0 {
            let one = self.constant(1.0);
            let node = self.quotient(one, u);
            self.is_power(node, u, exponent);
            return node;
        }
        let a = self.constant(exponent);
        self.constant_power(u, a, start)
    }

    /// uᵃ for an exponent that does not change.
    pub(super) fn constant_power(&mut self, u: Node, exponent: Node, start: Start) -> Node {
        if let Some(&found) = self.powers_made.get(&(u, exponent)) {
            return found;
        }
        let (w, y) = (self.derivative(u), self.reserve());
        // y stays where it is if its terms are found before it.
        let inner = self.define(Start::Zero, Rule::Inner([w, y]), 2, ENDLESS);
        let one = self.constant(1.0);
        let (inverse, rise) =
            (self.fixed(Code::Div, [one, u, one, one]), self.fixed(Code::Add, [exponent, one, one, one]));
        let first = self.node(start, Rule::Constant);
        let slope = self.fixed(Code::Mul, [exponent, inverse, one, one]);
        let whole = self.fixed(Code::Mul, [slope, first, one, one]);
        self.set(y, start, Rule::Power([u, inner, inverse, whole, rise]));
        self.powers_made.insert((u, exponent), y);
        if let Some(a) = self.number(exponent) {
            self.is_power(y, u, a);
        }
        y
    }

    /// A product of series with another product added or subtracted, if that is a sine or a cosine.
    pub(super) fn turned(&mut self, code: Code, [u, v, c]: [Node; 3]) -> Option<Node> {
        let Rule::Product(Code::Mul, [p, q, _]) = self.tape.rules[c as usize] else { return None };
        match code {
            Code::MulAdd => self.sum_of_angles([u, v], [p, q], false),
            Code::NegMulAdd => self.sum_of_angles([u, v], [p, q], true),
            Code::MulSub => self.sum_of_angles([p, q], [u, v], true),
            _ => None,
        }
    }

    /// p·q + u·v, or p·q − u·v, if these are products of the sines and cosines of two angles.
    fn sum_of_angles(&mut self, [u, v]: [Node; 2], [p, q]: [Node; 2], minus: bool) -> Option<Node> {
        let [u, v, p, q] =
            [u, v, p, q].map(|node| self.angles.get(&node).copied().map(|angle| (node, angle)));
        let ([mut u, mut v], [mut p, mut q]) = ([u?, v?], [p?, q?]);
        // Order them by angle: a first.
        if u.1.0 > v.1.0 {
            (u, v) = (v, u);
        }
        if p.1.0 > q.1.0 {
            (p, q) = (q, p);
        }
        let (a, b) = (u.1.0, v.1.0);
        if a == b || [p.1.0, q.1.0] != [a, b] {
            return None;
        }
        // By whether each is a cosine.
        let (sine, flipped, difference) = match ([u.1.1, v.1.1], [p.1.1, q.1.1]) {
            ([false, false], [true, true]) => (false, false, !minus),
            ([true, true], [false, false]) => (false, minus, !minus),
            // cos a sin b + sin a cos b = sin(a + b), and sin a cos b − cos a sin b = sin(a − b)
            ([true, false], [false, true]) => (true, false, minus),
            ([false, true], [true, false]) => (true, minus, minus),
            _ => return None,
        };
        let [sin_a, cos_a] = self.pair(a, true);
        let [sin_b, cos_b] = self.pair(b, true);
        let cross = self.fixed(Code::Mul, [sin_a, cos_b, sin_a, sin_a]);
        let along = self.fixed(Code::Mul, [cos_a, cos_b, sin_a, sin_a]);
        let (angle, codes) = if difference {
            (self.sum(Code::Sub, a, b), [Code::NegMulAdd, Code::MulAdd])
        } else {
            (self.sum(Code::Add, a, b), [Code::MulAdd, Code::NegMulAdd])
        };
        let starts = [
            Start::Apply(codes[0], [cos_a, sin_b, cross, cross]),
            Start::Apply(codes[1], [sin_a, sin_b, along, along]),
        ];
        let [s, c] = self.pair_from(angle, true, starts);
        let node = if sine { s } else { c };
        Some(if flipped {
            self.node(Start::Apply(Code::Math(Op::Neg), [node; 4]), Rule::Neg(node))
        } else {
            node
        })
    }
}
