//! What the register allocator needs to know of a machine.

use crate::instruction::Code;
use leastaction_expr::Op;

/// Where a value lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// A constant, a parameter or a uniform.
    Pool(u32),
    Input(u32),
    Output(u32),
    /// Scratch memory. The first ones carry the result and the arguments of calls.
    Slot(u32),
}

impl Place {
    /// The place so many lanes further, in memory where lanes of one value lie side by side.
    pub(crate) fn lane(self, lane: u32) -> Place {
        match self {
            Place::Pool(i) => Place::Pool(i),
            Place::Input(i) => Place::Input(i + lane),
            Place::Output(i) => Place::Output(i + lane),
            Place::Slot(i) => Place::Slot(i + lane),
        }
    }
}

/// The values that a call passes in memory: the result and up to three arguments.
pub(crate) const CALL_VALUES: usize = 4;

/// An argument as an instruction finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Register(u8),
    Memory(Place),
}

/// Which arguments of an instruction can stay in memory, and what its result's register must be.
///
/// Sets of arguments are bit masks: bit 0 for the first.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shape {
    /// Of each set, one argument can stay in memory. The sets do not meet.
    pub(crate) folds: [Fold; 3],
    /// If not empty: the result overwrites the register of one of these arguments.
    pub(crate) tied: u8,
    /// The result's register must not be that of any of these.
    pub(crate) apart: u8,
}

/// A set of arguments of which one can stay in memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fold {
    pub(crate) arguments: u8,
    /// Whether only a value of the pool can.
    pub(crate) pool_only: bool,
}

/// A machine that the allocator writes for. A width is the number of lanes that count.
pub(crate) trait Target {
    /// The number of registers that hold lanes, at most 32.
    fn registers(&self) -> u8;

    /// The slots that a value of this width takes, and whose multiple its first one is.
    fn slots(&self, width: u8) -> u32;

    /// The slots that calls take, the first ones.
    fn call_slots(&self) -> u32;

    /// What an instruction asks of its operands. Not asked for calls.
    fn shape(&mut self, code: Code, width: u8) -> Shape;

    /// Called once: what was written before runs once, what follows runs for every block.
    fn begin_loop(&mut self);

    fn load(&mut self, to: u8, from: Place, width: u8);

    fn store(&mut self, to: Place, from: u8, width: u8);

    /// Stores the first lanes only.
    fn store_some(&mut self, to: Place, from: u8, width: u8, count: u8);

    fn copy(&mut self, to: u8, from: u8, width: u8);

    /// An instruction. The sources keep to its [`Shape`]: a tied one is `Source::Register(to)`. Entries beyond the
    /// arity have no meaning.
    fn operate(&mut self, code: Code, width: u8, to: u8, sources: &[Source; 4]);

    /// Computes an operator lane by lane. The result is left in slot 0; all registers lose their values.
    fn call(&mut self, op: Op, width: u8, arguments: &[Source]);

    /// One value of memory in each lane. `free` is a register without a value.
    fn collect(&mut self, to: u8, free: u8, lanes: &[Place]);

    /// One value in all lanes.
    fn spread(&mut self, to: u8, from: Source, width: u8);
}
