//! Methods on a problem: what they cost, and how well they do.

use crate::problem::Problem;
use leastaction_integrate::{
    Card, Integrator, Needs, Pace, Reason, RunError, Sizing, Tolerance, Work, energy_scale,
};
use leastaction_mechanics::{EvalError, Facts};
use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

/// Energies are looked at about so many times, so that looking costs little.
const LOOKS: u64 = 500;
/// A run that is over sooner is run again, so many times at most: the shortest time counts.
const SHORT: Duration = Duration::from_millis(100);
const AGAIN: u32 = 3;
/// The tolerance of the reference, and a larger one by which it is judged.
const TIGHT: [f64; 2] = [1e-14, 1e-13];

/// A run by a method, and what it is compared by.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The work it took.
    pub work: Work,
    /// How long it took.
    pub wall: Duration,
    /// The times at which the energy was looked at.
    pub times: Vec<f64>,
    /// The changes of the energy there since the start, relative to its scale.
    pub changes: Vec<f64>,
    /// By how much constraints of positions, and what all demand of velocities, were violated at most.
    pub violations: (f64, f64),
    /// The state block at the end.
    pub end: Vec<f64>,
}

impl Trial {
    /// The largest change of the energy; NaN if one is.
    #[must_use]
    pub fn drift(&self) -> f64 {
        self.changes.iter().fold(0.0, |m, change| larger(m, change.abs()))
    }
}

/// Where a motion ends, as well as can be told.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// By which method.
    pub method: &'static str,
    /// At which relative tolerance.
    pub tolerance: f64,
    /// The state block at the end.
    pub end: Vec<f64>,
    /// By how much it may be off.
    pub doubt: f64,
    degrees: usize,
}

impl Reference {
    /// How far a trial ends from it: the largest difference of coordinates, relative to the largest coordinate, or of momenta likewise.
    #[must_use]
    pub fn error(&self, trial: &Trial) -> f64 {
        distance(&trial.end, &self.end, self.degrees)
    }
}

impl Problem<'_> {
    /// Runs a method to the end, several times if that takes no time. Somebody is shown which part is done, and may interrupt: then there is nothing.
    ///
    /// # Errors
    /// [`RunError`] if the method does not apply, or fails.
    pub fn trial(
        &self,
        integrator: &Integrator,
        mut watch: impl FnMut(f64) -> ControlFlow<()>,
    ) -> Result<Option<Trial>, RunError> {
        let mut best: Option<Trial> = None;
        for _ in 0..AGAIN {
            let Some(trial) = self.once(integrator, &mut watch)? else { return Ok(None) };
            let short = trial.wall < SHORT;
            best = Some(match best {
                Some(before) if before.wall < trial.wall => before,
                _ => trial,
            });
            if !short {
                break;
            }
        }
        Ok(best)
    }

    fn once(
        &self,
        integrator: &Integrator,
        watch: &mut impl FnMut(f64) -> ControlFlow<()>,
    ) -> Result<Option<Trial>, RunError> {
        let (mut dynamics, start, end) = (self.dynamics.clone(), &self.start, self.until);
        let system = dynamics.system().clone();
        let scale = energy_scale(&mut dynamics, start)?;
        let (mut first, mut energy) = ([0.0], [0.0]);
        dynamics.hamiltonian(&[start.t], &start.block(), &mut first)?;
        let (mut phi, mut psi) =
            (vec![0.0; system.position_constraints()], vec![0.0; system.constraints().len()]);
        let mut trial = Trial {
            work: Work::default(),
            wall: Duration::ZERO,
            times: Vec::new(),
            changes: Vec::new(),
            violations: (0.0, 0.0),
            end: Vec::new(),
        };
        // Samples between steps would cost evaluations of their own: steps are looked at where they end.
        let (every, spacing) = match integrator.steps_between(start.t, end)? {
            Some(steps) => (steps / LOOKS, 0.0),
            None => (1, (end - start.t).abs() / LOOKS as f64),
        };
        let mut next = 0.0;
        let integrator = integrator.clone().every(every);
        let before = Instant::now();
        let ended = integrator.observe(&mut dynamics, start, end, |sample| {
            let (t, y) = (sample.t, sample.block.values());
            let elapsed = (t - start.t).abs();
            if elapsed < next && t != end {
                return Ok(ControlFlow::Continue(()));
            }
            next = elapsed + spacing;
            sample.dynamics.hamiltonian(&[t], y, &mut energy)?;
            trial.times.push(t);
            trial.changes.push((energy[0] - first[0]) / scale);
            if !psi.is_empty() {
                sample.dynamics.violations(&[t], y, &mut phi, &mut psi)?;
                let largest = |m: f64, values: &[f64]| values.iter().fold(m, |m, x| m.max(x.abs()));
                trial.violations = (largest(trial.violations.0, &phi), largest(trial.violations.1, &psi));
            }
            if t == end {
                trial.end = y.to_vec();
            }
            let part = if end == start.t { 1.0 } else { elapsed / (end - start.t).abs() };
            Ok::<_, EvalError>(watch(part))
        })?;
        trial.wall = before.elapsed();
        trial.work = ended.work;
        Ok((ended.reason != Reason::Interrupted).then_some(trial))
    }

    /// Where the motion ends by a method of high order at the finest tolerance, in so many steps at most, judged by the same at a larger one. Somebody
    /// may interrupt, as in a [trial](Problem::trial).
    ///
    /// # Errors
    /// [`RunError`] if that cannot be told.
    pub fn reference(
        &self,
        max_steps: u64,
        mut watch: impl FnMut(f64) -> ControlFlow<()>,
    ) -> Result<Option<Reference>, RunError> {
        let system = self.dynamics.system();
        let method = if Needs::Closed.met_by(system.facts()) { "taylor" } else { "vern9" };
        let mut ends = Vec::new();
        for tolerance in TIGHT {
            let integrator = Integrator::named(method, Tolerance::relative(tolerance));
            let integrator = integrator.unwrap_or_else(|error| unreachable!("{error}")).at_most(max_steps);
            match self.once(&integrator, &mut watch)? {
                Some(trial) => ends.push(trial.end),
                None => return Ok(None),
            }
        }
        let doubt = distance(&ends[1], &ends[0], system.degrees());
        let (end, degrees) = (ends.swap_remove(0), system.degrees());
        Ok(Some(Reference { method, tolerance: TIGHT[0], end, doubt, degrees }))
    }
}

/// Whether a method may be asked to run such a system at such a pace.
#[must_use]
pub fn applies(card: &Card, pace: &Pace, facts: &Facts) -> bool {
    let sized = !(matches!(pace, Pace::Tolerance(_)) && card.sizing == Sizing::Given);
    sized && card.needs.met_by(facts)
}

/// The larger of two numbers; NaN if one is.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

fn distance(state: &[f64], expected: &[f64], degrees: usize) -> f64 {
    let part = |range: Range<usize>| {
        let size = expected[range.clone()].iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let off = range.map(|i| (state[i] - expected[i]).abs()).fold(0.0, larger);
        if off == 0.0 { 0.0 } else { off / if size > 0.0 { size } else { 1.0 } }
    };
    let degrees = degrees.min(expected.len());
    larger(part(0..degrees), part(degrees..expected.len()))
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn distances_are_relative_to_their_kind() {
        let expected = [1.0, -2.0, 100.0, 0.0];
        assert_eq!(distance(&expected, &expected, 2), 0.0);
        assert_eq!(distance(&[1.0, -1.0, 100.0, 0.0], &expected, 2), 0.5);
        assert_eq!(distance(&[1.0, -2.0, 100.0, 1.0], &expected, 2), 0.01);
        assert_eq!(distance(&[0.5], &[0.0], 1), 0.5);
        assert!(distance(&[f64::NAN, -2.0, 100.0, 0.0], &expected, 2).is_nan());
    }
}
