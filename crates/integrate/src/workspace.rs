//! What the text of an explicit step is written on: rows of numbers, evaluations of the system, and formulas between them.
//!
//! A step is stated once, for any [`Workspace`]. On [`Computing`] it is made with numbers, for one state or for lanes; on [`Writing`] it becomes
//! instructions of a kernel. Both do the same operations in the same order, so they agree to the last bit.

use crate::block::Block;
use crate::compiled_step::StepBuilder;
use crate::step::{Interval, Motion};
use leastaction_compile::{Arithmetic, AssemblyError, LANES, Lanes, Loops, Operand, vectorized};
use leastaction_mechanics::{EvalError, Quantity};

/// A row: a number for each component of a state, or of a half of it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Slot {
    /// Where the step begins, and what rounding left of that.
    State(usize),
    Carry(usize),
    /// By how much the state changes.
    Change(usize),
    /// Where the system is evaluated.
    At(usize),
    /// What evaluations have given.
    Rates(usize),
}

/// One component of all rows.
pub(crate) trait Rows<A: Arithmetic> {
    fn get(&self, slot: Slot) -> A::Value;
}

/// What is computed of each component, given the length of the step.
pub(crate) trait Formula: Copy {
    fn value<A: Arithmetic>(self, a: &mut A, h: A::Value, rows: &impl Rows<A>) -> A::Value;
}

/// Where a step is made or written.
pub(crate) trait Workspace {
    type Error;

    /// Evaluates a quantity at the time t + c·h, where the step begins or at [`Slot::At`], into a row of rates.
    fn evaluate(&mut self, quantity: Quantity, c: f64, at: Place, to: usize) -> Result<(), Self::Error>;

    /// Computes a row.
    fn combine(&mut self, to: Slot, formula: impl Formula);
}

/// Where a system is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    State,
    At,
}

/// The rows of a step that is made. A row has the lanes innermost; places go in chunks of eight, the lanes of a component or components of one
/// lane.
pub(crate) struct Memory<'a> {
    /// The length of a row.
    pub(crate) row: usize,
    /// The step of each lane, or eight times that of the only one.
    pub(crate) h: [f64; LANES],
    pub(crate) block: &'a Block,
    pub(crate) change: &'a mut [f64],
    pub(crate) at: &'a mut [f64],
    pub(crate) rates: &'a mut [f64],
}

/// The step of each lane, or eight times that of the only one.
pub(crate) fn spread(h: &[f64]) -> [f64; LANES] {
    std::array::from_fn(|j| h[j % h.len()])
}

impl Memory<'_> {
    /// Computes a row.
    pub(crate) fn combine(&mut self, to: Slot, formula: impl Formula) {
        vectorized(Combine { memory: self, to, formula });
    }

    #[inline(always)]
    fn put<const W: usize>(&mut self, to: Slot, place: usize, formula: impl Formula) {
        let value =
            formula.value(&mut Lanes, crate::clock::first::<W>(&self.h), &Component { memory: self, place });
        let (rows, part) = match to {
            Slot::Change(part) => (&mut *self.change, part),
            Slot::At(part) => (&mut *self.at, part),
            Slot::Rates(part) => (&mut *self.rates, part),
            Slot::State(_) | Slot::Carry(_) => unreachable!("a step does not move its block"),
        };
        rows[part * self.row + place..][..W].copy_from_slice(&value);
    }
}

struct Combine<'c, 'a, F> {
    memory: &'c mut Memory<'a>,
    to: Slot,
    formula: F,
}

impl<F: Formula> Loops for Combine<'_, '_, F> {
    type Result = ();

    #[inline(always)]
    fn run(self) {
        let Combine { memory, to, formula } = self;
        let whole = memory.row / LANES * LANES;
        for place in (0..whole).step_by(LANES) {
            memory.put::<LANES>(to, place, formula);
        }
        for place in whole..memory.row {
            memory.put::<1>(to, place, formula);
        }
    }
}

/// Rows at a place.
struct Component<'c, 'a> {
    memory: &'c Memory<'a>,
    place: usize,
}

impl<const W: usize> Rows<Lanes<W>> for Component<'_, '_> {
    #[inline(always)]
    fn get(&self, slot: Slot) -> [f64; W] {
        let memory = self.memory;
        let (rows, part) = match slot {
            Slot::State(part) => (memory.block.values(), part),
            Slot::Carry(part) => (memory.block.carry(), part),
            Slot::Change(part) => (&*memory.change, part),
            Slot::At(part) => (&*memory.at, part),
            Slot::Rates(part) => (&*memory.rates, part),
        };
        crate::clock::first(&rows[part * memory.row + self.place..])
    }
}

/// A step that is made.
pub(crate) struct Computing<'a, 'd> {
    pub(crate) motion: &'a mut Motion<'d>,
    pub(crate) interval: Interval<'a>,
    pub(crate) memory: Memory<'a>,
}

impl Workspace for Computing<'_, '_> {
    type Error = EvalError;

    fn evaluate(&mut self, quantity: Quantity, c: f64, at: Place, to: usize) -> Result<(), EvalError> {
        let Memory { row, block, at: place, rates, .. } = &mut self.memory;
        let y = if at == Place::At { &**place } else { block.values() };
        let rates = &mut rates[to * *row..][..*row];
        match quantity {
            Quantity::Rates => self.motion.rates(self.interval, c, y, rates),
            Quantity::Drift => self.motion.drift(self.interval, c, y, rates),
            Quantity::Kick => self.motion.kick(self.interval, c, y, rates),
            other => unreachable!("no explicit step evaluates {other:?}"),
        }
    }

    fn combine(&mut self, to: Slot, formula: impl Formula) {
        self.memory.combine(to, formula);
    }
}

/// A step that is written into a kernel. Rows are there once they are written.
pub(crate) struct Writing<'b, 's> {
    pub(crate) builder: &'b mut StepBuilder,
    /// The states, and what rounding left of them.
    state: [&'s [Operand]; 2],
    row: usize,
    pub(crate) change: [Vec<Operand>; 2],
    pub(crate) at: [Vec<Operand>; 2],
    pub(crate) rates: Vec<Vec<Operand>>,
}

impl<'b, 's> Writing<'b, 's> {
    /// A step from states and what rounding left of them, in rows of a length, with so many rows of rates.
    pub(crate) fn new(
        builder: &'b mut StepBuilder,
        state: [&'s [Operand]; 2],
        row: usize,
        rates: usize,
    ) -> Writing<'b, 's> {
        let rates = vec![Vec::new(); rates];
        Writing { builder, state, row, change: Default::default(), at: Default::default(), rates }
    }
}

impl Workspace for Writing<'_, '_> {
    type Error = AssemblyError;

    fn evaluate(&mut self, quantity: Quantity, c: f64, at: Place, to: usize) -> Result<(), AssemblyError> {
        let y = if at == Place::At { self.at.concat() } else { self.state[0].to_vec() };
        self.rates[to] = self.builder.quantity(quantity, c, y)?;
        Ok(())
    }

    fn combine(&mut self, to: Slot, formula: impl Formula) {
        let mut row = Vec::with_capacity(self.row);
        for place in 0..self.row {
            let Writing { builder, state: [y, e], change, at, rates, row: len } = self;
            let h = builder.h();
            let rows = Operands { place, row: *len, y, e, change, at, rates };
            row.push(formula.value(builder.assembly(), h, &rows));
        }
        match to {
            Slot::Change(part) => self.change[part] = row,
            Slot::At(part) => self.at[part] = row,
            Slot::Rates(part) => self.rates[part] = row,
            Slot::State(_) | Slot::Carry(_) => unreachable!("a step does not move its block"),
        }
    }
}

/// Rows of a kernel at a place.
struct Operands<'a> {
    place: usize,
    row: usize,
    y: &'a [Operand],
    e: &'a [Operand],
    change: &'a [Vec<Operand>; 2],
    at: &'a [Vec<Operand>; 2],
    rates: &'a [Vec<Operand>],
}

impl Rows<leastaction_compile::Assembly> for Operands<'_> {
    fn get(&self, slot: Slot) -> Operand {
        match slot {
            Slot::State(part) => self.y[part * self.row + self.place],
            Slot::Carry(part) => self.e[part * self.row + self.place],
            Slot::Change(part) => self.change[part][self.place],
            Slot::At(part) => self.at[part][self.place],
            Slot::Rates(part) => self.rates[part][self.place],
        }
    }
}
