//! The method of a run: asked for, planned, or chosen.

use crate::error::{Cause, PrepareError};
use crate::overrides::Overrides;
use crate::problem::Problem;
use leastaction_integrate::{Card, Choice, Integrator, Pace, Sizing, Tolerance, step_for_pulses};

/// The relative tolerance of a method that needs none given, and was given none.
pub(crate) const USUAL: f64 = 1e-10;

/// A method with its pace.
#[derive(Clone, Debug)]
pub struct Method {
    /// The method with its pace.
    pub integrator: Integrator,
    /// Why it was chosen, if it was.
    pub why: Option<String>,
}

impl Problem<'_> {
    /// The method and the pace that are asked for, here or by the setup. A method that nobody asks for is chosen.
    ///
    /// # Errors
    /// [`PrepareError`] if there is no such method, if it needs a step that nobody gives, or if none can be chosen.
    pub fn method(&mut self, overrides: &Overrides) -> Result<Method, PrepareError> {
        let asked = overrides.tolerance.map(tolerance).or(overrides.step.map(Pace::Step));
        let pace = asked.or_else(|| self.planned_pace());
        let named = match &overrides.method {
            Some(method) => Some(Card::named(method).map_err(PrepareError::usage)?),
            None => self.planned_method()?,
        };
        let (integrator, why) = match named {
            Some(card) => {
                let pace = match (pace, card.sizing) {
                    (Some(pace), _) => pace,
                    (None, Sizing::Given) => {
                        return Err(PrepareError::usage(Cause::NoStep { method: card.name }));
                    }
                    (None, _) => tolerance(USUAL),
                };
                (Integrator::new(card, pace), None)
            }
            None => {
                let choice = self.choice(pace)?;
                (choice.integrator, Some(choice.why))
            }
        };
        let integrator = integrator.at_most(overrides.max_steps.unwrap_or(Integrator::STEP_LIMIT));
        let longest = match (overrides.max_step, integrator.pace()) {
            (Some(step), _) => Some(step),
            (None, Pace::Tolerance(_)) => step_for_pulses(&self.dynamics, &self.start, self.until),
            (None, _) => None,
        };
        let integrator = integrator.longest_step(longest.unwrap_or(f64::INFINITY));
        Ok(Method { integrator, why })
    }

    /// The method that the setup names, if it names one.
    ///
    /// # Errors
    /// [`PrepareError`] if there is no such method.
    pub fn planned_method(&self) -> Result<Option<&'static Card>, PrepareError> {
        let card = self.setup.plan.method.as_ref().map(|method| Card::named(method)).transpose();
        card.map_err(|error| {
            let diagnostics = self.setup.explain_clause("method", error.advice());
            PrepareError::model(error, diagnostics)
        })
    }

    /// The step size or the tolerance that the setup says. A step goes the way that leads to the end.
    #[must_use]
    pub fn planned_pace(&self) -> Option<Pace> {
        let (plan, back) = (&self.setup.plan, self.until < self.start.t);
        let step = plan.step.map(|step| Pace::Step(if back { -step } else { step }));
        step.or(plan.tolerance.map(tolerance))
    }

    /// The method that suits the problem, at a pace if one is given.
    ///
    /// # Errors
    /// [`PrepareError`] if the motion cannot be looked at.
    pub fn choice(&mut self, pace: Option<Pace>) -> Result<Choice, PrepareError> {
        Choice::new(&mut self.dynamics, &self.start, self.until, pace).map_err(PrepareError::usage)
    }
}

pub(crate) fn tolerance(relative: f64) -> Pace {
    Pace::Tolerance(Tolerance::relative(relative))
}
