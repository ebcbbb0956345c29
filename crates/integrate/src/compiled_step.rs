//! Compiled steps: all stages of an explicit step, compiled into one kernel.
//!
//! The kernel does the operations of the loops between stages one by one, in their order, so that a step has the same bits either way. It
//! saves the calls and the memory between them, which for small systems is most of a step.

use crate::step::Interval;
use leastaction_compile::{
    Assembly, AssemblyError, CompileError, Evaluator, Kernel, LANES, Operand, Program, Test,
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
}

/// A compiled step, ready to be made.
pub(crate) struct CompiledStep {
    evaluator: Evaluator,
    revision: Revision,
    inputs: Vec<f64>,
    outputs: Vec<f64>,
}

impl StepBuilder {
    /// A number.
    pub(crate) fn number(&mut self, value: f64) -> Operand {
        self.assembly.constant(value)
    }

    pub(crate) fn add(&mut self, a: Operand, b: Operand) -> Operand {
        self.assembly.add(a, b)
    }

    pub(crate) fn sub(&mut self, a: Operand, b: Operand) -> Operand {
        self.assembly.sub(a, b)
    }

    pub(crate) fn mul(&mut self, a: Operand, b: Operand) -> Operand {
        self.assembly.mul(a, b)
    }

    pub(crate) fn div(&mut self, a: Operand, b: Operand) -> Operand {
        self.assembly.div(a, b)
    }

    /// a·b + c, rounded once.
    pub(crate) fn mul_add(&mut self, a: Operand, b: Operand, c: Operand) -> Operand {
        self.assembly.mul_add(a, b, c)
    }

    /// a if a > b, else b.
    pub(crate) fn max(&mut self, a: Operand, b: Operand) -> Operand {
        self.assembly.max(a, b)
    }

    pub(crate) fn abs(&mut self, a: Operand) -> Operand {
        self.assembly.abs(a)
    }

    pub(crate) fn neg(&mut self, a: Operand) -> Operand {
        self.assembly.neg(a)
    }

    pub(crate) fn sqrt(&mut self, a: Operand) -> Operand {
        self.assembly.sqrt(a)
    }

    /// a if a < b, else b.
    pub(crate) fn min(&mut self, a: Operand, b: Operand) -> Operand {
        self.assembly.min(a, b)
    }

    /// The size of a with the sign of b.
    pub(crate) fn copy_sign(&mut self, a: Operand, b: Operand) -> Operand {
        self.assembly.copy_sign(a, b)
    }

    /// `yes` if a and b pass the test, else `no`.
    pub(crate) fn select(
        &mut self,
        (a, test, b): (Operand, Test, Operand),
        yes: Operand,
        no: Operand,
    ) -> Operand {
        self.assembly.select(a, test, b, yes, no)
    }

    /// `yes` if a is negative, else `no`.
    pub(crate) fn if_negative(&mut self, a: Operand, yes: Operand, no: Operand) -> Operand {
        self.assembly.select_sign(a, yes, no)
    }

    /// What works on bits.
    pub(crate) fn assembly(&mut self) -> &mut Assembly {
        &mut self.assembly
    }

    /// The time at which the step begins.
    pub(crate) fn t(&self) -> Operand {
        self.t
    }

    /// The length of the step is this.
    pub(crate) fn set_h(&mut self, h: Operand) {
        self.h = h;
    }

    /// The length of the step.
    pub(crate) fn h(&self) -> Operand {
        self.h
    }

    /// A quantity of the system at a state, at the time t + c·h.
    pub(crate) fn quantity(
        &mut self,
        quantity: Quantity,
        c: f64,
        state: &[Operand],
    ) -> Result<Vec<Operand>, AssemblyError> {
        let mut arguments = state.to_vec();
        if self.timed {
            let c = self.number(c);
            let later = self.mul(c, self.h);
            arguments.push(self.add(self.t, later));
        }
        let found = self.programs.iter().find(|(q, _)| *q == quantity);
        found.map_or(Ok(Vec::new()), |(_, program)| self.assembly.call(program, &arguments))
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
    /// A step, which may show its stages and measure its errors.
    Step { stages: bool, errors: bool },
    /// A step with all that is between two of them, on a grid or by a tolerance, for one block or for two.
    Loop { grid: bool, twice: bool },
}

impl KernelKey {
    /// The step of a method, and nothing besides.
    pub(crate) fn step(method: &'static str) -> KernelKey {
        KernelKey { method, contents: Contents::Step { stages: false, errors: false } }
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
            Err(error) => Err(EvalError::Compile { what: "whole steps", reason: error.to_string() }),
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
    let failed = |reason: String| EvalError::Compile { what: "whole steps", reason };
    let kernel = system.composed_kernel(key, || {
        let parameters = programs[0].1.parameters().to_vec();
        let assembly = Assembly::with_inputs(count, &parameters).map_err(|e| failed(e.to_string()))?;
        let (t, h) = (assembly.input(count - 2), assembly.input(count - 1));
        let mut places = 0..;
        let inputs: Vec<Vec<Operand>> =
            rows.iter().map(|&n| places.by_ref().take(n).map(|i| assembly.input(i)).collect()).collect();
        let mut builder = StepBuilder { assembly, programs, timed: !facts.autonomous, t, h };
        let outputs = write(&mut builder, &inputs).map_err(|e| failed(e.to_string()))?;
        let program = builder.assembly.finish(&outputs).map_err(|e| failed(e.to_string()))?;
        compile(program).map_err(|e| failed(e.to_string()))
    })?;
    Ok(Some(kernel))
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
