//! What can be said of a matrix without solving with it: is it regular, definite, and if not, what does it map to zero?
//!
//! These are asked where a model is judged, once, and make copies as they like.

/// Rounding, relative to a diagonal of ones.
fn rounding(n: usize) -> f64 {
    16.0 * n as f64 * f64::EPSILON
}

/// Whether the first rows of a symmetric matrix with a diagonal of ones are positive definite beyond rounding; `sizes` are the largest
/// entries of its rows.
#[must_use]
pub fn is_positive<const N: usize>(a: &mut [[f64; N]; N], rows: usize, sizes: &[f64; N]) -> bool {
    for k in 0..rows {
        let (row, pivot) = (a[k], a[k][k]);
        let clear = pivot > rounding(rows) * sizes[k] && pivot.is_finite();
        if !clear {
            return false;
        }
        for other in &mut a[k + 1..rows] {
            let factor = other[k] / pivot;
            (k..rows).for_each(|j| other[j] -= factor * row[j]);
        }
    }
    true
}

/// Whether a symmetric matrix is positive semidefinite to a tolerance, by Cholesky's method with the largest pivot first: what is left when
/// none is positive must vanish. If it is not, an entry that is left: row, column, value.
#[must_use]
pub fn left_of_semidefinite(matrix: &[f64], n: usize, tolerance: f64) -> Option<(usize, usize, f64)> {
    let (mut a, mut left) = (matrix.to_vec(), (0..n).collect::<Vec<usize>>());
    while let Some(place) =
        (0..left.len()).max_by(|&x, &y| a[left[x] * n + left[x]].total_cmp(&a[left[y] * n + left[y]]))
    {
        let k = left[place];
        let pivot = a[k * n + k];
        if pivot <= tolerance {
            let open = left.iter().flat_map(|&i| left.iter().map(move |&j| (i, j)));
            return open.map(|(i, j)| (i, j, a[i * n + j])).find(|(_, _, v)| v.abs() > 10.0 * tolerance);
        }
        left.swap_remove(place);
        for &i in &left {
            for &j in &left {
                a[i * n + j] -= a[i * n + k] * a[k * n + j] / pivot;
            }
        }
    }
    None
}

/// The columns in directions that a matrix with a diagonal of ones maps to zero, by Gauss–Jordan elimination with full pivoting.
#[must_use]
pub fn null_space(mut a: Vec<Vec<f64>>) -> Vec<usize> {
    let n = a.len();
    let size = a.iter().flatten().fold(0.0f64, |m, v| m.max(v.abs()));
    let mut columns: Vec<usize> = (0..n).collect();
    for k in 0..n {
        let open = (k..n).flat_map(|i| (k..n).map(move |j| (i, j)));
        let largest =
            open.max_by(|&(i, j), &(r, s)| a[i][columns[j]].abs().total_cmp(&a[r][columns[s]].abs()));
        let (i, j) = largest.unwrap_or((k, k));
        if a[i][columns[j]].abs() <= rounding(n) * size {
            // What is left without a pivot is free; the rows above say which columns move with it.
            let moves = |&r: &usize| columns[k..].iter().any(|&free| a[r][free].abs() > 1e-9);
            return (0..k).filter(moves).map(|r| columns[r]).chain(columns[k..].iter().copied()).collect();
        }
        a.swap(k, i);
        columns.swap(k, j);
        let pivot = a[k][columns[k]];
        a[k].iter_mut().for_each(|v| *v /= pivot);
        let row = a[k].clone();
        for other in (0..n).filter(|&r| r != k) {
            let factor = a[other][columns[k]];
            a[other].iter_mut().zip(&row).for_each(|(v, p)| *v -= factor * p);
        }
    }
    Vec::new()
}

/// Whether elimination of a matrix with a diagonal of ones, without exchanges, is safe: all pivots are positive, or none is small.
#[must_use]
pub fn has_pivots(mut a: Vec<Vec<f64>>) -> bool {
    let n = a.len();
    let sizes: Vec<f64> = a.iter().map(|row| row.iter().fold(0.0f64, |m, v| m.max(v.abs()))).collect();
    let (mut positive, mut large) = (true, true);
    for k in 0..n {
        let pivot = a[k][k];
        positive &= pivot > rounding(n) * sizes[k];
        large &= pivot.abs() > 1e-8 * sizes[k];
        if !positive && !large {
            return false;
        }
        let row = a[k].clone();
        for other in &mut a[k + 1..] {
            let factor = other[k] / pivot;
            other.iter_mut().zip(&row).skip(k).for_each(|(v, p)| *v -= factor * p);
        }
    }
    true
}
