//! Exact values: every function of the table in a few hundred bits, and correctly rounded.

use astro_float_num::{BigFloat, Consts, RoundingMode, Sign};
use leastaction_expr::Op;

// No rounding at the end: correct rounding to hundreds of bits would take thousands where a function is nearly linear.
const ROUNDING: RoundingMode = RoundingMode::None;

/// The correctly rounded value, where a library gives it; it decides at once which results need a closer look.
///
/// CORE-MATH (Sibidanov, Zimmermann and Glondu, doi:10.1109/ARITH54963.2022.00014) has all functions but the logistic one.
pub(crate) fn rounded(op: Op, [x, y]: [f64; 2]) -> Option<f64> {
    Some(match op {
        Op::Sqrt => x.sqrt(),
        Op::Cbrt => core_math::cbrt(x),
        Op::Hypot => core_math::hypot(x, y),
        Op::Exp => core_math::exp(x),
        Op::Expm1 => core_math::expm1(x),
        Op::Ln => core_math::log(x),
        Op::Ln1p => core_math::log1p(x),
        Op::Sin => core_math::sin(x),
        Op::Cos => core_math::cos(x),
        Op::Tan => core_math::tan(x),
        Op::Asin => core_math::asin(x),
        Op::Acos => core_math::acos(x),
        Op::Atan => core_math::atan(x),
        Op::Atan2 => core_math::atan2(x, y),
        Op::Sinh => core_math::sinh(x),
        Op::Cosh => core_math::cosh(x),
        Op::Tanh => core_math::tanh(x),
        Op::Asinh => core_math::asinh(x),
        Op::Acosh => core_math::acosh(x),
        Op::Atanh => core_math::atanh(x),
        Op::Erf => core_math::erf(x),
        Op::Pow => {
            let integer = y.fract() == 0.0 || y.is_infinite();
            match (integer, x < 0.0) {
                (true, _) => core_math::pow(x, y),
                (false, true) => f64::NAN,
                (false, false) => core_math::pow(x.abs(), y),
            }
        }
        _ => return None,
    })
}

/// Computes in many bits. One per thread.
pub(crate) struct Exact {
    constants: Consts,
}

impl Exact {
    pub(crate) fn new() -> Exact {
        Exact { constants: Consts::new().expect("memory for constants") }
    }

    /// The distance of `found` from the exact value of a function at finite arguments, in units in the last place of
    /// the exact value. Infinity counts as 2¹⁰²⁴.
    pub(crate) fn error(&mut self, op: Op, arguments: [f64; 2], found: f64) -> f64 {
        let exact = self.value(op, arguments);
        assert!(!exact.is_nan(), "{}{arguments:?}", op.row().name);
        if exact.is_inf() {
            return f64::INFINITY;
        }
        let bits = exact.precision().unwrap_or(256);
        let found = if found.is_infinite() {
            let mut power = number(1f64.copysign(found), bits);
            power.set_exponent(1025);
            power
        } else {
            number(found, bits)
        };
        let difference = found.sub(&exact, bits, ROUNDING);
        let (size, scale) = parts(&difference);
        let (_, exponent) = parts(&exact);
        // The exact value is in [2^(e−1), 2^e).
        let ulp = (exponent - 53).max(-1074);
        size * 2f64.powi(scale - ulp)
    }

    /// The exact value in double precision, rounded twice at worst.
    pub(crate) fn nearest(&mut self, op: Op, arguments: [f64; 2]) -> f64 {
        let value = self.value(op, arguments);
        let (size, exponent) = parts(&value);
        let size = if value.sign() == Some(Sign::Neg) { -size } else { size };
        // In two steps, because the power alone may be out of range.
        size * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2)
    }

    fn value(&mut self, op: Op, [x, y]: [f64; 2]) -> BigFloat {
        // Enough to reduce the largest angles and to see the smallest distance from a zero of a function.
        let wide = matches!(op, Op::Sin | Op::Cos | Op::Tan) && x.abs() > 1e6;
        let p = if wide { 1344 } else { 256 };
        let r = ROUNDING;
        let c = &mut self.constants;
        let number = |v: f64| number(v, p);
        let (one, two) = (number(1.0), number(2.0));
        let (a, b) = (number(x), number(y));
        match op {
            Op::Sqrt => a.sqrt(p, r),
            Op::Cbrt => a.cbrt(p, r),
            Op::Hypot => a.mul(&a, p, r).add(&b.mul(&b, p, r), p, r).sqrt(p, r),
            Op::Exp => a.exp(p, r, c),
            Op::Expm1 if x.abs() > 1.0 => a.exp(p, r, c).sub(&one, p, r),
            Op::Expm1 => {
                // 2 sinh(x/2) exp(x/2)
                let half = a.div(&two, p, r);
                half.sinh(p, r, c).mul(&half.exp(p, r, c), p, r).mul(&two, p, r)
            }
            Op::Ln => a.ln(p, r, c),
            Op::Ln1p => {
                // 2 atanh(x/(2 + x)), by its series where that converges at once
                let s = a.div(&two.add(&a, p, r), p, r);
                if x.abs() < 1e-3 {
                    let square = s.mul(&s, p, r);
                    let (mut power, mut sum) = (s.clone(), s);
                    for n in 1..40 {
                        power = power.mul(&square, p, r);
                        sum = sum.add(&power.div(&number(f64::from(2 * n + 1)), p, r), p, r);
                    }
                    sum.mul(&two, p, r)
                } else {
                    one.add(&a, 2 * 1344, r).ln(p, r, c)
                }
            }
            Op::Sin => a.sin(p, r, c),
            Op::Cos => a.cos(p, r, c),
            Op::Tan => a.tan(p, r, c),
            Op::Asin => a.asin(p, r, c),
            Op::Acos => a.acos(p, r, c),
            Op::Atan => a.atan(p, r, c),
            Op::Atan2 => {
                let pi = c.pi(p, r);
                let angle = match (x, y) {
                    (0.0, _) => a,
                    (_, 0.0) => {
                        let right = pi.div(&two, p, r);
                        if x.is_sign_negative() == y.is_sign_negative() { right } else { right.neg() }
                    }
                    _ => a.div(&b, p, r).atan(p, r, c),
                };
                match (y.is_sign_negative(), x.is_sign_negative()) {
                    (false, _) => angle,
                    (true, false) => angle.add(&pi, p, r),
                    (true, true) => angle.sub(&pi, p, r),
                }
            }
            Op::Sinh => a.sinh(p, r, c),
            Op::Cosh => a.cosh(p, r, c),
            Op::Tanh => a.tanh(p, r, c),
            Op::Asinh => a.asinh(p, r, c),
            Op::Acosh => a.acosh(p, r, c),
            Op::Atanh => a.atanh(p, r, c),
            Op::Logistic => one.div(&one.add(&a.neg().exp(p, r, c), 4 * p, r), p, r),
            Op::Erf => {
                // 2/√π exp(−x²) Σ 2ⁿ x²ⁿ⁺¹/(2n+1)!! (Abramowitz and Stegun 7.1.6)
                if x.abs() > 6.5 {
                    return number(1f64.copysign(x));
                }
                let square = a.mul(&a, p, r);
                let (mut term, mut sum) = (a.clone(), a);
                for n in 1..400 {
                    term = term.mul(&square, p, r).mul(&two, p, r).div(&number(f64::from(2 * n + 1)), p, r);
                    sum = sum.add(&term, p, r);
                }
                let root = c.pi(p, r).sqrt(p, r);
                let factor = square.neg().exp(p, r, c).mul(&two, p, r).div(&root, p, r);
                sum.mul(&factor, p, r)
            }
            Op::Pow => {
                let size = a.abs().pow(&b, p, r, c);
                if x < 0.0 && y % 2.0 != 0.0 { size.neg() } else { size }
            }
            _ => panic!("give the exact value of {} in tests/accuracy/exact.rs", op.row().name),
        }
    }
}

/// A double in `bits` bits. (The library's own conversion is wrong for subnormal numbers.)
fn number(value: f64, bits: usize) -> BigFloat {
    if value == 0.0 || value.is_normal() {
        return BigFloat::from_f64(value, bits);
    }
    let mut scaled = BigFloat::from_f64(value * 2f64.powi(100), bits);
    let exponent = scaled.exponent().expect("a finite number");
    scaled.set_exponent(exponent - 100);
    scaled
}

/// A number as |m|·2ᵉ with 1/2 ≤ m < 1.
fn parts(value: &BigFloat) -> (f64, i32) {
    match (value.mantissa_digits(), value.exponent()) {
        (Some(words), Some(exponent)) if !value.is_zero() => {
            let top = words.last().copied().unwrap_or_default();
            (top as f64 / 2f64.powi(64), exponent)
        }
        _ => (0.0, -1100), // zero
    }
}
