//! Predictions beside the truth: errors over time, how well the energy of the true system is kept, and its constraints.

use super::band::Band;
use super::error::{ErrorSummary, SMALLEST, mean_over_time, summarize};
use crate::data::{Origin, momenta};
use leastaction_expr::Graph;
use leastaction_mechanics::{Dynamics, EvalError};
use leastaction_simulate::PrepareError;

/// Smaller violations of constraints are rounding.
const ROUNDING: f64 = 1e-16;

/// Judges predictions by a true system.
#[derive(Clone)]
pub struct Judge {
    dynamics: Dynamics,
    dt: f64,
    samples: usize,
    truth: Vec<f64>,
    /// Of each sample of the truth.
    energies: Vec<f64>,
}

/// What predictions of many trajectories come to.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The relative error of positions and velocities, summed up,
    pub summary: ErrorSummary,
    /// and over time.
    pub error: Band,
    /// How far the energy of what is predicted is from that of the truth, by the sum of both sizes.
    pub energy: Band,
    /// Its mean over time and trajectories, both geometric.
    pub energy_mean: f64,
    /// The largest violation of a constraint of positions; nothing without constraints.
    pub violation: Option<Band>,
    /// The largest of all, where predictions did not run away.
    pub violation_most: f64,
}

/// Why predictions cannot be judged.
#[derive(Debug, thiserror::Error)]
pub enum JudgeError {
    /// The system is wrong.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// Something cannot be computed of a state.
    #[error(transparent)]
    Eval(#[from] EvalError),
}

impl Judge {
    /// By the system that data came from, for true trajectories of so many samples each.
    ///
    /// # Errors
    /// [`JudgeError`] if the system is wrong, or its energy cannot be computed.
    pub fn new(origin: &Origin, dt: f64, samples: usize, truth: Vec<f64>) -> Result<Judge, JudgeError> {
        let graph = Graph::new();
        let dynamics = origin.source().problem(&graph, &origin.overrides())?.dynamics;
        let mut judge = Judge { dynamics, dt, samples, truth: Vec::new(), energies: Vec::new() };
        let [energies, _] = judge.invariants(&truth)?;
        Ok(Judge { truth, energies, ..judge })
    }

    /// How many numbers a state has.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dynamics.system().dimension()
    }

    /// The states that the true trajectories begin with.
    #[must_use]
    pub fn starts(&self) -> Vec<f64> {
        let d = self.dimension();
        self.truth.chunks_exact(self.samples * d).flat_map(|trajectory| &trajectory[..d]).copied().collect()
    }

    /// The time of each sample.
    #[must_use]
    pub fn times(&self) -> Vec<f64> {
        (0..self.samples).map(|sample| sample as f64 * self.dt).collect()
    }

    /// Judges predicted states, in the order of the truth.
    ///
    /// # Errors
    /// [`JudgeError::Eval`] if the energy cannot be computed.
    ///
    /// # Panics
    /// If there are more or fewer than true ones.
    pub fn judge(&mut self, predicted: &[f64]) -> Result<Judgement, JudgeError> {
        assert_eq!(predicted.len(), self.truth.len(), "a prediction for each true state");
        let (summary, errors) = summarize(predicted, &self.truth, self.dimension(), self.samples);
        let [energies, violations] = self.invariants(predicted)?;
        let apart = |(found, truth): (&f64, &f64)| {
            let error = (found - truth).abs() / (found.abs() + truth.abs());
            // Both are 0.
            if found == truth {
                SMALLEST
            } else if error.is_finite() {
                error.clamp(SMALLEST, 1.0)
            } else {
                1.0
            }
        };
        let apart: Vec<f64> = energies.iter().zip(&self.energies).map(apart).collect();
        let by_trajectory =
            |values: &[f64]| values.chunks_exact(self.samples).map(<[f64]>::to_vec).collect::<Vec<_>>();
        let apart = by_trajectory(&apart);
        let logarithms = apart.iter().map(|values| mean_over_time(values).ln());
        let energy_mean = (logarithms.sum::<f64>() / apart.len().max(1) as f64).exp();
        let constrained = self.dynamics.system().position_constraints() > 0;
        let finite = violations.iter().copied().filter(|value| value.is_finite());
        let lifted: Vec<f64> = violations
            .iter()
            .map(|&value| if value.is_finite() { value.max(ROUNDING) } else { f64::INFINITY })
            .collect();
        Ok(Judgement {
            summary,
            error: Band::of(&errors),
            energy: Band::of(&apart),
            energy_mean,
            violation: constrained.then(|| Band::of(&by_trajectory(&lifted))),
            violation_most: finite.fold(0.0, f64::max),
        })
    }

    /// The energy of the true system at states, and the largest violation of its constraints of positions.
    fn invariants(&mut self, states: &[f64]) -> Result<[Vec<f64>; 2], JudgeError> {
        let (d, dynamics) = (self.dynamics.system().dimension(), &mut self.dynamics);
        let count = dynamics.system().position_constraints();
        let (mut energies, mut violations) = (Vec::new(), Vec::new());
        let (mut energy, mut values) = ([0.0], vec![0.0; count]);
        for (place, state) in states.chunks_exact(d).enumerate() {
            let t = [(place % self.samples) as f64 * self.dt];
            if state.iter().any(|value| !value.is_finite()) {
                energies.push(f64::NAN);
                violations.push(f64::NAN);
                continue;
            }
            let y = momenta(dynamics, t[0], state)?;
            dynamics.energy(&t, &y, &mut energy)?;
            energies.push(energy[0]);
            if count > 0 {
                dynamics.constraint_values(&t, &y, &mut values)?;
            }
            violations.push(values.iter().fold(0.0_f64, |most, value| most.max(value.abs())));
        }
        Ok([energies, violations])
    }
}
