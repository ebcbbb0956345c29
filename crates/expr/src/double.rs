//! Numbers as unevaluated sums of two doubles, for values that need more than the working precision on the way.
//!
//! The algorithms are those of T. J. Dekker (Numer. Math. 18 (1971) 224, doi:10.1007/BF01397083) with fused multiply-add.

use std::f64::consts::{LOG2_E, SQRT_2};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// high + low, with |low| at most half a unit in the last place of high: about 105 bits in arithmetic, 70 or more in functions.
///
/// ```
/// use leastaction_expr::Double;
/// let third = Double::ONE / Double::from(3.0);
/// assert!((third * Double::from(3.0) - Double::ONE).rounded().abs() < 1e-31);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Double {
    high: f64,
    low: f64,
}

/// ln 2 in 42 bits, so that its products with exponents are exact, and the rest.
const LN_2_HIGH: f64 = 0.6931471805598903;
const LN_2_LOW: Double = Double { high: 5.497923018708371e-14, low: 1.94704509238075e-31 };

impl Double {
    /// 0.
    pub const ZERO: Double = Double { high: 0.0, low: 0.0 };
    /// 1.
    pub const ONE: Double = Double { high: 1.0, low: 0.0 };

    /// The exact sum of two doubles.
    pub(crate) fn sum(a: f64, b: f64) -> Double {
        let high = a + b;
        let b_part = high - a;
        Double { high, low: (a - (high - b_part)) + (b - b_part) }
    }

    /// The exact product of two doubles.
    pub(crate) fn product(a: f64, b: f64) -> Double {
        let high = a * b;
        Double { high, low: a.mul_add(b, -high) }
    }

    /// A sum of two doubles of which the second is small.
    fn normalized(high: f64, low: f64) -> Double {
        let sum = high + low;
        Double { high: sum, low: low - (sum - high) }
    }

    /// The nearest double.
    #[must_use]
    pub fn rounded(self) -> f64 {
        self.high + self.low
    }

    /// The nearest multiple of a power of two.
    #[must_use]
    pub fn rounded_to(self, unit: f64) -> f64 {
        let whole = (self.high / unit).round();
        let rest = self - Double::from(whole * unit);
        whole * unit + (rest.high / unit).round() * unit
    }

    /// The square root of a positive number.
    pub(crate) fn sqrt(self) -> Double {
        let root = self.high.sqrt();
        let rest = self - Double::product(root, root);
        Double::normalized(root, rest.high / (2.0 * root))
    }

    fn scaled(self, factor: f64) -> Double {
        Double { high: self.high * factor, low: self.low * factor }
    }

    /// eˣ = 2ᵏ (1 + p), for |x| below 1000: p and k. The series is summed at x/256, and squared back.
    pub(crate) fn exp(self) -> (Double, i32) {
        let k = (self.high * LOG2_E).round_ties_even();
        let r = self - Double::from(k * LN_2_HIGH) - LN_2_LOW * Double::from(k);
        let r = r.scaled(1.0 / 256.0);
        // r + r²/2 + r³/6 + …, where the last need no low part
        let x = r.high;
        let tail = 1.0 / 24.0 + x * (1.0 / 120.0 + x * (1.0 / 720.0 + x * (1.0 / 5040.0)));
        let tail = x * x * x * (1.0 / 6.0 + x * tail);
        let mut p = r + ((r * r).scaled(0.5) + Double::from(tail));
        for _ in 0..8 {
            p = p * (p + Double::from(2.0));
        }
        (p, k as i32)
    }

    /// eˣ − 1 for |x| below 700.
    pub(crate) fn exp_m1(self) -> Double {
        let (p, k) = self.exp();
        let scale = Double::from(power_of_two(k));
        scale * p + (scale - Double::ONE)
    }

    /// ln(1 + x), rounded.
    pub(crate) fn ln_1p(self) -> f64 {
        libm::log1p(self.high) + self.low / (1.0 + self.high)
    }

    /// ln x for a positive normal x: the library's value, corrected by one step of Newton's method.
    pub(crate) fn ln(x: f64) -> Double {
        let exponent = (x.to_bits() >> 52) as i32 - 1023;
        let m = f64::from_bits(x.to_bits() & ((1 << 52) - 1) | 1023 << 52);
        let (m, k) = if m > SQRT_2 { (0.5 * m, exponent + 1) } else { (m, exponent) };
        let first = libm::log(m);
        let rest = Double::from(m - 1.0) + Double::from(m) * Double::from(-first).exp_m1(); // m e^−first − 1
        let k = Double::from(f64::from(k));
        k * Double::from(LN_2_HIGH) + (k * LN_2_LOW + (Double::from(first) + rest))
    }
}

/// 2ᵏ for −1022 ≤ k ≤ 1023.
pub(crate) fn power_of_two(k: i32) -> f64 {
    f64::from_bits(((k + 1023) as u64) << 52)
}

impl From<f64> for Double {
    fn from(high: f64) -> Double {
        Double { high, low: 0.0 }
    }
}

impl Neg for Double {
    type Output = Double;
    fn neg(self) -> Double {
        Double { high: -self.high, low: -self.low }
    }
}

impl Add for Double {
    type Output = Double;
    fn add(self, other: Double) -> Double {
        let high = Double::sum(self.high, other.high);
        let low = Double::sum(self.low, other.low);
        let sum = Double::normalized(high.high, high.low + low.high);
        Double::normalized(sum.high, sum.low + low.low)
    }
}

impl Sub for Double {
    type Output = Double;
    fn sub(self, other: Double) -> Double {
        self + -other
    }
}

impl Mul for Double {
    type Output = Double;
    fn mul(self, other: Double) -> Double {
        let high = Double::product(self.high, other.high);
        let low = self.high.mul_add(other.low, self.low.mul_add(other.high, high.low));
        Double::normalized(high.high, low)
    }
}

impl Div for Double {
    type Output = Double;
    fn div(self, other: Double) -> Double {
        let first = self.high / other.high;
        let rest = self - other * Double::from(first);
        let second = rest.high / other.high;
        let rest = rest - other * Double::from(second);
        Double::normalized(first, second) + Double::from(rest.high / other.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_has_twice_the_digits() {
        let third = Double::ONE / Double::from(3.0);
        let rest = third * Double::from(3.0) - Double::ONE;
        assert!(rest.rounded().abs() < 1e-31, "{rest:?}");
        // (1 + 2⁻⁶⁰)² = 1 + 2⁻⁵⁹ + 2⁻¹²⁰.
        let tiny = Double::from(2.0_f64.powi(-60));
        let square = (Double::ONE + tiny) * (Double::ONE + tiny) - Double::ONE;
        assert_eq!(square.rounded(), 2.0_f64.powi(-59));
        assert_eq!(third.rounded_to(0.125), 0.375);
    }
}
