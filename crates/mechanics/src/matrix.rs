//! Symmetric matrices of expressions, and their factorisation written out.

use leastaction_expr::{Expr, rebind, substitute};
use std::collections::{BTreeMap, BTreeSet};

/// The cost, in multiplications, up to which a factorisation is written out whatever the structure: that of a full matrix of
/// 32 rows. Up to there straight-line code in lanes is several times faster than loops over numbers and compiles in less than 100 ms
/// (`make bench`); both grow with n³.
const UNROLLED: usize = 5952;

/// Sparse matrices may cost this much more for each row: enough for blocks of bodies in space.
const UNROLLED_PER_ROW: usize = 16;

/// A symmetric matrix: the nonzeros of its lower triangle.
#[derive(Clone, Debug)]
pub struct Symmetric<'g> {
    rows: Vec<BTreeMap<usize, Expr<'g>>>,
}

rebind!(Symmetric { rows });

impl<'g> Symmetric<'g> {
    /// The zero matrix.
    #[must_use]
    pub fn zero(size: usize) -> Symmetric<'g> {
        Symmetric { rows: vec![BTreeMap::new(); size] }
    }

    /// The number of rows.
    #[must_use]
    pub fn size(&self) -> usize {
        self.rows.len()
    }

    /// The nonzeros of the lower triangle, by rows: row, column, value.
    pub fn entries(&self) -> impl Iterator<Item = (usize, usize, Expr<'g>)> + '_ {
        let row = |(i, row)| -> Box<dyn Iterator<Item = (usize, usize, Expr<'g>)> + '_> {
            let row: &BTreeMap<usize, Expr<'g>> = row;
            Box::new(row.iter().map(move |(&j, &value)| (i, j, value)))
        };
        self.rows.iter().enumerate().flat_map(row)
    }

    /// An entry; `None` for a structural zero.
    #[must_use]
    pub fn get(&self, i: usize, j: usize) -> Option<Expr<'g>> {
        self.rows[i.max(j)].get(&i.min(j)).copied()
    }

    /// Adds to an entry and its mirror image.
    pub fn add(&mut self, i: usize, j: usize, value: Expr<'g>) {
        let row = &mut self.rows[i.max(j)];
        let sum = row.get(&i.min(j)).map_or(value, |&old| old + value);
        if sum.as_number() == Some(0.0) {
            row.remove(&i.min(j));
        } else {
            row.insert(i.min(j), sum);
        }
    }

    /// The matrix with parts of its entries replaced.
    #[must_use]
    pub fn substitute(&self, replacements: &[(Expr<'g>, Expr<'g>)]) -> Symmetric<'g> {
        let values: Vec<_> = self.entries().map(|(.., value)| value).collect();
        let mut result = Symmetric::zero(self.size());
        for ((i, j, _), value) in self.entries().zip(substitute(&values, replacements)) {
            result.add(i, j, value);
        }
        result
    }

    /// An order of elimination that fills in little, by always taking the row that is coupled to the fewest
    /// (Tinney and Walker, Proc. IEEE 55, 1967), if the factorisation is then short enough to be written out.
    pub(crate) fn elimination(&self) -> Option<Vec<usize>> {
        let n = self.size();
        let mut coupled: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); n];
        for (i, j, _) in self.entries().filter(|(i, j, _)| i != j) {
            coupled[i].insert(j);
            coupled[j].insert(i);
        }
        // Rows that are left, by how many they are coupled to.
        let mut left: BTreeSet<(usize, usize)> = (0..n).map(|i| (coupled[i].len(), i)).collect();
        let (mut cost, mut order) = (0, Vec::with_capacity(n));
        while let Some((_, next)) = left.pop_first() {
            order.push(next);
            let others = std::mem::take(&mut coupled[next]);
            cost += others.len() * (others.len() + 3) / 2;
            if cost > UNROLLED + UNROLLED_PER_ROW * n {
                return None;
            }
            for &i in &others {
                left.remove(&(coupled[i].len(), i));
                coupled[i].extend(&others);
                coupled[i].remove(&next);
                coupled[i].remove(&i);
                left.insert((coupled[i].len(), i));
            }
        }
        Some(order)
    }

    /// The factors L D Lᵀ, eliminating in this order; `None` if a pivot vanishes identically.
    pub(crate) fn factor(&self, order: &[usize]) -> Option<Factor<'g>> {
        self.eliminate(order, |_, pivot| 1.0 / pivot)
    }

    /// The factors L D Lᵀ of a matrix that is positive definite, in an order that fills in little.
    ///
    /// # Panics
    /// If a pivot vanishes identically: the matrix is then not positive definite anywhere.
    #[must_use]
    pub fn factored(&self) -> Factor<'g> {
        let order = self.elimination().unwrap_or_else(|| (0..self.size()).collect());
        self.factor(&order).expect("a positive definite matrix has pivots")
    }

    /// The factors of a semidefinite matrix. Where a pivot is smaller than `dependent` times the diagonal before elimination, its row
    /// depends on others, and takes no part.
    pub(crate) fn factor_semidefinite(&self, order: &[usize], dependent: Expr<'g>) -> Option<Factor<'g>> {
        self.eliminate(order, |row, pivot| {
            let size = self.get(row, row).unwrap_or(pivot);
            if size == pivot {
                return pivot.equals(0.0).select(0.0, 1.0 / pivot);
            }
            pivot.abs().le(dependent * size.abs()).select(0.0, 1.0 / pivot)
        })
    }

    fn eliminate(
        &self,
        order: &[usize],
        inverse: impl Fn(usize, Expr<'g>) -> Expr<'g>,
    ) -> Option<Factor<'g>> {
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(k, &i)| place[i] = k);
        let mut reordered = Symmetric::zero(self.size());
        self.entries().for_each(|(i, j, value)| reordered.add(place[i], place[j], value));

        let mut columns: Vec<Vec<(usize, Expr<'g>)>> = Vec::with_capacity(order.len());
        let mut below: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); order.len()];
        reordered.entries().filter(|(i, j, _)| i != j).for_each(|(i, j, _)| {
            below[j].insert(i);
        });
        let mut inverse_pivots = Vec::with_capacity(order.len());
        for j in 0..order.len() {
            let inverse = inverse(order[j], reordered.get(j, j)?);
            inverse_pivots.push(inverse);
            let column: Vec<_> = below[j].iter().filter_map(|&i| Some((i, reordered.get(i, j)?))).collect();
            for &(i, a) in &column {
                let factor = a * inverse;
                for &(k, b) in column.iter().filter(|(k, _)| *k <= i) {
                    reordered.add(i, k, -(factor * b));
                    if k < i {
                        below[k].insert(i);
                    }
                }
            }
            columns.push(column);
        }
        Some(Factor { order: order.to_vec(), columns, inverse_pivots })
    }
}

/// M = L D Lᵀ in some order of rows, with L unit lower triangular.
#[derive(Clone, Debug)]
pub struct Factor<'g> {
    order: Vec<usize>,
    /// L D below the diagonal, so that a product with an inverse pivot gives L.
    columns: Vec<Vec<(usize, Expr<'g>)>>,
    inverse_pivots: Vec<Expr<'g>>,
}

impl<'g> Factor<'g> {
    /// The solution of M x = b.
    #[must_use]
    pub fn solve(&self, b: &[Expr<'g>]) -> Vec<Expr<'g>> {
        let mut x: Vec<_> = self.order.iter().map(|&i| b[i]).collect();
        for (j, column) in self.columns.iter().enumerate() {
            for &(i, a) in column {
                x[i] = x[i] - a * self.inverse_pivots[j] * x[j];
            }
        }
        for (j, column) in self.columns.iter().enumerate().rev() {
            for &(i, a) in column {
                x[j] = x[j] - a * x[i];
            }
            x[j] *= self.inverse_pivots[j];
        }
        let mut solution = b.to_vec();
        self.order.iter().zip(&x).for_each(|(&i, &value)| solution[i] = value);
        solution
    }
}
