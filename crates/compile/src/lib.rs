//! Expressions to code: for one state or for lanes of eight, native or interpreted, with the same bits everywhere.
//!
//! ```
//! use leastaction_compile::{Kernel, LANES, Program};
//! use leastaction_expr::Graph;
//!
//! let graph = Graph::new();
//! let [q, v, g, l] = graph.symbols(["q", "v", "g", "l"]);
//!
//! // A program has inputs, parameters and outputs. Here: the pendulum's vector field.
//! let program = Program::build(&[q, v], &[g, l], &[v, -(g / l) * q.sin()])?;
//!
//! // A kernel is the program compiled for the fastest backend of this machine.
//! let kernel = Kernel::compile(program)?;
//!
//! // An evaluator holds the parameters and the working memory of one thread.
//! let mut field = kernel.evaluator(&[9.81, 2.0])?;
//! let mut rates = [0.0; 2];
//! field.eval(&[0.5, 1.0], &mut rates)?;
//! assert_eq!(rates[0], 1.0);
//! assert!((rates[1] + 9.81 / 2.0 * 0.5f64.sin()).abs() < 1e-15);
//!
//! // Eight states at once: first the eight values of q, then the eight of v.
//! let mut states = [0.5; 2 * LANES];
//! states[LANES..].fill(1.0);
//! let mut many = [0.0; 2 * LANES];
//! field.eval_lanes(&states, &mut many)?;
//! assert_eq!(many[LANES], rates[1]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The way from expression to code
//!
//! ```text
//! Expr ── lower ──► arithmetic and whole functions
//!      ── fuse ───► products taken into sums (one rounding less each)
//!      ── pair ───► sines with the cosines of the same argument
//!      ── hoist ──► what only parameters change is computed when they are set
//!      = Program ─► powers ─► interpreter: loops over rows of lanes, on every platform
//!               ├─► expand ─► native: functions in primitives, registers, x86-64 with AVX-512 or AVX2;
//!               │             equal instructions of one state packed into vectors
//!               ├─► assembly: programs called by programs, such as a whole step of an integrator
//!               ├─► series: the Taylor coefficients of the motion
//!               └─► reverse: derivatives of a weighted sum of outputs by all inputs and parameters, a program again
//! ```
//!
//! Equal instructions are one from the start. Constant powers stay whole in a Program, which may be differentiated, and are
//! written out for every backend alike. [`Code::value`] defines every instruction; the interpreter runs it, native
//! code is fuzzed against it, and all [`Backend`]s agree to the last bit (NaN payloads aside). Every function is within
//! 2 ulp of the exact value on its whole domain. The environment variable `LEASTACTION_BACKEND` forces a backend:
//! `interpreter`, `avx2` or `avx512`.

mod aligned;
mod arithmetic;
mod assembly;
mod builder;
mod error;
mod expand;
mod factor;
mod fuse;
mod hoist;
mod instruction;
mod interpreter;
mod kernel;
mod lower;
mod math;
mod native;
mod program;
#[cfg(test)]
mod random;
mod reverse;
mod series;
mod vectorized;

pub use aligned::Aligned;
pub use arithmetic::{Argument, Arithmetic, Lanes};
pub use assembly::{Assembly, AssemblyError};
pub use error::CodeError;
pub use instruction::{Code, Instruction, Operand, Test};
pub use kernel::{ArgumentError, BACKEND_VARIABLE, Backend, CompileError, Evaluator, Kernel, LANES};
pub use leastaction_expr::Double;
pub use native::NativeError;
pub use program::{BuildError, Program};
pub use reverse::ReverseError;
pub use series::{Expansion, Form, Series, SeriesError, SeriesEvaluator};
pub use vectorized::{Loops, vectorized};
