//! Solves x = g(x), the equation of an implicit step, down to rounding.
//!
//! Anderson acceleration: with residuals r = g(x) − x and the differences of the last few of them,
//!
//! $$x_{k+1}=g_k-\sum_c\gamma_c\,\Delta g_c,\qquad \gamma=\arg\min\Bigl\|r_k-\sum_c\gamma_c\,\Delta r_c\Bigr\|,$$
//!
//! which on linear problems is GMRES (H. F. Walker and P. Ni, SIAM J. Numer. Anal. 49 (2011) 1715, doi:10.1137/10078356X). An
//! iteration stops where residuals no longer shrink, not at a tolerance: what is left then is noise without a
//! trend, and energy does not drift (E. Hairer, R. I. McLachlan and A. Razakarivony, BIT 48 (2008) 231, doi:10.1007/s10543-008-0170-3).
//!
//! Each lane is solved by itself: its iterates are what they would be alone, and it rests when it is done.

use crate::step::StepError;
use leastaction_compile::LANES;
use leastaction_mechanics::EvalError;

/// How many differences are kept.
const DEPTH: usize = 5;
const MAX_ITERATIONS: u32 = 100;
/// A residual this small, relative to the state, is rounding once it no longer halves.
const ROUNDING: f64 = 16.0 * f64::EPSILON;
/// So is this one, once it has not halved for a while: fields whose terms cancel are noisy.
const NOISE: f64 = 1e-11;
const PATIENCE: u32 = 8;
/// A difference that lies this nearly in the span of the others adds nothing.
const DEPENDENT: f64 = 1e-10;

/// The memory of the iteration.
pub(crate) struct Fixpoint {
    image: Vec<f64>,
    image_before: Vec<f64>,
    residual: Vec<f64>,
    residual_before: Vec<f64>,
    image_changes: [Vec<f64>; DEPTH],
    residual_changes: [Vec<f64>; DEPTH],
    basis: [Vec<f64>; DEPTH],
}

impl Fixpoint {
    /// Memory for unknowns of this length, all lanes counted.
    pub(crate) fn new(len: usize, width: usize) -> Fixpoint {
        debug_assert!(width > 0 && len.is_multiple_of(width));
        let memory = || vec![0.0; len];
        Fixpoint {
            image: memory(),
            image_before: memory(),
            residual: memory(),
            residual_before: memory(),
            image_changes: std::array::from_fn(|_| memory()),
            residual_changes: std::array::from_fn(|_| memory()),
            basis: std::array::from_fn(|_| memory()),
        }
    }

    /// Solves x = g(x) from the guess in `x`. Unknowns are changes of the state `y`, which gives their scale. Returns
    /// how many iterations were made.
    pub(crate) fn solve(
        &mut self,
        t: &[f64],
        y: &[f64],
        x: &mut [f64],
        map: impl FnMut(&[f64], &mut [f64]) -> Result<(), EvalError>,
    ) -> Result<u32, StepError> {
        match t.len() {
            1 => self.solve_lanes::<1>(t, y, x, map),
            _ => self.solve_lanes::<LANES>(t, y, x, map),
        }
    }

    fn solve_lanes<const W: usize>(
        &mut self,
        t: &[f64],
        y: &[f64],
        x: &mut [f64],
        mut map: impl FnMut(&[f64], &mut [f64]) -> Result<(), EvalError>,
    ) -> Result<u32, StepError> {
        let mut progress = [Progress::default(); W];
        let mut weights = [[0.0; W]; 2];
        for k in 0..MAX_ITERATIONS {
            map(x, &mut self.image)?;
            if k == 0 {
                weights =
                    scales::<W>(y, &self.image).map(|half| half.map(|s| if s > 0.0 { 1.0 / s } else { 1.0 }));
            }
            let sizes = self.compare::<W>(x, &weights);
            for (lane, size) in progress.iter_mut().zip(sizes) {
                lane.update(size);
            }
            if k > 0 {
                let slot = (k as usize - 1) % DEPTH;
                subtract(&mut self.image_changes[slot], &self.image, &self.image_before);
                subtract(&mut self.residual_changes[slot], &self.residual, &self.residual_before);
            }
            let shares = self.fit::<W>(k as usize);
            let open = progress.map(|lane| !lane.done);
            self.advance::<W>(x, &shares, &open);
            if let Some(lane) = progress.iter().position(|lane| lane.lost) {
                return Err(self.failure(t, lane, progress[lane], k + 1));
            }
            if progress.iter().all(|lane| lane.done) {
                return Ok(k + 1);
            }
            std::mem::swap(&mut self.image, &mut self.image_before);
            std::mem::swap(&mut self.residual, &mut self.residual_before);
        }
        let lane = progress.iter().position(|lane| !lane.done).unwrap_or(0);
        Err(self.failure(t, lane, progress[lane], MAX_ITERATIONS))
    }

    fn failure(&self, t: &[f64], lane: usize, progress: Progress, iterations: u32) -> StepError {
        let t = t.get(lane).copied().unwrap_or(f64::NAN);
        StepError::NoConvergence { t, lane, residual: progress.size, iterations }
    }

    /// Sets the weighted residuals, and finds the largest in each lane.
    fn compare<const W: usize>(&mut self, x: &[f64], weights: &[[f64; W]; 2]) -> [f64; W] {
        let mut sizes = [0.0_f64; W];
        let half = x.len() / W / 2;
        let rows = self.residual.as_chunks_mut::<W>().0.iter_mut();
        let pairs = self.image.as_chunks::<W>().0.iter().zip(x.as_chunks::<W>().0);
        for (i, (residual, (image, x))) in rows.zip(pairs).enumerate() {
            let weight = &weights[usize::from(i >= half)];
            for j in 0..W {
                residual[j] = weight[j] * (image[j] - x[j]);
                let size = residual[j].abs();
                // Not `f64::max`, which would lose a NaN.
                if size > sizes[j] || size.is_nan() {
                    sizes[j] = size;
                }
            }
        }
        sizes
    }

    /// The least-squares shares γ of the differences, newest first, by modified Gram–Schmidt.
    fn fit<const W: usize>(&mut self, k: usize) -> [[f64; W]; DEPTH] {
        let columns = k.min(DEPTH);
        let mut triangle = [[[0.0; W]; DEPTH]; DEPTH];
        let mut shares = [[0.0; W]; DEPTH];
        for c in 0..columns {
            let (done, rest) = self.basis.split_at_mut(c);
            let column = &mut rest[0];
            column.copy_from_slice(&self.residual_changes[(k - 1 - c) % DEPTH]);
            let whole = dot::<W>(column, column);
            for (d, unit) in done.iter().enumerate() {
                let along = dot::<W>(unit, column);
                triangle[d][c] = along;
                remove(column, &along, unit);
            }
            let left = dot::<W>(column, column);
            let keep: [bool; W] = std::array::from_fn(|j| left[j] > DEPENDENT * DEPENDENT * whole[j]);
            let inverse = std::array::from_fn(|j| if keep[j] { 1.0 / left[j].sqrt() } else { 0.0 });
            triangle[c][c] = inverse;
            for row in column.as_chunks_mut::<W>().0 {
                row.iter_mut().zip(&inverse).for_each(|(x, s)| *x *= s);
            }
            shares[c] = dot::<W>(column, &self.residual);
        }
        for c in (0..columns).rev() {
            for d in c + 1..columns {
                let later = shares[d];
                shares[c]
                    .iter_mut()
                    .zip(triangle[c][d].iter().zip(later))
                    .for_each(|(s, (r, g))| *s -= r * g);
            }
            shares[c].iter_mut().zip(&triangle[c][c]).for_each(|(s, inverse)| *s *= inverse);
        }
        self.newest_first(k, shares)
    }

    /// Shares by slot instead of by age.
    fn newest_first<const W: usize>(&self, k: usize, by_age: [[f64; W]; DEPTH]) -> [[f64; W]; DEPTH] {
        let mut by_slot = [[0.0; W]; DEPTH];
        for age in 0..k.min(DEPTH) {
            by_slot[(k - 1 - age) % DEPTH] = by_age[age];
        }
        by_slot
    }

    /// Moves open lanes to the accelerated iterate, and the others to the last image.
    fn advance<const W: usize>(&self, x: &mut [f64], shares: &[[f64; W]; DEPTH], open: &[bool; W]) {
        let shares =
            shares.map(|row| std::array::from_fn::<f64, W, _>(|j| if open[j] { row[j] } else { 0.0 }));
        x.copy_from_slice(&self.image);
        for (share, change) in shares.iter().zip(&self.image_changes) {
            remove(x, share, change);
        }
    }
}

/// How far a lane has come.
#[derive(Clone, Copy)]
struct Progress {
    size: f64,
    best: f64,
    stale: u32,
    done: bool,
    lost: bool,
}

impl Default for Progress {
    fn default() -> Progress {
        Progress { size: f64::INFINITY, best: f64::INFINITY, stale: 0, done: false, lost: false }
    }
}

impl Progress {
    fn update(&mut self, size: f64) {
        if self.done {
            return;
        }
        self.size = size;
        self.lost = !size.is_finite();
        self.stale = if size < 0.5 * self.best { 0 } else { self.stale + 1 };
        self.best = self.best.min(size);
        self.done =
            size == 0.0 || self.stale > 0 && size <= ROUNDING || self.stale >= PATIENCE && size <= NOISE;
    }
}

/// The largest sizes of y and of its change, for coordinates and for momenta.
fn scales<const W: usize>(y: &[f64], change: &[f64]) -> [[f64; W]; 2] {
    let mut scales = [[0.0_f64; W]; 2];
    for block in [y, change] {
        let rows = block.as_chunks::<W>().0;
        let mut largest = [[0.0_f64; W]; 2];
        for (i, row) in rows.iter().enumerate() {
            let half = &mut largest[usize::from(i >= rows.len() / 2)];
            half.iter_mut().zip(row).for_each(|(s, y)| *s = s.max(y.abs()));
        }
        for (sum, part) in scales.as_flattened_mut().iter_mut().zip(largest.as_flattened()) {
            *sum += part;
        }
    }
    scales
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
