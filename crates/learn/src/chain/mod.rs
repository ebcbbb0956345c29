//! What a learned model computes, as a short chain of stages over a batch.
//!
//! | stage | forward | its reverse |
//! |---|---|---|
//! | a program | expressions, compiled, in lanes over the batch | [`Program::reverse`](leastaction_compile::Program::reverse) |
//! | values of a network | y = N(x) | a pull |
//! | a pull | ȳᵀ ∂N/∂x, as a force is one | a push, and once more back |
//! | a push | (∂N/∂x) ẋ | a pull, and once more back |
//! | a curve | (∂²(ȳ·N)/∂x²) ẋ, as a mass matrix is one | two pushes, and once more back |
//!
//! A model writes expressions into a [`Writer`] and says where networks stand; stages and their reverses follow. No derivative is written by hand.
//! A chain reads and writes *rows*, one number for each sample of the batch, each row once: a [`Tape`] keeps them for the way back, and a [`Worker`] has the memory
//! of one thread. Programs compute in double precision, networks in single or double.

mod compiled;
mod tape;
mod worker;
mod writer;

pub use tape::Tape;
pub use worker::{Gradient, Worker};
pub use writer::{ChainError, Evaluated, Writer};

use compiled::ProgramStage;
use std::ops::Range;
use std::sync::Arc;

/// Stages over rows. It is immutable, shared by threads, and cheap to clone.
#[derive(Clone, Debug)]
pub struct Chain {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    stages: Vec<Stage>,
    /// How many rows it reads, from the first one on.
    inputs: usize,
    rows: usize,
    outputs: Vec<usize>,
    /// The networks that passes go through, and those of sweeps.
    passes: Vec<usize>,
    sweeps: Vec<usize>,
}

#[derive(Debug)]
enum Stage {
    Program(Box<ProgramStage>),
    /// Its outputs are only computed where they are read.
    Network {
        pass: usize,
        reads: Vec<usize>,
        writes: Option<Range<usize>>,
    },
    Pull {
        pass: usize,
        sweep: usize,
        weights: Vec<usize>,
        writes: Range<usize>,
    },
    Push {
        pass: usize,
        sweep: usize,
        direction: Vec<usize>,
        writes: Range<usize>,
    },
    Curve {
        pass: usize,
        weights: Vec<usize>,
        direction: Vec<usize>,
        writes: Range<usize>,
    },
}

impl Chain {
    /// How many rows it reads.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inner.inputs
    }

    /// How many rows it gives.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.inner.outputs.len()
    }
}
