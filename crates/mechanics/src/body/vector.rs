//! Vectors and matrices of three: of numbers, and of expressions where both are alike.

use leastaction_expr::{Expr, jvp};
use std::ops::{Add, Mul, Sub};

/// Three numbers.
pub(crate) type Vector = [f64; 3];

/// A matrix, by rows.
pub(crate) type Matrix = [[f64; 3]; 3];

pub(crate) const IDENTITY: Matrix = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

pub(crate) fn dot<T: Copy + Mul<Output = T> + Add<Output = T>>(a: [T; 3], b: [T; 3]) -> T {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn cross<T: Copy + Mul<Output = T> + Sub<Output = T>>(a: [T; 3], b: [T; 3]) -> [T; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(crate) fn minus<T: Copy + Sub<Output = T>>(a: [T; 3], b: [T; 3]) -> [T; 3] {
    std::array::from_fn(|i| a[i] - b[i])
}

pub(crate) fn plus<T: Copy + Add<Output = T>>(a: [T; 3], b: [T; 3]) -> [T; 3] {
    std::array::from_fn(|i| a[i] + b[i])
}

pub(crate) fn scaled(factor: f64, a: Vector) -> Vector {
    a.map(|x| factor * x)
}

pub(crate) fn norm(a: Vector) -> f64 {
    a[0].hypot(a[1]).hypot(a[2])
}

/// The vector at length 1; `None` if it has none.
pub(crate) fn unit(a: Vector) -> Option<Vector> {
    let length = norm(a);
    (length > 0.0 && a.iter().all(|x| x.is_finite()) && length.is_finite()).then(|| a.map(|x| x / length))
}

/// Two unit vectors at right angles to a unit vector u and to each other, so that (v, w, u) is right-handed. For a coordinate
/// axis they are the two others.
pub(crate) fn across(u: Vector) -> [Vector; 2] {
    let largest = (0..3).max_by(|&i, &j| u[i].abs().total_cmp(&u[j].abs())).unwrap_or(2);
    let helper = IDENTITY[(largest + 1) % 3];
    let rest = minus(helper, scaled(dot(helper, u), u));
    let v = unit(rest).unwrap_or(helper);
    [v, cross(u, v)]
}

pub(crate) fn apply(m: &Matrix, a: Vector) -> Vector {
    m.map(|row| dot(row, a))
}

pub(crate) fn transpose(m: &Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| m[j][i]))
}

pub(crate) fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let columns = transpose(b);
    a.map(|row| columns.map(|column| dot(row, column)))
}

pub(crate) fn outer(a: Vector, b: Vector) -> Matrix {
    a.map(|x| b.map(|y| x * y))
}

pub(crate) fn trace(m: &Matrix) -> f64 {
    m[0][0] + m[1][1] + m[2][2]
}

/// f of two matrices, entry by entry.
pub(crate) fn zip(a: &Matrix, b: &Matrix, f: impl Fn(f64, f64) -> f64) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| f(a[i][j], b[i][j])))
}

/// The rate of change of expressions whose symbols all move.
pub(crate) fn rates<'g, const N: usize>(expressions: [Expr<'g>; N]) -> [Expr<'g>; N] {
    let symbols = crate::equations::symbols_of(&expressions);
    let direction: Vec<_> = symbols.into_iter().map(|s| (s, crate::equations::rate(s))).collect();
    let rates = jvp(&expressions, &direction);
    std::array::from_fn(|i| rates.get(i).copied().unwrap_or_else(|| expressions[i].like(0.0)))
}

/// Σ cᵢ xᵢ over vectors of expressions, without the terms whose coefficient is lost in rounding.
pub(crate) fn combination<'g>(coefficients: Vector, vectors: &[[Expr<'g>; 3]; 3]) -> [Expr<'g>; 3] {
    let size = norm(coefficients);
    let coefficients = coefficients.map(|c| if c.abs() <= 2.0 * f64::EPSILON * size { 0.0 } else { c });
    std::array::from_fn(|d| {
        let terms = coefficients.iter().zip(vectors).map(|(&c, vector)| c * vector[d]);
        vectors[0][d].graph().sum(terms)
    })
}

/// The principal values of a symmetric matrix, and its principal axes as the rows of a rotation, by Jacobi's method
/// (C. G. J. Jacobi, *J. reine angew. Math.* 30 (1846) 51). Axes that are principal already stay as they are.
pub(crate) fn principal(m: &Matrix) -> (Vector, Matrix) {
    let (mut a, mut axes) = (*m, IDENTITY);
    let size = a.iter().flatten().fold(0.0f64, |largest, x| largest.max(x.abs()));
    for _ in 0..30 {
        let mut turned = false;
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if a[p][q].abs() <= f64::EPSILON * size {
                continue;
            }
            turned = true;
            let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
            let c = 1.0 / t.hypot(1.0);
            let mut turn = IDENTITY;
            (turn[p][p], turn[q][q], turn[p][q], turn[q][p]) = (c, c, -t * c, t * c);
            a = product(&product(&turn, &a), &transpose(&turn));
            axes = product(&turn, &axes);
        }
        if !turned {
            break;
        }
    }
    ([a[0][0], a[1][1], a[2][2]], axes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn principal_axes_diagonalise_and_are_a_rotation() {
        let m = [[2.0, -0.3, 0.7], [-0.3, 1.0, 0.2], [0.7, 0.2, 0.5]];
        let (values, axes) = principal(&m);
        for i in 0..3 {
            let image = apply(&m, axes[i]);
            for d in 0..3 {
                assert!((image[d] - values[i] * axes[i][d]).abs() < 1e-14);
            }
        }
        assert!((dot(axes[0], cross(axes[1], axes[2])) - 1.0).abs() < 1e-14);
        assert!((values.iter().sum::<f64>() - trace(&m)).abs() < 1e-14);
        let diagonal = [[1.0, 0.0, 0.0], [0.0, 5.0, 0.0], [0.0, 0.0, 3.0]];
        assert_eq!(principal(&diagonal), ([1.0, 5.0, 3.0], IDENTITY));
    }

    #[test]
    fn across_gives_a_right_handed_frame() {
        assert_eq!(across([0.0, 0.0, 1.0]), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
        for raw in [[1.0, 2.0, -3.0], [-1e-9, 1.0, 0.0], [-5.0, 0.1, 0.1]] {
            let u = unit(raw).unwrap();
            let [v, w] = across(u);
            for product in [dot(u, v), dot(u, w), dot(v, w), dot(v, v) - 1.0, dot(w, w) - 1.0] {
                assert!(product.abs() < 1e-15);
            }
            assert!((dot(cross(v, w), u) - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn lengths_do_not_overflow() {
        assert!((norm([3e200, 4e200, 0.0]) / 5e200 - 1.0).abs() < 1e-15);
        let tiny = unit([0.0, 3e-200, -4e-200]).unwrap();
        assert!((tiny[1] - 0.6).abs() < 1e-15 && (tiny[2] + 0.8).abs() < 1e-15);
        assert_eq!(unit([0.0; 3]), None);
        assert_eq!(unit([f64::NAN, 1.0, 0.0]), None);
    }
}
