//! What many runs of a problem have in common.

use crate::error::PrepareError;
use crate::overrides::Overrides;
use crate::problem::Problem;
use leastaction_ensemble::{Rest, SampleError};
use leastaction_integrate::Integrator;

impl Problem<'_> {
    /// The initial condition as far as it is not sampled: values of the setup, which follow the parameters, with what is asked for in their place.
    ///
    /// # Errors
    /// [`SampleError`] if a value depends on more than parameters.
    pub fn rest(&self, overrides: &Overrides) -> Result<Rest, SampleError> {
        let mut terms = self.setup.start.clone();
        terms.retain(|term| self.values.iter().any(|(name, _)| *name == term.name));
        let rest = Rest::terms(&terms, self.dynamics.system())?;
        let stated = |name: &str| terms.iter().any(|term| term.name == name);
        let asked = |name: &str| overrides.start.iter().any(|(other, _)| other == name);
        let given = self.values.iter().filter(|(name, _)| !stated(name) || asked(name));
        Ok(given.fold(rest, |rest, (name, value)| rest.with(name, *value)))
    }

    /// The integrator with samples at the same times in every run, whatever steps that takes.
    ///
    /// # Errors
    /// As [`Problem::with_samples`].
    pub fn with_common_samples(
        &self,
        integrator: Integrator,
        overrides: &Overrides,
    ) -> Result<Integrator, PrepareError> {
        let integrator = self.with_samples(integrator, overrides)?;
        if self.start.t == self.until {
            return Ok(integrator.at(&[self.start.t]));
        }
        Ok(integrator.timed(self.start.t, self.until)?)
    }
}
