//! Expressions to native code.

mod aligned;
mod arithmetic;
mod builder;
mod expand;
mod fuse;
mod hoist;
mod instruction;
mod interpreter;
mod kernel;
mod lower;
mod math;
mod native;
mod program;
#[cfg(test)]
mod random;

pub use instruction::{Code, Instruction, Operand, Test};
pub use kernel::{ArgumentError, BACKEND_VARIABLE, Backend, CompileError, Evaluator, Kernel, LANES};
pub use native::NativeError;
pub use program::{BuildError, Program};
