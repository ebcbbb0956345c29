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
mod precondition;
mod radau;
mod spectrum;
mod stages;
mod tableau;

use crate::step::StepError;
use anderson::{Anderson, MOST};
use leastaction_compile::LANES;
use leastaction_linear::Structure;
use leastaction_mechanics::{Dynamics, EvalError};
use newton::Newton;

pub(crate) use operator::coupled;
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

/// A first residual larger than this says that the scale may be wrong, too.
const FAR: f64 = 0.1;
/// A plain iteration that makes residuals larger than noise by more than this factor does not settle anything, nor does one whose scale
/// was so much too large.
const EXPANDING: f64 = 4.0;
/// A residual up to this is rounding if it has not halved for a while, and rounding of the state changes images by a fourth of it at least: where
/// forces are strong and momenta still small, as in a stiff system let go at rest.
const EXPLAINED: f64 = 1e-8;
const SHARE_OF_NOISE: f64 = 4.0;

/// An equation x = g(x) for the change x of a state over a step.
pub(crate) trait Equation {
    /// g(x).
    fn image(&mut self, x: &[f64], image: &mut [f64]) -> Result<(), EvalError>;

    /// What the derivatives of g look like. Without entries Newton's method is left out: there only accelerated iteration solves.
    fn structure(&self) -> Structure;

    /// Whether Newton's method may be used. It is asked for in every step.
    fn has_newton(&self) -> bool {
        has_newton(&self.structure())
    }

    /// Products with the derivatives of g, by which Newton's method solves where there are no entries.
    fn products(&mut self) -> Option<&mut dyn Products> {
        None
    }

    /// The entries of the derivatives of g at x that the structure keeps.
    fn jacobian(&mut self, x: &[f64], entries: &mut [f64]) -> Result<(), EvalError>;

    /// Vectors u and v whose outer product u vᵀ is added to the entries that were found last.
    fn outer(&self) -> Option<[&[f64]; 2]> {
        None
    }
}

/// Products with the derivatives of g at one x, in one lane at a time.
pub(crate) trait Products {
    /// Goes to x.
    fn go_to(&mut self, x: &[f64]) -> Result<(), EvalError>;

    /// g′ d in a lane.
    fn product(&mut self, lane: usize, d: &[f64], out: &mut [f64]) -> Result<(), EvalError>;

    /// The system, and where it is about in a step of a single state: the time and the coordinates; and a, for which 1 − a J, with the Jacobian J of
    /// the rates in each block of x, is nearly 1 − g′.
    fn nearly(&mut self) -> (&mut Dynamics, f64, &[f64], f64);
}

/// Whether Newton's method makes matrices of this structure.
pub(crate) fn has_newton(structure: &Structure) -> bool {
    Newton::serves(structure)
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
        let serves = equation.has_newton() || equation.products().is_some();
        front.failed = if serves { Lane::Waiting } else { Lane::Open };
        let mut iterations = anderson.iterate(MOST, y, x, &mut front, |x, image| equation.image(x, image))?;
        if front.unsolved().contains(&true) {
            (front.foresees, front.failed) = (false, Lane::Open);
            let newton = newton.get_or_insert_with(|| Newton::new(&equation.structure(), W));
            iterations += newton.iterate(y, x, &mut front, equation)?;
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
    /// What becomes of a lane that should be solved, but for which the plain iteration makes residuals larger: it waits for Newton's method, or
    /// stays open where there is none.
    failed: Lane,
    residual: &'m mut [f64],
    image: &'m mut [f64],
}

impl<'m, const W: usize> Front<'m, W> {
    fn new(rows: usize, residual: &'m mut [f64], image: &'m mut [f64]) -> Front<'m, W> {
        let (progress, weights, shares) = ([Progress::default(); W], [[0.0; W]; 2], [0.0; W]);
        Front { progress, rows, weights, shares, foresees: false, failed: Lane::Open, residual, image }
    }

    /// How many iterations were made, unless a lane is still open.
    fn outcome(&self, t: &[f64], iterations: u32) -> Result<u32, StepError> {
        match self.unsolved().into_iter().position(|unsolved| unsolved) {
            None => Ok(iterations),
            Some(lane) => {
                let (t, residual) = (t.get(lane).copied().unwrap_or(f64::NAN), self.progress[lane].size);
                Err(StepError::NoConvergence { t, lane, residual, iterations })
            }
        }
    }

    /// Takes the scale of the unknowns in some lanes from a state and its change.
    fn weigh(&mut self, y: &[f64], lanes: [bool; W]) {
        let sizes = [largest::<W>(y, self.rows), largest::<W>(self.image, self.rows)];
        for j in (0..W).filter(|&j| lanes[j]) {
            self.shares[j] = 0.0;
            for (half, weights) in self.weights.iter_mut().enumerate() {
                let scale = sizes[0][half][j] + sizes[1][half][j];
                weights[j] = if scale > 0.0 { 1.0 / scale } else { 1.0 };
                self.shares[j] = self.shares[j].max(sizes[1][half][j] * weights[j]);
            }
        }
    }

    /// Takes the scale again in lanes that seem to be solved, but began from a guess that was far off: its image may have been many times as
    /// large as the solution. Such steps are long, and those lanes not solved. Returns by what residuals so far are to be multiplied, if any are.
    fn weigh_again(&mut self, y: &[f64]) -> Option<[[f64; W]; 2]> {
        let doubtful = self
            .progress
            .map(|lane| lane.guess == Guess::Far && matches!(lane.state, Lane::Settling | Lane::Foreseen));
        if !doubtful.contains(&true) {
            return None;
        }
        let (before, mut factors) = (self.weights, [[1.0; W]; 2]);
        self.weigh(y, doubtful);
        for j in (0..W).filter(|&j| doubtful[j]) {
            (0..2).for_each(|half| factors[half][j] = self.weights[half][j] / before[half][j]);
            let (factor, lane) = (factors[0][j].max(factors[1][j]), &mut self.progress[j]);
            lane.guess = Guess::Near;
            if factor > EXPANDING {
                let size = factor * lane.size;
                *lane = Progress { size, best: size, stale: 0, state: self.failed, ..*lane };
            }
        }
        rescale(self.residual, self.rows, &factors);
        Some(factors)
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
            let before = *lane;
            lane.update(size, *share);
            if lane.state != Lane::Open {
                continue;
            }
            let seen = before.size.is_finite() && size <= 0.1 * before.size;
            if before.state != Lane::Open && size > before.size {
                lane.state = self.failed;
            } else if self.foresees && seen && size * (size / before.size) <= UNSEEN * share {
                lane.state = Lane::Foreseen;
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
        self.progress.iter().all(|lane| !matches!(lane.state, Lane::Open | Lane::Settling | Lane::Foreseen))
    }

    /// Which lanes are not solved.
    fn unsolved(&self) -> [bool; W] {
        self.progress.map(|lane| matches!(lane.state, Lane::Open | Lane::Waiting))
    }

    /// The largest differences between the image and another one, lane by lane, relative to the scale of the state.
    fn differences(&self, other: &[f64]) -> [f64; W] {
        let mut sizes = [0.0_f64; W];
        let pairs = self.image.as_chunks::<W>().0.iter().zip(other.as_chunks::<W>().0);
        for ((image, other), half) in pairs.zip(Half::of_rows(self.rows)) {
            for j in 0..W {
                sizes[j] = sizes[j].max(self.weights[half][j] * (image[j] - other[j]).abs());
            }
        }
        sizes
    }

    /// Closes lanes that stalled where rounding explains what is left: an image of x moved by the last digit of the state differs from that
    /// of x itself by as much.
    fn explain(
        &mut self,
        y: &[f64],
        x: &mut [f64],
        [moved, other]: [&mut [f64]; 2],
        mut equation: impl FnMut(&[f64], &mut [f64]) -> Result<(), EvalError>,
    ) -> Result<(), EvalError> {
        let stalled =
            |lane: &Progress| lane.state == Lane::Open && lane.is_stalled() && lane.size <= EXPLAINED;
        if !self.progress.iter().any(stalled) {
            return Ok(());
        }
        for (i, (moved, x)) in moved.iter_mut().zip(&*x).enumerate() {
            // Neighbours move against each other: what all have in common may be of no account.
            let digit = f64::EPSILON * (y[i % y.len()].abs() + x.abs());
            *moved = if (i / W).is_multiple_of(2) { x + digit } else { x - digit };
        }
        equation(moved, other)?;
        equation(x, self.image)?;
        let (noise, left) = (self.differences(other), self.differences(x));
        for j in 0..W {
            let lane = &mut self.progress[j];
            if stalled(lane) && left[j] <= EXPLAINED.min(SHARE_OF_NOISE * noise[j]) {
                (lane.size, lane.state) = (left[j], Lane::Resting);
                (j..x.len()).step_by(W).for_each(|i| x[i] = self.image[i]);
            }
        }
        Ok(())
    }

    /// The iteration ends: lanes whose solution was foreseen, and not seen, are not solved; those that settle are.
    fn end(&mut self) {
        for lane in &mut self.progress {
            lane.state = match lane.state {
                Lane::Foreseen => Lane::Open,
                Lane::Settling => Lane::Resting,
                other => other,
            };
        }
    }

    /// Gives lanes that are not solved another chance.
    fn restart(&mut self) {
        let unsolved = self.unsolved();
        for (lane, _) in self.progress.iter_mut().zip(unsolved).filter(|(_, unsolved)| *unsolved) {
            *lane = Progress::default();
        }
    }

    /// Whether no open lane can be brought further by going on: residuals are infinite or NaN.
    fn is_lost(&self) -> bool {
        self.progress.iter().all(|lane| match lane.state {
            Lane::Open => !lane.size.is_finite(),
            Lane::Settling | Lane::Foreseen => false,
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
    /// As settling, if the plain iteration shrinks residuals as the accelerated one did.
    Foreseen,
    /// Solved in this iteration: the image is the solution.
    Closing,
    /// Solved before: x is the solution, and stays.
    Resting,
    /// Not solved, and left out of the iteration.
    Waiting,
}

impl Lane {
    /// Whether Newton's method moves it. Elsewhere the image is no better: where steps are long, it is off by many times as much.
    fn is_moved(self) -> bool {
        matches!(self, Lane::Open | Lane::Settling | Lane::Foreseen)
    }
}

/// What was guessed of the solution.
#[derive(Clone, Copy, PartialEq)]
enum Guess {
    Unknown,
    Near,
    /// Its image is off by as much as the solution is large.
    Far,
}

/// How far a lane has come.
#[derive(Clone, Copy)]
struct Progress {
    guess: Guess,
    size: f64,
    best: f64,
    stale: u32,
    state: Lane,
}

impl Default for Progress {
    fn default() -> Progress {
        Progress {
            guess: Guess::Unknown,
            size: f64::INFINITY,
            best: f64::INFINITY,
            stale: 0,
            state: Lane::Open,
        }
    }
}

impl Progress {
    /// Whether the iteration still moves it.
    fn moves(&self) -> bool {
        matches!(self.state, Lane::Open | Lane::Settling | Lane::Foreseen | Lane::Closing)
    }

    /// Whether residuals have not halved for a while.
    fn is_stalled(&self) -> bool {
        self.stale >= PATIENCE
    }

    /// `share` is the part of the scale that is increments.
    fn update(&mut self, size: f64, share: f64) {
        match self.state {
            Lane::Open => {}
            // Where steps are long, the plain iteration makes residuals larger: what was taken for a solution is none.
            Lane::Settling if size <= NOISE.max(EXPANDING * self.size) => {
                (self.size, self.state) = (size, Lane::Closing);
                return;
            }
            Lane::Foreseen if size <= ROUNDING || size * (size / self.size) <= ROUNDING * share => {
                (self.size, self.state) = (size, Lane::Closing);
                return;
            }
            Lane::Settling | Lane::Foreseen => self.state = Lane::Open,
            Lane::Waiting => return,
            Lane::Closing | Lane::Resting => {
                self.state = Lane::Resting;
                return;
            }
        }
        if self.guess == Guess::Unknown {
            self.guess = if size > FAR { Guess::Far } else { Guess::Near };
        }
        self.size = size;
        self.stale = if size < 0.5 * self.best { 0 } else { self.stale + 1 };
        self.best = self.best.min(size);
        // Increments are rounded less coarsely than the state. Where an iteration halts above that, it may only have stumbled.
        let rounding = self.stale > 0 && size <= ROUNDING * share || self.stale > 1 && size <= ROUNDING;
        let noise = self.is_stalled() && size <= NOISE;
        // A residual may shrink without ever halting, as around a solution that is zero.
        if size == 0.0 || size <= f64::EPSILON * UNSEEN * share {
            self.state = Lane::Closing;
        } else if rounding || noise {
            self.state = Lane::Settling;
        }
    }
}

/// Multiplies coordinates and momenta in states of so many rows.
fn rescale<const W: usize>(block: &mut [f64], rows: usize, factors: &[[f64; W]; 2]) {
    for (row, half) in block.as_chunks_mut::<W>().0.iter_mut().zip(Half::of_rows(rows)) {
        row.iter_mut().zip(&factors[half]).for_each(|(x, factor)| *x *= factor);
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
