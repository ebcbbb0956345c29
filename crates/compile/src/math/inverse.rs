//! Inverse trigonometric functions, and the polar coordinates of a point.

use super::polynomial::polynomial;
use crate::arithmetic::Arithmetic;
use crate::instruction::Test;
use leastaction_expr::Op;
use std::f64::consts::{FRAC_PI_2, PI};

/// π/2 − [`FRAC_PI_2`].
const FRAC_PI_2_LOW: f64 = 6.123233995736766e-17;

// atan a = a - a^3 P(a^2), |a| <= 1, relative: 2^-57.1
const ARCTANGENT: [f64; 20] = [
    0.3333333333333307,
    -0.19999999999951748,
    0.14285714282582918,
    -0.1111111100703581,
    0.09090906999956552,
    -0.07692279772657233,
    0.06666403296778596,
    -0.05880522179946392,
    0.05253489161217032,
    -0.047222095445654914,
    0.04218853709535319,
    -0.03663474597801526,
    0.029891749148523845,
    -0.021969180270104024,
    0.013885169054915868,
    -0.007185249387695601,
    0.002878989766141245,
    -0.0008291978196594507,
    0.00015169817453237905,
    -1.3178878555445804e-05,
];

// asin a = a + a^3 P(a^2), |a| <= 1/2, relative: 2^-55.8
const ARCSINE: [f64; 12] = [
    0.16666666666665408,
    0.07500000000337163,
    0.04464285682821516,
    0.030381959141024144,
    0.022371757945130487,
    0.017359706809189076,
    0.013885208520871106,
    0.012169440309572425,
    0.006526751249607545,
    0.01953225484686691,
    -0.016231487014766365,
    0.031917870014127776,
];

/// base ± atan a for 0 ≤ a ≤ 1: minus where the sign bit of `sign` is set, for a base that is a multiple of π/2.
#[inline(always)]
fn from_base<A: Arithmetic>(b: &mut A, base: A::Value, a: A::Value, sign: A::Value) -> A::Value {
    let square = b.mul(a, a);
    let p = polynomial(b, square, &ARCTANGENT);
    let a = b.xor(a, sign);
    let cube = b.mul(a, square);
    let low = b.mul(base, FRAC_PI_2_LOW / FRAC_PI_2);
    let low = b.neg_mul_add(cube, p, low);
    let high = b.add(base, a);
    b.add(high, low)
}

/// The arctangent: of |x| up to 1, of the inverse beyond. Within 1.4 ulp.
#[inline(always)]
pub(super) fn atan<A: Arithmetic>(b: &mut A, x: A::Value) -> A::Value {
    let size = b.abs(x);
    let above = b.min(1.0, size); // a NaN is kept, as the second argument
    let below = b.max(1.0, size);
    let a = b.div(above, below);
    let steep = b.select(Test::Less, 1.0, size, -0.0, 0.0);
    let base = b.select_sign(steep, FRAC_PI_2, 0.0);
    let y = from_base(b, base, a, steep);
    b.flip_sign(y, x)
}

/// The angle of the point (x, y), from the octant of (|x|, |y|). The quotient is NaN where both are zero or
/// infinite, or one is NaN: this is left to the table. Within 1.7 ulp.
#[inline(always)]
pub(super) fn atan2<A: Arithmetic>(b: &mut A, y: A::Value, x: A::Value) -> A::Value {
    let (width, height) = (b.abs(x), b.abs(y));
    let above = b.min(width, height);
    let below = b.max(height, width); // in this order, a NaN reaches the quotient
    let a = b.div(above, below);
    let steep = b.select(Test::Less, width, height, -0.0, 0.0);
    let base = b.select_sign(x, PI, 0.0);
    let base = b.select_sign(steep, FRAC_PI_2, base);
    let backwards = b.flip_sign(steep, x);
    let angle = from_base(b, base, a, backwards);
    let angle = b.flip_sign(angle, y);
    b.repair(angle, a, 1.0, Op::Atan2, &[y, x])
}

/// √(x² + y²), if the sum is neither too small to be exact nor too large to be finite. Within 1.2 ulp.
#[inline(always)]
pub(super) fn hypot<A: Arithmetic>(b: &mut A, x: A::Value, y: A::Value) -> A::Value {
    let sum = b.mul(y, y);
    let sum = b.mul_add(x, x, sum);
    let length = b.sqrt(sum);
    // The bits are ordered as the numbers. Those below the lowest wrap around, and the shift makes all of them
    // positive.
    let (lowest, highest) = (2f64.powi(-900), 2f64.powi(1023));
    let place = b.sub_int(sum, lowest);
    let place = b.shift_right(place, 1);
    let limit = f64::from_bits((highest.to_bits() - lowest.to_bits()) >> 1);
    b.repair(length, place, limit, Op::Hypot, &[x, y])
}

/// What arcsine and arccosine share. For |x| > 1/2 they use asin x = π/2 − 2 asin √((1 − x)/2).
struct Arc<V> {
    /// |x|
    size: V,
    /// √((1 − |x|)/2), rounded.
    root: V,
    /// |x| up to 1/2, the root beyond.
    u: V,
    /// asin u = u + u³P: u³ and P.
    cube: V,
    p: V,
    /// What twice the root lost to rounding.
    twice_lost: V,
}

#[inline(always)]
fn arc<A: Arithmetic>(b: &mut A, x: A::Value) -> Arc<A::Value> {
    let size = b.abs(x);
    let half = b.neg_mul_add(size, 0.5, 0.5);
    let root = b.sqrt(half);
    let small = b.mul(size, size);
    let square = b.select(Test::Less, 0.5, size, half, small);
    let u = b.select(Test::Less, 0.5, size, root, size);
    let p = polynomial(b, square, &ARCSINE);
    let cube = b.mul(u, square);
    // √h = s + (h − s²)/(2s) − …, and 1/s is known well enough, to 7 %, from its bits: twice those of 1, less those
    // of s, less a little.
    let rest = b.neg_mul_add(root, root, half);
    let inverse = b.bits(0x7fde_0000_0000_0000);
    let inverse = b.sub_int(inverse, root);
    let twice_lost = b.mul(rest, inverse);
    Arc { size, root, u, cube, p, twice_lost }
}

/// The arcsine. Within 1.7 ulp.
#[inline(always)]
pub(super) fn asin<A: Arithmetic>(b: &mut A, x: A::Value) -> A::Value {
    let Arc { size, root, u, cube, p, twice_lost } = arc(b, x);
    let flat = b.mul_add(cube, p, u);
    let high = b.neg_mul_add(root, 2.0, FRAC_PI_2);
    let cubes = b.add(cube, cube);
    let low = b.sub(twice_lost, FRAC_PI_2_LOW);
    let low = b.mul_add(cubes, p, low);
    let steep = b.sub(high, low);
    let y = b.select(Test::Less, 0.5, size, steep, flat);
    b.flip_sign(y, x)
}

/// π/2 − asin x up to 1/2, and 2 asin √((1 − x)/2) or π − 2 asin √((1 + x)/2) beyond. Within 1.1 ulp.
#[inline(always)]
pub(super) fn acos<A: Arithmetic>(b: &mut A, x: A::Value) -> A::Value {
    let Arc { size, root, cube, p, twice_lost, .. } = arc(b, x);
    let twice = b.add(root, root);
    let cubes = b.add(cube, cube);
    let steep = b.mul_add(cubes, p, twice_lost);
    let flat = b.mul(cube, p);
    let high = b.select(Test::Less, 0.5, size, twice, size);
    let low = b.select(Test::Less, 0.5, size, steep, flat);
    let base = b.select_sign(x, PI, 0.0);
    let base = b.select(Test::Less, 0.5, size, base, FRAC_PI_2);
    let turned = b.select(Test::Less, 0.5, size, 0.0, -0.0);
    let sign = b.flip_sign(turned, x);
    let high = b.xor(high, sign);
    let high_sum = b.add(base, high);
    let low = b.xor(low, sign);
    let low = b.mul_add(base, FRAC_PI_2_LOW / FRAC_PI_2, low);
    b.add(high_sum, low)
}
