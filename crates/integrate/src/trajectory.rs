//! A trajectory: states at times.

mod crossings;

use crate::error::{DriftError, RunError};
use crate::integrator::Reason;
use crate::run::balance::Balance;
use crate::run::checkpoint::Checkpoint;
use crate::run::event::Crossing;
use crate::step::Work;
use leastaction_mechanics::{Dynamics, EvalError, Form, Observable, ShareKind, State, System};
use std::fmt;

/// A sum this much smaller than its terms is what is left when they cancel, and no measure of them.
const CANCELLED: f64 = 1e-6;

/// What changes by more than this is measured by its terms all along the run, if it is nothing against them.
const SUSPECT: f64 = 1e-3;

/// Terms of the energy are looked at so often along a run.
const LOOKS: usize = 200;

/// An energy this much smaller than what its arguments make of it is rounding: cos(π/2) is 6e−17.
const ROUNDING: f64 = 1e-12;

/// In a state of more numbers, it would take too long to change each for itself.
const MANY: usize = 1024;

/// How far something that should not change did, and what that is measured by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// The largest change since the start.
    pub change: f64,
    /// What it is measured by.
    pub scale: f64,
    /// What that is.
    pub of: Scale,
}

/// What a change is measured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// The size at the start.
    Start,
    /// The sum of the sizes of its terms, as the size at the start is nothing, or what is left when they cancel: T + |V| for an energy.
    Terms,
}

impl Drift {
    /// The largest change in terms of the scale.
    #[must_use]
    pub fn relative(&self) -> f64 {
        if self.change == 0.0 { 0.0 } else { self.change / self.scale }
    }
}

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
    pub(crate) balance: Option<Balance>,
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
            balance: None,
            crossings: Vec::new(),
        })
    }

    pub(crate) fn push(&mut self, t: f64, block: &[f64]) {
        self.times.push(t);
        self.blocks.extend_from_slice(block);
    }

    pub(crate) fn pop(&mut self) {
        if self.times.pop().is_some() {
            self.blocks.truncate(self.times.len() * self.dimension);
        }
    }

    /// This one, and another that goes on where it was left.
    pub(crate) fn continued(mut self, rest: Trajectory) -> Trajectory {
        let again = rest.times.first().is_some_and(|t| self.times.last() == Some(t));
        for (t, block) in rest.samples().skip(usize::from(again)) {
            self.push(t, block);
        }
        self.crossings.extend(rest.crossings.iter().cloned());
        let work = self.work + rest.work;
        let balance = self.balance.zip(rest.balance).map(|(one, other)| Balance {
            supplied: one.supplied + other.supplied,
            dissipated: one.dissipated + other.dissipated,
        });
        Trajectory {
            times: self.times,
            blocks: self.blocks,
            crossings: self.crossings,
            work,
            balance,
            ..rest
        }
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
    pub fn samples(&self) -> impl DoubleEndedIterator<Item = (f64, &[f64])> + ExactSizeIterator + Clone {
        self.times.iter().copied().zip(self.blocks.chunks_exact(self.dimension.max(1)))
    }

    /// The same with every so many of its samples, from the first on, and the last.
    #[must_use]
    pub fn thinned(&self, nth: usize) -> Trajectory {
        let kept = |&(i, _): &(usize, (f64, &[f64]))| i % nth.max(1) == 0 || i + 1 == self.len();
        let (mut times, mut blocks) = (Vec::new(), Vec::new());
        for (_, (t, block)) in self.samples().enumerate().filter(kept) {
            times.push(t);
            blocks.extend_from_slice(block);
        }
        Trajectory { times, blocks, ..self.clone() }
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

    /// The work that was supplied and the energy that was dissipated, if the run was [balanced](crate::Integrator::balanced) and they can be told.
    #[must_use]
    pub fn balance(&self) -> Option<Balance> {
        self.balance
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
        Ok(self.energy_change(dynamics)?.relative())
    }

    /// The largest change of the energy since the start, but for what resets have brought, and the scale that [`Trajectory::energy_drift`] measures it by.
    ///
    /// # Errors
    /// [`DriftError`] if it cannot be computed, or is not finite somewhere.
    pub fn energy_change(&self, dynamics: &mut Dynamics) -> Result<Drift, DriftError> {
        let jumps = self.jumps(|state| energy_at(dynamics, state))?;
        let change = self.largest_change(&self.energies(dynamics)?, &jumps)?;
        let Some((t, block)) = self.samples().next() else {
            return Ok(Drift { change, scale: 1.0, of: Scale::Start });
        };
        let (size, mut terms) = energy_terms(dynamics, t, block)?;
        if size == 0.0 && terms == 0.0 && change > 0.0 {
            for (t, block) in self.samples().step_by(self.len().div_ceil(16)) {
                terms = terms.max(energy_terms(dynamics, t, block)?.1);
            }
            // Terms that are nothing wherever they were looked at: the change is all there is.
            terms = terms.max(change);
        }
        if change > SUSPECT * scale_of(size, terms).0 {
            // What is little at the start may be rounding of terms that are large only later.
            terms = terms.max(self.energy_terms(dynamics)?);
        }
        let (scale, of) = scale_of(size, terms);
        Ok(Drift { change, scale, of })
    }

    /// The largest sum of the sizes of the energy's terms along the run, T + |V|, in units of which steps can be expected to keep it.
    ///
    /// # Errors
    /// [`EvalError`] if they cannot be computed.
    pub fn energy_terms(&self, dynamics: &mut Dynamics) -> Result<f64, EvalError> {
        let mut largest = 0.0_f64;
        for (t, block) in
            self.samples().step_by(self.len().div_ceil(LOOKS).max(1)).chain(self.samples().next_back())
        {
            largest = largest.max(shares(dynamics, t, block)?);
        }
        Ok(largest)
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
        Ok(self.change(dynamics, what)?.relative())
    }

    /// The largest change of an observable since the start, but for what resets have brought, and the scale that [`Trajectory::drift`] measures it by.
    ///
    /// # Errors
    /// As [`Trajectory::drift`].
    pub fn change(&self, dynamics: &mut Dynamics, what: Observable) -> Result<Drift, DriftError> {
        let values = self.observations(dynamics, what)?;
        let jumps = self.jumps(|state| observed(dynamics, what, state))?;
        let change = self.largest_change(&values, &jumps)?;
        let (mut terms, size) = (0.0_f64, values.first().map_or(0.0, |first| first.abs()));
        if change == 0.0 {
            return Ok(Drift { change, scale: size, of: Scale::Start });
        }
        // Terms vary slowly on the scale of a run, and each look at them costs two evaluations per number of the state.
        for (i, (t, block)) in self.samples().step_by(self.len().div_ceil(16)).enumerate() {
            terms = terms.max(terms_of(dynamics, what, t, block)?);
            if i == 0 && size > CANCELLED * terms && change <= SUSPECT * size {
                return Ok(Drift { change, scale: size, of: Scale::Start });
            }
        }
        if size > CANCELLED * terms {
            return Ok(Drift { change, scale: size, of: Scale::Start });
        }
        // Terms that are nothing wherever they were looked at: the change is all there is.
        Ok(Drift { change, scale: terms.max(change), of: Scale::Terms })
    }

    /// The largest size along the run of what an observable is made of, in units of which steps can be expected to keep it.
    ///
    /// # Errors
    /// [`EvalError`] if it cannot be computed.
    pub fn terms(&self, dynamics: &mut Dynamics, what: Observable) -> Result<f64, EvalError> {
        let mut largest = 0.0_f64;
        for (t, block) in
            self.samples().step_by(self.len().div_ceil(16).max(1)).chain(self.samples().next_back())
        {
            largest = largest.max(terms_of(dynamics, what, t, block)?);
        }
        Ok(largest)
    }

    /// The largest change since the start, but for jumps. Maxima pass over NaN, so every value is looked at first.
    fn largest_change(&self, values: &[f64], jumps: &[f64]) -> Result<f64, DriftError> {
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            return Err(DriftError::NotFinite { t: self.times[at], value: values[at] });
        }
        let first = values.first().copied().unwrap_or(0.0);
        Ok(values.iter().zip(jumps).map(|(value, jump)| (value - jump - first).abs()).fold(0.0, f64::max))
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
    Ok(scale_of(size, terms).0)
}

fn scale_of(size: f64, terms: f64) -> (f64, Scale) {
    match (size > CANCELLED * terms, terms > 0.0) {
        (true, _) => (size, Scale::Start),
        (false, true) => (terms, Scale::Terms),
        (false, false) => (1.0, Scale::Terms),
    }
}

/// An observable at a state.
fn observed(dynamics: &mut Dynamics, what: Observable, state: &State) -> Result<f64, EvalError> {
    let mut value = [0.0];
    dynamics.observe(what, &[state.t], &state.block(), &mut value)?;
    Ok(value[0])
}

/// The energy of a state.
fn energy_at(dynamics: &mut Dynamics, state: &State) -> Result<f64, EvalError> {
    let mut energy = [0.0];
    dynamics.energy(&[state.t], &state.block(), &mut energy)?;
    Ok(energy[0])
}

/// The sum of the sizes of the energy's terms.
fn shares(dynamics: &mut Dynamics, t: f64, y: &[f64]) -> Result<f64, EvalError> {
    let mut shares = vec![0.0; dynamics.system().shares().len()];
    dynamics.shares(&[t], y, &mut shares)?;
    let kinds: Vec<_> = dynamics.system().shares().iter().map(|share| share.kind).collect();
    let direct = kinds.contains(&ShareKind::Lagrangian);
    let energies = shares.iter().zip(kinds).filter(|(_, kind)| *kind != ShareKind::Lagrangian);
    let sum: f64 = energies.map(|(e, _)| e.abs()).sum();
    if !direct {
        return Ok(sum);
    }
    // Of a Lagrangian it is known what moving adds to the energy.
    let (mut kinetic, mut potential) = ([0.0], [0.0]);
    dynamics.kinetic_energy(&[t], y, &mut kinetic)?;
    dynamics.potential_energy(&[t], y, &mut potential)?;
    Ok(sum.max(kinetic[0].abs() + potential[0].abs()))
}

/// The size of the energy, and the sum of the sizes of its terms; both 0 if they are rounding.
fn energy_terms(dynamics: &mut Dynamics, t: f64, y: &[f64]) -> Result<(f64, f64), EvalError> {
    let mut energy = [0.0];
    dynamics.energy(&[t], y, &mut energy)?;
    let terms = shares(dynamics, t, y)?;
    let size = energy[0].abs();
    let reach = match y.len() > MANY {
        true => flow(dynamics, t, y),
        false => {
            // Where it cannot be computed there is nothing to learn.
            let nearby = |y: &[f64], energy: &mut [f64; 1]| {
                if dynamics.energy(&[t], y, energy).is_err() {
                    energy[0] = f64::NAN;
                }
                Ok(())
            };
            let sizes: Vec<_> = y.iter().map(|y| y.abs()).collect();
            reach(nearby, y, &sizes)?
        }
    };
    Ok(if size.max(terms) > ROUNDING * reach { (size, terms) } else { (0.0, 0.0) })
}

/// The size of what the energy is made of, $\sum_i|q_i\,\dot p_i|+|p_i\,\dot q_i|$: as [`reach`] finds it where nothing else acts, by one evaluation.
fn flow(dynamics: &mut Dynamics, t: f64, y: &[f64]) -> f64 {
    let (mut slopes, half) = (vec![0.0; y.len()], y.len() / 2);
    let result = match dynamics.system().facts().form {
        Form::Ports => dynamics.gradient(&[t], y, &mut slopes),
        Form::Lagrangian | Form::Hamiltonian => {
            let result = dynamics.rates(&[t], y, &mut slopes);
            slopes.rotate_left(half);
            result
        }
    };
    // Where it cannot be computed there is nothing to learn.
    let terms = y.iter().zip(&slopes).map(|(y, slope)| (y * slope).abs());
    if result.is_ok() { terms.filter(|term| term.is_finite()).sum() } else { 0.0 }
}

/// The size of what an observable is made of.
fn terms_of(dynamics: &mut Dynamics, what: Observable, t: f64, block: &[f64]) -> Result<f64, EvalError> {
    if let Some(place) = dynamics.place_in_state(what) {
        return Ok(tolerated(block)[place]);
    }
    reach(|y, value| dynamics.observe(what, &[t], y, value), block, &tolerated(block))
}

/// The sizes of the numbers of a state as a tolerance sees them: a hundredth of the largest of its kind at least. A total that is
/// nothing, as of what turns about another axis, is not measured by rounding.
fn tolerated(block: &[f64]) -> Vec<f64> {
    let mut sizes: Vec<_> = block.iter().map(|y| y.abs()).collect();
    for kind in sizes.chunks_mut(block.len().div_ceil(2).max(1)) {
        let largest = kind.iter().fold(0.0_f64, |m, x| m.max(*x));
        kind.iter_mut().for_each(|size| *size = size.max(0.01 * largest));
    }
    sizes
}

/// The size of what a function is made of, $\sum_i s_i|\partial f/\partial y_i|$ with the sizes s of the state, by differences: |a| + |b| for a − b, whether or not they
/// cancel. Numbers of the state around which it is not finite are left out.
fn reach(
    mut f: impl FnMut(&[f64], &mut [f64; 1]) -> Result<(), EvalError>,
    block: &[f64],
    sizes: &[f64],
) -> Result<f64, EvalError> {
    const NUDGE: f64 = 1.0 / 4096.0;
    let (mut y, mut sum) = (block.to_vec(), 0.0);
    for i in 0..y.len() {
        let (mut above, mut below) = ([0.0], [0.0]);
        y[i] = block[i] + NUDGE * sizes[i];
        f(&y, &mut above)?;
        y[i] = block[i] - NUDGE * sizes[i];
        f(&y, &mut below)?;
        y[i] = block[i];
        let term = (above[0] - below[0]).abs() / (2.0 * NUDGE);
        sum += if term.is_finite() { term } else { 0.0 };
    }
    Ok(sum)
}
