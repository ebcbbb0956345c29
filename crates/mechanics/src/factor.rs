//! Symmetric positive definite systems, written out as expressions.

use crate::equations::Lower;
use leastaction_expr::Expr;

/// Up to this many unknowns a factorisation is written out; beyond, it is computed by a library at run time.
pub const UNROLLED: usize = 12;

/// M = L D Lᵀ, with L unit lower triangular.
pub(crate) struct Factor<'g> {
    /// Below the diagonal: L D, so that a product with an inverse pivot gives L.
    scaled: Lower<'g>,
    inverse_pivots: Vec<Expr<'g>>,
}

impl<'g> Factor<'g> {
    pub(crate) fn new(matrix: &Lower<'g>) -> Factor<'g> {
        let mut a = matrix.clone();
        let n = a.len();
        let mut inverse_pivots = Vec::with_capacity(n);
        for j in 0..n {
            let inverse = 1.0 / a[j][j];
            inverse_pivots.push(inverse);
            for i in j + 1..n {
                let factor = a[i][j] * inverse;
                for k in j + 1..=i {
                    a[i][k] = a[i][k] - factor * a[k][j];
                }
            }
        }
        Factor { scaled: a, inverse_pivots }
    }

    /// The solution of M x = b.
    pub(crate) fn solve(&self, mut b: Vec<Expr<'g>>) -> Vec<Expr<'g>> {
        let n = b.len();
        for j in 0..n {
            for i in j + 1..n {
                b[i] = b[i] - self.scaled[i][j] * self.inverse_pivots[j] * b[j];
            }
        }
        for i in (0..n).rev() {
            for j in i + 1..n {
                b[i] = b[i] - self.scaled[j][i] * b[j];
            }
            b[i] *= self.inverse_pivots[i];
        }
        b
    }
}
