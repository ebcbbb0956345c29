//! The exponential and what is made of it.
//!
//! With k the integer nearest to x/ln 2 and r = x − k ln 2, eˣ = 2ᵏ eʳ and |r| ≤ ln(2)/2. ln 2 is split into two
//! doubles; with fused multiply-add the first difference is exact. The number k appears as the low bits of
//! x/ln 2 + 1.5·2⁵², from where it is shifted into the exponent.

use super::polynomial::polynomial;
use super::{LN_2_LOW, MAGIC};
use crate::arithmetic::Arithmetic;
use leastaction_expr::Op;
use std::f64::consts::{LN_2, LOG2_E};

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
struct Reduced<V> {
    r: V,
    k: V,
    /// A number whose last twelve bits are those of k + bias.
    biased: V,
}

#[inline(always)]
fn reduce<A: Arithmetic>(b: &mut A, x: A::Value, bias: u32) -> Reduced<A::Value> {
    let magic = MAGIC + f64::from(bias);
    let biased = b.mul_add(x, LOG2_E, magic);
    let k = b.sub(biased, magic);
    let r = b.neg_mul_add(k, LN_2, x);
    let r = b.neg_mul_add(k, LN_2_LOW, r);
    Reduced { r, k, biased }
}

/// eʳ − 1 for |r| ≤ ln(2)/2.
#[inline(always)]
fn small<A: Arithmetic>(b: &mut A, r: A::Value) -> A::Value {
    let p = polynomial(b, r, &EXPONENTIAL);
    let square = b.mul(r, r);
    b.mul_add(square, p, r)
}

/// eˣ. The argument is held where the result is neither 0 nor infinite for certain, and 2ᵏ is multiplied in two
/// parts, so that subnormal results are rounded and large ones overflow as they must. Within 1.1 ulp.
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

/// exp(x + low) for |x| < 708 and a much smaller `low`.
#[inline(always)]
pub(super) fn exp_of_sum<A: Arithmetic>(b: &mut A, x: A::Value, low: A::Value) -> A::Value {
    let biased = b.mul_add(x, LOG2_E, MAGIC);
    let k = b.sub(biased, MAGIC);
    let high = b.neg_mul_add(k, LN_2, x);
    let low = b.neg_mul_add(k, LN_2_LOW, low);
    let r = b.add(high, low);
    let p = small(b, r);
    let y = b.add(p, 1.0);
    let exponent = b.shift_left(biased, 52);
    b.add_int(y, exponent)
}

/// eˣ − 1 = 2ᵏ (eʳ − 1) + (2ᵏ − 1), where the sum cancels most for k = 1. There it matters what r lost to rounding.
/// Within 1.4 ulp.
#[inline(always)]
pub(super) fn expm1<A: Arithmetic>(b: &mut A, x: A::Value) -> A::Value {
    let held = b.max(-50.0, x);
    let magic = MAGIC + 1023.0;
    let biased = b.mul_add(held, LOG2_E, magic);
    let k = b.sub(biased, magic);
    let high = b.neg_mul_add(k, LN_2, held);
    let r = b.neg_mul_add(k, LN_2_LOW, high);
    let lost = b.sub(r, high);
    let lost = b.mul_add(k, LN_2_LOW, lost);
    // All that is added to r = −0 below is written to be −0 then: the square as 0 − r², the rest as 1 − 2ᵏ.
    let p = polynomial(b, r, &EXPONENTIAL.map(|c| -c));
    let square = b.neg_mul_add(r, r, 0.0);
    let low = b.mul_sub(square, p, lost);
    let scale = b.shift_left(biased, 52);
    let rest = b.sub(1.0, scale);
    let y = b.mul_sub(scale, r, rest);
    let y = b.mul_add(scale, low, y);
    b.repair(y, k, 1023.0, Op::Expm1, &[x])
}

/// 1/(1 + e⁻ˣ) = 1/((1 + 2ᵏ) + 2ᵏ (eʳ − 1)), corrected for the rounding of the denominator. Within 1.4 ulp.
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
    let low = b.sub(scale, below);
    let low = b.add(low, 1.0);
    let low = b.mul_add(scale, p, low);
    let y = b.div(1.0, below);
    let relative = b.mul(low, y);
    let y = b.neg_mul_add(relative, y, y);
    b.repair(y, k, 1022.0, Op::Logistic, &[x])
}

/// x = k ln 2 + r, and 2ᵏ⁻¹ ± 2⁻ᵏ⁻¹, of which hyperbolic sine and cosine are made.
struct Hyperbolic<V> {
    k: V,
    sum: V,
    /// 2⁻ᵏ⁻¹ − 2ᵏ⁻¹: turned, so that it is +0 and −0 stays −0 in the sine.
    difference: V,
    r: V,
    /// sinh r − r
    sine: V,
    /// cosh r − 1
    cosine: V,
}

#[inline(always)]
fn hyperbolic<A: Arithmetic>(b: &mut A, x: A::Value) -> Hyperbolic<A::Value> {
    let Reduced { r, k, biased } = reduce(b, x, 1022);
    let power = b.shift_left(biased, 52);
    let bits = b.bits(2044 << 52);
    let inverse = b.sub_int(bits, power);
    let sum = b.add(power, inverse);
    let difference = b.sub(inverse, power);

    let square = b.mul(r, r);
    let p = polynomial(b, square, &HYPERBOLIC_SINE);
    let cube = b.mul(r, square);
    let sine = b.mul(cube, p);
    let p = polynomial(b, square, &HYPERBOLIC_COSINE);
    let p = b.mul_add(square, p, 0.5);
    let cosine = b.mul(square, p);
    Hyperbolic { k, sum, difference, r, sine, cosine }
}

/// sinh x = (2ᵏ − 2⁻ᵏ)/2 cosh r + (2ᵏ + 2⁻ᵏ)/2 sinh r. Within 1.95 ulp, the most near k = 27, where the factors are
/// rounded.
#[inline(always)]
pub(super) fn sinh<A: Arithmetic>(b: &mut A, x: A::Value) -> A::Value {
    let Hyperbolic { k, sum, difference, r, sine, cosine } = hyperbolic(b, x);
    let high = b.mul_sub(sum, r, difference);
    let low = b.mul(sum, sine);
    let low = b.neg_mul_add(difference, cosine, low);
    let y = b.add(high, low);
    let size = b.abs(k);
    b.repair(y, size, 1021.0, Op::Sinh, &[x])
}

/// cosh x = (2ᵏ + 2⁻ᵏ)/2 cosh r + (2ᵏ − 2⁻ᵏ)/2 sinh r. Within 1.4 ulp.
#[inline(always)]
pub(super) fn cosh<A: Arithmetic>(b: &mut A, x: A::Value) -> A::Value {
    let size = b.abs(x);
    let Hyperbolic { k, sum, difference, r, sine, cosine } = hyperbolic(b, size);
    let low = b.mul(difference, sine);
    let low = b.mul_sub(sum, cosine, low);
    let low = b.neg_mul_add(difference, r, low);
    let y = b.add(sum, low);
    b.repair(y, k, 1021.0, Op::Cosh, &[x])
}

/// The hyperbolic tangent, E/(E + 2) with E = exp(2|x|) − 1, which is 2ᵏ (eʳ − 1) + (2ᵏ − 1). Everything is written
/// in u = r/2, so that nothing has to be doubled, and the low part of k ln 2 is added late, so that u is exact. The
/// quotient is corrected for the rounding of the denominator. Within 1.8 ulp.
#[inline(always)]
pub(super) fn tanh<A: Arithmetic>(b: &mut A, x: A::Value) -> A::Value {
    let size = b.abs(x);
    let held = b.min(20.0, size); // a NaN is kept, as the second argument
    let magic = MAGIC + 1024.0;
    let biased = b.mul_add(held, 2.0 * LOG2_E, magic);
    let k = b.sub(biased, magic);
    let u = b.neg_mul_add(k, 0.5 * LN_2, held);
    // exp(2u) − 1 = 2 (u + 2u² P(2u)), and the factor 2 is in the scale, which is 2ᵏ⁺¹.
    let mut factor = 1.0;
    let coefficients = EXPONENTIAL.map(|c| {
        factor *= 2.0;
        factor * c
    });
    let [first, rest @ ..] = &coefficients;
    let p = polynomial(b, u, rest);
    let p = b.mul_add(u, p, *first);
    let square = b.mul(u, u);
    let low = b.mul(k, -0.5 * LN_2_LOW);
    let low = b.mul_add(square, p, low);
    let scale = b.shift_left(biased, 52);
    let rest = b.mul_sub(scale, 0.5, 1.0);
    let e = b.mul_add(scale, u, rest);
    let e = b.mul_add(scale, low, e);
    let below = b.add(e, 2.0);
    let below_low = b.sub(2.0, below);
    let below_low = b.add(below_low, e);
    let inverse = b.div(1.0, below);
    let y = b.mul(e, inverse);
    let rest = b.neg_mul_add(y, below, e);
    let rest = b.neg_mul_add(y, below_low, rest);
    let y = b.mul_add(rest, inverse, y);
    b.flip_sign(y, x)
}
