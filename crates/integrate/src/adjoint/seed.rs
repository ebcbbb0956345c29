//! What of a run is differentiated: weights of samples, and of the times and states of events.

use super::error::AdjointError;
use super::tape::{Place, Tape};

/// The weighted sum of what a run gave that is to be differentiated. All weights that are given add up.
///
/// For a loss L of samples, the weights of a sample are ∂L/∂\[q…, p…\] there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seed {
    samples: Vec<(usize, Vec<f64>)>,
    ends: Vec<Vec<f64>>,
    crossings: Vec<(usize, f64, Vec<f64>)>,
}

impl Seed {
    /// No weights.
    #[must_use]
    pub fn new() -> Seed {
        Seed::default()
    }

    /// Weights of the state block \[q…, p…\] at the end of the run. If that is an event, the time of it moves.
    #[must_use]
    pub fn end(mut self, weights: &[f64]) -> Seed {
        self.ends.push(weights.to_vec());
        self
    }

    /// Weights of the state block of a sample, by its place in the trajectory.
    #[must_use]
    pub fn sample(mut self, index: usize, weights: &[f64]) -> Seed {
        self.samples.push((index, weights.to_vec()));
        self
    }

    /// The weight of the time of an event that happened, by its place in [`Trajectory::crossings`](crate::Trajectory::crossings).
    #[must_use]
    pub fn event_time(mut self, index: usize, weight: f64) -> Seed {
        self.crossings.push((index, weight, Vec::new()));
        self
    }

    /// Weights of the state block where an event happened, whose time moves.
    #[must_use]
    pub fn event_state(mut self, index: usize, weights: &[f64]) -> Seed {
        self.crossings.push((index, 0.0, weights.to_vec()));
        self
    }
}

/// Weights within a step.
#[derive(Clone, Debug)]
pub(super) struct Inner {
    pub(super) tau: f64,
    pub(super) weights: Vec<f64>,
    /// The event that happens there, by its place among the crossings, and the weight of its time.
    pub(super) crossing: Option<(usize, f64)>,
}

/// The weights of a run in the order of its steps.
pub(super) struct Weights {
    between: Vec<(u64, Vec<f64>)>,
    within: Vec<(u64, Inner)>,
}

impl Weights {
    pub(super) fn new(tape: &Tape, seed: &Seed) -> Result<Weights, AdjointError> {
        let dimension = tape.dimension();
        let check = |weights: &[f64]| match weights.iter().find(|w| !w.is_finite()) {
            _ if weights.len() != dimension => {
                Err(AdjointError::Length { expected: dimension, found: weights.len() })
            }
            Some(&value) => Err(AdjointError::Weight { value }),
            None => Ok(()),
        };
        let mut all = Weights { between: Vec::new(), within: Vec::new() };
        let last = tape.samples().len().saturating_sub(1);
        let ends = seed.ends.iter().map(|weights| (last, weights));
        for (index, weights) in seed.samples.iter().map(|(i, w)| (*i, w)).chain(ends) {
            check(weights)?;
            match tape.samples().get(index) {
                Some(&Place::Between(step)) => all.between.push((step, weights.clone())),
                Some(&Place::Within(step, tau)) => {
                    all.within.push((step, Inner { tau, weights: weights.clone(), crossing: None }));
                }
                Some(&Place::Crossing(crossing)) => all.cross(tape, crossing, 0.0, weights)?,
                None => {
                    return Err(AdjointError::Missing { what: "sample", index, count: tape.samples().len() });
                }
            }
        }
        for (index, weight, weights) in &seed.crossings {
            if !weight.is_finite() {
                return Err(AdjointError::Weight { value: *weight });
            }
            let zeros = vec![0.0; dimension];
            let weights = if weights.is_empty() { &zeros } else { weights };
            check(weights)?;
            all.cross(tape, *index, *weight, weights)?;
        }
        all.between.sort_by_key(|(step, _)| *step);
        all.within.sort_by_key(|(step, _)| *step);
        Ok(all)
    }

    fn cross(&mut self, tape: &Tape, index: usize, weight: f64, weights: &[f64]) -> Result<(), AdjointError> {
        let Some(&(step, tau)) = tape.crossings().get(index) else {
            return Err(AdjointError::Missing { what: "event", index, count: tape.crossings().len() });
        };
        let inner = Inner { tau, weights: weights.to_vec(), crossing: Some((index, weight)) };
        self.within.push((step, inner));
        Ok(())
    }

    /// Shows the weights where a step begins: components with their weights.
    pub(super) fn between(&mut self, step: u64, mut show: impl FnMut(usize, f64)) {
        while let Some((_, weights)) = self.between.pop_if(|(at, _)| *at == step) {
            weights.iter().enumerate().for_each(|(i, w)| show(i, *w));
        }
    }

    /// The next weights within a step.
    pub(super) fn within(&mut self, step: u64) -> Option<Inner> {
        self.within.pop_if(|(at, _)| *at == step).map(|(_, inner)| inner)
    }
}
