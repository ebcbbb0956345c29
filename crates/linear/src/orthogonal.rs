//! Symmetric semidefinite matrices AᵀA from A itself, by orthogonal factors with pivots, in lanes.
//!
//! With the columns of A scaled to length 1 by D, Q R = A P gives
//!
//! $$A^TA=D\,P\,R^TR\,P^TD,$$
//!
//! so that a direction of length δ that a column adds to those before it is found with an error of ε, and not of ε/δ as by the pivots
//! δ² of the product (Å. Björck, *Numerical Methods for Least Squares Problems*, 1996, sections 2.4 and 2.7; columns are chosen by length as in
//! P. Businger and G. H. Golub, Numer. Math. 7 (1965) 269). The factors come from Gram–Schmidt's method in its modified form, whose R is as
//! good as Householder's.

use crate::dense::{cholesky, solve_cholesky};

/// A direction shorter than this is rounding.
const SHORTEST: f64 = 1e-9;

/// Below what size the part of a solution along a short direction is noise: where its square root is compared with that of the direction, its
/// length to a power counts.
///
/// At distance δ from where a column depends on others, it adds a direction of length δ to theirs. What is asked of that direction is only
/// known to rounding ε, so that the answer is noise up to ε/δ, and up to ε/δ² if the direction itself follows from such an answer. A part
/// of the answer that is smaller is better left out: it would bring noise in, and take nothing out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// The noise along a direction of length 1.
    pub size: f64,
    /// It grows as this power of the inverse length.
    pub power: i32,
}

impl Noise {
    /// No part of a solution is noise.
    pub const NONE: Noise = Noise { size: 0.0, power: 0 };
    /// Directions longer than this are known well.
    const SHORT: f64 = 0.03;

    /// Whether a part of a solution along a direction of a length is noise.
    #[must_use]
    pub fn drowns(self, part: f64, length: f64) -> bool {
        length < Self::SHORT && part.abs() * length.powi(self.power) < self.size
    }
}

/// The factors in every lane in which they were made.
#[derive(Clone, Debug)]
pub struct PivotedQr {
    rows: usize,
    length: usize,
    /// R, the order of the columns and their lengths, of each lane.
    triangles: Vec<f64>,
    order: Vec<usize>,
    lengths: Vec<f64>,
    rank: Vec<usize>,
    /// Working memory: the columns of A, and what is left out in terms of what is not; a right side, twice.
    columns: Vec<f64>,
    right: Vec<f64>,
    ordered: Vec<f64>,
}

impl PivotedQr {
    /// Room for so many columns of a length, in so many lanes.
    #[must_use]
    pub fn new(columns: usize, length: usize, width: usize) -> PivotedQr {
        let rows = columns;
        PivotedQr {
            rows,
            length,
            triangles: vec![0.0; rows * rows * width],
            order: vec![0; rows * width],
            lengths: vec![0.0; rows * width],
            rank: vec![0; width],
            columns: vec![0.0; rows * length.max(2 * rows)],
            right: vec![0.0; rows],
            ordered: vec![0.0; rows],
        }
    }

    /// Where the columns of A are to be put before they are factored, one after the other.
    pub fn columns(&mut self) -> &mut [f64] {
        &mut self.columns[..self.rows * self.length]
    }

    /// Factors what stands in [`PivotedQr::columns`], for a lane. Directions that are not longer than `shortest` are left out. Returns the
    /// rank, or nothing if a number is not finite.
    pub fn factor(&mut self, shortest: f64, lane: usize) -> Option<usize> {
        let (m, n) = (self.rows, self.length);
        let shortest = shortest.max(SHORTEST);
        let (lengths, order) = (&mut self.lengths[lane * m..][..m], &mut self.order[lane * m..][..m]);
        for (row, column) in self.columns[..m * n].chunks_exact_mut(n).enumerate() {
            let length = length(column);
            lengths[row] = length;
            // A column of zeros has no direction.
            let inverse = if length > 0.0 { 1.0 / length } else { 0.0 };
            column.iter_mut().for_each(|a| *a *= inverse);
            order[row] = row;
        }
        let triangle = &mut self.triangles[lane * m * m..][..m * m];
        let mut rank = 0;
        while rank < m {
            let left = order[rank..].iter().map(|&row| length(&self.columns[row * n..][..n]));
            let (mut place, mut longest) = (rank, -1.0);
            for (k, length) in left.enumerate() {
                if length.is_nan() {
                    return None;
                }
                if length > longest {
                    (place, longest) = (rank + k, length);
                }
            }
            if longest <= shortest {
                break;
            }
            order.swap(rank, place);
            // What was found of the rows that change places goes with them.
            (0..rank).for_each(|k| triangle.swap(k * m + rank, k * m + place));
            triangle[rank * m + rank] = longest;
            let pivot = order[rank];
            self.columns[pivot * n..][..n].iter_mut().for_each(|a| *a /= longest);
            for k in rank + 1..m {
                let (pivot, other) = pair(&mut self.columns, pivot * n, order[k] * n, n);
                let share = dot(pivot, other);
                other.iter_mut().zip(pivot).for_each(|(b, a)| *b -= share * *a);
                triangle[rank * m + k] = share;
            }
            rank += 1;
        }
        self.rank[lane] = rank;
        Some(rank)
    }

    /// The shortest direction that was not left out in a lane, relative to the length of its column; 1 if there is none.
    #[must_use]
    pub fn shortest(&self, lane: usize) -> f64 {
        let (m, triangle) = (self.rows, &self.triangles[lane * self.rows * self.rows..]);
        (0..self.rank[lane]).fold(1.0, |shortest, k| f64::min(shortest, triangle[k * m + k]))
    }

    /// Finds x with AᵀA x = b in a lane of so many, and puts the entry of column `rows[k]` to place k. Which columns were left out makes no
    /// difference: if right sides do not quite agree, the mean counts, and columns share what they carry so that
    /// the sum of squares is least. With T = R₁₁⁻¹R₁₂
    ///
    /// $$b_1\leftarrow b_1+T(1+T^TT)^{-1}(b_2-T^Tb_1),\quad R_{11}^TR_{11}x=b_1,\quad
    /// x_2=(1+T^TT)^{-1}T^Tx,\quad x_1=x-Tx_2.$$
    ///
    /// Of x the parts along short directions are left out that are `noise`.
    pub fn solve(
        &mut self,
        b: &[f64],
        x: &mut [f64],
        rows: &[u32],
        noise: Noise,
        (lane, width): (usize, usize),
    ) {
        let (m, rank) = (self.rows, self.rank[lane]);
        let (r, order) = (&self.triangles[lane * m * m..][..m * m], &self.order[lane * m..][..m]);
        let (lengths, idle) = (&self.lengths[lane * m..][..m], m - rank);
        let u = &mut self.right;
        for k in 0..m {
            let length = lengths[order[k]];
            u[k] = if length > 0.0 { b[order[k] * width + lane] / length } else { 0.0 };
        }
        if idle > 0 && rank > 0 {
            // T by columns, then 1 + TᵀT in factors.
            let (t, gram) = self.columns.split_at_mut(idle * rank);
            for (j, t) in t.chunks_exact_mut(rank).enumerate() {
                for k in (0..rank).rev() {
                    let known: f64 = (k + 1..rank).map(|i| r[k * m + i] * t[i]).sum();
                    t[k] = (r[k * m + rank + j] - known) / r[k * m + k];
                }
            }
            let gram = &mut gram[..idle * idle];
            for (i, a) in t.chunks_exact(rank).enumerate() {
                for (j, b) in t.chunks_exact(rank).enumerate() {
                    gram[i * idle + j] = dot(a, b) + if i == j { 1.0 } else { 0.0 };
                }
            }
            let (first, second) = u.split_at_mut(rank);
            for (apart, t) in second.iter_mut().zip(t.chunks_exact(rank)) {
                *apart -= dot(t, first);
            }
            // 1 + TᵀT is never singular; what is not finite shows in the solution.
            let _ = cholesky(gram, idle);
            solve_cholesky(gram, second);
            for (z, t) in second.iter().zip(t.chunks_exact(rank)) {
                first.iter_mut().zip(t).for_each(|(b, t)| *b += z * t);
            }
        }
        for k in 0..rank {
            let known: f64 = (0..k).map(|i| r[i * m + k] * u[i]).sum();
            u[k] = (u[k] - known) / r[k * m + k];
        }
        for k in 0..rank {
            u[k] = if noise.drowns(u[k], r[k * m + k]) { 0.0 } else { u[k] };
        }
        for k in (0..rank).rev() {
            let known: f64 = (k + 1..rank).map(|j| r[k * m + j] * u[j]).sum();
            u[k] = (u[k] - known) / r[k * m + k];
        }
        if idle > 0 && rank > 0 {
            let (t, gram) = self.columns.split_at(idle * rank);
            let (first, second) = u.split_at_mut(rank);
            for (share, t) in second.iter_mut().zip(t.chunks_exact(rank)) {
                *share = dot(t, first);
            }
            solve_cholesky(&gram[..idle * idle], second);
            for (z, t) in second.iter().zip(t.chunks_exact(rank)) {
                first.iter_mut().zip(t).for_each(|(x, t)| *x -= z * t);
            }
        } else {
            u[rank..].fill(0.0);
        }
        // Back to the rows as they are given, and from there to the order that is wanted.
        let v = &mut self.ordered;
        for k in 0..m {
            let length = lengths[order[k]];
            v[order[k]] = if length > 0.0 { u[k] / length } else { 0.0 };
        }
        rows.iter().enumerate().for_each(|(place, &row)| x[place * width + lane] = v[row as usize]);
    }
}

fn length(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

/// A product of two lists, in eight sums that run beside each other.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a, rest_a) = a.as_chunks::<8>();
    let (b, rest_b) = b.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        (0..8).for_each(|k| sums[k] += a[k] * b[k]);
    }
    let rest: f64 = rest_a.iter().zip(rest_b).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}

/// Two stretches of a list that do not overlap.
fn pair(list: &mut [f64], a: usize, b: usize, len: usize) -> (&[f64], &mut [f64]) {
    if a < b {
        let (head, tail) = list.split_at_mut(b);
        (&head[a..][..len], &mut tail[..len])
    } else {
        let (head, tail) = list.split_at_mut(a);
        (&tail[..len], &mut head[b..][..len])
    }
}
