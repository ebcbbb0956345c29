//! A trajectory: states at times.

use crate::error::{DriftError, RunError};
use crate::integrator::Reason;
use crate::run::checkpoint::Checkpoint;
use crate::run::event::{Crossing, Hit};
use crate::step::Work;
use leastaction_mechanics::{Dynamics, EvalError, Observable, ShareKind, State, System};
use std::fmt;

/// A sum this much smaller than its terms is what is left when they cancel, and no measure of them.
const CANCELLED: f64 = 1e-6;

/// An energy this much smaller than what its arguments make of it is rounding: cos(π/2) is 6e−17.
const ROUNDING: f64 = 1e-12;

/// The samples of a run.
#[derive(Clone, PartialEq)]
pub struct Trajectory {
    degrees: usize,
    dimension: usize,
    times: Vec<f64>,
    blocks: Vec<f64>,
    pub(crate) work: Work,
    pub(crate) reason: Reason,
    pub(crate) density: Option<f64>,
    pub(crate) checkpoint: Option<Checkpoint>,
    crossings: Vec<Crossing>,
}

impl Trajectory {
    /// An empty trajectory with room for so many samples.
    pub(crate) fn with_room(system: &System, samples: u64) -> Result<Trajectory, RunError> {
        let dimension = system.dimension();
        let (mut times, mut blocks) = (Vec::new(), Vec::new());
        let room = usize::try_from(samples).unwrap_or(usize::MAX);
        let reserved = times
            .try_reserve_exact(room)
            .and_then(|()| blocks.try_reserve_exact(room.saturating_mul(dimension)));
        if reserved.is_err() {
            return Err(RunError::TooManySamples { samples, dimension });
        }
        Ok(Trajectory {
            degrees: system.degrees(),
            dimension,
            times,
            blocks,
            work: Work::default(),
            reason: Reason::Complete,
            density: None,
            checkpoint: None,
            crossings: Vec::new(),
        })
    }

    pub(crate) fn push(&mut self, t: f64, block: &[f64]) {
        self.times.push(t);
        self.blocks.extend_from_slice(block);
    }

    pub(crate) fn cross(&mut self, hit: Hit, t: f64, block: &[f64]) {
        let state = State::from_block(t, block, self.degrees);
        self.crossings.push(Crossing { event: hit.event, t, rising: hit.rising, state });
    }

    /// The events that happened, in the order of the run.
    #[must_use]
    pub fn crossings(&self) -> &[Crossing] {
        &self.crossings
    }

    /// The number of samples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there are no samples.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// The times.
    #[must_use]
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// The state blocks \[q…, p…\], one after the other.
    #[must_use]
    pub fn blocks(&self) -> &[f64] {
        &self.blocks
    }

    /// Times with their state blocks.
    pub fn samples(&self) -> impl ExactSizeIterator<Item = (f64, &[f64])> + Clone {
        self.times.iter().copied().zip(self.blocks.chunks_exact(self.dimension.max(1)))
    }

    /// A sample as a state.
    #[must_use]
    pub fn state(&self, sample: usize) -> Option<State> {
        let (t, block) = self.samples().nth(sample)?;
        Some(State::from_block(t, block, self.degrees))
    }

    /// The last state.
    #[must_use]
    pub fn end(&self) -> State {
        self.state(self.len().saturating_sub(1)).unwrap_or_default()
    }

    /// The work it took.
    #[must_use]
    pub fn work(&self) -> Work {
        self.work
    }

    /// Why the run ended.
    #[must_use]
    pub fn reason(&self) -> Reason {
        self.reason
    }

    /// The step density where the run was left, if a [`Density`](crate::Density) set its steps: with it a run can go back over them.
    #[must_use]
    pub fn density(&self) -> Option<f64> {
        self.density
    }

    /// Where the run was left, if it was [recorded](crate::Integrator::run): from here it can go on.
    #[must_use]
    pub fn checkpoint(&self) -> Option<&Checkpoint> {
        self.checkpoint.as_ref()
    }

    /// The energy at every sample.
    ///
    /// # Errors
    /// [`EvalError`] if it cannot be computed, as for a system that the samples do not belong to.
    pub fn energies(&self, dynamics: &mut Dynamics) -> Result<Vec<f64>, EvalError> {
        let mut energies = vec![0.0; self.len()];
        for ((t, block), energy) in self.samples().zip(energies.chunks_exact_mut(1)) {
            dynamics.energy(&[t], block, energy)?;
        }
        Ok(energies)
    }

    /// The largest change of the energy since the start, relative to its [scale](energy_scale) there; or, if no part of it is anything there,
    /// as in a pendulum that is let go where its potential is 0, relative to what its parts come to along the run.
    ///
    /// # Errors
    /// [`DriftError`] if it cannot be computed, or is not finite somewhere.
    pub fn energy_drift(&self, dynamics: &mut Dynamics) -> Result<f64, DriftError> {
        let (change, scale) = self.energy_change(dynamics)?;
        Ok(change / scale)
    }

    /// The largest change of the energy since the start, and the scale that [`Trajectory::energy_drift`] measures it by.
    ///
    /// # Errors
    /// [`DriftError`] if it cannot be computed, or is not finite somewhere.
    pub fn energy_change(&self, dynamics: &mut Dynamics) -> Result<(f64, f64), DriftError> {
        let change = self.largest_change(&self.energies(dynamics)?)?;
        let Some((t, block)) = self.samples().next() else { return Ok((0.0, 1.0)) };
        let (size, mut terms) = energy_terms(dynamics, t, block)?;
        if size == 0.0 && terms == 0.0 && change > 0.0 {
            for (t, block) in self.samples().step_by(self.len().div_ceil(16)) {
                terms = terms.max(energy_terms(dynamics, t, block)?.1);
            }
            // Terms that are nothing wherever they were looked at: the change is all there is.
            terms = terms.max(change);
        }
        Ok((change, scale_of(size, terms)))
    }

    /// By how much the samples violate constraints at most: |Φ| of those of positions, and |Ψ|, what all of them demand of velocities.
    ///
    /// # Errors
    /// [`DriftError`] if it cannot be computed, or is not finite somewhere.
    pub fn violations(&self, dynamics: &mut Dynamics) -> Result<(f64, f64), DriftError> {
        let system = dynamics.system();
        let (mut values, mut rates) =
            (vec![0.0; system.position_constraints()], vec![0.0; system.constraints().len()]);
        let (mut worst, constrained) = ((0.0_f64, 0.0_f64), system.facts().constrained);
        for (t, block) in self.samples().filter(|_| constrained) {
            dynamics.violations(&[t], block, &mut values, &mut rates)?;
            if let Some(&value) = values.iter().chain(&rates).find(|x| !x.is_finite()) {
                return Err(DriftError::NotFinite { t, value });
            }
            worst.0 = values.iter().fold(worst.0, |m, x| m.max(x.abs()));
            worst.1 = rates.iter().fold(worst.1, |m, x| m.max(x.abs()));
        }
        Ok(worst)
    }

    /// An observable at every sample.
    ///
    /// # Errors
    /// [`EvalError`] if it cannot be computed, as for an observable of another system.
    pub fn observations(&self, dynamics: &mut Dynamics, what: Observable) -> Result<Vec<f64>, EvalError> {
        let mut values = vec![0.0; self.len()];
        for ((t, block), value) in self.samples().zip(values.chunks_exact_mut(1)) {
            dynamics.observe(what, &[t], block, value)?;
        }
        Ok(values)
    }

    /// The largest change of an observable since the start: next to nothing if it is conserved.
    ///
    /// It is relative to the observable's size at the start. Where that is nothing, or what is left of terms that cancel, it
    /// is relative to the largest sum of its terms' sizes along the run.
    ///
    /// ```
    /// # use leastaction_expr::Graph;
    /// # use leastaction_integrate::Integrator;
    /// # use leastaction_mechanics::Model;
    /// let graph = Graph::new();
    /// let mut model = Model::new(&graph);
    /// let [x, y] = model.coordinates(["x", "y"]);
    /// model.particle("planet", 1.0, [x, y]);
    /// model.potential("gravity", -1.0 / (x * x + y * y).sqrt());
    /// let mut dynamics = model.system()?.dynamics()?;
    /// let start = dynamics.start(&[("x", 1.0), ("y'", 0.9)])?;
    /// let orbit = Integrator::named("implicit-midpoint", 0.01)?.run(&mut dynamics, &start, 5.0)?;
    /// let spin = dynamics.observable("x*y' - y*x'")?;
    /// assert!(orbit.drift(&mut dynamics, spin)? < 1e-14);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`DriftError`] if it cannot be computed, or is not finite somewhere.
    pub fn drift(&self, dynamics: &mut Dynamics, what: Observable) -> Result<f64, DriftError> {
        let values = self.observations(dynamics, what)?;
        let change = self.largest_change(&values)?;
        if change == 0.0 {
            return Ok(0.0);
        }
        let (mut terms, size) = (0.0_f64, values[0].abs());
        // Terms vary slowly on the scale of a run, and each look at them costs two evaluations per number of the state.
        for (i, (t, block)) in self.samples().step_by(self.len().div_ceil(16)).enumerate() {
            terms = terms.max(terms_of(dynamics, what, t, block)?);
            if i == 0 && size > CANCELLED * terms {
                return Ok(change / size);
            }
        }
        // Terms that are nothing wherever they were looked at: the change is all there is.
        Ok(change / terms.max(change))
    }

    /// The largest change since the start. Maxima pass over NaN, so every value is looked at first.
    fn largest_change(&self, values: &[f64]) -> Result<f64, DriftError> {
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            return Err(DriftError::NotFinite { t: self.times[at], value: values[at] });
        }
        let first = values.first().copied().unwrap_or(0.0);
        Ok(values.iter().map(|value| (value - first).abs()).fold(0.0, f64::max))
    }
}

impl fmt::Debug for Trajectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ends = self.times.first().zip(self.times.last());
        let (start, end) = ends.unwrap_or((&f64::NAN, &f64::NAN));
        write!(f, "Trajectory({} samples of {} numbers, t = {start} to {end})", self.len(), self.dimension)
    }
}

/// What changes of the energy are relative to: its size at a state, or where its terms cancel there, the sum of their sizes.
///
/// # Errors
/// [`EvalError`] if the energy cannot be computed there.
pub fn energy_scale(dynamics: &mut Dynamics, state: &State) -> Result<f64, EvalError> {
    let (size, terms) = energy_terms(dynamics, state.t, &state.block())?;
    Ok(scale_of(size, terms))
}

fn scale_of(size: f64, terms: f64) -> f64 {
    match (size > CANCELLED * terms, terms > 0.0) {
        (true, _) => size,
        (false, true) => terms,
        (false, false) => 1.0,
    }
}

/// The size of the energy, and the sum of the sizes of its terms; both 0 if they are rounding.
fn energy_terms(dynamics: &mut Dynamics, t: f64, y: &[f64]) -> Result<(f64, f64), EvalError> {
    let mut energy = [0.0];
    dynamics.energy(&[t], y, &mut energy)?;
    let mut shares = vec![0.0; dynamics.system().shares().len()];
    dynamics.shares(&[t], y, &mut shares)?;
    let kinds = dynamics.system().shares().iter().map(|share| share.kind);
    let terms = shares
        .iter()
        .zip(kinds)
        .filter(|(_, kind)| *kind != ShareKind::Lagrangian)
        .map(|(e, _)| e.abs())
        .sum::<f64>();
    let size = energy[0].abs();
    // Where it cannot be computed there is nothing to learn.
    let nearby = |y: &[f64], energy: &mut [f64; 1]| {
        if dynamics.energy(&[t], y, energy).is_err() {
            energy[0] = f64::NAN;
        }
        Ok(())
    };
    let reach = reach(nearby, y)?;
    Ok(if size.max(terms) > ROUNDING * reach { (size, terms) } else { (0.0, 0.0) })
}

/// The size of what an observable is made of.
fn terms_of(dynamics: &mut Dynamics, what: Observable, t: f64, block: &[f64]) -> Result<f64, EvalError> {
    reach(|y, value| dynamics.observe(what, &[t], y, value), block)
}

/// The size of what a function is made of, $\sum_i|y_i\,\partial f/\partial y_i|$, by differences: |a| + |b| for a − b, whether or not they
/// cancel. Numbers of the state around which it is not finite are left out.
fn reach(
    mut f: impl FnMut(&[f64], &mut [f64; 1]) -> Result<(), EvalError>,
    block: &[f64],
) -> Result<f64, EvalError> {
    const NUDGE: f64 = 1.0 / 4096.0;
    let (mut y, mut sum) = (block.to_vec(), 0.0);
    for i in 0..y.len() {
        let (mut above, mut below) = ([0.0], [0.0]);
        y[i] = block[i] * (1.0 + NUDGE);
        f(&y, &mut above)?;
        y[i] = block[i] * (1.0 - NUDGE);
        f(&y, &mut below)?;
        y[i] = block[i];
        let term = (above[0] - below[0]).abs() / (2.0 * NUDGE);
        sum += if term.is_finite() { term } else { 0.0 };
    }
    Ok(sum)
}
