//! Projection onto constraints, by corrections that are the shortest in the metric of the mass matrix.
//!
//! Positions follow Newton's method, q ← q − M⁻¹Gᵀ(G M⁻¹ Gᵀ)⁻¹Φ(q, t), down to rounding; then momenta,
//! p ← p − Gᵀ(G M⁻¹ Gᵀ)⁻¹Ψ(q, v, t) (E. Hairer and G. Wanner, *Solving Ordinary Differential Equations II*, 1996, section VII.2).

use crate::constraint::Level;
use crate::constraint::factors::ConstraintFactors;
use crate::dynamics::Dynamics;
use crate::error::EvalError;
use crate::inverse::grow;
use crate::quantity::Quantity;
use leastaction_compile::LANES;

/// How far a projection moved a state, in one lane.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Projection {
    /// The largest change of a coordinate.
    pub moved: f64,
    /// The coordinate that changed so much, by index.
    pub farthest: usize,
    /// The largest change of a velocity.
    pub deflected: f64,
    /// How many constraints are independent there.
    pub rank: usize,
    /// The length of the shortest direction in which a constraint differs from the others there, as a part of its own
    /// ([`ConstraintFactors::shortest`]); 0 if some depend on others.
    pub shortest: f64,
    /// How many corrections were made.
    pub iterations: u32,
}

impl Projection {
    /// Tells how well the constraints are told apart.
    fn rate(&mut self, factors: &ConstraintFactors, lane: usize) {
        self.rank = factors.rank(lane);
        self.shortest = if self.rank < factors.layout.rows { 0.0 } else { factors.shortest(lane) };
    }
}

/// Why a state cannot be projected onto the constraints.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProjectionError {
    /// Some constraints stay violated.
    #[error(
        "the constraints cannot be met near this state at t = {t}: they contradict each other, or the state is too far from \
         what they allow (in the end they are violated: {})",
        violated(.constraints)
    )]
    Unmet {
        /// The time.
        t: f64,
        /// The lane.
        lane: usize,
        /// The constraints, and by how much they are violated in the end.
        constraints: Vec<(String, f64)>,
    },
    /// What constraints demand of velocities cannot be met.
    #[error(
        "no velocities meet the constraints at t = {t}: what they demand there contradicts each other (in the end they are \
         violated: {})",
        violated(.constraints)
    )]
    UnmetRates {
        /// The time.
        t: f64,
        /// The lane.
        lane: usize,
        /// The constraints, and by how much they are violated in the end.
        constraints: Vec<(String, f64)>,
    },
    /// Something could not be computed there.
    #[error(transparent)]
    Eval(#[from] EvalError),
}

impl ProjectionError {
    /// The lane in which it failed.
    #[must_use]
    pub fn lane(&self) -> Option<usize> {
        match self {
            ProjectionError::Unmet { lane, .. } | ProjectionError::UnmetRates { lane, .. } => Some(*lane),
            ProjectionError::Eval(error) => error.lane(),
        }
    }
}

fn violated(constraints: &[(String, f64)]) -> String {
    let each = constraints.iter().take(5).map(|(name, value)| format!("`{name}` by {value:.2e}"));
    let more = constraints.len().saturating_sub(5);
    let more = (more > 0).then(|| format!("and {more} more"));
    each.chain(more).collect::<Vec<_>>().join(", ")
}

const ITERATIONS: u32 = 60;
/// A correction that no longer shrinks is rounding if it is smaller than this, relative to the coordinates.
const ROUNDING: f64 = 1e-11;
/// A constraint is met if the state would have to move by no more than this, relative to its size.
const MET: f64 = 1e-9;

impl Dynamics {
    /// Moves y onto the constraints, those of positions and those of velocities.
    ///
    /// # Errors
    /// [`ProjectionError`] names the constraints that cannot be met; y is then where the search ended.
    pub fn project(&mut self, t: &[f64], y: &mut [f64]) -> Result<[Projection; LANES], ProjectionError> {
        let mut correction = std::mem::take(&mut self.constraint.correction);
        grow(&mut correction, y.len());
        let projected = self.project_by(t, y, &mut correction[..y.len()]);
        self.constraint.correction = correction;
        projected
    }

    /// As [`Dynamics::project`], and tells the change, which has more digits than the difference. Where there is none it is NaN, and the
    /// other lanes are right.
    ///
    /// # Errors
    /// As [`Dynamics::project`].
    pub fn project_by(
        &mut self,
        t: &[f64],
        y: &mut [f64],
        correction: &mut [f64],
    ) -> Result<[Projection; LANES], ProjectionError> {
        self.engine.check_block(t, y)?;
        crate::engine::check("correction", y.len(), correction.len())?;
        correction.fill(0.0);
        let system = self.system().clone();
        let mut projections = [Projection::default(); LANES];
        if !system.facts().constrained {
            return Ok(projections);
        }
        let mut factors = self.constraint.take_factors(&system, t.len());
        let mut values = std::mem::take(&mut self.constraint.values);
        grow(&mut values, (system.constraints().len() + 2 * system.degrees()) * t.len());
        let placed = self.project_positions(t, y, correction, &mut factors, &mut values, &mut projections);
        let turned = self.project_velocities(t, y, correction, &mut factors, &mut values, &mut projections);
        let result = placed.and(turned);
        self.constraint.put_back(factors);
        self.constraint.values = values;
        result.map(|()| projections)
    }

    /// Takes out of a small change (δq, δp) of y what the constraints do not allow: δq −= M⁻¹Gᵀ(G M⁻¹ Gᵀ)⁻¹G δq, and
    /// δp −= Gᵀ(G M⁻¹ Gᵀ)⁻¹G M⁻¹δp.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit, or the mass matrix is singular there.
    pub fn restrict(&mut self, t: &[f64], y: &[f64], change: &mut [f64]) -> Result<(), EvalError> {
        self.engine.check_block(t, y)?;
        crate::engine::check("change", y.len(), change.len())?;
        let system = self.system().clone();
        if !system.facts().constrained {
            return Ok(());
        }
        let rows = system.constraints().len() * t.len();
        let mut factors = self.constraint.take_factors(&system, t.len());
        let mut values = std::mem::take(&mut self.constraint.values);
        grow(&mut values, rows);
        let taken = factors.factor(self, t, y);
        let (dq, dp) = change.split_at_mut(y.len() / 2);
        let values_in = &mut values[..rows];
        values_in.fill(0.0);
        factors.add_rates(dq, values_in);
        // Where velocities are constrained, positions are not.
        values_in[system.position_constraints() * t.len()..].fill(0.0);
        factors.solve(values_in);
        factors.add_accelerations(values_in, dq);
        values_in.fill(0.0);
        factors.add_rates_of_momenta(dp, values_in);
        factors.solve(values_in);
        factors.add_forces(values_in, dp);
        self.constraint.put_back(factors);
        self.constraint.values = values;
        taken
    }

    fn project_positions(
        &mut self,
        t: &[f64],
        y: &mut [f64],
        correction: &mut [f64],
        factors: &mut ConstraintFactors,
        values: &mut [f64],
        projections: &mut [Projection; LANES],
    ) -> Result<(), ProjectionError> {
        let (width, half) = (t.len(), y.len() / 2);
        let rows = self.system().constraints().len() * width;
        let positions = self.system().position_constraints() * width;
        let (values, step) = values.split_at_mut(rows);
        let step = &mut step[..half];
        if positions == 0 {
            factors.factor(self, t, y)?;
            projections.iter_mut().enumerate().take(width).for_each(|(lane, p)| p.rate(factors, lane));
            return Ok(());
        }
        // A constraint of velocities that follows from one of positions asks for no move, and both agree on half of one.
        let mut search = Search::new(width, if positions < rows { 0.9 } else { 0.5 });
        for iteration in 1..=ITERATIONS {
            self.engine.eval(Quantity::Constraints, t, y, &mut values[..positions])?;
            values[positions..].fill(0.0);
            factors.factor(self, t, y)?;
            factors.solve_correction(values, Level::Position, |lane| largest(&y[..half], (lane, width)));
            step.fill(0.0);
            factors.add_accelerations(values, step);
            for lane in 0..width {
                let size = largest(&y[..half], (lane, width));
                if search.takes(lane, largest(step, (lane, width)), size, ROUNDING * size) {
                    add((lane, width), step, [&mut y[..half], &mut correction[..half]]);
                    projections[lane].iterations = iteration;
                }
            }
            if search.is_done() {
                break;
            }
        }
        self.engine.eval(Quantity::Constraints, t, y, &mut values[..positions])?;
        factors.factor(self, t, y)?;
        let mut result = Ok(());
        for (lane, projection) in projections.iter_mut().enumerate().take(width) {
            let size = largest(&y[..half], (lane, width));
            let unmet = self.unmet(&values[..positions], factors, size, MET, (lane, width));
            if !unmet.is_empty() {
                correction.iter_mut().skip(lane).step_by(width).for_each(|c| *c = f64::NAN);
                result = result.and(Err(ProjectionError::Unmet { t: t[lane], lane, constraints: unmet }));
            }
            for (i, change) in correction[lane..half].iter().step_by(width).enumerate() {
                if change.abs() > projection.moved {
                    (projection.moved, projection.farthest) = (change.abs(), i);
                }
            }
            projection.rate(factors, lane);
        }
        result
    }

    fn project_velocities(
        &mut self,
        t: &[f64],
        y: &mut [f64],
        correction: &mut [f64],
        factors: &mut ConstraintFactors,
        values: &mut [f64],
        projections: &mut [Projection; LANES],
    ) -> Result<(), ProjectionError> {
        let (width, half) = (t.len(), y.len() / 2);
        let rows = self.system().constraints().len() * width;
        let (values, rest) = values.split_at_mut(rows);
        let (step, begun) = rest.split_at_mut(half);
        let mut search = Search::new(width, 0.5);
        self.turn(Dynamics::velocities, t, y)?;
        begun[..half].copy_from_slice(&self.other[half..2 * half]);
        // Where masses depend on velocities, so does what corrections do to them.
        let steady = self.system().facts().constant_mass || self.system().inverse().linear;
        for iteration in 0..ITERATIONS {
            if iteration > 0 && !steady {
                factors.factor(self, t, y)?;
                self.turn(Dynamics::velocities, t, y)?;
            }
            self.engine.eval(Quantity::ConstraintRates, t, &self.other[..2 * half], values)?;
            let v = &self.other[half..2 * half];
            factors.solve_correction(values, Level::Velocity, |lane| largest(v, (lane, width)));
            step.fill(0.0);
            factors.add_forces(values, step);
            for lane in 0..width {
                let size = largest(&y[half..], (lane, width));
                // A body that comes to rest has no other size than what it had.
                let noise = ROUNDING * size.max(search.last[lane]);
                if search.takes(lane, largest(step, (lane, width)), size, noise) {
                    add((lane, width), step, [&mut y[half..], &mut correction[half..]]);
                }
            }
            self.turn(Dynamics::velocities, t, y)?;
            if search.is_done() {
                break;
            }
        }
        self.engine.eval(Quantity::ConstraintRates, t, &self.other[..2 * half], values)?;
        let mut result = Ok(());
        for (lane, projection) in projections.iter_mut().enumerate().take(width) {
            let v = &self.other[half..2 * half];
            for (now, then) in v.iter().zip(&*begun).skip(lane).step_by(width) {
                projection.deflected = projection.deflected.max((now - then).abs());
            }
            let size = largest(v, (lane, width)).max(largest(&begun[..half], (lane, width)));
            let tolerance = MET + factors.rate_noise(lane);
            let unmet = self.unmet(values, factors, size, tolerance, (lane, width));
            if !unmet.is_empty() {
                correction.iter_mut().skip(lane).step_by(width).for_each(|c| *c = f64::NAN);
                result =
                    result.and(Err(ProjectionError::UnmetRates { t: t[lane], lane, constraints: unmet }));
            }
        }
        result
    }

    /// The constraints whose values in a lane are not zero up to `met`, given the size of the numbers that they are made of.
    fn unmet(
        &self,
        values: &[f64],
        factors: &ConstraintFactors,
        size: f64,
        tolerance: f64,
        (lane, width): (usize, usize),
    ) -> Vec<(String, f64)> {
        let names = self.system().constraints();
        let each = values.iter().skip(lane).step_by(width).enumerate();
        let is_met = |k: usize, value: f64| {
            value.is_finite() && value.abs() <= tolerance * factors.steepness(k, lane) * size
        };
        let unmet = each.filter(|(k, value)| !is_met(*k, **value));
        unmet.map(|(k, value)| (names[k].0.clone(), *value)).collect()
    }
}

/// The largest size of a number in a lane.
fn largest(x: &[f64], (lane, width): (usize, usize)) -> f64 {
    x.iter()
        .skip(lane)
        .step_by(width)
        .fold(0.0f64, |m, x| if m.is_nan() || x.is_nan() { f64::NAN } else { m.max(x.abs()) })
}

/// Which lanes are still being moved, and by how much they last were.
struct Search {
    open: [bool; LANES],
    last: [f64; LANES],
    /// What does not shrink by this factor has stalled.
    slow: f64,
}

impl Search {
    fn new(width: usize, slow: f64) -> Search {
        Search { open: std::array::from_fn(|lane| lane < width), last: [f64::INFINITY; LANES], slow }
    }

    /// Whether a lane takes a correction of what has a size; closes it if this is the last one, or is rounding, below `noise`.
    fn takes(&mut self, lane: usize, change: f64, size: f64, noise: f64) -> bool {
        let stalled = change >= self.slow * self.last[lane] && change <= noise;
        let takes = self.open[lane] && change.is_finite() && !stalled;
        self.open[lane] = takes && change > 2.0 * f64::EPSILON * size && change > f64::MIN_POSITIVE;
        if takes {
            self.last[lane] = change;
        }
        takes
    }

    fn is_done(&self) -> bool {
        !self.open.contains(&true)
    }
}

/// Adds a step to numbers in one lane.
fn add((lane, width): (usize, usize), step: &[f64], to: [&mut [f64]; 2]) {
    for to in to {
        (lane..step.len()).step_by(width).for_each(|i| to[i] += step[i]);
    }
}
