//! Numbers that networks are made of, and the functions of them that activations need, as straight code that becomes vectors.

use leastaction_linear::Precision;
use std::fmt::{Debug, Display};
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub};

/// What networks are made of: `f32`, or `f64`.
pub trait Real:
    Precision
    + Send
    + Sync
    + Debug
    + Display
    + Default
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + MulAssign
{
    /// The nearest one to a number.
    fn of(value: f64) -> Self;

    /// As a number of double precision.
    fn wide(self) -> f64;

    /// Whether it is a number, and not too large for one.
    fn is_number(self) -> bool;

    /// The size.
    fn size(self) -> Self;

    /// x with the sign of another.
    fn with_sign_of(self, other: Self) -> Self;

    /// eˣ and eˣ − 1, each to some roundings, for x from −87 to 0.
    fn exponential(self) -> (Self, Self);

    /// ln(1 + x) to some roundings, for x from 0 to 1.
    fn log_of_one_and(self) -> Self;

    /// The sine and the cosine, to some roundings of 1 for |x| < 10⁵.
    fn sine_and_cosine(self) -> (Self, Self);
}

/// Coefficients of eʳ − 1 − r = r²/2 + …, from the last to the first: 1/13!, …, 1/2!.
const EXPONENTIAL: [f64; 12] = {
    let mut list = [0.0; 12];
    let (mut factorial, mut k) = (1.0, 2);
    while k <= 13 {
        factorial *= k as f64;
        list[13 - k] = 1.0 / factorial;
        k += 1;
    }
    list
};

/// Coefficients of ln(1 + x) = 2(s + s³/3 + s⁵/5 + …) with s = x/(2 + x), from the last to the first: 1/33, …, 1/3.
const LOGARITHM: [f64; 16] = {
    let mut list = [0.0; 16];
    let mut k = 0;
    while k < 16 {
        list[15 - k] = 1.0 / (2 * k + 3) as f64;
        k += 1;
    }
    list
};

/// Of sin r − r and cos r − 1 + r²/2 in powers of r²: from 1/15! and 1/16! on to 1/3! and 1/4!, with their signs.
const SINE: [f64; 7] = alternating(3);
const COSINE: [f64; 7] = alternating(4);

const fn alternating(first: usize) -> [f64; 7] {
    let mut list = [0.0; 7];
    let mut k = 0;
    while k < 7 {
        let (mut factorial, mut i) = (1.0, 2);
        while i <= first + 2 * k {
            factorial *= i as f64;
            i += 1;
        }
        // Sines begin with −r³/3!, cosines go on with +r⁴/4!.
        let even = k % 2 == 0;
        let sign = if first == 3 {
            if even { -1.0 } else { 1.0 }
        } else if even {
            1.0
        } else {
            -1.0
        };
        list[6 - k] = sign / factorial;
        k += 1;
    }
    list
}

/// π/2 in parts, of which multiples below 2¹⁷ are exact but for the last.
const QUARTER: [f64; 3] = [
    f64::from_bits(0x3ff9_21fb_5440_0000),
    f64::from_bits(0x3dd0_b461_1a60_0000),
    2.022_266_248_795_950_6e-21,
];

/// Adding and subtracting it rounds numbers below 2⁵¹ to whole ones.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

#[inline(always)]
fn sine_and_cosine(x: f64) -> (f64, f64) {
    let shifted = x * std::f64::consts::FRAC_2_PI + ROUNDER;
    let turns = shifted - ROUNDER;
    let r = ((x - turns * QUARTER[0]) - turns * QUARTER[1]) - turns * QUARTER[2];
    let square = r * r;
    let polynomial = |list: [f64; 7]| list.iter().fold(0.0, |sum, &c| sum * square + c);
    let sine = r + r * square * polynomial(SINE);
    let cosine = 1.0 - (0.5 * square - square * square * polynomial(COSINE));
    // The last bits of what was rounded tell the quarter.
    let quarter = shifted.to_bits();
    let (one, other) = if quarter & 1 == 0 { (sine, cosine) } else { (cosine, sine) };
    let one = if quarter & 2 == 0 { one } else { -one };
    let other = if (quarter + 1) & 2 == 0 { other } else { -other };
    (one, other)
}

macro_rules! real {
    ($t:ty, $bits:ty, $mantissa:literal, $bias:literal, $exponential:literal, $logarithm:literal, $ln2:expr) => {
        impl Real for $t {
            #[inline(always)]
            fn of(value: f64) -> $t {
                value as $t
            }

            #[inline(always)]
            fn wide(self) -> f64 {
                f64::from(self)
            }

            #[inline(always)]
            fn is_number(self) -> bool {
                self.is_finite()
            }

            #[inline(always)]
            fn size(self) -> $t {
                self.abs()
            }

            #[inline(always)]
            fn with_sign_of(self, other: $t) -> $t {
                self.copysign(other)
            }

            #[inline(always)]
            fn exponential(self) -> ($t, $t) {
                const LN2: [$t; 2] = $ln2;
                let rounder: $t = 1.5 * ((1 as $bits) << $mantissa) as $t;
                let shifted = self * std::f64::consts::LOG2_E as $t + rounder;
                let n = shifted - rounder;
                let r = (self - n * LN2[0]) - n * LN2[1];
                let mut sum = 0.0;
                for c in &EXPONENTIAL[12 - $exponential..] {
                    sum = sum * r + *c as $t;
                }
                let small = r + r * r * sum;
                // 2ⁿ has n in its exponent.
                let bits = shifted.to_bits().wrapping_sub(rounder.to_bits()).wrapping_add($bias);
                let power = <$t>::from_bits(bits << $mantissa);
                (power * small + power, power * small + (power - 1.0))
            }

            #[inline(always)]
            fn log_of_one_and(self) -> $t {
                let s = self / (2.0 + self);
                let square = s * s;
                let mut sum = 0.0;
                for c in &LOGARITHM[16 - $logarithm..] {
                    sum = sum * square + *c as $t;
                }
                2.0 * (s + s * square * sum)
            }

            #[inline(always)]
            fn sine_and_cosine(self) -> ($t, $t) {
                let (sine, cosine) = sine_and_cosine(f64::from(self));
                (sine as $t, cosine as $t)
            }
        }
    };
}

// ln 2 in two parts: multiples of the first are exact.
real!(f32, u32, 23, 127, 6, 7, [0.693_359_4, -2.121_944_4e-4]);
real!(f64, u64, 52, 1023, 12, 16, [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10]);
