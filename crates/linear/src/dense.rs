//! Small matrices, by rows unless it is said otherwise, in place.
//!
//! Matrices here are a few dozen rows, one per state, changing with every state. Written as loops whose innermost runs
//! over contiguous numbers, elimination needs no library and gives each lane the same bits whatever the number of lanes.

use crate::{Scalar, Singular};

/// Replaces a matrix by its factors L U. Row c was exchanged with row `pivots[c]` before column c was eliminated.
///
/// # Errors
/// [`Singular`] if a column has no pivot that is finite and not zero; the factors are then of no use.
pub fn factor<T: Scalar>(matrix: &mut [T], pivots: &mut [usize]) -> Result<(), Singular> {
    eliminate(matrix, pivots.len(), &mut [], |column, pivot| pivots[column] = pivot)
}

/// Solves with the factors of a matrix: the right side becomes the solution.
pub fn solve<T: Scalar>(factors: &[T], pivots: &[usize], side: &mut [T]) {
    let n = pivots.len();
    for (c, &pivot) in pivots.iter().enumerate() {
        side.swap(c, pivot);
    }
    for r in 1..n {
        let (known, rest) = side.split_at_mut(r);
        for (share, x) in factors[r * n..][..r].iter().zip(known) {
            rest[0] = rest[0] - *share * *x;
        }
    }
    for r in (0..n).rev() {
        let (rest, known) = side.split_at_mut(r + 1);
        for (entry, x) in factors[r * n + r + 1..(r + 1) * n].iter().zip(known) {
            rest[r] = rest[r] - *entry * *x;
        }
        rest[r] = rest[r] / factors[r * n + r];
    }
}

/// Solves A X = B once, with B of n rows, overwriting A with its factors and B with X. It has the bits of [`factor`] and [`solve`], and needs
/// no room for pivots.
///
/// # Errors
/// [`Singular`] as [`factor`]; both matrices are then of no use.
pub fn solve_once<T: Scalar>(a: &mut [T], b: &mut [T], n: usize) -> Result<(), Singular> {
    eliminate(a, n, b, |_, _| ())?;
    let m = b.len() / n;
    for k in (0..n).rev() {
        let (open, solved) = b.split_at_mut((k + 1) * m);
        let right = &mut open[k * m..];
        for (j, row) in solved.chunks_exact(m).enumerate() {
            subtract(right, a[k * n + k + 1 + j], row);
        }
        right.iter_mut().for_each(|x| *x = *x / a[k * n + k]);
    }
    Ok(())
}

/// Inverts a matrix, which is replaced by its factors.
///
/// # Errors
/// [`Singular`] as [`factor`].
pub fn invert<T: Scalar>(matrix: &mut [T], inverse: &mut [T], n: usize) -> Result<(), Singular> {
    for (place, entry) in inverse.iter_mut().enumerate() {
        *entry = T::from(f64::from(place / n == place % n));
    }
    solve_once(matrix, inverse, n)
}

/// Eliminates the columns of A one after the other, and does to B what is done to A.
fn eliminate<T: Scalar>(
    a: &mut [T],
    n: usize,
    b: &mut [T],
    mut exchanged: impl FnMut(usize, usize),
) -> Result<(), Singular> {
    let m = b.len().checked_div(n).unwrap_or(0);
    for c in 0..n {
        let size = |r: &usize| a[r * n + c].size();
        let pivot = (c..n).max_by(|a, b| size(a).total_cmp(&size(b))).unwrap_or(c);
        exchanged(c, pivot);
        if pivot != c {
            (0..n).for_each(|k| a.swap(c * n + k, pivot * n + k));
            (0..m).for_each(|k| b.swap(c * m + k, pivot * m + k));
        }
        let (above, below) = a.split_at_mut((c + 1) * n);
        let row = &above[c * n..];
        let size = row[c].size();
        if size == 0.0 || !size.is_finite() {
            return Err(Singular { column: c });
        }
        let (solved, open) = b.split_at_mut((c + 1) * m);
        for (r, other) in below.chunks_exact_mut(n).enumerate() {
            if other[c].size() != 0.0 {
                let share = other[c] / row[c];
                other[c] = share;
                subtract(&mut other[c + 1..], share, &row[c + 1..]);
                subtract(&mut open[r * m..][..m], share, &solved[c * m..]);
            }
        }
    }
    Ok(())
}

#[inline]
fn subtract<T: Scalar>(x: &mut [T], factor: T, y: &[T]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x = *x - factor * *y);
}

/// Solves A x = b for symmetric A by L D Lᵀ without pivots, in W lanes, overwriting A and b (with x).
///
/// Entry (i, j) of lane l is `a[(j·n + i)·W + l]`, and only i ≥ j is read. Returns, per lane, whether a pivot is zero or not finite, and
/// the first such.
pub fn solve_symmetric<const W: usize>(a: &mut [f64], b: &mut [f64]) -> [Option<Singular>; W] {
    let n = b.len() / W;
    let mut failed = [None; W];
    for j in 0..n {
        let (pivot_column, later) = a[j * n * W..].split_at_mut(n * W);
        let mut inverse = [0.0; W];
        for l in 0..W {
            let pivot = pivot_column[j * W + l];
            if failed[l].is_none() && (pivot == 0.0 || !pivot.is_finite()) {
                failed[l] = Some(Singular { column: j });
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

/// Solves L Lᵀ x = b in place.
pub fn solve_cholesky(l: &[f64], x: &mut [f64]) {
    let n = x.len();
    for k in 0..n {
        let known: f64 = (0..k).map(|j| l[k * n + j] * x[j]).sum();
        x[k] = (x[k] - known) / l[k * n + k];
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| l[j * n + k] * x[j]).sum();
        x[k] = (x[k] - known) / l[k * n + k];
    }
}

/// Replaces a symmetric matrix by its lower factor. Returns whether it is positive definite.
#[must_use]
pub fn cholesky(a: &mut [f64], n: usize) -> bool {
    for j in 0..n {
        for i in j..n {
            let known: f64 = (0..j).map(|k| a[i * n + k] * a[j * n + k]).sum();
            let rest = a[i * n + j] - known;
            a[i * n + j] = match i == j {
                true if rest > 0.0 => rest.sqrt(),
                true => return false,
                false => rest / a[j * n + j],
            };
        }
    }
    true
}
