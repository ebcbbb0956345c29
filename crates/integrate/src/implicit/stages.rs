//! Symplectic implicit Runge–Kutta methods of s stages, and pairs of them: the step from its [`Tableau`].
//!
//! The unknowns are the increments Lᵢ = hbᵢ f(t + cᵢh, Yᵢ), with Yᵢ = y₀ + Σ μᵢⱼLⱼ. Accelerated iteration solves for them; lanes
//! in which it fails, because the step is long for the system's fastest motion, go to Newton's method with slopes and factors
//! that are kept while they serve, and stay with it for a while. Iterations begin from the polynomial through the
//! increments of the last steps, and end where corrections are rounding.

use super::anderson::Anderson;
use super::operator::Operator;
use super::tableau::Tableau;
use super::{Front, Lane, largest};
use crate::block::{Block, scale};
use super::past::Past;
use crate::step::{Interval, Motion, Step, StepError};
use leastaction_compile::LANES;
use leastaction_mechanics::EvalError;

const MAX_CORRECTIONS: u32 = 50;
/// Corrections that shrink more slowly than this ask for slopes of this step, and where they hardly shrink, of this iterate.
const SLOW: f64 = 0.1;
const HARDLY: f64 = 0.5;
/// For so many steps a lane stays with Newton's method.
const STIFF_STEPS: f64 = 50.0;

/// A method at work.
pub(crate) struct Stages {
    tableau: Tableau,
    anderson: Anderson,
    operator: Operator,
    past: Past,
    /// L, its image, the residual, and the correction: s blocks each.
    increments: Vec<f64>,
    image: Vec<f64>,
    residual: Vec<f64>,
    correction: Vec<f64>,
    at: Vec<f64>,
    /// h·bᵢ of each stage.
    weights: Vec<[f64; LANES]>,
    /// For how many steps each lane is still left to Newton's method.
    stiff: [f64; LANES],
}

impl Stages {
    /// For states of so many rows in so many lanes.
    pub(crate) fn new(tableau: Tableau, rows: usize, width: usize) -> Stages {
        let (s, len) = (tableau.stages(), rows * width);
        let memory = || vec![0.0; s * len];
        // dL = hbᵢ J Σ μᵢⱼ dLⱼ.
        let matrix = |shares: &[f64]| (0..s * s).map(|k| tableau.b[k / s] * shares[k]).collect::<Vec<f64>>();
        let operator = if tableau.first == tableau.second {
            Operator::split(&matrix(&tableau.first), s, rows, width)
        } else {
            Operator::whole([matrix(&tableau.first), matrix(&tableau.second)], s, rows, width)
        };
        Stages {
            anderson: Anderson::new(s * len),
            operator,
            past: Past::new(&tableau.c, &tableau.b, len),
            increments: memory(),
            image: memory(),
            residual: memory(),
            correction: memory(),
            at: vec![0.0; len],
            weights: vec![[0.0; LANES]; s],
            stiff: [0.0; LANES],
            tableau,
        }
    }

    fn solve<const W: usize>(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
    ) -> Result<u32, StepError> {
        let Stages { tableau, anderson, operator, increments: x, image, residual, correction, .. } = self;
        let rows = block.dimension();
        let mut field = StageField { tableau, weights: &self.weights, motion, interval, block, at: &mut self.at };
        let mut front = Front::<W>::new(rows, residual, image);
        for (lane, stiff) in front.progress.iter_mut().zip(&self.stiff) {
            lane.state = if *stiff > 0.0 { Lane::Stiff } else { Lane::Open };
        }
        let mut iterations = 0;
        if !front.is_done() {
            iterations = anderson.iterate(block.values(), x, &mut front, |x, image| field.image(x, image))?;
        }
        let unsolved = |state: Lane| matches!(state, Lane::Open | Lane::Stiff);
        for (stiff, lane) in self.stiff.iter_mut().zip(&front.progress) {
            if lane.state == Lane::Open {
                *stiff = STIFF_STEPS + 1.0;
            }
        }
        if front.progress.iter().any(|lane| unsolved(lane.state)) {
            front.restart();
            iterations += newton(x, correction, &mut front, operator, &mut field)?;
        }
        front.outcome(interval.t, iterations)
    }
}

impl Step for Stages {
    fn step(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        change: &mut [f64],
    ) -> Result<(), StepError> {
        for (weights, b) in self.weights.iter_mut().zip(&self.tableau.b) {
            weights.iter_mut().zip(interval.h).for_each(|(weight, h)| *weight = h * b);
        }
        if self.past.is_empty(interval.h.len()) {
            motion.rates(interval, 0.0, block.values(), change)?;
        }
        self.past.guess(interval.h, &self.weights, change, &mut self.increments);
        let iterations = match interval.t.len() {
            1 => self.solve::<1>(motion, interval, block)?,
            _ => self.solve::<LANES>(motion, interval, block)?,
        };
        motion.work_mut().iterations += u64::from(iterations);
        let len = change.len();
        change.copy_from_slice(&self.increments[..len]);
        for stage in self.increments[len..].chunks_exact(len) {
            change.iter_mut().zip(stage).for_each(|(change, increment)| *change += increment);
        }
        Ok(())
    }

    fn accept(&mut self, lanes: &[bool]) {
        self.past.keep(lanes, &self.increments);
        let taken = self.stiff.iter_mut().zip(lanes).filter(|(_, taken)| **taken);
        taken.for_each(|(stiff, _)| *stiff = (*stiff - 1.0).max(0.0));
    }

    fn memory(&mut self, visit: &mut dyn FnMut(&mut [f64])) {
        self.past.memory(visit);
        visit(&mut self.stiff);
        self.operator.memory(visit);
    }
}

/// L ↦ hbᵢ f(t + cᵢh, y + Σ μᵢⱼLⱼ).
struct StageField<'a, 'd> {
    tableau: &'a Tableau,
    weights: &'a [[f64; LANES]],
    motion: &'a mut Motion<'d>,
    interval: Interval<'a>,
    block: &'a Block,
    at: &'a mut [f64],
}

impl StageField<'_, '_> {
    fn image(&mut self, x: &[f64], image: &mut [f64]) -> Result<(), EvalError> {
        for (i, image) in image.chunks_exact_mut(self.at.len()).enumerate() {
            self.go(x, Some(i));
            self.motion.rates(self.interval, self.tableau.c[i], self.at, image)?;
            scale(image, &self.weights[i][..self.interval.h.len()]);
        }
        Ok(())
    }

    /// The slopes of the field in the middle of the step.
    fn slopes(&mut self, x: &[f64], matrix: &mut [f64]) -> Result<(), EvalError> {
        self.go(x, None);
        self.motion.slopes(self.interval, 0.5, self.at, matrix)
    }

    /// Goes to a stage, or to the middle of the step.
    fn go(&mut self, x: &[f64], stage: Option<usize>) {
        let (s, len) = (self.tableau.stages(), self.at.len());
        let half = self.block.dimension() / 2 * self.block.width();
        self.at.copy_from_slice(self.block.carry());
        let (first, second) = self.at.split_at_mut(half);
        for (j, x) in x.chunks_exact(len).enumerate() {
            let share = |shares: &[f64]| stage.map_or(0.5, |i| shares[i * s + j]);
            add(first, share(&self.tableau.first), &x[..half]);
            add(second, share(&self.tableau.second), &x[half..]);
        }
        self.at.iter_mut().zip(self.block.values()).for_each(|(at, y)| *at += y);
    }
}

/// at += share·x.
#[inline]
fn add(at: &mut [f64], share: f64, x: &[f64]) {
    at.iter_mut().zip(x).for_each(|(at, x)| *at += share * x);
}

/// Newton's method with the slopes of the middle of the step for all stages, from no increments. It ends where corrections no longer
/// shrink: in stiff systems residuals are large however good the solution is. Returns how many iterations were made.
fn newton<const W: usize>(
    x: &mut [f64],
    correction: &mut [f64],
    front: &mut Front<'_, W>,
    operator: &mut Operator,
    field: &mut StageField<'_, '_>,
) -> Result<u32, EvalError> {
    let h = field.interval.h;
    let open = |front: &Front<'_, W>, j: usize| front.progress[j].state == Lane::Open;
    let mut renewed = [false; W];
    let mut renew: [bool; W] = std::array::from_fn(|j| open(front, j) && !operator.holds(j));
    for j in (0..W).filter(|&j| open(front, j)) {
        x.iter_mut().skip(j).step_by(W).for_each(|x| *x = 0.0);
    }
    for k in 0..MAX_CORRECTIONS {
        if renew.contains(&true) {
            field.slopes(x, operator.fresh())?;
            for j in (0..W).filter(|&j| renew[j]) {
                operator.renew(j);
                renewed[j] = k > 0;
            }
        }
        field.image(x, front.image)?;
        for (residual, (image, x)) in front.residual.iter_mut().zip(front.image.iter().zip(x.iter())) {
            *residual = image - x;
        }
        for j in 0..W {
            if open(front, j) {
                operator.prepare(j, h[j]);
                operator.solve(j, front.residual, correction);
                (j..x.len()).step_by(W).for_each(|i| x[i] += correction[i]);
            } else {
                (j..x.len()).step_by(W).for_each(|i| correction[i] = 0.0);
            }
        }
        let before = front.progress.map(|lane| lane.size);
        front.judge(field.block.values(), x, correction);
        for j in 0..W {
            let limit = if renewed[j] { HARDLY } else { SLOW };
            renew[j] = open(front, j) && front.progress[j].size > limit * before[j];
        }
        if front.is_done() || front.is_lost() {
            return Ok(k + 1);
        }
    }
    Ok(MAX_CORRECTIONS)
}

impl<const W: usize> Front<'_, W> {
    /// Compares corrections with the state and its increments, and puts lanes to rest that are done.
    fn judge(&mut self, y: &[f64], x: &[f64], correction: &[f64]) {
        let scales = [largest::<W>(y, self.rows), largest::<W>(x, self.rows)];
        let sizes = largest::<W>(correction, self.rows);
        for (j, lane) in self.progress.iter_mut().enumerate() {
            let part = |half: usize| {
                let scale = scales[0][half][j] + scales[1][half][j];
                if sizes[half][j] == 0.0 { 0.0 } else { sizes[half][j] / scale }
            };
            let sound = correction.iter().skip(j).step_by(W).all(|x| x.is_finite());
            lane.update(if sound { part(0).max(part(1)) } else { f64::NAN });
        }
    }
}
