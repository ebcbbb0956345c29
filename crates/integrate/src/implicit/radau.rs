//! Radau IIA of three stages at work: see `method/radau5.rs` for its formulas.
//!
//! Newton's method solves for the Z of all stages with the Jacobian at the start of the step. With a tolerance it stops at a fraction
//! of that, by the rate at which corrections shrink; with steps of one length it stops where they are rounding. The Jacobian is kept
//! from step to step while corrections shrink a thousandfold, and factors while the step stays.

use super::operator::{Operator, Place};
use super::{Lane, Progress, largest};
use crate::block::{Block, scale};
use crate::compiled_step::StepBuilder;
use crate::dense::{Basis, Polynomial};
use crate::natural::NaturalSizes;
use crate::pace::{Pace, Tolerance};
use crate::quadrature::{Collocation, Double};
use crate::run::checkpoint::Kept;
use crate::step::{Estimated, Interpolated, Interval, Motion, Step, StepEquations, StepError};
use leastaction_compile::{Arithmetic, AssemblyError, LANES, Operand};
use leastaction_linear::Structure;
use leastaction_mechanics::{EvalError, Quantity};

const STAGES: usize = 3;
/// A step that needs more corrections than this is too long for its tolerance.
const FEW: u32 = 7;
/// With steps of one length there is no other choice.
const MANY: u32 = 50;
/// The Jacobian is kept while corrections shrink like this.
const FAST: f64 = 1e-3;
/// And where they must, are renewed on the way if corrections shrink no faster than this.
const SLOW: f64 = 0.3;
/// The error of a step that was not solved, as a multiple of what is tolerated: the next is about half as long.
const UNSOLVED: f64 = 10.0;

/// The method at work.
pub(crate) struct Radau {
    c: Vec<f64>,
    a: Vec<f64>,
    /// The coefficients of the polynomials that are 1 at one node, and 0 at the others and at the start, from τ on.
    powers: Vec<Vec<f64>>,
    tolerance: Option<Tolerance>,
    /// Where Newton's method stops, as a fraction of the tolerance.
    fraction: f64,
    operator: Operator,
    width: usize,
    /// Z, h·f of the stages, residuals and corrections: three blocks each.
    z: Vec<f64>,
    rates: Vec<f64>,
    residual: Vec<f64>,
    correction: Vec<f64>,
    at: Vec<f64>,
    error: Vec<f64>,
    side: Vec<f64>,
    lanes: [Solving; LANES],
    ratios: [f64; LANES],
    step: [f64; LANES],
    memory: Memory,
}

/// What one step leaves to the next, lane by lane.
struct Memory {
    z: Vec<f64>,
    step: [f64; LANES],
    /// The last rate, as Θ/(1 − Θ).
    rate: [f64; LANES],
    /// Whether the Jacobian should be renewed, and whether it belongs to this very state.
    tired: [bool; LANES],
    current: [bool; LANES],
    /// Whether the last try was not taken.
    again: [bool; LANES],
}

/// How far Newton's method has come in a lane.
#[derive(Clone, Copy)]
struct Solving {
    state: State,
    count: u32,
    size: f64,
    theta: f64,
    progress: Progress,
    /// Whether the Jacobian is to be renewed before the next correction.
    renew: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Open,
    Solved,
    Lost,
}

/// The tolerance for the estimate: it shrinks as h⁴ where the error shrinks as h⁶ in a step, so that it asks for too much where
/// tolerances are tight. A tenth of the power ⅔ of the tolerance is Hairer and Wanner's choice.
fn tempered(Tolerance { relative, absolute }: &Tolerance) -> Tolerance {
    let size = if *relative > 0.0 { *relative } else { absolute.smallest() };
    let factor = 0.1 * size.cbrt().powi(2) / size;
    Tolerance { relative: relative * factor, absolute: absolute.times(factor) }
}

impl Radau {
    /// For states whose rates have a Jacobian of this structure, in so many lanes.
    pub(crate) fn new(structure: Structure, width: usize, pace: &Pace) -> Radau {
        let nodes = Collocation::radau(STAGES);
        let rounded = |numbers: &[Double]| numbers.iter().map(|x| x.rounded()).collect();
        let (c, a): (Vec<f64>, Vec<f64>) = (rounded(&nodes.c), rounded(&nodes.a));
        let tolerance = match pace {
            Pace::Tolerance(tolerance) => Some(tempered(tolerance)),
            Pace::Step(_) | Pace::Density(_) => None,
        };
        let size = tolerance.as_ref().map_or(1.0, |t| match t.relative > 0.0 {
            true => t.relative,
            false => t.absolute.smallest().min(1.0),
        });
        let len = structure.rows() * width;
        let mut operator = Operator::new([a.clone(), a.clone()], STAGES, structure, width);
        operator.allocate();
        let (block, stages) = (|| vec![0.0; len], || vec![0.0; STAGES * len]);
        Radau {
            powers: nodes
                .cardinals()
                .iter()
                .zip(&c)
                .map(|(row, c)| row.iter().map(|x| x / c).collect())
                .collect(),
            operator,
            c,
            a,
            tolerance,
            fraction: (10.0 * f64::EPSILON / size).max(size.sqrt().min(0.03)),
            width,
            z: stages(),
            rates: stages(),
            residual: stages(),
            correction: stages(),
            at: block(),
            error: block(),
            side: block(),
            lanes: [Solving::new(false); LANES],
            ratios: [0.0; LANES],
            step: [0.0; LANES],
            memory: Memory {
                z: stages(),
                step: [0.0; LANES],
                rate: [1.0; LANES],
                tired: [false; LANES],
                current: [false; LANES],
                again: [true; LANES],
            },
        }
    }

    /// Z where the polynomial of the last step leads, in one lane.
    fn guess(&mut self, lane: usize) {
        let (len, before) = (self.at.len(), self.memory.step[lane]);
        let ratio = if before == 0.0 { 0.0 } else { self.step[lane] / before };
        for i in 0..STAGES {
            let at = |tau: f64, row: &Vec<f64>| tau * row.iter().rev().fold(0.0, |sum, x| sum * tau + x);
            let share =
                |row| if before == 0.0 { 0.0 } else { at(1.0 + self.c[i] * ratio, row) - at(1.0, row) };
            let shares: [f64; STAGES] = std::array::from_fn(|k| share(&self.powers[k]));
            for place in (lane..len).step_by(self.width) {
                let part = |k: usize| shares[k] * self.memory.z[k * len + place];
                self.z[i * len + place] = part(0) + part(1) + part(2);
            }
        }
    }

    /// Solves for Z. Returns how many iterations were made.
    fn solve(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
    ) -> Result<u32, EvalError> {
        let most = if self.tolerance.is_some() { FEW } else { MANY };
        for j in 0..self.width {
            self.guess(j);
            let renew = !self.operator.holds(j) || (self.memory.tired[j] && !self.memory.current[j]);
            self.lanes[j] = Solving::new(renew);
            self.memory.rate[j] = self.memory.rate[j].max(f64::EPSILON).powf(0.8);
            if interval.h[j] == 0.0 {
                self.lanes[j].state = State::Solved;
            }
        }
        let mut iterations = 0;
        // Each lane may begin twice.
        while iterations < 2 * most && self.lanes[..self.width].iter().any(|lane| lane.state == State::Open) {
            self.renew(motion, interval, block)?;
            self.correct(motion, interval, block)?;
            iterations += 1;
            for j in 0..self.width {
                match (self.lanes[j].state, &self.tolerance) {
                    (State::Open, Some(_)) => self.judge(j),
                    (State::Open, None) => self.judge_fixed(j),
                    (State::Solved | State::Lost, _) => continue,
                }
                if self.lanes[j].state == State::Lost && !self.memory.current[j] {
                    // An old Jacobian, perhaps, was to blame.
                    self.guess(j);
                    self.memory.rate[j] = 1.0;
                    self.lanes[j] = Solving::new(true);
                }
            }
        }
        Ok(iterations)
    }

    /// Gives lanes a new Jacobian that need one: that at the start of the step, or if this was not good enough, on the way.
    fn renew(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
    ) -> Result<(), EvalError> {
        let wants = |lane: &Solving| lane.state == State::Open && lane.renew;
        if !self.lanes[..self.width].iter().any(wants) {
            return Ok(());
        }
        let len = self.at.len();
        for (place, at) in self.at.iter_mut().enumerate() {
            let begun = self.lanes[place % self.width].count > 0;
            let moved = if begun { self.z[len + place] } else { 0.0 };
            *at = block.values()[place] + (block.carry()[place] + moved);
        }
        self.operator.evaluate(Place { motion, interval, c: 0.0 }, &self.at)?;
        for j in (0..self.width).filter(|&j| wants(&self.lanes[j])) {
            self.operator.renew(j);
            self.memory.current[j] = self.lanes[j].count == 0;
            self.memory.tired[j] = false;
        }
        for lane in &mut self.lanes[..self.width] {
            lane.renew = false;
        }
        Ok(())
    }

    /// One correction in all lanes that are open.
    fn correct(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
    ) -> Result<(), EvalError> {
        let len = self.at.len();
        for i in 0..STAGES {
            let places = self.at.iter_mut().zip(&self.z[i * len..]);
            for ((at, z), (y, e)) in places.zip(block.values().iter().zip(block.carry())) {
                *at = y + (e + z);
            }
            let rates = &mut self.rates[i * len..][..len];
            motion.rates(interval, self.c[i], &self.at, rates)?;
            scale(rates, interval.h);
        }
        for i in 0..STAGES {
            let row: [f64; STAGES] = std::array::from_fn(|k| self.a[i * STAGES + k]);
            for place in 0..len {
                let part = |k: usize| row[k] * self.rates[k * len + place];
                self.residual[i * len + place] = part(0) + part(1) + part(2) - self.z[i * len + place];
            }
        }
        for j in 0..self.width {
            if self.lanes[j].state == State::Open {
                self.operator.prepare(j, interval.h[j]);
                let place = Place { motion, interval, c: 0.0 };
                self.operator.solve(j, &self.residual, &mut self.correction, place)?;
                let places = (j..STAGES * len).step_by(self.width);
                places.for_each(|i| self.z[i] += self.correction[i]);
            } else {
                (j..STAGES * len).step_by(self.width).for_each(|i| self.correction[i] = 0.0);
            }
        }
        self.measure(motion.natural(), block);
        Ok(())
    }

    /// The sizes of corrections: in multiples of the tolerance, or relative to the state.
    fn measure(&mut self, natural: &NaturalSizes, block: &Block) {
        let (len, width) = (self.at.len(), self.width);
        let mut sizes = [0.0_f64; LANES];
        if let Some(tolerance) = &self.tolerance {
            let last = &self.z[(STAGES - 1) * len..];
            for correction in self.correction.chunks_exact(len) {
                tolerance.ratios(natural, correction, block.values(), last, &mut self.ratios[..width]);
                for (size, ratio) in sizes.iter_mut().zip(&self.ratios[..width]) {
                    *size = if ratio > size || ratio.is_nan() { *ratio } else { *size };
                }
            }
        } else if width == 1 {
            self.relative::<1>(block.values(), &mut sizes);
        } else {
            self.relative::<LANES>(block.values(), &mut sizes);
        }
        for (lane, size) in self.lanes.iter_mut().zip(&sizes[..width]) {
            if lane.state == State::Open {
                lane.theta = if lane.count > 0 { size / lane.size } else { 0.0 };
                (lane.size, lane.count) = (*size, lane.count + 1);
            }
        }
    }

    fn relative<const W: usize>(&self, y: &[f64], sizes: &mut [f64; LANES]) {
        let rows = y.len() / W;
        let [scales, moved, corrections] =
            [y, &self.z, &self.correction].map(|block| largest::<W>(block, rows));
        for (j, size) in sizes.iter_mut().enumerate().take(W) {
            for half in 0..2 {
                let (part, scale) = (corrections[half][j], scales[half][j] + moved[half][j]);
                *size = size.max(if part == 0.0 { 0.0 } else { part / scale });
            }
            if self.correction.iter().skip(j).step_by(W).any(|x| !x.is_finite()) {
                *size = f64::NAN;
            }
        }
    }

    /// Whether a lane is solved to a fraction of the tolerance, or will not be.
    fn judge(&mut self, j: usize) {
        let lane = &mut self.lanes[j];
        let left = FEW.saturating_sub(lane.count);
        if lane.count > 1 {
            let theta = lane.theta;
            if theta >= 0.99 || theta.is_nan() {
                lane.state = if lane.size <= self.fraction { State::Solved } else { State::Lost };
                return;
            }
            self.memory.rate[j] = theta / (1.0 - theta);
            let foreseen = self.memory.rate[j] * lane.size * theta.powi(left as i32);
            if foreseen > self.fraction {
                lane.state = State::Lost;
                return;
            }
        }
        if self.memory.rate[j] * lane.size <= self.fraction {
            lane.state = State::Solved;
            self.memory.tired[j] = lane.count > 1 && lane.theta > FAST;
        } else if left == 0 || lane.size.is_nan() {
            lane.state = State::Lost;
        }
    }

    /// Whether corrections are rounding.
    fn judge_fixed(&mut self, j: usize) {
        let lane = &mut self.lanes[j];
        lane.progress.update(lane.size, 1.0);
        if lane.progress.state != Lane::Open {
            lane.state = State::Solved;
        } else if !lane.size.is_finite() || lane.count == MANY {
            lane.state = State::Lost;
        } else if lane.count > 1 && lane.theta > SLOW {
            lane.renew = true;
            self.memory.tired[j] = true;
        }
    }

    /// The error of the step in units of the tolerance; where a step is the first or was tried before, the estimate is made again
    /// from the state that it corrects, which large errors of stiff components need.
    fn estimate(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        tolerance: &Tolerance,
    ) -> Result<(), EvalError> {
        let (len, width) = (self.at.len(), self.width);
        let gamma = self.operator.first_value();
        let root = 6.0_f64.sqrt();
        let weights = [-13.0 - 7.0 * root, -13.0 + 7.0 * root, -1.0].map(|e| e * gamma / 3.0);
        for (place, side) in self.side.iter_mut().enumerate() {
            let part = |k: usize| weights[k] * self.z[k * len + place];
            *side = part(0) + part(1) + part(2);
        }
        self.ratios.fill(0.0);
        let mut chosen: [bool; LANES] = std::array::from_fn(|j| j < width && interval.h[j] != 0.0);
        for round in 0..2 {
            for (place, at) in self.at.iter_mut().enumerate() {
                let moved = if round == 0 { 0.0 } else { self.error[place] };
                *at = block.values()[place] + (block.carry()[place] + moved);
            }
            let rates = &mut self.rates[..len];
            motion.rates(interval, 0.0, &self.at, rates)?;
            scale(rates, interval.h);
            for j in (0..width).filter(|&j| chosen[j] && self.lanes[j].state == State::Solved) {
                let places = (j..len).step_by(width);
                places.for_each(|i| self.error[i] = gamma * self.rates[i] + self.side[i]);
                self.operator.prepare(j, interval.h[j]);
                self.operator.filter(j, &mut self.error, Place { motion, interval, c: 0.0 })?;
            }
            let (mut ratios, change) = ([0.0; LANES], &self.z[(STAGES - 1) * len..]);
            tolerance.ratios(motion.natural(), &self.error, block.values(), change, &mut ratios[..width]);
            for (j, chosen) in chosen.iter_mut().enumerate().filter(|(_, chosen)| **chosen) {
                self.ratios[j] = ratios[j];
                *chosen = self.doubtful(j);
            }
            if !chosen.contains(&true) {
                break;
            }
        }
        Ok(())
    }

    fn doubtful(&self, j: usize) -> bool {
        self.memory.again[j] && self.lanes[j].state == State::Solved && self.ratios[j] >= 1.0
    }
}

impl Solving {
    fn new(renew: bool) -> Solving {
        let progress = Progress::default();
        Solving { state: State::Open, count: 0, size: f64::INFINITY, theta: 0.0, progress, renew }
    }
}

impl Step for Radau {
    fn step(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        change: &mut [f64],
    ) -> Result<(), StepError> {
        let (len, width) = (change.len(), self.width);
        self.step[..width].copy_from_slice(interval.h);
        let iterations = self.solve(motion, interval, block)?;
        motion.work_mut().iterations += u64::from(iterations);
        for j in 0..width {
            let lane = self.lanes[j];
            if lane.state == State::Solved {
                continue;
            }
            if self.tolerance.is_none() {
                let (t, residual) = (interval.t[j], lane.size);
                return Err(StepError::NoConvergence { t, lane: j, residual, iterations });
            }
            (j..STAGES * len).step_by(width).for_each(|i| self.z[i] = 0.0);
        }
        change.copy_from_slice(&self.z[(STAGES - 1) * len..]);
        if let Some(tolerance) = self.tolerance.clone() {
            self.estimate(motion, interval, block, &tolerance)?;
            for j in 0..width {
                if self.lanes[j].state != State::Solved {
                    self.ratios[j] = UNSOLVED;
                }
                if interval.h[j] != 0.0 {
                    self.memory.again[j] = true;
                }
            }
        }
        Ok(())
    }

    fn accept(&mut self, lanes: &[bool]) {
        let width = lanes.len();
        for place in (0..self.z.len()).filter(|place| lanes[place % width]) {
            self.memory.z[place] = self.z[place];
        }
        for j in (0..width).filter(|&j| lanes[j]) {
            (self.memory.step[j], self.memory.again[j], self.memory.current[j]) =
                (self.step[j], false, false);
        }
    }

    fn memory(&mut self, visit: &mut dyn FnMut(Kept<'_>)) {
        let Memory { z, step, rate, tired, current, again } = &mut self.memory;
        visit(Kept::Numbers(z));
        [step, rate].into_iter().for_each(|lanes| visit(Kept::Numbers(lanes)));
        [tired, current, again].into_iter().for_each(|lanes| visit(Kept::Flags(lanes)));
        self.operator.memory(visit);
    }

    fn estimated(&mut self) -> Option<&mut dyn Estimated> {
        Some(self)
    }

    fn interpolated(&mut self) -> Option<&mut dyn Interpolated> {
        Some(self)
    }

    fn equations(&self) -> Option<&dyn StepEquations> {
        Some(self)
    }
}

/// Zᵢ − h Σ aᵢⱼ f(t + cⱼh, y + Zⱼ) = 0, and the change is Z₃.
impl StepEquations for Radau {
    fn quantities(&self) -> Vec<(Quantity, usize)> {
        vec![(Quantity::Rates, STAGES)]
    }

    fn unknowns(&self, dimension: usize) -> usize {
        STAGES * dimension
    }

    fn write(
        &self,
        builder: &mut StepBuilder,
        y: &[Operand],
        z: &[Operand],
    ) -> Result<[Vec<Operand>; 2], AssemblyError> {
        let d = y.len();
        let mut residuals = z.to_vec();
        for j in 0..STAGES {
            let at = (0..d).map(|k| builder.assembly().add(y[k], z[j * d + k])).collect();
            let rates = builder.quantity(Quantity::Rates, self.c[j], at)?;
            let h = builder.h();
            let a = builder.assembly();
            for i in 0..STAGES {
                let weight = a.mul(self.a[i * STAGES + j], h);
                for (k, rate) in rates.iter().enumerate() {
                    residuals[i * d + k] = a.neg_mul_add(weight, *rate, residuals[i * d + k]);
                }
            }
        }
        Ok([z[(STAGES - 1) * d..].to_vec(), residuals])
    }

    fn guess(&self, change: &[f64], z: &mut [f64]) {
        for (z, c) in z.chunks_exact_mut(change.len()).zip(&self.c) {
            z.iter_mut().zip(change).for_each(|(z, change)| *z = c * change);
        }
    }

    fn are_solved(&self) -> bool {
        self.tolerance.is_none()
    }

    fn write_inside(
        &self,
        builder: &mut StepBuilder,
        y: &[Operand],
        z: &[Operand],
        tau: Operand,
    ) -> Option<Vec<Operand>> {
        let (a, d) = (builder.assembly(), y.len());
        let inside = (0..d).map(|i| {
            let mut sum = a.constant(0.0);
            for power in (0..STAGES).rev() {
                let term =
                    (0..STAGES).fold(sum, |term, k| a.mul_add(self.powers[k][power], z[k * d + i], term));
                sum = a.mul(term, tau);
            }
            a.add(y[i], sum)
        });
        Some(inside.collect())
    }
}

impl Estimated for Radau {
    fn error(&mut self, _: &Motion<'_>, _: &Tolerance, _: &Block, _: &[f64], ratios: &mut [f64]) {
        ratios.iter_mut().zip(&self.ratios).for_each(|(ratio, found)| *ratio = *found);
    }
}

impl Interpolated for Radau {
    /// The collocation polynomial.
    fn polynomial(
        &mut self,
        _: &mut Motion<'_>,
        _: Interval<'_>,
        block: &Block,
        _: &[f64],
        polynomial: &mut Polynomial,
    ) -> Result<(), StepError> {
        let len = self.at.len();
        let terms = polynomial.begin(block, Basis::Powers, STAGES);
        for (power, terms) in terms.chunks_exact_mut(len).enumerate() {
            let row: [f64; STAGES] = std::array::from_fn(|k| self.powers[k][power]);
            for (place, term) in terms.iter_mut().enumerate() {
                let part = |k: usize| row[k] * self.z[k * len + place];
                *term = part(0) + part(1) + part(2);
            }
        }
        Ok(())
    }
}
