//! What many runs of a problem have in common.

use crate::error::PrepareError;
use crate::method::{Method, USUAL};
use crate::overrides::Overrides;
use crate::problem::{Problem, located};
use leastaction_ensemble::{Rest, SampleError};
use leastaction_integrate::{Integrator, Pace};
use std::collections::HashSet;

impl Problem<'_> {
    /// Refuses to sample a parameter that was used up in a number when the text was read, and shows where: what depends on it there would be the same in all
    /// trajectories. Refuses it too where constraints or places of masses do not jump at the value of the text only.
    ///
    /// # Errors
    /// [`PrepareError`] at the place in the text.
    pub fn check_sampled<'n>(
        &self,
        names: impl IntoIterator<Item = &'n str>,
        overrides: &Overrides,
    ) -> Result<(), PrepareError> {
        let Overrides { until, step, tolerance, absolute, every, samples, .. } = overrides;
        let (paced, timed) = (step.is_some() || tolerance.is_some(), every.is_some() || samples.is_some());
        let clauses = [
            ("until", until.is_some()),
            ("step", paced),
            ("tol", paced),
            ("atol", step.is_some() || absolute.is_some()),
            ("tolerance", step.is_some() || absolute.is_some()),
            ("every", timed),
            ("samples", timed),
        ];
        let replaced: Vec<&str> =
            clauses.into_iter().filter(|(_, given)| *given).map(|(clause, _)| clause).collect();
        let names: Vec<&str> = names.into_iter().collect();
        if let Some(errors) = names.iter().find_map(|name| self.setup.fixed(name, &replaced)) {
            return Err(errors.into());
        }
        self.setup.model.check_sampled(&names).map_err(|error| located(&self.setup, error))
    }

    /// The method and the pace for runs of which some may be faster than the one that the text states. A step that was found by a look at that one would be too long for them: where nobody
    /// gives one, a tolerance sets the steps.
    ///
    /// # Errors
    /// As [`Problem::method`].
    pub fn method_for_all(&mut self, overrides: &Overrides) -> Result<Method, PrepareError> {
        let method = self.method(overrides)?;
        let by_look = matches!(method.integrator.pace(), Pace::Step(_)) && self.pace(overrides)?.is_none();
        if !by_look {
            return Ok(method);
        }
        let overrides = Overrides { tolerance: Some(USUAL), ..overrides.clone() };
        let Method { integrator, why } = self.method(&overrides)?;
        let why = why.map(|why| format!("{why}; what is sampled may move faster, so steps follow it"));
        Ok(Method { integrator, why })
    }

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
        let rest = given.fold(rest, |rest, (name, value)| rest.with(name, *value));
        let named: HashSet<&str> = self.values.iter().map(|(name, _)| name.as_str()).collect();
        let all = self.all_values();
        let rest = rest.and(
            all.iter().filter(|(name, _)| !named.contains(name.as_str())).map(|(name, value)| (name, *value)),
        );
        self.setup.limits.iter().try_fold(rest, |rest, limit| {
            rest.within(&limit.name, limit.value, (limit.holds, limit.range), self.dynamics.system())
        })
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
        let (integrator, _) = self.with_samples(integrator, overrides)?;
        if self.start.t == self.until {
            return Ok(integrator.at(&[self.start.t]));
        }
        Ok(integrator.timed(self.start.t, self.until)?)
    }
}
