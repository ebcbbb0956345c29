//! Sparse factors with pivots: residuals, transposes, structural zeros, singular matrices.

use crate::{distance, image, number};
use leastaction_linear::{Complex, Pattern, Scalar, Singular, SparseLu};

/// A square pattern without order, about `per_row` entries each, with every other diagonal missing.
fn scattered(n: usize, per_row: usize) -> Pattern {
    let random = |row: usize, k: usize| (row * 7919 + k * 104_729 + row * row * 31) % n;
    // A permutation keeps the matrix structurally regular where the diagonal is missing.
    let ring = (0..n).map(|row| (row, (row + 1) % n));
    let others = (0..n).flat_map(|row| (0..per_row).map(move |k| (row, random(row, k))));
    let even = |&(row, column): &(usize, usize)| row != column || row.is_multiple_of(2);
    Pattern::new(n, n, ring.chain(others).filter(even).collect())
}

fn dense(pattern: &Pattern, entries: &[f64]) -> Vec<f64> {
    let mut matrix = vec![0.0; pattern.rows() * pattern.width()];
    for ((row, column), entry) in pattern.entries().zip(entries) {
        matrix[row * pattern.width() + column] = *entry;
    }
    matrix
}

#[test]
fn residuals_are_rounding_also_of_the_transpose() {
    for (n, per_row) in [(1, 1), (2, 1), (10, 2), (60, 3), (150, 4)] {
        let pattern = scattered(n, per_row);
        let mut factors = SparseLu::new(&pattern);
        for round in 0..2 {
            let entries: Vec<f64> = (0..pattern.len()).map(|k| number(k + 17 * round)).collect();
            let matrix = dense(&pattern, &entries);
            let mirror: Vec<f64> = (0..n * n).map(|k| matrix[k % n * n + k / n]).collect();
            factors.factor(|entry| entries[entry]).unwrap();
            let b: Vec<f64> = (0..n).map(|k| number(k + 500)).collect();
            let mut x = b.clone();
            factors.solve(&mut x);
            let scale = x.iter().fold(1.0f64, |m, x| m.max(x.abs()));
            assert!(distance(&image(&matrix, &x), &b) < 1e-12 * scale, "{n}");
            let mut x = b.clone();
            factors.solve_transposed(&mut x);
            let scale = x.iter().fold(1.0f64, |m, x| m.max(x.abs()));
            assert!(distance(&image(&mirror, &x), &b) < 1e-12 * scale, "{n}");
        }
    }
}

/// −1, 2, −1 has the inverse min(i, j)(n + 1 − max(i, j))/(n + 1).
#[test]
fn a_chain_has_its_known_inverse_and_no_fill() {
    let n = 5000;
    let near = (0..n).flat_map(|i: usize| (i.saturating_sub(1)..n.min(i + 2)).map(move |j| (i, j)));
    let pattern = Pattern::new(n, n, near.collect());
    let mut factors = SparseLu::new(&pattern);
    let values: Vec<f64> = pattern.entries().map(|(i, j)| if i == j { 2.0 } else { -1.0 }).collect();
    factors.factor(|entry| values[entry]).unwrap();
    assert_eq!(factors.len(), 3 * n - 2);
    let column = 1234;
    let mut x = vec![0.0; n];
    x[column] = 1.0;
    factors.solve(&mut x);
    for (i, x) in x.iter().enumerate() {
        let exact = ((i.min(column) + 1) * (n - i.max(column))) as f64 / (n + 1) as f64;
        assert!((x - exact).abs() < 1e-10 * exact, "{i}: {x} {exact}");
    }
}

#[test]
fn complex_factors_are_those_of_complex_matrices() {
    let (n, pattern) = (40, scattered(40, 3));
    let entries: Vec<Complex> = (0..pattern.len()).map(|k| Complex::new(number(k), number(k + 99))).collect();
    let x: Vec<Complex> = (0..n).map(|k| Complex::new(number(k + 5), number(k + 7))).collect();
    let mut b = vec![Complex::ZERO; n];
    for ((row, column), entry) in pattern.entries().zip(&entries) {
        b[row] = b[row] + *entry * x[column];
    }
    let mut factors = SparseLu::new(&pattern);
    factors.factor(|entry| entries[entry]).unwrap();
    factors.solve(&mut b);
    assert!(b.iter().zip(&x).all(|(b, x)| (*b - *x).size() < 1e-10));
}

#[test]
fn singular_matrices_are_refused() {
    // Structurally: a column without entries.
    let empty = Pattern::new(3, 3, vec![(0, 0), (1, 0), (2, 2)]);
    assert_eq!(SparseLu::new(&empty).factor(|_| 1.0), Err(Singular { column: 1 }));
    // By its numbers: two rows are the same.
    let full = Pattern::new(2, 2, vec![(0, 0), (0, 1), (1, 0), (1, 1)]);
    assert!(SparseLu::new(&full).factor(|_| 1.0).is_err());
    // Where all entries of a column are zero, or not a number.
    assert!(SparseLu::new(&full).factor(|entry| if entry % 2 == 0 { 0.0 } else { 1.0 }).is_err());
    assert!(SparseLu::new(&full).factor(|_| f64::NAN).is_err());
    // After a failure the same memory serves another matrix.
    let mut factors = SparseLu::new(&full);
    assert!(factors.factor(|_| 1.0).is_err());
    factors.factor(|entry| [0.0, 1.0, 1.0, 0.0][entry]).unwrap();
    let mut x = [3.0, 5.0];
    factors.solve(&mut x);
    assert_eq!(x, [5.0, 3.0]);
}

#[test]
fn patterns_find_their_entries() {
    let pattern = Pattern::new(4, 3, vec![(3, 1), (0, 2), (0, 0), (3, 1)]);
    assert_eq!((pattern.rows(), pattern.width(), pattern.len()), (4, 3, 3));
    assert_eq!(pattern.entries().collect::<Vec<_>>(), [(0, 0), (0, 2), (3, 1)]);
    assert_eq!((0..3).map(|entry| pattern.row_of(entry)).collect::<Vec<_>>(), [0, 0, 3]);
    assert_eq!((pattern.find(0, 2), pattern.find(1, 0), pattern.find(3, 1)), (Some(1), None, Some(2)));
}
