//! The interpreter: runs a program on every platform, one state or a tile of lanes at a time.
//!
//! The program becomes a tape of steps over numbered slots, each a row of as many numbers as the tile has lanes.
//! Every step is a loop over one row, which the compiler turns into vector instructions; the loop is built
//! several times, for the instruction sets the machine may have, and chosen at run time. What an
//! instruction means stands once, in [`Code::value`].

use crate::LANES;
use crate::aligned::Aligned;
use crate::instruction::{Code, Operand, Test, call};
use crate::program::Program;

/// An instruction with its slots resolved. The result's slot is none of the arguments' slots.
#[derive(Clone, Copy, Debug)]
struct Step {
    code: Code,
    result: u32,
    arguments: [u32; 4],
    limit: f64,
}

/// A program as a tape.
///
/// Slots: the pool (constants, parameters, uniforms), then the inputs, then temporaries.
#[derive(Debug)]
pub(crate) struct Interpreter {
    steps: Vec<Step>,
    outputs: Vec<u32>,
    slots: usize,
    pool: usize,
    inputs: usize,
    /// Lanes of a tile: as many as keep the slots in the first-level cache, within 8 to 64.
    tile: usize,
    level: Level,
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
        let mut last_use = vec![usize::MAX; program.body.len()];
        for (at, instruction) in program.body.iter().enumerate() {
            for &argument in instruction.arguments() {
                if let Operand::Temporary(i) = argument {
                    last_use[i as usize] = at;
                }
            }
        }
        for &output in &program.outputs {
            if let Operand::Temporary(i) = output {
                last_use[i as usize] = usize::MAX;
            }
        }

        let mut slots = pool + inputs;
        let mut free: Vec<u32> = Vec::new();
        let mut temporaries: Vec<u32> = Vec::with_capacity(program.body.len());
        let slot = |operand: Operand, temporaries: &[u32]| match operand {
            Operand::Temporary(i) => temporaries[i as usize],
            Operand::Input(i) => pool as u32 + i,
            shared => program.pool_place(shared).unwrap_or_default() as u32,
        };
        let mut steps = Vec::with_capacity(program.body.len());
        for (at, instruction) in program.body.iter().enumerate() {
            // The result's slot is taken before the arguments' are freed, so that they never coincide.
            let result = free.pop().unwrap_or_else(|| {
                slots += 1;
                slots as u32 - 1
            });
            let limit = match instruction.code {
                Code::Repair { limit, .. } => program.constants[limit as usize],
                _ => 0.0,
            };
            let arguments = instruction.operands.map(|o| slot(o, &temporaries));
            steps.push(Step { code: instruction.code, result, arguments, limit });
            temporaries.push(result);
            let mut seen = [None; 4];
            for (k, &argument) in instruction.arguments().iter().enumerate() {
                if let Operand::Temporary(i) = argument
                    && last_use[i as usize] == at
                    && !seen.contains(&Some(i))
                {
                    seen[k] = Some(i);
                    free.push(temporaries[i as usize]);
                }
            }
        }
        let outputs = program.outputs.iter().map(|&o| slot(o, &temporaries)).collect();
        let tile = [64, 32, 16].into_iter().find(|lanes| lanes * slots * 8 <= 32 * 1024).unwrap_or(LANES);
        Interpreter { steps, outputs, slots, pool, inputs, tile, level: Level::detect() }
    }

    /// Rows for one thread, with the pool filled in.
    pub(crate) fn rows(&self, pool: &[f64]) -> Rows {
        let mut rows =
            Rows { single: Aligned::zeros(self.slots), tile: Aligned::zeros(self.slots * self.tile) };
        self.set_pool(&mut rows, pool);
        rows
    }

    /// Spreads the pool over the lanes.
    pub(crate) fn set_pool(&self, rows: &mut Rows, pool: &[f64]) {
        rows.single.as_mut_slice()[..self.pool].copy_from_slice(pool);
        for (row, &value) in rows.tile.as_mut_slice().chunks_exact_mut(self.tile).zip(pool) {
            row.fill(value);
        }
    }

    /// Runs one state. The lengths are those of the program.
    pub(crate) fn run_single(&self, rows: &mut Rows, inputs: &[f64], outputs: &mut [f64]) {
        let slots = rows.single.as_mut_slice();
        slots[self.pool..self.pool + self.inputs].copy_from_slice(inputs);
        self.level.run::<1>(&self.steps, slots);
        for (output, &slot) in outputs.iter_mut().zip(&self.outputs) {
            *output = slots[slot as usize];
        }
    }

    /// Runs blocks of lanes. The lengths are a common number of blocks times those of the program.
    pub(crate) fn run_lanes(&self, rows: &mut Rows, blocks: usize, inputs: &[f64], outputs: &mut [f64]) {
        match self.tile {
            64 => self.run_tiles::<64>(rows, blocks, inputs, outputs),
            32 => self.run_tiles::<32>(rows, blocks, inputs, outputs),
            16 => self.run_tiles::<16>(rows, blocks, inputs, outputs),
            _ => self.run_tiles::<LANES>(rows, blocks, inputs, outputs),
        }
    }

    fn run_tiles<const L: usize>(&self, rows: &mut Rows, blocks: usize, inputs: &[f64], outputs: &mut [f64]) {
        let slots = rows.tile.as_mut_slice();
        let (wide_in, wide_out) = (self.inputs * LANES, self.outputs.len() * LANES);
        for first in (0..blocks).step_by(L / LANES) {
            let here = (first..blocks).take(L / LANES);
            for (column, block) in here.clone().enumerate() {
                let source = inputs[block * wide_in..][..wide_in].chunks_exact(LANES);
                let rows = slots[self.pool * L..].chunks_exact_mut(L);
                for (row, source) in rows.zip(source) {
                    row[column * LANES..][..LANES].copy_from_slice(source);
                }
            }
            self.level.run::<L>(&self.steps, slots);
            for (column, block) in here.enumerate() {
                let target = outputs[block * wide_out..][..wide_out].chunks_exact_mut(LANES);
                for (target, &slot) in target.zip(&self.outputs) {
                    target.copy_from_slice(&slots[slot as usize * L + column * LANES..][..LANES]);
                }
            }
        }
    }
}

/// The instruction set that the loops are built for.
#[derive(Clone, Copy, Debug)]
enum Level {
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    fn detect() -> Level {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
            {
                return Level::Avx512;
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                return Level::Avx2;
            }
        }
        Level::Baseline
    }

    fn run<const L: usize>(self, steps: &[Step], slots: &mut [f64]) {
        match self {
            Level::Baseline => run::<L>(steps, slots),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level is only made after the features were detected.
            Level::Avx2 => unsafe { run_avx2::<L>(steps, slots) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Level::Avx512 => unsafe { run_avx512::<L>(steps, slots) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_avx2<const L: usize>(steps: &[Step], slots: &mut [f64]) {
    run::<L>(steps, slots);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,fma")]
fn run_avx512<const L: usize>(steps: &[Step], slots: &mut [f64]) {
    run::<L>(steps, slots);
}

#[inline(always)]
fn run<const L: usize>(steps: &[Step], slots: &mut [f64]) {
    let base = slots.as_mut_ptr();
    for step in steps {
        let row = |slot: u32| {
            debug_assert!((slot as usize + 1) * L <= slots.len());
            // SAFETY: the tape only names slots below the number its rows were allocated for.
            unsafe { base.add(slot as usize * L).cast::<[f64; L]>() }
        };
        debug_assert!(!step.arguments.contains(&step.result));
        // SAFETY: rows are disjoint unless their slots are equal, and no argument's slot is the result's, so the
        // exclusive reference to the result overlaps none of the shared ones.
        let (y, [a, b, c, d]) = unsafe { (&mut *row(step.result), step.arguments.map(|slot| &*row(slot))) };
        macro_rules! each {
            ($code:expr) => {
                for i in 0..L {
                    y[i] = $code.value([a[i], b[i], c[i], d[i]], 0.0);
                }
            };
        }
        match step.code {
            Code::Add => each!(Code::Add),
            Code::Sub => each!(Code::Sub),
            Code::Mul => each!(Code::Mul),
            Code::Div => each!(Code::Div),
            Code::Sqrt => each!(Code::Sqrt),
            Code::MulAdd => each!(Code::MulAdd),
            Code::MulSub => each!(Code::MulSub),
            Code::NegMulAdd => each!(Code::NegMulAdd),
            Code::NegMulSub => each!(Code::NegMulSub),
            Code::Min => each!(Code::Min),
            Code::Max => each!(Code::Max),
            Code::Round => each!(Code::Round),
            Code::Floor => each!(Code::Floor),
            Code::And => each!(Code::And),
            Code::AndNot => each!(Code::AndNot),
            Code::Or => each!(Code::Or),
            Code::Xor => each!(Code::Xor),
            Code::AddInt => each!(Code::AddInt),
            Code::SubInt => each!(Code::SubInt),
            Code::ShiftLeft(n) => each!(Code::ShiftLeft(n)),
            Code::ShiftRight(n) => each!(Code::ShiftRight(n)),
            Code::Select(Test::Less) => each!(Code::Select(Test::Less)),
            Code::Select(Test::LessEqual) => each!(Code::Select(Test::LessEqual)),
            Code::Select(Test::Equal) => each!(Code::Select(Test::Equal)),
            Code::Select(Test::Differ) => each!(Code::Select(Test::Differ)),
            Code::Select(Test::NotLess) => each!(Code::Select(Test::NotLess)),
            Code::Select(Test::NotLessEqual) => each!(Code::Select(Test::NotLessEqual)),
            Code::SelectSign => each!(Code::SelectSign),
            Code::Call(op) | Code::Math(op) => {
                for i in 0..L {
                    y[i] = call(op, [a[i], b[i], c[i]]);
                }
            }
            Code::Repair { op, .. } => {
                *y = *a;
                if b.iter().fold(false, |any, &b| any | Test::NotLessEqual.holds(b, step.limit)) {
                    for i in (0..L).filter(|&i| Test::NotLessEqual.holds(b[i], step.limit)) {
                        y[i] = call(op, [c[i], d[i], 0.0]);
                    }
                }
            }
        }
    }
}
