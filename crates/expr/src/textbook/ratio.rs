//! Numbers in front of terms: fractions as long as they are exact and small.

use std::fmt;

/// A fraction, or a number that is not a fraction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Ratio {
    /// Numerator and denominator, without common factors; the denominator is positive.
    Exact(i64, i64),
    Real(f64),
}

/// Fractions have denominators up to this; other numbers are written with their digits.
const LARGEST: i64 = 5040;

fn divisor(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { divisor(b, a % b) }
}

impl Ratio {
    pub(super) const ONE: Ratio = Ratio::Exact(1, 1);

    /// The fraction that a number is meant to be: the nearest to it, if it is a whole number, or written with few digits in no other way.
    pub(super) fn of(value: f64) -> Ratio {
        if value.fract() == 0.0 && value.abs() < 1e15 {
            return Ratio::Exact(value as i64, 1);
        }
        // What is short in decimals is written so: 9.81.
        let decimal = format!("{value}");
        let binary = (1..=6).map(|k| 1_i64 << k).find(|d| (value * *d as f64).fract() == 0.0);
        if let Some(d) = binary.filter(|_| value.abs() < 1e6) {
            return Ratio::reduced((value * d as f64) as i128, d.into()).unwrap_or(Ratio::Real(value));
        }
        if decimal.len() > 12 {
            for d in 3..=LARGEST.min(360) {
                let n = (value * d as f64).round();
                if n != 0.0 && n.abs() < 1e9 && (n / d as f64).to_bits().abs_diff(value.to_bits()) <= 1 {
                    return Ratio::reduced(n as i128, d.into()).unwrap_or(Ratio::Real(value));
                }
            }
        }
        Ratio::Real(value)
    }

    fn reduced(n: i128, d: i128) -> Option<Ratio> {
        let (n, d) = if d < 0 { (-n, -d) } else { (n, d) };
        let common = divisor(n, d).max(1);
        let [n, d] = [n / common, d / common].map(|x| i64::try_from(x).ok());
        Some(Ratio::Exact(n?, d.filter(|d| *d > 0 && *d <= 1 << 40)?))
    }

    pub(super) fn value(self) -> f64 {
        match self {
            Ratio::Exact(n, d) => n as f64 / d as f64,
            Ratio::Real(value) => value,
        }
    }

    pub(super) fn is_zero(self) -> bool {
        self.value() == 0.0
    }

    pub(super) fn is_one(self) -> bool {
        self.value() == 1.0
    }

    pub(super) fn is_negative(self) -> bool {
        self.value() < 0.0
    }

    pub(super) fn negated(self) -> Ratio {
        match self {
            Ratio::Exact(n, d) => Ratio::Exact(-n, d),
            Ratio::Real(value) => Ratio::Real(-value),
        }
    }

    pub(super) fn plus(self, other: Ratio) -> Ratio {
        let exact = match (self, other) {
            (Ratio::Exact(a, b), Ratio::Exact(c, d)) => {
                let [a, b, c, d] = [a, b, c, d].map(i128::from);
                Ratio::reduced(a * d + c * b, b * d)
            }
            _ => None,
        };
        exact.unwrap_or_else(|| {
            let sum = self.value() + other.value();
            // What cancels but for rounding is nothing.
            let scale = self.value().abs().max(other.value().abs());
            if sum.abs() <= 4.0 * f64::EPSILON * scale { Ratio::Exact(0, 1) } else { Ratio::Real(sum) }
        })
    }

    pub(super) fn times(self, other: Ratio) -> Ratio {
        let exact = match (self, other) {
            (Ratio::Exact(a, b), Ratio::Exact(c, d)) => {
                let [a, b, c, d] = [a, b, c, d].map(i128::from);
                Ratio::reduced(a * c, b * d)
            }
            _ => None,
        };
        exact.unwrap_or_else(|| {
            let product = self.value() * other.value();
            // What is 1 but for rounding is 1, as a number over itself is.
            match (product.abs() - 1.0).abs() <= 2.0 * f64::EPSILON {
                true => Ratio::Exact(product.signum() as i64, 1),
                false => Ratio::Real(product),
            }
        })
    }

    pub(super) fn inverse(self) -> Option<Ratio> {
        match self {
            Ratio::Exact(0, _) => None,
            Ratio::Exact(n, d) => Ratio::reduced(d.into(), n.into()),
            Ratio::Real(value) if value != 0.0 => Some(Ratio::Real(1.0 / value)),
            Ratio::Real(_) => None,
        }
    }

    /// What divides both, for what is taken out of brackets.
    pub(super) fn common(self, other: Ratio) -> Ratio {
        match (self, other) {
            (Ratio::Exact(a, b), Ratio::Exact(c, d)) => {
                let n = divisor(a.into(), c.into());
                let m = i128::from(b) / divisor(b.into(), d.into()).max(1) * i128::from(d);
                Ratio::reduced(n, m).filter(|ratio| !ratio.is_zero()).unwrap_or(Ratio::ONE)
            }
            (a, b) if a.value().abs() == b.value().abs() => Ratio::Real(a.value().abs()),
            _ => Ratio::ONE,
        }
    }

    /// What numerators share over what denominators share. Numbers that are no fractions share what they are, if they are the same but for their sign, and else
    /// nothing.
    pub(super) fn shared(self, other: Ratio) -> Ratio {
        match (self, other) {
            (Ratio::Exact(a, b), Ratio::Exact(c, d)) => {
                let [n, m] = [divisor(a.into(), c.into()), divisor(b.into(), d.into())];
                Ratio::reduced(n, m).filter(|ratio| !ratio.is_zero()).unwrap_or(Ratio::ONE)
            }
            (a, b) if a.value().abs() == b.value().abs() => Ratio::Real(a.value().abs()),
            _ => Ratio::ONE,
        }
    }

    pub(super) fn power(self, n: i32) -> Option<Ratio> {
        let base = if n < 0 { self.inverse()? } else { self };
        Some((0..n.unsigned_abs()).fold(Ratio::ONE, |product, _| product.times(base)))
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ratio::Exact(n, 1) => write!(f, "{n}"),
            Ratio::Exact(n, d) => write!(f, "{n}/{d}"),
            Ratio::Real(value) => write!(f, "{value}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Ratio;

    #[test]
    fn numbers_are_fractions_where_they_are_meant() {
        let shown = |x: f64| Ratio::of(x).to_string();
        assert_eq!(
            [0.5, -0.75, 1.0 / 3.0, 2.0 / 7.0, 9.81, 0.1, 3.0, 1e-3].map(shown),
            ["1/2", "-3/4", "1/3", "2/7", "9.81", "0.1", "3", "0.001"]
        );
        let third = Ratio::of(1.0 / 3.0);
        assert_eq!(third.plus(third).plus(third), Ratio::ONE);
        assert_eq!(Ratio::of(0.1).plus(Ratio::of(0.2)).plus(Ratio::of(-0.3)), Ratio::Exact(0, 1));
        assert_eq!(Ratio::of(0.5).common(Ratio::of(0.75)), Ratio::Exact(1, 4));
    }
}
