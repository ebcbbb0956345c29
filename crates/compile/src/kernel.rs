//! The kernel: a program compiled for a backend, and the evaluator that runs it.

use crate::aligned::Aligned;
use crate::interpreter::{Interpreter, Rows};
use crate::native::{Isa, Native, NativeError, Packing};
use crate::program::Program;
use leastaction_expr::Symbol;
use rustc_hash::FxHashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The number of lanes of a block, on every backend.
pub const LANES: usize = 8;

/// The environment variable that forces a backend.
pub const BACKEND_VARIABLE: &str = "LEASTACTION_BACKEND";

/// What runs a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// A tape over rows of lanes, on every platform.
    Interpreter,
    /// Native code for x86-64 with AVX2 and FMA.
    Avx2,
    /// Native code for x86-64 with AVX-512 (F, DQ and VL).
    Avx512,
}

impl Backend {
    /// Every backend, slowest first.
    pub const ALL: [Backend; 3] = [Backend::Interpreter, Backend::Avx2, Backend::Avx512];

    /// Whether this machine can run it.
    #[must_use]
    pub fn is_available(self) -> bool {
        self.isa().is_none_or(Isa::available)
    }

    /// The fastest that this machine can run.
    #[must_use]
    pub fn best() -> Backend {
        Backend::ALL.into_iter().rfind(|b| b.is_available()).unwrap_or(Backend::Interpreter)
    }

    fn isa(self) -> Option<Isa> {
        match self {
            Backend::Interpreter => None,
            Backend::Avx2 => Some(Isa::Avx2),
            Backend::Avx512 => Some(Isa::Avx512),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Backend::Interpreter => "interpreter",
            Backend::Avx2 => "avx2",
            Backend::Avx512 => "avx512",
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Backend {
    type Err = CompileError;

    fn from_str(name: &str) -> Result<Backend, CompileError> {
        let backend = Backend::ALL.into_iter().find(|b| b.name() == name);
        backend.ok_or_else(|| CompileError::UnknownBackend { name: name.to_owned() })
    }
}

/// Why a program cannot be compiled for a backend.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// No backend has this name.
    #[error(
        "there is no backend `{name}`: set {BACKEND_VARIABLE} to interpreter, avx2 or avx512, or unset it"
    )]
    UnknownBackend {
        /// The name that was asked for.
        name: String,
    },
    /// The machine cannot run the backend that was asked for.
    #[error(
        "this machine cannot run the backend {backend}: unset {BACKEND_VARIABLE}, or set it to {}",
        Backend::best()
    )]
    Unavailable {
        /// The backend that was asked for.
        backend: Backend,
    },
    /// Native code was asked for and could not be made.
    #[error("no native code for {backend}: {source}")]
    Native {
        /// The backend that was asked for.
        backend: Backend,
        /// What stood in the way.
        source: NativeError,
    },
}

/// A compiled program. Cheap to clone and shared between threads; each thread makes its own [`Evaluator`].
#[derive(Clone)]
pub struct Kernel {
    compiled: Arc<Compiled>,
}

struct Compiled {
    /// The program as it was given.
    source: Program,
    /// The program as its backend runs it: functions whole for the interpreter, written out for native code.
    program: Program,
    backend: Backend,
    engine: Engine,
}

enum Engine {
    Interpreter(Interpreter),
    Native(Native),
}

impl Kernel {
    /// Compiles for the backend that `LEASTACTION_BACKEND` names, or else for the fastest the machine can run,
    /// falling back to the interpreter if the operating system allows no native code.
    ///
    /// # Errors
    /// [`CompileError`] if the variable names a backend that does not exist or cannot run here.
    pub fn compile(program: Program) -> Result<Kernel, CompileError> {
        Kernel::compiled(program, false)
    }

    /// Compiles in less time, for what is evaluated now and then or only in lanes: instructions of a single state are not packed into vectors. Results
    /// have the same bits.
    ///
    /// # Errors
    /// As [`Kernel::compile`].
    pub fn compile_lightly(program: Program) -> Result<Kernel, CompileError> {
        Kernel::compiled(program, true)
    }

    fn compiled(program: Program, lightly: bool) -> Result<Kernel, CompileError> {
        match std::env::var(BACKEND_VARIABLE) {
            Ok(name) if !name.is_empty() => Kernel::on_backend(program, name.parse()?, lightly),
            _ => match Kernel::on_backend(program.clone(), Backend::best(), lightly) {
                Err(CompileError::Native { .. }) => {
                    Kernel::on_backend(program, Backend::Interpreter, lightly)
                }
                other => other,
            },
        }
    }

    /// Compiles for one backend.
    ///
    /// # Errors
    /// [`CompileError`] if this machine cannot run it.
    pub fn with_backend(program: Program, backend: Backend) -> Result<Kernel, CompileError> {
        Kernel::on_backend(program, backend, false)
    }

    fn on_backend(program: Program, backend: Backend, lightly: bool) -> Result<Kernel, CompileError> {
        if !backend.is_available() {
            return Err(CompileError::Unavailable { backend });
        }
        let source = program;
        let (program, engine) = match backend.isa() {
            None => {
                let program = source.clone().with_powers_expanded();
                let tape = Interpreter::new(&program);
                (program, Engine::Interpreter(tape))
            }
            Some(isa) => {
                let program = source.expanded();
                let packing = if lightly { Packing::Never } else { Packing::Gainful };
                let native = Native::compile(&program, isa, packing);
                let native = native.map_err(|source| CompileError::Native { backend, source })?;
                (program, Engine::Native(native))
            }
        };
        Ok(Kernel { compiled: Arc::new(Compiled { source, program, backend, engine }) })
    }

    /// The program as its backend runs it.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.compiled.program
    }

    /// The program as it was given, with its functions whole: what [`crate::Assembly`] and [`crate::Series`] take.
    #[must_use]
    pub fn source(&self) -> &Program {
        &self.compiled.source
    }

    /// The backend that runs it.
    #[must_use]
    pub fn backend(&self) -> Backend {
        self.compiled.backend
    }

    /// The size of the native code in bytes; 0 for the interpreter.
    #[must_use]
    pub fn code_len(&self) -> usize {
        match &self.compiled.engine {
            Engine::Interpreter(_) => 0,
            Engine::Native(native) => native.code_len(),
        }
    }

    /// Parameter values in the program's order, from names.
    ///
    /// # Errors
    /// [`ArgumentError`] for a parameter that is missing or given twice, and for a name the program does not have.
    pub fn parameters(&self, values: &[(&str, f64)]) -> Result<Vec<f64>, ArgumentError> {
        let mut given: FxHashMap<&str, f64> = FxHashMap::default();
        for &(name, value) in values {
            if given.insert(name, value).is_some() {
                return Err(ArgumentError::DuplicateParameter { name: name.to_owned() });
            }
        }
        let mut take = |symbol: &Symbol| {
            let value = given.remove(symbol.to_string().as_str());
            value.ok_or_else(|| ArgumentError::MissingParameter { symbol: symbol.clone() })
        };
        let ordered = self.program().parameters().iter().map(&mut take).collect::<Result<_, _>>()?;
        match values.iter().find(|(name, _)| given.contains_key(name)) {
            Some((name, _)) => Err(ArgumentError::UnknownParameter { name: (*name).to_owned() }),
            None => Ok(ordered),
        }
    }

    /// An evaluator with these parameters, for one thread.
    ///
    /// # Errors
    /// [`ArgumentError`] if the number of parameters is wrong or one is not finite.
    pub fn evaluator(&self, parameters: &[f64]) -> Result<Evaluator, ArgumentError> {
        let program = self.program();
        let count = program.pool_len();
        let work = match &self.compiled.engine {
            Engine::Interpreter(tape) => Work::Rows(tape.rows(&vec![0.0; count])),
            Engine::Native(native) => Work::Native {
                pool: Aligned::zeros(count * native.pool_stride()),
                lane_pools: Aligned::zeros(native.lane_pools_len()),
                scratch: Aligned::zeros(native.scratch_len()),
            },
        };
        let mut evaluator = Evaluator { kernel: self.clone(), pool: vec![0.0; count], work };
        evaluator.set_parameters(parameters)?;
        Ok(evaluator)
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = self.program();
        write!(
            f,
            "Kernel({} inputs, {} parameters, {} outputs, {} instructions, {})",
            program.inputs().len(),
            program.parameters().len(),
            program.outputs().len(),
            program.body().len(),
            self.backend()
        )
    }
}

/// Why a kernel cannot run on these numbers.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ArgumentError {
    /// A slice has the wrong length.
    #[error("{expected} {what} are expected, {found} were given")]
    WrongLength {
        /// What it holds.
        what: &'static str,
        /// The length that is right.
        expected: usize,
        /// The length that was found.
        found: usize,
    },
    /// The inputs do not fill whole blocks of lanes.
    #[error("{found} inputs do not fill whole blocks of {LANES} lanes of {each} inputs: pad the last block")]
    PartialBlock {
        /// The number of inputs of the program.
        each: usize,
        /// The length that was found.
        found: usize,
    },
    /// There is no such lane.
    #[error("there is no lane {lane}: a block has {LANES}, counted from 0")]
    NoLane {
        /// The number that was given.
        lane: usize,
    },
    /// A parameter has no value.
    #[error("the parameter `{symbol}` has no value")]
    MissingParameter {
        /// The parameter.
        symbol: Symbol,
    },
    /// The program has no such parameter.
    #[error("there is no parameter `{name}`")]
    UnknownParameter {
        /// The name that was given.
        name: String,
    },
    /// A parameter has two values.
    #[error("the parameter `{name}` is given twice")]
    DuplicateParameter {
        /// The name.
        name: String,
    },
    /// A parameter is infinite or NaN.
    #[error("the parameter `{symbol}` is {value}: parameters must be finite")]
    NonFiniteParameter {
        /// The parameter.
        symbol: Symbol,
        /// Its value.
        value: f64,
    },
}

/// Runs a kernel: its parameters and the working memory of one thread. Running allocates nothing.
///
/// Single states have the parameters of [`Evaluator::set_parameters`]; so have lanes, unless
/// [`Evaluator::set_parameters_in`] gave them their own.
#[derive(Clone)]
pub struct Evaluator {
    kernel: Kernel,
    /// Constants, parameters and uniforms, one each, as they are being set.
    pool: Vec<f64>,
    work: Work,
}

#[derive(Clone)]
enum Work {
    Rows(Rows),
    /// The pools as native code reads them, for single states and for lanes.
    Native {
        pool: Aligned,
        lane_pools: Aligned,
        scratch: Aligned,
    },
}

impl Evaluator {
    /// The kernel it runs.
    #[must_use]
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Sets the parameters, of single states and of all lanes, and recomputes what depends on them alone.
    ///
    /// # Errors
    /// [`ArgumentError`] if the number of parameters is wrong or one is not finite; the old ones then stay.
    pub fn set_parameters(&mut self, parameters: &[f64]) -> Result<(), ArgumentError> {
        let compiled = &*self.kernel.compiled;
        compiled.program.check_parameters(parameters)?;
        compiled.program.fill_pool(parameters, &mut self.pool);
        match (&compiled.engine, &mut self.work) {
            (Engine::Interpreter(tape), Work::Rows(rows)) => tape.set_pool(rows, &self.pool),
            (Engine::Native(native), Work::Native { pool, lane_pools, .. }) => {
                let rows = pool.as_mut_slice().chunks_exact_mut(native.pool_stride());
                rows.zip(&self.pool).for_each(|(row, &value)| row.fill(value));
                (0..LANES).for_each(|lane| native.set_lane_pool(lane_pools.as_mut_slice(), lane, &self.pool));
            }
            _ => unreachable!("an evaluator's working memory is made for its kernel's engine"),
        }
        Ok(())
    }

    /// Sets the parameters of one lane of every block. Each lane has the bits that a single state has with its parameters.
    ///
    /// ```
    /// use leastaction_compile::{Kernel, LANES, Program};
    /// use leastaction_expr::Graph;
    ///
    /// let graph = Graph::new();
    /// let [q, k] = graph.symbols(["q", "k"]);
    /// let mut force = Kernel::compile(Program::build(&[q], &[k], &[-k * q])?)?.evaluator(&[1.0])?;
    /// force.set_parameters_in(3, &[2.0])?;
    /// let mut forces = [0.0; LANES];
    /// force.eval_lanes(&[1.0; LANES], &mut forces)?;
    /// assert_eq!(forces, [-1.0, -1.0, -1.0, -2.0, -1.0, -1.0, -1.0, -1.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ArgumentError`] if there is no such lane, the number of parameters is wrong, or one is not finite; the old ones
    /// then stay.
    pub fn set_parameters_in(&mut self, lane: usize, parameters: &[f64]) -> Result<(), ArgumentError> {
        let compiled = &*self.kernel.compiled;
        if lane >= LANES {
            return Err(ArgumentError::NoLane { lane });
        }
        compiled.program.check_parameters(parameters)?;
        compiled.program.fill_pool(parameters, &mut self.pool);
        match (&compiled.engine, &mut self.work) {
            (Engine::Interpreter(tape), Work::Rows(rows)) => tape.set_lane_pool(rows, lane, &self.pool),
            (Engine::Native(native), Work::Native { lane_pools, .. }) => {
                native.set_lane_pool(lane_pools.as_mut_slice(), lane, &self.pool);
            }
            _ => unreachable!("an evaluator's working memory is made for its kernel's engine"),
        }
        Ok(())
    }

    /// Evaluates one state.
    ///
    /// # Errors
    /// [`ArgumentError::WrongLength`] if a slice does not fit the program.
    #[inline]
    pub fn eval(&mut self, inputs: &[f64], outputs: &mut [f64]) -> Result<(), ArgumentError> {
        let compiled = &*self.kernel.compiled;
        check("inputs", compiled.program.inputs.len(), inputs.len())?;
        check("outputs", compiled.program.outputs.len(), outputs.len())?;
        match (&compiled.engine, &mut self.work) {
            (Engine::Interpreter(tape), Work::Rows(rows)) => tape.run_single(rows, inputs, outputs),
            (Engine::Native(native), Work::Native { pool, scratch, .. }) => {
                let (pool, scratch) = (pool.as_slice().as_ptr(), scratch.as_mut_slice().as_mut_ptr());
                // SAFETY: the slices have the program's lengths, checked above; pool and scratch were made to the
                // sizes and alignment this code asks for and are borrowed for the call.
                unsafe { native.run_scalar(inputs.as_ptr(), outputs.as_mut_ptr(), pool, scratch, 1) }
            }
            _ => unreachable!("an evaluator's working memory is made for its kernel's engine"),
        }
        Ok(())
    }

    /// Evaluates blocks of [`LANES`] states: component `i` of lane `j` of block `b` is number
    /// `(b · n + i) · LANES + j`, for `n` inputs, and likewise for the outputs. Lanes have the parameters that were set
    /// for them, in every block.
    ///
    /// # Errors
    /// [`ArgumentError`] if the inputs do not fill whole blocks or the outputs do not match them.
    #[inline]
    pub fn eval_lanes(&mut self, inputs: &[f64], outputs: &mut [f64]) -> Result<(), ArgumentError> {
        let compiled = &*self.kernel.compiled;
        let (each, produced) = (compiled.program.inputs.len(), compiled.program.outputs.len());
        let blocks = match (each, produced) {
            (0, 0) => 0,
            (0, _) => outputs.len() / (produced * LANES), // without inputs, the outputs say how many
            _ => inputs.len() / (each * LANES),
        };
        if inputs.len() != blocks * each * LANES {
            return Err(ArgumentError::PartialBlock { each, found: inputs.len() });
        }
        check("outputs", blocks * produced * LANES, outputs.len())?;
        match (&compiled.engine, &mut self.work) {
            (Engine::Interpreter(tape), Work::Rows(rows)) => tape.run_lanes(rows, blocks, inputs, outputs),
            (Engine::Native(native), Work::Native { lane_pools, scratch, .. }) => {
                let (pools, scratch) = (lane_pools.as_slice().as_ptr(), scratch.as_mut_slice().as_mut_ptr());
                // SAFETY: as in `eval`, for `blocks` blocks of the program's lengths; all lanes' pools are set.
                unsafe { native.run_lanes(inputs.as_ptr(), outputs.as_mut_ptr(), pools, scratch, blocks) }
            }
            _ => unreachable!("an evaluator's working memory is made for its kernel's engine"),
        }
        Ok(())
    }
}

#[inline]
pub(crate) fn check(what: &'static str, expected: usize, found: usize) -> Result<(), ArgumentError> {
    if expected == found { Ok(()) } else { Err(ArgumentError::WrongLength { what, expected, found }) }
}
