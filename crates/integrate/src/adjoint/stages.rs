//! Steps of systems whose rates are no formulas, backwards: the text of a step around evaluations that the system makes by itself, and takes back by itself.
//!
//! The text is a program that says where the system is evaluated, given what it was found to be before. Evaluations that do not depend on each other are made together:
//! these are its levels. Backwards, the reverse of the program gives weights of what was found last, the system gives what these do to where it was
//! evaluated, and so on, level by level.

use super::error::AdjointError;
use super::program::{MOST_INSTRUCTIONS, Part, ProgramKey, Shape, Text, write_part};
use super::reverse_step::Site;
use crate::compiled_step::{Call, StepBuilder, failed};
use crate::dense;
use leastaction_compile::{Assembly, Evaluator, Kernel, LANES, Operand, Program};
use leastaction_mechanics::{BackwardSums, Dynamics, EvalError, Quantity};

/// A text at work, around a system.
pub(super) struct Stages {
    dynamics: Dynamics,
    forward: Evaluator,
    /// Once it is needed.
    reverse: Option<Evaluator>,
    calls: Vec<Evaluation>,
    levels: usize,
    layout: Layout,
    inputs: Vec<f64>,
    outputs: Vec<f64>,
    /// Weights of the results, and of where the system is evaluated.
    weights: Vec<f64>,
    gradients: Vec<f64>,
    sums: BackwardSums,
    by: Vec<usize>,
}

/// An evaluation: of what and when, how many numbers, where they stand among the values, and the level.
#[derive(Clone, Copy, Debug)]
struct Evaluation {
    quantity: Quantity,
    c: f64,
    first: usize,
    count: usize,
    level: usize,
}

/// Where things stand among the inputs and the outputs.
#[derive(Clone, Copy, Debug)]
struct Layout {
    width: usize,
    dimension: usize,
    values: usize,
    unknowns: usize,
    moved: usize,
    part: usize,
}

impl Layout {
    fn inputs(&self) -> usize {
        self.dimension + self.values + self.unknowns + self.moved + self.part + 2
    }
}

impl Stages {
    pub(super) fn new(
        dynamics: &Dynamics,
        text: &Text<'_>,
        key: &ProgramKey,
        (width, parameters): (usize, &[Vec<f64>]),
        shape: Shape,
    ) -> Result<Stages, AdjointError> {
        let mut dynamics = dynamics.clone();
        match width {
            1 => dynamics.set_parameters(&parameters[0])?,
            _ => (parameters.iter().enumerate())
                .try_for_each(|(lane, own)| dynamics.set_parameters_in(lane, own))?,
        }
        let (program, calls, layout) = write(text, key.part, shape, width)?;
        let calls = levels(&program, &calls, layout);
        let levels = calls.iter().map(|call| call.level + 1).max().unwrap_or(0);
        if program.body().len() > MOST_INSTRUCTIONS {
            return Err(AdjointError::TooLarge { method: key.method, limit: MOST_INSTRUCTIONS });
        }
        let rows = shape.dimension + shape.unknowns + calls.len() * shape.dimension;
        let reverse = match &key.by {
            None => None,
            Some(_) => {
                let variables = (0..layout.inputs() - 2).map(|i| Operand::Input(i as u32));
                let reverse = program.reverse(&variables.collect::<Vec<_>>()).map_err(failed)?;
                Some(Kernel::compile_lightly(reverse).map_err(failed)?.evaluator(&[]).map_err(failed)?)
            }
        };
        let forward = Kernel::compile_lightly(program).map_err(failed)?.evaluator(&[]).map_err(failed)?;
        Ok(Stages {
            sums: BackwardSums::new(dynamics.system(), width),
            dynamics,
            forward,
            reverse,
            calls,
            levels,
            layout,
            inputs: vec![0.0; layout.inputs() * width],
            outputs: vec![0.0; rows * width],
            weights: vec![0.0; rows * width],
            gradients: vec![0.0; (layout.inputs() - 2) * width],
            by: key.by.clone().unwrap_or_default(),
        })
    }

    /// Evaluates the text, or takes weights of its results and residuals back; see [`super::program::Runner`].
    pub(super) fn eval(
        &mut self,
        site: Site<'_>,
        [unknowns, moved, parts]: [&[f64]; 3],
        [results, residuals]: [&[f64]; 2],
    ) -> Result<(), EvalError> {
        let Layout { width, dimension, values, .. } = self.layout;
        let (state, rest) = self.inputs.split_at_mut(dimension * width);
        state.copy_from_slice(site.y);
        let (known, mut rest) = rest.split_at_mut(values * width);
        known.fill(0.0);
        let moved = if self.layout.moved > 0 { moved } else { &[] };
        let parts = if self.layout.part > 0 { parts } else { &[] };
        for row in [unknowns, moved, parts, site.interval.t, site.interval.h] {
            let (head, tail) = rest.split_at_mut(row.len());
            head.copy_from_slice(row);
            rest = tail;
        }
        debug_assert!(rest.is_empty(), "all inputs are given");
        for level in 0..self.levels {
            evaluate(&mut self.forward, width, &self.inputs, &mut self.outputs)?;
            for k in (0..self.calls.len()).filter(|&k| self.calls[k].level == level) {
                let Evaluation { quantity, c, first, count, .. } = self.calls[k];
                let (times, states) = (at(site, c), self.states(k));
                let values = &mut self.inputs[(dimension + first) * width..][..count * width];
                let state = &self.outputs[states];
                match quantity {
                    Quantity::Rates => self.dynamics.rates(&times[..width], state, values)?,
                    Quantity::Drift => self.dynamics.drift(&times[..width], state, values)?,
                    _ => self.dynamics.kick(&times[..width], state, values)?,
                }
            }
        }
        evaluate(&mut self.forward, width, &self.inputs, &mut self.outputs)?;
        self.sums.clear();
        let Some(reverse) = &mut self.reverse else { return Ok(()) };
        if results.is_empty() {
            return Ok(());
        }
        let before = self.outputs.clone();
        self.weights.fill(0.0);
        self.weights[..results.len()].copy_from_slice(results);
        self.weights[results.len()..][..residuals.len()].copy_from_slice(residuals);
        let mut inputs = [&self.inputs[..], &self.weights].concat();
        let len = self.inputs.len();
        for level in (0..self.levels).rev() {
            evaluate(reverse, width, &inputs, &mut self.gradients)?;
            for (k, call) in self.calls.iter().enumerate().filter(|(_, call)| call.level == level) {
                let Evaluation { quantity, c, first, count, .. } = *call;
                let times = at(site, c);
                let begin = (dimension + self.layout.unknowns + k * dimension) * width;
                let states = begin..begin + dimension * width;
                let (state, times) = (&before[states.clone()], &times[..width]);
                let weights = &self.gradients[(dimension + first) * width..][..count * width];
                self.sums.state.fill(0.0);
                match quantity {
                    Quantity::Rates => {
                        self.dynamics.add_rate_slopes(times, state, weights, &mut self.sums)?
                    }
                    Quantity::Drift => {
                        self.dynamics.add_drift_slopes(times, state, weights, &mut self.sums)?
                    }
                    _ => self.dynamics.add_kick_slopes(times, state, weights, &mut self.sums)?,
                }
                inputs[len..][states].copy_from_slice(&self.sums.state);
            }
        }
        evaluate(reverse, width, &inputs, &mut self.gradients)
    }

    /// Where a state at which the system is evaluated stands among the outputs.
    fn states(&self, call: usize) -> std::ops::Range<usize> {
        let Layout { width, dimension, unknowns, .. } = self.layout;
        let begin = (dimension + unknowns + call * dimension) * width;
        begin..begin + dimension * width
    }

    /// Forward: results, then residuals.
    pub(super) fn outputs(&self) -> &[f64] {
        let Layout { width, dimension, unknowns, .. } = self.layout;
        &self.outputs[..(dimension + unknowns) * width]
    }

    pub(super) fn by_part(&self) -> &[f64] {
        &self.gradients[self.gradients.len() - self.layout.width * self.layout.part..]
    }

    pub(super) fn by_moved(&self) -> &[f64] {
        let Layout { width, moved, part, .. } = self.layout;
        let end = self.gradients.len() - part * width;
        &self.gradients[end - moved * width..end]
    }

    pub(super) fn by_unknowns(&self) -> &[f64] {
        let Layout { width, unknowns, moved, part, .. } = self.layout;
        let end = self.gradients.len() - (part + moved) * width;
        &self.gradients[end - unknowns * width..end]
    }

    /// Backward, adds a multiple of the derivatives by the state to these, and of those by parameters and inputs to sums.
    pub(super) fn add(&self, scale: f64, adjoint: &mut [f64], sums: &mut [f64]) {
        let add = |sums: &mut [f64], terms: &[f64]| {
            sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += scale * term);
        };
        add(adjoint, &self.gradients);
        add_backward(scale, &self.sums, &self.by, self.layout.width, sums);
    }
}

/// Adds a multiple of what goes to parameters, of which some are asked for, and to inputs.
pub(super) fn add_backward(scale: f64, terms: &BackwardSums, by: &[usize], width: usize, sums: &mut [f64]) {
    let (parameters, inputs) = sums.split_at_mut(by.len() * width);
    for (row, &place) in parameters.chunks_exact_mut(width).zip(by) {
        let terms = &terms.parameters[place * width..][..width];
        row.iter_mut().zip(terms).for_each(|(sum, term)| *sum += scale * term);
    }
    inputs.iter_mut().zip(&terms.inputs).for_each(|(sum, term)| *sum += scale * term);
}

fn at(site: Site<'_>, c: f64) -> [f64; LANES] {
    let (t, h) = (site.interval.t, site.interval.h);
    std::array::from_fn(|lane| t.get(lane).map_or(0.0, |t| t + c * h[lane]))
}

fn evaluate(
    evaluator: &mut Evaluator,
    width: usize,
    inputs: &[f64],
    out: &mut [f64],
) -> Result<(), EvalError> {
    match width {
        1 => evaluator.eval(inputs, out).map_err(failed),
        _ => evaluator.eval_lanes(inputs, out).map_err(failed),
    }
}

/// The text around evaluations: \[y, values, unknowns, what the end was moved by, part, t, h\] to results, residuals and states.
fn write(
    text: &Text<'_>,
    part: Part,
    shape: Shape,
    width: usize,
) -> Result<(Program, Vec<Call>, Layout), EvalError> {
    let (d, inside) = (shape.dimension, part == Part::Inside);
    let mut most: usize = text.quantities().iter().map(|(_, times)| times).sum();
    if inside {
        most = 2 * most + dense::evaluations(text.order()) + LANES;
    }
    let mut layout =
        Layout { width, dimension: d, values: most * d, unknowns: shape.unknowns, moved: 0, part: 0 };
    if inside {
        (layout.moved, layout.part) = (d, 1);
    }
    let mut assembly = Assembly::with_inputs(layout.inputs(), &[]).map_err(failed)?;
    let rows = [d, layout.values, layout.unknowns, layout.moved, layout.part, 1, 1];
    let mut places = 0..;
    let rows = rows.map(|n| places.by_ref().take(n).map(|i| assembly.input(i)).collect::<Vec<Operand>>());
    let [y, values, unknowns, moved, tau, t, h] = rows;
    let mut builder = around(&mut assembly, [t[0], h[0]], values);
    let outputs = write_part(&mut builder, text, [&y, &unknowns, &moved], tau.first().copied());
    let mut outputs = outputs.map_err(failed)?;
    let calls = builder.calls().to_vec();
    outputs.extend(calls.iter().flat_map(|call| call.state.iter().copied()));
    let (program, _) = builder.finish(&outputs).map_err(failed)?;
    Ok((program, calls, layout))
}

fn around(assembly: &mut Assembly, times: [Operand; 2], values: Vec<Operand>) -> StepBuilder {
    StepBuilder::around(std::mem::take(assembly), times, values)
}

/// The level of each evaluation: one more than the highest of those that it depends on.
fn levels(program: &Program, calls: &[Call], layout: Layout) -> Vec<Evaluation> {
    let d = layout.dimension;
    let place = |operand: &Operand| match operand {
        Operand::Input(i) => *i as usize - d,
        other => unreachable!("{other:?} is no value of an evaluation"),
    };
    let mut all: Vec<Evaluation> = (calls.iter())
        .map(|call| Evaluation {
            quantity: call.quantity,
            c: call.c,
            first: call.values.first().map_or(0, place),
            count: call.values.len(),
            level: 0,
        })
        .collect();
    let outputs = &program.outputs()[program.outputs().len() - calls.len() * d..];
    loop {
        let owner =
            |i: usize| all.iter().find(|call| (call.first + d..call.first + d + call.count).contains(&i));
        let level_in = |temporaries: &[usize], operand: &Operand| match operand {
            Operand::Input(i) => owner(*i as usize).map_or(0, |call| call.level + 1),
            Operand::Temporary(i) => temporaries[*i as usize],
            _ => 0,
        };
        let mut temporaries: Vec<usize> = Vec::with_capacity(program.body().len());
        for instruction in program.body() {
            let level = instruction.arguments().iter().map(|a| level_in(&temporaries, a)).max();
            temporaries.push(level.unwrap_or(0));
        }
        let levels: Vec<usize> = (outputs.chunks_exact(d.max(1)))
            .map(|state| state.iter().map(|operand| level_in(&temporaries, operand)).max().unwrap_or(0))
            .collect();
        if all.iter().zip(&levels).all(|(call, level)| call.level == *level) {
            return all;
        }
        all.iter_mut().zip(levels).for_each(|(call, level)| call.level = level);
    }
}
