//! Polynomials, evaluated with short chains of dependent instructions.

use crate::arithmetic::Arithmetic;

/// The polynomial `c[0] + c[1] x + c[2] x² + …` of at most 24 terms.
///
/// Neighbours are joined, then neighbouring pairs, and so on (Estrin's scheme), until at most three terms are left
/// for Horner's rule: as short a chain as Estrin's, with one squaring less. Written without loops, so that in the
/// interpreter nothing stands in the way of vectorising over lanes.
#[inline(always)]
pub(super) fn polynomial<A: Arithmetic, const N: usize>(
    a: &mut A,
    x: A::Value,
    coefficients: &[f64; N],
) -> A::Value {
    const { assert!(N <= 24) };
    if N <= 6 {
        let x2 = a.mul(x, x);
        return horner(a, x2, coefficients, 2, |a, terms| pair(a, x, terms));
    }
    let x2 = a.mul(x, x);
    let x4 = a.mul(x2, x2);
    if N <= 12 {
        return horner(a, x4, coefficients, 4, |a, terms| quad(a, x, x2, terms));
    }
    let x8 = a.mul(x4, x4);
    horner(a, x8, coefficients, 8, |a, terms| octet(a, x, x2, x4, terms))
}

/// Joins at most three blocks of terms.
#[inline(always)]
fn horner<A: Arithmetic>(
    a: &mut A,
    power: A::Value,
    terms: &[f64],
    size: usize,
    block: impl Fn(&mut A, &[f64]) -> A::Value,
) -> A::Value {
    if terms.len() <= size {
        return block(a, terms);
    }
    let (first, rest) = terms.split_at(size);
    let first = block(a, first);
    let rest = if rest.len() <= size {
        block(a, rest)
    } else {
        let (second, third) = rest.split_at(size);
        let (second, third) = (block(a, second), block(a, third));
        a.mul_add(third, power, second)
    };
    a.mul_add(rest, power, first)
}

#[inline(always)]
fn pair<A: Arithmetic>(a: &mut A, x: A::Value, terms: &[f64]) -> A::Value {
    match *terms {
        [first, second, ..] => a.mul_add(second, x, first),
        [first] => a.constant(first),
        [] => a.constant(0.0),
    }
}

#[inline(always)]
fn quad<A: Arithmetic>(a: &mut A, x: A::Value, x2: A::Value, terms: &[f64]) -> A::Value {
    if terms.len() <= 2 {
        return pair(a, x, terms);
    }
    let (low, high) = terms.split_at(2);
    let (low, high) = (pair(a, x, low), pair(a, x, high));
    a.mul_add(high, x2, low)
}

#[inline(always)]
fn octet<A: Arithmetic>(a: &mut A, x: A::Value, x2: A::Value, x4: A::Value, terms: &[f64]) -> A::Value {
    if terms.len() <= 4 {
        return quad(a, x, x2, terms);
    }
    let (low, high) = terms.split_at(4);
    let (low, high) = (quad(a, x, x2, low), quad(a, x, x2, high));
    a.mul_add(high, x4, low)
}
