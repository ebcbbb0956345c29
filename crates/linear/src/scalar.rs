//! Numbers that matrices consist of: real and complex.

use crate::sparse::InBlocks;
use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Sub};

/// What a matrix consists of.
pub trait Scalar:
    InBlocks
    + Copy
    + Debug
    + PartialEq
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + From<f64>
{
    /// The size, up to a factor of √2.
    fn size(self) -> f64;
}

impl Scalar for f64 {
    fn size(self) -> f64 {
        self.abs()
    }
}

/// A complex number.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Complex {
    /// The real part.
    pub re: f64,
    /// The imaginary part.
    pub im: f64,
}

impl Complex {
    /// Zero.
    pub const ZERO: Complex = Complex { re: 0.0, im: 0.0 };

    /// A number from its parts.
    #[must_use]
    pub fn new(re: f64, im: f64) -> Complex {
        Complex { re, im }
    }

    /// The number times a real one.
    #[must_use]
    pub fn times(self, factor: f64) -> Complex {
        Complex { re: self.re * factor, im: self.im * factor }
    }
}

impl Scalar for Complex {
    fn size(self) -> f64 {
        self.re.abs() + self.im.abs()
    }
}

impl Add for Complex {
    type Output = Complex;
    fn add(self, other: Complex) -> Complex {
        Complex { re: self.re + other.re, im: self.im + other.im }
    }
}

impl Sub for Complex {
    type Output = Complex;
    fn sub(self, other: Complex) -> Complex {
        Complex { re: self.re - other.re, im: self.im - other.im }
    }
}

impl Mul for Complex {
    type Output = Complex;
    fn mul(self, other: Complex) -> Complex {
        Complex { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }
}

impl Div for Complex {
    type Output = Complex;
    fn div(self, other: Complex) -> Complex {
        let square = other.re * other.re + other.im * other.im;
        let inverse = Complex { re: other.re / square, im: -other.im / square };
        self * inverse
    }
}

impl From<f64> for Complex {
    fn from(re: f64) -> Complex {
        Complex { re, im: 0.0 }
    }
}
