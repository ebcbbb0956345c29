//! Values of operators that the mathematical library does not give, or not as the table promises them.

use crate::double::{Double, power_of_two};

/// A comparison's result as a number.
pub(crate) fn flag(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

/// `x^y`, real: NaN for a negative base (also −∞) unless `y` is an integer; −0 counts as 0 then.
pub(crate) fn power(x: f64, y: f64) -> f64 {
    if y == 2.0 {
        return x * x;
    }
    let integer = y.fract() == 0.0 || y.is_infinite();
    if x < 0.0 && !integer {
        return f64::NAN;
    }
    if x == 0.0 || y == 0.0 || !x.is_finite() || !y.is_finite() {
        // The library's power knows the special values. Its others are off by hundreds of ulp for x near 1 and
        // large y.
        return libm::pow(if integer { x } else { x.abs() }, y);
    }
    let size = x.abs();
    let logarithm =
        if size.is_normal() { Double::ln(size) } else { Double::ln(size * TWO_52) - Double::ln(TWO_52) };
    let value = match y * logarithm.rounded() {
        large if large > 710.0 => f64::INFINITY,
        small if small < -746.0 => 0.0,
        _ => {
            let (p, k) = (logarithm * Double::from(y)).exp();
            // In two steps, because 2ᵏ alone may be out of range.
            (p + Double::ONE).rounded() * power_of_two(k / 2) * power_of_two(k - k / 2)
        }
    };
    let odd = x < 0.0 && y % 2.0 != 0.0;
    if odd { -value } else { value }
}

const TWO_52: f64 = 4_503_599_627_370_496.0;

/// `1/(1 + e⁻ˣ)` without overflow, and with relative accuracy where it is small.
pub(crate) fn logistic(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x < -40.0 {
        return libm::exp(x); // 1 + eˣ rounds to 1
    }
    let (p, k) = Double::from(-x.min(40.0)).exp();
    let one = Double::ONE;
    (one / (one + (one + p) * Double::from(power_of_two(k)))).rounded()
}

/// Below this size, an odd function x + c x³ + … rounds to x.
const TINY: f64 = 1e-9;

/// (E + E/(E + 1))/2 for E = exp(x) − 1.
pub(crate) fn sinh(x: f64) -> f64 {
    match x.abs() {
        small if small < TINY => x,
        size if size < 40.0 => {
            let e = Double::from(size).exp_m1();
            (0.5 * (e + e / (e + Double::ONE)).rounded()).copysign(x)
        }
        _ => libm::sinh(x),
    }
}

/// E/(E + 2) for E = exp(2x) − 1.
pub(crate) fn tanh(x: f64) -> f64 {
    match x.abs() {
        small if small < TINY => x,
        size if size < 20.0 => {
            let e = Double::from(2.0 * size).exp_m1();
            (e / (e + Double::from(2.0))).rounded().copysign(x)
        }
        _ => libm::tanh(x),
    }
}

/// ln(1 + a) for a = x + x²/(1 + √(1 + x²)).
pub(crate) fn asinh(x: f64) -> f64 {
    match x.abs() {
        small if small < TINY => x,
        size if size < 1e8 => {
            let square = Double::product(x, x);
            let root = (Double::ONE + square).sqrt();
            let a = Double::from(size) + square / (Double::ONE + root);
            a.ln_1p().copysign(x)
        }
        _ => libm::asinh(x),
    }
}

/// ln(1 + a) for a = (x − 1) + √((x − 1)(x + 1)). NaN below 1, where the library's is a number for some arguments.
pub(crate) fn acosh(x: f64) -> f64 {
    match x {
        outside if outside < 1.0 => f64::NAN,
        1.0 => 0.0,
        size if size < 1e8 => {
            let over = Double::from(size - 1.0);
            (over + (over * Double::sum(size, 1.0)).sqrt()).ln_1p()
        }
        _ => libm::acosh(x),
    }
}

/// ln(1 + a)/2 for a = 2x/(1 − x).
pub(crate) fn atanh(x: f64) -> f64 {
    match x.abs() {
        small if small < TINY => x,
        size if size < 1.0 => {
            let a = Double::from(2.0 * size) / Double::sum(1.0, -size);
            (0.5 * a.ln_1p()).copysign(x)
        }
        _ => libm::atanh(x),
    }
}

pub(crate) fn sign(x: f64) -> f64 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else {
        x
    }
}

pub(crate) fn minimum(a: f64, b: f64) -> f64 {
    if a < b || a.is_nan() { a } else { b }
}

pub(crate) fn maximum(a: f64, b: f64) -> f64 {
    if a > b || a.is_nan() { a } else { b }
}
