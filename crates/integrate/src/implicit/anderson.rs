//! Anderson acceleration: with residuals r = g(x) − x and the differences of the last few of them,
//!
//! $$x_{k+1}=g_k-\sum_c\gamma_c\,\Delta g_c,\qquad \gamma=\arg\min\Bigl\|r_k-\sum_c\gamma_c\,\Delta r_c\Bigr\|,$$
//!
//! which on linear problems is GMRES (H. F. Walker and P. Ni, SIAM J. Numer. Anal. 49 (2011) 1715, doi:10.1137/10078356X).

use super::{Front, Lane};
use leastaction_mechanics::EvalError;

/// How many differences are kept. Four would save an evaluation in ten, and cost more than they save.
const DEPTH: usize = 2;
/// Without Newton's method an equation should be solved in so many iterations.
pub(super) const MOST: u32 = 30;
/// A difference that lies this nearly in the span of the others adds nothing.
const DEPENDENT: f64 = 1e-10;

/// The memory of the iteration: the last iterate, and differences of iterates.
pub(super) struct Anderson {
    image_before: Vec<f64>,
    residual_before: Vec<f64>,
    image_changes: [Vec<f64>; DEPTH],
    residual_changes: [Vec<f64>; DEPTH],
    basis: [Vec<f64>; DEPTH],
}

impl Anderson {
    pub(super) fn new(len: usize) -> Anderson {
        let memory = || vec![0.0; len];
        Anderson {
            image_before: memory(),
            residual_before: memory(),
            image_changes: std::array::from_fn(|_| memory()),
            residual_changes: std::array::from_fn(|_| memory()),
            basis: std::array::from_fn(|_| memory()),
        }
    }

    /// Iterates until all lanes are done, or for a while. Returns how many iterations were made.
    pub(super) fn iterate<const W: usize>(
        &mut self,
        most: u32,
        y: &[f64],
        x: &mut [f64],
        front: &mut Front<'_, W>,
        mut equation: impl FnMut(&[f64], &mut [f64]) -> Result<(), EvalError>,
    ) -> Result<u32, EvalError> {
        for k in 0..most {
            equation(x, front.image)?;
            if k == 0 {
                front.weigh(y);
            }
            front.compare(x);
            if k > 0 {
                let slot = (k as usize - 1) % DEPTH;
                subtract(&mut self.image_changes[slot], front.image, &self.image_before);
                subtract(&mut self.residual_changes[slot], front.residual, &self.residual_before);
            }
            let done = front.is_done();
            let shares = if done { [[0.0; W]; DEPTH] } else { self.fit::<W>(k as usize, front.residual) };
            self.advance(x, &shares, front);
            if done || front.is_lost() {
                return Ok(k + 1);
            }
            self.image_before.copy_from_slice(front.image);
            self.residual_before.copy_from_slice(front.residual);
        }
        Ok(most)
    }

    /// The least-squares shares γ of the differences, by their slots: modified Gram–Schmidt, newest first.
    fn fit<const W: usize>(&mut self, k: usize, residual: &[f64]) -> [[f64; W]; DEPTH] {
        let columns = k.min(DEPTH);
        let slot = |age: usize| (k - 1 - age) % DEPTH;
        let mut triangle = [[[0.0; W]; DEPTH]; DEPTH];
        let mut shares = [[0.0; W]; DEPTH];
        for c in 0..columns {
            let (units, rest) = self.basis.split_at_mut(c);
            let column = &mut rest[0];
            column.copy_from_slice(&self.residual_changes[slot(c)]);
            let whole = dot::<W>(column, column);
            for (d, unit) in units.iter().enumerate() {
                triangle[d][c] = dot::<W>(unit, column);
                remove(column, &triangle[d][c], unit);
            }
            let left = dot::<W>(column, column);
            let keeps = |j: usize| left[j] > DEPENDENT * DEPENDENT * whole[j];
            let inverse = std::array::from_fn(|j| if keeps(j) { 1.0 / left[j].sqrt() } else { 0.0 });
            triangle[c][c] = inverse;
            for row in column.as_chunks_mut::<W>().0 {
                row.iter_mut().zip(&inverse).for_each(|(x, s)| *x *= s);
            }
            shares[c] = dot::<W>(column, residual);
        }
        let mut by_slot = [[0.0; W]; DEPTH];
        for c in (0..columns).rev() {
            for j in 0..W {
                let later: f64 = (c + 1..columns).map(|d| triangle[c][d][j] * shares[d][j]).sum();
                shares[c][j] = (shares[c][j] - later) * triangle[c][c][j];
            }
            by_slot[slot(c)] = shares[c];
        }
        by_slot
    }

    /// Moves open lanes to the accelerated iterate, and closing ones to the image.
    fn advance<const W: usize>(&self, x: &mut [f64], shares: &[[f64; W]; DEPTH], front: &Front<'_, W>) {
        let states = front.progress.map(|lane| lane.state);
        let rows = x.as_chunks_mut::<W>().0.iter_mut().zip(front.image.as_chunks::<W>().0);
        for (i, (x, image)) in rows.enumerate() {
            let mut next = *image;
            for (share, changes) in shares.iter().zip(&self.image_changes) {
                for (j, next) in next.iter_mut().enumerate() {
                    *next -= share[j] * changes[i * W + j];
                }
            }
            for (j, x) in x.iter_mut().enumerate() {
                *x = match states[j] {
                    Lane::Open => next[j],
                    Lane::Settling | Lane::Closing => image[j],
                    Lane::Resting | Lane::Waiting => *x,
                };
            }
        }
    }
}

fn dot<const W: usize>(a: &[f64], b: &[f64]) -> [f64; W] {
    let mut sum = [0.0; W];
    for (a, b) in a.as_chunks::<W>().0.iter().zip(b.as_chunks::<W>().0) {
        for j in 0..W {
            sum[j] += a[j] * b[j];
        }
    }
    sum
}

/// x −= s·a in each lane.
fn remove<const W: usize>(x: &mut [f64], s: &[f64; W], a: &[f64]) {
    for (x, a) in x.as_chunks_mut::<W>().0.iter_mut().zip(a.as_chunks::<W>().0) {
        for j in 0..W {
            x[j] -= s[j] * a[j];
        }
    }
}

fn subtract(out: &mut [f64], a: &[f64], b: &[f64]) {
    out.iter_mut().zip(a.iter().zip(b)).for_each(|(out, (a, b))| *out = a - b);
}
