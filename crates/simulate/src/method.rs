//! The method of a run: asked for, planned, or chosen.

use crate::error::{Cause, PrepareError};
use crate::overrides::Overrides;
use crate::problem::Problem;
use leastaction_integrate::{Absolute, Card, Choice, Integrator, Pace, Sizing, Tolerance, step_for_pulses};
use leastaction_mechanics::Form;
use std::collections::HashMap;

/// The relative tolerance of a method that needs none given, and was given none.
pub(crate) const USUAL: f64 = 1e-10;

/// Forces are in balance if what is left of them is no more than this part.
const BALANCED: f64 = 1e-9;
/// They cancel if it is no more than this.
const CANCELLED: f64 = 1e-14;
/// Of a momentum that is zero, so much of what forces could make of it is not asked for, but never so much of the largest coordinate.
const UNKNOWN: f64 = 1e-9;
const KNOWN: f64 = 1e-3;

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
        let pace = self.pace(overrides)?;
        let named = match &overrides.method {
            Some(method) => Some(Card::named(method).map_err(PrepareError::usage)?),
            None => self.planned_method()?,
        };
        let given = pace.is_some();
        let (integrator, why) = match named {
            Some(card) => {
                let pace = match (pace, card.sizing) {
                    (Some(pace), _) => pace,
                    (None, Sizing::Given) => {
                        return Err(PrepareError::usage(Cause::NoStep { method: card.name }));
                    }
                    (None, _) => Pace::Tolerance(Tolerance::relative(USUAL)),
                };
                (Integrator::new(card, pace), None)
            }
            None => {
                let pace = pace.or_else(|| self.resting_pace());
                let choice = self.choice(pace)?;
                (choice.integrator, Some(choice.why))
            }
        };
        let integrator = match integrator.pace() {
            // A step that nobody gave is short enough for brief pushes, too.
            &Pace::Step(step) if why.is_some() && !given => {
                let shorter = step_for_pulses(&self.dynamics, &self.start, self.until);
                match shorter.filter(|shorter| *shorter < step.abs()) {
                    Some(shorter) => Integrator::new(integrator.card(), shorter.copysign(step)),
                    None => integrator,
                }
            }
            _ => integrator,
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
    ///
    /// # Errors
    /// [`PrepareError`] if it gives a tolerance to what is no part of the state.
    pub fn planned_pace(&self) -> Result<Option<Pace>, PrepareError> {
        self.pace(&Overrides::default())
    }

    /// The step size or the tolerance that is asked for, here or by the setup.
    pub(crate) fn pace(&self, overrides: &Overrides) -> Result<Option<Pace>, PrepareError> {
        let (plan, back) = (&self.setup.plan, self.until < self.start.t);
        if let Some(step) = overrides.step {
            return Ok(Some(Pace::Step(step)));
        }
        let asked = overrides.tolerance.is_some() || overrides.absolute.is_some();
        if let Some(step) = plan.step.filter(|_| !asked) {
            return Ok(Some(Pace::Step(if back { -step } else { step })));
        }
        let relative = overrides.tolerance.or(plan.tolerance);
        let absolute = match overrides.absolute {
            Some(absolute) => Some(absolute.into()),
            None => self.planned_absolute()?,
        };
        Ok((relative.is_some() || absolute.is_some()).then(|| {
            let (relative, absolute) = (relative.unwrap_or(USUAL), absolute.unwrap_or(Absolute::NONE));
            Pace::Tolerance(Tolerance { relative, absolute })
        }))
    }

    /// The absolute tolerances that the setup says.
    fn planned_absolute(&self) -> Result<Option<Absolute>, PrepareError> {
        let (plan, system) = (&self.setup.plan, self.dynamics.system());
        if plan.absolutes.is_empty() {
            return Ok(plan.absolute.map(Absolute::from));
        }
        let states: HashMap<String, usize> =
            (0..system.dimension()).map(|component| (system.state_name(component), component)).collect();
        let mut each = vec![plan.absolute.unwrap_or(0.0); system.dimension()];
        for (name, value) in &plan.absolutes {
            match states.get(name).and_then(|&component| each.get_mut(component)) {
                Some(absolute) => *absolute = *value,
                None => {
                    let errors = self.setup.explain_tolerance(name);
                    return Err(PrepareError::model(Cause::NoTolerance { name: name.clone() }, errors));
                }
            }
        }
        Ok(Some(each.into()))
    }

    /// The tolerance for what rests in balance: on constraints, as a frame of bars does or a linkage that stands upright, or of forces that cancel but for rounding.
    /// Its momenta are rounding errors, which nobody wants to know to ten digits: they are measured by what the forces would make of them in this time if nothing
    /// held it.
    fn resting_pace(&mut self) -> Option<Pace> {
        let (system, start) = (self.dynamics.system().clone(), self.start.clone());
        let facts = system.facts();
        // Places may depend on time where nothing else does.
        let is_mechanical = facts.form == Form::Lagrangian && system.conserves_hamiltonian();
        if !is_mechanical || start.p.iter().any(|p| *p != 0.0) {
            return None;
        }
        let (block, n, t) = (start.block(), system.degrees(), [start.t]);
        let (mut rates, mut pushes) = (vec![0.0; block.len()], vec![0.0; block.len() - n]);
        let mut shares = vec![0.0; system.shares().len()];
        self.dynamics.rates(&t, &block, &mut rates).ok()?;
        self.dynamics.kick(&t, &block, &mut pushes).ok()?;
        self.dynamics.shares(&t, &block, &mut shares).ok()?;
        let largest = |list: &[f64]| list.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let (net, size) = (largest(&rates[n..]), largest(&start.q));
        let pushed = match facts.constrained {
            true => largest(&pushes),
            // What cancels is seen by the energies that it comes of.
            false if net > 0.0 && size > 0.0 => largest(&shares) / size,
            false => return None,
        };
        let in_balance = net <= if facts.constrained { BALANCED * pushed } else { CANCELLED * pushed };
        let momentum = pushed * (self.until - start.t).abs();
        let absolute = (UNKNOWN * momentum).min(KNOWN * size);
        // A power of ten reads best.
        let absolute = USUAL * 10f64.powi(absolute.log10().floor() as i32);
        let tolerance = Tolerance { relative: USUAL, absolute: Absolute::All(absolute) };
        (in_balance && absolute > 0.0).then_some(Pace::Tolerance(tolerance))
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
