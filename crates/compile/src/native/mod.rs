//! Native code: a program written out as machine instructions.
//!
//! [`pack`] puts equal instructions of one state into vectors, [`schedule`] orders what is to be done, and [`allocate`] walks
//! that [`sequence`] once, gives every value a register or a place in memory, and tells a [`target::Target`] what to write.
//! The target knows the machine: which operands an instruction takes, and its bytes. A new machine is a new target.
//!
//! Memory is written first and made executable then, never both at once.

#[cfg(target_arch = "x86_64")]
mod allocate;
#[cfg(target_arch = "x86_64")]
mod pack;
#[cfg(target_arch = "x86_64")]
mod schedule;
#[cfg(target_arch = "x86_64")]
mod sequence;
#[cfg(target_arch = "x86_64")]
mod target;
#[cfg(test)]
#[cfg(target_arch = "x86_64")]
mod tests;
#[cfg(target_arch = "x86_64")]
mod x86;

use crate::program::Program;
#[cfg(target_arch = "x86_64")]
use sequence::Sequence;
#[cfg(target_arch = "x86_64")]
use std::io;

/// The instructions to use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Isa {
    /// 256-bit vectors with fused products.
    Avx2,
    /// 512-bit vectors and 32 registers.
    Avx512,
}

impl Isa {
    /// Whether this processor has them.
    pub(crate) fn available(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        match self {
            Isa::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            Isa::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && Isa::Avx2.available()
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        false
    }

    /// How many registers hold lanes.
    pub(crate) fn registers(self) -> usize {
        match self {
            Isa::Avx2 => 16,
            Isa::Avx512 => 32,
        }
    }

    /// How many times a pool entry is repeated in memory for single states.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn pool_stride(self) -> usize {
        match self {
            Isa::Avx2 => 4,
            Isa::Avx512 => 1,
        }
    }

    /// How many lanes a register holds.
    #[cfg(target_arch = "x86_64")]
    fn lanes(self) -> usize {
        match self {
            Isa::Avx2 => 4,
            Isa::Avx512 => 8,
        }
    }

    /// Where a pool entry begins for the function of lanes. AVX-512 broadcasts constants as it reads them; all else has
    /// a value for every lane of a register.
    #[cfg(target_arch = "x86_64")]
    fn lane_place(self, entry: usize, constants: usize) -> usize {
        match self {
            Isa::Avx2 => 4 * entry,
            Isa::Avx512 if entry < constants => entry,
            Isa::Avx512 => constants.next_multiple_of(8) + 8 * (entry - constants),
        }
    }
}

/// When instructions of one state are packed into vectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Packing {
    Never,
    /// Where it gains.
    Gainful,
    /// Wherever it can be done.
    #[cfg(test)]
    Eager,
}

/// Why a program has no native code.
#[derive(Debug, thiserror::Error)]
pub enum NativeError {
    /// The processor lacks the instructions.
    #[error("this processor lacks the instructions: use the interpreter")]
    Unavailable,
    /// An address would not fit an instruction.
    #[cfg(target_arch = "x86_64")]
    #[error("the program has {count} {what}, native code at most {limit}: use the interpreter")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much there is.
        count: usize,
        /// How much there can be.
        limit: usize,
    },
    /// The operating system gave no executable memory.
    #[cfg(target_arch = "x86_64")]
    #[error("the operating system refused {bytes} bytes of executable memory: {source}")]
    Memory {
        /// The bytes asked for.
        bytes: usize,
        /// What it said.
        source: io::Error,
    },
}

/// A program's machine code: one function for states one by one, one for blocks of eight lanes.
#[cfg(target_arch = "x86_64")]
pub(crate) struct Native {
    memory: memmap2::Mmap,
    scalar: x86::Function,
    lanes: x86::Function,
    isa: Isa,
    code_len: usize,
    /// The first pool entry that may differ between lanes.
    constants: usize,
    pool_len: usize,
    /// How many steps of the function of one state work on several lanes.
    #[cfg(test)]
    packed: usize,
}

#[cfg(target_arch = "x86_64")]
impl Native {
    /// The most inputs, outputs, pool entries or instructions: 32-bit displacements reach no further.
    const LIMIT: usize = 1 << 24;

    /// Writes a program's machine code.
    pub(crate) fn compile(program: &Program, isa: Isa, packing: Packing) -> Result<Native, NativeError> {
        if !isa.available() {
            return Err(NativeError::Unavailable);
        }
        let sizes = [
            ("inputs", program.inputs.len()),
            ("outputs", program.outputs.len()),
            ("constants, parameters and uniforms", program.pool_len()),
            ("instructions", program.body.len()),
        ];
        if let Some(&(what, count)) = sizes.iter().find(|(_, count)| *count > Self::LIMIT) {
            return Err(NativeError::TooLarge { what, count, limit: Self::LIMIT });
        }
        let mut code = Vec::new();
        let (alive, width) = (isa.registers() - 10, isa.lanes());
        let packed = match packing {
            Packing::Never => None,
            Packing::Gainful => pack::pack(program, isa, width, false),
            #[cfg(test)]
            Packing::Eager => pack::pack(program, isa, width, true),
        };
        let packed = packed.map(|mut sequence| {
            schedule::schedule_steps(&mut sequence, alive);
            sequence
        });
        let program = &schedule::schedule(program, alive);
        let single = packed.unwrap_or_else(|| Sequence::of(program, 1));
        let scalar = x86::compile(&mut code, program, &single, isa, false);
        let lanes = x86::compile(&mut code, program, &Sequence::of(program, width), isa, true);
        let bytes = code.len();
        let memory = executable(&code).map_err(|source| NativeError::Memory { bytes, source })?;
        let (constants, pool_len) = (program.constants.len(), program.pool_len());
        Ok(Native {
            memory,
            scalar,
            lanes,
            isa,
            code_len: bytes,
            constants,
            pool_len,
            #[cfg(test)]
            packed: single.steps.iter().filter(|step| step.width > 1).count(),
        })
    }

    /// `f64`s per pool entry for single states: the value, repeated.
    pub(crate) fn pool_stride(&self) -> usize {
        self.isa.pool_stride()
    }

    /// `f64`s of the pools of eight lanes.
    pub(crate) fn lane_pools_len(&self) -> usize {
        self.each_pool() * (8 / self.isa.lanes())
    }

    /// `f64`s of the pool that one call of the function of lanes reads.
    fn each_pool(&self) -> usize {
        self.isa.lane_place(self.pool_len, self.constants)
    }

    /// Writes one lane's pool to where the function of lanes reads it.
    pub(crate) fn set_lane_pool(&self, pools: &mut [f64], lane: usize, pool: &[f64]) {
        let width = self.isa.lanes();
        let pools = &mut pools[lane / width * self.each_pool()..][..self.each_pool()];
        let shared = if self.isa == Isa::Avx512 { self.constants } else { 0 };
        let (constants, rest) = pool.split_at(shared);
        pools[..shared].copy_from_slice(constants);
        let rows = pools[self.isa.lane_place(shared, self.constants)..].chunks_exact_mut(width);
        rows.zip(rest).for_each(|(row, &value)| row[lane % width] = value);
    }

    /// `f64`s of scratch memory, aligned to 64 bytes, that one thread needs.
    pub(crate) fn scratch_len(&self) -> usize {
        self.scalar.scratch.max(self.lanes.scratch)
    }

    /// Bytes of machine code.
    pub(crate) fn code_len(&self) -> usize {
        self.code_len
    }

    /// Evaluates states that lie one after the other.
    ///
    /// # Safety
    /// For `states` states, `inputs` must be valid for reads and `outputs` for writes and reads of the program's
    /// inputs and outputs, without overlap. `pool` must be aligned to 64 bytes and hold the program's pool, every
    /// entry [`Native::pool_stride`] times. `scratch` must be aligned to 64 bytes, valid for
    /// [`Native::scratch_len`] values, and used by nothing else meanwhile.
    pub(crate) unsafe fn run_scalar(
        &self,
        inputs: *const f64,
        outputs: *mut f64,
        pool: *const f64,
        scratch: *mut f64,
        states: usize,
    ) {
        let function = self.entry(self.scalar);
        // SAFETY: the code was written for this signature and touches only what the caller vouches for.
        unsafe { function(inputs, outputs, pool, scratch, states) }
    }

    /// Evaluates blocks of eight lanes: component i of block b in lane j is at `(b * components + i) * 8 + j`.
    ///
    /// # Safety
    /// As for [`Native::run_scalar`], with eight states per block, and the pools of [`Native::lane_pools_len`] values in
    /// place of the pool, every lane of which [`Native::set_lane_pool`] has written.
    pub(crate) unsafe fn run_lanes(
        &self,
        inputs: *const f64,
        outputs: *mut f64,
        pools: *const f64,
        scratch: *mut f64,
        blocks: usize,
    ) {
        let function = self.entry(self.lanes);
        let width = self.isa.lanes();
        for part in 0..8 / width {
            let (inputs, outputs) = (inputs.wrapping_add(part * width), outputs.wrapping_add(part * width));
            let pool = pools.wrapping_add(part * self.each_pool());
            // SAFETY: the code was written for this signature and touches only what the caller vouches for: of every
            // component of a block, and of the pools, the part for these lanes.
            unsafe { function(inputs, outputs, pool, scratch, blocks) }
        }
    }

    fn entry(&self, function: x86::Function) -> x86::Entry {
        let address = self.memory[function.entry..].as_ptr();
        // SAFETY: a function of this type was written at its offset, and the memory, executable and never
        // changed again, lives as long as `self`.
        unsafe { std::mem::transmute::<*const u8, x86::Entry>(address) }
    }
}

/// Executable memory that holds the code.
#[cfg(target_arch = "x86_64")]
fn executable(code: &[u8]) -> io::Result<memmap2::Mmap> {
    let mut memory = memmap2::MmapMut::map_anon(code.len())?;
    memory.copy_from_slice(code);
    memory.make_exec()
}

/// There is no native code for this machine: the type has no value.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) enum Native {}

#[cfg(not(target_arch = "x86_64"))]
impl Native {
    pub(crate) fn compile(_: &Program, _: Isa, _: Packing) -> Result<Native, NativeError> {
        Err(NativeError::Unavailable)
    }

    pub(crate) fn pool_stride(&self) -> usize {
        match *self {}
    }

    pub(crate) fn lane_pools_len(&self) -> usize {
        match *self {}
    }

    pub(crate) fn set_lane_pool(&self, _: &mut [f64], _: usize, _: &[f64]) {
        match *self {}
    }

    pub(crate) fn scratch_len(&self) -> usize {
        match *self {}
    }

    pub(crate) fn code_len(&self) -> usize {
        match *self {}
    }

    /// # Safety
    /// Never called: there is no value to call it on.
    pub(crate) unsafe fn run_scalar(&self, _: *const f64, _: *mut f64, _: *const f64, _: *mut f64, _: usize) {
        match *self {}
    }

    /// # Safety
    /// Never called: there is no value to call it on.
    pub(crate) unsafe fn run_lanes(&self, _: *const f64, _: *mut f64, _: *const f64, _: *mut f64, _: usize) {
        match *self {}
    }
}
