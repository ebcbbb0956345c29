//! When samples are taken.

use crate::error::{Cause, PrepareError};
use crate::overrides::Overrides;
use crate::problem::Problem;
use leastaction_integrate::{Integrator, Pace};

/// Samples are about so many unless something else is asked for, so that taking them costs little.
pub const SAMPLES: u64 = 1000;

/// Samples that are not requested have about this many numbers in all (128 MB), and are fewer where a state has very many.
const ROOM: u64 = 1 << 24;
/// But so many are taken of any state.
const FEWEST: u64 = 16;

impl Problem<'_> {
    /// The integrator with the samples that are asked for, here or by the setup, or else the usual number of them; and how many samples, for pictures, there are
    /// for one of these.
    ///
    /// # Errors
    /// [`PrepareError`] if the time between samples is not usable, or the integrator's steps do not lead to the end.
    pub fn with_samples(
        &self,
        integrator: Integrator,
        overrides: &Overrides,
    ) -> Result<(Integrator, usize), PrepareError> {
        let (start, until, plan) = (self.start.t, self.until, &self.setup.plan);
        if until == start {
            return Ok((integrator.ends_only(), 1));
        }
        let asked = match (overrides.every, overrides.samples) {
            (None, None) => (plan.every, plan.samples),
            asked => asked,
        };
        let room = (ROOM / (self.dynamics.system().dimension() as u64).max(1)).max(FEWEST);
        let usual = SAMPLES.min(room);
        let wanted = overrides.fine_samples.unwrap_or(usual).min(room).div_ceil(usual);
        let steps = integrator.steps_between(start, until).map_err(PrepareError::usage)?;
        let (span, count) = ((until - start).abs(), |samples: u64| samples as f64);
        let spacing = match (asked, steps) {
            ((Some(every), _), _) if every > 0.0 && every.is_finite() => every,
            ((Some(every), _), _) => return Err(PrepareError::usage(Cause::Every { every })),
            ((None, Some(samples)), _) => span / count(samples),
            ((None, None), Some(steps)) => {
                // Finer ones are among the steps between two usual ones, evenly.
                let apart = (steps / usual).max(1);
                let finer = (wanted..=apart).find(|finer| apart.is_multiple_of(*finer)).unwrap_or(apart);
                return Ok((integrator.every(apart / finer), finer as usize));
            }
            ((None, None), None) => {
                // By a power of two: the times of usual ones stay the same to the bit.
                let finer = wanted.next_power_of_two();
                return Ok((integrator.spaced(span / count(usual) / count(finer)), finer as usize));
            }
        };
        // Samples at the ends of steps are the method's own; those between come from a polynomial.
        if let Pace::Step(step) = integrator.pace() {
            let whole = (spacing / step.abs()).round();
            if whole > 0.0 && (whole * step.abs() - spacing).abs() <= 4.0 * f64::EPSILON * spacing {
                return Ok((integrator.every(whole as u64), 1));
            }
        }
        Ok((integrator.spaced(spacing), 1))
    }
}
