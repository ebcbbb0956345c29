//! Sparse factors: with pivots, by columns and in blocks; of positive matrices. Residuals, closed forms, structural zeros, singular matrices.

use crate::{distance, image, number};
use leastaction_linear::{Complex, NoFactors, NotPositive, Pattern, Scalar, SparseCholesky, SparseLu};
use std::f64::consts::PI;

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
fn residuals_are_rounding() {
    for (n, per_row) in [(1, 1), (2, 1), (10, 2), (60, 3), (150, 4)] {
        let pattern = scattered(n, per_row);
        let mut factors = SparseLu::new(&pattern);
        for round in 0..2 {
            let entries: Vec<f64> = (0..pattern.len()).map(|k| number(k + 17 * round)).collect();
            let matrix = dense(&pattern, &entries);
            factors.factor(|entry| entries[entry]).unwrap();
            let b: Vec<f64> = (0..n).map(|k| number(k + 500)).collect();
            let mut x = b.clone();
            factors.solve(&mut x);
            let scale = x.iter().fold(1.0f64, |m, x| m.max(x.abs()));
            assert!(distance(&image(&matrix, &x), &b) < 1e-12 * scale, "{n}");
        }
    }
}

/// A cube of k³ points, each coupled to its neighbours on the axes: patterns that fill in so much that their factors are made in blocks.
fn cube(k: usize) -> Pattern {
    let place = |[x, y, z]: [usize; 3]| (x * k + y) * k + z;
    let mut entries = Vec::new();
    for at in (0..k * k * k).map(|i| [i / (k * k), i / k % k, i % k]) {
        entries.push((place(at), place(at)));
        for axis in (0..3).filter(|&axis| at[axis] + 1 < k) {
            let mut next = at;
            next[axis] += 1;
            entries.extend([(place(at), place(next)), (place(next), place(at))]);
        }
    }
    Pattern::new(k * k * k, k * k * k, entries)
}

/// The Laplacian of a cube, and its eigenvector sin(π a x) sin(π b y) sin(π c z) with its eigenvalue: 6 less twice the cosines.
fn laplacian(k: usize, modes: [usize; 3]) -> (Pattern, Vec<f64>, Vec<f64>, f64) {
    let pattern = cube(k);
    let values = pattern.entries().map(|(i, j)| if i == j { 6.0 } else { -1.0 }).collect();
    let angle = |mode: usize, at: usize| PI * (mode * at) as f64 / (k + 1) as f64;
    let [a, b, c] = modes;
    let wave = |i: usize| {
        let [x, y, z] = [i / (k * k) + 1, i / k % k + 1, i % k + 1];
        angle(a, x).sin() * angle(b, y).sin() * angle(c, z).sin()
    };
    let eigenvalue = modes.iter().fold(6.0, |sum, &mode| sum - 2.0 * angle(mode, 1).cos());
    (pattern, values, (0..k * k * k).map(wave).collect(), eigenvalue)
}

/// Rows and columns are scaled, differently, so that the matrix is not symmetric, and by complex numbers, too: D₁ A D₂ x = D₁ v has the
/// solution D₂⁻¹ v/λ.
#[test]
fn meshes_have_their_known_solutions() {
    let (pattern, values, wave, eigenvalue) = laplacian(12, [3, 1, 7]);
    let row = |i: usize| 1.5 + number(i);
    let column = |i: usize| 1.5 + number(i + 7000);
    let entries: Vec<(usize, usize)> = pattern.entries().collect();
    let mut factors = SparseLu::new(&pattern);
    let scaled = |entry: usize| row(entries[entry].0) * values[entry] * column(entries[entry].1);
    assert_eq!(factors.factor(scaled), Ok(()));
    let mut x: Vec<f64> = wave.iter().enumerate().map(|(i, v)| row(i) * v).collect();
    factors.solve(&mut x);
    let exact: Vec<f64> = wave.iter().enumerate().map(|(i, v)| v / eigenvalue / column(i)).collect();
    assert!(distance(&x, &exact) < 1e-12, "{:e}", distance(&x, &exact));
    let turn = |i: usize| Complex::new(1.0 + number(i), 2.0 * number(i + 9000));
    let mut factors = SparseLu::new(&pattern);
    assert_eq!(factors.factor(|entry| turn(entries[entry].0).times(values[entry])), Ok(()));
    let mut x: Vec<Complex> = wave.iter().enumerate().map(|(i, v)| turn(i).times(*v)).collect();
    factors.solve(&mut x);
    for (x, v) in x.iter().zip(&wave) {
        assert!((*x - Complex::new(v / eigenvalue, 0.0)).size() < 1e-12);
    }
}

/// Factors in blocks are the same wherever they stand in memory, and are made again in the same memory.
#[test]
fn blocks_do_not_depend_on_memory() {
    let (pattern, values, wave, _) = laplacian(9, [1, 2, 3]);
    let scaled = |entry: usize| values[entry] * (1.0 + 0.3 * number(entry));
    let solution = |factors: &mut SparseLu<f64>| {
        assert_eq!(factors.factor(scaled), Ok(()));
        let mut x = wave.clone();
        factors.solve(&mut x);
        x
    };
    let mut kept = SparseLu::new(&pattern);
    let first = solution(&mut kept);
    let mut others = Vec::new();
    for round in 0..20 {
        others.push(vec![0u8; 8 * (round * round + 1)]);
        let mut factors = SparseLu::new(&pattern);
        assert_eq!(factors.factor(|entry| values[entry] + 0.1), Ok(()));
        assert_eq!(solution(&mut factors), first);
        assert_eq!(solution(&mut factors.clone()), first);
    }
    assert_eq!(solution(&mut kept), first);
}

#[test]
fn positive_matrices_have_their_known_solutions() {
    for (k, modes) in [(2, [1, 2, 1]), (4, [1, 4, 2]), (12, [3, 1, 7])] {
        let (pattern, values, wave, eigenvalue) = laplacian(k, modes);
        let lower: Vec<(usize, usize)> = pattern.entries().filter(|(i, j)| i >= j).collect();
        let lower = Pattern::new(pattern.rows(), pattern.rows(), lower);
        let lower_values: Vec<f64> = lower.entries().map(|(i, j)| if i == j { 6.0 } else { -1.0 }).collect();
        let exact: Vec<f64> = wave.iter().map(|v| v / eigenvalue).collect();
        for (pattern, values) in [(&pattern, &values), (&lower, &lower_values)] {
            let mut factors = SparseCholesky::new(pattern);
            for scale in [1.0, 4.0] {
                assert_eq!(factors.factor(|entry| scale * values[entry]), Ok(()));
                let mut x: Vec<f64> = wave.iter().map(|v| scale * v).collect();
                factors.solve(&mut x);
                assert!(distance(&x, &exact) < 1e-13, "{:e}", distance(&x, &exact));
            }
        }
    }
}

/// A diagonal that is moved below the smallest eigenvalue makes a matrix indefinite; just above it does not.
#[test]
fn matrices_that_are_not_positive_are_refused() {
    for k in [3, 12] {
        let (pattern, values, _, smallest) = laplacian(k, [1, 1, 1]);
        let diagonal: Vec<bool> = pattern.entries().map(|(i, j)| i == j).collect();
        let mut factors = SparseCholesky::new(&pattern);
        let mut moved = |by: f64| factors.factor(|e| values[e] - if diagonal[e] { by } else { 0.0 });
        assert_eq!(moved(smallest * (1.0 - 1e-9)), Ok(()));
        assert_eq!(moved(smallest * (1.0 + 1e-9)), Err(NotPositive));
        let place = pattern.find(5, 5).unwrap();
        let mut factors = SparseCholesky::new(&pattern);
        for wrong in [-1e3, f64::NAN, f64::INFINITY] {
            let found = factors.factor(|e| if e == place { wrong } else { values[e] });
            assert_eq!(found, Err(NotPositive), "{k} {wrong}");
        }
        assert_eq!(factors.factor(|e| values[e]), Ok(()));
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
    assert_eq!(SparseLu::new(&empty).factor(|_| 1.0), Err(NoFactors));
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

/// In blocks, too: a row or a column of zeros, numbers that are not finite, a column without entries.
#[test]
fn singular_meshes_are_refused() {
    let (pattern, values, wave, _) = laplacian(9, [1, 1, 1]);
    let entries: Vec<(usize, usize)> = pattern.entries().collect();
    let mut factors = SparseLu::new(&pattern);
    assert_eq!(factors.factor(|e| if entries[e].0 == 100 { 0.0 } else { values[e] }), Err(NoFactors));
    assert_eq!(factors.factor(|e| if entries[e].1 == 700 { 0.0 } else { values[e] }), Err(NoFactors));
    for wrong in [f64::NAN, f64::INFINITY] {
        assert_eq!(factors.factor(|e| if e == 1000 { wrong } else { values[e] }), Err(NoFactors));
    }
    assert_eq!(factors.factor(|_| 0.0), Err(NoFactors));
    assert_eq!(factors.factor(|e| values[e]), Ok(()));
    let mut x = wave;
    factors.solve(&mut x);
    assert!(x.iter().all(|x| x.is_finite()));
    let rows = pattern.rows();
    let without = Pattern::new(rows, rows, entries.into_iter().filter(|&(_, j)| j != 300).collect());
    assert_eq!(SparseLu::new(&without).factor(|e| 2.0 + number(e)), Err(NoFactors));
}

#[test]
fn patterns_find_their_entries() {
    let pattern = Pattern::new(4, 3, vec![(3, 1), (0, 2), (0, 0), (3, 1)]);
    assert_eq!((pattern.rows(), pattern.width(), pattern.len()), (4, 3, 3));
    assert_eq!(pattern.entries().collect::<Vec<_>>(), [(0, 0), (0, 2), (3, 1)]);
    assert_eq!((0..3).map(|entry| pattern.row_of(entry)).collect::<Vec<_>>(), [0, 0, 3]);
    assert_eq!((pattern.find(0, 2), pattern.find(1, 0), pattern.find(3, 1)), (Some(1), None, Some(2)));
}
