//! What the register allocator takes: steps over values of one lane or of several.
//!
//! A program becomes a sequence as it stands, every step as wide as the function, or by [`super::pack`], which puts equal
//! instructions of one state into the lanes of one step.

use super::target::Place;
use crate::instruction::{Code, Operand};
use crate::program::Program;

/// The most lanes of a step.
pub(super) const WIDEST: usize = 8;

/// A value that lies in memory from the start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf {
    pub(crate) place: Place,
    pub(crate) width: u8,
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Action {
    /// An instruction in every lane.
    Operate(Code),
    /// One value in each lane.
    Collect,
    /// One value in all lanes.
    Spread,
}

/// A step. Its result is a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) action: Action,
    /// Lanes: 1, 2, 4 or 8.
    pub(crate) width: u8,
    /// How many arguments count.
    pub(crate) arity: u8,
    /// Values, by number.
    pub(crate) arguments: [u32; WIDEST],
}

impl Step {
    pub(crate) fn arguments(&self) -> &[u32] {
        &self.arguments[..self.arity as usize]
    }
}

/// Outputs that one step stores, a lane each, from lane 0 on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) first: u32,
    pub(crate) count: u8,
}

/// Straight-line code. Values are numbered: leaves, results of steps, then single lanes of wide results.
#[derive(Debug, Default)]
pub(crate) struct Sequence {
    pub(crate) leaves: Vec<Leaf>,
    pub(crate) steps: Vec<Step>,
    /// For each step, the number of its lane 0 among the lanes; of no meaning for steps of one lane. Empty if no step has
    /// lanes that are read one by one.
    pub(crate) lanes: Vec<u32>,
    /// How many lanes there are.
    pub(crate) lane_count: u32,
    /// For each step, a row of outputs. Empty if there is none.
    pub(crate) rows: Vec<Option<Row>>,
    /// Where outputs come from; `None` for those in rows.
    pub(crate) outputs: Vec<Option<u32>>,
}

impl Sequence {
    /// A program with every step so wide.
    pub(crate) fn of(program: &Program, width: usize) -> Sequence {
        let width = width as u8;
        let pool = (0..program.pool_len() as u32).map(Place::Pool);
        let inputs = (0..program.inputs.len() as u32).map(Place::Input);
        let leaves: Vec<Leaf> = pool.chain(inputs).map(|place| Leaf { place, width }).collect();
        let number = |operand: Operand| match operand {
            Operand::Input(i) => (program.pool_len() + i as usize) as u32,
            Operand::Temporary(i) => (leaves.len() + i as usize) as u32,
            shared => program.pool_place(shared) as u32,
        };
        let step = |code: Code, operands: &[Operand]| {
            let mut arguments = [0; WIDEST];
            arguments.iter_mut().zip(operands).for_each(|(argument, &operand)| *argument = number(operand));
            Step { action: Action::Operate(code), width, arity: operands.len() as u8, arguments }
        };
        let steps = program.body.iter().map(|i| step(i.code, i.arguments())).collect();
        let outputs = program.outputs.iter().map(|&output| Some(number(output))).collect();
        Sequence { leaves, steps, outputs, ..Sequence::default() }
    }

    /// The number of values.
    pub(crate) fn values(&self) -> usize {
        self.leaves.len() + self.steps.len() + self.lane_count as usize
    }

    /// The most lanes of a step.
    pub(crate) fn widest(&self) -> usize {
        self.steps.iter().map(|step| step.width as usize).max().unwrap_or(1)
    }
}
