//! Native code against the definition of the instructions, on random programs.

use super::{Isa, Native, Packing};
use crate::instruction::Operand;
use crate::program::Program;
use crate::random::{self, Expected, Random, wild};
use std::fmt;
use std::fs::File;

/// A way to run a program.
#[derive(Clone, Copy, Debug)]
struct Mode {
    isa: Isa,
    lanes: bool,
    /// What is packed.
    packing: Packing,
}

const MODES: [Mode; 8] = [
    Mode { isa: Isa::Avx512, lanes: true, packing: Packing::Gainful },
    Mode { isa: Isa::Avx512, lanes: false, packing: Packing::Never },
    Mode { isa: Isa::Avx512, lanes: false, packing: Packing::Gainful },
    Mode { isa: Isa::Avx512, lanes: false, packing: Packing::Eager },
    Mode { isa: Isa::Avx2, lanes: true, packing: Packing::Gainful },
    Mode { isa: Isa::Avx2, lanes: false, packing: Packing::Never },
    Mode { isa: Isa::Avx2, lanes: false, packing: Packing::Gainful },
    Mode { isa: Isa::Avx2, lanes: false, packing: Packing::Eager },
];

/// Memory between two guards that must not change.
struct Guarded {
    memory: Memory,
    start: usize,
    len: usize,
}

enum Memory {
    Heap(Vec<f64>),
    /// Ends where reading is a fault: a page behind the end of the mapped file.
    Edge(memmap2::MmapMut),
}

/// A NaN that no program computes.
const GUARD: u64 = 0x7FF8_DEAD_BEEF_0001;
const GUARDS: usize = 16;
/// Bytes in the file behind memory with an edge; more than any random program needs.
const FILE: usize = 1 << 20;

impl Guarded {
    /// Memory whose address is `offset` values behind a multiple of 64 bytes.
    fn new(len: usize, offset: usize) -> Guarded {
        let memory = vec![f64::from_bits(GUARD); len + 2 * GUARDS + 16];
        let start = memory[GUARDS..].as_ptr().align_offset(64) + GUARDS + offset;
        Guarded { memory: Memory::Heap(memory), start, len }
    }

    /// Memory up to an edge, as far as the alignment (in values) allows.
    fn before_edge(file: &File, len: usize, alignment: usize) -> Guarded {
        let start = (FILE / 8 - len) / alignment * alignment;
        // SAFETY: nothing else uses the file, and the mapping is private.
        let memory = unsafe { memmap2::MmapOptions::new().len(FILE + 4096).map_copy(file) }.unwrap();
        let mut guarded = Guarded { memory: Memory::Edge(memory), start, len };
        guarded.all()[start - GUARDS..].fill(f64::from_bits(GUARD));
        guarded
    }

    fn all(&mut self) -> &mut [f64] {
        match &mut self.memory {
            Memory::Heap(memory) => memory,
            // SAFETY: these bytes are mapped, aligned to a page, and any bits are a number.
            Memory::Edge(memory) => unsafe {
                std::slice::from_raw_parts_mut(memory.as_mut_ptr().cast(), FILE / 8)
            },
        }
    }

    fn slice(&mut self) -> &mut [f64] {
        let range = self.start..self.start + self.len;
        &mut self.all()[range]
    }

    fn pointer(&mut self) -> *mut f64 {
        let start = self.start;
        self.all()[start..].as_mut_ptr()
    }

    fn is_intact(&mut self) -> bool {
        let (start, end) = (self.start, self.start + self.len);
        let all = self.all();
        all[start - GUARDS..start].iter().chain(&all[end..]).all(|v| v.to_bits() == GUARD)
    }
}

/// Input values and parameters of a program, and how to lay them out.
struct Data {
    /// For each lane.
    inputs: Vec<Vec<f64>>,
    /// For each lane of a block; single states have the first.
    pools: [Vec<f64>; 8],
    offset: usize,
}

impl Data {
    fn new(program: &Program, random: &mut Random, lanes: usize) -> Data {
        let mut inputs = Vec::with_capacity(lanes);
        for _ in 0..lanes {
            let tame = random.chance(0.6);
            let value = |_| if tame { random.between(-4.0, 4.0) } else { wild(random) };
            inputs.push((0..program.inputs.len()).map(value).collect());
        }
        let pools = std::array::from_fn(|_| {
            let value = |_| if random.chance(0.8) { random.between(-4.0, 4.0) } else { wild(random) };
            let parameters: Vec<f64> = (0..program.parameters.len()).map(value).collect();
            random::pool(program, &parameters)
        });
        Data { inputs, pools, offset: random.below(8) }
    }

    fn expected(&self, program: &Program, mode: Mode) -> Vec<Vec<Expected>> {
        let pool = |lane: usize| &self.pools[if mode.lanes { lane % 8 } else { 0 }];
        let lanes = self.inputs.iter().enumerate();
        lanes.map(|(lane, inputs)| random::expect(program, pool(lane), inputs)).collect()
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

/// Runs a program on all data and compares. With a file, all memory ends at an edge.
fn check(
    program: &Program,
    data: &Data,
    expected: &[Vec<Expected>],
    mode: Mode,
    file: Option<&File>,
) -> Result<usize, Failure> {
    let guarded = |len: usize, offset: usize, alignment: usize| match file {
        Some(file) => Guarded::before_edge(file, len, alignment),
        None => Guarded::new(len, offset),
    };
    let native = Native::compile(program, mode.isa, mode.packing).unwrap();
    let (inputs, outputs) = (program.inputs.len(), program.outputs.len());
    let lanes = data.inputs.len();
    let place = |lane: usize, i: usize, count: usize| match mode.lanes {
        true => (lane / 8 * count + i) * 8 + lane % 8,
        false => lane * count + i,
    };
    let mut from = guarded(lanes * inputs, data.offset, 1);
    for (lane, values) in data.inputs.iter().enumerate() {
        for (i, &value) in values.iter().enumerate() {
            from.slice()[place(lane, i, inputs)] = value;
        }
    }
    let [single, ..] = &data.pools;
    let stride = native.pool_stride();
    let len = if mode.lanes { native.lane_pools_len() } else { single.len() * stride };
    let mut pool = guarded(len, 0, 8);
    if mode.lanes {
        for (lane, values) in data.pools.iter().enumerate() {
            native.set_lane_pool(pool.slice(), lane, values);
        }
    } else {
        for (entry, &value) in pool.slice().chunks_exact_mut(stride).zip(single) {
            entry.fill(value);
        }
    }
    let mut to = guarded(lanes * outputs, (data.offset + 3) % 8, 1);
    let mut scratch = guarded(native.scratch_len(), 0, 8);
    // SAFETY: the memory has the sizes that the program asks for, pool and scratch are aligned.
    unsafe {
        let (from, to, pool, scratch) = (from.pointer(), to.pointer(), pool.pointer(), scratch.pointer());
        match mode.lanes {
            true => native.run_lanes(from, to, pool, scratch, lanes / 8),
            false => native.run_scalar(from, to, pool, scratch, lanes),
        }
    }
    let memories =
        [(&mut from, "inputs"), (&mut to, "outputs"), (&mut pool, "pool"), (&mut scratch, "scratch")];
    for (memory, what) in memories {
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
    Ok(native.packed)
}

/// Runs random programs in all modes that the processor has, beginning with a seed.
fn fuzz(first: u64, programs: u64, file: Option<&File>) {
    let modes: Vec<Mode> = MODES.into_iter().filter(|mode| mode.isa.available()).collect();
    let (mut values, mut numbers, mut instructions, mut packed, mut with_packs) = (0, 0, 0, 0, 0);
    for seed in first..first + programs {
        let mut random = Random::new(seed);
        let program = random::program(&mut random);
        instructions += program.body.len() as u64;
        let blocks = random.pick(&[0, 1, 1, 2, 2, 5]);
        let data = Data::new(&program, &mut random, 8 * blocks);
        let expected = [true, false]
            .map(|lanes| data.expected(&program, Mode { isa: Isa::Avx2, lanes, packing: Packing::Gainful }));
        for (output, expected) in expected[0].iter().flat_map(|lane| program.outputs.iter().zip(lane)) {
            if matches!(output, Operand::Temporary(_)) {
                values += 1;
                numbers += u64::from(expected.is_number());
            }
        }
        for &mode in &modes {
            let result = check(&program, &data, &expected[usize::from(!mode.lanes)], mode, file);
            if let (Ok(steps), false) = (&result, mode.lanes) {
                packed += steps;
                with_packs += usize::from(*steps > 0);
            }
            if let Err(failure) = result {
                let rerun = |p: &Program| check(p, &data, &data.expected(p, mode), mode, file);
                let small = random::shrink(program.clone(), |p| rerun(p).is_err());
                let last = rerun(&small).map_or_else(|failure| failure.to_string(), |_| "nothing".into());
                panic!("seed {seed}, {mode:?}: {failure}\nmade smaller: {last}\n{small}");
            }
        }
    }
    println!(
        "{programs} programs of {} instructions on average in {} modes: of {values} computed values, {numbers} \
         were numbers to compare with; {packed} packed steps in {with_packs} functions",
        instructions / programs,
        modes.len()
    );
    assert!(
        modes.is_empty() || with_packs > programs as usize / 2 && packed > 10 * with_packs,
        "too few packs"
    );
    assert!(modes.is_empty() || numbers * 10 > values * 7, "too few numbers: {numbers} of {values}");
}

#[test]
fn random_programs() {
    fuzz(0, 2500, None);
}

/// `FUZZ_SEED` and `FUZZ_PROGRAMS` choose where to begin and how many.
#[test]
#[ignore = "long"]
fn random_programs_long() {
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().map_or(default, |text| text.parse().expect("a whole number"))
    };
    fuzz(number("FUZZ_SEED", 1_000_000), number("FUZZ_PROGRAMS", 200_000), None);
}

/// An instruction that reads more than its operand is harmless until memory ends there.
#[test]
#[cfg(unix)]
fn nothing_is_read_beyond_the_end_of_memory() {
    let path = std::env::temp_dir().join(format!("leastaction-edge-{}", std::process::id()));
    let file = File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    file.set_len(FILE as u64).unwrap();
    fuzz(50_000, 400, Some(&file));
}

#[test]
fn a_program_without_anything_runs() {
    let program = Program::build(&[], &[], &[]).unwrap();
    for mode in MODES.into_iter().filter(|mode| mode.isa.available()) {
        let data = Data::new(&program, &mut Random::new(1), 16);
        check(&program, &data, &data.expected(&program, mode), mode, None).unwrap();
    }
}

#[test]
fn threads_can_share_native_code() {
    fn shared<T: Send + Sync>() {}
    shared::<Native>();
}
