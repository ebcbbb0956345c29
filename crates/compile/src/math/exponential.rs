//! The exponential and what is made of it.
//!
//! With k the integer nearest to x/ln 2 and r = x − k ln 2, eˣ = 2ᵏ eʳ and |r| ≤ ln(2)/2. ln 2 is split into two
//! doubles; with fused multiply-add the first difference is exact. The number k appears as the low bits of
//! x/ln 2 + 1.5·2⁵², from where it is shifted into the exponent.

use super::MAGIC;
use super::polynomial::polynomial;
use crate::arithmetic::Arithmetic;
use leastaction_expr::Op;
use std::f64::consts::{LN_2, LOG2_E};

/// ln 2 − [`LN_2`].
const LN_2_LOW: f64 = 2.3190468138462996e-17;

// sinh r = r + r^3 P(r^2), |r| <= ln(2)/2, relative: 2^-61.7
const HYPERBOLIC_SINE: [f64; 5] = [
    0.16666666666666677,
    0.008333333333321378,
    0.00019841269886857501,
    2.755724339278778e-06,
    2.5109346495018837e-08,
];

// cosh r = 1 + r^2/2 + r^4 P(r^2), |r| <= ln(2)/2, relative: 2^-57.4
const HYPERBOLIC_COSINE: [f64; 4] =
    [0.0416666666666037, 0.0013888888926904183, 2.4801508545893336e-05, 2.7625240735155107e-07];

/// eʳ = 1 + r + r² P(r): the two tables above, interleaved.
const EXPONENTIAL: [f64; 10] = {
    let (s, c) = (HYPERBOLIC_SINE, HYPERBOLIC_COSINE);
    [0.5, s[0], c[0], s[1], c[1], s[2], c[2], s[3], c[3], s[4]]
};

/// x = k ln 2 + r.
pub(super) struct Reduced<V> {
    pub(super) r: V,
    pub(super) k: V,
    /// A number whose last twelve bits are those of k + bias.
    pub(super) biased: V,
}

#[inline(always)]
pub(super) fn reduce<A: Arithmetic>(b: &mut A, x: A::Value, bias: u32) -> Reduced<A::Value> {
    let magic = MAGIC + f64::from(bias);
    let biased = b.mul_add(x, LOG2_E, magic);
    let k = b.sub(biased, magic);
    let r = b.neg_mul_add(k, LN_2, x);
    let r = b.neg_mul_add(k, LN_2_LOW, r);
    Reduced { r, k, biased }
}

/// eʳ − 1 for |r| ≤ ln(2)/2, with `low` added to r where it does not matter how.
#[inline(always)]
pub(super) fn small<A: Arithmetic>(b: &mut A, r: A::Value) -> A::Value {
    let p = polynomial(b, r, &EXPONENTIAL);
    let square = b.mul(r, r);
    b.mul_add(square, p, r)
}

/// eˣ. The argument is held where the result is neither 0 nor infinite for certain, and 2ᵏ is multiplied in two parts, so that
/// subnormal results are rounded and large ones overflow as they must. Measured: 0.99 ulp.
#[inline(always)]
pub(super) fn exp<A: Arithmetic>(b: &mut A, x: A::Value) -> A::Value {
    let x = b.min(710.0, x); // a NaN is kept, as the second argument
    let x = b.max(-746.0, x);
    let Reduced { r, biased, .. } = reduce(b, x, 2046);
    let p = small(b, r);
    let half = b.shift_right(biased, 1);
    let other = b.sub_int(biased, half);
    let [scale, other] = [half, other].map(|k| b.shift_left(k, 52));
    let y = b.mul_add(p, scale, scale);
    b.mul(y, other)
}

/// eˣ − 1 = 2ᵏ (eʳ − 1) + (2ᵏ − 1).
#[inline(always)]
pub(super) fn expm1<A: Arithmetic>(b: &mut A, x: A::Value) -> A::Value {
    let held = b.max(-50.0, x);
    let Reduced { r, k, biased } = reduce(b, held, 1023);
    let p = small_signed(b, r);
    let scale = b.shift_left(biased, 52);
    let rest = b.sub(1.0, scale);
    // Written so that −0 stays −0: the rest is +0 then, and is taken away.
    let y = b.mul_sub(scale, p, rest);
    b.repair(y, k, 1023.0, Op::Expm1, &[x])
}

/// eʳ − 1 for |r| ≤ ln(2)/2, where −0 stays −0: the square enters as −r² + 0, which is +0 then.
#[inline(always)]
fn small_signed<A: Arithmetic>(b: &mut A, r: A::Value) -> A::Value {
    let p = polynomial(b, r, &EXPONENTIAL.map(|c| -c));
    let square = b.neg_mul_add(r, r, 0.0);
    b.mul_add(square, p, r)
}

/// 1/(1 + e⁻ˣ) = 1/((1 + 2ᵏ) + 2ᵏ (eʳ − 1)).
#[inline(always)]
pub(super) fn logistic<A: Arithmetic>(b: &mut A, x: A::Value) -> A::Value {
    let held = b.min(50.0, x);
    let magic = MAGIC + 1023.0;
    let biased = b.neg_mul_add(held, LOG2_E, magic);
    let k = b.sub(biased, magic);
    let r = b.neg_mul_sub(k, LN_2, held);
    let r = b.neg_mul_add(k, LN_2_LOW, r);
    let p = small(b, r);
    let scale = b.shift_left(biased, 52);
    let whole = b.add(scale, 1.0);
    let below = b.mul_add(scale, p, whole);
    let y = b.div(1.0, below);
    b.repair(y, k, 1023.0, Op::Logistic, &[x])
}

/// The hyperbolic tangent, (1 − e)/(1 + e) with e = exp(−2|x|): for D = 1 − e it is D/(2 − D), and D keeps its relative
/// accuracy near 0. Everything is written in u = |x| + k ln(2)/2, so that nothing has to be doubled.
#[inline(always)]
pub(super) fn tanh<A: Arithmetic>(b: &mut A, x: A::Value) -> A::Value {
    let size = b.abs(x);
    let held = b.min(20.0, size);
    let magic = MAGIC + 1023.0;
    let biased = b.neg_mul_add(held, 2.0 * LOG2_E, magic);
    let k = b.sub(biased, magic);
    let u = b.mul_add(k, 0.5 * LN_2, held);
    let u = b.mul_add(k, 0.5 * LN_2_LOW, u);
    // 1 − exp(−2u) = 2u − 4u² P(−2u)
    let mut factor = 4.0;
    let p = polynomial(
        b,
        u,
        &EXPONENTIAL.map(|c| {
            let scaled = factor * c;
            factor *= -2.0;
            scaled
        }),
    );
    let square = b.mul(u, u);
    let double = b.add(u, u);
    let p = b.neg_mul_add(square, p, double);
    let scale = b.shift_left(biased, 52);
    let rest = b.sub(1.0, scale);
    let d = b.mul_add(scale, p, rest);
    let below = b.sub(2.0, d);
    let y = b.div(d, below);
    let sign = b.xor(x, size);
    b.xor(y, sign)
}
