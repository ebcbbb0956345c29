//! Iteration by products: how many it takes, and that it says where it does not come to an end.

use crate::{distance, number};
use leastaction_linear::Gmres;
use std::convert::Infallible;

/// A matrix of two eigenvalues takes two products; a preconditioner that inverts it, one; and a short memory is begun again.
#[test]
fn iterations_are_as_many_as_theory_says() {
    let n = 50;
    let value = |i: usize| if i < 20 { 1.0 } else { 4.0 };
    let apply = |x: &[f64], out: &mut [f64]| {
        (0..n).for_each(|i| out[i] = value(i) * x[i]);
        Ok::<(), Infallible>(())
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

/// Where there is no solution, the residual says so.
#[test]
fn what_cannot_be_solved_is_reported() {
    let apply = |x: &[f64], out: &mut [f64]| {
        out.fill(x[0] + x[1]);
        Ok::<(), Infallible>(())
    };
    let mut x = [0.0; 2];
    let done = Gmres::new(2, 10).solve(&[1.0, 2.0], &mut x, 1e-12, 50, apply, |_| ()).unwrap();
    // The nearest image of anything is (1.5, 1.5).
    assert!((done.residual - (0.5f64 / 5.0).sqrt()).abs() < 1e-12, "{done:?}");
}
