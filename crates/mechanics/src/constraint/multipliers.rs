//! Multipliers of constraints, and by how much a state violates them.

use crate::constraint::factors::ConstraintFactors;
use crate::dynamics::Dynamics;
use crate::engine::check;
use crate::error::EvalError;
use crate::inverse::grow;
use crate::quantity::Quantity;
use crate::system::System;

/// The memory of a dynamics with constraints. It grows when it is first used, and then no more.
#[derive(Clone, Default)]
pub(crate) struct ConstraintMemory {
    /// For one state, and for eight. They are taken out and put back at every evaluation: in a box, so that little is moved.
    pub(crate) factors: [Option<Box<ConstraintFactors>>; 2],
    pub(crate) multipliers: Vec<f64>,
    pub(crate) values: Vec<f64>,
    pub(crate) accelerations: Vec<f64>,
    pub(crate) correction: Vec<f64>,
    pub(crate) flow: Vec<f64>,
}

impl ConstraintMemory {
    /// The factors for this number of lanes, taken out to be used and put back.
    pub(crate) fn take_factors(&mut self, system: &System, width: usize) -> Box<ConstraintFactors> {
        let new = || Box::new(ConstraintFactors::new(system, width));
        self.factors[usize::from(width > 1)].take().unwrap_or_else(new)
    }

    pub(crate) fn put_back(&mut self, factors: Box<ConstraintFactors>) {
        let place = usize::from(factors.width > 1);
        self.factors[place] = Some(factors);
    }
}

impl Dynamics {
    /// Φ of the constraints of positions and Ψ of all constraints at y: by how much they are violated.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit, or velocities do not follow from momenta.
    pub fn violations(
        &mut self,
        t: &[f64],
        y: &[f64],
        positions: &mut [f64],
        velocities: &mut [f64],
    ) -> Result<(), EvalError> {
        self.engine.eval(Quantity::Constraints, t, y, positions)?;
        let result = self.turn(Dynamics::velocities, t, y);
        self.engine.eval(Quantity::ConstraintRates, t, &self.other[..y.len()], velocities).and(result)
    }

    /// Φ of the constraints of positions at y, of which only q is read.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit.
    pub fn constraint_values(&mut self, t: &[f64], y: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        self.engine.eval(Quantity::Constraints, t, y, out)
    }

    /// Ψ of the constraints at z.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit.
    pub fn constraint_rates(&mut self, t: &[f64], z: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        self.engine.eval(Quantity::ConstraintRates, t, z, out)
    }

    /// The multipliers λ at y: constraints act with the force −Gᵀλ. What redundant constraints carry is theirs together.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit, or velocities do not follow from momenta.
    pub fn multipliers(&mut self, t: &[f64], y: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        self.engine.check_block(t, y)?;
        check("multipliers", self.system().constraints().len() * t.len(), out.len())?;
        let result = self.turn(Dynamics::velocities, t, y);
        result.and(self.find_multipliers(t, y))?;
        out.copy_from_slice(&self.constraint.multipliers[..out.len()]);
        Ok(())
    }

    /// One of the multipliers at y, by its place.
    pub(crate) fn multiplier(
        &mut self,
        place: usize,
        t: &[f64],
        y: &[f64],
        out: &mut [f64],
    ) -> Result<(), EvalError> {
        let result = self.turn(Dynamics::velocities, t, y);
        result.and(self.find_multipliers(t, y))?;
        out.copy_from_slice(&self.constraint.multipliers[place * t.len()..][..t.len()]);
        Ok(())
    }

    /// How many constraints are independent at y, in each lane.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit, or the mass matrix is singular there.
    pub fn rank(&mut self, t: &[f64], y: &[f64], out: &mut [usize]) -> Result<(), EvalError> {
        self.engine.check_block(t, y)?;
        check("ranks", t.len(), out.len())?;
        let system = self.system().clone();
        let mut factors = self.constraint.take_factors(&system, t.len());
        let taken = factors.factor(self, t, y);
        (0..t.len()).for_each(|lane| out[lane] = factors.rank(lane));
        self.constraint.put_back(factors);
        taken
    }

    /// The multipliers at y, whose velocities stand in `other`.
    ///
    /// G M⁻¹ Gᵀ λ = G a + γ, where a are the accelerations without constraints.
    pub(crate) fn find_multipliers(&mut self, t: &[f64], y: &[f64]) -> Result<(), EvalError> {
        let (rows, half) = (self.system().constraints().len() * t.len(), y.len() / 2);
        let mut memory = std::mem::take(&mut self.constraint);
        grow(&mut memory.multipliers, rows);
        grow(&mut memory.accelerations, y.len() + half);
        let mut factors = memory.take_factors(self.system(), t.len());
        let (z, a) = memory.accelerations.split_at_mut(y.len());
        z.copy_from_slice(&self.other[..y.len()]);
        let multipliers = &mut memory.multipliers[..rows];
        let result = self
            .free_accelerations(t, z, &mut a[..half])
            .and_then(|()| self.engine.eval(Quantity::ConstraintBias, t, z, multipliers))
            .and_then(|()| factors.factor(self, t, y));
        factors.add_rates(&a[..half], multipliers);
        factors.solve(multipliers);
        self.pair(&z[..half], &z[half..]);
        memory.put_back(factors);
        self.constraint = memory;
        result
    }

    /// Adds the forces of constraints at y to pushes. The velocities of y stand in `other`.
    pub(crate) fn add_constraint_forces(
        &mut self,
        t: &[f64],
        y: &[f64],
        pushes: &mut [f64],
    ) -> Result<(), EvalError> {
        let result = self.find_multipliers(t, y);
        let rows = self.system().constraints().len() * t.len();
        if let Some(factors) = &self.constraint.factors[usize::from(t.len() > 1)] {
            factors.add_forces(&self.constraint.multipliers[..rows], pushes);
        }
        result
    }
}
