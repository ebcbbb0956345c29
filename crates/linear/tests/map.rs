//! The three forms of a linear map say the same, and refuse what they cannot do.

use crate::{distance, image, number};
use leastaction_linear::{Gmres, LinearMap, Pattern, Singular, SolveError};

#[test]
fn forms_agree() {
    let n = 30;
    let near = (0..n).flat_map(|i: usize| (i.saturating_sub(2)..n.min(i + 2)).map(move |j| (i, j)));
    let pattern = Pattern::new(n, n, near.collect());
    let value = |(i, j): (usize, usize)| number(i * n + j) + if i == j { 3.0 } else { 0.0 };
    let entries: Vec<f64> = pattern.entries().map(value).collect();
    let matrix = LinearMap::Sparse { pattern: &pattern, entries: &entries }.assemble();
    let mirror: Vec<f64> = (0..n * n).map(|k| matrix[k % n * n + k / n]).collect();
    let mut product = |x: &[f64], out: &mut [f64]| out.copy_from_slice(&image(&matrix, x));
    let mut transposed = |x: &[f64], out: &mut [f64]| out.copy_from_slice(&image(&mirror, x));
    let maps = [
        LinearMap::Dense { rows: n, entries: &matrix },
        LinearMap::Sparse { pattern: &pattern, entries: &entries },
        LinearMap::Free { rows: n, product: &mut product, transposed: Some(&mut transposed) },
    ];
    let b: Vec<f64> = (0..n).map(number).collect();
    for (form, mut map) in maps.into_iter().enumerate() {
        assert_eq!(map.rows(), n);
        assert_eq!(map.pattern().is_some(), form == 1);
        assert_eq!(map.assemble(), matrix);
        let mut out = vec![0.0; n];
        map.apply(&b, &mut out);
        assert!(distance(&out, &image(&matrix, &b)) < 1e-14);
        map.apply_transposed(&b, &mut out).unwrap();
        assert!(distance(&out, &image(&mirror, &b)) < 1e-14);
        let x = map.solve(&b).unwrap();
        assert!(distance(&image(&matrix, &x), &b) < 1e-11, "{form}");
    }
}

#[test]
fn what_cannot_be_solved_is_refused() {
    let ones = [1.0; 4];
    let singular = LinearMap::Dense { rows: 2, entries: &ones }.solve(&[1.0, 2.0]);
    assert_eq!(singular, Err(SolveError::Singular(Singular { column: 1 })));
    let mut product = |x: &[f64], out: &mut [f64]| out.fill(x[0] + x[1]);
    let mut free = LinearMap::Free { rows: 2, product: &mut product, transposed: None };
    assert!(matches!(free.solve(&[1.0, 2.0]), Err(SolveError::NoConvergence { .. })));
    assert_eq!(free.apply_transposed(&[1.0, 2.0], &mut [0.0; 2]), Err(SolveError::NoTranspose));
}

/// A matrix of two eigenvalues takes two products; a preconditioner that inverts it, one; and a short memory is begun again.
#[test]
fn iterations_are_as_many_as_theory_says() {
    let n = 50;
    let value = |i: usize| if i < 20 { 1.0 } else { 4.0 };
    let apply = |x: &[f64], out: &mut [f64]| {
        (0..n).for_each(|i| out[i] = value(i) * x[i]);
        Ok::<(), SolveError>(())
    };
    let b: Vec<f64> = (0..n).map(number).collect();
    let exact: Vec<f64> = (0..n).map(|i| b[i] / value(i)).collect();
    let mut x = vec![0.0; n];
    let plain = Gmres::new(n, 10).solve(&b, &mut x, 1e-13, 100, apply, |_| ()).unwrap();
    assert_eq!(plain.products, 2);
    assert!(distance(&x, &exact) < 1e-12);
    let divide = |x: &mut [f64]| (0..n).for_each(|i| x[i] /= value(i));
    let helped = Gmres::new(n, 10).solve(&b, &mut x, 1e-13, 100, apply, divide).unwrap();
    assert_eq!(helped.products, 1);
    assert!(distance(&x, &exact) < 1e-12);
    let short = Gmres::new(n, 1).solve(&b, &mut x, 1e-10, 500, apply, |_| ()).unwrap();
    assert!(short.products > 2 && short.residual <= 1e-10);
    assert!(distance(&x, &exact) < 1e-9);
    let nothing = Gmres::new(n, 10).solve(&vec![0.0; n], &mut x, 1e-10, 500, apply, |_| ()).unwrap();
    assert_eq!((nothing.products, x), (0, vec![0.0; n]));
}
