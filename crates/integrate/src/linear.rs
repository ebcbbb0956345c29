//! Systems of linear equations, real or complex, by elimination with partial pivoting.

use std::ops::{Add, Div, Mul, Sub};

/// What a matrix consists of.
pub(crate) trait Scalar:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
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
pub(crate) struct Complex {
    pub(crate) re: f64,
    pub(crate) im: f64,
}

impl Complex {
    pub(crate) const ZERO: Complex = Complex { re: 0.0, im: 0.0 };

    pub(crate) fn new(re: f64, im: f64) -> Complex {
        Complex { re, im }
    }

    pub(crate) fn times(self, factor: f64) -> Complex {
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

/// Replaces a matrix, by rows, by its factors. Row c was exchanged with row `pivots[c]` before column c was eliminated. A singular
/// matrix leaves numbers that are not finite, which show in every solution.
pub(crate) fn factor<T: Scalar>(matrix: &mut [T], pivots: &mut [usize]) {
    let d = pivots.len();
    for c in 0..d {
        let size = |r: &usize| matrix[r * d + c].size();
        let pivot = (c..d).max_by(|a, b| size(a).total_cmp(&size(b))).unwrap_or(c);
        pivots[c] = pivot;
        if pivot != c {
            (0..d).for_each(|k| matrix.swap(c * d + k, pivot * d + k));
        }
        let (above, below) = matrix.split_at_mut((c + 1) * d);
        let row = &above[c * d..];
        for other in below.chunks_exact_mut(d) {
            if other[c].size() != 0.0 {
                let share = other[c] / row[c];
                other[c] = share;
                for (entry, upper) in other[c + 1..].iter_mut().zip(&row[c + 1..]) {
                    *entry = *entry - share * *upper;
                }
            }
        }
    }
}

/// Solves with the factors of a matrix.
pub(crate) fn solve<T: Scalar>(factors: &[T], pivots: &[usize], side: &mut [T]) {
    let d = pivots.len();
    for (c, &pivot) in pivots.iter().enumerate() {
        side.swap(c, pivot);
    }
    for r in 1..d {
        let (known, rest) = side.split_at_mut(r);
        for (share, x) in factors[r * d..][..r].iter().zip(known) {
            rest[0] = rest[0] - *share * *x;
        }
    }
    for r in (0..d).rev() {
        let (rest, known) = side.split_at_mut(r + 1);
        for (entry, x) in factors[r * d + r + 1..(r + 1) * d].iter().zip(known) {
            rest[r] = rest[r] - *entry * *x;
        }
        rest[r] = rest[r] / factors[r * d + r];
    }
}

/// Inverts a matrix, which is replaced by its factors. There is room for as many numbers as it has rows.
pub(crate) fn invert(matrix: &mut [f64], pivots: &mut [usize], column: &mut [f64], inverse: &mut [f64]) {
    let d = pivots.len();
    factor(matrix, pivots);
    for c in 0..d {
        column.fill(0.0);
        column[c] = 1.0;
        solve(matrix, pivots, column);
        (0..d).for_each(|r| inverse[r * d + c] = column[r]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elimination_pivots() {
        let mut matrix = [0.0, 2.0, 1.0, 1.0, 1.0, 0.0, 4.0, 0.0, -1.0];
        let mut side = [2.0 * 2.0 + 3.0, 1.0 + 2.0, 4.0 - 3.0];
        let mut pivots = [0; 3];
        factor(&mut matrix, &mut pivots);
        solve(&matrix, &pivots, &mut side);
        assert_eq!(side, [1.0, 2.0, 3.0]);
    }

    #[test]
    fn inverses_invert() {
        let matrix = [0.0, 2.0, 1.0, 1.0, 1.0, 0.0, 4.0, 0.0, -1.0];
        let (mut factors, mut inverse) = (matrix, [0.0; 9]);
        invert(&mut factors, &mut [0; 3], &mut [0.0; 3], &mut inverse);
        for (i, k) in (0..3).flat_map(|i| (0..3).map(move |k| (i, k))) {
            let product: f64 = (0..3).map(|l| matrix[i * 3 + l] * inverse[l * 3 + k]).sum();
            assert!((product - f64::from(i == k)).abs() < 1e-15);
        }
        let mut inverse = [0.0; 4];
        invert(&mut [1.0; 4], &mut [0; 2], &mut [0.0; 2], &mut inverse);
        assert!(inverse.iter().any(|x| !x.is_finite()));
    }

    #[test]
    fn complex_systems_are_solved() {
        let d = 5;
        let entry = |k: usize| Complex::new((1.3 * k as f64).sin(), (0.7 * (k * k) as f64).cos());
        let mut matrix: Vec<Complex> = (0..d * d).map(entry).collect();
        let x: Vec<Complex> = (0..d).map(|k| Complex::new(k as f64 - 2.0, 1.0 / (k + 1) as f64)).collect();
        let row = |r: usize| (0..d).fold(Complex::ZERO, |sum, k| sum + matrix[r * d + k] * x[k]);
        let mut side: Vec<Complex> = (0..d).map(row).collect();
        let mut pivots = vec![0; d];
        factor(&mut matrix, &mut pivots);
        solve(&matrix, &pivots, &mut side);
        assert!(side.iter().zip(&x).all(|(found, x)| (*found - *x).size() < 1e-13), "{side:?}");
    }

    #[test]
    fn a_singular_matrix_is_not_solved() {
        let (mut matrix, mut side, mut pivots) = ([1.0, 1.0, 1.0, 1.0], [1.0, 2.0], [0; 2]);
        factor(&mut matrix, &mut pivots);
        solve(&matrix, &pivots, &mut side);
        assert!(side.iter().any(|x: &f64| !x.is_finite()));
    }
}
