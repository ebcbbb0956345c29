//! What the register allocator needs to know of a machine.

use crate::instruction::Code;
use leastaction_expr::Op;

/// Where a value lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A constant, a parameter or a uniform.
    Pool(u32),
    Input(u32),
    Output(u32),
    /// Scratch memory. The first [`CALL_SLOTS`] carry the result and the arguments of calls.
    Slot(u32),
}

/// The result and up to three arguments.
pub(crate) const CALL_SLOTS: u32 = 4;

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

/// A machine that the allocator writes for.
pub(crate) trait Target {
    /// The number of registers that hold lanes, at most 32.
    fn registers(&self) -> u8;

    /// What an instruction asks of its operands. Not asked for calls.
    fn shape(&self, code: Code) -> Shape;

    /// Called once: what was written before runs once, what follows runs for every block.
    fn begin_loop(&mut self);

    fn load(&mut self, to: u8, from: Place);

    fn store(&mut self, to: Place, from: u8);

    fn copy(&mut self, to: u8, from: u8);

    /// An instruction. The sources keep to its [`Shape`]: a tied one is `Source::Register(to)`. Entries beyond the
    /// arity have no meaning.
    fn operate(&mut self, code: Code, to: u8, sources: &[Source; 4]);

    /// Computes an operator lane by lane. The result is left in slot 0; all registers lose their values.
    fn call(&mut self, op: Op, arguments: &[Source]);
}
