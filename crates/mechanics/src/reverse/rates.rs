//! The vector field backwards.
//!
//! Where it is no formula, with v from p = P(q, v), S = ∂L/∂q + Q, and constraint forces −Gᵀλ from A λ = G a + γ, A = G M⁻¹Gᵀ, weights w of q̇ and u of ṗ
//! become, with A ν = −G u, x = M⁻¹Gᵀν and the accelerations q̈ = a − M⁻¹Gᵀλ, the derivatives at fixed λ, ν, q̈ of
//!
//! $$u^{\mathsf T}S-\lambda^{\mathsf T}G\,(u+x)+\nu^{\mathsf T}(G\ddot q+\gamma)+x^{\mathsf T}(N-M\ddot q)$$
//!
//! with M q̈ = N without constraints; and what is by v, with w, goes on to q and p by one solution with the mass matrix.

use super::sums::{BackwardSums, add};
use crate::constraint::factors::ConstraintFactors;
use crate::dynamics::Dynamics;
use crate::engine::check;
use crate::error::EvalError;
use crate::facts::Form;
use crate::quantity::Quantity;
use leastaction_compile::LANES;
use leastaction_linear::dense;

impl Dynamics {
    /// Adds what weights of (q̇, ṗ) at y give: the reverse of [`Dynamics::rates`], for one state or for eight.
    ///
    /// # Errors
    /// [`EvalError`] if something has no reverse, or cannot be computed there.
    pub fn add_rate_slopes(
        &mut self,
        t: &[f64],
        y: &[f64],
        weights: &[f64],
        sums: &mut BackwardSums,
    ) -> Result<(), EvalError> {
        check("weights", y.len(), weights.len())?;
        if self.engine.has(Quantity::Rates) {
            return self.add_phase_slopes(Quantity::Rates, t, y, weights, sums);
        }
        let half = y.len() / 2;
        let (by_rates, by_pushes) = weights.split_at(half);
        let mut sideways = self.sideways(t, y)?;
        sideways.by_block[half..].copy_from_slice(by_rates);
        self.add_force_slopes(t, y, by_pushes, &mut sideways, sums)?;
        if self.system().facts().constrained {
            self.add_multiplier_slopes(t, y, by_pushes, &mut sideways, sums)?;
        }
        self.add_sideways(t, y, &sideways, sums)
    }

    /// Adds what weights of ṗ without the forces of constraints give: the reverse of [`Dynamics::kick`].
    ///
    /// # Errors
    /// As [`Dynamics::add_rate_slopes`].
    pub fn add_kick_slopes(
        &mut self,
        t: &[f64],
        y: &[f64],
        weights: &[f64],
        sums: &mut BackwardSums,
    ) -> Result<(), EvalError> {
        check("weights", y.len() / 2, weights.len())?;
        if self.engine.has(Quantity::Kick) {
            return self.add_phase_slopes(Quantity::Kick, t, y, weights, sums);
        }
        let mut sideways = self.sideways(t, y)?;
        self.add_force_slopes(t, y, weights, &mut sideways, sums)?;
        self.add_sideways(t, y, &sideways, sums)
    }

    /// Adds what weights of q̇ give: the reverse of [`Dynamics::drift`].
    ///
    /// # Errors
    /// As [`Dynamics::add_rate_slopes`].
    pub fn add_drift_slopes(
        &mut self,
        t: &[f64],
        y: &[f64],
        weights: &[f64],
        sums: &mut BackwardSums,
    ) -> Result<(), EvalError> {
        check("weights", y.len() / 2, weights.len())?;
        if self.engine.has(Quantity::Drift) {
            return self.add_phase_slopes(Quantity::Drift, t, y, weights, sums);
        }
        let mut sideways = self.sideways(t, y)?;
        let half = weights.len();
        sideways.by_block[half..].copy_from_slice(weights);
        self.add_sideways(t, y, &sideways, sums)
    }

    fn add_phase_slopes(
        &mut self,
        quantity: Quantity,
        t: &[f64],
        y: &[f64],
        weights: &[f64],
        sums: &mut BackwardSums,
    ) -> Result<(), EvalError> {
        let mut state = std::mem::take(&mut sums.state);
        let added = self.add_slopes(quantity, t, y, weights, &mut state, sums);
        sums.state = state;
        added
    }

    /// A state as formulas see it that are not of momenta: (q, v); of a Hamiltonian all are.
    pub(super) fn sideways(&mut self, t: &[f64], y: &[f64]) -> Result<Sideways, EvalError> {
        self.check_mechanical(t, y)?;
        let half = y.len() / 2;
        let mut z = y.to_vec();
        self.velocities(t, y, &mut z[half..])?;
        Ok(Sideways { z, by_block: vec![0.0; y.len()] })
    }

    /// Adds what weights of S give.
    fn add_force_slopes(
        &mut self,
        t: &[f64],
        y: &[f64],
        weights: &[f64],
        sideways: &mut Sideways,
        sums: &mut BackwardSums,
    ) -> Result<(), EvalError> {
        match self.system().facts().form {
            Form::Lagrangian => {
                let Sideways { z, by_block } = sideways;
                self.add_slopes(Quantity::MomentumRates, t, z, weights, by_block, sums)
            }
            Form::Hamiltonian | Form::Ports => self.add_phase_slopes(Quantity::Kick, t, y, weights, sums),
        }
    }

    /// Adds what weights of ṗ give by way of multipliers, also by the directions of their forces.
    fn add_multiplier_slopes(
        &mut self,
        t: &[f64],
        y: &[f64],
        weights: &[f64],
        sideways: &mut Sideways,
        sums: &mut BackwardSums,
    ) -> Result<(), EvalError> {
        let (system, width, half) = (self.system().clone(), t.len(), weights.len());
        let (rows, form) = (system.constraints().len() * width, system.facts().form);
        let mut multipliers = vec![0.0; rows];
        self.multipliers(t, y, &mut multipliers)?;
        let mut accelerations = vec![0.0; half];
        self.accelerations(t, &sideways.z, &mut accelerations)?;
        let mut factors = ConstraintFactors::new(&system, width);
        factors.factor(self, t, y)?;
        let mut nu = vec![0.0; rows];
        factors.add_rates(weights, &mut nu);
        factors.solve(&mut nu);
        nu.iter_mut().for_each(|nu| *nu = -*nu);
        // The weights of free accelerations, Gᵀν, and the same on velocities, x.
        let (mut pull, mut x) = (vec![0.0; half], vec![0.0; half]);
        factors.add_forces(&nu, &mut pull);
        factors.add_accelerations(&nu, &mut x);
        pull.iter_mut().chain(&mut x).for_each(|value| *value = -*value);
        let along: Vec<f64> = weights.iter().zip(&x).map(|(w, x)| w + x).collect();
        let entries =
            self.entries(&system, width, [(-1.0, &multipliers, &along), (1.0, &nu, &accelerations)]);
        let Sideways { z, by_block } = sideways;
        self.add_slopes(Quantity::ConstraintJacobian, t, z, &entries, by_block, sums)?;
        self.add_slopes(Quantity::ConstraintBias, t, z, &nu, by_block, sums)?;
        // What is known of accelerations by a formula is differentiated as that.
        let mut known = vec![0.0; half];
        if form == Form::Hamiltonian {
            self.engine.eval(Quantity::Accelerations, t, y, &mut known)?;
            self.add_phase_slopes(Quantity::Accelerations, t, y, &pull, sums)?;
        } else if self.engine.has(Quantity::Accelerations) {
            self.engine.eval(Quantity::Accelerations, t, z, &mut known)?;
            self.add_slopes(Quantity::Accelerations, t, z, &pull, by_block, sums)?;
        } else {
            self.add_slopes(Quantity::NetForces, t, z, &x, by_block, sums)?;
        }
        let others = form == Form::Hamiltonian || self.engine.has(Quantity::Accelerations);
        if others && !self.engine.energies.is_empty() {
            self.add_energy_slopes(t, &z[..half], &x, &mut by_block[..half], sums)?;
        }
        if form == Form::Hamiltonian {
            // q̈ = a + W (f − Gᵀλ), with the forces f of energies that are no formulas.
            let mut pushes = vec![0.0; half];
            self.engine.add_forces(t, z, &mut pushes)?;
            factors.add_forces(&multipliers, &mut pushes);
            return self.add_inertia_slopes(t, y, 1.0, [&pull, &pushes], None, sums);
        }
        let more: Vec<f64> = accelerations.iter().zip(&known).map(|(a, known)| a - known).collect();
        self.add_inertia_slopes(t, y, -1.0, [&x, &more], Some(sideways), sums)
    }

    /// Adds what a multiple of aᵀM b gives, by M of (q, v); for a Hamiltonian of aᵀW b, by W of (q, p).
    pub(super) fn add_inertia_slopes(
        &mut self,
        t: &[f64],
        y: &[f64],
        sign: f64,
        [a, b]: [&[f64]; 2],
        sideways: Option<&mut Sideways>,
        sums: &mut BackwardSums,
    ) -> Result<(), EvalError> {
        let (system, width, half) = (self.system().clone(), t.len(), a.len());
        let mut weights = vec![0.0; half + system.inverse().pattern.len() * width];
        for (row, &(i, j)) in weights[half..].chunks_exact_mut(width).zip(&system.inverse().pattern) {
            for (lane, weight) in row.iter_mut().enumerate() {
                let at = |list: &[f64], k: usize| list[k * width + lane];
                *weight = sign * at(a, i) * at(b, j);
                if i != j {
                    *weight += sign * at(a, j) * at(b, i);
                }
            }
        }
        match sideways {
            None => self.add_phase_slopes(Quantity::Inertia, t, y, &weights, sums),
            Some(Sideways { z, by_block }) => {
                let mut place = z.clone();
                if system.inverse().linear {
                    place[half..].fill(0.0);
                }
                self.add_slopes(Quantity::Inertia, t, &place, &weights, by_block, sums)
            }
        }
    }

    /// Weights of the nonzeros of G: the sum of multiples of products of a number of each constraint and one of each coordinate.
    pub(super) fn entries<const N: usize>(
        &self,
        system: &crate::System,
        width: usize,
        products: [(f64, &[f64], &[f64]); N],
    ) -> Vec<f64> {
        let pattern = &system.layout().jacobian;
        let mut entries = vec![0.0; pattern.len() * width];
        for ((row, column), entry) in pattern.entries().zip(entries.chunks_exact_mut(width)) {
            for (sign, numbers, directions) in products {
                for (lane, entry) in entry.iter_mut().enumerate() {
                    *entry += sign * numbers[row * width + lane] * directions[column * width + lane];
                }
            }
        }
        entries
    }

    /// Hands what is by (q, v) on to (q, p).
    pub(super) fn add_sideways(
        &mut self,
        t: &[f64],
        y: &[f64],
        sideways: &Sideways,
        sums: &mut BackwardSums,
    ) -> Result<(), EvalError> {
        let half = y.len() / 2;
        let Sideways { z, by_block } = sideways;
        let (by_places, by_velocities) = by_block.split_at(half);
        add(&mut sums.state[..half], by_places);
        if by_velocities.iter().all(|weight| *weight == 0.0) {
            return Ok(());
        }
        if self.engine.has(Quantity::Drift) {
            return self.add_phase_slopes(Quantity::Drift, t, y, by_velocities, sums);
        }
        let by_momenta = self.solve_masses(t, z, by_velocities)?;
        add(&mut sums.state[half..], &by_momenta);
        let against: Vec<f64> = by_momenta.iter().map(|weight| -weight).collect();
        let mut by_block = vec![0.0; y.len()];
        self.add_slopes(Quantity::Momenta, t, z, &against, &mut by_block, sums)?;
        add(&mut sums.state[..half], &by_block[..half]);
        Ok(())
    }

    /// M⁻¹ times something, lane by lane.
    fn solve_masses(&mut self, t: &[f64], z: &[f64], sides: &[f64]) -> Result<Vec<f64>, EvalError> {
        let (width, half) = (t.len(), sides.len());
        let n = half / width;
        let mut masses = vec![0.0; n * n * width];
        self.mass_matrix(t, z, &mut masses)?;
        let mut solution = sides.to_vec();
        let (mut matrix, mut side) = (vec![0.0; n * n], vec![0.0; n]);
        for (lane, &t) in t.iter().enumerate().take(LANES) {
            (0..n * n).for_each(|k| matrix[k] = masses[k * width + lane]);
            (0..n).for_each(|i| side[i] = sides[i * width + lane]);
            if dense::solve_once(&mut matrix, &mut side, n).is_err() {
                let coordinate = self.system().state_name(0);
                return Err(EvalError::SingularMass { t, lane, coordinate });
            }
            (0..n).for_each(|i| solution[i * width + lane] = side[i]);
        }
        Ok(solution)
    }
}

/// A state as \[q…, v…\], and derivatives by that.
pub(super) struct Sideways {
    pub(super) z: Vec<f64>,
    pub(super) by_block: Vec<f64>,
}
