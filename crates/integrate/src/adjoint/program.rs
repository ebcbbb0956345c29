//! The programs of steps, forward and backward, and what runs them.

use super::error::AdjointError;
use super::reverse_step::Site;
use super::stages::Stages;
use crate::card::Card;
use crate::compiled_loop::StepCode;
use crate::compiled_step::{StepBuilder, failed};
use crate::dense;
use crate::step::{Step, StepEquations};
use leastaction_compile::{Arithmetic, Assembly, AssemblyError, Evaluator, Kernel, LANES, Operand, Program};
use leastaction_mechanics::{Dynamics, EvalError, Quantity, System};

/// Programs larger than this are not compiled: it would take seconds.
pub(super) const MOST_INSTRUCTIONS: usize = 200_000;

/// The text of a method's step.
pub(super) struct Text<'s> {
    kind: TextKind<'s>,
    order: u32,
}

enum TextKind<'s> {
    Explicit(&'s dyn StepCode),
    Implicit(&'s dyn StepEquations),
    /// Of legs, there is none.
    Legs,
}

impl<'s> Text<'s> {
    /// The text of a method at work, if it has one, or goes by legs.
    pub(super) fn find(step: &'s mut dyn Step, card: &Card) -> Option<Text<'s>> {
        let order = card.order;
        if step.legs().is_some() {
            return Some(Text { kind: TextKind::Legs, order });
        }
        if step.equations().is_some() {
            return step.equations().map(|equations| Text { kind: TextKind::Implicit(equations), order });
        }
        step.compiled().map(|method| Text { kind: TextKind::Explicit(method.text()), order })
    }

    /// The text of a method of which a tape was made.
    pub(super) fn of(step: &'s mut dyn Step, card: &Card) -> Text<'s> {
        Text::find(step, card).unwrap_or_else(|| unreachable!("a tape is of a method that has a text"))
    }

    pub(super) fn order(&self) -> u32 {
        self.order
    }

    /// Whether steps end where the text says, to rounding.
    pub(super) fn is_exact(&self) -> bool {
        !matches!(self.kind, TextKind::Implicit(equations) if !equations.are_solved())
    }

    pub(super) fn is_of_legs(&self) -> bool {
        matches!(self.kind, TextKind::Legs)
    }

    pub(super) fn unknowns(&self, dimension: usize) -> usize {
        match self.kind {
            TextKind::Explicit(_) | TextKind::Legs => 0,
            TextKind::Implicit(equations) => equations.unknowns(dimension),
        }
    }

    pub(super) fn guess(&self, change: &[f64], unknowns: &mut [f64]) {
        if let TextKind::Implicit(equations) = self.kind {
            equations.guess(change, unknowns);
        }
    }

    pub(super) fn quantities(&self) -> Vec<(Quantity, usize)> {
        match self.kind {
            TextKind::Explicit(text) => {
                let mut quantities = text.quantities();
                quantities.extend(text.first().map(|(quantity, _)| (quantity, 1)));
                quantities
            }
            TextKind::Implicit(equations) => equations.quantities(),
            TextKind::Legs => Vec::new(),
        }
    }
}

/// What is computed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Part {
    /// The change over a step.
    Step,
    /// The state after a part of a step.
    Inside,
}

/// What tells kernels of steps from the others of a system: backward ones are by some parameters.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct ProgramKey {
    pub(super) method: &'static str,
    pub(super) part: Part,
    pub(super) by: Option<Vec<usize>>,
}

impl ProgramKey {
    pub(super) fn new(card: &'static Card, part: Part, by: Option<&[usize]>) -> ProgramKey {
        ProgramKey { method: card.name, part, by: by.map(<[usize]>::to_vec) }
    }
}

/// The numbers of things, each of so many lanes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) width: usize,
    pub(super) dimension: usize,
    pub(super) unknowns: usize,
    pub(super) parameters: usize,
}

/// A text at work: one program with the rates of the system in it, or one around the system.
///
/// Inputs: the state, the unknowns of an implicit step, from within a step what its end was moved by and the part of the step, time,
/// length; and backward weights of the results, which are the change or the state within, and residuals. Outputs forward: these results. Backward: the derivatives by the state,
/// parameters, inputs of the system, unknowns, what the end was moved by, and the part of the step.
pub(super) enum Runner {
    Whole(Whole),
    Around(Box<Stages>),
}

impl Runner {
    pub(super) fn new(
        dynamics: &Dynamics,
        text: &Text<'_>,
        key: ProgramKey,
        lanes: (usize, &[Vec<f64>]),
        shape: Shape,
    ) -> Result<Runner, AdjointError> {
        let facts = dynamics.system().facts();
        let is_whole = facts.explicit && facts.one_kernel;
        if is_whole {
            match Whole::new(dynamics, text, key.clone(), lanes, shape) {
                Err(AdjointError::TooLarge { .. }) => {}
                other => return Ok(Runner::Whole(other?)),
            }
        }
        Ok(Runner::Around(Box::new(Stages::new(dynamics, text, &key, lanes, shape)?)))
    }

    /// Evaluates at a step, with unknowns, what the end was moved by and parts of the step, and weights of results and of residuals.
    pub(super) fn eval(
        &mut self,
        dynamics: &Dynamics,
        site: Site<'_>,
        more: [&[f64]; 3],
        weights: [&[f64]; 2],
    ) -> Result<(), EvalError> {
        match self {
            Runner::Whole(whole) => whole.eval(dynamics, site, more, weights),
            Runner::Around(stages) => stages.eval(site, more, weights),
        }
    }

    /// Forward, results and residuals.
    pub(super) fn results(&self) -> &[f64] {
        match self {
            Runner::Whole(whole) => &whole.outputs,
            Runner::Around(stages) => stages.outputs(),
        }
    }

    /// Backward, the derivatives by the part of the step, lane by lane.
    pub(super) fn by_part(&self, shape: Shape) -> &[f64] {
        match self {
            Runner::Whole(whole) => whole.by_part(shape),
            Runner::Around(stages) => stages.by_part(),
        }
    }

    /// Backward, the derivatives by what the end of the step was moved by.
    pub(super) fn by_moved(&self, shape: Shape) -> &[f64] {
        match self {
            Runner::Whole(whole) => whole.by_moved(shape),
            Runner::Around(stages) => stages.by_moved(),
        }
    }

    /// Backward, the derivatives by unknowns, which are so many in all lanes.
    pub(super) fn by_unknowns(&self, shape: Shape) -> &[f64] {
        match self {
            Runner::Whole(whole) => whole.by_unknowns(shape),
            Runner::Around(stages) => stages.by_unknowns(),
        }
    }

    /// Backward, adds a multiple of the derivatives by the state to these, and of those by parameters and inputs to sums.
    pub(super) fn add(&self, scale: f64, shape: Shape, adjoint: &mut [f64], sums: &mut [f64]) {
        match self {
            Runner::Whole(whole) => whole.add(scale, shape, adjoint, sums),
            Runner::Around(stages) => stages.add(scale, adjoint, sums),
        }
    }
}

/// One program with the rates of the system in it; the inputs of the system are given for each evaluation.
pub(super) struct Whole {
    evaluator: Evaluator,
    /// When the system is evaluated, as parts of the step.
    evaluated: Vec<f64>,
    inputs: Vec<f64>,
    outputs: Vec<f64>,
    driven: usize,
    is_inside: bool,
}

impl Whole {
    fn new(
        dynamics: &Dynamics,
        text: &Text<'_>,
        key: ProgramKey,
        (width, parameters): (usize, &[Vec<f64>]),
        shape: Shape,
    ) -> Result<Whole, AdjointError> {
        let (system, part, method) = (dynamics.system(), key.part, key.method);
        // Times of evaluations are asked for where inputs are; else programs are written only once.
        let written = if system.inputs().is_empty() { None } else { Some(write(system, text, part)?) };
        let evaluated = written.as_ref().map_or_else(Vec::new, |(_, evaluated)| evaluated.clone());
        let (mut instructions, by) = (0, key.by.clone());
        let kernel = system.composed_kernel(key, || {
            let (mut program, evaluated) = match written {
                Some(written) => written,
                None => write(system, text, part)?,
            };
            if let Some(by) = by {
                program = reversed(system, &program, (part, evaluated.len()), &by, shape)?;
            }
            instructions = program.body().len();
            if instructions > MOST_INSTRUCTIONS {
                return Kernel::compile_lightly(Program::default()).map_err(failed);
            }
            Kernel::compile(program).map_err(failed)
        })?;
        if kernel.program().inputs().is_empty() {
            return Err(AdjointError::TooLarge { method, limit: MOST_INSTRUCTIONS });
        }
        let mut evaluator = kernel.evaluator(&parameters[0]).map_err(failed)?;
        if width == LANES {
            for (lane, own) in parameters.iter().enumerate() {
                evaluator.set_parameters_in(lane, own).map_err(failed)?;
            }
        }
        let program = kernel.program();
        Ok(Whole {
            evaluated,
            inputs: vec![0.0; program.inputs().len() * width],
            outputs: vec![0.0; program.outputs().len() * width],
            driven: system.inputs().len(),
            is_inside: part == Part::Inside,
            evaluator,
        })
    }

    fn eval(
        &mut self,
        dynamics: &Dynamics,
        site: Site<'_>,
        [unknowns, moved, parts]: [&[f64]; 3],
        weights: [&[f64]; 2],
    ) -> Result<(), EvalError> {
        let (t, h) = (site.interval.t, site.interval.h);
        let width = t.len();
        let (state, rest) = self.inputs.split_at_mut(site.y.len());
        state.copy_from_slice(site.y);
        let (driven, mut rest) = rest.split_at_mut(self.evaluated.len() * self.driven * width);
        if !driven.is_empty() {
            let mut values = vec![0.0; self.driven];
            for (rows, &c) in driven.chunks_exact_mut(self.driven * width).zip(&self.evaluated) {
                for lane in 0..width {
                    dynamics.inputs_at(t[lane] + c * h[lane], &mut values);
                    values.iter().enumerate().for_each(|(i, value)| rows[i * width + lane] = *value);
                }
            }
        }
        let [moved, parts] = if self.is_inside { [moved, parts] } else { [&[][..]; 2] };
        for row in [unknowns, moved, parts, t, h, weights[0], weights[1]] {
            let (head, tail) = rest.split_at_mut(row.len());
            head.copy_from_slice(row);
            rest = tail;
        }
        debug_assert!(rest.is_empty(), "all inputs are given");
        let evaluated = match width {
            LANES => self.evaluator.eval_lanes(&self.inputs, &mut self.outputs),
            _ => self.evaluator.eval(&self.inputs, &mut self.outputs),
        };
        evaluated.map_err(failed)
    }

    fn by_part(&self, shape: Shape) -> &[f64] {
        let count = if self.is_inside { shape.width } else { 0 };
        &self.outputs[self.outputs.len() - count..]
    }

    fn by_moved(&self, shape: Shape) -> &[f64] {
        let end = self.outputs.len() - if self.is_inside { shape.width } else { 0 };
        let count = if self.is_inside { shape.dimension * shape.width } else { 0 };
        &self.outputs[end - count..end]
    }

    fn by_unknowns(&self, shape: Shape) -> &[f64] {
        let rows = if self.is_inside { shape.dimension + 1 } else { 0 };
        let end = self.outputs.len() - rows * shape.width;
        &self.outputs[end - shape.unknowns * shape.width..end]
    }

    fn add(&self, scale: f64, shape: Shape, adjoint: &mut [f64], sums: &mut [f64]) {
        let add = |sums: &mut [f64], terms: &[f64]| {
            sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += scale * term);
        };
        let (state, rest) = self.outputs.split_at(adjoint.len());
        add(adjoint, state);
        let rows = shape.parameters * shape.width;
        let (parameters, inputs) = sums.split_at_mut(rows);
        add(parameters, rest);
        if !inputs.is_empty() {
            let evaluations = rest[rows..].chunks_exact(inputs.len()).take(self.evaluated.len());
            evaluations.for_each(|row| add(inputs, row));
        }
    }
}

/// The program of a step, or of the state within it, and when it evaluates the system, if that has inputs.
fn write(system: &System, text: &Text<'_>, part: Part) -> Result<(Program, Vec<f64>), EvalError> {
    let mut quantities = text.quantities();
    let mut evaluations: usize = quantities.iter().map(|(_, times)| times).sum();
    if part == Part::Inside {
        quantities.push((Quantity::Rates, 0));
        // The polynomial of a step has a few stages more, or rates at points of the step.
        evaluations = 2 * evaluations + dense::evaluations(text.order) + LANES;
    }
    let mut programs: Vec<(Quantity, Program)> = Vec::new();
    for (quantity, _) in quantities {
        if programs.iter().all(|(known, _)| *known != quantity) {
            programs.push((quantity, system.kernel(quantity)?.source().clone()));
        }
    }
    let (d, u, n) = (system.dimension(), system.inputs().len(), text.unknowns(system.dimension()));
    let inside = usize::from(part == Part::Inside);
    let rows = [d, evaluations * u, n, inside * d, inside, 1, 1];
    let parameters = programs[0].1.parameters().to_vec();
    let assembly = Assembly::with_inputs(rows.iter().sum(), &parameters).map_err(failed)?;
    let mut places = 0..;
    let rows = rows.map(|n| places.by_ref().take(n).map(|i| assembly.input(i)).collect::<Vec<Operand>>());
    let [y, driven, unknowns, moved, tau, t, h] = rows;
    let driven = driven.chunks(u.max(1)).map(<[Operand]>::to_vec).collect();
    let mut builder = StepBuilder::new(assembly, programs, !system.facts().autonomous, [t[0], h[0]], driven);
    let outputs = write_part(&mut builder, text, [&y, &unknowns, &moved], tau.first().copied());
    let (program, mut evaluated) = builder.finish(&outputs.map_err(failed)?).map_err(failed)?;
    assert!(evaluated.len() <= evaluations, "a step evaluates more than it says");
    // What is not evaluated is read nowhere.
    evaluated.resize(if u == 0 { 0 } else { evaluations }, 0.0);
    Ok((program, evaluated))
}

/// Writes the change over a step, or the state after a part of it, where the end of the step was moved; and residuals.
pub(super) fn write_part(
    builder: &mut StepBuilder,
    text: &Text<'_>,
    [y, unknowns, moved]: [&[Operand]; 3],
    tau: Option<Operand>,
) -> Result<Vec<Operand>, AssemblyError> {
    let nothing = &vec![builder.assembly().constant(0.0); y.len()][..];
    let [change, residuals] = match text.kind {
        TextKind::Explicit(code) => {
            let first = match code.first() {
                Some((quantity, c)) => builder.quantity(quantity, c, y.to_vec())?,
                None => Vec::new(),
            };
            if let Some(tau) = tau
                && let Some(mut inside) = code.write_inside(builder, [y, nothing, &first], tau)?
            {
                // What its end is short of is spread over the step.
                let a = builder.assembly();
                inside.iter_mut().zip(moved).for_each(|(x, moved)| *x = a.mul_add(tau, *moved, *x));
                return Ok(inside);
            }
            [code.write(builder, [y, nothing, &first], None)?.change, Vec::new()]
        }
        TextKind::Implicit(equations) => {
            let [change, residuals] = equations.write(builder, y, unknowns)?;
            if let Some(tau) = tau
                && let Some(mut inside) = equations.write_inside(builder, y, unknowns, tau)
            {
                let a = builder.assembly();
                inside.iter_mut().zip(moved).for_each(|(x, moved)| *x = a.mul_add(tau, *moved, *x));
                return Ok([inside, residuals].concat());
            }
            [change, residuals]
        }
        TextKind::Legs => [nothing.to_vec(), Vec::new()],
    };
    let results = match tau {
        None => change,
        Some(tau) => {
            let a = builder.assembly();
            let change: Vec<Operand> =
                change.iter().zip(moved).map(|(change, moved)| a.add(*change, *moved)).collect();
            dense::write_inside(builder, text.order, [y, nothing, &change], tau)?
        }
    };
    Ok([results, residuals].concat())
}

/// The reverse of a program of a step: by the state, parameters, the system's inputs, unknowns, and the part of the step.
fn reversed(
    system: &System,
    program: &Program,
    (part, evaluations): (Part, usize),
    by: &[usize],
    shape: Shape,
) -> Result<Program, EvalError> {
    let (d, driven) = (shape.dimension, evaluations * system.inputs().len());
    let input = |i: usize| Operand::Input(i as u32);
    let mut variables: Vec<Operand> = (0..d).map(input).collect();
    variables.extend(by.iter().map(|&i| Operand::Parameter(i as u32)));
    variables.extend((d..d + driven).map(input));
    let more = shape.unknowns + if part == Part::Inside { d + 1 } else { 0 };
    variables.extend((d + driven..d + driven + more).map(input));
    program.reverse(&variables).map_err(failed)
}
