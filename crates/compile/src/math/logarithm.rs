//! Logarithms.
//!
//! A positive x is 2ᵏ m with √½ ≤ m < √2. With f = m − 1 and s = f/(2 + f), ln m = 2 atanh s = 2s + s³P(s²); the
//! leading part is written f − f²/2 + s·f²/2, which is exact enough where f is small.

use super::LN_2_LOW;
use super::polynomial::polynomial;
use crate::arithmetic::Arithmetic;
use leastaction_expr::Op;
use std::f64::consts::{FRAC_1_SQRT_2, LN_2};

// 2 atanh s = 2 s + s^3 P(s^2), |s| <= 3 - sqrt(8), relative: 2^-59.5
const LOGARITHM: [f64; 7] = [
    0.6666666666666734,
    0.39999999999417035,
    0.2857142874189471,
    0.2222219862152726,
    0.18183561903674506,
    0.15314110636347417,
    0.14795364714339643,
];

/// Added to k to make it positive. It is 2 too small for the smallest numbers, so that the sum wraps around to a
/// large k for zero, subnormal and negative numbers.
const BIAS: u64 = 1021;

/// The largest k of [`split`] for a number that it splits.
pub(super) const LARGEST: f64 = 1023.0;

/// x = 2ᵏ m.
pub(super) struct Split<V> {
    /// √½ ≤ m < √2.
    pub(super) m: V,
    /// The exponent as a number; above [`LARGEST`] if x is not a positive normal number, or close to either end of
    /// them.
    pub(super) k: V,
    /// The bits of k + [`BIAS`].
    biased: V,
}

#[inline(always)]
pub(super) fn split<A: Arithmetic>(b: &mut A, x: A::Value) -> Split<A::Value> {
    let lowest = FRAC_1_SQRT_2.to_bits();
    let offset = b.bits(lowest - (BIAS << 52));
    let from_lowest = b.sub_int(x, offset);
    let biased = b.shift_right(from_lowest, 52);
    let two_52 = (1u64 << 52) as f64;
    let k = b.or(biased, two_52);
    let k = b.sub(k, two_52 + BIAS as f64);
    let mask = b.bits((1 << 52) - 1);
    let m = b.and(from_lowest, mask);
    let m = b.add_int(m, FRAC_1_SQRT_2);
    Split { m, k, biased }
}

/// k ln 2 + ln(1 + f) for √½ ≤ 1 + f < √2.
#[inline(always)]
fn assemble<A: Arithmetic>(b: &mut A, f: A::Value, k: A::Value) -> A::Value {
    let below = b.add(f, 2.0);
    let s = b.div(f, below);
    let square = b.mul(s, s);
    let p = polynomial(b, square, &LOGARITHM);
    let half = b.mul(f, 0.5);
    let half_square = b.mul(half, f);
    let sum = b.mul_add(square, p, half_square);
    let low = b.mul(k, LN_2_LOW);
    let low = b.mul_add(s, sum, low);
    let low = b.mul_sub(half, f, low);
    let ln = b.sub(f, low);
    b.mul_add(k, LN_2, ln)
}

/// ln x. Within 0.8 ulp.
#[inline(always)]
pub(super) fn ln<A: Arithmetic>(b: &mut A, x: A::Value) -> A::Value {
    let Split { m, k, .. } = split(b, x);
    let f = b.sub(m, 1.0);
    let y = assemble(b, f, k);
    b.repair(y, k, LARGEST, Op::Ln, &[x])
}

/// ln(1 + x). What the sum u = 1 + x lost is added to the mantissa of u: exactly, if k = 0. Within 1.4 ulp.
#[inline(always)]
pub(super) fn ln1p<A: Arithmetic>(b: &mut A, x: A::Value) -> A::Value {
    let sum = b.add(x, 1.0);
    let Split { m, k, biased } = split(b, sum);
    let kept = b.sub(sum, 1.0);
    let lost = b.sub(x, kept);
    let bits = b.bits(1023 + BIAS);
    let scale = b.sub_int(bits, biased);
    let scale = b.shift_left(scale, 52); // 2⁻ᵏ
    let f = b.sub(m, 1.0);
    let f = b.mul_add(lost, scale, f);
    let y = assemble(b, f, k);
    let sign = b.and(x, -0.0);
    let y = b.or(y, sign); // −0 stays −0
    b.repair(y, k, LARGEST, Op::Ln1p, &[x])
}
