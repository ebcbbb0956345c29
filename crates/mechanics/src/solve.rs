//! Linear systems of numbers, in lanes, in place.
//!
//! Matrices here are a few dozen rows, one per state, changing with every state. Written as loops whose innermost runs
//! over contiguous numbers, elimination needs no library and gives each lane the same bits whatever the number of lanes.

/// Solves A x = b for symmetric A by LDLᵀ without pivots, in W lanes, overwriting A and b (with x).
///
/// Entry (i, j) of lane l is `a[(j·n + i)·W + l]`, and only i ≥ j is read. Returns, per lane, the first row whose pivot is zero or not
/// finite.
pub(crate) fn ldlt<const W: usize>(a: &mut [f64], b: &mut [f64]) -> [Option<usize>; W] {
    let n = b.len() / W;
    let mut failed = [None; W];
    for j in 0..n {
        let (pivot_column, later) = a[j * n * W..].split_at_mut(n * W);
        let mut inverse = [0.0; W];
        for l in 0..W {
            let pivot = pivot_column[j * W + l];
            if failed[l].is_none() && (pivot == 0.0 || !pivot.is_finite()) {
                failed[l] = Some(j);
            }
            inverse[l] = 1.0 / pivot;
        }
        let (head, tail) = b.split_at_mut((j + 1) * W);
        for k in j + 1..n {
            let mut factor = [0.0; W];
            for l in 0..W {
                factor[l] = pivot_column[k * W + l] * inverse[l];
            }
            let column = &mut later[(k - j - 1) * n * W..][k * W..n * W];
            for (x, y) in column.chunks_exact_mut(W).zip(pivot_column[k * W..].chunks_exact(W)) {
                for l in 0..W {
                    x[l] -= factor[l] * y[l];
                }
            }
            for l in 0..W {
                tail[(k - j - 1) * W + l] -= factor[l] * head[j * W + l];
            }
        }
        // The diagonal keeps the inverse pivot for the way back.
        pivot_column[j * W..][..W].copy_from_slice(&inverse);
    }
    for j in (0..n).rev() {
        let column = &a[j * n * W..][..n * W];
        let (head, tail) = b.split_at_mut((j + 1) * W);
        let x = &mut head[j * W..];
        // Below the diagonal stands L D, so D is divided out at the end.
        for (i, y) in tail.chunks_exact(W).enumerate() {
            for l in 0..W {
                x[l] -= column[(j + 1 + i) * W + l] * y[l];
            }
        }
        for l in 0..W {
            x[l] *= column[j * W + l];
        }
    }
    failed
}

/// Solves A X = B by LU with partial pivoting, overwriting A (n × n) and B (n × m, with X), both by rows. Fails with the column
/// that has no pivot.
pub(crate) fn lu(a: &mut [f64], b: &mut [f64], n: usize) -> Result<(), usize> {
    let m = b.len() / n;
    for k in 0..n {
        let pivot_row =
            (k..n).max_by(|&i, &j| a[i * n + k].abs().total_cmp(&a[j * n + k].abs())).unwrap_or(k);
        if pivot_row != k {
            (0..n).for_each(|j| a.swap(k * n + j, pivot_row * n + j));
            (0..m).for_each(|j| b.swap(k * m + j, pivot_row * m + j));
        }
        let pivot = a[k * n + k];
        if pivot == 0.0 || !pivot.is_finite() {
            return Err(k);
        }
        let (head, tail) = a.split_at_mut((k + 1) * n);
        let (solved, open) = b.split_at_mut((k + 1) * m);
        for (row, right) in tail.chunks_exact_mut(n).zip(open.chunks_exact_mut(m)) {
            let factor = row[k] / pivot;
            subtract(&mut row[k..], factor, &head[k * n + k..]);
            subtract(right, factor, &solved[k * m..]);
        }
    }
    for k in (0..n).rev() {
        let (open, solved) = b.split_at_mut((k + 1) * m);
        let right = &mut open[k * m..];
        for (j, row) in solved.chunks_exact(m).enumerate() {
            subtract(right, a[k * n + k + 1 + j], row);
        }
        right.iter_mut().for_each(|x| *x /= a[k * n + k]);
    }
    Ok(())
}

fn subtract(x: &mut [f64], factor: f64, y: &[f64]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x -= factor * y);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matrix without pattern, symmetric and dominated by its diagonal; and a solution.
    fn problem(n: usize, lane: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
        let entry = |i: usize, j: usize| ((i * 7 + j * 7 + i * j * 3 + lane) as f64).sin();
        let matrix =
            (0..n).map(|i| (0..n).map(|j| entry(i, j) + if i == j { n as f64 } else { 0.0 }).collect());
        (matrix.collect(), (0..n).map(|i| (i as f64 + lane as f64).cos()).collect())
    }

    fn image(matrix: &[Vec<f64>], x: &[f64]) -> Vec<f64> {
        matrix.iter().map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum()).collect()
    }

    #[test]
    fn lanes_solve_what_single_states_solve() {
        for n in [1, 2, 5, 17] {
            let (mut a, mut b) = (vec![0.0; n * n * 8], vec![0.0; n * 8]);
            for lane in 0..8 {
                let (matrix, x) = problem(n, lane);
                let rhs = image(&matrix, &x);
                let (mut single, mut y) = (vec![0.0; n * n], rhs.clone());
                for i in 0..n {
                    b[i * 8 + lane] = rhs[i];
                    for j in 0..n {
                        a[(j * n + i) * 8 + lane] = matrix[i][j];
                        single[j * n + i] = matrix[i][j];
                    }
                }
                let mut z = rhs.clone();
                lu(&mut matrix.concat(), &mut z, n).unwrap();
                assert_eq!(ldlt::<1>(&mut single, &mut y), [None]);
                for i in 0..n {
                    assert!((y[i] - x[i]).abs() < 1e-13 && (z[i] - x[i]).abs() < 1e-13);
                }
            }
            assert_eq!(ldlt::<8>(&mut a, &mut b), [None; 8]);
            for lane in 0..8 {
                let (matrix, x) = problem(n, lane);
                let mut single: Vec<f64> = (0..n * n).map(|k| matrix[k % n][k / n]).collect();
                let mut y = image(&matrix, &x);
                ldlt::<1>(&mut single, &mut y);
                assert!((0..n).all(|i| b[i * 8 + lane] == y[i]), "bit for bit");
            }
        }
    }

    #[test]
    fn a_zero_pivot_is_named() {
        assert_eq!(ldlt::<1>(&mut [1.0, 2.0, 2.0, 4.0], &mut [1.0, 1.0]), [Some(1)]);
        assert_eq!(lu(&mut [0.0, 0.0, 0.0, 1.0], &mut [1.0, 1.0], 2), Err(0));
        let mut x = [3.0, 5.0];
        lu(&mut [0.0, 1.0, 1.0, 0.0], &mut x, 2).unwrap();
        assert_eq!(x, [5.0, 3.0]);
    }
}
