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

use crate::block::{Block, copy_in, scale};
use crate::card::Keeps;
use crate::compiled_loop::{StepCode, StepOutputs};
use crate::compiled_step::{CompiledStep, KernelKey, StepBuilder};
use crate::error::RunError;
use crate::method::composition::mirror;
use crate::step::{Interval, Motion, Step, StepError};
use leastaction_compile::{AssemblyError, LANES, Operand};
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
    fn rate(self) -> Quantity {
        match self {
            Part::Kick => Quantity::Kick,
            Part::Drift => Quantity::Drift,
        }
    }

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
        let (first, mut weights) = match self {
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
        let (symmetric, len) = (!matches!(self, Table::Plain(..)), weights.len());
        make_exact(&mut weights, symmetric);
        let mut sums = [0.0; 2];
        let mut stages: Vec<Stage> = Vec::with_capacity(len);
        let mut part = first;
        for weight in weights {
            // The time at which one part happens is moved by the other.
            let c = sums[part.other() as usize];
            sums[part as usize] += weight;
            stages.push(Stage { part, weight, sum: sums[part as usize], c });
            part = part.other();
        }
        stages
    }
}

/// Rounds weights to multiples of 2⁻⁵⁰, which changes nothing that can be seen, such that the sums of kicks and of drifts have no
/// rounding and end at 1. Errors of weights and sums would be the same in every step, and the energy would drift.
fn make_exact(weights: &mut [f64], symmetric: bool) {
    const UNIT: f64 = 1.0 / (1_u64 << 50) as f64;
    weights.iter_mut().for_each(|weight| *weight = (*weight / UNIT).round() * UNIT);
    let sum = |weights: &[f64], first: usize| weights.iter().skip(first).step_by(2).sum::<f64>();
    let len = weights.len();
    if symmetric {
        // What is missing goes to the middle, and to both of its neighbours.
        let middle = len / 2;
        weights[middle] += 1.0 - sum(weights, middle % 2);
        let missing = 0.5 * (1.0 - sum(weights, (middle + 1) % 2));
        weights[middle - 1] += missing;
        weights[middle + 1] += missing;
    } else {
        weights[len - 1] += 1.0 - sum(weights, (len - 1) % 2);
        weights[len - 2] += 1.0 - sum(weights, len % 2);
    }
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
    whole: Option<CompiledStep>,
    name: &'static str,
}

/// The rate at the end of the last step, which is that at the start of the next if both are kicks, or drifts.
struct End {
    rate: Vec<f64>,
    /// The coordinates of a kick, or the momenta of a drift.
    place: Vec<f64>,
    /// In which lanes there is one: 1, or 0.
    known: [f64; LANES],
}

/// A step that is written: the change, and the last rate with the place where it was found.
struct Ended {
    change: Vec<Operand>,
    rate: Vec<Operand>,
    place: Vec<Operand>,
}

impl End {
    /// In which lanes it is known, and at this place to the last bit.
    #[inline]
    fn is_at<const W: usize>(&self, place: &[f64]) -> [bool; W] {
        let mut known = std::array::from_fn(|j| self.known[j] == 1.0);
        for (a, b) in place.as_chunks::<W>().0.iter().zip(self.place.as_chunks::<W>().0) {
            (0..W).for_each(|j| known[j] &= a[j].to_bits() == b[j].to_bits());
        }
        known
    }
}

impl Splitting {
    fn boxed(
        dynamics: &mut Dynamics,
        width: usize,
        name: &'static str,
        table: Table,
    ) -> Result<Box<dyn Step>, RunError> {
        if dynamics.system().facts().explicit {
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
            whole: None,
            name,
        }))
    }

    /// Whether steps begin and end with the same part.
    fn joins(&self) -> bool {
        self.stages.len() % 2 == 1
    }

    /// Whether the place of the last rate is where the step ends, to the last bit: then it is that of the next step without a look.
    fn leaves_its_rate(&self) -> bool {
        let before_last = self.stages.len().checked_sub(2).map(|i| self.stages[i]);
        !self.joins() || before_last.is_some_and(|stage| stage.sum == 1.0) && self.stages[0].c == 0.0
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
                change[j] += weight * (h[j] * (rate[j] - base[j]));
                at[j] = y[j] + (e[j] + (change[j] + sum * (h[j] * base[j])));
            }
        }
    }

    /// The step as the kernel makes it, operation for operation as [`Splitting::advance`] does: from the states, their carries and, if steps join,
    /// the first rate. Gives the change, and the last rate with the place where it was found.
    fn write(
        &self,
        builder: &mut StepBuilder,
        [y, e, first]: [&[Operand]; 3],
    ) -> Result<Ended, AssemblyError> {
        let (n, h) = (y.len() / 2, builder.h());
        let (mut at, mut rate) = (y.to_vec(), Vec::new());
        let mut base: [Vec<Operand>; 2] = [const { Vec::new() }; 2];
        let mut lengths: [Vec<Operand>; 2] = [const { Vec::new() }; 2];
        let mut change: [Vec<Operand>; 2] = [const { Vec::new() }; 2];
        for (i, &Stage { part, weight, sum, c }) in self.stages.iter().enumerate() {
            rate = match (i, self.joins()) {
                (0, true) => first.to_vec(),
                _ => builder.quantity(part.rate(), c, &at)?,
            };
            let which = part as usize;
            if i < 2 {
                base[which].clone_from(&rate);
                lengths[which] = rate.iter().map(|&r| builder.mul(r, h)).collect();
            } else {
                let weight = builder.number(weight);
                let mut more = |k: usize| {
                    let difference = builder.sub(rate[k], base[which][k]);
                    let apart = builder.mul(h, difference);
                    let term = builder.mul(weight, apart);
                    change[which].get(k).map_or(term, |&before| builder.add(before, term))
                };
                change[which] = (0..n).map(&mut more).collect();
            }
            let (sum, from) = (builder.number(sum), if part == Part::Kick { n } else { 0 });
            for k in 0..n {
                let whole = builder.mul(sum, lengths[which][k]);
                let moved = change[which].get(k).map_or(whole, |&change| builder.add(change, whole));
                let carried = builder.add(e[from + k], moved);
                at[from + k] = builder.add(y[from + k], carried);
            }
        }
        let mut changes = Vec::with_capacity(2 * n);
        for which in [Part::Drift as usize, Part::Kick as usize] {
            for k in 0..n {
                let length = lengths[which][k];
                changes.push(change[which].get(k).map_or(length, |&change| builder.add(change, length)));
            }
        }
        let place = if self.stages[0].part == Part::Kick { &at[..n] } else { &at[n..] };
        Ok(Ended { change: changes, rate, place: place.to_vec() })
    }

    fn step_as_whole(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        change: &mut [f64],
    ) -> Result<(), EvalError> {
        let known = if self.joins() {
            self.begin(motion, interval)?;
            self.rate.as_slice()
        } else {
            &[]
        };
        let Some(whole) = &mut self.whole else { return Ok(()) };
        let outputs = whole.step(motion.dynamics(), interval, &[block.values(), block.carry(), known])?;
        let (moved, rest) = outputs.split_at(2 * self.half);
        let (rate, place) = rest.split_at(self.half);
        change.copy_from_slice(moved);
        self.rate.copy_from_slice(rate);
        match self.stages[0].part {
            Part::Kick => self.at[..self.half].copy_from_slice(place),
            Part::Drift => self.at[self.half..].copy_from_slice(place),
        }
        motion.work_mut().evaluations += (self.stages.len() - usize::from(self.joins())) as u64;
        Ok(())
    }

    /// The rate of the first stage: that of the last stage before it, where there is one.
    fn begin(&mut self, motion: &mut Motion<'_>, interval: Interval<'_>) -> Result<(), EvalError> {
        let first = self.stages[0];
        if !self.joins() {
            return rate(motion, interval, first, &self.at, &mut self.rate);
        }
        let place = fixed(first.part, self.half, &self.at);
        let known = match interval.h.len() {
            1 => [self.end.is_at::<1>(place)[0]; LANES],
            _ => self.end.is_at::<LANES>(place),
        };
        if known != [true; LANES] {
            rate(motion, interval, first, &self.at, &mut self.rate)?;
        }
        // Its time may differ by rounding: a lane takes what it would take alone.
        copy_in(&known[..interval.h.len()], &self.end.rate, &mut self.rate);
        Ok(())
    }
}

impl Step for Splitting {
    fn compile(&mut self, dynamics: &Dynamics, width: usize) -> Result<(), EvalError> {
        let n = self.half / width;
        let quantities = self.quantities();
        let rows = [2 * n, 2 * n, if self.joins() { n } else { 0 }];
        self.whole = CompiledStep::compile(
            dynamics,
            width,
            KernelKey::step(self.name),
            &quantities,
            (&rows, &[]),
            |builder, inputs| {
                let [y, e, first, ..] = inputs else { return Ok(Vec::new()) };
                let Ended { change, rate, place } = Splitting::write(self, builder, [y, e, first])?;
                Ok([change, rate, place].concat())
            },
        )?;
        Ok(())
    }

    fn code(&self) -> Option<&dyn StepCode> {
        (self.whole.is_some() && self.leaves_its_rate()).then_some(self as &dyn StepCode)
    }

    fn rates(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
    ) -> Result<&[f64], StepError> {
        if !self.joins() {
            return Ok(&[]);
        }
        self.at.copy_from_slice(block.values());
        self.begin(motion, interval)?;
        Ok(&self.rate)
    }

    fn set_rates(&mut self, rates: &[f64], block: &Block) {
        if self.joins() {
            self.end.rate.copy_from_slice(rates);
            let place = fixed(self.stages[0].part, self.half, block.values());
            self.end.place.copy_from_slice(place);
            self.end.known.fill(1.0);
        }
    }

    fn step(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        change: &mut [f64],
    ) -> Result<(), StepError> {
        self.at.copy_from_slice(block.values());
        if self.whole.is_some() {
            return Ok(self.step_as_whole(motion, interval, block, change)?);
        }
        change.fill(0.0);
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
        let end = &mut self.end;
        copy_in(lanes, &self.rate, &mut end.rate);
        copy_in(lanes, fixed(self.stages[0].part, self.half, &self.at), &mut end.place);
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

impl StepCode for Splitting {
    fn method(&self) -> &'static str {
        self.name
    }

    fn quantities(&self) -> Vec<(Quantity, usize)> {
        let calls = self.stages.len().div_ceil(2);
        vec![(Quantity::Kick, calls), (Quantity::Drift, calls)]
    }

    fn carried(&self, dimension: usize) -> usize {
        if self.joins() { dimension / 2 } else { 0 }
    }

    fn write(
        &self,
        builder: &mut StepBuilder,
        state: [&[Operand]; 3],
        _: Option<[Operand; 2]>,
    ) -> Result<StepOutputs, AssemblyError> {
        let Ended { change, rate, .. } = Splitting::write(self, builder, state)?;
        Ok(StepOutputs { change, rates: if self.joins() { rate } else { Vec::new() }, ratio: None })
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

#[cfg(test)]
mod tests {
    use super::*;

    const TABLES: [Table; 15] = [
        symplectic_euler::TABLE,
        verlet::TABLE,
        verlet_position::TABLE,
        ruth3::TABLE,
        forest_ruth4::TABLE,
        mclachlan4::TABLE,
        blanes_moan4::TABLE,
        blanes_moan4_rkn::TABLE,
        blanes_moan6::TABLE,
        blanes_moan6_rkn::TABLE,
        yoshida6::TABLE,
        kahan_li6::TABLE,
        yoshida8::TABLE,
        kahan_li8::TABLE,
        sofroniou_spaletta10::TABLE,
    ];

    #[test]
    fn sums_have_no_rounding() {
        for table in TABLES {
            let stages = table.stages();
            for part in [Part::Kick, Part::Drift] {
                let mut before = 0.0;
                for stage in stages.iter().filter(|stage| stage.part == part) {
                    assert_eq!(stage.sum - before, stage.weight);
                    before = stage.sum;
                }
                assert_eq!(before, 1.0, "{table:?}");
            }
        }
    }

    /// Rounding and closing sums moves no weight by more than its table's own rounding.
    #[test]
    fn weights_are_those_of_the_table() {
        for table in TABLES {
            let stages = table.stages();
            let (weights, step) = match table {
                Table::Plain(_, weights) => (weights.to_vec(), 1),
                Table::Symmetric(_, half) => (mirror(half), 1),
                Table::OfVerlet(half) => (mirror(half), 2),
            };
            let found = stages.iter().skip(step - 1).step_by(step);
            for (found, weight) in found.zip(weights) {
                assert!((found.weight - weight).abs() < 4e-15, "{table:?}: {} for {weight}", found.weight);
            }
        }
    }

    #[test]
    fn palindromes_are_symmetric() {
        for table in TABLES.into_iter().filter(|table| !matches!(table, Table::Plain(..))) {
            let stages = table.stages();
            for (a, b) in stages.iter().zip(stages.iter().rev()) {
                assert_eq!((a.part, a.weight, a.c), (b.part, b.weight, 1.0 - b.c), "{table:?}");
            }
        }
    }

    /// Composed of three steps of `verlet`, the method of Forest and Ruth has four kicks and three drifts.
    #[test]
    fn kicks_that_meet_are_one() {
        let gamma = 1.0 / (2.0 - 2.0_f64.cbrt());
        let kicks = [0.5 * gamma, 0.5 * (1.0 - gamma), 0.5 * (1.0 - gamma), 0.5 * gamma];
        let stages = forest_ruth4::TABLE.stages();
        let found = stages.iter().filter(|stage| stage.part == Part::Kick);
        assert!(found.zip(kicks).all(|(stage, kick)| (stage.weight - kick).abs() < 2e-15));
        assert_eq!(stages.len(), 7);
    }
}
