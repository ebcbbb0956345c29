//! Builds a list of instructions in which equal instructions are one: common subexpressions are eliminated as
//! they are written.

use crate::instruction::{Code, Instruction, Operand};
use rustc_hash::FxHashMap;

/// A growing list of instructions and constants. Every pass writes into one.
#[derive(Default)]
pub(crate) struct Builder {
    pub(crate) constants: Vec<f64>,
    pub(crate) body: Vec<Instruction>,
    places: FxHashMap<u64, u32>,
    known: FxHashMap<Instruction, Operand>,
}

impl Builder {
    /// An empty list that begins with these constants, at these places, with room for some instructions.
    pub(crate) fn with_constants(constants: &[f64], room: usize) -> Builder {
        let mut builder = Builder {
            constants: constants.to_vec(),
            places: constants.iter().zip(0..).map(|(value, place)| (value.to_bits(), place)).collect(),
            ..Builder::default()
        };
        builder.body.reserve(room);
        builder.known.reserve(room);
        builder
    }

    /// A list that begins with these instructions, at these places.
    pub(crate) fn with_body(body: &[Instruction]) -> Builder {
        let mut builder = Builder { body: body.to_vec(), ..Builder::default() };
        for (&instruction, place) in body.iter().zip(0..) {
            builder.known.entry(instruction).or_insert(Operand::Temporary(place));
        }
        builder
    }

    /// The place of a constant.
    pub(crate) fn place(&mut self, value: f64) -> u32 {
        *self.places.entry(value.to_bits()).or_insert_with(|| {
            self.constants.push(value);
            self.constants.len() as u32 - 1
        })
    }

    /// An instruction, or the equal one that is there already.
    pub(crate) fn push(&mut self, code: Code, arguments: &[Operand]) -> Operand {
        let instruction = Self::ordered(code, arguments);
        let next = Operand::Temporary(self.body.len() as u32);
        let operand = *self.known.entry(instruction).or_insert(next);
        if operand == next {
            self.body.push(instruction);
        }
        operand
    }

    /// An instruction that is there already.
    pub(crate) fn find(&self, code: Code, arguments: &[Operand]) -> Option<Operand> {
        self.known.get(&Self::ordered(code, arguments)).copied()
    }

    /// Forgets all instructions but the first.
    pub(crate) fn truncate(&mut self, count: usize) {
        for instruction in self.body.drain(count..) {
            self.known.remove(&instruction);
        }
    }

    fn ordered(code: Code, arguments: &[Operand]) -> Instruction {
        match *arguments {
            [a, b] if Self::commutes(code) && b < a => Instruction::new(code, &[b, a]),
            [a, b, c] if Self::commutes(code) && b < a => Instruction::new(code, &[b, a, c]),
            _ => Instruction::new(code, arguments),
        }
    }

    /// Whether the first two arguments can be exchanged.
    pub(crate) fn commutes(code: Code) -> bool {
        use Code::{Add, AddInt, And, Mul, MulAdd, MulSub, NegMulAdd, NegMulSub, Or, Xor};
        matches!(code, Add | Mul | MulAdd | MulSub | NegMulAdd | NegMulSub | And | Or | Xor | AddInt)
    }
}
