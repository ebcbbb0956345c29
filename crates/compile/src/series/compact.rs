//! Compact code: loops over the tape and its orders, for programs whose unrolled code would be too long.

use super::recurrence::{Table, finish, inner, more};
use super::tape::{Node, Tape};
use super::unrolled;
use crate::LANES;
use crate::aligned::Aligned;
use crate::arithmetic::{Argument, Arithmetic};
use crate::instruction::{Code, Test, call};
use crate::interpreter::Level;
use crate::kernel::{ArgumentError, CompileError, Evaluator, Kernel};
use leastaction_expr::Op;

/// Runs a tape up to an order.
pub(super) struct Compact {
    tape: Tape,
    /// Order 0 of all series.
    start: Kernel,
    order: usize,
    level: Level,
}

/// The memory of one thread.
#[derive(Clone)]
pub(super) struct Rows {
    start: Evaluator,
    /// Order 0 of all series, by lane.
    first: Aligned,
    /// Coefficients by series, order and lane.
    values: Aligned,
}

/// Computes on lanes.
struct Lanes<const W: usize>;

impl<const W: usize> Argument<Lanes<W>> for [f64; W] {
    #[inline(always)]
    fn value(self, _: &mut Lanes<W>) -> [f64; W] {
        self
    }
}

impl<const W: usize> Arithmetic for Lanes<W> {
    type Value = [f64; W];

    #[inline(always)]
    fn constant(&mut self, value: f64) -> [f64; W] {
        [value; W]
    }

    #[inline(always)]
    fn apply(&mut self, code: Code, arguments: &[[f64; W]]) -> [f64; W] {
        let mut result = [0.0; W];
        for lane in 0..W {
            let mut four = [0.0; 4];
            for (value, argument) in four.iter_mut().zip(arguments) {
                *value = argument[lane];
            }
            result[lane] = code.value(four, 0.0);
        }
        result
    }

    #[inline(always)]
    fn repair(
        &mut self,
        mut fast: [f64; W],
        test: [f64; W],
        limit: f64,
        op: Op,
        arguments: &[[f64; W]],
    ) -> [f64; W] {
        for lane in (0..W).filter(|&lane| Test::NotLessEqual.holds(test[lane], limit)) {
            let mut three = [0.0; 3];
            three.iter_mut().zip(arguments).for_each(|(value, argument)| *value = argument[lane]);
            fast[lane] = call(op, &three[..arguments.len()]);
        }
        fast
    }
}

/// The rows of the coefficients.
struct Known<'a, const W: usize> {
    orders: usize,
    values: &'a mut [[f64; W]],
}

impl<const W: usize> Table<Lanes<W>> for Known<'_, W> {
    #[inline(always)]
    fn get(&self, node: Node, order: usize) -> [f64; W] {
        self.values[node as usize * self.orders + order]
    }
}

impl Rows {
    /// Sets the parameters.
    pub(super) fn set_parameters(&mut self, parameters: &[f64]) -> Result<(), ArgumentError> {
        self.start.set_parameters(parameters)
    }
}

impl Compact {
    pub(super) fn new(tape: Tape, order: usize) -> Result<Compact, CompileError> {
        let start = Kernel::compile(unrolled::start(&tape))?;
        Ok(Compact { tape, start, order, level: Level::detect() })
    }

    /// Memory for one thread.
    pub(super) fn rows(&self, parameters: &[f64]) -> Result<Rows, ArgumentError> {
        let count = self.tape.rules.len() * LANES;
        let values = Aligned::zeros(count * (self.order + 1));
        Ok(Rows { start: self.start.evaluator(parameters)?, first: Aligned::zeros(count), values })
    }

    /// The coefficients in `W` lanes.
    pub(super) fn run<const W: usize>(
        &self,
        rows: &mut Rows,
        inputs: &[f64],
        out: &mut [f64],
    ) -> Result<(), ArgumentError> {
        let Rows { start, first, values } = rows;
        let first = &mut first.as_mut_slice()[..self.tape.rules.len() * W];
        match W {
            1 => start.eval(inputs, first)?,
            _ => start.eval_lanes(inputs, first)?,
        }
        let (first, _) = first.as_chunks::<W>();
        let (values, _) = values.as_mut_slice().as_chunks_mut::<W>();
        let (out, _) = out.as_chunks_mut::<W>();
        let orders = self.order + 1;
        for (row, value) in values.chunks_exact_mut(orders).zip(first) {
            row[0] = *value;
        }
        let known = Known { orders, values };
        match self.level {
            Level::Baseline => run(&self.tape, self.order, known, out),
            // SAFETY: the machine has the instructions of its level.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { run_avx2(&self.tape, self.order, known, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { run_avx512(&self.tape, self.order, known, out) },
        }
        Ok(())
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_avx2<const W: usize>(tape: &Tape, order: usize, known: Known<'_, W>, out: &mut [[f64; W]]) {
    run(tape, order, known, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma")]
fn run_avx512<const W: usize>(tape: &Tape, order: usize, known: Known<'_, W>, out: &mut [[f64; W]]) {
    run(tape, order, known, out);
}

#[inline(always)]
fn run<const W: usize>(tape: &Tape, order: usize, known: Known<'_, W>, out: &mut [[f64; W]]) {
    let lanes = &mut Lanes::<W>;
    let orders = known.orders;
    for k in 1..=order {
        for &node in &tape.running {
            if !tape.has(node, k) {
                continue;
            }
            let mut sum = None;
            if tape.convolves(node) {
                inner(tape, node, k, |u, i, v, j| {
                    sum = Some(more(lanes, sum, known.get(u, i), known.get(v, j)));
                });
            }
            let value = finish(lanes, tape, &known, node, k, sum);
            known.values[node as usize * orders + k] = value;
        }
        let here = &mut out[(k - 1) * tape.states.len()..][..tape.states.len()];
        for (out, &node) in here.iter_mut().zip(&tape.states) {
            *out = if tape.has(node, k) { known.get(node, k) } else { [0.0; W] };
        }
    }
}
