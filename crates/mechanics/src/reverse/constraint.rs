//! Constraints, and the projection onto them, backwards.

use super::rates::Sideways;
use super::sums::{BackwardSums, add};
use crate::constraint::factors::ConstraintFactors;
use crate::constraint::project::ProjectionError;
use crate::dynamics::Dynamics;
use crate::error::EvalError;
use crate::facts::Form;
use crate::quantity::Quantity;

/// One correction of a projection: where it was made, by which multipliers, and whether it is one of momenta.
struct Correction {
    y: Vec<f64>,
    multipliers: Vec<f64>,
    of_momenta: bool,
}

/// A state that needs more corrections is far from the constraints.
const MOST: usize = 20;
/// The last correction is rounding, relative to the state; or no longer shrinks, and is small.
const ROUNDING: f64 = 1e-14;
const NOISE: f64 = 1e-11;
/// Along directions that are this short, projections leave out what is noise.
const SHORT: f64 = 1e-4;

impl Dynamics {
    /// Adds what weights of Φ give.
    ///
    /// # Errors
    /// As [`Dynamics::add_rate_slopes`].
    pub fn add_constraint_slopes(
        &mut self,
        t: &[f64],
        y: &[f64],
        weights: &[f64],
        sums: &mut BackwardSums,
    ) -> Result<(), EvalError> {
        self.add_place_slopes(Quantity::Constraints, t, y, weights, sums)
    }

    /// Adds what weights u of the constraint forces −Gᵀλ give, for fixed multipliers λ.
    ///
    /// # Errors
    /// As [`Dynamics::add_rate_slopes`].
    pub fn add_constraint_force_slopes(
        &mut self,
        t: &[f64],
        y: &[f64],
        multipliers: &[f64],
        weights: &[f64],
        sums: &mut BackwardSums,
    ) -> Result<(), EvalError> {
        let entries = self.entries(&self.system().clone(), t.len(), [(-1.0, multipliers, weights)]);
        self.add_place_slopes(Quantity::ConstraintJacobian, t, y, &entries, sums)
    }

    /// Adds what weights of Ψ give, by way of velocities too.
    ///
    /// # Errors
    /// As [`Dynamics::add_rate_slopes`].
    pub fn add_constraint_rate_slopes(
        &mut self,
        t: &[f64],
        y: &[f64],
        weights: &[f64],
        sums: &mut BackwardSums,
    ) -> Result<(), EvalError> {
        let mut sideways = self.sideways(t, y)?;
        let Sideways { z, by_block } = &mut sideways;
        self.add_slopes(Quantity::ConstraintRates, t, z, weights, by_block, sums)?;
        self.add_sideways(t, y, &sideways, sums)
    }

    /// Of what is a function of positions.
    fn add_place_slopes(
        &mut self,
        quantity: Quantity,
        t: &[f64],
        y: &[f64],
        weights: &[f64],
        sums: &mut BackwardSums,
    ) -> Result<(), EvalError> {
        let half = y.len() / 2;
        let mut by_block = vec![0.0; y.len()];
        self.add_slopes(quantity, t, y, weights, &mut by_block, sums)?;
        add(&mut sums.state[..half], &by_block[..half]);
        Ok(())
    }

    /// Goes back over [`Dynamics::project`] from a state: weights of where it leads become those of the state, and what else it depends on is added to.
    ///
    /// # Errors
    /// [`ProjectionError`] if there is no way onto the constraints; [`EvalError::NoReverse`] where these nearly depend on each other.
    pub fn reverse_projection(
        &mut self,
        t: &[f64],
        y: &[f64],
        weights: &mut [f64],
        sums: &mut BackwardSums,
    ) -> Result<(), ProjectionError> {
        let system = self.system().clone();
        if !system.facts().constrained {
            return Ok(());
        }
        let (width, rows) = (t.len(), system.constraints().len());
        let mut factors = ConstraintFactors::new(&system, width);
        let (mut at, mut places) = (y.to_vec(), Vec::new());
        if system.position_constraints() > 0 {
            self.find_corrections(t, &mut at, false, &mut factors, &mut places)?;
        }
        self.find_corrections(t, &mut at, true, &mut factors, &mut places)?;
        let short = |lane: usize| factors.shortest(lane) < SHORT && factors.rank(lane) == rows;
        if (0..width).any(short) {
            let why = "a step ends where constraints nearly depend on each other";
            return Err(EvalError::NoReverse { why }.into());
        }
        for correction in places.iter().rev() {
            factors.factor(self, t, &correction.y)?;
            self.reverse_correction(&mut factors, t, correction, weights, sums)?;
        }
        Ok(())
    }

    /// Makes the corrections of a projection again. The last one does nothing, but says which changes of the state are left out.
    fn find_corrections(
        &mut self,
        t: &[f64],
        at: &mut [f64],
        of_momenta: bool,
        factors: &mut ConstraintFactors,
        places: &mut Vec<Correction>,
    ) -> Result<(), ProjectionError> {
        let system = self.system().clone();
        let (width, half) = (t.len(), at.len() / 2);
        let (rows, positions) = (system.constraints().len() * width, system.position_constraints() * width);
        let mut last = f64::INFINITY;
        for _ in 0..MOST {
            let (mut multipliers, mut step) = (vec![0.0; rows], vec![0.0; half]);
            if of_momenta {
                let Sideways { z, .. } = self.sideways(t, at)?;
                self.constraint_rates(t, &z, &mut multipliers)?;
            } else {
                self.constraint_values(t, at, &mut multipliers[..positions])?;
            }
            factors.factor(self, t, at)?;
            factors.solve(&mut multipliers);
            match of_momenta {
                true => factors.add_forces(&multipliers, &mut step),
                false => factors.add_accelerations(&multipliers, &mut step),
            }
            places.push(Correction { y: at.to_vec(), multipliers, of_momenta });
            let moved = if of_momenta { &mut at[half..] } else { &mut at[..half] };
            let [size, change] = [&*moved, &step[..]].map(largest);
            if change <= ROUNDING * size || change >= last && change <= NOISE * size {
                return Ok(());
            }
            last = change;
            moved.iter_mut().zip(&step).for_each(|(at, step)| *at += step);
        }
        let why = "a step ends far from the constraints";
        Err(EvalError::NoReverse { why }.into())
    }

    /// Goes back over one correction: of positions q − W Gᵀλ with A λ = Φ, or of momenta p − Gᵀλ with A λ = Ψ. With weights w, W = M⁻¹ and A ν = G W w, or A ν = G w,
    /// it is by
    ///
    /// $$-w^{\mathsf T}WG^{\mathsf T}\lambda+\nu^{\mathsf T}(GWG^{\mathsf T}\lambda-\Phi),\qquad -w^{\mathsf T}G^{\mathsf T}\lambda+\nu^{\mathsf T}(GWG^{\mathsf T}\lambda-\Psi).$$
    fn reverse_correction(
        &mut self,
        factors: &mut ConstraintFactors,
        t: &[f64],
        Correction { y, multipliers, of_momenta }: &Correction,
        weights: &mut [f64],
        sums: &mut BackwardSums,
    ) -> Result<(), EvalError> {
        let (system, width, half) = (self.system().clone(), t.len(), y.len() / 2);
        let own = if *of_momenta { &weights[half..] } else { &weights[..half] };
        let mut nu = vec![0.0; system.constraints().len() * width];
        match of_momenta {
            true => factors.add_rates(own, &mut nu),
            false => factors.add_rates_of_momenta(own, &mut nu),
        }
        factors.solve(&mut nu);
        let negative = |mut numbers: Vec<f64>| {
            numbers.iter_mut().for_each(|x| *x = -*x);
            numbers
        };
        let spread = |numbers: &[f64]| {
            let mut moved = vec![0.0; half];
            factors.add_accelerations(numbers, &mut moved);
            negative(moved)
        };
        let force = |numbers: &[f64]| {
            let mut pull = vec![0.0; half];
            factors.add_forces(numbers, &mut pull);
            negative(pull)
        };
        // u = W Gᵀλ; and the covector c with which W Gᵀλ is differentiated, and W c: of positions Gᵀν − w, of momenta Gᵀν.
        let (u, mut c, mut x) = (spread(multipliers), force(&nu), spread(&nu));
        let along: Vec<f64> = if *of_momenta {
            x.iter().zip(own).map(|(x, w)| x - w).collect()
        } else {
            c.iter_mut().zip(own).for_each(|(c, w)| *c -= w);
            let mut turned = vec![0.0; half];
            factors.add_velocities(own, &mut turned);
            x.iter_mut().zip(&turned).for_each(|(x, turned)| *x -= turned);
            x.clone()
        };
        let mut sideways = if *of_momenta || !system.inverse().linear {
            self.sideways(t, y)?
        } else {
            Sideways { z: y.clone(), by_block: vec![0.0; y.len()] }
        };
        // What is by the state goes to the weights.
        let before = std::mem::replace(&mut sums.state, vec![0.0; y.len()]);
        let Sideways { z, by_block } = &mut sideways;
        let entries = self.entries(&system, width, [(1.0, multipliers, &along), (1.0, &nu, &u)]);
        let mut result = self.add_slopes(Quantity::ConstraintJacobian, t, z, &entries, by_block, sums);
        let nu = negative(nu);
        result = result.and_then(|()| match of_momenta {
            true => self.add_slopes(Quantity::ConstraintRates, t, z, &nu, by_block, sums),
            false => {
                let nu = &nu[..system.position_constraints() * width];
                self.add_slopes(Quantity::Constraints, t, z, nu, by_block, sums)
            }
        });
        result = result.and_then(|()| match system.facts().form {
            // dW = −W dM W.
            Form::Lagrangian => self.add_inertia_slopes(t, y, -1.0, [&x, &u], Some(&mut sideways), sums),
            _ => self.add_inertia_slopes(t, y, 1.0, [&c, &force(multipliers)], None, sums),
        });
        result = result.and_then(|()| self.add_sideways(t, y, &sideways, sums));
        let by_state = std::mem::replace(&mut sums.state, before);
        add(weights, &by_state);
        result
    }
}

fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().fold(0.0, |m, x| m.max(x.abs()))
}
