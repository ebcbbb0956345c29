//! Derivatives backwards: what weights of results give to the state, to time and to parameters, by reversed programs.

mod constraint;
mod rates;
mod sums;

pub use sums::BackwardSums;
pub(crate) use sums::ReverseMemory;

use crate::dynamics::Dynamics;
use crate::engine::wrong_length;
use crate::error::EvalError;
use crate::input::Input;
use crate::observe::{Observable, Observation, Read};
use crate::quantity::Quantity;
use crate::system::System;
use leastaction_compile::{CodeError, Kernel, Operand, Program};

/// The derivatives of a number, or of a weighted sum of numbers, by all that it depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct Slopes {
    /// By the block that it was evaluated at.
    pub state: Vec<f64>,
    /// By time.
    pub time: f64,
    /// By the parameters, in the system's order.
    pub parameters: Vec<f64>,
}

/// What tells kernels of reverses from others.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct ReverseKey(usize);

impl System {
    /// The reverse of what formulas give to a quantity: by all of its inputs, then by all parameters. Compiled if this is the first time it is asked for.
    fn reverse_kernel(&self, quantity: Quantity) -> Result<Kernel, EvalError> {
        let kernel = self.formula_kernel(quantity)?;
        self.composed_kernel(ReverseKey(quantity as usize), || reversed(kernel.source(), quantity.name()))
    }
}

/// The reverse of a program by all of its inputs and parameters.
fn reversed(program: &Program, what: &'static str) -> Result<Kernel, EvalError> {
    let inputs = (0..program.inputs().len()).map(|i| Operand::Input(i as u32));
    let parameters = (0..program.parameters().len()).map(|i| Operand::Parameter(i as u32));
    let by: Vec<Operand> = inputs.chain(parameters).collect();
    let failed = |source: CodeError| EvalError::Compile { what, source };
    let reverse = program.reverse(&by).map_err(|e| failed(e.into()))?;
    Kernel::compile(reverse).map_err(|e| failed(e.into()))
}

impl Dynamics {
    /// The derivatives of an observable at y. `None` if it is no formula: it reads what is measured, such as an energy, or an input that changes with time.
    ///
    /// # Errors
    /// [`EvalError`] if velocities do not follow from momenta.
    pub fn observable_slopes(
        &mut self,
        observable: Observable,
        t: f64,
        y: &[f64],
    ) -> Result<Option<Slopes>, EvalError> {
        let parameters = self.parameters().to_vec();
        let mut slopes =
            Slopes { state: vec![0.0; y.len()], time: 0.0, parameters: vec![0.0; parameters.len()] };
        let (evaluator, reads, kept) = match self.observatory.observation(observable) {
            Some(Observation::State(place)) => {
                slopes.state[*place] = 1.0;
                return Ok(Some(slopes));
            }
            Some(Observation::Computed(evaluator, reads, kept)) => {
                (evaluator.clone(), reads.clone(), kept.clone())
            }
            None => {
                let what = "observables of another system";
                return Err(EvalError::Undefined { what, form: self.system().facts().form });
            }
        };
        let known = |read: &Read| match read {
            Read::Measured(_) => false,
            Read::Input(place) => matches!(self.engine.inputs[*place], Input::Constant(_)),
            _ => true,
        };
        if !reads.iter().all(known) {
            return Ok(None);
        }
        let half = y.len() / 2;
        let mut v = vec![0.0; half];
        if reads.iter().any(|read| matches!(read, Read::Velocity(_))) {
            self.velocities(&[t], y, &mut v)?;
        }
        let value = |read: &Read| match read {
            Read::State(place) => y[*place],
            Read::Velocity(place) => v[*place],
            Read::Time => t,
            Read::Input(place) => self.engine.inputs[*place].at(t),
            Read::Measured(_) => unreachable!("what is measured was refused"),
        };
        let inputs: Vec<f64> = reads.iter().map(value).chain([1.0]).collect();
        let reverse = match kept {
            Some(reverse) => reverse,
            None => {
                let reverse = reversed(evaluator.kernel().source(), "observables")?;
                self.observatory.keep_reverse(observable, reverse.clone());
                reverse
            }
        };
        let mut reverse = reverse.evaluator(&parameters).map_err(wrong_length)?;
        let mut gradient = vec![0.0; reads.len() + parameters.len()];
        reverse.eval(&inputs, &mut gradient).map_err(wrong_length)?;
        let (by_reads, by_parameters) = gradient.split_at(reads.len());
        slopes.parameters.copy_from_slice(by_parameters);
        let mut weights = vec![0.0; half];
        for (read, &slope) in reads.iter().zip(by_reads) {
            match read {
                Read::State(place) => slopes.state[*place] += slope,
                Read::Velocity(place) => weights[*place] += slope,
                Read::Time => slopes.time += slope,
                Read::Input(_) | Read::Measured(_) => {}
            }
        }
        if weights.iter().any(|w| *w != 0.0) {
            let mut more = BackwardSums::new(self.system(), 1);
            self.add_drift_slopes(&[t], y, &weights, &mut more)?;
            sums::add(&mut slopes.state, &more.state);
            sums::add(&mut slopes.parameters, &more.parameters);
            slopes.time += more.time[0];
        }
        Ok(Some(slopes))
    }

    /// The derivatives of a weighted sum of the momenta at \[q…, v…\].
    ///
    /// # Errors
    /// [`EvalError`] if momenta are no formula, or a slice does not fit.
    pub fn momentum_slopes(&mut self, t: f64, z: &[f64], weights: &[f64]) -> Result<Slopes, EvalError> {
        let mut sums = BackwardSums::new(self.system(), 1);
        let mut state = vec![0.0; z.len()];
        self.add_slopes(Quantity::Momenta, &[t], z, weights, &mut state, &mut sums)?;
        Ok(Slopes { state, time: sums.time[0], parameters: sums.parameters })
    }

    /// The values of the inputs at a time.
    pub fn inputs_at(&self, t: f64, values: &mut [f64]) {
        values.iter_mut().zip(&self.engine.inputs).for_each(|(value, input)| *value = input.at(t));
    }
}
