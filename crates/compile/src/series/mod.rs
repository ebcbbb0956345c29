//! Taylor coefficients of the motion, from the program of its vector field.
//!
//! ```text
//! Program ── tape ──► series: one rule per value, from a handful of rules for all operators
//!                ├──► unrolled: one straight-line program, compiled like any other
//!                └──► compact: loops over the tape, for long programs and without native code
//! ```
//!
//! The recurrences stand once, in `recurrence.rs`; both ways agree to the last bit. An expansion is summed by `polynomial.rs`, and how far it
//! reaches is said by `reach.rs`.

mod compact;
mod draft;
mod expansion;
mod identities;
mod polynomial;
mod reach;
mod recurrence;
mod tape;
#[cfg(test)]
mod tests;
mod unrolled;

use crate::instruction::Instruction;
use crate::kernel::{ArgumentError, Backend, CompileError, Evaluator, Kernel, LANES, check};
use crate::program::Program;
use compact::{Compact, Rows};
pub use expansion::Expansion;
use reach::RadiusFrom;
use std::fmt;
use std::sync::Arc;
use tape::Tape;

/// The most products that are unrolled. Longer code takes long to compile and no longer runs from the caches.
const LARGEST_UNROLLED: usize = 200_000;

/// The highest order.
const HIGHEST: usize = 128;

/// The normalised Taylor coefficients cₖ = y⁽ᵏ⁾/k!, k = 1, 2, …, of the solution of y' = f(y, t).
///
/// Made from a program of f, whose first inputs are y, the next the time if there is one, and any further ones are held
/// constant. Coefficients come by order, as summing the polynomial wants them: `out[(k − 1)·n + i]` is the coefficient of order
/// k of state i of n; with lanes, `out[((k − 1)·n + i)·LANES + lane]`.
///
/// Where a program branches (`abs`, `min`, `select`, `floor`, …) the branch at the point itself is continued.
///
/// ```
/// use leastaction_compile::{Program, Series};
/// use leastaction_expr::Graph;
///
/// // x' = x²: x = 1/(1 − t), all of whose coefficients are 1.
/// let graph = Graph::new();
/// let x = graph.symbol("x");
/// let series = Series::new(&Program::build(&[x], &[], &[x * x])?, 1, 10)?;
/// let mut coefficients = [0.0; 10];
/// series.evaluator(&[])?.eval(&[1.0], &mut coefficients)?;
/// assert_eq!(coefficients, [1.0; 10]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Series {
    engine: Engine,
    states: usize,
    inputs: usize,
    order: usize,
    branches: bool,
    ends: bool,
}

#[derive(Clone)]
enum Engine {
    /// The kernels of the coefficients, of the polynomials, and of how far they reach.
    Unrolled([Kernel; 3]),
    Compact(Arc<Compact>),
}

/// How coefficients are computed. The results are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// By one straight-line program.
    Unrolled(Backend),
    /// By loops over a table of series.
    Compact,
}

/// Why a program has no series.
#[derive(Debug, thiserror::Error)]
pub enum SeriesError {
    /// The program does not compute the rates of its first inputs.
    #[error(
        "a field of {states} states needs {states} inputs and outputs or more, the program has {inputs} and {outputs}"
    )]
    Shape {
        /// The number of states.
        states: usize,
        /// The number of inputs.
        inputs: usize,
        /// The number of outputs.
        outputs: usize,
    },
    /// The order is 0 or too high.
    #[error("order {order} is not between 1 and {HIGHEST}")]
    Order {
        /// The order that was asked for.
        order: usize,
    },
    /// An instruction that works on the bits of numbers has no series.
    #[error("instruction {at}, {}, has no Taylor series: take the program before its functions are written out", SeriesError::name(.instruction))]
    NoSeries {
        /// The place of the instruction.
        at: usize,
        /// The instruction.
        instruction: Instruction,
    },
    /// The unrolled program cannot be compiled.
    #[error(transparent)]
    Compile(#[from] CompileError),
}

impl Series {
    /// The series of the field's solution up to an order, unrolled unless that is too long or there is no native code.
    ///
    /// # Errors
    /// [`SeriesError`] if the program is not a field of so many states, or works on the bits of numbers.
    pub fn new(program: &Program, states: usize, order: usize) -> Result<Series, SeriesError> {
        Series::choose(program, states, order, |tape| {
            if tape.work(order) > LARGEST_UNROLLED {
                return Ok(None);
            }
            let kernel = Kernel::compile(unrolled::unroll(tape, order))?;
            Ok((kernel.backend() != Backend::Interpreter).then_some(kernel))
        })
    }

    /// The series in one form.
    ///
    /// # Errors
    /// As [`Series::new`], and if this machine cannot run the backend.
    pub fn with_form(
        program: &Program,
        states: usize,
        order: usize,
        form: Form,
    ) -> Result<Series, SeriesError> {
        Series::choose(program, states, order, |tape| match form {
            Form::Unrolled(backend) => {
                Ok(Some(Kernel::with_backend(unrolled::unroll(tape, order), backend)?))
            }
            Form::Compact => Ok(None),
        })
    }

    fn choose(
        program: &Program,
        states: usize,
        order: usize,
        kernel: impl FnOnce(&Tape) -> Result<Option<Kernel>, SeriesError>,
    ) -> Result<Series, SeriesError> {
        let (inputs, outputs) = (program.inputs.len(), program.outputs.len());
        if inputs < states || outputs < states {
            return Err(SeriesError::Shape { states, inputs, outputs });
        }
        if order == 0 || order > HIGHEST {
            return Err(SeriesError::Order { order });
        }
        let tape = Tape::new(program, states)?;
        let (branches, ends) = (tape.branches(), tape.ends(order));
        let engine = match kernel(&tape)? {
            Some(kernel) => {
                let backend = kernel.backend();
                let sums = Kernel::with_backend(unrolled::polynomials(states, order), backend)?;
                let reaches = Kernel::with_backend(unrolled::reaches(states, order, inputs), backend)?;
                Engine::Unrolled([kernel, sums, reaches])
            }
            None => Engine::Compact(Arc::new(Compact::new(tape, order)?)),
        };
        Ok(Series { engine, states, inputs, order, branches, ends })
    }

    /// Whether the series ends with its order, whatever the state: the motion is a polynomial of the time.
    #[must_use]
    pub fn ends(&self) -> bool {
        self.ends
    }

    /// Whether the field has branches (`abs`, `min`, `select`, `floor`, …). A series continues the branch at its point, and is
    /// wrong beyond the place where the field takes another one.
    #[must_use]
    pub fn branches(&self) -> bool {
        self.branches
    }

    /// The highest order.
    #[must_use]
    pub fn order(&self) -> usize {
        self.order
    }

    /// The number of states.
    #[must_use]
    pub fn states(&self) -> usize {
        self.states
    }

    /// How the coefficients are computed.
    #[must_use]
    pub fn form(&self) -> Form {
        match &self.engine {
            Engine::Unrolled([kernel, ..]) => Form::Unrolled(kernel.backend()),
            Engine::Compact(_) => Form::Compact,
        }
    }

    /// The kernel of the unrolled form.
    #[must_use]
    pub fn kernel(&self) -> Option<&Kernel> {
        match &self.engine {
            Engine::Unrolled([kernel, ..]) => Some(kernel),
            Engine::Compact(_) => None,
        }
    }

    /// An evaluator with these parameters, for one thread.
    ///
    /// # Errors
    /// [`ArgumentError`] if the number of parameters is wrong or one is not finite.
    pub fn evaluator(&self, parameters: &[f64]) -> Result<SeriesEvaluator, ArgumentError> {
        let work = match &self.engine {
            Engine::Unrolled([kernel, sums, reaches]) => Work::Unrolled {
                coefficients: Box::new(kernel.evaluator(parameters)?),
                sums: Box::new(sums.evaluator(&[])?),
                reaches: Box::new(reaches.evaluator(&[])?),
            },
            Engine::Compact(compact) => Work::Compact(compact.clone(), Box::new(compact.rows(parameters)?)),
        };
        Ok(SeriesEvaluator { work, inputs: self.inputs, states: self.states, order: self.order })
    }

    /// Room for an expansion about one state, or about [`LANES`] states.
    ///
    /// # Errors
    /// [`ArgumentError::WrongLength`] if the width is another.
    pub fn expansion(&self, width: usize) -> Result<Expansion, ArgumentError> {
        Expansion::new([self.states, self.order, self.inputs], width)
    }
}

impl fmt::Debug for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Series({} states, order {}, {:?})", self.states, self.order, self.form())
    }
}

/// Computes Taylor coefficients: the parameters and the working memory of one thread. Running allocates nothing.
#[derive(Clone)]
pub struct SeriesEvaluator {
    work: Work,
    inputs: usize,
    states: usize,
    order: usize,
}

#[derive(Clone)]
enum Work {
    Unrolled { coefficients: Box<Evaluator>, sums: Box<Evaluator>, reaches: Box<Evaluator> },
    Compact(Arc<Compact>, Box<Rows>),
}

impl SeriesEvaluator {
    /// Sets the parameters.
    ///
    /// # Errors
    /// [`ArgumentError`] if the number of parameters is wrong or one is not finite; the old ones then stay.
    pub fn set_parameters(&mut self, parameters: &[f64]) -> Result<(), ArgumentError> {
        match &mut self.work {
            Work::Unrolled { coefficients, .. } => coefficients.set_parameters(parameters),
            Work::Compact(_, rows) => rows.set_parameters(parameters),
        }
    }

    /// Sets the parameters of one lane, as [`Evaluator::set_parameters_in`].
    ///
    /// # Errors
    /// [`ArgumentError`] if there is no such lane, the number of parameters is wrong, or one is not finite; the old ones
    /// then stay.
    pub fn set_parameters_in(&mut self, lane: usize, parameters: &[f64]) -> Result<(), ArgumentError> {
        match &mut self.work {
            Work::Unrolled { coefficients, .. } => coefficients.set_parameters_in(lane, parameters),
            Work::Compact(_, rows) => rows.set_parameters_in(lane, parameters),
        }
    }

    /// The coefficients at one state, given with what follows it among the field's inputs.
    ///
    /// # Errors
    /// [`ArgumentError::WrongLength`] if a slice does not fit.
    #[inline]
    pub fn eval(&mut self, inputs: &[f64], out: &mut [f64]) -> Result<(), ArgumentError> {
        match &mut self.work {
            Work::Unrolled { coefficients, .. } => coefficients.eval(inputs, out),
            Work::Compact(compact, rows) => {
                check("inputs", self.inputs, inputs.len())?;
                check("outputs", self.states * self.order, out.len())?;
                compact.run::<1>(rows, inputs, out)
            }
        }
    }

    /// The coefficients at blocks of [`LANES`] states, laid out as for [`Evaluator::eval_lanes`].
    ///
    /// # Errors
    /// [`ArgumentError`] if the inputs do not fill whole blocks or the outputs do not match them.
    #[inline]
    pub fn eval_lanes(&mut self, inputs: &[f64], out: &mut [f64]) -> Result<(), ArgumentError> {
        match &mut self.work {
            Work::Unrolled { coefficients, .. } => coefficients.eval_lanes(inputs, out),
            Work::Compact(compact, rows) => {
                let (wide_in, wide_out) = (self.inputs * LANES, self.states * self.order * LANES);
                let blocks = inputs.len().checked_div(wide_in).unwrap_or(0);
                if inputs.len() != blocks * wide_in {
                    return Err(ArgumentError::PartialBlock { each: self.inputs, found: inputs.len() });
                }
                check("outputs", blocks * wide_out, out.len())?;
                if wide_in > 0 && wide_out > 0 {
                    for (inputs, out) in inputs.chunks_exact(wide_in).zip(out.chunks_exact_mut(wide_out)) {
                        compact.run::<LANES>(rows, inputs, out)?;
                    }
                }
                Ok(())
            }
        }
    }

    /// Finds the coefficients of an expansion at its inputs.
    ///
    /// # Errors
    /// [`ArgumentError::WrongLength`] if the expansion is one of another series.
    #[inline]
    pub fn expand(&mut self, expansion: &mut Expansion) -> Result<(), ArgumentError> {
        let width = expansion.width();
        let (coefficients, inputs) = expansion.open();
        if width == 1 { self.eval(inputs, coefficients) } else { self.eval_lanes(inputs, coefficients) }
    }

    /// The change of the states over a step h: Σ cₖ hᵏ, summed with compensation; then what these sums still lack; then the slopes at the
    /// end of the step, Σ k cₖ hᵏ⁻¹.
    ///
    /// # Errors
    /// [`ArgumentError::WrongLength`] if a slice does not fit, or the expansion is one of another series.
    #[inline]
    pub fn sum(
        &mut self,
        expansion: &mut Expansion,
        h: &[f64],
        out: &mut [f64],
    ) -> Result<(), ArgumentError> {
        let width = expansion.width();
        check("steps", width, h.len())?;
        check("outputs", 3 * self.states * width, out.len())?;
        let terms = expansion.with_steps(h);
        check("numbers", (self.states * self.order + 1) * width, terms.len())?;
        match &mut self.work {
            Work::Unrolled { sums, .. } if width == 1 => sums.eval(terms, out)?,
            Work::Unrolled { sums, .. } => sums.eval_lanes(terms, out)?,
            Work::Compact(compact, _) if width == 1 => compact.sum::<1>(terms, h, out),
            Work::Compact(compact, _) => compact.sum::<LANES>(terms, h, out),
        }
        Ok(())
    }

    /// The longest step in each lane that leaves a remainder within the tolerance: infinite if the series ends, NaN if a coefficient is not finite.
    ///
    /// # Errors
    /// [`ArgumentError::WrongLength`] if a slice does not fit, or the expansion is one of another series.
    #[inline]
    pub fn reach(&mut self, expansion: &Expansion, steps: &mut [f64]) -> Result<(), ArgumentError> {
        match expansion.width() {
            1 => self.reach_in::<1>(expansion, steps),
            _ => self.reach_in::<LANES>(expansion, steps),
        }
    }

    fn reach_in<const W: usize>(
        &mut self,
        expansion: &Expansion,
        steps: &mut [f64],
    ) -> Result<(), ArgumentError> {
        check("steps", W, steps.len())?;
        let usual = reach::usual(self.order);
        let mut out = [[0.0; W]; 1 + reach::TELLING];
        let judged = &mut out[..(self.order + 2).saturating_sub(usual).max(1)];
        match &mut self.work {
            Work::Unrolled { reaches, .. } if W == 1 => {
                reaches.eval(expansion.numbers(), judged.as_flattened_mut())?
            }
            Work::Unrolled { reaches, .. } => {
                reaches.eval_lanes(expansion.numbers(), judged.as_flattened_mut())?
            }
            Work::Compact(..) => {
                check("coefficients", self.states * self.order * W, expansion.coefficients().len())?;
                judged[0] = compact::reach_from::<W>(expansion, usual);
                for (top, k) in judged[1..].iter_mut().zip(usual..) {
                    *top = compact::top_of::<W>(expansion, k);
                }
            }
        }
        // The kernel knows one absolute tolerance, the smallest.
        if !expansion.each().is_empty() {
            judged[0] = compact::reach_from::<W>(expansion, usual);
        }
        let (lengths, tops) = judged.split_at(1);
        if reach::all_usual(self.order, tops) {
            steps.copy_from_slice(&lengths[0]);
            return Ok(());
        }
        for (j, step) in steps.iter_mut().enumerate() {
            let top = |k: usize| match k.checked_sub(usual) {
                Some(place) => judged[1 + place][j],
                None => compact::top_of::<W>(expansion, k)[j],
            };
            *step = match reach::radius_from(self.order, top) {
                RadiusFrom::Radius => judged[0][j],
                RadiusFrom::From(k) => compact::reach_from::<W>(expansion, k)[j],
                RadiusFrom::Ends => f64::INFINITY,
                RadiusFrom::NotFinite => f64::NAN,
            };
        }
        Ok(())
    }
}
