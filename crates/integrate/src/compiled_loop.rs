//! Compiled loops: steps in one kernel with all that is between them.
//!
//! Between two steps of a small system there is as much to do as in a step: to see whether it was good, to find the next one, to add up the
//! change. Here the kernel does that too, operation for operation as the run loop does it, so that a lane has the same bits
//! either way. It goes from step to step until a lane comes to the end, or cannot go on as simply as that: such a lane it leaves
//! where it is.
//!
//! A step is a chain of stages, and a processor waits for the results of each. With two blocks in one kernel it has something else to do
//! meanwhile. That both find room in its registers and caches is not sure: so the first steps are made both ways, and timed, and the
//! faster way stays.

use crate::compiled_step::{self, Contents, KernelKey, StepBuilder};
use crate::pace::Controller;
use crate::run_loop::{GROUNDLESS, SHORTEST};
use crate::step::StepError;
use leastaction_compile::{
    Aligned, ArgumentError, AssemblyError, Backend, CompileError, Evaluator, Kernel, LANES, Operand, Test,
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

    /// Writes it: from states, what rounding left of them, and the rates there; with its error if a tolerance is given.
    fn write(
        &self,
        builder: &mut StepBuilder,
        state: [&[Operand]; 3],
        tolerance: Option<[Operand; 2]>,
    ) -> Result<StepOutputs, AssemblyError>;
}

/// What a step gives.
pub struct StepOutputs {
    /// By how much the states change.
    pub change: Vec<Operand>,
    /// The rates that it leaves to the next.
    pub rates: Vec<Operand>,
    /// The error as a multiple of what is tolerated, if that was asked for.
    pub ratio: Option<Operand>,
}

/// What sets the steps of a compiled loop.
#[derive(Clone, Copy)]
pub(crate) enum Pacer<'a> {
    Tolerance(&'a Controller),
    Grid,
}

/// Numbers of a pacer that are the same in all lanes: of a tolerance its two, the end, the longest step, the longest that needs no reason, and how many may
/// be tried; of a grid the start, its step, the last step, the end, and how many there are.
pub(crate) type Settings = [f64; SETTINGS];
const SETTINGS: usize = 6;

/// Where a run is, lane by lane.
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    pub(crate) late: [f64; LANES],
    pub(crate) next: [f64; LANES],
    /// What the controller remembers.
    pub(crate) before: [f64; LANES],
    /// Steps that were tried, and taken.
    pub(crate) tried: [f64; LANES],
    pub(crate) accepted: [f64; LANES],
    pub(crate) t: [f64; LANES],
}

/// Rows of a clock but for the time.
const CLOCK: usize = 5;

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
        let grid = matches!(pacer, Pacer::Grid);
        let key = |twice| KernelKey { method: code.method(), contents: Contents::Loop { grid, twice } };
        let (rates, quantities) = (code.carried(n), code.quantities());
        let rows = [n, n, rates, CLOCK, SETTINGS];
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
            let twice = || Kernel::compile_lightly(once.program().twice(TURN)).map_err(uncompiled);
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
    pub(crate) fn load(&mut self, block: usize, state: [&[f64]; 3], clock: &Clock, settings: &Settings) {
        let rows = &mut self.now.as_mut_slice()[block * self.len..][..self.len];
        let (mut states, rest) = rows.split_at_mut(2 * self.states + self.rates);
        for from in state {
            let (to, others) = states.split_at_mut(from.len());
            to.copy_from_slice(from);
            states = others;
        }
        let Clock { late, next, before, tried, accepted, t } = *clock;
        let settings = settings.map(|setting| [setting; LANES]);
        let lanes =
            [late, next, before, tried, accepted].into_iter().chain(settings).chain([t, [0.0; LANES]]);
        rest.as_chunks_mut().0.iter_mut().zip(lanes).for_each(|(to, from)| *to = from);
    }

    /// Where a block is now: its states, what rounding left of them, the rates, and its clock.
    pub(crate) fn state_of(&self, block: usize) -> ([&[f64]; 3], Clock) {
        let rows = &self.now.as_slice()[block * self.len..][..self.len];
        let (states, rest) = rows.split_at(2 * self.states + self.rates);
        let (y, others) = states.split_at(self.states);
        let (e, rates) = others.split_at(self.states);
        let lanes = rest.as_chunks().0;
        let [late, next, before, tried, accepted] = std::array::from_fn(|i| lanes[i]);
        ([y, e, rates], Clock { late, next, before, tried, accepted, t: lanes[CLOCK + SETTINGS] })
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

fn uncompiled(error: CompileError) -> EvalError {
    EvalError::Compile { what: "whole steps", reason: error.to_string() }
}

fn failed(error: ArgumentError) -> StepError {
    EvalError::Compile { what: "whole steps", reason: error.to_string() }.into()
}

/// The clock of a lane in a kernel.
#[derive(Clone, Copy)]
struct LaneClock {
    t: Operand,
    late: Operand,
    next: Operand,
    before: Operand,
    tried: Operand,
    accepted: Operand,
}

/// A step, and what a clock shows then.
struct Stepped {
    step: StepOutputs,
    /// Negative if it is taken.
    taken: Operand,
    after: LaneClock,
    /// 1 in lanes that have come to the end, or are left where they are.
    halt: Operand,
}

/// A step of the loop as the kernel makes it.
fn write(
    code: &dyn StepCode,
    pacer: Pacer<'_>,
    d: &mut StepBuilder,
    inputs: &[Vec<Operand>],
) -> Result<Vec<Operand>, AssemblyError> {
    let [y, e, rates, clock, settings] = inputs else { return Ok(Vec::new()) };
    let (&[late, next, before, tried, accepted], Some(&numbers)) = (clock.as_slice(), settings.first_chunk())
    else {
        return Ok(Vec::new());
    };
    let (state, clock) = ([&y[..], e, rates], LaneClock { t: d.t(), late, next, before, tried, accepted });
    let Stepped { step, taken, after, halt } = match pacer {
        Pacer::Tolerance(controller) => write_tolerated(code, controller, d, state, clock, numbers)?,
        Pacer::Grid => write_on_grid(code, d, state, clock, numbers)?,
    };
    let mut states = [Vec::new(), Vec::new(), Vec::new()];
    for i in 0..y.len() {
        let moved = d.add(e[i], step.change[i]);
        let to = d.add(y[i], moved);
        let lost = d.sub(y[i], to);
        let lost = d.add(moved, lost);
        states[0].push(d.if_negative(taken, to, y[i]));
        states[1].push(d.if_negative(taken, lost, e[i]));
    }
    for (&last, &first) in step.rates.iter().zip(rates) {
        states[2].push(d.if_negative(taken, last, first));
    }
    let mut outputs = states.concat();
    outputs.extend([after.late, after.next, after.before, after.tried, after.accepted]);
    outputs.extend(settings);
    outputs.extend([after.t, halt]);
    Ok(outputs)
}

/// A step that a tolerance sets: what `RunLoop::ready`, `RunLoop::settle` and `RunLoop::take` do to a lane.
fn write_tolerated(
    code: &dyn StepCode,
    controller: &Controller,
    d: &mut StepBuilder,
    state: [&[Operand]; 3],
    clock: LaneClock,
    [relative, absolute, end, longest, leap, steps]: [Operand; SETTINGS],
) -> Result<Stepped, AssemblyError> {
    let LaneClock { t, late, next, before, tried, accepted } = clock;
    let [zero, half, one, two, minus] = [0.0, 0.5, 1.0, 2.0, -1.0].map(|x| d.number(x));
    let over = (t, Test::Equal, end);

    // The step, such that none much shorter remains for the end.
    let ahead = d.sub(end, t);
    let ahead = d.sub(ahead, late);
    let left = d.select(over, zero, ahead);
    let size = d.abs(next);
    let size = d.min(size, longest);
    let wished = d.copy_sign(size, next);
    let (far, halved, twice) = (d.abs(left), d.mul(half, left), d.mul(two, size));
    let part = d.select((size, Test::Less, far), halved, left);
    let fitted = d.select((twice, Test::Less, far), wished, part);

    // A lane that this step does not move, or that may not try another, stays where it is.
    let (length, time, shortest) = (d.abs(fitted), d.abs(t), d.number(SHORTEST));
    let least = d.mul(shortest, time);
    let stuck = d.select((length, Test::LessEqual, least), one, zero);
    let stuck = d.select((tried, Test::NotLess, steps), one, stuck);
    let stuck = d.select(over, zero, stuck);
    let rests = d.select(over, one, stuck);
    let h = d.select((rests, Test::Equal, zero), fitted, zero);
    let resting = (h, Test::Equal, zero);
    d.set_h(h);
    let step = code.write(d, state, Some([relative, absolute]))?;

    // Whether it is good. A change that is not finite leaves a NaN.
    let nothing = step.change.iter().fold(zero, |nothing, &change| d.mul_add(zero, change, nothing));
    let ratio = d.add(step.ratio.unwrap_or(zero), nothing);
    let tested = d.select(resting, two, ratio);
    let taken = d.select((tested, Test::LessEqual, one), minus, one);

    // The next step.
    let (factor, after) = controller.write(d, ratio, before);
    let longer = d.mul(h, factor);
    let (length, longer_length) = (d.abs(h), d.abs(longer));
    let leapt = d.max(length, leap);
    let leapt = d.copy_sign(leapt, h);
    let bounded = d.select((leap, Test::Less, longer_length), leapt, longer);
    let groundless = d.number(GROUNDLESS);
    let wished = d.select((ratio, Test::Less, groundless), bounded, longer);

    // Where it leads, and what rounding leaves of that.
    let by = d.add(late, h);
    let to = d.add(t, by);
    let to = d.select((length, Test::Less, far), to, end);
    let moved = d.sub(to, t);
    let lost = d.sub(by, moved);
    let lost = d.select((to, Test::Equal, end), zero, lost);
    let (trying, count) = (d.sub(one, rests), d.if_negative(taken, one, zero));
    let after = LaneClock {
        t: d.if_negative(taken, to, t),
        late: d.if_negative(taken, lost, late),
        next: d.select(resting, next, wished),
        before: d.select(resting, before, after),
        tried: d.add(tried, trying),
        accepted: d.add(accepted, count),
    };
    let arrived = d.select((after.t, Test::Equal, end), one, stuck);
    let halt = d.select(over, zero, arrived);
    Ok(Stepped { step, taken, after, halt })
}

/// A step of a grid, in which those behind a lane are those it has tried: what `RunLoop::fit_to_grid`, `RunLoop::check_changes` and `RunLoop::take` do.
fn write_on_grid(
    code: &dyn StepCode,
    d: &mut StepBuilder,
    state: [&[Operand]; 3],
    clock: LaneClock,
    [start, step, last, end, steps, _]: [Operand; SETTINGS],
) -> Result<Stepped, AssemblyError> {
    let [zero, one, two, minus] = [0.0, 1.0, 2.0, -1.0].map(|x| d.number(x));
    let (over, count) = ((clock.tried, Test::Equal, steps), d.add(clock.tried, one));
    let h = d.select((count, Test::Equal, steps), last, step);
    let h = d.select(over, zero, h);
    d.set_h(h);
    let written = code.write(d, state, None)?;

    // A state that is not finite leaves a NaN, and its lane is left where it is.
    let mut nothing = zero;
    for (&y, &change) in state[0].iter().zip(&written.change) {
        let moved = d.add(y, change);
        nothing = d.mul_add(zero, moved, nothing);
    }
    let tested = d.select(over, two, nothing);
    let taken = d.select((tested, Test::Equal, zero), minus, one);
    let to = d.mul(count, step);
    let to = d.add(start, to);
    let to = d.select((count, Test::Equal, steps), end, to);
    let one_more = d.if_negative(taken, one, zero);
    let after = LaneClock {
        t: d.if_negative(taken, to, clock.t),
        tried: d.if_negative(taken, count, clock.tried),
        accepted: d.add(clock.accepted, one_more),
        ..clock
    };
    let arrived = d.select((after.tried, Test::Equal, steps), one, zero);
    let halt = d.if_negative(taken, arrived, one);
    let halt = d.select(over, zero, halt);
    Ok(Stepped { step: written, taken, after, halt })
}
