//! Sine, cosine and tangent.
//!
//! The argument is reduced by the nearest multiple k of π/2 or of π, with three constants (Cody and Waite,
//! *Software Manual for the Elementary Functions*, 1980). π/2 is split into 53 + 28 + 53 bits. With fused
//! multiply-add the first difference x − k·P₁ is exact, because it is a multiple of an ulp of P₁ and below 1; the
//! products k·P₂ are exact for k < 2²⁵. The sum of the three is π/2 to 2⁻¹³⁵, so the reduced argument keeps its
//! relative accuracy where x is a double closest to a zero. Beyond |x| = 2²⁴ the table's `value` takes over.

use super::MAGIC;
use super::polynomial::polynomial;
use crate::arithmetic::Arithmetic;
use leastaction_expr::Op;
use std::f64::consts::{FRAC_1_PI, FRAC_2_PI, FRAC_PI_2};

/// π/2 − [`FRAC_PI_2`] to 28 bits.
const MIDDLE: f64 = 6.123233973412625e-17;
/// π/2 − [`FRAC_PI_2`] − [`MIDDLE`]; positive, as the others, so that −0 stays −0 in the reduction.
const LOW: f64 = 2.232414100745812e-25;

/// The largest |x| that is reduced here.
const LIMIT: f64 = (1 << 24) as f64;

// sin r = r - r^3 P(r^2), |r| <= pi/4, relative: 2^-57.9
const SINE: [f64; 6] = [
    0.1666666666666663,
    -0.008333333333321842,
    0.00019841269829361217,
    -2.7557313539908747e-06,
    2.5050734686003945e-08,
    -1.5895455574260261e-10,
];

// cos r = 1 - r^2/2 + r^4 P(r^2), |r| <= pi/4, relative: 2^-60.1
const COSINE: [f64; 6] = [
    0.041666666666666595,
    -0.0013888888888873342,
    2.48015872890022e-05,
    -2.7557314217114914e-07,
    2.0875703061116196e-09,
    -1.1358351626726671e-11,
];

// sin r = r - r^3 P(r^2), |r| <= pi/2, relative: 2^-61.1
const SINE_HALF_TURN: [f64; 8] = [
    0.16666666666666666,
    -0.008333333333333207,
    0.0001984126984121136,
    -2.7557319211179296e-06,
    2.505210685278209e-08,
    -1.6058937728964707e-10,
    7.642919316037452e-13,
    -2.72023337823051e-15,
];

/// x = k·π/2 + r − k·[`LOW`], nearly: r is rounded.
struct Reduced<V> {
    /// A number whose last two bits are those of k.
    turns: V,
    k: V,
    /// x − k·[`FRAC_PI_2`], exactly.
    high: V,
    /// The remainder, |r| ≤ π/4.
    r: V,
}

#[inline(always)]
fn reduce<A: Arithmetic>(b: &mut A, x: A::Value) -> Reduced<A::Value> {
    let turns = b.mul_add(x, FRAC_2_PI, MAGIC);
    let k = b.sub(turns, MAGIC);
    let high = b.neg_mul_add(k, FRAC_PI_2, x);
    let r = b.neg_mul_add(k, MIDDLE, high);
    Reduced { turns, k, high, r }
}

/// (cos r − 1)/r².
#[inline(always)]
fn cosine<A: Arithmetic>(b: &mut A, square: A::Value) -> A::Value {
    let p = polynomial(b, square, &COSINE);
    b.mul_add(square, p, -0.5)
}

/// The sine and the cosine of one argument, which share nearly all of their work: sin r and cos r for the rest r of
/// the quadrant, exchanged and signed as the quadrant says. Within 1.8 ulp; the cosine of 0 is 1.
#[inline(always)]
pub(crate) fn sine_and_cosine<A: Arithmetic>(b: &mut A, x: A::Value) -> (A::Value, A::Value) {
    let Reduced { turns, k, r, .. } = reduce(b, x);
    // Where r is not small, this last term is far below its ulp; where r is small, the difference before was exact.
    let r = b.neg_mul_add(k, LOW, r);
    let square = b.mul(r, r);
    let p = polynomial(b, square, &SINE);
    let cube = signless_cube(b, r, square);
    let s = b.neg_mul_add(cube, p, r);
    let w = cosine(b, square);
    let c = b.mul_add(square, w, 1.0);

    let odd = b.shift_left(turns, 63);
    let s = b.xor(s, odd); // cos(r + π/2) = −sin r
    let second_half = b.shift_left(turns, 62);
    let [s, c] = [(c, s), (s, c)].map(|(if_odd, if_even)| {
        let chosen = b.select_sign(odd, if_odd, if_even);
        b.flip_sign(chosen, second_half)
    });
    let size = b.abs(x);
    (b.repair(s, size, LIMIT, Op::Sin, &[x]), b.repair(c, size, LIMIT, Op::Cos, &[x]))
}

/// r³, but +0 for −0: taken from r, it then leaves the sign of zero.
#[inline(always)]
fn signless_cube<A: Arithmetic>(b: &mut A, r: A::Value, square: A::Value) -> A::Value {
    b.mul_add(r, square, 0.0)
}

/// The sine alone, by one polynomial on a half turn: sin x = (−1)ᵏ sin(x − kπ). Within 1.7 ulp.
///
/// A cosine alone would need the sine of π/2 − x, which rounds cos 0 to less than 1; it is computed by quadrants
/// instead.
#[inline(always)]
pub(super) fn sine_alone<A: Arithmetic>(b: &mut A, x: A::Value) -> A::Value {
    let turns = b.mul_add(x, FRAC_1_PI, MAGIC);
    let k = b.sub(turns, MAGIC);
    let r = b.neg_mul_add(k, 2.0 * FRAC_PI_2, x);
    let r = b.neg_mul_add(k, 2.0 * MIDDLE, r);
    let r = b.neg_mul_add(k, 2.0 * LOW, r);
    let size = b.abs(x);
    let y = half_turn(b, r, turns);
    b.repair(y, size, LIMIT, Op::Sin, &[x])
}

/// (−1)ᵏ sin r for |r| ≤ π/2, held to [−1, 1], where the last bit of `turns` is that of k.
#[inline(always)]
fn half_turn<A: Arithmetic>(b: &mut A, r: A::Value, turns: A::Value) -> A::Value {
    let square = b.mul(r, r);
    let [first, rest @ ..] = &SINE_HALF_TURN;
    let p = polynomial(b, square, rest);
    let p = b.mul_add(square, p, *first);
    let cube = signless_cube(b, r, square);
    let y = b.neg_mul_add(cube, p, r);
    let y = b.min(y, 1.0);
    let y = b.max(y, -1.0);
    let sign = b.shift_left(turns, 63);
    b.xor(y, sign)
}

/// The tangent: sin r / cos r, or −cos r / sin r in odd quadrants, with numerator and denominator to about twice
/// the working precision. Within 1.6 ulp.
#[inline(always)]
pub(super) fn tangent<A: Arithmetic>(b: &mut A, x: A::Value) -> A::Value {
    let size = b.abs(x);
    let Reduced { turns, k, high, r } = reduce(b, size);
    // What r lost to rounding, with its sign turned.
    let step = b.sub(high, r);
    let rounded = b.mul_sub(k, MIDDLE, step);
    let lost = b.mul_add(k, LOW, rounded);

    let square = b.mul(r, r);
    let p = polynomial(b, square, &SINE);
    let cube = b.mul(r, square);
    // The loss is not scaled by cos r, which is 0.15 ulp at most. For r = 0, v is +0, so r − v has the sign of r.
    let v = b.mul_add(cube, p, lost);
    let s = b.sub(r, v);
    let s_low = b.sub(r, s);
    let s_low = b.sub(s_low, v);

    let w = cosine(b, square);
    let w_low = b.mul(lost, r);
    let w = b.mul_add(square, w, w_low);
    let c = b.add(w, 1.0);
    let c_low = b.sub(1.0, c);
    let c_low = b.add(c_low, w);

    let odd = b.shift_left(turns, 63);
    let above = b.select_sign(odd, c, s);
    let above_low = b.select_sign(odd, c_low, s_low);
    let below = b.select_sign(odd, s, c);
    let below_low = b.select_sign(odd, s_low, c_low);

    let inverse = b.div(1.0, below);
    let y = b.mul(above, inverse);
    let rest = b.neg_mul_add(y, below, above);
    let rest = b.add(rest, above_low);
    let rest = b.neg_mul_add(y, below_low, rest);
    let y = b.mul_add(rest, inverse, y);

    let y = b.xor(y, odd);
    let y = b.flip_sign(y, x);
    b.repair(y, size, LIMIT, Op::Tan, &[x])
}
