//! Dense factors against answers that are known otherwise.

use crate::{distance, image, number};
use leastaction_linear::dense::{
    cholesky, factor, invert, solve, solve_cholesky, solve_once, solve_symmetric,
};
use leastaction_linear::{Complex, Elimination, Noise, PivotedQr, Scalar, Singular, rank};
use std::collections::BTreeSet;

/// The inverse of Hilbert's matrix has integer entries (M.-D. Choi, Am. Math. Mon. 90 (1983) 301).
fn hilbert_inverse(n: usize, i: usize, j: usize) -> f64 {
    let binomial = |n: usize, k: usize| (0..k).fold(1.0, |b, l| b * (n - l) as f64 / (l + 1) as f64);
    let sign = if (i + j).is_multiple_of(2) { 1.0 } else { -1.0 };
    let (row, column) = (binomial(n + i, n - j - 1), binomial(n + j, n - i - 1));
    sign * (i + j + 1) as f64 * row * column * binomial(i + j, i).powi(2)
}

#[test]
fn hilberts_matrix_is_inverted_as_well_as_its_condition_allows() {
    for n in [2, 4, 6, 8] {
        let hilbert: Vec<f64> = (0..n * n).map(|k| 1.0 / (k / n + k % n + 1) as f64).collect();
        let exact: Vec<f64> = (0..n * n).map(|k| hilbert_inverse(n, k / n, k % n)).collect();
        let size = |m: &[f64]| m.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let (mut inverse, condition) = (vec![0.0; n * n], size(&exact) * size(&hilbert));
        invert(&mut hilbert.clone(), &mut inverse, n).unwrap();
        let error = distance(&inverse, &exact) / size(&exact);
        assert!(error < 10.0 * condition * f64::EPSILON, "{n}: {error:e}");
        let mut lower = hilbert.clone();
        assert!(cholesky(&mut lower, n));
        let x: Vec<f64> = (0..n).map(number).collect();
        let mut b = image(&hilbert, &x);
        solve_cholesky(&lower, &mut b);
        assert!(distance(&b, &x) < 10.0 * condition * f64::EPSILON);
    }
}

#[test]
fn solving_once_has_the_bits_of_factoring_first() {
    for n in [1, 2, 3, 7, 20] {
        let matrix: Vec<f64> = (0..n * n).map(number).collect();
        let side: Vec<f64> = (0..n).map(|k| number(k + 1000)).collect();
        let (mut factors, mut pivots, mut x) = (matrix.clone(), vec![0; n], side.clone());
        factor(&mut factors, &mut pivots).unwrap();
        solve(&factors, &pivots, &mut x);
        let mut once = side.clone();
        solve_once(&mut matrix.clone(), &mut once, n).unwrap();
        assert_eq!(x, once);
        assert!(distance(&image(&matrix, &x), &side) < 1e-12, "{n}");
    }
}

#[test]
fn rows_are_exchanged_where_a_pivot_is_zero() {
    let matrix = [0.0, 2.0, 1.0, 1.0, 1.0, 0.0, 4.0, 0.0, -1.0];
    let mut side = [2.0 * 2.0 + 3.0, 1.0 + 2.0, 4.0 - 3.0];
    solve_once(&mut matrix.clone(), &mut side, 3).unwrap();
    assert_eq!(side, [1.0, 2.0, 3.0]);
}

#[test]
fn complex_systems_are_solved() {
    let d = 5;
    let entry = |k: usize| Complex::new((1.3 * k as f64).sin(), (0.7 * (k * k) as f64).cos());
    let matrix: Vec<Complex> = (0..d * d).map(entry).collect();
    let x: Vec<Complex> = (0..d).map(|k| Complex::new(k as f64 - 2.0, 1.0 / (k + 1) as f64)).collect();
    let row = |r: usize| (0..d).fold(Complex::ZERO, |sum, k| sum + matrix[r * d + k] * x[k]);
    let mut side: Vec<Complex> = (0..d).map(row).collect();
    let (mut factors, mut pivots) = (matrix.clone(), vec![0; d]);
    factor(&mut factors, &mut pivots).unwrap();
    solve(&factors, &pivots, &mut side);
    assert!(side.iter().zip(&x).all(|(found, x)| (*found - *x).size() < 1e-13), "{side:?}");
}

#[test]
fn singular_matrices_are_refused_with_the_column() {
    assert_eq!(factor(&mut [1.0, 1.0, 1.0, 1.0], &mut [0; 2]), Err(Singular { column: 1 }));
    assert_eq!(factor(&mut [0.0, 1.0, 0.0, 1.0], &mut [0; 2]), Err(Singular { column: 0 }));
    assert_eq!(factor(&mut [f64::NAN, 1.0, 0.0, 1.0], &mut [0; 2]), Err(Singular { column: 0 }));
    assert_eq!(
        solve_symmetric::<1>(&mut [1.0, 2.0, 2.0, 4.0], &mut [1.0; 2]),
        [Some(Singular { column: 1 })]
    );
    assert!(!cholesky(&mut [1.0, 2.0, 2.0, 1.0], 2));
}

/// A symmetric matrix that its diagonal dominates.
fn symmetric(n: usize, lane: usize) -> Vec<f64> {
    let entry = |i: usize, j: usize| number(i * j + i + j + lane) + if i == j { n as f64 } else { 0.0 };
    (0..n * n).map(|k| entry(k / n, k % n)).collect()
}

#[test]
fn lanes_solve_what_single_matrices_solve() {
    for n in [1, 2, 5, 17] {
        let (mut a, mut b) = (vec![0.0; n * n * 8], vec![0.0; n * 8]);
        let x = |lane: usize| (0..n).map(|i| number(i + 31 * lane)).collect::<Vec<f64>>();
        for lane in 0..8 {
            let (matrix, right) = (symmetric(n, lane), image(&symmetric(n, lane), &x(lane)));
            (0..n * n).for_each(|k| a[k * 8 + lane] = matrix[k]);
            (0..n).for_each(|i| b[i * 8 + lane] = right[i]);
        }
        assert_eq!(solve_symmetric::<8>(&mut a, &mut b), [None; 8]);
        for lane in 0..8 {
            let mut single = image(&symmetric(n, lane), &x(lane));
            assert_eq!(solve_symmetric::<1>(&mut symmetric(n, lane), &mut single), [None]);
            assert!(distance(&single, &x(lane)) < 1e-13);
            assert!((0..n).all(|i| b[i * 8 + lane] == single[i]), "bit for bit");
        }
    }
}

/// Of AᵀA x = b with two columns that are the same, the solution is the one of least squares, and the rank is told.
#[test]
fn dependent_columns_share_what_they_carry() {
    let (m, n) = (4, 6);
    let column = |k: usize| (0..n).map(|i| number(7 * k.min(2) + i)).collect::<Vec<f64>>();
    let mut qr = PivotedQr::new(m, n, 1);
    (0..m).for_each(|k| qr.columns()[k * n..][..n].copy_from_slice(&column(k)));
    assert_eq!(qr.factor(0.0, 0), Some(3));
    let lambda = [1.0, -2.0, 0.25, 0.25];
    let sum: Vec<f64> = (0..n).map(|i| (0..m).map(|k| lambda[k] * column(k)[i]).sum()).collect();
    let b: Vec<f64> = (0..m).map(|k| image(&column(k), &sum)[0]).collect();
    let mut x = [0.0; 4];
    qr.solve(&b, &mut x, &[0, 1, 2, 3], Noise::NONE, (0, 1));
    assert!(distance(&x, &lambda) < 1e-12, "{x:?}");
    qr.columns()[0] = f64::NAN;
    assert_eq!(qr.factor(0.0, 0), None);
}

/// A column that differs from another by 1e−5: the part of the solution along the difference is left out if it is noise, by both factorisations.
#[test]
fn noise_along_short_directions_is_left_out() {
    let (short, one) = (1e-5, [1.0, 0.0]);
    let other = [(1.0f64 - short * short).sqrt(), short];
    let mut qr = PivotedQr::new(2, 2, 1);
    qr.columns().copy_from_slice(&[one, other].concat());
    assert_eq!(qr.factor(0.0, 0), Some(2));
    assert!((qr.shortest(0) / short - 1.0).abs() < 1e-9);
    let elimination = Elimination::new(vec![BTreeSet::from([1]), BTreeSet::from([0])]);
    let (mut diagonal, mut lower, mut sizes) = ([1.0, 1.0], [other[0]], [0.0; 2]);
    elimination.factor::<1>(&mut diagonal, &mut lower, &mut sizes, &[1e-14]);
    let order = elimination.order().to_vec();
    for (part, power, kept) in [(1e-3, 1, true), (1e-7, 1, false), (1e-3, 2, false)] {
        let noise = Noise { size: 1e-10, power };
        // A x = (2, part), of which the second entry is along the difference.
        let b = [2.0, 2.0 * other[0] + part * other[1]];
        let (mut x, mut y) = ([0.0; 2], [b[order[0] as usize], b[order[1] as usize]]);
        qr.solve(&b, &mut x, &order, noise, (0, 1));
        elimination.solve_known::<1>(&diagonal, &lower, &[1.0, short], &[noise], &mut y);
        let along = |x: [f64; 2]| (0..2).map(|k| x[k] * [one, other][order[k] as usize][1]).sum::<f64>();
        let expected = if kept { part } else { 0.0 };
        for found in [along(x), along(y)] {
            assert!((found - expected).abs() < 1e-4 * part.max(1e-6), "{part:e} {power}: {found:e}");
        }
    }
}

/// x + y has no inertia of its own: both coordinates are named; and a saddle is regular, though not definite.
#[test]
fn ranks_are_judged() {
    assert_eq!(
        rank::null_space(vec![vec![1.0, -1.0, 0.0], vec![-1.0, 1.0, 0.0], vec![0.0, 0.0, 1.0]]).len(),
        2
    );
    assert!(rank::null_space(vec![vec![1.0, 2.0], vec![2.0, 1.0]]).is_empty());
    assert!(rank::has_pivots(vec![vec![1.0, 0.5], vec![0.5, 1.0]]));
    assert!(!rank::has_pivots(vec![vec![1.0, 1.0], vec![1.0, 1.0]]));
    assert!(rank::is_positive(&mut [[1.0, 0.5], [0.5, 1.0]], 2, &[1.0; 2]));
    assert!(!rank::is_positive(&mut [[1.0, 2.0], [2.0, 1.0]], 2, &[2.0; 2]));
    assert_eq!(rank::left_of_semidefinite(&[1.0, 1.0, 1.0, 1.0], 2, 1e-12), None);
    assert!(rank::left_of_semidefinite(&[1.0, 2.0, 2.0, 1.0], 2, 1e-12).is_some());
}
