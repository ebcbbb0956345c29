//! Compiled loops: steps in one kernel with all that is between them.
//!
//! Between two steps of a small system there is as much to do as in a step: to see whether it was good, to find the next one, to add up the
//! change. Here the kernel does that too, by the same text as the run loop, so that a lane has the same bits
//! either way. It goes from step to step until a lane comes to the end, or cannot go on as simply as that: such a lane it leaves
//! where it is.
//!
//! A step is a chain of stages, and a processor waits for the results of each. With two blocks in one kernel it has something else to do
//! meanwhile. That both find room in its registers and caches is not sure: so the first steps are made both ways, and timed, and the
//! faster way stays.

use crate::block::compensated;
use crate::clock::{self, Clock};
use crate::compiled_step::{self, Contents, KernelKey, StepBuilder};
use crate::controller::{self, Controller, Judged};
use crate::natural;
use crate::pace::Absolute;
use crate::run::grid::Grid;
use crate::step::StepError;
use leastaction_compile::{
    Aligned, ArgumentError, Arithmetic, AssemblyError, Backend, Evaluator, Kernel, LANES, Operand, Test,
};
use leastaction_mechanics::{Dynamics, EvalError, Quantity, Revision};
use std::time::{Duration, Instant};

/// So many steps are made either way to see which is faster.
const TRIALS: u32 = 48;

/// Two blocks take turns after so many instructions: of what was tried from 1 to 160, the fastest for pendulums.
const TURN: usize = 40;

/// A step as it can be written into a kernel.
pub trait StepCode {
    /// The name of the method, which tells it from others.
    fn method(&self) -> &'static str;

    /// What it evaluates, and how often.
    fn quantities(&self) -> Vec<(Quantity, usize)>;

    /// How many rates at its end are those at the beginning of the next, for states of a dimension.
    fn carried(&self, dimension: usize) -> usize;

    /// What is evaluated for these rates at the beginning of a step, and when, as a part of the step; `None` if there are none.
    fn first(&self) -> Option<(Quantity, f64)>;

    /// Writes it: from states, what rounding left of them, and the rates there; with a measure of its error if a tolerance is given.
    ///
    /// # Errors
    /// [`AssemblyError`] if the system cannot be evaluated as it should.
    fn write(
        &self,
        builder: &mut StepBuilder,
        state: [&[Operand]; 3],
        tolerance: Option<ToleranceInputs<'_>>,
    ) -> Result<StepOutputs, AssemblyError>;

    /// Writes the states at a fraction of the step, by the method's own polynomial; `None` if it has none.
    ///
    /// # Errors
    /// [`AssemblyError`] as for a step.
    fn write_inside(
        &self,
        builder: &mut StepBuilder,
        state: [&[Operand]; 3],
        tau: Operand,
    ) -> Result<Option<Vec<Operand>>, AssemblyError> {
        let _ = (builder, state, tau);
        Ok(None)
    }
}

/// What a step gives.
pub struct StepOutputs {
    /// By how much the states change.
    pub change: Vec<Operand>,
    /// The rates that it leaves to the next.
    pub rates: Vec<Operand>,
    /// How large its error is, if that was asked for.
    pub measured: Option<Measured>,
}

/// What errors are measured by, as inputs of a kernel.
#[derive(Clone, Copy)]
pub struct ToleranceInputs<'a> {
    /// The relative tolerance.
    pub relative: Operand,
    /// The absolute tolerance: one, or one of each component.
    pub absolute: &'a [Operand],
    /// The natural sizes of coordinates and momenta.
    pub natural: [Operand; 2],
}

/// How large the error of a step is.
pub struct Measured {
    /// The error as a multiple of what is tolerated.
    pub ratio: Operand,
    /// How large coordinates and momenta are before and after the step.
    pub sizes: [Operand; 2],
}

/// What sets the steps of a compiled loop.
#[derive(Clone, Copy)]
pub(crate) enum Pacer<'a> {
    Tolerance(&'a Controller, &'a Absolute),
    Grid,
}

/// Numbers of a pacer: of a tolerance its two, the end, the longest step, the longest that needs no reason, how many may
/// be tried until something else looks at the lane, and how fast natural sizes are forgotten; of a grid those [from which it follows](Grid::settings).
pub(crate) type Settings = [[f64; LANES]; SETTINGS];
const SETTINGS: usize = 7;

/// Rows of a clock but for the time.
const CLOCK: usize = 8;

/// A compiled loop over one block or two.
pub(crate) struct CompiledLoop {
    /// One for each block, and one for both.
    each: Vec<Evaluator>,
    both: Option<Evaluator>,
    revisions: Vec<Revision>,
    /// Lanes have parameters of their own: that is not for one kernel.
    apart: bool,
    /// The inputs of the next steps, and the outputs, which are inputs then.
    now: Aligned,
    then: Aligned,
    /// The numbers of one block, of its states, and of its rates.
    len: usize,
    states: usize,
    rates: usize,
    /// The shortest times of steps one by one, and of both; and how many were timed.
    shortest: [Duration; 2],
    timed: u32,
    evaluations: u64,
}

impl CompiledLoop {
    /// A loop over so many blocks; `None` if the step cannot be written into a kernel.
    pub(crate) fn new(
        dynamics: &Dynamics,
        code: &dyn StepCode,
        pacer: Pacer<'_>,
        blocks: usize,
    ) -> Result<Option<CompiledLoop>, EvalError> {
        let (system, n) = (dynamics.system(), dynamics.system().dimension());
        let (grid, each) = match pacer {
            Pacer::Grid => (true, 0),
            Pacer::Tolerance(_, absolute) => (false, absolute.each().len()),
        };
        let contents = |twice| Contents::Loop { grid, twice, each: each > 0 };
        let key = |twice| KernelKey { method: code.method(), contents: contents(twice) };
        let (rates, quantities) = (code.carried(n), code.quantities());
        let rows = [n, n, rates, CLOCK, SETTINGS, each];
        let written =
            |builder: &mut StepBuilder, inputs: &[Vec<Operand>]| write(code, pacer, builder, inputs);
        let Some(once) =
            compiled_step::kernel(system, key(false), &quantities, &rows, Kernel::compile_lightly, written)?
        else {
            return Ok(None);
        };
        let mut each = Vec::new();
        for _ in 0..blocks {
            each.push(dynamics.evaluator(&once)?);
        }
        let both = if blocks == 2 && once.backend() != Backend::Interpreter {
            let twice = || Kernel::compile_lightly(once.program().twice(TURN)).map_err(compiled_step::failed);
            Some(dynamics.evaluator(&system.composed_kernel(key(true), twice)?)?)
        } else {
            None
        };
        let len = once.program().inputs().len() * LANES;
        Ok(Some(CompiledLoop {
            each,
            both,
            revisions: vec![Revision::default(); blocks],
            apart: false,
            now: Aligned::zeros(blocks * len),
            then: Aligned::zeros(blocks * len),
            len,
            states: n * LANES,
            rates: rates * LANES,
            shortest: [Duration::MAX; 2],
            timed: 0,
            evaluations: quantities.iter().map(|(_, times)| *times as u64).sum(),
        }))
    }

    /// Puts a block where it is: its states, what rounding left of them, and the rates there.
    pub(crate) fn load(
        &mut self,
        block: usize,
        state: [&[f64]; 3],
        clock: &Clock<[f64; LANES]>,
        (settings, each): (&Settings, &[f64]),
    ) {
        let rows = &mut self.now.as_mut_slice()[block * self.len..][..self.len];
        let (mut states, rest) = rows.split_at_mut(2 * self.states + self.rates);
        for from in state {
            let (to, others) = states.split_at_mut(from.len());
            to.copy_from_slice(from);
            states = others;
        }
        let Clock { late, next, before, tried, accepted, natural: [coordinates, momenta], rough, t } = *clock;
        let settings = settings.iter().copied().chain(each.iter().map(|absolute| [*absolute; LANES]));
        let lanes = [late, next, before, tried, accepted, coordinates, momenta, rough]
            .into_iter()
            .chain(settings)
            .chain([t, [0.0; LANES]]);
        rest.as_chunks_mut().0.iter_mut().zip(lanes).for_each(|(to, from)| *to = from);
    }

    /// Where a block is now: its states, what rounding left of them, the rates, and its clock.
    pub(crate) fn state_of(&self, block: usize) -> ([&[f64]; 3], Clock<[f64; LANES]>) {
        let rows = &self.now.as_slice()[block * self.len..][..self.len];
        let (states, rest) = rows.split_at(2 * self.states + self.rates);
        let (y, others) = states.split_at(self.states);
        let (e, rates) = others.split_at(self.states);
        let lanes = rest.as_chunks().0;
        let [late, next, before, tried, accepted, coordinates, momenta, rough] =
            std::array::from_fn(|i| lanes[i]);
        // The last row but one; the last one says whether lanes halt.
        let (natural, t) = ([coordinates, momenta], lanes[lanes.len() - 2]);
        ([y, e, rates], Clock { late, next, before, tried, accepted, natural, rough, t })
    }

    /// Whether a lane of a block has come to the end, or is left where it is.
    pub(crate) fn is_halted(&self, block: usize) -> bool {
        self.halts(block).iter().fold(0, |any, halt| any | halt.to_bits()) != 0
    }

    /// 1 in lanes of a block that have come to the end, or are left where they are.
    #[inline]
    pub(crate) fn halts(&self, block: usize) -> &[f64] {
        &self.now.as_slice()[block * self.len..][self.len - LANES..self.len]
    }

    /// Makes so many steps at most, until a lane halts. Returns how many.
    pub(crate) fn run(&mut self, most: u32) -> Result<u32, StepError> {
        let mut steps = 0;
        while steps < most {
            steps += 1;
            let paired = self.both.is_some() && !self.apart;
            let timed = paired && self.timed < 2 * TRIALS;
            let faster = self.shortest[1] < self.shortest[0];
            let both = paired && if timed { !self.timed.is_multiple_of(2) } else { faster };
            let begun = timed.then(Instant::now);
            self.step(both).map_err(failed)?;
            if let Some(begun) = begun {
                let shortest = &mut self.shortest[usize::from(both)];
                *shortest = begun.elapsed().min(*shortest);
                self.timed += 1;
            }
            std::mem::swap(&mut self.now, &mut self.then);
            if (0..self.each.len()).any(|block| self.is_halted(block)) {
                break;
            }
        }
        Ok(steps)
    }

    /// Evaluations of the field in a step.
    pub(crate) fn evaluations(&self) -> u64 {
        self.evaluations
    }

    #[inline]
    fn step(&mut self, both: bool) -> Result<(), ArgumentError> {
        let CompiledLoop { now, then, .. } = self;
        if both && let Some(both) = &mut self.both {
            return both.eval_lanes(now.as_slice(), then.as_mut_slice());
        }
        let halves =
            now.as_slice().chunks_exact(self.len).zip(then.as_mut_slice().chunks_exact_mut(self.len));
        for (evaluator, (now, then)) in self.each.iter_mut().zip(halves) {
            evaluator.eval_lanes(now, then)?;
        }
        Ok(())
    }

    /// Takes over parameters that have changed. Blocks have the same, but for lanes that have their own.
    pub(crate) fn follow(&mut self, block: usize, dynamics: &Dynamics) {
        let CompiledLoop { each, both, apart, .. } = self;
        let passed = dynamics.pass_parameters(&mut self.revisions[block], |lane, values| match lane {
            None => {
                both.as_mut().map_or(Ok(()), |both| both.set_parameters(values))?;
                each[block].set_parameters(values)
            }
            Some(lane) => {
                *apart = true;
                each[block].set_parameters_in(lane, values)
            }
        });
        self.apart |= passed.is_err();
    }
}

fn failed(error: ArgumentError) -> StepError {
    compiled_step::failed(error).into()
}

/// A step, and what a clock shows then.
struct Stepped {
    step: StepOutputs,
    /// Negative if it is taken.
    taken: Operand,
    after: Clock<Operand>,
    /// 1 in lanes that have come to the end, or are left where they are.
    halt: Operand,
}

/// A step of the loop as the kernel makes it.
fn write(
    code: &dyn StepCode,
    pacer: Pacer<'_>,
    builder: &mut StepBuilder,
    inputs: &[Vec<Operand>],
) -> Result<Vec<Operand>, AssemblyError> {
    let [y, e, rates, clock, settings, each] = inputs else {
        unreachable!("a loop has states, carries, rates, a clock, settings and absolute tolerances as inputs")
    };
    let (Some(&numbers), Some(&[late, next, before, tried, accepted, coordinates, momenta, rough])) =
        (settings.first_chunk(), clock.first_chunk())
    else {
        unreachable!("a clock has {CLOCK} rows, and there are {SETTINGS} settings")
    };
    let natural = [coordinates, momenta];
    let clock = Clock { t: builder.t(), late, next, before, tried, accepted, natural, rough };
    let state = [&y[..], e, rates];
    let Stepped { step, taken, after, halt } = match pacer {
        Pacer::Tolerance(controller, _) => {
            write_tolerated(code, controller, builder, state, clock, (numbers, each))?
        }
        Pacer::Grid => write_on_grid(code, builder, state, clock, numbers)?,
    };
    let (mut states, a) = ([Vec::new(), Vec::new(), Vec::new()], builder.assembly());
    for i in 0..y.len() {
        let [to, lost] = compensated(a, y[i], e[i], step.change[i]);
        states[0].push(a.select_sign(taken, to, y[i]));
        states[1].push(a.select_sign(taken, lost, e[i]));
    }
    for (&last, &first) in step.rates.iter().zip(rates) {
        states[2].push(a.select_sign(taken, last, first));
    }
    let mut outputs = states.concat();
    outputs.extend([after.late, after.next, after.before, after.tried, after.accepted]);
    outputs.extend(after.natural);
    outputs.push(rough);
    outputs.extend(settings);
    outputs.extend(each);
    outputs.extend([after.t, halt]);
    Ok(outputs)
}

/// A step that a tolerance sets, as the run loop tries, judges and takes it.
fn write_tolerated(
    code: &dyn StepCode,
    controller: &Controller,
    builder: &mut StepBuilder,
    state: [&[Operand]; 3],
    clock: Clock<Operand>,
    ([relative, absolute, end, longest, leap, steps, fading], each): ([Operand; SETTINGS], &[Operand]),
) -> Result<Stepped, AssemblyError> {
    let Clock { t, late, next, before, tried, accepted, natural, rough } = clock;
    let a = builder.assembly();
    let left = clock::left(a, t, late, end);
    let fitted = clock::fit(a, left, next, longest);

    // A lane that this step does not move, or that may not try another, stays where it is.
    let (length, shortest) = (a.abs(fitted), clock::shortest(a, t));
    let stuck = a.select(Test::LessEqual, length, shortest, 1.0, 0.0);
    let stuck = a.select(Test::NotLess, tried, steps, 1.0, stuck);
    let stuck = a.select(Test::Equal, t, end, 0.0, stuck);
    let rests = a.select(Test::Equal, t, end, 1.0, stuck);
    let h = a.select(Test::Equal, rests, 0.0, fitted, 0.0);
    builder.set_h(h);
    let all = [absolute];
    let absolute = if each.is_empty() { &all[..] } else { each };
    let tolerance = ToleranceInputs { relative, absolute, natural };
    let step = code.write(builder, state, Some(tolerance))?;
    let Some(Measured { ratio, sizes }) = step.measured else {
        unreachable!("only estimated steps are paced by a tolerance")
    };

    let a = builder.assembly();
    let spoiled = clock::spoiled(a, &step.change);
    let ratio = a.add(ratio, spoiled);
    let taken = controller::taken(a, h, ratio);
    let Judged { next, before } = controller.judge(a, h, ratio, [next, before], leap);
    let [to, lost] = clock::reach(a, [t, late], h, left, end);
    let (trying, count) = (a.sub(1.0, rests), a.select_sign(taken, 1.0, 0.0));
    let after = Clock {
        t: a.select_sign(taken, to, t),
        late: a.select_sign(taken, lost, late),
        next,
        before,
        tried: a.add(tried, trying),
        accepted: a.add(accepted, count),
        natural: natural::follow(a, natural, sizes, [taken, h, fading, rough]),
        rough,
    };
    let arrived = a.select(Test::Equal, after.t, end, 1.0, stuck);
    let halt = a.select(Test::Equal, t, end, 0.0, arrived);
    Ok(Stepped { step, taken, after, halt })
}

/// A step of a grid, in which those behind a lane are those it has tried.
fn write_on_grid(
    code: &dyn StepCode,
    builder: &mut StepBuilder,
    state: [&[Operand]; 3],
    clock: Clock<Operand>,
    [start, step, last, end, steps, ..]: [Operand; SETTINGS],
) -> Result<Stepped, AssemblyError> {
    let (a, tried) = (builder.assembly(), clock.tried);
    let count = a.add(tried, 1.0);
    let [h, to] = Grid::after(a, [start, step, last, end, steps], count);
    let h = a.select(Test::Equal, tried, steps, 0.0, h);
    builder.set_h(h);
    let written = code.write(builder, state, None)?;

    // A lane whose state would not be finite is left where it is.
    let a = builder.assembly();
    let moved: Vec<_> = state[0].iter().zip(&written.change).map(|(&y, &change)| a.add(y, change)).collect();
    let spoiled = clock::spoiled(a, &moved);
    let tested = a.select(Test::Equal, tried, steps, 2.0, spoiled);
    let taken = a.select(Test::Equal, tested, 0.0, -1.0, 1.0);
    let one_more = a.select_sign(taken, 1.0, 0.0);
    let after = Clock {
        t: a.select_sign(taken, to, clock.t),
        tried: a.select_sign(taken, count, tried),
        accepted: a.add(clock.accepted, one_more),
        ..clock
    };
    let arrived = a.select(Test::Equal, after.tried, steps, 1.0, 0.0);
    let halt = a.select_sign(taken, arrived, 1.0);
    let halt = a.select(Test::Equal, tried, steps, 0.0, halt);
    Ok(Stepped { step: written, taken, after, halt })
}
