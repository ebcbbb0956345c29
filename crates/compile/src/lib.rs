//! Expressions to native code.

mod builder;
mod expand;
mod fuse;
mod hoist;
mod instruction;
mod lower;
mod math;
mod native;
mod program;
#[cfg(test)]
mod random;

pub use builder::Builder;
pub use instruction::{Code, Instruction, Operand, Test};
pub use program::{BuildError, Program};
