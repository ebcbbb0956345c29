//! All tests of this crate in one program, so that they are built and linked once.
#![allow(clippy::unwrap_used)] // a test may panic

mod dense;
mod elimination;
mod krylov;
mod sparse;

/// A number without pattern between −1 and 1.
fn number(k: usize) -> f64 {
    (0.4 + 1.7 * k as f64 + 0.3 * (k * k % 101) as f64).sin()
}

/// A x for a matrix by rows.
fn image(matrix: &[f64], x: &[f64]) -> Vec<f64> {
    matrix.chunks_exact(x.len()).map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
}

/// The largest difference.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}
