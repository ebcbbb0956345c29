//! The recurrences, on whatever stands for a number: instructions for unrolled code, lanes for compact code. Both do the
//! same operations in the same order, so they agree to the last bit.
//!
//! A convolution Σ uⱼ vₖ₋ⱼ is split. Its inner terms, 0 < j < k, are known before anything of order k is, and are summed
//! beforehand; from the middle outwards, so that the coefficients found last are needed last. What is left, [`finish`],
//! is short: it is what order k waits for.

use super::tape::{Node, Rule, Tape};
use crate::arithmetic::Arithmetic;
use crate::instruction::Code;

/// What no recurrence is asked for.
const ZERO_BY_FORM: &str = "a coefficient without terms is zero by its form";

/// The coefficients that are known.
pub(super) trait Table<A: Arithmetic> {
    /// A coefficient that is not zero by its form.
    fn get(&self, node: Node, order: usize) -> A::Value;
}

/// A convolution Σ uⱼ vₖ₋ⱼ.
#[derive(Clone, Copy)]
pub(super) struct Convolution {
    pub(super) u: Node,
    pub(super) v: Node,
    pub(super) shape: Shape,
}

/// Which terms a convolution has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Shape {
    /// Whether u and v are the same, so that half of the terms is enough.
    halves: bool,
    /// The first and the last order of u and of v that can be nonzero.
    spans: [(usize, usize); 2],
}

/// The convolution in a series' rule.
pub(super) fn convolution(tape: &Tape, node: Node) -> Option<Convolution> {
    let (u, v, halves) = match tape.rules[node as usize] {
        Rule::Product(_, [u, v, _]) => (u, v, false),
        Rule::Square(_, [u, _]) => (u, u, true),
        Rule::Quotient { arguments: [_, d, ..], .. } => (d, node, false),
        Rule::Root(_) => (node, node, true),
        Rule::Power([u, ..]) => (u, node, false),
        Rule::Inner([u, v]) => (u, v, false),
        _ => return None,
    };
    Some(Convolution { u, v, shape: Shape { halves, spans: [tape.span(u), tape.span(v)] } })
}

/// What is done with a term of a convolution. A trait rather than a closure, which might stay a function of its own,
/// without the instruction set of the loop around it.
pub(super) trait Visit {
    /// The term uⱼ vᵢ.
    fn term(&mut self, j: usize, i: usize);
}

impl<F: FnMut(usize, usize)> Visit for F {
    #[inline(always)]
    fn term(&mut self, j: usize, i: usize) {
        self(j, i);
    }
}

/// Visits the inner terms of a convolution at an order: j and i = k − j.
#[inline(always)]
pub(super) fn inner(shape: Shape, k: usize, visit: &mut impl Visit) {
    let Shape { halves, spans: [(first_u, last_u), (first_v, last_v)] } = shape;
    let (low, high) = (first_u.max(k.saturating_sub(last_v)), last_u.min(k.saturating_sub(first_v)));
    if halves {
        // Of a square, each pair of equal terms once.
        for j in (low.max(1)..k.div_ceil(2)).rev() {
            visit.term(j, k - j);
        }
    } else if low <= 1 && high + 1 >= k {
        if k.is_multiple_of(2) {
            visit.term(k / 2, k / 2);
        }
        for j in (1..k.div_ceil(2)).rev() {
            visit.term(j, k - j);
            visit.term(k - j, j);
        }
    } else {
        for j in low.max(1)..=high.min(k - 1) {
            visit.term(j, k - j);
        }
    }
}

/// A term more for a sum that may be empty yet.
#[inline(always)]
pub(super) fn more<A: Arithmetic>(a: &mut A, sum: Option<A::Value>, u: A::Value, v: A::Value) -> A::Value {
    match sum {
        Some(sum) => a.mul_add(u, v, sum),
        None => a.mul(u, v),
    }
}

/// The coefficient of a series at order k ≥ 1, which is not zero by its form, from the sum of the inner terms.
#[inline(always)]
pub(super) fn finish<A: Arithmetic, T: Table<A>>(
    a: &mut A,
    tape: &Tape,
    table: &T,
    node: Node,
    k: usize,
    inner: Option<A::Value>,
) -> A::Value {
    match tape.rules[node as usize] {
        Rule::Constant | Rule::Time => a.constant(1.0),
        Rule::State(i) => {
            let rate = table.get(tape.rates[i as usize], k - 1);
            over(a, rate, k)
        }
        Rule::Rate(i) => table.get(tape.rates[i as usize], k - 1),
        Rule::Derivative(u) => {
            let value = table.get(u, k);
            if k == 1 { value } else { a.mul(value, k as f64) }
        }
        Rule::Integral(z) => {
            let value = table.get(z, k);
            over(a, value, k)
        }
        Rule::Same(u) => table.get(u, k),
        Rule::Neg(u) => {
            let value = table.get(u, k);
            a.neg(value)
        }
        Rule::Sum(code, [u, v]) => match (tape.has(u, k), tape.has(v, k)) {
            (true, true) => {
                let (u, v) = (table.get(u, k), table.get(v, k));
                if code == Code::Add { a.add(u, v) } else { a.sub(u, v) }
            }
            (true, false) => table.get(u, k),
            (false, _) => {
                let v = table.get(v, k);
                if code == Code::Add { v } else { a.neg(v) }
            }
        },
        Rule::Scale(code, [u, v, c]) => {
            let third = third(tape, table, code, c, k);
            match (tape.has(v, k), third) {
                (true, third) => fused(a, code, table.get(u, 0), table.get(v, k), third, None),
                (false, Some(c)) => alone(a, code, c),
                (false, None) => unreachable!("{ZERO_BY_FORM}"),
            }
        }
        Rule::Product(code, [u, v, c]) => {
            let mut sum = inner;
            if tape.has(u, k) && tape.has(v, 0) {
                sum = Some(more(a, sum, table.get(u, k), table.get(v, 0)));
            }
            let third = third(tape, table, code, c, k);
            if tape.has(v, k) && tape.has(u, 0) {
                return fused(a, code, table.get(u, 0), table.get(v, k), third, sum);
            }
            match (sum, third) {
                (Some(sum), third) => joined(a, code, sum, third),
                (None, Some(c)) => alone(a, code, c),
                (None, None) => unreachable!("{ZERO_BY_FORM}"),
            }
        }
        Rule::Square(code, [u, c]) => {
            let third = third(tape, table, code, c, k);
            let mut sum = inner;
            if tape.has(u, k) && tape.has(u, 0) {
                sum = Some(more(a, sum, table.get(u, 0), table.get(u, k)));
            }
            match (doubled(a, tape, table, u, k, sum), third) {
                (Some(square), third) => joined(a, code, square, third),
                (None, Some(c)) => alone(a, code, c),
                (None, None) => unreachable!("{ZERO_BY_FORM}"),
            }
        }
        Rule::Quotient { arguments: [n, d, inverse, whole], numerator_last } => {
            // zₖ = nₖ/d₀ − (Σ dⱼ zₖ₋ⱼ)/d₀ − dₖ z₀/d₀
            let inverse = table.get(inverse, 0);
            let mut rest = inner.map(|sum| a.mul(sum, inverse));
            let last = (tape.has(d, k) && tape.has(node, 0)).then(|| (table.get(d, k), table.get(whole, 0)));
            let numerator = tape.has(n, k).then(|| table.get(n, k));
            if let (true, Some((d, whole))) = (numerator_last || numerator.is_none(), last) {
                rest = Some(more(a, rest, d, whole));
            }
            let value = match (numerator, rest) {
                (Some(n), Some(rest)) => a.mul_sub(n, inverse, rest),
                (Some(n), None) => a.mul(n, inverse),
                (None, Some(rest)) => a.neg(rest),
                (None, None) => a.constant(0.0),
            };
            match last {
                Some((d, whole)) if !numerator_last && numerator.is_some() => a.neg_mul_add(d, whole, value),
                _ => value,
            }
        }
        Rule::Root([u, slope]) => {
            let slope = table.get(slope, 0);
            let rest = doubled(a, tape, table, node, k, inner).map(|sum| a.mul(sum, slope));
            match (tape.has(u, k).then(|| table.get(u, k)), rest) {
                (Some(u), Some(rest)) => a.mul_sub(u, slope, rest),
                (Some(u), None) => a.mul(u, slope),
                (None, Some(rest)) => a.neg(rest),
                (None, None) => a.constant(0.0),
            }
        }
        Rule::Inner(_) => match inner {
            Some(sum) => sum,
            None => unreachable!("{ZERO_BY_FORM}"),
        },
        Rule::Power([u, other, inverse, whole, rise]) => {
            // yₖ = uₖ a y₀/u₀ + ((a + 1)/k Σ j uⱼ yₖ₋ⱼ − Σ uⱼ yₖ₋ⱼ)/u₀
            let other = tape.has(other, k).then(|| table.get(other, k));
            let rest = match (other, inner) {
                (Some(other), Some(inner)) => {
                    let other = over(a, other, k);
                    let rest = a.mul_sub(other, table.get(rise, 0), inner);
                    Some(a.mul(rest, table.get(inverse, 0)))
                }
                _ => None, // at order 1 there is neither
            };
            match (tape.has(u, k), rest) {
                (true, Some(rest)) => a.mul_add(table.get(u, k), table.get(whole, 0), rest),
                (true, None) => a.mul(table.get(u, k), table.get(whole, 0)),
                (false, Some(rest)) => rest,
                (false, None) => a.constant(0.0),
            }
        }
        Rule::Choose(test, [p, q, yes, no]) => {
            let [yes, no] = [yes, no].map(|u| if tape.has(u, k) { table.get(u, k) } else { a.constant(0.0) });
            a.select(test, table.get(p, 0), table.get(q, 0), yes, no)
        }
        Rule::ChooseSign([sign, yes, no]) => {
            let [yes, no] = [yes, no].map(|u| if tape.has(u, k) { table.get(u, k) } else { a.constant(0.0) });
            a.select_sign(table.get(sign, 0), yes, no)
        }
        Rule::Flip([u, sign]) => a.flip_sign(table.get(u, k), table.get(sign, 0)),
    }
}

/// A value over k.
#[inline(always)]
fn over<A: Arithmetic>(a: &mut A, value: A::Value, k: usize) -> A::Value {
    if k == 1 { value } else { a.mul(value, 1.0 / k as f64) }
}

/// The third argument of a fused product, if it has this order.
#[inline(always)]
fn third<A: Arithmetic, T: Table<A>>(
    tape: &Tape,
    table: &T,
    code: Code,
    c: Node,
    k: usize,
) -> Option<A::Value> {
    (code != Code::Mul && tape.has(c, k)).then(|| table.get(c, k))
}

/// A fused product whose product is zero.
#[inline(always)]
fn alone<A: Arithmetic>(a: &mut A, code: Code, c: A::Value) -> A::Value {
    match code {
        Code::MulSub | Code::NegMulSub => a.neg(c),
        _ => c,
    }
}

/// A fused product whose product is known.
#[inline(always)]
fn joined<A: Arithmetic>(a: &mut A, code: Code, product: A::Value, c: Option<A::Value>) -> A::Value {
    match (code, c) {
        (Code::MulAdd, Some(c)) => a.add(product, c),
        (Code::MulSub, Some(c)) => a.sub(product, c),
        (Code::NegMulAdd, Some(c)) => a.sub(c, product),
        (Code::NegMulSub, Some(c)) => {
            let sum = a.add(product, c);
            a.neg(sum)
        }
        (Code::NegMulAdd | Code::NegMulSub, None) => a.neg(product),
        _ => product,
    }
}

/// A fused product of u·v + sum and c.
#[inline(always)]
fn fused<A: Arithmetic>(
    a: &mut A,
    code: Code,
    u: A::Value,
    v: A::Value,
    c: Option<A::Value>,
    sum: Option<A::Value>,
) -> A::Value {
    match code {
        Code::NegMulAdd => match (c, sum) {
            (Some(c), Some(sum)) => {
                let rest = a.sub(c, sum);
                a.neg_mul_add(u, v, rest)
            }
            (Some(c), None) => a.neg_mul_add(u, v, c),
            (None, Some(sum)) => a.neg_mul_sub(u, v, sum),
            (None, None) => a.neg_mul_sub(u, v, 0.0),
        },
        Code::NegMulSub => match (c, sum) {
            (Some(c), Some(sum)) => {
                let rest = a.add(c, sum);
                a.neg_mul_sub(u, v, rest)
            }
            (Some(rest), None) | (None, Some(rest)) => a.neg_mul_sub(u, v, rest),
            (None, None) => a.neg_mul_sub(u, v, 0.0),
        },
        Code::MulSub => match (c, sum) {
            (Some(c), Some(sum)) => {
                let rest = a.sub(sum, c);
                a.mul_add(u, v, rest)
            }
            (Some(c), None) => a.mul_sub(u, v, c),
            (None, sum) => more(a, sum, u, v),
        },
        _ => match (c, sum) {
            (Some(c), Some(sum)) => {
                let rest = a.add(c, sum);
                a.mul_add(u, v, rest)
            }
            (Some(rest), None) | (None, Some(rest)) => a.mul_add(u, v, rest),
            (None, None) => a.mul(u, v),
        },
    }
}

/// 2 Σ + u²ₖ⸝₂: a square from half of its terms.
#[inline(always)]
fn doubled<A: Arithmetic, T: Table<A>>(
    a: &mut A,
    tape: &Tape,
    table: &T,
    u: Node,
    k: usize,
    half: Option<A::Value>,
) -> Option<A::Value> {
    let middle = (k.is_multiple_of(2) && tape.has(u, k / 2)).then(|| table.get(u, k / 2));
    let square = middle.map(|u| a.mul(u, u));
    match (half, square) {
        (Some(half), Some(square)) => Some(a.mul_add(half, 2.0, square)),
        (Some(half), None) => Some(a.add(half, half)),
        (None, square) => square,
    }
}
