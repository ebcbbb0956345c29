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

use crate::block::{Block, after, copy_in};
use crate::card::Keeps;
use crate::compiled_loop::{StepCode, StepOutputs, ToleranceInputs};
use crate::compiled_step::{CompiledStep, KernelKey, StepBuilder};
use crate::error::RunError;
use crate::method::composition::mirror;
use crate::run::checkpoint::Kept;
use crate::step::{Compiled, Interval, Motion, Step, StepError};
use crate::workspace::{Computing, Formula, Memory, Place, Rows, Slot, Workspace, Writing, spread};
use leastaction_compile::{Arithmetic, AssemblyError, LANES, Operand};
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

    /// Which half of a state it moves: coordinates, or momenta.
    fn half(self) -> usize {
        match self {
            Part::Drift => 0,
            Part::Kick => 1,
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
    /// The first rate of each part in this step, and the last of all.
    rates: Vec<f64>,
    end: End,
    whole: Option<CompiledStep>,
    name: &'static str,
}

/// The rate at the end of the last step, which is that at the start of the next if both are kicks, or drifts.
struct End {
    rate: Vec<f64>,
    /// The coordinates of a kick, or the momenta of a drift.
    place: Vec<f64>,
    /// In which lanes there is one.
    known: [bool; LANES],
}

/// The row of the last rate, after those of the first ones.
const LAST: usize = 2;

impl End {
    /// In which lanes it is known, and at this place to the last bit.
    #[inline]
    fn is_at<const W: usize>(&self, place: &[f64]) -> [bool; W] {
        let mut known = std::array::from_fn(|j| self.known[j]);
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
            rates: vec![0.0; (LAST + 1) * half],
            end: End { rate: memory(), place: memory(), known: [false; LANES] },
            whole: None,
            name,
        }))
    }

    /// Whether steps begin and end with the same part.
    fn joins(&self) -> bool {
        joins(&self.stages)
    }

    /// Whether the place of the last rate is where the step ends, to the last bit: then it is that of the next step without a look.
    fn leaves_its_rate(&self) -> bool {
        let before_last = self.stages.len().checked_sub(2).map(|i| self.stages[i]);
        !self.joins() || before_last.is_some_and(|stage| stage.sum == 1.0) && self.stages[0].c == 0.0
    }

    /// The step, on any workspace where the first rate is known if steps join.
    ///
    /// With the first rate f₁ of a part, its change Σ bᵢ h fᵢ is h f₁ + Σ bᵢ h (fᵢ − f₁), because Σ bᵢ = 1. Differences of
    /// rates are small and nearly exact, so little is lost to rounding although some bᵢ are large and negative.
    fn advance<S: Workspace>(stages: &[Stage], s: &mut S) -> Result<(), S::Error> {
        for half in 0..2 {
            s.combine(Slot::At(half), Start { half });
        }
        for (i, &Stage { part, weight, sum, c }) in stages.iter().enumerate() {
            let (half, first) = (part.half(), i < 2);
            if i > 0 || !joins(stages) {
                s.evaluate(part.rate(), c, Place::At, if first { half } else { LAST })?;
            }
            if !first {
                s.combine(Slot::Change(half), Apart { half, weight, more: i >= 4 });
            }
            s.combine(Slot::At(half), Moved { half, sum, apart: !first });
        }
        for half in 0..2 {
            let apart = stages.iter().filter(|stage| stage.part.half() == half).count() > 1;
            s.combine(Slot::Change(half), Total { half, apart });
        }
        Ok(())
    }

    /// The step in a kernel, from the states, their carries and, if steps join, the first rate: gives the change, the last rate, and where the
    /// parts were then.
    fn write(
        &self,
        builder: &mut StepBuilder,
        [y, e, first]: [&[Operand]; 3],
    ) -> Result<(StepOutputs, [Vec<Operand>; 2]), AssemblyError> {
        let mut s = Writing::new(builder, [y, e], y.len() / 2, LAST + 1);
        s.rates[self.stages[0].part.half()] = first.to_vec();
        Splitting::advance(&self.stages, &mut s)?;
        let rates = if self.joins() { std::mem::take(&mut s.rates[LAST]) } else { Vec::new() };
        Ok((StepOutputs { change: s.change.concat(), rates, measured: None }, s.at))
    }

    /// The first rate of a step.
    fn first_rate(&mut self) -> &mut [f64] {
        &mut self.rates[self.stages[0].part.half() * self.half..][..self.half]
    }

    fn step_as_whole(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        change: &mut [f64],
    ) -> Result<(), EvalError> {
        self.begin(motion, interval, block)?;
        let (first, half, joins) = (self.stages[0].part, self.half, self.joins());
        let known = if joins { &self.rates[first.half() * half..][..half] } else { &[] };
        let Some(whole) = &mut self.whole else {
            unreachable!("a step is compiled before it is made as a whole")
        };
        let outputs = whole.step(motion.dynamics(), interval, &[block.values(), block.carry(), known])?;
        let (moved, rest) = outputs.split_at(2 * half);
        change.copy_from_slice(moved);
        if joins {
            let (rate, place) = rest.split_at(half);
            self.rates[LAST * half..].copy_from_slice(rate);
            self.at[first.other().half() * half..][..half].copy_from_slice(place);
        }
        motion.work_mut().evaluations += (self.stages.len() - usize::from(self.joins())) as u64;
        Ok(())
    }

    /// If steps join, the rate of the first stage: that of the last stage before it, where there is one.
    fn begin(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
    ) -> Result<(), EvalError> {
        if !self.joins() {
            return Ok(());
        }
        let first = self.stages[0];
        let place = fixed(first.part, self.half, block.values());
        let known = match interval.h.len() {
            1 => [self.end.is_at::<1>(place)[0]; LANES],
            _ => self.end.is_at::<LANES>(place),
        };
        let Splitting { rates, half, end, .. } = self;
        let rate = &mut rates[first.part.half() * *half..][..*half];
        if known != [true; LANES] {
            match first.part {
                Part::Kick => motion.kick(interval, first.c, block.values(), rate)?,
                Part::Drift => motion.drift(interval, first.c, block.values(), rate)?,
            }
        }
        // Its time may differ by rounding: a lane takes what it would take alone.
        copy_in(&known[..interval.h.len()], &end.rate, rate);
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
        if self.whole.is_some() {
            return Ok(self.step_as_whole(motion, interval, block, change)?);
        }
        self.begin(motion, interval, block)?;
        let Splitting { stages, at, rates, half, .. } = self;
        let memory = Memory { row: *half, h: spread(interval.h), block, change, at, rates };
        Ok(Splitting::advance(stages, &mut Computing { motion, interval, memory })?)
    }

    fn accept(&mut self, lanes: &[bool]) {
        if !self.joins() {
            return;
        }
        let end = &mut self.end;
        copy_in(lanes, &self.rates[LAST * self.half..], &mut end.rate);
        copy_in(lanes, fixed(self.stages[0].part, self.half, &self.at), &mut end.place);
        end.known.iter_mut().zip(lanes).filter(|(_, taken)| **taken).for_each(|(known, _)| *known = true);
    }

    fn memory(&mut self, visit: &mut dyn FnMut(Kept<'_>)) {
        if self.joins() {
            visit(Kept::Numbers(&mut self.end.rate));
            visit(Kept::Numbers(&mut self.end.place));
            visit(Kept::Flags(&mut self.end.known));
        }
    }

    fn compiled(&mut self) -> Option<&mut dyn Compiled> {
        Some(self)
    }
}

impl Compiled for Splitting {
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
                let [y, e, first, ..] = inputs else {
                    unreachable!("a step has states, carries and rates as inputs")
                };
                let (outputs, at) = Splitting::write(self, builder, [y, e, first])?;
                let place = &at[self.stages[0].part.other().half()];
                let place = if self.joins() { place.as_slice() } else { &[] };
                Ok([&outputs.change, &outputs.rates, place].concat())
            },
        )?;
        Ok(())
    }

    fn text(&self) -> &dyn StepCode {
        self
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
        self.begin(motion, interval, block)?;
        Ok(self.first_rate())
    }

    fn set_rates(&mut self, rates: &[f64], block: &Block) {
        if self.joins() {
            self.end.rate.copy_from_slice(rates);
            let place = fixed(self.stages[0].part, self.half, block.values());
            self.end.place.copy_from_slice(place);
            self.end.known.fill(true);
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

    fn first(&self) -> Option<(Quantity, f64)> {
        let first = self.stages[0];
        self.joins().then_some((first.part.rate(), first.c))
    }

    fn write(
        &self,
        builder: &mut StepBuilder,
        state: [&[Operand]; 3],
        _: Option<ToleranceInputs>,
    ) -> Result<StepOutputs, AssemblyError> {
        Ok(Splitting::write(self, builder, state)?.0)
    }
}

/// Whether steps begin and end with the same part.
fn joins(stages: &[Stage]) -> bool {
    stages.len() % 2 == 1
}

/// Where a half of the state is.
#[derive(Clone, Copy)]
struct Start {
    half: usize,
}

impl Formula for Start {
    #[inline(always)]
    fn value<A: Arithmetic>(self, _: &mut A, _: A::Value, rows: &impl Rows<A>) -> A::Value {
        rows.get(Slot::State(self.half))
    }
}

/// The sum of bᵢ h (fᵢ − f₁), with one more of them, or with the first.
#[derive(Clone, Copy)]
struct Apart {
    half: usize,
    weight: f64,
    more: bool,
}

impl Formula for Apart {
    #[inline(always)]
    fn value<A: Arithmetic>(self, a: &mut A, h: A::Value, rows: &impl Rows<A>) -> A::Value {
        let difference = a.sub(rows.get(Slot::Rates(LAST)), rows.get(Slot::Rates(self.half)));
        let apart = a.mul(h, difference);
        let term = a.mul(self.weight, apart);
        if self.more { a.add(rows.get(Slot::Change(self.half)), term) } else { term }
    }
}

/// Where a half of the state is after kicks or drifts of this sum, of which some may have differed from the first.
#[derive(Clone, Copy)]
struct Moved {
    half: usize,
    sum: f64,
    apart: bool,
}

impl Formula for Moved {
    #[inline(always)]
    fn value<A: Arithmetic>(self, a: &mut A, h: A::Value, rows: &impl Rows<A>) -> A::Value {
        let length = a.mul(h, rows.get(Slot::Rates(self.half)));
        let moved = a.mul(self.sum, length);
        let moved = if self.apart { a.add(rows.get(Slot::Change(self.half)), moved) } else { moved };
        after(a, rows.get(Slot::State(self.half)), rows.get(Slot::Carry(self.half)), moved)
    }
}

/// The change of a half of the state.
#[derive(Clone, Copy)]
struct Total {
    half: usize,
    apart: bool,
}

impl Formula for Total {
    #[inline(always)]
    fn value<A: Arithmetic>(self, a: &mut A, h: A::Value, rows: &impl Rows<A>) -> A::Value {
        let length = a.mul(h, rows.get(Slot::Rates(self.half)));
        if self.apart { a.add(rows.get(Slot::Change(self.half)), length) } else { length }
    }
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
