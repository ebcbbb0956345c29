//! Kernels with their parameters and inputs, evaluated on blocks.

use crate::element::search::RepetitionEvaluator;
use crate::energy::sum::{EnergySum, Place};
use crate::error::{EvalError, SettingError};
use crate::input::Input;
use crate::inverse::grow;
use crate::lumped::sum::LumpedSum;
use crate::parameters::Parameters;
use crate::quantity::Quantity;
use crate::system::System;
use leastaction_compile::{ArgumentError, Evaluator, LANES};
use leastaction_expr::nearest;

/// The evaluators of a system's kernels.
#[derive(Clone)]
pub(crate) struct Engine {
    pub(crate) system: System,
    pub(crate) parameters: Parameters,
    pub(crate) inputs: Vec<Input>,
    evaluators: [Option<Runner>; Quantity::COUNT],
    /// What is added to the values of kernels.
    pub(crate) energies: EnergySum,
    /// Nodes, if there are any that are computed from numbers.
    pub(crate) lumped: Option<Box<LumpedSum>>,
    /// A state block with time and inputs after it, for systems that are not autonomous.
    block: Vec<f64>,
    /// The masses with the parameters that are being set.
    weigher: Option<Evaluator>,
    masses: Vec<f64>,
    group: Group,
}

/// Eight lanes of a wider block, and what is computed for them.
#[derive(Clone, Default)]
pub(crate) struct Group {
    states: Vec<f64>,
    out: Vec<f64>,
}

/// What evaluates a quantity: one kernel, or one for each form of many constraints.
#[derive(Clone)]
enum Runner {
    Whole(Evaluator),
    Repeated(RepetitionEvaluator),
}

impl Engine {
    pub(crate) fn new(system: System) -> Result<Engine, SettingError> {
        let values: Vec<f64> = system.parameters().iter().map(|(_, value)| *value).collect();
        let inputs = vec![Input::Constant(0.0); system.inputs().len()];
        let rows =
            [Quantity::Rates, Quantity::Constraints].map(|quantity| formula_dimension(&system, quantity));
        let extended = rows[0].max(rows[1]) + 1 + inputs.len();
        let block = if system.facts().autonomous { Vec::new() } else { vec![0.0; extended * LANES] };
        let evaluators = [const { None }; Quantity::COUNT];
        let masses = vec![0.0; system.massive().len()];
        let parameters = Parameters::new(values.clone());
        let (degrees, shares) = (system.degrees(), system.shares().len());
        let energies = EnergySum::new(system.energies(), degrees, shares, &parameters)?;
        let lumped = system.lumped().map(|lumped| LumpedSum::new(lumped, &parameters)).transpose()?;
        let mut engine = Engine {
            system,
            parameters,
            inputs,
            evaluators,
            energies,
            lumped: lumped.map(Box::new),
            block,
            weigher: None,
            masses,
            group: Group::default(),
        };
        engine.check_masses(&values)?;
        Ok(engine)
    }

    pub(crate) fn set_parameters(&mut self, values: &[f64]) -> Result<(), SettingError> {
        self.check_parameters(values)?;
        self.parameters.set(values);
        for runner in self.evaluators.iter_mut().flatten() {
            match runner {
                Runner::Whole(evaluator) => evaluator.set_parameters(values).map_err(wrong_length)?,
                Runner::Repeated(repeated) => repeated.set_parameters(values)?,
            }
        }
        self.lumped.iter_mut().try_for_each(|lumped| lumped.set_parameters(values))?;
        Ok(self.energies.set_parameters(values)?)
    }

    /// Returns whether anything changed.
    pub(crate) fn set_parameters_in(&mut self, lane: usize, values: &[f64]) -> Result<bool, SettingError> {
        if lane >= LANES {
            return Err(SettingError::NoLane { lane });
        }
        let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits();
        let old = self.parameters.lane(lane);
        if old.len() == values.len() && old.iter().zip(values).all(same) {
            return Ok(false);
        }
        self.check_parameters(values)?;
        self.parameters.set_in(lane, values);
        for runner in self.evaluators.iter_mut().flatten() {
            match runner {
                Runner::Whole(evaluator) => {
                    evaluator.set_parameters_in(lane, values).map_err(wrong_length)?
                }
                Runner::Repeated(repeated) => repeated.set_parameters_in(lane, values)?,
            }
        }
        self.lumped.iter_mut().try_for_each(|lumped| lumped.set_parameters_in(lane, values))?;
        self.energies.set_parameters_in(lane, values)?;
        Ok(true)
    }

    fn check_parameters(&mut self, values: &[f64]) -> Result<(), SettingError> {
        let names = self.system.parameters();
        if values.len() != names.len() {
            return Err(SettingError::Count { expected: names.len(), found: values.len() });
        }
        if let Some(((name, _), &value)) = names.iter().zip(values).find(|(_, v)| !v.is_finite()) {
            return Err(SettingError::NotFinite { what: "parameter", name: name.clone(), value });
        }
        self.check_masses(values)
    }

    pub(crate) fn find_parameter(&self, name: &str) -> Result<usize, SettingError> {
        let names: Vec<&str> = self.system.parameters().iter().map(|(name, _)| name.as_str()).collect();
        find("parameter", name, &names)
    }

    pub(crate) fn set_input(&mut self, name: &str, input: Input) -> Result<(), SettingError> {
        if self.system.stated_inputs().iter().any(|stated| stated == name) {
            return Err(SettingError::Stated { name: name.to_owned() });
        }
        let names: Vec<&str> = self.system.inputs().iter().map(String::as_str).collect();
        let place = find("input", name, &names)?;
        if let Input::Constant(value) = input
            && !value.is_finite()
        {
            return Err(SettingError::NotFinite { what: "input", name: name.to_owned(), value });
        }
        self.inputs[place] = input;
        Ok(())
    }

    /// Takes the inputs of the same system on other branches.
    pub(crate) fn take_inputs(&mut self, other: &Engine) {
        self.inputs.clone_from(&other.inputs);
    }

    fn check_masses(&mut self, parameters: &[f64]) -> Result<(), SettingError> {
        self.lumped.iter().try_for_each(|lumped| lumped.check(parameters))?;
        let particles = self.system.massive();
        if particles.is_empty() {
            return Ok(());
        }
        let evaluator = match &mut self.weigher {
            Some(evaluator) => evaluator,
            empty => {
                let kernel = self.system.kernel(Quantity::Masses)?;
                empty.insert(kernel.evaluator(parameters).map_err(wrong_length)?)
            }
        };
        evaluator.set_parameters(parameters).map_err(wrong_length)?;
        evaluator.eval(&[], &mut self.masses).map_err(wrong_length)?;
        match self.masses.iter().zip(particles).find(|(m, _)| !(**m > 0.0 && m.is_finite())) {
            Some((&value, particle)) => Err(SettingError::BadMass { particle: particle.clone(), value }),
            None => Ok(()),
        }
    }

    /// The values of the inputs, in lanes.
    pub(crate) fn fill_inputs(&self, t: &[f64], rows: &mut [f64]) {
        fill_inputs(&self.inputs, t, rows);
    }

    /// Whether the system has a kernel for a quantity.
    pub(crate) fn has(&self, quantity: Quantity) -> bool {
        self.system.has(quantity)
    }

    pub(crate) fn prepare(&mut self, quantity: Quantity) -> Result<(), EvalError> {
        if self.evaluators[quantity as usize].is_none() {
            let runner = match self.system.repetition(quantity)? {
                Some(repetition) => Runner::Repeated(repetition.evaluator(&self.parameters)?),
                None => {
                    let kernel = self.system.formula_kernel(quantity)?;
                    Runner::Whole(self.parameters.evaluator(&kernel).map_err(wrong_length)?)
                }
            };
            self.evaluators[quantity as usize] = Some(runner);
        }
        Ok(())
    }

    /// Checks that there are 1 or 8 lanes, and a state for each.
    #[inline]
    pub(crate) fn check_block(&self, t: &[f64], states: &[f64]) -> Result<(), EvalError> {
        if t.len() != 1 && t.len() != LANES {
            return Err(EvalError::Width { found: t.len() });
        }
        check("state block", self.system.dimension() * t.len(), states.len())
    }

    /// Evaluates a quantity at a block of states: of one, of eight, or of any multiple of eight, whose lanes have the parameters of
    /// their places in groups of eight.
    #[inline]
    pub(crate) fn eval(
        &mut self,
        quantity: Quantity,
        t: &[f64],
        states: &[f64],
        out: &mut [f64],
    ) -> Result<(), EvalError> {
        if self.lumped.is_some() {
            self.eval_nodes(quantity, t, states, out)?;
        } else if t.len() > LANES {
            self.eval_groups(quantity, t, states, out)?;
        } else {
            self.eval_formulas(quantity, t, states, out)?;
        }
        if self.energies.is_empty() {
            return Ok(());
        }
        self.energies.add(quantity, Place { t, states, velocities: &[], parameters: &self.parameters }, out)
    }

    /// What formulas and nodes give to a quantity.
    fn eval_nodes(
        &mut self,
        quantity: Quantity,
        t: &[f64],
        states: &[f64],
        out: &mut [f64],
    ) -> Result<(), EvalError> {
        let Some(mut lumped) = self.lumped.take() else { return Ok(()) };
        let result = self.eval_merged(&mut lumped, quantity, t, states, out);
        self.lumped = Some(lumped);
        result
    }

    fn eval_merged(
        &mut self,
        lumped: &mut LumpedSum,
        quantity: Quantity,
        t: &[f64],
        states: &[f64],
        out: &mut [f64],
    ) -> Result<(), EvalError> {
        let width = t.len();
        if width != 1 && !(width > 0 && width.is_multiple_of(LANES)) {
            return Err(EvalError::Width { found: width });
        }
        check("state block", self.system.dimension() * width, states.len())?;
        if lumped.system.reads_nodes(quantity) {
            return match width > LANES {
                true => self.eval_groups(quantity, t, states, out),
                false => self.eval_formulas(quantity, t, states, out),
            };
        }
        lumped.system.check_length(quantity, &self.system, width, out.len())?;
        let len = lumped.system.formula_len(quantity, out.len(), width);
        grow(&mut lumped.formula_values, len);
        if len > 0 {
            lumped.gather(states, width);
            let states = &lumped.states[..formula_dimension(&self.system, quantity) * width];
            let formula_values = &mut lumped.formula_values[..len];
            match width > LANES {
                true => self.eval_groups(quantity, t, states, formula_values)?,
                false => self.eval_formulas(quantity, t, states, formula_values)?,
            }
        }
        lumped.scatter(quantity, len, width, out);
        lumped.add(quantity, t, states, out)
    }

    /// Adds the forces of what is no formula, at \[q…, v…\].
    pub(crate) fn add_forces(
        &mut self,
        t: &[f64],
        states: &[f64],
        forces: &mut [f64],
    ) -> Result<(), EvalError> {
        let (q, v) = states.split_at(states.len() / 2);
        self.energies.add_forces(Place { t, states: q, velocities: v, parameters: &self.parameters }, forces)
    }

    /// What formulas give to a quantity, for 1 or 8 lanes.
    #[inline]
    fn eval_formulas(
        &mut self,
        quantity: Quantity,
        t: &[f64],
        states: &[f64],
        out: &mut [f64],
    ) -> Result<(), EvalError> {
        let width = t.len();
        if width != 1 && width != LANES {
            return Err(EvalError::Width { found: width });
        }
        let dimension = formula_dimension(&self.system, quantity);
        check("state block", dimension * width, states.len())?;
        self.prepare(quantity)?;
        let inputs = if self.block.is_empty() {
            states
        } else {
            // One copy of the state: a small part of what any kernel costs.
            let (head, tail) = self.block.split_at_mut(states.len());
            head.copy_from_slice(states);
            let (time, driven) = tail.split_at_mut(width);
            time.copy_from_slice(t);
            fill_inputs(&self.inputs, t, driven);
            &self.block[..(dimension + 1 + self.inputs.len()) * width]
        };
        match (&mut self.evaluators[quantity as usize], width) {
            (Some(Runner::Whole(evaluator)), 1) => evaluator.eval(inputs, out).map_err(wrong_length),
            (Some(Runner::Whole(evaluator)), _) => evaluator.eval_lanes(inputs, out).map_err(wrong_length),
            (Some(Runner::Repeated(repeated)), _) => repeated.eval(width, inputs, out),
            (None, _) => unreachable!("{quantity:?} was prepared"),
        }
    }

    /// What formulas give to a quantity, for more lanes than eight.
    fn eval_groups(
        &mut self,
        quantity: Quantity,
        t: &[f64],
        states: &[f64],
        out: &mut [f64],
    ) -> Result<(), EvalError> {
        check("state block", formula_dimension(&self.system, quantity) * t.len(), states.len())?;
        let mut group = std::mem::take(&mut self.group);
        let result = group.run(t, states, out, |t, states, out| self.eval_formulas(quantity, t, states, out));
        self.group = group;
        result
    }
}

impl Group {
    /// Runs what takes blocks of eight lanes over a wider block. All groups are done; of errors, the first is told.
    pub(crate) fn run(
        &mut self,
        t: &[f64],
        states: &[f64],
        out: &mut [f64],
        mut eval: impl FnMut(&[f64], &[f64], &mut [f64]) -> Result<(), EvalError>,
    ) -> Result<(), EvalError> {
        let width = t.len();
        if !width.is_multiple_of(LANES) {
            return Err(EvalError::Width { found: width });
        }
        let (rows, results) = (states.len() / width, out.len() / width);
        check("results", results * width, out.len())?;
        grow(&mut self.states, rows * LANES);
        grow(&mut self.out, results * LANES);
        let (group, outputs) = (&mut self.states[..rows * LANES], &mut self.out[..results * LANES]);
        let mut result = Ok(());
        for first in (0..width).step_by(LANES) {
            for (to, from) in group.chunks_exact_mut(LANES).zip(states.chunks_exact(width)) {
                to.copy_from_slice(&from[first..][..LANES]);
            }
            let evaluated = eval(&t[first..][..LANES], group, outputs);
            result = result.and(evaluated.map_err(|error| error.in_group(first)));
            for (to, from) in out.chunks_exact_mut(width).zip(outputs.chunks_exact(LANES)) {
                to[first..][..LANES].copy_from_slice(from);
            }
        }
        result
    }
}

/// The length of a state block of those coordinates alone that formulas of a quantity are functions of.
fn formula_dimension(system: &System, quantity: Quantity) -> usize {
    let lumped = system.lumped().filter(|lumped| !lumped.reads_nodes(quantity));
    lumped.map_or(system.dimension(), |lumped| 2 * lumped.formula.len())
}

fn fill_inputs(inputs: &[Input], t: &[f64], rows: &mut [f64]) {
    for (row, input) in rows.chunks_exact_mut(t.len()).zip(inputs) {
        row.iter_mut().zip(t).for_each(|(u, &t)| *u = input.at(t));
    }
}

#[inline]
pub(crate) fn check(what: &'static str, expected: usize, found: usize) -> Result<(), EvalError> {
    if expected == found { Ok(()) } else { Err(EvalError::WrongLength { what, expected, found }) }
}

/// What a kernel refuses, once widths and parameters are checked: outputs of the wrong length.
#[cold]
pub(crate) fn wrong_length(error: ArgumentError) -> EvalError {
    match error {
        ArgumentError::WrongLength { what, expected, found } => {
            EvalError::WrongLength { what, expected, found }
        }
        other => EvalError::Compile { what: "arguments", source: other.into() },
    }
}

fn find(what: &'static str, name: &str, names: &[&str]) -> Result<usize, SettingError> {
    names.iter().position(|n| *n == name).ok_or_else(|| {
        let nearest = nearest(name, names.iter().copied());
        SettingError::Unknown { what, name: name.to_owned(), nearest }
    })
}
