//! Steps of one length, or a tolerance: what is better for a section is tried.

use crate::error::PrepareError;
use crate::method::{Method, USUAL, tolerance};
use crate::overrides::Overrides;
use crate::problem::Problem;
use leastaction_integrate::{Choice, Event, Integrator, Pace, Trajectory};

/// Errors of the energy below this are as good as any.
const GOOD: f64 = 1e-9;

/// What a trial says of a method.
struct Trial {
    /// Evaluations of the field; the terms of a series count as one each.
    work: f64,
    /// The error of the energy, as it will be when all points are found.
    drift: f64,
}

impl Problem<'_> {
    /// The method of a section: as for a run, but orbits are followed for much longer, and points lie within steps. So if neither a method nor a step is requested,
    /// steps of one length (those of the setup, if it has some) and a tolerance are both tried on a usual run, and a tolerance is taken if it needs less work for an
    /// energy that is as good.
    pub(super) fn section_method(
        &mut self,
        passing: &Event,
        count: usize,
        overrides: &Overrides,
    ) -> Result<Method, PrepareError> {
        let usual = self.method(overrides)?;
        let said = overrides.method.is_some() || overrides.step.is_some() || self.setup.plan.method.is_some();
        let Pace::Step(_) = usual.integrator.pace() else { return Ok(usual) };
        if said || !self.dynamics.system().conserves_energy() {
            return Ok(usual);
        }
        let Choice { integrator, why } = self.choice(Some(tolerance(USUAL)))?;
        let other = Method { integrator: bounded(integrator, overrides), why: Some(why) };
        let trials = [&usual, &other].map(|method| self.try_section(&method.integrator, passing, count));
        let [Some(steps), Some(adaptive)] = trials else { return Ok(usual) };
        if adaptive.work > steps.work || adaptive.drift > steps.drift.max(GOOD) {
            return Ok(usual);
        }
        let why = format!(
            "in a trial it took 1/{:.0} of the work of {} {}, and kept the energy as well",
            (steps.work / adaptive.work).max(1.0),
            usual.integrator.card().name,
            usual.integrator.pace()
        );
        Ok(Method { why: Some(why), ..other })
    }

    /// A usual run by a method; nothing if it fails.
    fn try_section(&self, integrator: &Integrator, passing: &Event, count: usize) -> Option<Trial> {
        let mut dynamics = self.dynamics.clone();
        let integrator = integrator.clone().event(passing.clone());
        let run: Trajectory = integrator.run(&mut dynamics, &self.start, self.until).ok()?;
        let drift = run.energy_drift(&mut dynamics).ok()?;
        let work = run.work();
        let terms = if work.evaluations < 2 * work.steps { f64::from(integrator.card().order) } else { 1.0 };
        // The error of a tolerance grows with time, that of a symplectic method of one step size does not.
        let longer = match integrator.pace() {
            Pace::Step(_) => 1.0,
            _ => (count as f64 / run.crossings().len().max(1) as f64).max(1.0),
        };
        Some(Trial { work: work.evaluations.max(work.steps) as f64 * terms, drift: drift * longer })
    }
}

/// The integrator with the bounds that are asked for.
fn bounded(integrator: Integrator, overrides: &Overrides) -> Integrator {
    let integrator = integrator.at_most(overrides.max_steps.unwrap_or(Integrator::STEP_LIMIT));
    integrator.longest_step(overrides.max_step.unwrap_or(f64::INFINITY))
}
