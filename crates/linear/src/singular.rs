//! Least squares: tall matrices made triangular, and matrices taken apart into singular values.

/// The numbers of A = U diag(σ) Vᵀ.
#[derive(Clone, Debug, PartialEq)]
pub struct SingularValues {
    /// σ, the largest first.
    pub values: Vec<f64>,
    /// The columns of U, one after the other; those of singular values that vanish are zero.
    pub left: Vec<f64>,
    /// The columns of V, one after the other.
    pub right: Vec<f64>,
}

/// The triangle R of A = Q R, by the reflections of Householder: RᵀR = AᵀA, without the loss of digits that a product has. A is given by rows, and so is R, which
/// has as many rows as columns. What is in the last column beside R is the part of it that the others do not reach.
#[must_use]
pub fn triangle(mut rows: Vec<f64>, columns: usize) -> Vec<f64> {
    let n = columns;
    let count = rows.len().checked_div(n).unwrap_or(0);
    for k in 0..n.min(count) {
        let length = (k..count).map(|i| rows[i * n + k]).fold(0.0, f64::hypot);
        if length == 0.0 {
            continue;
        }
        let pivot = rows[k * n + k];
        // Away from the pivot: nothing cancels.
        let end = if pivot > 0.0 { -length } else { length };
        let first = pivot - end;
        for j in k + 1..n {
            let mut along = rows[k * n + j];
            (k + 1..count).for_each(|i| along += rows[i * n + k] / first * rows[i * n + j]);
            let factor = along * (first / end);
            rows[k * n + j] += factor;
            (k + 1..count).for_each(|i| rows[i * n + j] += factor * (rows[i * n + k] / first));
        }
        rows[k * n + k] = end;
        (k + 1..count).for_each(|i| rows[i * n + k] = 0.0);
    }
    rows.resize(n * n, 0.0);
    rows
}

/// The singular values of a matrix, given by rows: by rotations of pairs of its columns until all are orthogonal (M. R. Hestenes, J. SIAM 6 (1958) 51), which finds
/// small ones to all digits that the columns have. `None` if a number is not finite, or rotations do not end.
#[must_use]
pub fn singular_values(matrix: &[f64], columns: usize) -> Option<SingularValues> {
    /// So many rounds are never needed.
    const ROUNDS: usize = 80;
    let n = columns;
    let m = matrix.len().checked_div(n).unwrap_or(0);
    if !matrix.iter().all(|x| x.is_finite()) {
        return None;
    }
    let mut turned: Vec<Vec<f64>> = (0..n).map(|j| (0..m).map(|i| matrix[i * n + j]).collect()).collect();
    let mut right: Vec<Vec<f64>> =
        (0..n).map(|j| (0..n).map(|i| if i == j { 1.0 } else { 0.0 }).collect()).collect();
    let mut done = n < 2;
    for _ in 0..ROUNDS {
        if done {
            break;
        }
        done = true;
        for p in 0..n {
            for q in p + 1..n {
                let (a, b) = (dot(&turned[p], &turned[p]), dot(&turned[q], &turned[q]));
                let c = dot(&turned[p], &turned[q]);
                if c == 0.0 || c.abs() <= 4.0 * f64::EPSILON * a.sqrt() * b.sqrt() {
                    continue;
                }
                done = false;
                let zeta = (b - a) / (2.0 * c);
                let tangent = 1.0f64.copysign(zeta) / (zeta.abs() + f64::hypot(1.0, zeta));
                let cosine = 1.0 / f64::hypot(1.0, tangent);
                let sine = cosine * tangent;
                for list in [&mut turned, &mut right] {
                    let (before, after) = list.split_at_mut(q);
                    for (x, y) in before[p].iter_mut().zip(&mut after[0]) {
                        (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
                    }
                }
            }
        }
    }
    if !done {
        return None;
    }
    let lengths: Vec<f64> =
        turned.iter().map(|column| column.iter().copied().fold(0.0, f64::hypot)).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| lengths[j].total_cmp(&lengths[i]));
    let unit = |j: usize| {
        let length = lengths[j];
        turned[j].iter().map(move |x| if length > 0.0 { x / length } else { 0.0 })
    };
    Some(SingularValues {
        values: order.iter().map(|&j| lengths[j]).collect(),
        left: order.iter().flat_map(|&j| unit(j)).collect(),
        right: order.iter().flat_map(|&j| right[j].iter().copied()).collect(),
    })
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::{singular_values, triangle};
    use crate::eigen;

    /// Numbers without pattern.
    fn numbers(count: usize) -> Vec<f64> {
        (1..=count).map(|i| ((i * i) as f64 * 0.7391).sin()).collect()
    }

    fn gram(rows: &[f64], n: usize) -> Vec<f64> {
        let mut sums = vec![0.0; n * n];
        for row in rows.chunks_exact(n) {
            (0..n * n).for_each(|place| sums[place] += row[place / n] * row[place % n]);
        }
        sums
    }

    #[test]
    fn a_triangle_has_the_products_of_its_matrix() {
        for (rows, n) in [(40, 7), (5, 5), (3, 6), (1, 1), (0, 3)] {
            let mut all = numbers(rows * n);
            // A column that is nothing, and one that is another.
            if n > 5 {
                all.iter_mut().skip(2).step_by(n).for_each(|x| *x = 0.0);
                (0..rows).for_each(|i| all[i * n + 4] = 3.0 * all[i * n + 1]);
            }
            let r = triangle(all.clone(), n);
            assert!((0..n * n).all(|place| place % n >= place / n || r[place] == 0.0));
            let off = gram(&all, n).iter().zip(gram(&r, n)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off < 1e-13, "{rows} × {n}: {off}");
        }
    }

    #[test]
    fn singular_values_are_those_of_eigenvalues_and_put_the_matrix_together() {
        let (m, n) = (9, 6);
        let matrix = numbers(m * n);
        let found = singular_values(&matrix, n).unwrap();
        let (squares, _) = eigen::symmetric(&gram(&matrix, n), n).unwrap();
        for (value, square) in found.values.iter().zip(squares.iter().rev()) {
            assert!((value * value - square).abs() < 1e-12 * squares[n - 1]);
        }
        for i in 0..m {
            for j in 0..n {
                let sum: f64 =
                    (0..n).map(|k| found.left[k * m + i] * found.values[k] * found.right[k * n + j]).sum();
                assert!((sum - matrix[i * n + j]).abs() < 1e-13);
            }
        }
    }

    /// A column that another one nearly is: its singular value is right to some digits, where products of columns would have lost all.
    #[test]
    fn small_singular_values_are_found() {
        let matrix = [1.0, 1.0, 0.0, 1e-12, 0.0, 0.0];
        let found = singular_values(&matrix, 2).unwrap();
        let expected = 1e-12 / 2.0f64.sqrt();
        assert!((found.values[1] / expected - 1.0).abs() < 1e-9, "{}", found.values[1]);
        assert!(singular_values(&[f64::NAN], 1).is_none());
        assert_eq!(singular_values(&[0.0, 0.0], 2).unwrap().values, [0.0, 0.0]);
    }
}
