//! Where functions are tried: everywhere, and more where something happens.

use crate::common::Random;
use leastaction_expr::Op;
use std::f64::consts::{FRAC_1_SQRT_2, PI, SQRT_2};

/// Where to look closer at a function of one argument.
struct Places {
    /// Intervals filled evenly.
    spans: &'static [(f64, f64)],
    /// Points approached from both sides: zeros, thresholds, ends of the domain and of ranges of method.
    centers: &'static [f64],
}

fn places(op: Op) -> Places {
    let (spans, centers): (&'static [(f64, f64)], &'static [f64]) = match op {
        // The last one is, of all doubles, the closest to a multiple of π/2 (Muller et al., Handbook, chapter 11).
        Op::Sin | Op::Cos | Op::Tan => (
            &[(-8.0, 8.0), (-1e3, 1e3), (-2e7, 2e7)],
            &[0.0, PI / 4.0, PI / 2.0, PI, 16_777_216.0, 5.319372648326541e255],
        ),
        Op::Exp | Op::Expm1 | Op::Sinh | Op::Cosh | Op::Logistic => (
            &[(-2.0, 2.0), (-40.0, 40.0), (-750.0, 720.0), (-746.0, -707.0), (707.0, 711.0)],
            &[
                0.0,
                0.34657359027997264,
                1.0397207708399179,
                37.0,
                50.0,
                707.0,
                708.4,
                709.78,
                710.4758,
                -745.13,
            ],
        ),
        Op::Tanh => (&[(-1.0, 1.0), (-25.0, 25.0)], &[0.0, 0.17328679513998632, 0.5, 19.06, 20.0, 22.0]),
        Op::Ln => (&[(0.0, 3.0), (0.5, 1.6)], &[1.0, FRAC_1_SQRT_2, SQRT_2, f64::MIN_POSITIVE, f64::MAX]),
        Op::Ln1p => {
            (&[(-1.0, 2.0), (-0.4, 0.6)], &[0.0, -1.0, -0.2928932188134524, 0.41421356237309515, f64::MAX])
        }
        Op::Asin | Op::Acos | Op::Atanh => (&[(-1.0, 1.0), (-0.6, 0.6)], &[0.0, 0.5, -0.5, 1.0, -1.0]),
        Op::Atan => (&[(-2.0, 2.0), (-50.0, 50.0)], &[0.0, 1.0, -1.0, 1e16]),
        Op::Asinh => (&[(-3.0, 3.0), (-1e4, 1e4)], &[0.0, 1.0, 268_435_456.0]),
        Op::Acosh => (&[(1.0, 3.0), (1.0, 1e4)], &[1.0, 1.25, 2.0, 268_435_456.0]),
        Op::Erf => (&[(-1.0, 1.0), (-7.0, 7.0)], &[0.0, 0.84375, 1.25, 2.857, 5.921]),
        Op::Sqrt | Op::Cbrt => (&[(0.0, 4.0), (-4.0, 0.0)], &[0.0, 1.0]),
        _ => panic!("say in tests/accuracy/points.rs where to try {}", op.row().name),
    };
    Places { spans, centers }
}

const SPECIAL: [f64; 12] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    5e-324,
    -5e-324,
    f64::MIN_POSITIVE,
    f64::MAX,
    -f64::MAX,
];

/// Arguments for a function of the table; `exponent` is the second argument where it is a constant of the program.
pub(crate) fn arguments(op: Op, exponent: Option<f64>, random: &mut Random) -> [f64; 2] {
    match (op, exponent) {
        (Op::Pow, Some(y)) => [base(y, random), y],
        (Op::Pow, None) => power(random),
        (Op::Hypot | Op::Atan2, _) => plane(random),
        _ => [line(op, random), 0.0],
    }
}

/// A number of any size and sign, all exponents alike; infinities and NaN among them.
fn any(random: &mut Random) -> f64 {
    f64::from_bits(random.bits())
}

/// A number close to another: off by some ulps, or by a small part of it.
fn near(random: &mut Random, center: f64) -> f64 {
    if random.chance(0.5) || center == 0.0 {
        let steps = random.below(33) as i64 - 16;
        f64::from_bits(center.to_bits().wrapping_add_signed(steps))
    } else {
        center * (1.0 + random.between(-1.0, 1.0) * 0.5f64.powi(random.below(50) as i32))
    }
}

fn line(op: Op, random: &mut Random) -> f64 {
    let places = places(op);
    match random.below(100) {
        0..45 => {
            let (low, high) = random.pick(places.spans);
            random.between(low, high)
        }
        45..70 => {
            let mut center = random.pick(places.centers);
            if matches!(op, Op::Sin | Op::Cos | Op::Tan) && random.chance(0.7) {
                center = PI / 2.0 * 2f64.powf(random.between(0.0, 26.0)).round();
            }
            let sign = random.pick(&[1.0, -1.0]);
            sign * near(random, center)
        }
        70..82 => random.between(-1.0, 1.0) * 0.5f64.powi(random.below(60) as i32),
        82..99 => any(random),
        _ => random.pick(&SPECIAL),
    }
}

/// Points of the plane, at all scales, with some near the axes and the diagonals.
fn plane(random: &mut Random) -> [f64; 2] {
    let [a, b] = match random.below(100) {
        0..40 => [random.between(-3.0, 3.0), random.between(-3.0, 3.0)],
        40..60 => {
            let a = random.between(0.5, 2.0);
            [a, random.pick(&[1.0, -1.0]) * near(random, a)]
        }
        60..75 => {
            [random.between(-3.0, 3.0), random.between(-3.0, 3.0) * 0.5f64.powi(random.below(80) as i32)]
        }
        75..85 => {
            let scale = 2f64.powi(random.below(2090) as i32 - 1073);
            [random.between(-2.0, 2.0) * scale, random.between(-2.0, 2.0) * scale]
        }
        85..96 => [any(random), any(random)],
        _ => [
            random.pick(&SPECIAL),
            if random.chance(0.5) { random.pick(&SPECIAL) } else { random.between(-3.0, 3.0) },
        ],
    };
    if random.chance(0.5) { [a, b] } else { [b, a] }
}

/// Bases for a constant exponent, most of them with a finite power.
fn base(y: f64, random: &mut Random) -> f64 {
    let size = match random.below(100) {
        0..40 => random.between(0.0, 4.0),
        40..75 => (random.between(-750.0, 715.0) / y).exp(),
        75..85 => near(random, 1.0),
        85..98 => any(random),
        _ => random.pick(&SPECIAL),
    };
    if random.chance(0.3) { -size } else { size }
}

fn power(random: &mut Random) -> [f64; 2] {
    match random.below(100) {
        0..30 => [random.between(0.0, 10.0), random.between(-20.0, 20.0)],
        30..60 => {
            let x = random.between(-700.0, 700.0).exp();
            [x, random.between(-750.0, 715.0) / x.ln()]
        }
        60..75 => {
            let x = if random.chance(0.5) { near(random, 1.0) } else { random.between(0.5, 2.0) };
            let y = random.between(-750.0, 715.0) / x.ln();
            [x, if y.is_finite() { y } else { random.between(-1e300, 1e300) }]
        }
        75..80 => [random.between(-10.0, 10.0), random.below(401) as f64 - 200.0],
        80..85 => [random.between(-2.0, 2.0), near(random, 0.5) * random.below(9) as f64],
        85..93 => [any(random), random.between(-3.0, 3.0)],
        93..97 => [any(random), any(random)],
        _ => [
            random.pick(&SPECIAL),
            if random.chance(0.5) { random.pick(&SPECIAL) } else { random.between(-3.0, 3.0) },
        ],
    }
}
