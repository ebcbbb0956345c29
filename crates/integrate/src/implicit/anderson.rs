//! Anderson acceleration: with residuals r = g(x) − x and the differences of the last few of them,
//!
//! $$x_{k+1}=g_k-\sum_c\gamma_c\,\Delta g_c,\qquad \gamma=\arg\min\Bigl\|r_k-\sum_c\gamma_c\,\Delta r_c\Bigr\|,$$
//!
//! which on linear problems is GMRES (H. F. Walker and P. Ni, SIAM J. Numer. Anal. 49 (2011) 1715, doi:10.1137/10078356X).

use super::{Front, Lane, rescale};
use leastaction_mechanics::EvalError;

/// Without Newton's method an equation should be solved in so many iterations.
pub(super) const MOST: u32 = 30;
/// A difference that lies this nearly in the span of the other adds nothing.
const DEPENDENT: f64 = 1e-10;

/// The memory of the iteration: the last iterate, and two differences of iterates. Four would save an evaluation in ten, and cost more
/// than they save.
pub(super) struct Anderson {
    before: Pair,
    newer: Pair,
    older: Pair,
}

/// An image and a residual, or differences of them.
struct Pair {
    image: Vec<f64>,
    residual: Vec<f64>,
}

impl Anderson {
    pub(super) fn new(len: usize) -> Anderson {
        let pair = || Pair { image: vec![0.0; len], residual: vec![0.0; len] };
        Anderson { before: pair(), newer: pair(), older: pair() }
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
                front.weigh(y, [true; W]);
            }
            front.compare(x);
            if let Some(factors) = front.weigh_again(y) {
                for pair in [&mut self.before, &mut self.newer, &mut self.older] {
                    rescale(&mut pair.residual, front.rows, &factors);
                }
            }
            if front.is_done() {
                front.settle(x);
                return Ok(k + 1);
            }
            if k == 0 {
                self.begin(front.image, front.residual);
                front.settle(x);
                continue;
            }
            std::mem::swap(&mut self.newer, &mut self.older);
            differ(&mut self.newer.image, &mut self.before.image, front.image);
            differ(&mut self.newer.residual, &mut self.before.residual, front.residual);
            let shares = self.fit(front.residual);
            self.advance(x, &shares, front);
            if front.is_lost() {
                return Ok(k + 1);
            }
        }
        front.end();
        Ok(most)
    }

    /// Memory of the length of the unknowns, for what comes after the iteration.
    pub(super) fn spare(&mut self) -> [&mut [f64]; 2] {
        [&mut self.before.image, &mut self.before.residual]
    }

    /// There are no differences yet: none counts as zero.
    fn begin(&mut self, image: &[f64], residual: &[f64]) {
        self.before.image.copy_from_slice(image);
        self.before.residual.copy_from_slice(residual);
        self.newer.image.fill(0.0);
        self.newer.residual.fill(0.0);
    }

    /// The least-squares shares γ of both differences: the older one counts by what is orthogonal to the newer.
    fn fit<const W: usize>(&self, residual: &[f64]) -> [[f64; W]; 2] {
        let (newer, older) = (self.newer.residual.as_chunks::<W>().0, self.older.residual.as_chunks::<W>().0);
        let residual = residual.as_chunks::<W>().0;
        let [mut whole, mut common, mut along, mut whole_older] = [[0.0; W]; 4];
        for ((a, b), r) in newer.iter().zip(older).zip(residual) {
            for j in 0..W {
                whole[j] += a[j] * a[j];
                common[j] += a[j] * b[j];
                along[j] += a[j] * r[j];
                whole_older[j] += b[j] * b[j];
            }
        }
        let share = |part: f64, whole: f64, keeps: bool| if keeps { part / whole } else { 0.0 };
        let overlap: [f64; W] = std::array::from_fn(|j| share(common[j], whole[j], whole[j] > 0.0));
        let [mut left, mut along_left] = [[0.0; W]; 2];
        for ((a, b), r) in newer.iter().zip(older).zip(residual) {
            for j in 0..W {
                let rest = b[j] - overlap[j] * a[j];
                left[j] += rest * rest;
                along_left[j] += rest * r[j];
            }
        }
        let keeps = |j: usize| left[j] > DEPENDENT * DEPENDENT * whole_older[j];
        let second: [f64; W] = std::array::from_fn(|j| share(along_left[j], left[j], keeps(j)));
        let first = |j: usize| share(along[j], whole[j], whole[j] > 0.0) - overlap[j] * second[j];
        [std::array::from_fn(first), second]
    }

    /// Moves open lanes to the accelerated iterate, and closing ones to the image.
    fn advance<const W: usize>(&self, x: &mut [f64], shares: &[[f64; W]; 2], front: &Front<'_, W>) {
        let open = front.progress.map(|lane| lane.state == Lane::Open);
        let moves = front.progress.map(|lane| lane.moves());
        let changes = self.newer.image.as_chunks::<W>().0.iter().zip(self.older.image.as_chunks::<W>().0);
        let rows = x.as_chunks_mut::<W>().0.iter_mut().zip(front.image.as_chunks::<W>().0);
        let [first, second] = shares;
        for ((x, image), (newer, older)) in rows.zip(changes) {
            for j in 0..W {
                let next = image[j] - first[j] * newer[j] - second[j] * older[j];
                let next = if open[j] { next } else { image[j] };
                x[j] = if moves[j] { next } else { x[j] };
            }
        }
    }
}

/// change = now − before, and now is what was before.
fn differ(change: &mut [f64], before: &mut [f64], now: &[f64]) {
    for (change, (before, now)) in change.iter_mut().zip(before.iter_mut().zip(now)) {
        *change = now - *before;
        *before = *now;
    }
}
