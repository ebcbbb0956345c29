//! The general power.

use super::polynomial::polynomial;
use super::{exponential, logarithm};
use crate::arithmetic::Arithmetic;
use leastaction_expr::Op;

/// 1/3 − the double next to it.
const THIRD_LOW: f64 = 1.850371707708594e-17;

/// ln 2 in 42 bits, so that its products with exponents are exact, and the rest.
const LN_2_HIGH: f64 = 0.6931471805598903;
const LN_2_LOW: f64 = 5.497923018708371e-14;

// 2 atanh s = 2 s + 2/3 s^3 + s^5 P(s^2), |s| <= 3 - sqrt(8), relative: 2^-73.3
const LOGARITHM_TAIL: [f64; 8] = [
    0.3999999999999998,
    0.28571428571443835,
    0.22222222217783433,
    0.18181818845936032,
    0.15384558223511116,
    0.1333627459693436,
    0.11675543604628173,
    0.11983898552572078,
];

/// xʸ = exp(y ln x) for positive x, with ln x as a sum of two doubles. All that is out of the ordinary is left to
/// the table. Within 1.4 ulp.
#[inline(always)]
pub(super) fn power<A: Arithmetic>(b: &mut A, x: A::Value, y: A::Value) -> A::Value {
    let logarithm::Split { m, k, .. } = logarithm::split(b, x);
    let (high, low) = logarithm(b, m, k);

    let product = b.mul(y, high);
    let low_product = b.mul_sub(y, high, product);
    let low_product = b.mul_add(y, low, low_product);

    let value = exponential::exp_of_sum(b, product, low_product);
    let size = b.abs(product);
    let value = b.repair(value, size, 708.0, Op::Pow, &[x, y]);
    b.repair(value, k, logarithm::LARGEST, Op::Pow, &[x, y])
}

/// k ln 2 + ln m as a sum of two doubles, with about 65 bits: ln m = 2s (1 + s²/3 + s⁴P(s²)/2) for s = (m − 1)/(m +
/// 1), where the quotient and the second term have low parts.
#[inline(always)]
fn logarithm<A: Arithmetic>(b: &mut A, m: A::Value, k: A::Value) -> (A::Value, A::Value) {
    let above = b.sub(m, 1.0);
    let below = b.add(m, 1.0);
    let below_low = b.sub(below, 1.0);
    let below_low = b.sub(m, below_low);
    let inverse = b.div(1.0, below);
    let s = b.mul(above, inverse);
    let rest = b.neg_mul_add(s, below, above);
    let rest = b.neg_mul_add(s, below_low, rest);
    let two_s = b.add(s, s);
    let rest = b.add(rest, rest);
    let two_s_low = b.mul(rest, inverse);

    let square = b.mul(s, s);
    let square_low = b.mul_sub(s, s, square);
    let square_low = b.mul_add(s, two_s_low, square_low);

    // s²/3 + s⁴P/2
    let third = b.mul(square, 1.0 / 3.0);
    let third_low = b.mul_sub(square, 1.0 / 3.0, third);
    let third_low = b.mul_add(square, THIRD_LOW, third_low);
    let third_low = b.mul_add(square_low, 1.0 / 3.0, third_low);
    let p = polynomial(b, square, &LOGARITHM_TAIL.map(|c| 0.5 * c));
    let fourth = b.mul(square, square);
    let w = b.mul_add(fourth, p, third);
    let w_low = b.sub(third, w);
    let w_low = b.mul_add(fourth, p, w_low);
    let w_low = b.add(w_low, third_low);

    // 2s + 2s w
    let high = b.mul_add(two_s, w, two_s);
    let low = b.sub(two_s, high);
    let low = b.mul_add(two_s, w, low);
    let low = b.mul_add(two_s, w_low, low);
    let tail = b.mul_add(two_s_low, w, two_s_low);
    let low = b.add(low, tail);

    let sum = b.mul_add(k, LN_2_HIGH, high);
    let sum_low = b.mul_sub(k, LN_2_HIGH, sum);
    let sum_low = b.add(sum_low, high);
    let low = b.mul_add(k, LN_2_LOW, low);
    (sum, b.add(sum_low, low))
}
