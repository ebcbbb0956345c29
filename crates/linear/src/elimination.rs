//! Sparse elimination in an order that is found once, for matrices in lanes: which entries are filled in does not depend on numbers.
//!
//! Rows that are not coupled cost nothing, so that chains and trees are factored with work in proportion to their length.

use crate::orthogonal::Noise;
use std::collections::BTreeSet;
use std::ops::Range;

/// A pivot smaller than this, relative to what it was before elimination, is clearly rounding.
const GONE: f64 = 1e-15;

/// An order of elimination, and where the factors have entries.
#[derive(Clone, Debug, Default)]
pub struct Elimination {
    order: Vec<u32>,
    /// The factor L by columns, below the diagonal, in the order of elimination.
    start: Vec<u32>,
    below: Vec<u32>,
}

/// What elimination tells of the rank, in the lanes.
#[derive(Clone, Copy, Debug)]
pub struct Pivots<const W: usize> {
    /// How many rows are independent.
    pub rank: [usize; W],
    /// The smallest pivot that is not clearly rounding, relative to what it was before elimination.
    pub weakest: [f64; W],
}

impl Elimination {
    /// An order that fills in little, for rows that are each coupled to others; couplings are mutual.
    #[must_use]
    pub fn new(coupled: Vec<BTreeSet<u32>>) -> Elimination {
        let mut place = vec![0u32; coupled.len()];
        let (order, columns) = minimum_degree(coupled);
        order.iter().enumerate().for_each(|(k, &row)| place[row as usize] = k as u32);
        let (mut start, mut below) = (vec![0], Vec::new());
        for column in columns {
            let mut rows: Vec<u32> = column.into_iter().map(|row| place[row as usize]).collect();
            rows.sort_unstable();
            below.extend(rows);
            start.push(below.len() as u32);
        }
        Elimination { order, start, below }
    }

    /// The row that is eliminated at each place.
    #[must_use]
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.order.len()
    }

    /// The number of entries below the diagonal.
    #[must_use]
    pub fn len(&self) -> usize {
        self.below.len()
    }

    /// Whether nothing is below the diagonal.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.below.is_empty()
    }

    /// The entry of L at a row below a column, both places in the order of elimination.
    #[must_use]
    pub fn find(&self, row: u32, column: u32) -> usize {
        let below = self.column(column as usize);
        below.start + self.below[below].partition_point(|&r| r < row)
    }

    #[inline]
    fn column(&self, column: usize) -> Range<usize> {
        self.start[column] as usize..self.start[column + 1] as usize
    }

    /// Takes a right side into the order of elimination.
    #[inline]
    pub fn gather<const W: usize>(&self, b: &[f64], x: &mut [f64]) {
        for (x, &row) in x.chunks_exact_mut(W).zip(&self.order) {
            x.copy_from_slice(&b[row as usize * W..][..W]);
        }
    }

    /// Takes a solution out of the order of elimination.
    #[inline]
    pub fn scatter<const W: usize>(&self, x: &[f64], b: &mut [f64]) {
        for (x, &row) in x.chunks_exact(W).zip(&self.order) {
            b[row as usize * W..][..W].copy_from_slice(x);
        }
    }

    /// Replaces a symmetric matrix, given on and below the diagonal, by its factors: unit lower triangular L, and the inverse pivots on the
    /// diagonal. A row that depends on those before it has the inverse pivot 0, so that it takes no part; for a semidefinite matrix
    /// this solves what is solvable.
    pub fn factor<const W: usize>(
        &self,
        diagonal: &mut [f64],
        lower: &mut [f64],
        sizes: &mut [f64],
        dependent: &[f64; W],
    ) -> Pivots<W> {
        let mut pivots = Pivots { rank: [0; W], weakest: [1.0; W] };
        sizes.copy_from_slice(diagonal);
        for j in 0..self.rows() {
            let column = self.column(j);
            let mut inverse = [0.0; W];
            for l in 0..W {
                let (pivot, size) = (diagonal[j * W + l], sizes[j * W + l]);
                let independent = pivot.abs() > dependent[l] * size.abs();
                pivots.rank[l] += usize::from(independent);
                if pivot.abs() > GONE * size && pivot.abs() < pivots.weakest[l] * size {
                    pivots.weakest[l] = pivot.abs() / size;
                }
                inverse[l] = if independent || pivot.is_nan() { 1.0 / pivot } else { 0.0 };
                diagonal[j * W + l] = inverse[l];
            }
            let (done, open) = lower.split_at_mut(column.end * W);
            for a in column.clone() {
                let s = self.below[a] as usize;
                let mut factor = [0.0; W];
                for l in 0..W {
                    factor[l] = done[a * W + l] * inverse[l];
                    diagonal[s * W + l] -= factor[l] * done[a * W + l];
                }
                let mut at = self.start[s] as usize;
                for b in a + 1..column.end {
                    while self.below[at] != self.below[b] {
                        at += 1;
                    }
                    let target = &mut open[(at - column.end) * W..][..W];
                    for l in 0..W {
                        target[l] -= factor[l] * done[b * W + l];
                    }
                }
                done[a * W..][..W].copy_from_slice(&factor);
            }
        }
        pivots
    }

    /// Solves L D Lᵀ x = b in the order of elimination, in place.
    pub fn solve<const W: usize>(&self, inverse: &[f64], lower: &[f64], x: &mut [f64]) {
        self.solve_lower::<W>(lower, x);
        self.solve_upper::<W>(inverse, lower, x);
    }

    /// As [`Elimination::solve`], but leaves out parts of x along short directions that are noise in their lane. `lengths` are those of the directions, in the
    /// order of elimination.
    pub fn solve_known<const W: usize>(
        &self,
        inverse: &[f64],
        lower: &[f64],
        lengths: &[f64],
        noise: &[Noise; W],
        x: &mut [f64],
    ) {
        self.solve_lower::<W>(lower, x);
        for (place, x) in x.iter_mut().enumerate() {
            // With the factor √d on either side, these are the factors of Cholesky, and those of an orthogonal elimination.
            let part = *x * inverse[place].abs().sqrt();
            if noise[place % W].drowns(part, lengths[place]) {
                *x = 0.0;
            }
        }
        self.solve_upper::<W>(inverse, lower, x);
    }

    /// Solves D Lᵀ x = b in the order of elimination, in place.
    fn solve_upper<const W: usize>(&self, inverse: &[f64], lower: &[f64], x: &mut [f64]) {
        let ((inverse, _), (lower, _), (x, _)) =
            (inverse.as_chunks::<W>(), lower.as_chunks::<W>(), x.as_chunks_mut::<W>());
        for j in (0..self.rows()).rev() {
            let mut sum = x[j];
            (0..W).for_each(|l| sum[l] *= inverse[j][l]);
            let column = self.column(j);
            for (&s, factor) in self.below[column.clone()].iter().zip(&lower[column]) {
                let x = &x[s as usize];
                (0..W).for_each(|l| sum[l] -= factor[l] * x[l]);
            }
            x[j] = sum;
        }
    }

    /// Solves L x = b in the order of elimination, in place.
    fn solve_lower<const W: usize>(&self, lower: &[f64], x: &mut [f64]) {
        let ((lower, _), (x, _)) = (lower.as_chunks::<W>(), x.as_chunks_mut::<W>());
        for j in 0..self.rows() {
            let (column, known) = (self.column(j), x[j]);
            for (&s, factor) in self.below[column.clone()].iter().zip(&lower[column]) {
                let x = &mut x[s as usize];
                (0..W).for_each(|l| x[l] -= factor[l] * known[l]);
            }
        }
    }

    /// Solves L U x = b in the order of elimination, in place, with the factors of [`Elimination::factor_unsymmetric`].
    pub fn solve_unsymmetric<const W: usize>(
        &self,
        inverse: &[f64],
        lower: &[f64],
        upper: &[f64],
        x: &mut [f64],
    ) {
        self.solve_lower::<W>(lower, x);
        let ((inverse, _), (upper, _), (x, _)) =
            (inverse.as_chunks::<W>(), upper.as_chunks::<W>(), x.as_chunks_mut::<W>());
        for j in (0..self.rows()).rev() {
            let mut sum = x[j];
            let column = self.column(j);
            for (&s, factor) in self.below[column.clone()].iter().zip(&upper[column]) {
                let x = &x[s as usize];
                (0..W).for_each(|l| sum[l] -= factor[l] * x[l]);
            }
            (0..W).for_each(|l| x[j][l] = sum[l] * inverse[j][l]);
        }
    }

    /// Solves (L U)ᵀ x = b in the order of elimination, in place, with the same factors.
    pub fn solve_transposed<const W: usize>(
        &self,
        inverse: &[f64],
        lower: &[f64],
        upper: &[f64],
        x: &mut [f64],
    ) {
        let ((inverse, _), (upper, _)) = (inverse.as_chunks::<W>(), upper.as_chunks::<W>());
        let ((lower, _), (x, _)) = (lower.as_chunks::<W>(), x.as_chunks_mut::<W>());
        for j in 0..self.rows() {
            (0..W).for_each(|l| x[j][l] *= inverse[j][l]);
            let (column, known) = (self.column(j), x[j]);
            for (&s, factor) in self.below[column.clone()].iter().zip(&upper[column]) {
                let x = &mut x[s as usize];
                (0..W).for_each(|l| x[l] -= factor[l] * known[l]);
            }
        }
        for j in (0..self.rows()).rev() {
            let (column, mut sum) = (self.column(j), x[j]);
            for (&s, factor) in self.below[column.clone()].iter().zip(&lower[column]) {
                let x = &x[s as usize];
                (0..W).for_each(|l| sum[l] -= factor[l] * x[l]);
            }
            x[j] = sum;
        }
    }

    /// Replaces a matrix, given by its diagonal, its entries below and those above, each of these at the place of its mirror image, by its
    /// factors L U: the inverse pivots, unit lower triangular L, and U by rows. Pivots are not looked for: the matrix must be near a
    /// symmetric one that is positive. Rows whose inverse pivot is 0 in `skipped` are left out.
    pub fn factor_unsymmetric<const W: usize>(
        &self,
        skipped: &[f64],
        inverse: &mut [f64],
        lower: &mut [f64],
        upper: &mut [f64],
    ) {
        for j in 0..self.rows() {
            for l in 0..W {
                let at = j * W + l;
                inverse[at] = if skipped[at] == 0.0 { 0.0 } else { 1.0 / inverse[at] };
            }
            let column = self.column(j);
            for a in column.clone() {
                for l in 0..W {
                    lower[a * W + l] *= inverse[j * W + l];
                }
            }
            for a in column.clone() {
                let s = self.below[a] as usize;
                for l in 0..W {
                    inverse[s * W + l] -= lower[a * W + l] * upper[a * W + l];
                }
                let mut at = self.start[s] as usize;
                for b in a + 1..column.end {
                    while self.below[at] != self.below[b] {
                        at += 1;
                    }
                    for l in 0..W {
                        lower[at * W + l] -= lower[b * W + l] * upper[a * W + l];
                        upper[at * W + l] -= lower[a * W + l] * upper[b * W + l];
                    }
                }
            }
        }
    }
}

/// An order of elimination that fills in little, by always taking the row that is coupled to the fewest (W. F. Tinney and J. W.
/// Walker, Proc. IEEE 55, 1967); and the rows below the diagonal of each column of the factor, in that order.
pub(crate) fn minimum_degree(mut coupled: Vec<BTreeSet<u32>>) -> (Vec<u32>, Vec<Vec<u32>>) {
    // By degree, then by how long ago it changed: of a chain both ends are taken in turn, of a tree all leaves before their
    // parents, so that neighbours in the order do not wait for each other.
    let mut changed = vec![0u32; coupled.len()];
    let mut queue: BTreeSet<(usize, u32, u32)> =
        coupled.iter().enumerate().map(|(row, others)| (others.len(), 0, row as u32)).collect();
    let (mut order, mut columns) = (Vec::with_capacity(coupled.len()), Vec::with_capacity(coupled.len()));
    while let Some((degree, _, next)) = queue.pop_first() {
        order.push(next);
        if degree == queue.len() {
            // All that is left is coupled to all.
            let mut left: Vec<u32> = queue.iter().map(|&(.., row)| row).collect();
            columns.push(left.clone());
            while let Some(row) = left.pop() {
                order.push(row);
                columns.push(left.clone());
            }
            break;
        }
        let others = std::mem::take(&mut coupled[next as usize]);
        for &i in &others {
            let (mine, changed) = (&mut coupled[i as usize], &mut changed[i as usize]);
            queue.remove(&(mine.len(), *changed, i));
            mine.extend(&others);
            mine.remove(&next);
            mine.remove(&i);
            *changed = order.len() as u32;
            queue.insert((mine.len(), *changed, i));
        }
        columns.push(others.into_iter().collect());
    }
    (order, columns)
}
