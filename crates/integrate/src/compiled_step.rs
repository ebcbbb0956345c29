//! Compiled steps: all stages of an explicit step, compiled into one kernel.
//!
//! The kernel does the operations of the loops between stages one by one, in their order, so that a step has the same bits either way. It
//! saves the calls and the memory between them, which for small systems is most of a step.

use crate::step::Interval;
use leastaction_compile::{
    Arithmetic, Assembly, AssemblyError, BuildError, CodeError, CompileError, Evaluator, Kernel, LANES,
    Operand, Program,
};
use leastaction_mechanics::{Dynamics, EvalError, Quantity, Revision, System};

/// Larger steps than this are not compiled: their code would not stay in the cache, and the calls cost them little.
const MOST_INSTRUCTIONS: usize = 20_000;

/// A step as it is being written.
pub struct StepBuilder {
    assembly: Assembly,
    programs: Vec<(Quantity, Program)>,
    timed: bool,
    t: Operand,
    h: Operand,
    /// The values of the system's inputs, evaluation by evaluation, and when those are that were made.
    driven: Vec<Vec<Operand>>,
    evaluated: Vec<f64>,
    /// Where the system is evaluated by others: what it gives, still to be handed out, and what was asked for.
    values: Option<std::vec::IntoIter<Operand>>,
    calls: Vec<Call>,
}

/// An evaluation of the system within a step.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) quantity: Quantity,
    /// When, as a part of the step.
    pub(crate) c: f64,
    /// Where, and what it gives.
    pub(crate) state: Vec<Operand>,
    pub(crate) values: Vec<Operand>,
}

/// A compiled step, ready to be made.
pub(crate) struct CompiledStep {
    evaluator: Evaluator,
    revision: Revision,
    inputs: Vec<f64>,
    outputs: Vec<f64>,
}

impl StepBuilder {
    /// A step from programs of quantities, whose time and length are these, and with these values of the system's inputs in each evaluation.
    pub(crate) fn new(
        assembly: Assembly,
        programs: Vec<(Quantity, Program)>,
        timed: bool,
        [t, h]: [Operand; 2],
        driven: Vec<Vec<Operand>>,
    ) -> StepBuilder {
        let (evaluated, calls) = (Vec::new(), Vec::new());
        StepBuilder { assembly, programs, timed, t, h, driven, evaluated, values: None, calls }
    }

    /// A step whose time and length are these, of a system that others evaluate: these are the values that they give, one evaluation after the other.
    pub(crate) fn around(assembly: Assembly, [t, h]: [Operand; 2], values: Vec<Operand>) -> StepBuilder {
        let values = Some(values.into_iter());
        StepBuilder { values, ..StepBuilder::new(assembly, Vec::new(), false, [t, h], Vec::new()) }
    }

    /// The evaluations that were asked for.
    pub(crate) fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// The program of all that was written, with these outputs, and when the system was evaluated, as parts of the step.
    pub(crate) fn finish(self, outputs: &[Operand]) -> Result<(Program, Vec<f64>), BuildError> {
        Ok((self.assembly.finish(outputs)?, self.evaluated))
    }

    /// What instructions are written into.
    pub fn assembly(&mut self) -> &mut Assembly {
        &mut self.assembly
    }

    /// The time at which the step begins.
    #[must_use]
    pub fn t(&self) -> Operand {
        self.t
    }

    /// The length of the step is this.
    pub(crate) fn set_h(&mut self, h: Operand) {
        self.h = h;
    }

    /// The length of the step.
    #[must_use]
    pub fn h(&self) -> Operand {
        self.h
    }

    /// A quantity of the system at a state, at the time t + c·h.
    ///
    /// # Errors
    /// [`AssemblyError`] if the state is not as long as one of the system.
    pub fn quantity(
        &mut self,
        quantity: Quantity,
        c: f64,
        mut state: Vec<Operand>,
    ) -> Result<Vec<Operand>, AssemblyError> {
        if let Some(left) = &mut self.values {
            let count = if quantity == Quantity::Rates { state.len() } else { state.len() / 2 };
            let values: Vec<Operand> = left.by_ref().take(count).collect();
            assert_eq!(values.len(), count, "a step evaluates more than it says");
            self.calls.push(Call { quantity, c, state, values: values.clone() });
            return Ok(values);
        }
        if self.timed {
            let later = self.assembly.mul(c, self.h);
            state.push(self.assembly.add(self.t, later));
        }
        if let Some(inputs) = self.driven.get(self.evaluated.len()) {
            state.extend(inputs);
        }
        self.evaluated.push(c);
        let Some((_, program)) = self.programs.iter().find(|(known, _)| *known == quantity) else {
            unreachable!("a step evaluates only the quantities that it names, and not {quantity:?}");
        };
        self.assembly.call(program, &state)
    }
}

/// What tells a kernel of steps from the others of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct KernelKey {
    /// The name of the method.
    pub(crate) method: &'static str,
    pub(crate) contents: Contents,
}

/// What is in a kernel of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Contents {
    /// A step, which may show its stages, and measure its errors by so many settings.
    Step { stages: bool, settings: usize },
    /// A step with all that is between two of them, on a grid or by a tolerance, for one block or for two, with an absolute tolerance of each component
    /// or not.
    Loop { grid: bool, twice: bool, each: bool },
}

impl KernelKey {
    /// The step of a method, and nothing besides.
    pub(crate) fn step(method: &'static str) -> KernelKey {
        KernelKey { method, contents: Contents::Step { stages: false, settings: 0 } }
    }
}

impl CompiledStep {
    /// Compiles a step with rows of inputs, of these lengths, and settings that stay as they are, besides time and step; `write` says what it gives.
    /// `None` if the system's field is not in closed form, or has inputs, or the step would be too large.
    pub(crate) fn compile(
        dynamics: &Dynamics,
        width: usize,
        key: KernelKey,
        quantities: &[(Quantity, usize)],
        (rows, settings): (&[usize], &[f64]),
        write: impl FnOnce(&mut StepBuilder, &[Vec<Operand>]) -> Result<Vec<Operand>, AssemblyError>,
    ) -> Result<Option<CompiledStep>, EvalError> {
        let rows = [rows, &[settings.len()]].concat();
        let Some(kernel) = kernel(dynamics.system(), key, quantities, &rows, Kernel::compile, write)? else {
            return Ok(None);
        };
        let count = kernel.program().inputs().len();
        let (evaluator, revision) = (dynamics.evaluator(&kernel)?, dynamics.revision());
        let outputs = vec![0.0; kernel.program().outputs().len() * width];
        let mut inputs = vec![0.0; count * width];
        let places = inputs[(count - 2 - settings.len()) * width..].chunks_exact_mut(width);
        places.zip(settings).for_each(|(place, setting)| place.fill(*setting));
        Ok(Some(CompiledStep { evaluator, revision, inputs, outputs }))
    }

    /// Makes the step: gives what was written, for these rows of inputs.
    #[inline]
    pub(crate) fn step(
        &mut self,
        dynamics: &Dynamics,
        interval: Interval<'_>,
        rows: &[&[f64]],
    ) -> Result<&[f64], EvalError> {
        let passed = dynamics.pass_parameters(&mut self.revision, |lane, values| match lane {
            None => self.evaluator.set_parameters(values),
            Some(lane) => self.evaluator.set_parameters_in(lane, values),
        });
        lay_out(&mut self.inputs, interval, rows);
        let evaluated = match interval.t.len() {
            LANES => self.evaluator.eval_lanes(&self.inputs, &mut self.outputs),
            _ => self.evaluator.eval(&self.inputs, &mut self.outputs),
        };
        match passed.and(evaluated) {
            Ok(()) => Ok(&self.outputs),
            Err(error) => Err(failed(error)),
        }
    }
}

/// A kernel of steps whose inputs are rows of these lengths, the time and the step. `None` if the system's field is not in closed form, or has inputs,
/// or the kernel would be too large.
pub(crate) fn kernel(
    system: &System,
    key: KernelKey,
    quantities: &[(Quantity, usize)],
    rows: &[usize],
    compile: impl FnOnce(Program) -> Result<Kernel, CompileError>,
    write: impl FnOnce(&mut StepBuilder, &[Vec<Operand>]) -> Result<Vec<Operand>, AssemblyError>,
) -> Result<Option<Kernel>, EvalError> {
    let facts = system.facts();
    if !facts.one_kernel || facts.driven {
        return Ok(None);
    }
    let (mut programs, mut size) = (Vec::new(), 0);
    for &(quantity, times) in quantities {
        let program = system.kernel(quantity)?.program().clone();
        size += times * program.body().len();
        programs.push((quantity, program));
    }
    if size > MOST_INSTRUCTIONS {
        return Ok(None);
    }
    let count = rows.iter().sum::<usize>() + 2;
    let kernel = system.composed_kernel(key, || {
        let parameters = programs[0].1.parameters().to_vec();
        let assembly = Assembly::with_inputs(count, &parameters).map_err(failed)?;
        let (t, h) = (assembly.input(count - 2), assembly.input(count - 1));
        let mut places = 0..;
        let inputs: Vec<Vec<Operand>> =
            rows.iter().map(|&n| places.by_ref().take(n).map(|i| assembly.input(i)).collect()).collect();
        let mut builder = StepBuilder::new(assembly, programs, !facts.autonomous, [t, h], Vec::new());
        let outputs = write(&mut builder, &inputs).map_err(failed)?;
        let (program, _) = builder.finish(&outputs).map_err(failed)?;
        compile(program).map_err(failed)
    })?;
    Ok(Some(kernel))
}

pub(crate) fn failed(error: impl Into<CodeError>) -> EvalError {
    EvalError::Compile { what: "whole steps", source: error.into() }
}

/// Puts rows, times and steps among the inputs of a step; settings stay between them.
#[inline]
fn lay_out(inputs: &mut [f64], interval: Interval<'_>, rows: &[&[f64]]) {
    let (mut rest, last) = inputs.split_at_mut(inputs.len() - 2 * interval.t.len());
    for row in rows {
        let (head, tail) = std::mem::take(&mut rest).split_at_mut(row.len());
        head.copy_from_slice(row);
        rest = tail;
    }
    let (t, h) = last.split_at_mut(interval.t.len());
    t.copy_from_slice(interval.t);
    h.copy_from_slice(interval.h);
}
