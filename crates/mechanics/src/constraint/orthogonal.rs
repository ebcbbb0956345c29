//! The constraints of small systems by orthogonal factors, where G M⁻¹ Gᵀ has lost too many digits.
//!
//! With M⁻¹ = C Cᵀ and A = Cᵀ Gᵀ, whose columns are scaled to length 1, Q R = A P gives
//!
//! $$G M^{-1}G^T=D\,P\,R^TR\,P^TD,$$
//!
//! so that a direction of length δ that a constraint adds to those before it is found with an error of ε, and not of ε/δ as by the pivots
//! δ² of the product (Å. Björck, *Numerical Methods for Least Squares Problems*, 1996, sections 2.4 and 2.7; columns are chosen by length as in
//! P. Businger and G. H. Golub, Numer. Math. 7 (1965) 269). The factors come from Gram–Schmidt's method in its modified form, whose R is as
//! good as Householder's.

use crate::constraint::sparse::{Component, Layout};

/// A direction shorter than this is rounding.
const SHORTEST: f64 = 1e-9;
/// The factors in every lane in which they were needed.
#[derive(Clone, Debug)]
pub(crate) struct Orthogonal {
    rows: usize,
    coordinates: usize,
    /// R, the order of the rows and the lengths of the columns of A, of each lane.
    triangles: Vec<f64>,
    order: Vec<usize>,
    lengths: Vec<f64>,
    rank: Vec<usize>,
    /// Working memory: the columns of A, and what is left out in terms of what is not; a part of M⁻¹; a right side, twice.
    columns: Vec<f64>,
    part: Vec<f64>,
    right: Vec<f64>,
    scattered: Vec<f64>,
}

impl Orthogonal {
    /// As much work as one factorisation may be, in multiplications.
    const WORK: usize = 400_000;

    /// Room for a system in so many lanes, if it is small enough.
    pub(crate) fn new(layout: &Layout, width: usize) -> Option<Orthogonal> {
        let (rows, coordinates) = (layout.rows, layout.coordinates);
        let work = rows.checked_mul(rows)?.checked_mul(coordinates)?;
        (work <= Self::WORK && rows > 1).then(|| Orthogonal {
            rows,
            coordinates,
            triangles: vec![0.0; rows * rows * width],
            order: vec![0; rows * width],
            lengths: vec![0.0; rows * width],
            rank: vec![0; width],
            columns: vec![0.0; rows * coordinates.max(2 * rows)],
            part: vec![0.0; layout.components.iter().map(|c| c.size * c.size).max().unwrap_or(0)],
            right: vec![0.0; rows],
            scattered: vec![0.0; rows],
        })
    }

    /// Factors what constraints are in a lane of so many: G in `jacobian`, parts of M⁻¹ in `inverse`. Directions that are not
    /// longer than `shortest` are left out. Returns the rank, or nothing if M⁻¹ is not positive definite.
    pub(crate) fn factor(
        &mut self,
        layout: &Layout,
        jacobian: &[f64],
        inverse: &[f64],
        shortest: f64,
        (lane, width): (usize, usize),
    ) -> Option<usize> {
        let (m, n) = (self.rows, self.coordinates);
        self.columns[..m * n].fill(0.0);
        for row in 0..m {
            for entry in layout.row(row) {
                self.columns[row * n + layout.columns[entry] as usize] = jacobian[entry * width + lane];
            }
        }
        for (component, members) in layout.components.iter().zip(&layout.members) {
            let Component { size, first } = *component;
            let part = &mut self.part[..size * size];
            (0..size * size).for_each(|k| part[k] = inverse[(first + k) * width + lane]);
            cholesky(part, size).then_some(())?;
            for column in self.columns[..m * n].chunks_exact_mut(n) {
                // Entry i of Cᵀg only reads entries of g from i on, so it can take its place.
                for (i, &into) in members.iter().enumerate() {
                    let each = members.iter().enumerate().skip(i);
                    column[into as usize] =
                        each.map(|(j, &from)| part[j * size + i] * column[from as usize]).sum();
                }
            }
        }
        let shortest = shortest.max(SHORTEST);
        let (lengths, order) = (&mut self.lengths[lane * m..][..m], &mut self.order[lane * m..][..m]);
        for (row, column) in self.columns[..m * n].chunks_exact_mut(n).enumerate() {
            let length = length(column);
            lengths[row] = length;
            // A constraint that nothing changes has no direction.
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

    /// Finds λ with G M⁻¹ Gᵀ λ = b in a lane, into x, whose rows stand in another order. Which rows were left out makes no
    /// difference: if rows do not quite agree, because the constraints are not quite met, the mean counts, and they share what they carry so that
    /// the sum of squares is least. With T = R₁₁⁻¹R₁₂
    ///
    /// $$b_1\leftarrow b_1+T(1+T^TT)^{-1}(b_2-T^Tb_1),\quad R_{11}^TR_{11}\lambda=b_1,\quad
    /// \lambda_2=(1+T^TT)^{-1}T^T\lambda,\quad\lambda_1=\lambda-T\lambda_2.$$
    pub(crate) fn solve(&mut self, b: &[f64], x: &mut [f64], rows: &[u32], (lane, width): (usize, usize)) {
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
            // 1 + TᵀT is never singular.
            cholesky(gram, idle);
            solve_factored(gram, second);
            for (z, t) in second.iter().zip(t.chunks_exact(rank)) {
                first.iter_mut().zip(t).for_each(|(b, t)| *b += z * t);
            }
        }
        for k in 0..rank {
            let known: f64 = (0..k).map(|i| r[i * m + k] * u[i]).sum();
            u[k] = (u[k] - known) / r[k * m + k];
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
            solve_factored(&gram[..idle * idle], second);
            for (z, t) in second.iter().zip(t.chunks_exact(rank)) {
                first.iter_mut().zip(t).for_each(|(x, t)| *x -= z * t);
            }
        } else {
            u[rank..].fill(0.0);
        }
        // Back to the rows as they are given, and from there to the order that is wanted.
        let v = &mut self.scattered;
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

/// Solves L Lᵀ x = b in place.
fn solve_factored(l: &[f64], x: &mut [f64]) {
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
fn cholesky(a: &mut [f64], n: usize) -> bool {
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
