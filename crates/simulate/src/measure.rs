//! How well a run kept what it should.

use crate::error::MeasureError;
use crate::run::Run;
use crate::warning::{Warning, moved};
use leastaction_integrate::Pace;

/// A conserved quantity that drifts by more than this, relatively, makes the run worthless.
const WRONG: f64 = 1e-2;

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
