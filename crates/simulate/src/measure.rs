//! How well a run kept what it should.

use crate::error::MeasureError;
use crate::run::Run;
use crate::warning::{Warning, moved};
use leastaction_integrate::{Balance, Drift, DriftError, Pace, Tolerance, longest_stable_step};
use leastaction_mechanics::{Dynamics, State};
use std::f64::consts::PI;

/// A conserved quantity that drifts by more than this, relatively, makes the run worthless.
const WRONG: f64 = 1e-2;

/// Steps whose errors are as large as is tolerated, and all of one sign, make as much of an energy as its terms and this factor: three times what was
/// seen in 512 runs of 19 systems by 7 methods.
const SLACK: f64 = 3.0;
/// The same for other quantities, whose terms are looked at in fewer places.
const MORE_SLACK: f64 = 10.0;
/// What rounding makes of a step.
const ROUNDING: f64 = 1e-15;
/// Less than this is not worth a warning where steps have one length: a drift is then compared with that of one other run only.
const SMALL: f64 = 1e-6;

/// How well a run kept what it should.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurements {
    /// The energy.
    pub energy: Energy,
    /// What was done on it and lost of it, where it is not conserved and that can be told.
    pub work: Option<Balanced>,
    /// What should not change but for what events set: the energy first, if it is among them.
    pub conserved: Vec<Conserved>,
    /// By how much constraints of positions are violated at most.
    pub position_violation: f64,
    /// By how much what constraints demand of velocities is violated at most.
    pub velocity_violation: f64,
    /// What to be told.
    pub warnings: Vec<Warning>,
}

/// Something that should not change.
#[derive(Clone, Debug, PartialEq)]
pub struct Conserved {
    /// Its name.
    pub name: String,
    /// By how much it did, but for what events set.
    pub drift: Drift,
    /// What events that set something anew have changed it by, in all.
    pub brought: f64,
}

/// The energy along a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Energy {
    /// At the start.
    pub first: f64,
    /// At the end.
    pub last: f64,
    /// The lowest of any sample.
    pub lowest: f64,
    /// The highest of any sample.
    pub highest: f64,
    /// Its largest change since the start.
    pub drift: Drift,
    /// Whether it should not change.
    pub conserved: bool,
    /// What events that set something anew have brought, in all, and how often that was; nothing if there are none in the model.
    pub resets: Option<(f64, usize)>,
}

/// The balance of energy: it changes by the work that is supplied less what is dissipated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Balanced {
    /// The work that came from outside.
    pub supplied: f64,
    /// The energy that dissipation took.
    pub dissipated: f64,
    /// What is left of the change of the energy besides these: errors of the steps, and of the integrals of the powers.
    pub residual: f64,
    /// What that is measured by: the largest of these, and of what the change of the energy is measured by.
    pub scale: f64,
}

impl Balanced {
    /// The residual in terms of the scale.
    #[must_use]
    pub fn relative(&self) -> f64 {
        if self.residual == 0.0 { 0.0 } else { self.residual.abs() / self.scale }
    }
}

impl Measurements {
    /// Whether events set something anew on the way.
    #[must_use]
    pub fn was_reset(&self) -> bool {
        self.energy.resets.is_some_and(|(_, count)| count > 0)
    }

    /// Whether a drift is too large for a result to be trusted.
    #[must_use]
    pub fn is_wrong(drift: f64) -> bool {
        drift > WRONG
    }
}

impl Run {
    /// Measures how well the run kept what it should.
    ///
    /// # Errors
    /// [`MeasureError`] if something cannot be computed, or is not finite somewhere.
    pub fn measure(&self) -> Result<Measurements, MeasureError> {
        self.measured().map_err(|error| self.at_pole(error))
    }

    /// An error that is due to a pole of the coordinates says so.
    fn at_pole(&self, error: MeasureError) -> MeasureError {
        let MeasureError::Drift { source: DriftError::NotFinite { t, .. }, .. } = error else { return error };
        let sample = self.trajectory.samples().find(|(other, _)| *other == t);
        let place = sample.map(|(_, block)| &block[..self.simulation.dynamics.system().degrees()]);
        match place.and_then(|q| self.pole(t, q)) {
            Some(coordinate) => MeasureError::Pole { t, coordinate },
            None => error,
        }
    }

    fn measured(&self) -> Result<Measurements, MeasureError> {
        let (simulation, trajectory) = (&self.simulation, &self.trajectory);
        let mut dynamics = simulation.dynamics.clone();
        let drifted = |what: &str| {
            let what = what.to_owned();
            move |source| MeasureError::Drift { what, source }
        };
        let energy = self.energy()?;
        let mut conserved = Vec::new();
        conserved.extend(energy.conserved.then(|| Conserved {
            name: "energy".to_owned(),
            drift: energy.drift,
            brought: energy.resets.map_or(0.0, |(brought, _)| brought),
        }));
        for (name, what) in &simulation.conserved {
            let drift = trajectory.change(&mut dynamics, *what).map_err(drifted(name))?;
            let brought = trajectory.change_of_resets(&mut dynamics, *what)?;
            conserved.push(Conserved { name: name.clone(), drift, brought });
        }
        let (position_violation, velocity_violation) =
            trajectory.violations(&mut dynamics).map_err(drifted("constraints"))?;
        let mut warnings: Vec<Warning> = simulation.doubts.iter().cloned().map(Warning::Doubtful).collect();
        if let Some(placed) = simulation.placed {
            warnings.extend(moved(&mut dynamics, &simulation.start, &placed)?);
            let bodies: Vec<_> = simulation.dynamics.assembled().map(str::to_owned).collect();
            if !bodies.is_empty() {
                warnings.push(Warning::Assembled { bodies });
            }
        }
        let jumping = dynamics.system().facts().jumping.iter();
        warnings.extend(jumping.map(|name| Warning::Jumping { name: name.clone() }));
        let cornered = dynamics.system().facts().cornered.iter();
        warnings.extend(cornered.map(|name| Warning::Cornered { name: name.clone() }));
        if let Pace::Step(step) = simulation.integrator.pace() {
            let limit = longest_stable_step(&mut dynamics, &simulation.start, simulation.integrator.card());
            let unstable = limit.filter(|limit| step.abs() > *limit);
            warnings.extend(unstable.map(|limit| Warning::Unstable { step: step.abs(), limit }));
        }
        warnings.extend(self.turned(&mut dynamics)?);
        let remedy = if let Pace::Step(_) = simulation.integrator.pace() { "step" } else { "tolerance" };
        for (i, Conserved { name, drift, .. }) in conserved.iter().enumerate() {
            let (name, drift, relative) = (name.clone(), *drift, drift.relative());
            let is_energy = energy.conserved && i == 0;
            if is_energy && self.is_rounding(&mut dynamics, drift.change)? {
                continue;
            }
            if Measurements::is_wrong(relative) {
                warnings.push(Warning::Drifted { name, drift, remedy });
            } else if let Some(explained) = self.explained(&mut dynamics, i, &drift, is_energy)? {
                warnings.push(Warning::Unexplained { name, drift, explained, remedy });
            }
        }
        warnings.extend(self.inverted()?);
        let work = self.balanced(&energy);
        if let Some(work) = work.filter(|work| Measurements::is_wrong(work.relative())) {
            warnings.push(Warning::Unbalanced { work, remedy });
        }
        if work.is_some() {
            warnings.extend(self.driving(&mut dynamics)?);
        }
        if let Some(error) = self.error.as_ref().filter(|error| error.digits() == 0) {
            warnings.push(Warning::Uncertain { companion: error.companion.clone(), remedy });
        }
        Ok(Measurements { energy, work, conserved, position_violation, velocity_violation, warnings })
    }

    /// What the tolerance, or the length of the steps, makes of the drift of something that should not change; nothing if that is all of it.
    fn explained(
        &self,
        dynamics: &mut Dynamics,
        nth: usize,
        drift: &Drift,
        is_energy: bool,
    ) -> Result<Option<f64>, MeasureError> {
        let (integrator, relative) = (&self.simulation.integrator, drift.relative());
        let relative_only = match integrator.pace() {
            Pace::Tolerance(Tolerance { relative, absolute }) if absolute.is_none() => Some(*relative),
            _ => None,
        };
        let Some(tolerance) = relative_only else {
            // Longer steps should make more of it.
            let coarser = self.error.as_ref().and_then(|error| error.drifts.as_ref()?.get(nth).copied());
            let explained = coarser.map(|coarser| coarser / integrator.coarser_drift().sqrt());
            return Ok(explained.filter(|&explained| relative > SMALL && relative > explained));
        };
        // An event may end a run within its first step.
        let steps = self.trajectory.work().steps.max(1) as f64;
        let explained = steps * (tolerance + ROUNDING) * if is_energy { SLACK } else { MORE_SLACK };
        if relative <= explained {
            return Ok(None);
        }
        // Terms may be much larger along the way than at the start, and their errors with them.
        let before = usize::from(dynamics.system().conserves_energy());
        let largest = match nth.checked_sub(before) {
            None => self.trajectory.energy_terms(dynamics)?,
            Some(other) => self.trajectory.terms(dynamics, self.simulation.conserved[other].1)?,
        };
        let explained = explained * (largest / drift.scale).max(1.0);
        Ok((relative > explained).then_some(explained))
    }

    /// That dissipation adds energy at some sample, by more than rounding, and where it adds most.
    fn driving(&self, dynamics: &mut Dynamics) -> Result<Option<Warning>, MeasureError> {
        if !dynamics.system().facts().dissipative {
            return Ok(None);
        }
        let (mut largest, mut lowest) = (0.0_f64, (0.0, 0.0));
        for (t, y) in self.trajectory.samples() {
            let mut power = [0.0];
            dynamics.dissipated_power(&[t], y, &mut power)?;
            largest = largest.max(power[0].abs());
            if power[0] < lowest.1 {
                lowest = (t, power[0]);
            }
        }
        let (t, power) = lowest;
        Ok((power < -SMALL * largest).then_some(Warning::Driving { t, power: -power }))
    }

    /// That an angle jumped by a turn whose jumps energies or forces feel, and when first.
    fn turned(&self, dynamics: &mut Dynamics) -> Result<Option<Warning>, MeasureError> {
        let mut first: Option<f64> = None;
        for &angle in &self.simulation.jumping {
            let mut before = None;
            for (t, y) in self.trajectory.samples() {
                let mut value = [0.0];
                dynamics.observe(angle, &[t], y, &mut value)?;
                if before.is_some_and(|before: f64| (value[0] - before).abs() > PI) {
                    first = Some(first.map_or(t, |first| first.min(t)));
                    break;
                }
                before = Some(value[0]);
            }
        }
        Ok(first.map(|t| Warning::Turned { t }))
    }

    /// Whether so small a change of the energy is no more than what rounding of the start makes, as that of a beam at rest at height 0.
    fn is_rounding(&self, dynamics: &mut Dynamics, change: f64) -> Result<bool, MeasureError> {
        let State { t, q, p } = &self.simulation.start;
        let largest = |numbers: &[f64]| numbers.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let sizes = [largest(q), largest(p)];
        let mut energies = [[0.0]; 2];
        for (energy, sign) in energies.iter_mut().zip([1.0, -1.0]) {
            let mut y = self.simulation.start.block();
            for (i, value) in y.iter_mut().enumerate() {
                // All at once, but one against another.
                let way = if i % 3 == 1 { -sign } else { sign };
                *value += way * f64::EPSILON * sizes[usize::from(i >= q.len())];
            }
            dynamics.energy(&[*t], &y, energy)?;
        }
        Ok(change <= (energies[0][0] - energies[1][0]).abs())
    }

    /// The balance of the energy, if there is one.
    fn balanced(&self, energy: &Energy) -> Option<Balanced> {
        let Balance { supplied, dissipated } = self.trajectory.balance()?;
        let brought = energy.resets.map_or(0.0, |(brought, _)| brought);
        let residual = energy.last - energy.first - brought - (supplied - dissipated);
        let scale = brought
            .abs()
            .max(supplied.abs())
            .max(dissipated.abs())
            .max(energy.drift.scale)
            .max(f64::MIN_POSITIVE);
        Some(Balanced { supplied, dissipated, residual, scale })
    }

    /// Measures the energy alone.
    ///
    /// # Errors
    /// [`MeasureError`] if it cannot be computed, or is not finite somewhere.
    pub fn energy(&self) -> Result<Energy, MeasureError> {
        let mut dynamics = self.simulation.dynamics.clone();
        let wrong = |source| MeasureError::Drift { what: "energy".to_owned(), source };
        let drift = self.trajectory.energy_change(&mut dynamics).map_err(wrong)?;
        let energies = self.trajectory.energies(&mut dynamics)?;
        let [first, last] = [energies.first(), energies.last()].map(|e| e.copied().unwrap_or(f64::NAN));
        let any = self.simulation.has_resets();
        let brought = self.trajectory.energy_of_resets(&mut dynamics)?;
        let resets = any.then(|| (brought, self.trajectory.resets().count()));
        Ok(Energy {
            first,
            last,
            lowest: energies.iter().copied().fold(f64::INFINITY, f64::min),
            highest: energies.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            drift,
            conserved: dynamics.system().conserves_energy(),
            resets,
        })
    }
}
