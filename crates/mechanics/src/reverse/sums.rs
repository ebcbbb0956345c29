//! Weighted quantities backwards, for one state or for eight: by reversed programs, and by Hessian products of energies that are no formulas.

use crate::dynamics::Dynamics;
use crate::energy::sum::Place;
use crate::engine::{check, wrong_length};
use crate::error::EvalError;
use crate::parameters::Revision;
use crate::quantity::Quantity;
use crate::system::System;
use leastaction_compile::{Evaluator, LANES};

/// What weights of results give to all that these depend on: sums in rows, one for each number, with the lanes side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct BackwardSums {
    /// By the state block \[q…, p…\].
    pub state: Vec<f64>,
    /// By time, while inputs stay as they are; NaN where an energy that is no formula depends on it.
    pub time: Vec<f64>,
    /// By the parameters, in the system's order.
    pub parameters: Vec<f64>,
    /// By a constant that is added to each input.
    pub inputs: Vec<f64>,
}

impl BackwardSums {
    /// Zeros for a system, in so many lanes.
    #[must_use]
    pub fn new(system: &System, width: usize) -> BackwardSums {
        let zeros = |rows: usize| vec![0.0; rows * width];
        BackwardSums {
            state: zeros(system.dimension()),
            time: zeros(1),
            parameters: zeros(system.parameters().len()),
            inputs: zeros(system.inputs().len()),
        }
    }

    /// Begins anew.
    pub fn clear(&mut self) {
        let BackwardSums { state, time, parameters, inputs } = self;
        [state, time, parameters, inputs].into_iter().for_each(|sums| sums.fill(0.0));
    }
}

/// The reversed programs of a thread, with their memory.
#[derive(Clone, Default)]
pub(crate) struct ReverseMemory {
    runners: Vec<Option<Box<Runner>>>,
}

#[derive(Clone)]
struct Runner {
    evaluator: Evaluator,
    revision: Revision,
    inputs: Vec<f64>,
    outputs: Vec<f64>,
}

impl Dynamics {
    /// Adds what weights of a quantity's numbers give: to `state`, by the block that it is a function of, and to all else.
    ///
    /// # Errors
    /// [`EvalError`] if the system has no such kernel, something in it has no reverse, or a slice does not fit.
    pub(crate) fn add_slopes(
        &mut self,
        quantity: Quantity,
        t: &[f64],
        block: &[f64],
        weights: &[f64],
        state: &mut [f64],
        sums: &mut BackwardSums,
    ) -> Result<(), EvalError> {
        self.check_reverse(quantity)?;
        self.add_formula_slopes(quantity, t, block, weights, state, sums)?;
        if self.engine.energies.is_empty() || !quantity.has_potentials() {
            return Ok(());
        }
        let half = state.len() / 2;
        let forces = match quantity {
            Quantity::Rates => &weights[half..],
            Quantity::Kick | Quantity::MomentumRates | Quantity::NetForces => weights,
            _ => return Ok(()), // accelerations: by who solves with masses
        };
        self.add_energy_slopes(t, block, forces, &mut state[..half], sums)
    }

    /// Adds what weights of the forces of energies that are no formulas give.
    pub(crate) fn add_energy_slopes(
        &mut self,
        t: &[f64],
        block: &[f64],
        weights: &[f64],
        places: &mut [f64],
        sums: &mut BackwardSums,
    ) -> Result<(), EvalError> {
        let system = self.system().clone();
        let engine = &mut self.engine;
        let at = Place { t, states: block, velocities: &[], parameters: &engine.parameters };
        engine.energies.add_change(at, false, weights, places)?;
        engine.energies.add_parameter_slopes(&system, at, weights, &mut sums.parameters)?;
        if system.energies().depend_on_time() {
            sums.time.fill(f64::NAN);
        }
        Ok(())
    }

    fn add_formula_slopes(
        &mut self,
        quantity: Quantity,
        t: &[f64],
        block: &[f64],
        weights: &[f64],
        state: &mut [f64],
        sums: &mut BackwardSums,
    ) -> Result<(), EvalError> {
        let width = t.len();
        check("state block", block.len(), state.len())?;
        if width != 1 && width != LANES {
            return Err(EvalError::Width { found: width });
        }
        let mut runner = self.take_runner(quantity)?;
        let Runner { evaluator, revision, inputs, outputs } = &mut *runner;
        let passed = self.pass_parameters(revision, |lane, values| match lane {
            None => evaluator.set_parameters(values),
            Some(lane) => evaluator.set_parameters_in(lane, values),
        });
        passed.map_err(wrong_length)?;
        let driven = self.system().inputs().len() * width;
        inputs.clear();
        inputs.extend(block);
        if !self.system().facts().autonomous {
            inputs.extend(t);
            inputs.resize(inputs.len() + driven, 0.0);
            self.engine.fill_inputs(t, &mut inputs[block.len() + width..]);
        }
        let read = inputs.len();
        inputs.extend(weights);
        outputs.resize(read + sums.parameters.len(), 0.0);
        let evaluated = match width {
            1 => evaluator.eval(inputs, outputs),
            _ => evaluator.eval_lanes(inputs, outputs),
        };
        evaluated.map_err(wrong_length)?;
        let (terms, by_parameters) = outputs.split_at(read);
        add(state, &terms[..block.len()]);
        if let Some((by_time, by_inputs)) = terms[block.len()..].split_at_checked(width) {
            add(&mut sums.time, by_time);
            add(&mut sums.inputs, by_inputs);
        }
        add(&mut sums.parameters, by_parameters);
        self.reverse.runners[quantity as usize] = Some(runner);
        Ok(())
    }

    fn take_runner(&mut self, quantity: Quantity) -> Result<Box<Runner>, EvalError> {
        if self.reverse.runners.is_empty() {
            self.reverse.runners = (0..Quantity::COUNT).map(|_| None).collect();
        }
        if let Some(runner) = self.reverse.runners[quantity as usize].take() {
            return Ok(runner);
        }
        let kernel = self.system().reverse_kernel(quantity)?;
        let evaluator = kernel.evaluator(self.parameters()).map_err(wrong_length)?;
        let (inputs, outputs) = (Vec::new(), Vec::new());
        Ok(Box::new(Runner { evaluator, revision: Revision::default(), inputs, outputs }))
    }

    /// Refuses what a quantity has no reverse of.
    fn check_reverse(&self, quantity: Quantity) -> Result<(), EvalError> {
        let (system, energies) = (self.system(), &self.engine.energies);
        let refused = |why| Err(EvalError::NoReverse { why });
        match () {
            () if system.lumped().is_some() => refused("the nodes of a mesh are computed from numbers"),
            () if system.repetition(quantity)?.is_some() => {
                refused("there are many thousands of constraints")
            }
            () if energies.dissipates() && quantity.has_potentials() => {
                refused("there is dissipation over elements")
            }
            () if energies.reads_held() && quantity.has_potentials() => {
                refused("coordinates are held, and elements or an opaque energy read them")
            }
            () => Ok(()),
        }
    }
}

pub(super) fn add(sums: &mut [f64], terms: &[f64]) {
    sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
}
