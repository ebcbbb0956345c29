//! The interpreter: runs a program on every platform, one state or a tile of lanes at a time.
//!
//! The program becomes a tape of steps over numbered slots, each a row of as many numbers as the tile has lanes.
//! A step is a pointer to a loop over one row (`row.rs`), built for the instruction sets the machine may have and
//! chosen when the tape is made. What an instruction means stands once, in [`Code::value`].

mod row;

use crate::LANES;
use crate::aligned::Aligned;
use crate::instruction::{Code, Operand};
use crate::program::Program;
pub(crate) use row::Level;
use row::Run;
use rustc_hash::FxHashMap;

/// Lanes of a tile. Long enough that the loop over a row outweighs the way to it.
const TILE: usize = 64;

/// The most slots of a full tile, which keeps its rows within a second-level cache; larger programs run block by block.
const TILE_SLOTS: usize = 2048;

/// An instruction with its slots resolved. The result's slot is none of the arguments' slots.
#[derive(Clone, Copy)]
struct Step {
    /// Runs it for a single state, and for a tile.
    run: [Run; 2],
    code: Code,
    /// The set of arguments that are constants, the same in all lanes, as a bit mask.
    shared: u8,
    result: u32,
    arguments: [u32; 4],
    /// The slot of the second result of a pair.
    partner: u32,
    limit: f64,
}

/// A program as a tape.
///
/// Slots: the pool (constants, parameters, uniforms), then the inputs, then temporaries.
pub(crate) struct Interpreter {
    steps: Vec<Step>,
    outputs: Vec<u32>,
    slots: usize,
    pool: usize,
    inputs: usize,
    /// Lanes of a tile.
    tile: usize,
}

/// The rows of one thread: a column for single states and rows for tiles.
#[derive(Clone)]
pub(crate) struct Rows {
    single: Aligned,
    tile: Aligned,
}

impl Interpreter {
    pub(crate) fn new(program: &Program) -> Interpreter {
        let (pool, inputs) = (program.pool_len(), program.inputs.len());
        let (last_use, partners, level) = (last_uses(program), partners(program), Level::detect());
        let mut slots = Slots { count: (pool + inputs) as u32, free: Vec::new() };
        let slot = |operand: Operand, temporaries: &[u32]| match operand {
            Operand::Temporary(i) => temporaries[i as usize],
            Operand::Input(i) => pool as u32 + i,
            shared => program.pool_place(shared) as u32,
        };
        let mut temporaries: Vec<u32> = Vec::with_capacity(program.body.len());
        let mut computed: Vec<Option<u32>> = vec![None; program.body.len()];
        let mut steps = Vec::with_capacity(program.body.len());
        for (at, instruction) in program.body.iter().enumerate() {
            let result = computed[at].unwrap_or_else(|| {
                // Slots of results are taken before those of arguments are freed, so that they never coincide.
                let result = slots.take();
                let partner = match partners[at] {
                    Some(second) => *computed[second].insert(slots.take()),
                    // What was paired may have lost its partner, which nothing needs: that result has a row for the moment.
                    None if matches!(instruction.code, Code::Paired(_)) => {
                        let spare = slots.take();
                        slots.free.push(spare);
                        spare
                    }
                    None => result,
                };
                let arguments = instruction.operands.map(|o| slot(o, &temporaries));
                // Commuting arguments are in order, constants first, so that not every set of them occurs.
                let shared = |set, a: &Operand| 2 * set + u8::from(matches!(a, Operand::Constant(_)));
                let shared = instruction.arguments().iter().rev().fold(0, shared);
                let code = instruction.code;
                let run = [level.run::<1>(code, shared), level.run::<TILE>(code, shared)];
                steps.push(Step {
                    run,
                    code,
                    shared,
                    result,
                    arguments,
                    partner,
                    limit: program.limit(code),
                });
                result
            });
            temporaries.push(result);
            for (k, &argument) in instruction.arguments().iter().enumerate() {
                if let Operand::Temporary(i) = argument
                    && last_use[i as usize] == at
                    && !instruction.arguments()[..k].contains(&argument)
                {
                    slots.free.push(temporaries[i as usize]);
                }
            }
        }
        let outputs = program.outputs.iter().map(|&o| slot(o, &temporaries)).collect();
        let slots = slots.count as usize;
        let tile = if slots <= TILE_SLOTS { TILE } else { LANES };
        if tile == LANES {
            for step in &mut steps {
                step.run[1] = level.run::<LANES>(step.code, step.shared);
            }
        }
        Interpreter { steps, outputs, slots, pool, inputs, tile }
    }

    /// Rows for one thread, with the pool filled in.
    pub(crate) fn rows(&self, pool: &[f64]) -> Rows {
        let mut rows =
            Rows { single: Aligned::zeros(self.slots), tile: Aligned::zeros(self.slots * self.tile) };
        self.set_pool(&mut rows, pool);
        rows
    }

    /// Sets the pool of single states and of all lanes.
    pub(crate) fn set_pool(&self, rows: &mut Rows, pool: &[f64]) {
        rows.single.as_mut_slice()[..self.pool].copy_from_slice(pool);
        for (row, &value) in rows.tile.as_mut_slice().chunks_exact_mut(self.tile).zip(pool) {
            row.fill(value);
        }
    }

    /// Sets the pool of one lane.
    pub(crate) fn set_lane_pool(&self, rows: &mut Rows, lane: usize, pool: &[f64]) {
        for (row, &value) in rows.tile.as_mut_slice().chunks_exact_mut(self.tile).zip(pool) {
            row.as_chunks_mut::<LANES>().0.iter_mut().for_each(|block| block[lane] = value);
        }
    }

    /// Runs one state. The lengths are those of the program.
    pub(crate) fn run_single(&self, rows: &mut Rows, inputs: &[f64], outputs: &mut [f64]) {
        let slots = rows.single.as_mut_slice();
        slots[self.pool..self.pool + self.inputs].copy_from_slice(inputs);
        self.run_steps(0, slots);
        for (output, &slot) in outputs.iter_mut().zip(&self.outputs) {
            *output = slots[slot as usize];
        }
    }

    /// Runs blocks of lanes. The lengths are a common number of blocks times those of the program.
    pub(crate) fn run_lanes(&self, rows: &mut Rows, blocks: usize, inputs: &[f64], outputs: &mut [f64]) {
        let slots = rows.tile.as_mut_slice();
        let (wide_in, wide_out) = (self.inputs * LANES, self.outputs.len() * LANES);
        for first in (0..blocks).step_by(self.tile / LANES) {
            let here = (first..blocks).take(self.tile / LANES);
            for (column, block) in here.clone().enumerate() {
                let (source, _) = inputs[block * wide_in..][..wide_in].as_chunks::<LANES>();
                let rows = slots[self.pool * self.tile..].chunks_exact_mut(self.tile);
                for (row, source) in rows.zip(source) {
                    row.as_chunks_mut::<LANES>().0[column] = *source;
                }
            }
            self.run_steps(1, slots);
            for (column, block) in here.enumerate() {
                let (target, _) = outputs[block * wide_out..][..wide_out].as_chunks_mut::<LANES>();
                for (target, &slot) in target.iter_mut().zip(&self.outputs) {
                    *target = slots[slot as usize * self.tile..].as_chunks::<LANES>().0[column];
                }
            }
        }
    }

    /// Runs the tape on rows for a single state (0) or a tile (1).
    fn run_steps(&self, mode: usize, rows: &mut [f64]) {
        let lanes = if mode == 0 { 1 } else { self.tile };
        assert!(rows.len() >= self.slots * lanes);
        for step in &self.steps {
            // SAFETY: the tape names slots below `slots` only, for which the rows have room, and no step's result is one
            // of its arguments; the loop was chosen for this machine and this number of lanes.
            unsafe { (step.run[mode])(step, rows.as_mut_ptr()) }
        }
    }
}

/// Slots for temporaries, used again once they are free.
struct Slots {
    count: u32,
    free: Vec<u32>,
}

impl Slots {
    fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.count += 1;
            self.count - 1
        })
    }
}

/// Where each temporary is read last; outputs are never done with.
fn last_uses(program: &Program) -> Vec<usize> {
    let mut last = vec![usize::MAX; program.body.len()];
    let reads =
        program.body.iter().enumerate().flat_map(|(at, i)| i.arguments().iter().map(move |&a| (at, a)));
    for (at, operand) in reads.chain(program.outputs.iter().map(|&o| (usize::MAX, o))) {
        if let Operand::Temporary(i) = operand {
            last[i as usize] = at;
        }
    }
    last
}

/// For the first instruction of each pair, the place of the second.
fn partners(program: &Program) -> Vec<Option<usize>> {
    let mut first: FxHashMap<Operand, usize> = FxHashMap::default();
    let mut partners = vec![None; program.body.len()];
    for (at, instruction) in program.body.iter().enumerate() {
        if let Code::Paired(_) = instruction.code {
            let one = *first.entry(instruction.operands[0]).or_insert(at);
            partners[one] = (one != at).then_some(at);
        }
    }
    partners
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{self, Random, wild};

    #[test]
    fn random_programs_agree_with_the_meaning_of_each_instruction() {
        let (mut values, mut numbers) = (0, 0);
        for seed in 0..2500 {
            let mut random = Random::new(seed);
            let program = random::program(&mut random);
            let tape = Interpreter::new(&program);
            let pools: [Vec<f64>; LANES] = std::array::from_fn(|_| {
                let parameters: Vec<f64> =
                    program.parameters.iter().map(|_| random.between(-4.0, 4.0)).collect();
                random::pool(&program, &parameters)
            });
            let mut rows = tape.rows(&pools[0]);
            pools.iter().enumerate().for_each(|(lane, pool)| tape.set_lane_pool(&mut rows, lane, pool));
            let (each, produced, blocks) =
                (program.inputs.len(), program.outputs.len(), 1 + random.below(12));
            let number = |_| if random.chance(0.8) { random.between(-4.0, 4.0) } else { wild(&mut random) };
            let inputs: Vec<f64> = (0..blocks * each * LANES).map(number).collect();
            let mut lanes = vec![0.0; blocks * produced * LANES];
            tape.run_lanes(&mut rows, blocks, &inputs, &mut lanes);
            for lane in 0..blocks * LANES {
                let place = |i: usize, count: usize| (lane / LANES * count + i) * LANES + lane % LANES;
                let state: Vec<f64> = (0..each).map(|i| inputs[place(i, each)]).collect();
                let mut single = vec![0.0; produced];
                tape.run_single(&mut rows, &state, &mut single);
                let expected = |lane: usize| random::expect(&program, &pools[lane], &state);
                for (o, (alone, in_lane)) in expected(0).into_iter().zip(expected(lane % LANES)).enumerate() {
                    values += 1;
                    numbers += usize::from(alone.is_number());
                    for (expected, found) in [(alone, single[o]), (in_lane, lanes[place(o, produced)])] {
                        assert!(
                            expected.allows(found),
                            "seed {seed}: output {o} is {found:e}, not {expected:?}\n{program}"
                        );
                    }
                }
            }
        }
        assert!(10 * numbers > 7 * values, "too few numbers: {numbers} of {values}");
    }
}
