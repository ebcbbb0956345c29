//! Symplectic implicit Runge–Kutta methods of s stages, and pairs of them: the step from its [`Tableau`].
//!
//! The unknowns are the increments Lᵢ = hbᵢ f(t + cᵢh, Yᵢ), with Yᵢ = y₀ + Σ μᵢⱼLⱼ. Accelerated iteration solves for them; lanes
//! in which it fails, because the step is long for the system's fastest motion, go to Newton's method with a Jacobian and factors
//! that are kept while they serve, and stay with it for a while. Iterations begin from the polynomial through the
//! increments of the last steps, and end where corrections are rounding.

use super::anderson::{Anderson, MOST};
use super::operator::{Operator, Place};
use super::past::Past;
use super::tableau::Tableau;
use super::{Front, Lane, Progress};
use crate::block::{Block, scale};
use crate::compiled_step::StepBuilder;
use crate::run::checkpoint::Kept;
use crate::step::{Interval, Motion, Step, StepEquations, StepError};
use leastaction_compile::{Arithmetic, AssemblyError, LANES, Operand};
use leastaction_linear::Structure;
use leastaction_mechanics::{EvalError, Quantity};

/// How many iterations are made with a Jacobian that was kept; with a new one, from the start of the step, and then from its middle.
const WITH_KEPT: u32 = 15;
const WITH_NEW: [u32; 4] = [2, 25, 25, 25];
/// Corrections this small, relative to the state, are of something near the solution.
const NEAR: f64 = 1e-3;
/// For so many steps a lane stays with Newton's method.
const STIFF_STEPS: u64 = 50;

/// A method at work.
pub(crate) struct Stages {
    tableau: Tableau,
    anderson: Anderson,
    operator: Operator,
    past: Past,
    /// L, its image, the residual, and another one: s blocks each.
    increments: Vec<f64>,
    image: Vec<f64>,
    residual: Vec<f64>,
    scratch: Vec<f64>,
    at: Vec<f64>,
    /// h·bᵢ of each stage.
    weights: Vec<[f64; LANES]>,
    /// The shares of the stages in the middle of the step, as it is guessed.
    halves: Vec<f64>,
    /// For how many steps each lane is still left to Newton's method.
    stiff: [u64; LANES],
}

impl Stages {
    /// For states whose rates have a Jacobian of this structure, in so many lanes.
    pub(crate) fn new(tableau: Tableau, structure: Structure, width: usize) -> Stages {
        let (s, len) = (tableau.stages(), structure.rows() * width);
        let memory = || vec![0.0; s * len];
        // dL = hbᵢ J Σ μᵢⱼ dLⱼ.
        let matrix = |shares: &[f64]| (0..s * s).map(|k| tableau.b[k / s] * shares[k]).collect::<Vec<f64>>();
        let matrices = [matrix(&tableau.first), matrix(&tableau.second)];
        Stages {
            anderson: Anderson::new(s * len),
            operator: Operator::new(matrices, s, structure, width),
            past: Past::of_increments(&tableau.c, &tableau.b, len),
            increments: memory(),
            image: memory(),
            residual: memory(),
            scratch: memory(),
            at: vec![0.0; len],
            weights: vec![[0.0; LANES]; s],
            halves: vec![0.5; s],
            stiff: [0; LANES],
            tableau,
        }
    }

    fn solve<const W: usize>(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
    ) -> Result<u32, StepError> {
        let Stages { tableau, anderson, operator, increments: x, image, residual, scratch, .. } = self;
        let mut field = StageField {
            tableau,
            weights: &self.weights,
            halves: &self.halves,
            motion,
            interval,
            block,
            at: &mut self.at,
        };
        let mut front = Front::<W>::new(block.dimension(), residual, image);
        for (lane, stiff) in front.progress.iter_mut().zip(&self.stiff) {
            lane.state = if *stiff > 0 { Lane::Waiting } else { Lane::Open };
        }
        (front.foresees, front.failed) = (true, Lane::Waiting);
        let mut iterations = 0;
        if !front.is_done() {
            let y = block.values();
            iterations = anderson.iterate(MOST, y, x, &mut front, |x, image| field.image(x, image))?;
        }
        (front.foresees, front.failed) = (false, Lane::Open);
        let unsolved = front.unsolved();
        for ((stiff, lane), _) in
            self.stiff.iter_mut().zip(&mut front.progress).zip(unsolved).filter(|(_, unsolved)| *unsolved)
        {
            lane.state = Lane::Waiting;
            *stiff = if *stiff > 0 { *stiff } else { STIFF_STEPS + 1 };
        }
        if unsolved.contains(&true) {
            iterations += Newton { anderson, operator, field, residual: scratch }.solve(x, &mut front)?;
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
            let stages = self.increments.chunks_exact_mut(change.len()).zip(&self.weights);
            for (increments, weights) in stages {
                increments.copy_from_slice(change);
                scale(increments, &weights[..interval.h.len()]);
            }
        }
        self.past.guess(interval.h, &mut self.increments);
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
        taken.for_each(|(stiff, _)| *stiff = stiff.saturating_sub(1));
    }

    fn memory(&mut self, visit: &mut dyn FnMut(Kept<'_>)) {
        self.past.memory(visit);
        visit(Kept::Counts(&mut self.stiff));
        self.operator.memory(visit);
    }

    fn equations(&self) -> Option<&dyn StepEquations> {
        Some(&self.tableau)
    }
}

/// Lᵢ − hbᵢ f(t + cᵢh, y + Σ μᵢⱼLⱼ) = 0, and the change is Σ Lᵢ.
impl StepEquations for Tableau {
    fn quantities(&self) -> Vec<(Quantity, usize)> {
        vec![(Quantity::Rates, self.stages())]
    }

    fn unknowns(&self, dimension: usize) -> usize {
        self.stages() * dimension
    }

    fn write(
        &self,
        builder: &mut StepBuilder,
        y: &[Operand],
        x: &[Operand],
    ) -> Result<[Vec<Operand>; 2], AssemblyError> {
        let (s, d) = (self.stages(), y.len());
        let (mut residuals, mut change) = (Vec::with_capacity(s * d), x[..d].to_vec());
        for i in 0..s {
            let at = (0..d).map(|k| {
                let shares = if k < d / 2 { &self.first } else { &self.second };
                let a = builder.assembly();
                (0..s).fold(y[k], |sum, j| a.mul_add(shares[i * s + j], x[j * d + k], sum))
            });
            let at: Vec<Operand> = at.collect();
            let rates = builder.quantity(Quantity::Rates, self.c[i], at)?;
            let h = builder.h();
            let a = builder.assembly();
            let weight = a.mul(self.b[i], h);
            for (k, rate) in rates.into_iter().enumerate() {
                residuals.push(a.neg_mul_add(weight, rate, x[i * d + k]));
                if i > 0 {
                    change[k] = a.add(change[k], x[i * d + k]);
                }
            }
        }
        Ok([change, residuals])
    }

    fn guess(&self, change: &[f64], x: &mut [f64]) {
        for (x, b) in x.chunks_exact_mut(change.len()).zip(&self.b) {
            x.iter_mut().zip(change).for_each(|(x, change)| *x = b * change);
        }
    }
}

/// L ↦ hbᵢ f(t + cᵢh, y + Σ μᵢⱼLⱼ).
struct StageField<'a, 'd> {
    tableau: &'a Tableau,
    weights: &'a [[f64; LANES]],
    halves: &'a [f64],
    motion: &'a mut Motion<'d>,
    interval: Interval<'a>,
    block: &'a Block,
    at: &'a mut [f64],
}

impl<'a> StageField<'a, '_> {
    fn image(&mut self, x: &[f64], image: &mut [f64]) -> Result<(), EvalError> {
        for (i, image) in image.chunks_exact_mut(self.at.len()).enumerate() {
            self.go(x, Some(i));
            self.motion.rates(self.interval, self.tableau.c[i], self.at, image)?;
            scale(image, &self.weights[i][..self.interval.h.len()]);
        }
        Ok(())
    }

    /// Finds the Jacobian of the field in the middle of the step.
    fn differentiate(&mut self, x: &[f64], operator: &mut Operator) -> Result<(), EvalError> {
        self.go(x, None);
        let StageField { motion, interval, at, .. } = self;
        operator.evaluate(Place { motion, interval: *interval, c: 0.5 }, at)
    }

    /// Goes to a stage, or to the middle of the step.
    fn go(&mut self, x: &[f64], stage: Option<usize>) {
        let s = self.tableau.stages();
        let Tableau { first, second, .. } = self.tableau;
        let shares = |all: &'a [f64]| stage.map_or(&self.halves[..s], |i| &all[i * s..][..s]);
        let (shares, block) = ([shares(first), shares(second)], self.block);
        match block.width() {
            1 => go_rows::<1>(shares, block, x, self.at),
            _ => go_rows::<LANES>(shares, block, x, self.at),
        }
    }
}

/// at = y + Σ μⱼLⱼ, with shares μ for coordinates and for momenta.
#[inline]
fn go_rows<const W: usize>(shares: [&[f64]; 2], block: &Block, x: &[f64], at: &mut [f64]) {
    let (rows, x) = (block.dimension(), x.as_chunks::<W>().0);
    let starts = block.values().as_chunks::<W>().0.iter().zip(block.carry().as_chunks::<W>().0);
    for (i, (at, (y, e))) in at.as_chunks_mut::<W>().0.iter_mut().zip(starts).enumerate() {
        let mut sum = *e;
        for (share, x) in shares[usize::from(i >= rows / 2)].iter().zip(x[i..].iter().step_by(rows)) {
            (0..W).for_each(|j| sum[j] += share * x[j]);
        }
        (0..W).for_each(|j| at[j] = sum[j] + y[j]);
    }
}

/// Newton's method with the same Jacobian for all stages, accelerated: δ solves (1 − hB⊗J) δ = g(x) − x, and x ↦ x + δ is iterated. It
/// ends where corrections no longer shrink: in stiff systems residuals are large however good the solution is.
struct Newton<'a, 'd, const W: usize> {
    anderson: &'a mut Anderson,
    operator: &'a mut Operator,
    field: StageField<'a, 'd>,
    residual: &'a mut [f64],
}

impl<const W: usize> Newton<'_, '_, W> {
    /// Solves lanes that wait. Returns how many iterations were made.
    fn solve(&mut self, x: &mut [f64], front: &mut Front<'_, W>) -> Result<u32, EvalError> {
        let waiting = |front: &Front<'_, W>, j: usize| front.progress[j].state == Lane::Waiting;
        let mut iterations = 0;
        let kept: [bool; W] = std::array::from_fn(|j| waiting(front, j) && self.operator.holds(j));
        if kept.contains(&true) {
            clear(x, kept);
            iterations += self.iterate(x, front, kept, WITH_KEPT)?;
        }
        // What an old Jacobian has nearly solved is a good start.
        let near = |j: usize| kept[j] && front.progress[j].size < NEAR;
        let far: [bool; W] = std::array::from_fn(|j| waiting(front, j) && !near(j));
        clear(x, far);
        for most in WITH_NEW {
            let unsolved: [bool; W] = std::array::from_fn(|j| waiting(front, j));
            if !unsolved.contains(&true) {
                break;
            }
            self.field.differentiate(x, self.operator)?;
            (0..W).filter(|&j| unsolved[j]).for_each(|j| self.operator.renew(j));
            iterations += self.iterate(x, front, unsolved, most)?;
        }
        Ok(iterations)
    }

    /// Iterates in some lanes with the Jacobian that they have. Lanes that are not solved wait again.
    fn iterate(
        &mut self,
        x: &mut [f64],
        front: &mut Front<'_, W>,
        lanes: [bool; W],
        most: u32,
    ) -> Result<u32, EvalError> {
        let Newton { anderson, operator, field, residual } = self;
        for j in (0..W).filter(|&j| lanes[j]) {
            front.progress[j] = Progress::default();
            operator.prepare(j, field.interval.h[j]);
        }
        let y = field.block.values();
        let mut correct = |x: &[f64], image: &mut [f64]| {
            field.image(x, image)?;
            for (residual, (image, x)) in residual.iter_mut().zip(image.iter().zip(x)) {
                *residual = image - x;
            }
            for j in 0..W {
                if lanes[j] {
                    let place = Place { motion: field.motion, interval: field.interval, c: 0.5 };
                    operator.solve(j, residual, image, place)?;
                    (j..x.len()).step_by(W).for_each(|i| image[i] += x[i]);
                } else {
                    (j..x.len()).step_by(W).for_each(|i| image[i] = x[i]);
                }
            }
            Ok(())
        };
        let iterations = anderson.iterate(most, y, x, front, &mut correct)?;
        front.explain(y, x, anderson.spare(), correct)?;
        for j in (0..W).filter(|&j| lanes[j]) {
            let lane = &mut front.progress[j];
            if lane.state == Lane::Open {
                lane.state = Lane::Waiting;
                operator.expire(j);
            }
        }
        Ok(iterations)
    }
}

fn clear<const W: usize>(x: &mut [f64], lanes: [bool; W]) {
    for row in x.as_chunks_mut::<W>().0 {
        (0..W).filter(|&j| lanes[j]).for_each(|j| row[j] = 0.0);
    }
}
