//! How well a run kept what it should, and what to be told of that.

use crate::error::MeasureError;
use crate::run::Run;
use leastaction_integrate::{Pace, rounded};
use leastaction_mechanics::{Dynamics, EvalError, Projection, State};
use std::fmt;

/// A conserved quantity that drifts by more than this, relatively, makes the run worthless.
const WRONG: f64 = 1e-2;

/// An initial condition that is moved by less than this, relatively, was where it should be.
const ROUNDING: f64 = 1e-12;

/// How well a run kept what it should.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurements {
    /// The energy.
    pub energy: Energy,
    /// What should not change, by name, and by how much of itself it did: the energy first, if it is among them.
    pub conserved: Vec<(String, f64)>,
    /// By how much constraints of positions are violated at most.
    pub position_violation: f64,
    /// By how much what constraints demand of velocities is violated at most.
    pub velocity_violation: f64,
    /// What to be told.
    pub warnings: Vec<Warning>,
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
    /// What changes of it are measured by.
    pub scale: f64,
    /// Its largest change since the start, in terms of its scale.
    pub drift: f64,
    /// Whether it should not change.
    pub conserved: bool,
}

/// What a person should be told of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Warning {
    /// The initial condition does not meet the constraints, and was moved onto them.
    Moved {
        /// The coordinate that was moved farthest, and how far, if any was.
        coordinate: Option<(String, f64)>,
        /// By how much velocities were changed at most, if they were.
        velocities: Option<f64>,
    },
    /// Something that should not change did, by more than a result that can be trusted allows.
    Drifted {
        /// What.
        name: String,
        /// By how much of itself.
        drift: f64,
        /// What to make smaller: the step, or the tolerance.
        remedy: &'static str,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::Moved { coordinate, velocities } => {
                let coordinate = coordinate.as_ref().map(|(name, by)| format!("{name} by {}", roughly(*by)));
                let velocities = velocities.map(|by| format!("velocities by up to {}", roughly(by)));
                let changes: Vec<_> = coordinate.into_iter().chain(velocities).collect();
                write!(f, "the start was moved onto its constraints: {}", changes.join(", "))
            }
            Warning::Drifted { name, drift, remedy } => write!(
                f,
                "{name} should not change, and drifted by {drift:.1e} of itself: do not trust this result, try a smaller {remedy}"
            ),
        }
    }
}

impl Measurements {
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
        let (simulation, trajectory) = (&self.simulation, &self.trajectory);
        let mut dynamics = simulation.dynamics.clone();
        let drifted = |what: &str| {
            let what = what.to_owned();
            move |source| MeasureError::Drift { what, source }
        };
        let energy = self.energy()?;
        let mut conserved = Vec::new();
        conserved.extend(energy.conserved.then(|| ("energy".to_owned(), energy.drift)));
        for (name, what) in &simulation.conserved {
            let drift = trajectory.drift(&mut dynamics, *what).map_err(drifted(name))?;
            conserved.push((name.clone(), drift));
        }
        let (position_violation, velocity_violation) =
            trajectory.violations(&mut dynamics).map_err(drifted("constraints"))?;
        let mut warnings = Vec::new();
        if let Some(placed) = simulation.placed {
            warnings.extend(moved(&mut dynamics, &simulation.start, &placed)?);
        }
        let remedy = if let Pace::Step(_) = simulation.integrator.pace() { "step" } else { "tolerance" };
        let wrong = conserved.iter().filter(|(_, drift)| Measurements::is_wrong(*drift));
        warnings.extend(wrong.map(|(name, drift)| Warning::Drifted {
            name: name.clone(),
            drift: *drift,
            remedy,
        }));
        Ok(Measurements { energy, conserved, position_violation, velocity_violation, warnings })
    }

    /// Measures the energy alone.
    ///
    /// # Errors
    /// [`MeasureError`] if it cannot be computed, or is not finite somewhere.
    pub fn energy(&self) -> Result<Energy, MeasureError> {
        let mut dynamics = self.simulation.dynamics.clone();
        let wrong = |source| MeasureError::Drift { what: "energy".to_owned(), source };
        let (change, scale) = self.trajectory.energy_change(&mut dynamics).map_err(wrong)?;
        let energies = self.trajectory.energies(&mut dynamics)?;
        let [first, last] = [energies.first(), energies.last()].map(|e| e.copied().unwrap_or(f64::NAN));
        Ok(Energy {
            first,
            last,
            lowest: energies.iter().copied().fold(f64::INFINITY, f64::min),
            highest: energies.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            scale,
            drift: change / scale,
            conserved: dynamics.system().conserves_energy(),
        })
    }
}

/// How far the initial condition was moved onto constraints, if by more than rounding.
fn moved(dynamics: &mut Dynamics, start: &State, placed: &Projection) -> Result<Option<Warning>, EvalError> {
    let largest = |numbers: &[f64]| numbers.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let mut velocities = vec![0.0; start.q.len()];
    dynamics.velocities(&[start.t], &start.block(), &mut velocities)?;
    let name = || dynamics.system().coordinates().at(placed.farthest);
    let coordinate = (placed.moved > ROUNDING * largest(&start.q)).then(|| (name(), placed.moved));
    let velocities = (placed.deflected > ROUNDING * largest(&velocities)).then_some(placed.deflected);
    let any = coordinate.is_some() || velocities.is_some();
    Ok(any.then_some(Warning::Moved { coordinate, velocities }))
}

/// Two digits of a number.
fn roughly(value: f64) -> String {
    rounded(value, 2)
}
