//! Which bundles are worth a vector.

use super::family::Families;
use super::{NONE, collecting, cost, cut};
use crate::instruction::Operand;
use crate::program::Program;
use rustc_hash::FxHashMap;

/// How often the choice is looked at again: what is left alone changes what its neighbours cost.
const ROUNDS: usize = 4;

/// Part of a bundle: the instructions of one vector.
pub(super) struct Chunk {
    pub(super) bundle: u32,
    pub(super) width: usize,
    /// Instructions by lane; [`NONE`] where there is none. As long as the lanes that are not idle.
    pub(super) members: Vec<u32>,
    /// Whether it is packed.
    pub(super) packed: bool,
}

/// All chunks, and where instructions are.
pub(super) struct Chunks {
    pub(super) families: Families,
    pub(super) chunks: Vec<Chunk>,
    /// For each instruction, its chunk and its lane in it.
    pub(super) places: Vec<(u32, u32)>,
}

impl Chunks {
    /// The chunk and the lane of a temporary, if it is packed.
    pub(super) fn place(&self, operand: Operand) -> Option<(u32, u32)> {
        let Operand::Temporary(t) = operand else { return None };
        let (chunk, lane) = self.places[t as usize];
        (chunk != NONE && self.chunks[chunk as usize].packed).then_some((chunk, lane))
    }

    /// The arguments number i of a chunk's instructions, by lane; idle lanes repeat another.
    pub(super) fn arguments(&self, program: &Program, chunk: &Chunk, i: usize, arguments: &mut Vec<Operand>) {
        arguments.clear();
        let of = |m: u32| self.families.argument(&program.body[m as usize], m, i);
        let Some(first) = chunk.members.iter().copied().find(|&m| m != NONE) else {
            unreachable!("a chunk has a member");
        };
        for lane in 0..chunk.width {
            let argument = match chunk.members.get(lane) {
                Some(&m) if m != NONE => of(m),
                _ => arguments.last().copied().unwrap_or_else(|| of(first)),
            };
            arguments.push(argument);
        }
    }

    /// The chunk that holds these arguments lane by lane, if there is one.
    pub(super) fn aligned(&self, chunk: &Chunk, arguments: &[Operand]) -> Option<u32> {
        let mut held = None;
        for (lane, (&m, &argument)) in chunk.members.iter().zip(arguments).enumerate() {
            if m != NONE {
                let (place, l) = self.place(argument)?;
                if l as usize != lane || held.is_some_and(|held| held != place) {
                    return None;
                }
                held = Some(place);
            }
        }
        held.filter(|&held| self.chunks[held as usize].width == chunk.width)
    }

    /// Whether arguments are a row of inputs.
    pub(super) fn row(chunk: &Chunk, arguments: &[Operand]) -> Option<u32> {
        let Operand::Input(first) = arguments[0] else { return None };
        let follows = |(i, &a): (u32, &Operand)| a == Operand::Input(first + i);
        let full = chunk.members.len() == chunk.width && (0..).zip(arguments).all(follows);
        full.then_some(first)
    }

    /// What an argument costs beyond the instruction itself, if it is brought together for nothing else.
    fn price(&self, chunk: &Chunk, arguments: &[Operand]) -> i64 {
        if arguments.iter().all(|a| *a == arguments[0]) {
            return i64::from(!arguments[0].is_uniform());
        }
        if self.aligned(chunk, arguments).is_some() || Chunks::row(chunk, arguments).is_some() {
            return 0;
        }
        let alone = |a: &&Operand| matches!(a, Operand::Temporary(_)) && self.place(**a).is_none();
        i64::from(collecting(chunk.width)) + arguments.iter().filter(alone).count() as i64
    }
}

/// Cuts bundles into chunks and chooses what is packed.
pub(super) fn chunks(program: &Program, mut families: Families, width: usize, eager: bool) -> Chunks {
    order_lanes(program, &mut families);
    let mut chunks = Vec::new();
    let mut places = vec![(NONE, 0); program.body.len()];
    for (bundle, found) in families.bundles.iter().enumerate() {
        for (first, width) in cut(found.members.len(), width) {
            let members = &found.members[first..found.members.len().min(first + width)];
            let count = members.iter().filter(|&&m| m != NONE).count();
            if count < 2 {
                continue;
            }
            for (lane, &m) in members.iter().enumerate() {
                if m != NONE {
                    places[m as usize] = (chunks.len() as u32, lane as u32);
                }
            }
            chunks.push(Chunk { bundle: bundle as u32, width, members: members.to_vec(), packed: true });
        }
    }
    let mut chosen = Chunks { families, chunks, places };
    for _ in 0..ROUNDS {
        if eager || !prune(program, &mut chosen) {
            break;
        }
    }
    chosen
}

/// Unpacks what costs more than it saves. Says whether there was something.
fn prune(program: &Program, chosen: &mut Chunks) -> bool {
    let code = |chunk: &Chunk| chosen.families.bundles[chunk.bundle as usize].code;
    // What a chunk spares those that read it.
    let mut spared = vec![0i64; chosen.chunks.len()];
    let mut costs = vec![0i64; chosen.chunks.len()];
    let mut arguments = Vec::new();
    // What is brought together serves all that read it.
    let mut readers: FxHashMap<Vec<Operand>, i64> = FxHashMap::default();
    for chunk in chosen.chunks.iter().filter(|chunk| chunk.packed) {
        for i in 0..code(chunk).arity() {
            chosen.arguments(program, chunk, i, &mut arguments);
            if chosen.price(chunk, &arguments) > 1 {
                *readers.entry(arguments.clone()).or_default() += 1;
            }
        }
    }
    for (at, chunk) in chosen.chunks.iter().enumerate().filter(|(_, chunk)| chunk.packed) {
        let code = code(chunk);
        let count = chunk.members.iter().filter(|&&m| m != NONE).count() as u32;
        costs[at] = i64::from(cost(code, chunk.width)) - i64::from(count * cost(code, 1));
        for i in 0..code.arity() {
            chosen.arguments(program, chunk, i, &mut arguments);
            costs[at] += chosen.price(chunk, &arguments) / readers.get(&arguments).copied().unwrap_or(1);
            if let Some(read) = chosen.aligned(chunk, &arguments) {
                spared[read as usize] += i64::from(collecting(chunk.width) + count);
            }
        }
    }
    let mut changed = false;
    for (chunk, (cost, spared)) in chosen.chunks.iter_mut().zip(costs.iter().zip(&spared)) {
        if chunk.packed && *cost > *spared {
            chunk.packed = false;
            changed = true;
        }
    }
    changed
}

/// Orders the lanes of each family by the outputs that they compute, or by the inputs that they read, so that rows lie
/// together in memory.
fn order_lanes(program: &Program, families: &mut Families) {
    let mut output = vec![NONE; program.body.len()];
    for (i, &operand) in program.outputs.iter().enumerate().rev() {
        if let Operand::Temporary(t) = operand {
            output[t as usize] = i as u32;
        }
    }
    let mut keys: Vec<Vec<(u32, u32)>> =
        families.lanes.iter().map(|&lanes| vec![(NONE, NONE); lanes]).collect();
    for bundle in &families.bundles {
        for (key, &m) in keys[bundle.family].iter_mut().zip(&bundle.members) {
            if m != NONE {
                key.0 = key.0.min(output[m as usize]);
                for argument in program.body[m as usize].arguments() {
                    if let Operand::Input(i) = argument {
                        key.1 = key.1.min(*i);
                    }
                }
            }
        }
    }
    let orders: Vec<Vec<usize>> = keys
        .iter()
        .map(|keys| {
            let mut order: Vec<usize> = (0..keys.len()).collect();
            order.sort_by_key(|&lane| keys[lane]);
            order
        })
        .collect();
    for bundle in &mut families.bundles {
        let members = orders[bundle.family].iter().map(|&lane| bundle.members[lane]).collect();
        bundle.members = members;
    }
}
