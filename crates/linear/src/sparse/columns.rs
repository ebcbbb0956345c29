//! L U by single columns, for patterns that fill in little: chains, trees, strips.
//!
//! Columns are found one after the other, each by a sparse triangular solution with those before it, so that the work is in proportion to the
//! multiplications made (J. R. Gilbert and T. Peierls, SIAM J. Sci. Stat. Comput. 9 (1988) 862, doi:10.1137/0909058). The order of columns
//! fills in little for the symmetric pattern A + Aᵀ; the pivot is the diagonal where that is not much smaller than the largest, so that
//! the order also serves rows.

use super::NoFactors;
use super::order::Order;
use crate::{Pattern, Scalar};
use std::sync::Arc;

/// The diagonal is taken as pivot where it is at least this part of the largest.
const THRESHOLD: f64 = 0.1;
const NONE: u32 = u32::MAX;

/// The factors, made again for other numbers at the same places.
#[derive(Clone, Debug)]
pub(super) struct ColumnLu<T> {
    plan: Arc<Plan>,
    /// L below its diagonal of ones, by columns; rows as they are numbered in the matrix.
    lower: Columns<T>,
    /// U above the diagonal, by columns; rows as they are numbered by their pivots. And the diagonal.
    upper: Columns<T>,
    diagonal: Vec<T>,
    /// The pivot of each row, and the row of each pivot.
    place: Vec<u32>,
    pivots: Vec<u32>,
    work: Vec<T>,
    /// Rows that a column reaches, and the way to them.
    reached: Vec<u32>,
    mark: Vec<u32>,
    path: Vec<(u32, u32)>,
}

/// What does not depend on numbers.
#[derive(Debug)]
struct Plan {
    /// The column that is eliminated at each place.
    order: Vec<u32>,
    /// The matrix by columns: rows, and which entries they are.
    start: Vec<u32>,
    rows: Vec<u32>,
    entries: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Columns<T> {
    start: Vec<u32>,
    rows: Vec<u32>,
    values: Vec<T>,
}

impl<T: Scalar> Columns<T> {
    fn new(columns: usize, room: usize) -> Columns<T> {
        let mut start = Vec::with_capacity(columns + 1);
        start.push(0);
        Columns { start, rows: Vec::with_capacity(room), values: Vec::with_capacity(room) }
    }

    fn clear(&mut self) {
        self.start.truncate(1);
        self.rows.clear();
        self.values.clear();
    }

    fn push(&mut self, row: u32, value: T) {
        self.rows.push(row);
        self.values.push(value);
    }

    fn end_column(&mut self) {
        self.start.push(self.rows.len() as u32);
    }

    #[inline]
    fn column(&self, column: usize) -> impl Iterator<Item = (usize, T)> + '_ {
        let range = self.start[column] as usize..self.start[column + 1] as usize;
        self.rows[range.clone()].iter().zip(&self.values[range]).map(|(&row, &value)| (row as usize, value))
    }
}

impl<T: Scalar> ColumnLu<T> {
    /// Room for the factors of matrices with this pattern, whose columns are eliminated in an order.
    pub(super) fn new(pattern: &Pattern, Order { order, below, .. }: Order) -> ColumnLu<T> {
        let n = pattern.rows();
        let mut by_column: Vec<(usize, usize, usize)> =
            pattern.entries().enumerate().map(|(entry, (row, column))| (column, row, entry)).collect();
        by_column.sort_unstable();
        let mut start = vec![0u32; n + 1];
        by_column.iter().for_each(|&(column, ..)| start[column + 1] += 1);
        (0..n).for_each(|column| start[column + 1] += start[column]);
        let rows = by_column.iter().map(|&(_, row, _)| row as u32).collect();
        let entries = by_column.iter().map(|&(.., entry)| entry as u32).collect();
        ColumnLu {
            plan: Arc::new(Plan { order, start, rows, entries }),
            lower: Columns::new(n, below),
            upper: Columns::new(n, below),
            diagonal: Vec::with_capacity(n),
            place: vec![NONE; n],
            pivots: Vec::with_capacity(n),
            work: vec![T::from(0.0); n],
            reached: Vec::with_capacity(n),
            mark: vec![NONE; n],
            path: Vec::with_capacity(n),
        }
    }

    /// Factors the matrix whose entries have these values, unless a column has no pivot that is finite and not zero.
    pub(super) fn factor(&mut self, value: impl Fn(usize) -> T) -> Result<(), NoFactors> {
        let plan = self.plan.clone();
        self.lower.clear();
        self.upper.clear();
        self.diagonal.clear();
        self.pivots.clear();
        self.place.fill(NONE);
        self.mark.fill(NONE);
        for (k, &column) in plan.order.iter().enumerate() {
            let entries = plan.start[column as usize] as usize..plan.start[column as usize + 1] as usize;
            self.reached.clear();
            for &row in &plan.rows[entries.clone()] {
                self.reach(row, k as u32);
            }
            for &row in &self.reached {
                self.work[row as usize] = T::from(0.0);
            }
            for (&row, &entry) in plan.rows[entries.clone()].iter().zip(&plan.entries[entries]) {
                self.work[row as usize] = value(entry as usize);
            }
            self.eliminate(column)?;
        }
        Ok(())
    }

    /// Finds all rows that an entry in a row leads to: where a row has its pivot, those of the column of L. They are put down after all that
    /// they lead to.
    fn reach(&mut self, row: u32, stamp: u32) {
        if std::mem::replace(&mut self.mark[row as usize], stamp) == stamp {
            return;
        }
        self.path.push((row, 0));
        while let Some((row, next)) = self.path.last_mut() {
            let (row, pivot) = (*row, self.place[*row as usize]);
            let below: &[u32] = match pivot {
                NONE => &[],
                pivot => {
                    let start = &self.lower.start[pivot as usize..];
                    &self.lower.rows[start[0] as usize..start[1] as usize]
                }
            };
            let Some(&other) = below.get(*next as usize) else {
                self.reached.push(row);
                self.path.pop();
                continue;
            };
            *next += 1;
            if std::mem::replace(&mut self.mark[other as usize], stamp) != stamp {
                self.path.push((other, 0));
            }
        }
    }

    /// Finds the next column of the factors from what stands in `work`.
    fn eliminate(&mut self, column: u32) -> Result<(), NoFactors> {
        let (mut largest, mut pivot) = (0.0, NONE);
        for &row in self.reached.iter().rev() {
            let x = self.work[row as usize];
            match self.place[row as usize] {
                NONE => {
                    if x.size() > largest {
                        (largest, pivot) = (x.size(), row);
                    }
                }
                place => {
                    self.upper.push(place, x);
                    for (below, factor) in self.lower.column(place as usize) {
                        self.work[below] = self.work[below] - factor * x;
                    }
                }
            }
        }
        if pivot == NONE || !largest.is_finite() {
            return Err(NoFactors);
        }
        let own = column as usize;
        let reached = self.mark[own] == self.diagonal.len() as u32 && self.place[own] == NONE;
        if reached && self.work[own].size() >= THRESHOLD * largest {
            pivot = column;
        }
        let value = self.work[pivot as usize];
        self.place[pivot as usize] = self.pivots.len() as u32;
        self.pivots.push(pivot);
        self.diagonal.push(value);
        for &row in self.reached.iter().filter(|&&row| self.place[row as usize] == NONE) {
            self.lower.push(row, self.work[row as usize] / value);
        }
        self.lower.end_column();
        self.upper.end_column();
        Ok(())
    }

    /// Solves A x = b: the right side becomes the solution.
    pub(super) fn solve(&mut self, b: &mut [T]) {
        let y = &mut self.work;
        for (k, &row) in self.pivots.iter().enumerate() {
            y[k] = b[row as usize];
            for (below, factor) in self.lower.column(k) {
                b[below] = b[below] - factor * y[k];
            }
        }
        for k in (0..y.len()).rev() {
            y[k] = y[k] / self.diagonal[k];
            for (above, factor) in self.upper.column(k) {
                y[above] = y[above] - factor * y[k];
            }
        }
        for (y, &column) in y.iter().zip(&self.plan.order) {
            b[column as usize] = *y;
        }
    }

    /// How many entries the factors have, with the diagonal.
    #[cfg(test)]
    fn len(&self) -> usize {
        self.lower.rows.len() + self.upper.rows.len() + self.diagonal.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// −1, 2, −1 has the inverse min(i, j)(n + 1 − max(i, j))/(n + 1).
    #[test]
    fn a_chain_has_its_known_inverse_and_no_fill() {
        let n = 5000;
        let near = (0..n).flat_map(|i: usize| (i.saturating_sub(1)..n.min(i + 2)).map(move |j| (i, j)));
        let pattern = Pattern::new(n, n, near.collect());
        let order = Order::new(&pattern);
        assert_eq!(order.below, n - 1);
        let mut factors = ColumnLu::new(&pattern, order);
        let values: Vec<f64> = pattern.entries().map(|(i, j)| if i == j { 2.0 } else { -1.0 }).collect();
        assert_eq!(factors.factor(|entry| values[entry]), Ok(()));
        assert_eq!(factors.len(), 3 * n - 2);
        let column = 1234;
        let mut x = vec![0.0; n];
        x[column] = 1.0;
        factors.solve(&mut x);
        for (i, x) in x.iter().enumerate() {
            let exact = ((i.min(column) + 1) * (n - i.max(column))) as f64 / (n + 1) as f64;
            assert!((x - exact).abs() < 1e-10 * exact, "{i}: {x} {exact}");
        }
    }
}
