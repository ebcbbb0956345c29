//! Kicks and drifts: explicit symplectic methods for H = T(p, t) + V(q, t).
//!
//! $$\varphi_h=\dots\circ K_{b_2h}\circ D_{a_1h}\circ K_{b_1h},\qquad K_s\colon\;p\mathrel{+}=s\,\dot p(q,t_K),\qquad D_s\colon\;q\mathrel{+}=s\,\dot q(p,t_D)$$
//!
//! A kick is the exact flow of V and a drift that of T, so every product of them is symplectic. Where energies depend on time,
//! time is a coordinate in each of them, which the other moves: kicks happen at t + h·Σ aᵢ of the drifts before them, drifts at
//! t + h·Σ bᵢ of the kicks before them, and the order is that of the autonomous case
//! (S. Blanes and F. Casas, *A Concise Introduction to Geometric Numerical Integration*, 2016, section 3.8).
//!
//! A step that ends as it begins, with a kick or with a drift, hands its last rate to the next one.

pub(super) mod blanes_moan4;
pub(super) mod blanes_moan4_rkn;
pub(super) mod blanes_moan6;
pub(super) mod blanes_moan6_rkn;
pub(super) mod forest_ruth4;
pub(super) mod kahan_li6;
pub(super) mod kahan_li8;
pub(super) mod mclachlan4;
pub(super) mod ruth3;
pub(super) mod sofroniou_spaletta10;
pub(super) mod symplectic_euler;
pub(super) mod verlet;
pub(super) mod verlet_position;
pub(super) mod yoshida6;
pub(super) mod yoshida8;

use crate::block::{Block, scale};
use crate::card::Keeps;
use crate::error::RunError;
use crate::step::{Interval, Motion, Step, StepError};
use leastaction_compile::LANES;
use leastaction_mechanics::{Dynamics, EvalError, Quantity};

/// What symmetric products of kicks and drifts keep.
const SYMMETRIC: &[Keeps] = &[Keeps::Symplectic, Keeps::Reversible, Keeps::Bilinear];

/// What moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Kick,
    Drift,
}

impl Part {
    fn other(self) -> Part {
        match self {
            Part::Kick => Part::Drift,
            Part::Drift => Part::Kick,
        }
    }
}

/// The coefficients of a method: kicks and drifts in turn.
#[derive(Clone, Copy, Debug)]
enum Table {
    /// All of them, in order.
    Plain(Part, &'static [f64]),
    /// A palindrome: its first half, up to the middle one.
    Symmetric(Part, &'static [f64]),
    /// Steps of `verlet` one after the other, a palindrome by its first half. Kicks that meet are one.
    OfVerlet(&'static [f64]),
}

/// One kick or drift.
#[derive(Clone, Copy, Debug)]
struct Stage {
    part: Part,
    /// Its length, as a part of the step.
    weight: f64,
    /// The length of all of its part up to here: 1 after the last.
    sum: f64,
    /// When it happens, as a part of the step.
    c: f64,
}

impl Table {
    /// Kicks and drifts in order, with their times.
    fn stages(self) -> Vec<Stage> {
        let (first, weights) = match self {
            Table::Plain(first, weights) => (first, weights.to_vec()),
            Table::Symmetric(first, half) => (first, mirror(half)),
            Table::OfVerlet(half) => {
                let steps = mirror(half);
                let kicks = steps.windows(2).map(|pair| 0.5 * (pair[0] + pair[1]));
                let inner = steps.iter().zip(kicks).flat_map(|(&drift, kick)| [drift, kick]);
                let [outer, last] = [0.5 * steps[0], steps[steps.len() - 1]];
                (Part::Kick, [outer].into_iter().chain(inner).chain([last, outer]).collect())
            }
        };
        let symmetric = !matches!(self, Table::Plain(..));
        let (mut sums, len) = ([0.0; 2], weights.len());
        let mut stages: Vec<Stage> = Vec::with_capacity(len);
        let mut part = first;
        for (i, &weight) in weights.iter().enumerate() {
            // The time at which one part happens is moved by the other. Seen from the end, a palindrome is the same.
            let time = sums[part.other() as usize];
            let c = if symmetric && 2 * i >= len { 1.0 - stages[len - 1 - i].c } else { time };
            sums[part as usize] += weight;
            let sum = if i + 2 >= len { 1.0 } else { sums[part as usize] };
            stages.push(Stage { part, weight, sum, c });
            part = part.other();
        }
        stages
    }
}

/// A palindrome from its first half, up to the middle.
fn mirror(half: &[f64]) -> Vec<f64> {
    half.iter().chain(half.iter().rev().skip(1)).copied().collect()
}

/// A product of kicks and drifts, at work.
struct Splitting {
    stages: Vec<Stage>,
    /// All lanes of coordinates: where momenta begin.
    half: usize,
    at: Vec<f64>,
    rate: Vec<f64>,
    /// The first rate of each part in this step.
    base: Vec<f64>,
    end: End,
}

/// The rate at the end of the last step, which is that at the start of the next if both are kicks, or drifts.
struct End {
    rate: Vec<f64>,
    /// The coordinates of a kick, or the momenta of a drift.
    place: Vec<f64>,
    /// In which lanes there is one: 1, or 0.
    known: [f64; LANES],
}

impl Splitting {
    fn boxed(dynamics: &mut Dynamics, width: usize, table: Table) -> Result<Box<dyn Step>, RunError> {
        if dynamics.system().facts().closed {
            dynamics.prepare(&[Quantity::Drift, Quantity::Kick])?;
        }
        let half = dynamics.system().degrees() * width;
        let memory = || vec![0.0; half];
        Ok(Box::new(Splitting {
            stages: table.stages(),
            half,
            at: vec![0.0; 2 * half],
            rate: memory(),
            base: vec![0.0; 2 * half],
            end: End { rate: memory(), place: memory(), known: [0.0; LANES] },
        }))
    }

    /// Whether steps begin and end with the same part.
    fn joins(&self) -> bool {
        self.stages.len() % 2 == 1
    }

    /// Moves one part, and what is known of its change.
    ///
    /// With the first rate f₁ of a part, its change Σ bᵢ h fᵢ is h f₁ + Σ bᵢ h (fᵢ − f₁), because Σ bᵢ = 1. Differences of
    /// rates are small and nearly exact, so little is lost to rounding although some bᵢ are large and negative.
    fn advance<const W: usize>(&mut self, stage: Stage, h: &[f64], block: &Block, change: &mut [f64]) {
        let Some(h) = h.first_chunk::<W>() else { return };
        let Stage { part, weight, sum, .. } = stage;
        let rows = |all| moved_in::<W>(part, self.half, all);
        let starts = rows(block.values()).iter().zip(rows(block.carry()));
        let rates = self.rate.as_chunks::<W>().0.iter().zip(rows(&self.base));
        let at = moved(part, self.half, &mut self.at).as_chunks_mut::<W>().0.iter_mut();
        let change = moved(part, self.half, change).as_chunks_mut::<W>().0.iter_mut();
        for (((at, change), (rate, base)), (y, e)) in at.zip(change).zip(rates).zip(starts) {
            for j in 0..W {
                change[j] += weight * h[j] * (rate[j] - base[j]);
                at[j] = y[j] + (e[j] + (change[j] + sum * (base[j] * h[j])));
            }
        }
    }

    /// The rate of the first stage: that of the last stage before it, where there is one.
    fn begin(&mut self, motion: &mut Motion<'_>, interval: Interval<'_>) -> Result<(), EvalError> {
        let first = self.stages[0];
        if !self.joins() {
            return rate(motion, interval, first, &self.at, &mut self.rate);
        }
        let (width, end) = (interval.h.len(), &self.end);
        let place = fixed(first.part, self.half, &self.at);
        let mut known = [false; LANES];
        for (j, known) in known.iter_mut().enumerate().take(width) {
            let mut pairs = place.iter().zip(&end.place).skip(j).step_by(width);
            *known = end.known[j] == 1.0 && pairs.all(|(a, b)| a.to_bits() == b.to_bits());
        }
        if known[..width].iter().all(|&known| known) {
            self.rate.copy_from_slice(&end.rate);
            return Ok(());
        }
        rate(motion, interval, first, &self.at, &mut self.rate)?;
        // Its time may differ by rounding: a lane takes what it would take alone.
        for (rates, ends) in self.rate.chunks_exact_mut(width).zip(end.rate.chunks_exact(width)) {
            (0..width).filter(|&j| known[j]).for_each(|j| rates[j] = ends[j]);
        }
        Ok(())
    }
}

impl Step for Splitting {
    fn step(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        change: &mut [f64],
    ) -> Result<(), StepError> {
        change.fill(0.0);
        self.at.copy_from_slice(block.values());
        for i in 0..self.stages.len() {
            let stage = self.stages[i];
            match i {
                0 => self.begin(motion, interval)?,
                _ => rate(motion, interval, stage, &self.at, &mut self.rate)?,
            }
            if i < 2 {
                moved(stage.part, self.half, &mut self.base).copy_from_slice(&self.rate);
            }
            match interval.h.len() {
                1 => self.advance::<1>(stage, interval.h, block, change),
                _ => self.advance::<LANES>(stage, interval.h, block, change),
            }
        }
        scale(&mut self.base, interval.h);
        change.iter_mut().zip(&self.base).for_each(|(change, base)| *change += base);
        Ok(())
    }

    fn accept(&mut self, lanes: &[bool]) {
        if !self.joins() {
            return;
        }
        let (width, end) = (lanes.len(), &mut self.end);
        let place = fixed(self.stages[0].part, self.half, &self.at);
        for i in (0..self.half).filter(|i| lanes[i % width]) {
            (end.rate[i], end.place[i]) = (self.rate[i], place[i]);
        }
        end.known.iter_mut().zip(lanes).filter(|(_, taken)| **taken).for_each(|(known, _)| *known = 1.0);
    }

    fn memory(&mut self, visit: &mut dyn FnMut(&mut [f64])) {
        if self.joins() {
            visit(&mut self.end.rate);
            visit(&mut self.end.place);
            visit(&mut self.end.known);
        }
    }
}

/// The rate of a kick or a drift.
fn rate(
    motion: &mut Motion<'_>,
    interval: Interval<'_>,
    stage: Stage,
    at: &[f64],
    rate: &mut [f64],
) -> Result<(), EvalError> {
    match stage.part {
        Part::Kick => motion.kick(interval, stage.c, at, rate),
        Part::Drift => motion.drift(interval, stage.c, at, rate),
    }
}

/// What a part moves: the momenta for a kick, the coordinates for a drift.
fn moved(part: Part, half: usize, all: &mut [f64]) -> &mut [f64] {
    match part {
        Part::Kick => &mut all[half..],
        Part::Drift => &mut all[..half],
    }
}

fn moved_in<const W: usize>(part: Part, half: usize, all: &[f64]) -> &[[f64; W]] {
    fixed(part.other(), half, all).as_chunks::<W>().0
}

/// What a part does not move, and its rate depends on: the coordinates for a kick, the momenta for a drift.
fn fixed(part: Part, half: usize, at: &[f64]) -> &[f64] {
    match part {
        Part::Kick => &at[..half],
        Part::Drift => &at[half..],
    }
}
