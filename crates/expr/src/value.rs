//! Values of operators that the mathematical library does not give, or not as the table promises them.

/// A comparison's result as a number.
pub(crate) fn flag(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

/// `x^y`, real: NaN for a negative base (also −∞) unless `y` is an integer; −0 counts as 0 then.
pub(crate) fn power(x: f64, y: f64) -> f64 {
    if y.fract() == 0.0 || y.is_infinite() {
        libm::pow(x, y)
    } else if x < 0.0 {
        f64::NAN
    } else {
        libm::pow(x.abs(), y)
    }
}

/// `1/(1 + e⁻ˣ)` without overflow, and with relative accuracy where it is small.
pub(crate) fn logistic(x: f64) -> f64 {
    let e = libm::exp(-x.abs());
    if x < 0.0 { e / (1.0 + e) } else { 1.0 / (1.0 + e) }
}

/// The inverse hyperbolic cosine. The library's is not NaN for all arguments below 1.
pub(crate) fn acosh(x: f64) -> f64 {
    if x < 1.0 { f64::NAN } else { libm::acosh(x) }
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
