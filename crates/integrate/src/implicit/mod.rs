//! Solves x = g(x), the equation of an implicit step, down to rounding.
//!
//! Accelerated iteration comes first, as it needs nothing but g; lanes it does not solve, because the step is long for the
//! system's fastest motion, go to Newton's method. Both stop where residuals no longer shrink, not at a tolerance: what
//! is left then is noise without a trend, and energy does not drift (E. Hairer, R. I. McLachlan and A. Razakarivony,
//! BIT 48 (2008) 231, doi:10.1007/s10543-008-0170-3).
//!
//! Each lane is solved by itself: its iterates are what they would be alone, and it rests when it is done.

mod anderson;
mod newton;
mod operator;
mod past;
mod radau;
mod spectrum;
mod stages;
mod tableau;

use crate::step::StepError;
use anderson::{Anderson, MOST};
use leastaction_compile::LANES;
use leastaction_mechanics::EvalError;
use newton::Newton;

pub(crate) use past::Past;
pub(crate) use radau::Radau;
pub(crate) use stages::Stages;
pub(crate) use tableau::Tableau;

/// A residual this small, relative to the state, is rounding once it no longer halves.
const ROUNDING: f64 = 16.0 * f64::EPSILON;
/// So is this one, once it has not halved for a while: fields whose terms cancel are noisy.
const NOISE: f64 = 1e-11;
const PATIENCE: u32 = 8;
/// A residual this small, relative to increments, is lost in their rounding.
const UNSEEN: f64 = f64::EPSILON / 64.0;

/// Newton's method for [`Equation`] keeps whole matrices, and is left out beyond so many unknowns: there only accelerated iteration solves.
/// [`Stages`] and [`Radau`] know the structure of theirs, and no such bound.
const MOST_DENSE: usize = 4096;

/// An equation x = g(x) for the change x of a state over a step.
pub(crate) trait Equation {
    /// g(x).
    fn image(&mut self, x: &[f64], image: &mut [f64]) -> Result<(), EvalError>;

    /// The derivatives of g at x, by rows.
    fn jacobian(&mut self, x: &[f64], matrix: &mut [f64]) -> Result<(), EvalError>;

    /// Whether there are so few unknowns that a matrix of them makes sense.
    fn is_small(&self) -> bool {
        true
    }
}

/// The memory of the iterations.
pub(crate) struct Solver {
    anderson: Anderson,
    newton: Option<Newton>,
    /// Residuals g(x) − x, relative to the scale of the state.
    residual: Vec<f64>,
    image: Vec<f64>,
    /// Whether iterations end where the next residual can be foreseen to be lost in rounding.
    foresees: bool,
}

impl Solver {
    /// Memory for unknowns of this length, all lanes counted.
    pub(crate) fn new(len: usize) -> Solver {
        let memory = || vec![0.0; len];
        Solver {
            anderson: Anderson::new(len),
            newton: None,
            residual: memory(),
            image: memory(),
            foresees: false,
        }
    }

    /// As [`Solver::new`]; iterations end where the next residual can be foreseen to be lost in rounding.
    pub(crate) fn foreseeing(len: usize) -> Solver {
        Solver { foresees: true, ..Solver::new(len) }
    }

    /// Solves x = g(x) from the guess in `x`, which is a change of the state `y`. Returns how many iterations were made.
    pub(crate) fn solve(
        &mut self,
        t: &[f64],
        y: &[f64],
        x: &mut [f64],
        equation: &mut impl Equation,
    ) -> Result<u32, StepError> {
        match t.len() {
            1 => self.solve_lanes::<1>(t, y, x, equation),
            _ => self.solve_lanes::<LANES>(t, y, x, equation),
        }
    }

    /// As [`Solver::solve`], by accelerated iteration alone: for equations whose Jacobian is not known.
    pub(crate) fn accelerate<const W: usize>(
        &mut self,
        t: &[f64],
        y: &[f64],
        x: &mut [f64],
        equation: impl FnMut(&[f64], &mut [f64]) -> Result<(), EvalError>,
    ) -> Result<u32, StepError> {
        let Solver { anderson, residual, image, .. } = self;
        let mut front = Front::<W>::new(y.len() / W, residual, image);
        let iterations = anderson.iterate(2 * MOST, y, x, &mut front, equation)?;
        front.outcome(t, iterations)
    }

    fn solve_lanes<const W: usize>(
        &mut self,
        t: &[f64],
        y: &[f64],
        x: &mut [f64],
        equation: &mut impl Equation,
    ) -> Result<u32, StepError> {
        let Solver { anderson, newton, residual, image, foresees } = self;
        let mut front = Front::<W>::new(y.len() / W, residual, image);
        front.foresees = *foresees;
        let mut iterations = anderson.iterate(MOST, y, x, &mut front, |x, image| equation.image(x, image))?;
        if !front.is_done() && equation.is_small() && x.len() <= MOST_DENSE * W {
            front.foresees = false;
            let newton = newton.get_or_insert_with(|| Newton::new(x.len() / W, W));
            iterations += newton.iterate(x, &mut front, equation)?;
        }
        front.outcome(t, iterations)
    }
}

/// Where an iteration stands, lane by lane. The unknowns are as long as a state, or several such blocks, one per stage.
struct Front<'m, const W: usize> {
    progress: [Progress; W],
    /// The length of one state.
    rows: usize,
    /// One over the scale of coordinates, and of momenta.
    weights: [[f64; W]; 2],
    /// The part of the scale that is increments.
    shares: [f64; W],
    /// Whether lanes close when their next residual can be foreseen to be lost in rounding.
    foresees: bool,
    residual: &'m mut [f64],
    image: &'m mut [f64],
}

impl<'m, const W: usize> Front<'m, W> {
    fn new(rows: usize, residual: &'m mut [f64], image: &'m mut [f64]) -> Front<'m, W> {
        let (progress, weights, shares) = ([Progress::default(); W], [[0.0; W]; 2], [0.0; W]);
        Front { progress, rows, weights, shares, foresees: false, residual, image }
    }

    /// How many iterations were made, unless a lane is still open.
    fn outcome(&self, t: &[f64], iterations: u32) -> Result<u32, StepError> {
        match self.progress.iter().position(|lane| matches!(lane.state, Lane::Open | Lane::Waiting)) {
            None => Ok(iterations),
            Some(lane) => {
                let (t, residual) = (t.get(lane).copied().unwrap_or(f64::NAN), self.progress[lane].size);
                Err(StepError::NoConvergence { t, lane, residual, iterations })
            }
        }
    }

    /// Takes the scale of the unknowns from a state and its change.
    fn weigh(&mut self, y: &[f64]) {
        let sizes = [largest::<W>(y, self.rows), largest::<W>(self.image, self.rows)];
        self.shares = [0.0; W];
        for (half, weights) in self.weights.iter_mut().enumerate() {
            for (j, weight) in weights.iter_mut().enumerate() {
                let scale = sizes[0][half][j] + sizes[1][half][j];
                *weight = if scale > 0.0 { 1.0 / scale } else { 1.0 };
                self.shares[j] = self.shares[j].max(sizes[1][half][j] * *weight);
            }
        }
    }

    /// Compares x with its image, and puts lanes to rest that are done.
    #[inline]
    fn compare(&mut self, x: &[f64]) {
        let mut sizes = [0.0_f64; W];
        let halves = Half::of_rows(self.rows);
        let rows = self.residual.as_chunks_mut::<W>().0.iter_mut();
        let pairs = self.image.as_chunks::<W>().0.iter().zip(x.as_chunks::<W>().0);
        for ((residual, (image, x)), half) in rows.zip(pairs).zip(halves) {
            let weight = &self.weights[half];
            for j in 0..W {
                residual[j] = weight[j] * (image[j] - x[j]);
                let size = residual[j].abs();
                // Not `f64::max`, which would lose a NaN.
                sizes[j] = if (size > sizes[j]) | size.is_nan() { size } else { sizes[j] };
            }
        }
        for ((lane, size), share) in self.progress.iter_mut().zip(sizes).zip(&self.shares) {
            let before = lane.size;
            lane.update(size, *share);
            let foreseen = size * (size / before);
            let seen = before.is_finite() && size <= 0.1 * before;
            if self.foresees && seen && lane.state == Lane::Open && foreseen <= UNSEEN * share {
                lane.state = Lane::Settling;
            }
        }
    }

    /// Moves lanes that close to their image.
    fn settle(&self, x: &mut [f64]) {
        let moves = self.progress.map(|lane| lane.moves());
        for (x, image) in x.as_chunks_mut::<W>().0.iter_mut().zip(self.image.as_chunks::<W>().0) {
            (0..W).for_each(|j| x[j] = if moves[j] { image[j] } else { x[j] });
        }
    }

    fn is_done(&self) -> bool {
        self.progress.iter().all(|lane| !matches!(lane.state, Lane::Open | Lane::Settling))
    }

    /// Gives lanes that are not solved another chance.
    fn restart(&mut self) {
        let unsolved = |lane: &&mut Progress| matches!(lane.state, Lane::Open | Lane::Waiting);
        for lane in self.progress.iter_mut().filter(unsolved) {
            *lane = Progress::default();
        }
    }

    /// Whether no open lane can be brought further by going on: residuals are infinite or NaN.
    fn is_lost(&self) -> bool {
        self.progress.iter().all(|lane| match lane.state {
            Lane::Open => !lane.size.is_finite(),
            Lane::Settling => false,
            Lane::Closing | Lane::Resting | Lane::Waiting => true,
        })
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Lane {
    /// Not solved.
    Open,
    /// Solved but for what acceleration makes of rounding, which a plain iteration takes away.
    Settling,
    /// Solved in this iteration: the image is the solution.
    Closing,
    /// Solved before: x is the solution, and stays.
    Resting,
    /// Not solved, and left out of the iteration.
    Waiting,
}

/// How far a lane has come.
#[derive(Clone, Copy)]
struct Progress {
    size: f64,
    best: f64,
    stale: u32,
    state: Lane,
}

impl Default for Progress {
    fn default() -> Progress {
        Progress { size: f64::INFINITY, best: f64::INFINITY, stale: 0, state: Lane::Open }
    }
}

impl Progress {
    /// Whether the iteration still moves it.
    fn moves(&self) -> bool {
        matches!(self.state, Lane::Open | Lane::Settling | Lane::Closing)
    }

    /// `share` is the part of the scale that is increments.
    fn update(&mut self, size: f64, share: f64) {
        match self.state {
            Lane::Open => {}
            Lane::Settling => {
                (self.size, self.state) = (size, Lane::Closing);
                return;
            }
            Lane::Waiting => return,
            Lane::Closing | Lane::Resting => {
                self.state = Lane::Resting;
                return;
            }
        }
        self.size = size;
        self.stale = if size < 0.5 * self.best { 0 } else { self.stale + 1 };
        self.best = self.best.min(size);
        // Increments are rounded less coarsely than the state. Where an iteration halts above that, it may only have stumbled.
        let rounding = self.stale > 0 && size <= ROUNDING * share || self.stale > 1 && size <= ROUNDING;
        let noise = self.stale >= PATIENCE && size <= NOISE;
        // A residual may shrink without ever halting, as around a solution that is zero.
        if size == 0.0 || size <= f64::EPSILON * UNSEEN * share {
            self.state = Lane::Closing;
        } else if rounding || noise {
            self.state = Lane::Settling;
        }
    }
}

/// Which half of a state each row belongs to, stage after stage.
struct Half {
    rows: usize,
    row: usize,
}

impl Half {
    fn of_rows(rows: usize) -> Half {
        Half { rows, row: 0 }
    }
}

impl Iterator for Half {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        let half = usize::from(self.row >= self.rows / 2);
        self.row = if self.row + 1 == self.rows { 0 } else { self.row + 1 };
        Some(half)
    }
}

/// The largest sizes of coordinates, and of momenta, in states of so many rows.
fn largest<const W: usize>(block: &[f64], rows: usize) -> [[f64; W]; 2] {
    let mut largest = [[0.0_f64; W]; 2];
    for (row, half) in block.as_chunks::<W>().0.iter().zip(Half::of_rows(rows)) {
        largest[half].iter_mut().zip(row).for_each(|(size, y)| *size = size.max(y.abs()));
    }
    largest
}
