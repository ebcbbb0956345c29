//! Numbers as unevaluated sums of two doubles, for coefficients that must be right to the last bit.
//!
//! The algorithms are those of T. J. Dekker (Numer. Math. 18 (1971) 224, doi:10.1007/BF01397083) with fused multiply-add.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// high + low, with |low| at most half a unit in the last place of high.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Double {
    high: f64,
    low: f64,
}

impl Double {
    pub(crate) const ZERO: Double = Double { high: 0.0, low: 0.0 };
    pub(crate) const ONE: Double = Double { high: 1.0, low: 0.0 };

    /// The nearest double.
    pub(crate) fn rounded(self) -> f64 {
        self.high
    }

    /// The nearest multiple of a power of two.
    pub(crate) fn rounded_to(self, unit: f64) -> f64 {
        let whole = (self.high / unit).round();
        let rest = self - Double::from(whole * unit);
        whole * unit + (rest.high / unit).round() * unit
    }

    /// The exact sum of two doubles.
    fn sum(a: f64, b: f64) -> Double {
        let high = a + b;
        let part = high - a;
        Double { high, low: (a - (high - part)) + (b - part) }
    }

    /// A sum of two doubles of which the second is small.
    fn normalized(high: f64, low: f64) -> Double {
        let sum = high + low;
        Double { high: sum, low: low - (sum - high) }
    }
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
        let high = self.high * other.high;
        let low = self.high.mul_add(other.high, -high);
        let low = self.high.mul_add(other.low, self.low.mul_add(other.high, low));
        Double::normalized(high, low)
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
