//! Static equilibrium, by minimising the energy.
//!
//! Newton's method on the configurations that constraints allow, with K + σM in place of K where that is not positive definite, and steps that are halved until
//! the energy falls (J. Nocedal and S. J. Wright, *Numerical Optimization*, 2006, sections 3.4 and 7.1). Every iterate meets the constraints, so that the
//! energy itself tells what is better.
//!
//! The search ends where a whole step of Newton's method moves no coordinate visibly, each measured by its own way; or where it only moves by the rounding of
//! forces, each measured by what it is made of. A stiff coordinate says nothing of a soft one, and a force that fades says nothing of balance.

use crate::error::AnalyzeError;
use crate::mass::Mass;
use crate::modes::{Modes, modes_where, negative_modes};
use crate::rest::{Rest, dot, largest};
use crate::shifted::{Shifted, scale};
use leastaction_linear::Curvature;
use leastaction_mechanics::Dynamics;

/// Iterations before the search is given up.
const ITERATIONS: usize = 500;
/// Forces that are this part of what they are made of are rounding.
const ROUNDING: f64 = 32.0 * f64::EPSILON;
/// Forces that do not become smaller any more count as balanced below this part.
const BALANCED: f64 = 1e-12;
/// A step that is this part of the way a coordinate has gone moves nothing visibly, even if it ends at 0: a stiff spring ends close to that.
const UNSEEN: f64 = 1e-20;
/// An energy of second order that is this part of its terms is no rounding.
const HELD: f64 = 64.0 * f64::EPSILON;
/// The smallest shift, as a part of each stiffness: so that what costs no energy does not move by rounding.
const SMALLEST: f64 = 1e-11;
/// A coordinate that moved this many times as far as the size of all at the start will not stop; nor will forces that have grown so much without being balanced.
const FAR: f64 = 1e9;

/// Where all forces balance.
#[derive(Clone, Debug, PartialEq)]
pub struct Equilibrium {
    /// The coordinates.
    pub q: Vec<f64>,
    /// The energy there.
    pub energy: f64,
    /// The energy where the search began, on the constraints.
    pub start_energy: f64,
    /// The multipliers of the constraints: these act with −Gᵀλ.
    pub multipliers: Vec<f64>,
    /// The largest force that is left.
    pub residual: f64,
    /// What forces are made of there, to whose rounding they are known.
    pub force_size: f64,
    /// How many iterations were made.
    pub iterations: usize,
    /// In how many independent directions the energy falls: none at a minimum.
    pub negative_modes: usize,
}

impl Equilibrium {
    /// The lowest normal modes about it, as [`modes`](crate::modes) finds them.
    ///
    /// # Errors
    /// As there.
    pub fn modes(&self, dynamics: &mut Dynamics, t: f64, count: usize) -> Result<Modes, AnalyzeError> {
        modes_where(dynamics, t, &self.q, count, self.force_size)
    }

    /// Whether the energy falls in no direction.
    #[must_use]
    pub fn is_stable(&self) -> bool {
        self.negative_modes == 0
    }
}

/// The equilibrium that is found from coordinates at a time. A place at which forces balance is one even if the energy falls in some direction from there:
/// [`Equilibrium::negative_modes`] tells in how many.
///
/// # Errors
/// [`AnalyzeError`] says why there is no equilibrium, or how far the search came.
pub fn equilibrium(dynamics: &mut Dynamics, t: f64, start: &[f64]) -> Result<Equilibrium, AnalyzeError> {
    let mut rest = Rest::new(dynamics, t)?;
    let (n, forced) = (rest.n, rest.dynamics.system().facts().forced);
    let mut q = start.to_vec();
    rest.project(&mut q)?;
    let start_energy = rest.energy(&q)?;
    if !start_energy.is_finite() {
        return Err(AnalyzeError::NoEnergy { energy: start_energy });
    }
    let size = largest(&q).1.max(1.0);
    let mut mass = Mass::new(rest.dynamics, t, &q)?;
    let constant_mass = rest.dynamics.system().facts().constant_mass;
    let (mut energy, mut gradient, mut first_forces) = (start_energy, vec![0.0; n], f64::NAN);
    let mut shifted: Option<Shifted> = None;
    let (mut sigma, mut best, mut stalled, mut force_size) = (0.0f64, f64::INFINITY, 0, 0.0f64);
    let (mut moved, mut last_step) = (vec![0.0f64; n], f64::INFINITY);
    // Whether no step makes anything better.
    let mut stuck = false;
    let (mut direction, mut trial, mut ahead) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    for iterations in 0..=ITERATIONS {
        rest.gradient(&q, &mut gradient)?;
        let acting = gradient.clone();
        rest.constrain(&q)?;
        let multipliers = rest.balance(&mut gradient);
        rest.stiffen(&q, &multipliers)?;
        // Where all is at 0, only the way there tells how large forces are.
        let mut sizes = rest.force_sizes(&q)?;
        let pull = largest(&acting).1;
        force_size = force_size.max(largest(&sizes).1 + pull);
        // Constraints hand forces on from one coordinate to others.
        let constrained = rest.rows > 0;
        sizes.iter_mut().zip(&acting).for_each(|(s, a)| *s += if constrained { pull } else { a.abs() });
        moved.iter_mut().zip(&q).zip(start).for_each(|((m, q), s)| *m = m.max((q - s).abs()));
        first_forces = if first_forces.is_nan() { force_size } else { first_forces };
        let (at, residual) = largest(&gradient);
        stalled = if residual < 0.5 * best { 0 } else { stalled + 1 };
        best = best.min(residual);
        if !constant_mass && iterations > 0 {
            mass = Mass::new(rest.dynamics, t, &q)?;
        }
        let given_up =
            AnalyzeError::NotConverged { iterations, residual, scale: force_size, coordinate: rest.name(at) };
        let grown = force_size > FAR * first_forces.max(f64::MIN_POSITIVE);
        let (farthest, value) = largest(&q);
        if value > FAR * size
            || grown && residual > ROUNDING * force_size
            || energy < -FAR * FAR * (start_energy.abs() + 1.0)
        {
            let at = if grown { at } else { farthest };
            let (coordinate, value) = (rest.name(at), q[at]);
            return Err(AnalyzeError::Unbounded { coordinate, value, energy, iterations });
        }
        if residual.is_nan() {
            return Err(given_up);
        }

        let shifted = shifted.get_or_insert_with(|| Shifted::new(&rest, &mass));
        let most = scale(&mut rest, &mass)?;
        // Where nothing is stiff, forces say what is large.
        let heavy = (0..n).map(|i| mass.diagonal(i)).fold(0.0, f64::max);
        let most = most.max(residual / (if heavy > 0.0 { heavy } else { 1.0 } * size));
        // Coordinates that nothing holds get a part of the rest, all others of their own.
        let floor: Vec<f64> = (0..n)
            .map(|i| match rest.diagonal(i) {
                Some(k) if k != 0.0 => SMALLEST * k.abs(),
                _ => SMALLEST * most * if mass.diagonal(i) > 0.0 { mass.diagonal(i) } else { 1.0 },
            })
            .collect();
        sigma *= 0.1;
        let small = |part: f64| gradient.iter().zip(&sizes).all(|(g, s)| g.abs() <= part * s);
        // Where the search may end, only the stiffness as it is tells whether it does.
        if sigma <= SMALLEST * most || small(BALANCED) {
            sigma = 0.0;
        }
        let mut positive = true;
        while !shifted.factor_above(&rest, &mass, sigma, floor.clone()) {
            positive &= sigma > 0.0;
            sigma = (10.0 * sigma).max(1e-6 * most);
            if residual > 0.0 && sigma > 1e9 * most || !sigma.is_finite() {
                return Err(AnalyzeError::NoFactors);
            }
            if residual == 0.0 {
                break;
            }
        }
        let side: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let tolerance = (residual / force_size).sqrt().clamp(1e-6, 0.1);
        let curvature = match residual {
            0.0 => Curvature::Positive,
            _ => shifted.solve(&mut rest, &mass, &side, &mut direction, tolerance)?,
        };
        // What is soft only next to what is stiff needs no floor; what costs no energy does, and a step along it shows that.
        if sigma == 0.0 && positive && residual > 0.0 && shifted.is_factored() {
            let mut bare = vec![0.0; n];
            if shifted.factor(&rest, &mass, 0.0) {
                shifted.solve(&mut rest, &mass, &side, &mut bare, tolerance)?;
                if dot(&side, &bare) > HELD * rest.terms(&bare) {
                    std::mem::swap(&mut direction, &mut bare);
                }
            }
        }
        let whole = sigma == 0.0 && curvature == Curvature::Positive;
        let seen: Vec<usize> = (0..n)
            .filter(|&i| direction[i].abs() > UNSEEN * moved[i] + 4.0 * f64::EPSILON * q[i].abs())
            .collect();
        let among = |part: f64| seen.iter().all(|&i| gradient[i].abs() <= part * sizes[i]);
        let weight = |i: usize| rest.diagonal(i).map_or(1.0, f64::abs);
        let step: f64 = seen.iter().map(|&i| weight(i) * direction[i].powi(2)).sum();
        let shrinks = step < 0.98 * last_step;
        last_step = step;
        let ends = residual == 0.0
            || whole
                && (seen.is_empty()
                    || !shrinks && among(ROUNDING)
                    || !shrinks && stalled > 4 && among(BALANCED))
            || !positive && (small(ROUNDING) || stalled > 4 && small(BALANCED))
            || stuck && among(BALANCED);
        if ends {
            let negative_modes = negative_modes(&mut rest, &mut mass, shifted)?;
            let equilibrium = Equilibrium {
                q,
                energy,
                start_energy,
                multipliers,
                residual,
                force_size,
                iterations,
                negative_modes,
            };
            return check_rest(&mut rest, &mass, equilibrium);
        }
        if stuck || iterations == ITERATIONS {
            return Err(given_up);
        }
        let mut slope = dot(&gradient, &direction);
        if slope > 0.0 {
            direction.iter_mut().for_each(|d| *d = -*d);
            slope = -slope;
        }
        let (_, longest) = largest(&direction);
        let room = if curvature == Curvature::Positive { 0.5 } else { 0.1 } * largest(&q).1.max(1.0);
        if longest > room || curvature == Curvature::NotPositive && longest > 0.0 {
            let shorter = room / longest;
            direction.iter_mut().for_each(|d| *d *= shorter);
            slope *= shorter;
        }

        // Stiff coordinates have large forces by rounding alone.
        let stiff: Vec<f64> = (0..n).map(|i| rest.diagonal(i).unwrap_or(1.0).abs().max(floor[i])).collect();
        let weighed = |g: &[f64]| {
            g.iter().zip(&stiff).map(|(g, k)| if *k > 0.0 { g * g / k } else { g * g }).sum::<f64>()
        };
        // Below this, energies do not tell which place is better.
        let blur = 1e-10 * (energy.abs() + force_size * largest(&q).1);
        let (mut along, mut taken) = (1.0, false);
        while along > 1e-14 {
            trial.iter_mut().zip(&q).zip(&direction).for_each(|((trial, q), d)| *trial = q + along * d);
            // Too far from the constraints, there is no way back to them.
            if rest.project(&mut trial).is_ok()
                && let Ok(energy_there) = rest.energy(&trial)
                && energy_there.is_finite()
            {
                let change = if forced {
                    rest.gradient(&trial, &mut ahead)?;
                    0.5 * along * (slope + dot(&ahead, &direction))
                } else {
                    energy_there - energy
                };
                let falls = change <= 1e-4 * along * slope;
                let better = falls
                    || along * slope.abs() <= blur && {
                        rest.gradient(&trial, &mut ahead)?;
                        rest.constrain(&trial)?;
                        rest.balance(&mut ahead);
                        weighed(&ahead) < weighed(&gradient)
                    };
                if better {
                    energy = energy_there;
                    std::mem::swap(&mut q, &mut trial);
                    taken = true;
                    break;
                }
            }
            along *= 0.5;
        }
        // Factors of constraints are those of the last trial, so that the next iteration tells whether this is balance.
        stuck = !taken;
    }
    unreachable!("the last iteration returns")
}

/// Refuses an equilibrium that does not last, where something depends on time.
fn check_rest(
    rest: &mut Rest<'_>,
    mass: &Mass,
    equilibrium: Equilibrium,
) -> Result<Equilibrium, AnalyzeError> {
    if rest.dynamics.system().facts().autonomous {
        return Ok(equilibrium);
    }
    let (n, t) = (rest.n, rest.t);
    let mut z = equilibrium.q.clone();
    z.resize(2 * n, 0.0);
    let mut accelerations = vec![0.0; n];
    for later in [0.0, 0.37, 1.13, 2.9, 17.3].map(|dt| t + dt) {
        rest.dynamics.accelerations(&[later], &z, &mut accelerations)?;
        let forces: Vec<f64> =
            accelerations.iter().enumerate().map(|(i, a)| a * mass.diagonal(i).max(0.0)).collect();
        let (at, force) = largest(&forces);
        if force.is_nan() || force > 1e-6 * equilibrium.force_size.max(f64::MIN_POSITIVE) {
            let (coordinate, acceleration) = (rest.name(at), accelerations[at]);
            return Err(AnalyzeError::Moving { t, later, coordinate, acceleration });
        }
    }
    Ok(equilibrium)
}
