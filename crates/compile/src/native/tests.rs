//! Native code against the definition of the instructions, on random programs.

use super::{Isa, Native};
use crate::program::Program;
use crate::random::{self, Expected, Random};
use std::fmt;

/// A way to run a program.
#[derive(Clone, Copy, Debug)]
struct Mode {
    isa: Isa,
    lanes: bool,
}

const MODES: [Mode; 4] = [
    Mode { isa: Isa::Avx512, lanes: true },
    Mode { isa: Isa::Avx512, lanes: false },
    Mode { isa: Isa::Avx2, lanes: true },
    Mode { isa: Isa::Avx2, lanes: false },
];

/// Memory between two guards that must not change.
struct Guarded {
    memory: Vec<f64>,
    start: usize,
    len: usize,
}

/// A NaN that no program computes.
const GUARD: u64 = 0x7FF8_DEAD_BEEF_0001;
const GUARDS: usize = 16;

impl Guarded {
    /// Memory whose address is `offset` values behind a multiple of 64 bytes.
    fn new(len: usize, offset: usize) -> Guarded {
        let memory = vec![f64::from_bits(GUARD); len + 2 * GUARDS + 16];
        let start = memory[GUARDS..].as_ptr().align_offset(64) + GUARDS + offset;
        Guarded { memory, start, len }
    }

    fn slice(&mut self) -> &mut [f64] {
        &mut self.memory[self.start..self.start + self.len]
    }

    fn pointer(&mut self) -> *mut f64 {
        self.memory[self.start..].as_mut_ptr()
    }

    fn is_intact(&self) -> bool {
        let (before, rest) = self.memory.split_at(self.start);
        before.iter().chain(&rest[self.len..]).all(|v| v.to_bits() == GUARD)
    }
}

/// Input values and parameters of a program, and how to lay them out.
struct Data {
    /// For each lane.
    inputs: Vec<Vec<f64>>,
    pool: Vec<f64>,
    offset: usize,
}

impl Data {
    fn new(program: &Program, random: &mut Random, lanes: usize) -> Data {
        let mut inputs = Vec::with_capacity(lanes);
        for _ in 0..lanes {
            let tame = random.percent(60);
            let value = |_| if tame { random.tame() } else { random.wild() };
            inputs.push((0..program.inputs.len()).map(value).collect());
        }
        let value = |_| if random.percent(80) { random.tame() } else { random.wild() };
        let parameters: Vec<f64> = (0..program.parameters.len()).map(value).collect();
        Data { inputs, pool: random::pool(program, &parameters), offset: random.below(8) }
    }

    fn expected(&self, program: &Program) -> Vec<Vec<Expected>> {
        self.inputs.iter().map(|inputs| random::expect(program, &self.pool, inputs)).collect()
    }
}

/// What went wrong.
#[derive(Debug)]
enum Failure {
    Guard(&'static str),
    Value { lane: usize, output: usize, expected: Expected, found: f64 },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Guard(what) => write!(f, "memory beside the {what} was changed"),
            Failure::Value { lane, output, expected, found } => {
                write!(f, "lane {lane}, output {output}: expected ")?;
                match expected {
                    Expected::Bits(bits) => write!(f, "{:e} ({bits:#018x})", f64::from_bits(*bits))?,
                    other => write!(f, "{other:?}")?,
                }
                write!(f, ", found {found:e} ({:#018x})", found.to_bits())
            }
        }
    }
}

/// Runs a program on all data and compares.
fn check(program: &Program, data: &Data, expected: &[Vec<Expected>], mode: Mode) -> Result<(), Failure> {
    let native = Native::compile(program, mode.isa).unwrap();
    let (inputs, outputs) = (program.inputs.len(), program.outputs.len());
    let lanes = data.inputs.len();
    let place = |lane: usize, i: usize, count: usize| match mode.lanes {
        true => (lane / 8 * count + i) * 8 + lane % 8,
        false => lane * count + i,
    };
    let mut from = Guarded::new(lanes * inputs, data.offset);
    for (lane, values) in data.inputs.iter().enumerate() {
        for (i, &value) in values.iter().enumerate() {
            from.slice()[place(lane, i, inputs)] = value;
        }
    }
    let stride = native.pool_stride();
    let mut pool = Guarded::new(data.pool.len() * stride, 0);
    for (entry, &value) in pool.slice().chunks_exact_mut(stride).zip(&data.pool) {
        entry.fill(value);
    }
    let mut to = Guarded::new(lanes * outputs, (data.offset + 3) % 8);
    let mut scratch = Guarded::new(native.scratch_len(), 0);
    // SAFETY: the memory has the sizes that the program asks for, pool and scratch are aligned.
    unsafe {
        let (from, to, pool, scratch) = (from.pointer(), to.pointer(), pool.pointer(), scratch.pointer());
        match mode.lanes {
            true => native.run_lanes(from, to, pool, scratch, lanes / 8),
            false => native.run_scalar(from, to, pool, scratch, lanes),
        }
    }
    for (memory, what) in [(&from, "inputs"), (&to, "outputs"), (&pool, "pool"), (&scratch, "scratch")] {
        if !memory.is_intact() {
            return Err(Failure::Guard(what));
        }
    }
    for (lane, expected) in expected.iter().enumerate() {
        for (output, &expected) in expected.iter().enumerate() {
            let found = to.slice()[place(lane, output, outputs)];
            if !expected.allows(found) {
                return Err(Failure::Value { lane, output, expected, found });
            }
        }
    }
    Ok(())
}

/// Runs random programs in all modes that the processor has, beginning with a seed.
fn fuzz(first: u64, programs: u64) {
    let modes: Vec<Mode> = MODES.into_iter().filter(|mode| mode.isa.available()).collect();
    let (mut values, mut numbers, mut instructions) = (0u64, 0u64, 0u64);
    for seed in first..first + programs {
        let mut random = Random::new(seed);
        let program = random::program(&mut random);
        instructions += program.body.len() as u64;
        let blocks = random.pick(&[0, 1, 1, 2, 2, 5]);
        let data = Data::new(&program, &mut random, 8 * blocks);
        let expected = data.expected(&program);
        values += expected.iter().map(Vec::len).sum::<usize>() as u64;
        numbers += expected.iter().flatten().filter(|e| e.is_number()).count() as u64;
        for &mode in &modes {
            if let Err(failure) = check(&program, &data, &expected, mode) {
                let failing = |p: &Program| check(p, &data, &data.expected(p), mode).is_err();
                let small = match program.uniforms.is_empty() {
                    true => random::shrink(program.clone(), failing),
                    false => program.clone(),
                };
                let last = check(&small, &data, &data.expected(&small), mode);
                panic!("seed {seed}, {mode:?}: {failure}\nshrunk: {last:?}\n{small}");
            }
        }
    }
    println!(
        "{programs} programs of {} instructions in {} modes: {numbers} of {values} values compared as numbers",
        instructions / programs.max(1),
        modes.len()
    );
    assert!(numbers * 10 > values * 6, "too few numbers: {numbers} of {values}");
}

#[test]
fn random_programs() {
    fuzz(0, 2500);
}

/// `FUZZ_SEED` and `FUZZ_PROGRAMS` choose where to begin and how many.
#[test]
#[ignore = "long"]
fn random_programs_long() {
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().map_or(default, |text| text.parse().expect("a whole number"))
    };
    fuzz(number("FUZZ_SEED", 1_000_000), number("FUZZ_PROGRAMS", 200_000));
}
