//! Puts equal and independent instructions of one state into the lanes of vectors.
//!
//! Code of one state leaves most of a vector unit idle, though mechanics repeats itself: every pair of bodies feels the
//! same law, every angle of a chain has a sine. Superword-level parallelism (Larsen and Amarasinghe,
//! doi:10.1145/349299.349320) finds such instructions and runs them side by side:
//!
//! 1. [`family`]: instructions that are the same function of the inputs, as far as the kinds of operands say, are copies. A
//!    family begins with the copies whose packing gains most, one to a lane, takes in what they are computed from, and then,
//!    in the order of the program, what is computed from them: the same code on arguments of the same lane.
//! 2. [`choose`]: what costs more to bring together than it saves is left alone.
//! 3. [`build`]: the [`Sequence`] of what is packed and what is not.
//!
//! A lane computes what the instruction alone would, so results keep their bits.

mod build;
mod choose;
mod family;
#[cfg(test)]
mod tests;

use super::Isa;
use super::sequence::{Action, Sequence, Step};
use crate::instruction::Code;
use crate::program::Program;
use choose::Chunk;

/// No instruction, no bundle.
const NONE: u32 = u32::MAX;

/// Packed code must cost less than this part of what it costs one by one.
const WORTH: f64 = 0.9;

/// The longest program that is looked at. Longer code waits for memory, whatever its lanes.
const LONGEST: usize = 200_000;

/// Lanes of 256 bits.
const HALF: usize = 4;

/// A program's instructions in vectors of up to `width` lanes; `None` if nothing is gained. Eager, whatever the gain: for tests.
pub(super) fn pack(program: &Program, isa: Isa, width: usize, eager: bool) -> Option<Sequence> {
    if program.body.len() > LONGEST {
        return None;
    }
    let families = family::find(program, width, eager);
    if families.bundles.is_empty() {
        return None;
    }
    // The widest vectors slow down what is left alone: whole ones or halves may be better.
    let widths: &[usize] = if width > HALF && !eager { &[width, HALF] } else { &[width] };
    let packed = widths.iter().filter_map(|&width| {
        let mut chunks = choose::chunks(program, families.clone(), width, eager);
        let sequence = build::build(program, &mut chunks, isa)?;
        Some((total(&sequence), sequence))
    });
    let (packed, sequence) = packed.min_by_key(|(cost, _)| *cost)?;
    let alone: u32 = program.body.iter().map(|i| cost(i.code, 1)).sum();
    (eager || f64::from(packed) < WORTH * f64::from(alone)).then_some(sequence)
}

/// What a sequence costs. While vectors of 512 bits are in flight, a processor has one unit less for single numbers.
fn total(sequence: &Sequence) -> u32 {
    let single = if sequence.widest() > HALF { 2 } else { 1 };
    let step = |step: &Step| match (step.action, step.width) {
        (Action::Operate(code @ (Code::Div | Code::Sqrt)), 1) => cost(code, 1),
        (Action::Operate(code), 1) => single * cost(code, 1),
        (Action::Operate(code), width) => cost(code, width as usize),
        (Action::Collect, width) => collecting(width as usize),
        (Action::Spread, _) => 1,
    };
    sequence.steps.iter().map(step).sum()
}

/// What an instruction costs, about: half the cycles until the next such one can start.
fn cost(code: Code, width: usize) -> u32 {
    match (code, width) {
        (Code::Div, 1 | 2) => 8,
        (Code::Sqrt, 1 | 2) => 10,
        (Code::Div, 4) => 16,
        (Code::Sqrt, 4) => 20,
        (Code::Div, _) => 32,
        (Code::Sqrt, _) => 40,
        (Code::Call(_), _) => 100,
        (Code::Select(_) | Code::Repair { .. }, _) => 2,
        _ => 1,
    }
}

/// What bringing numbers from memory into lanes costs.
fn collecting(width: usize) -> u32 {
    match width {
        1 => 1,
        2 => 3,
        4 => 6,
        _ => 10,
    }
}

/// The chunks that lanes are cut into: the first lane, and the lanes of the vector, of which the last may be idle.
fn cut(lanes: usize, width: usize) -> Vec<(usize, usize)> {
    let mut chunks: Vec<(usize, usize)> = (0..lanes / width).map(|i| (i * width, width)).collect();
    let rest = lanes % width;
    if rest > 0 {
        chunks.push((lanes - rest, rest.next_power_of_two()));
    }
    chunks
}
