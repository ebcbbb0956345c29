//! Dynamics: a system bound to parameter values and inputs, with the working memory of one thread.
//!
//! Every quantity is computed for one state or for a block of eight, in the layout of
//! [`leastaction_compile::Evaluator::eval_lanes`]: component-major, lanes innermost. The number of times given says which: 1 or 8.
//! A *state block* y is \[q…, p…\]; a *configuration block* z is \[q…, v…\] with velocities v = q̇.
//!
//! A quantity is compiled, and its memory allocated, when it is first asked for ([`Dynamics::prepare`] does it ahead); after that nothing
//! allocates. If something cannot be computed in a lane, its results are NaN there, the other lanes are right, and the error
//! tells of the first such lane.

use crate::engine::{Engine, check};
use crate::error::{EvalError, SettingError};
use crate::input::Input;
use crate::inverse::{Failure, Solver, fill, grow};
use crate::solve::lu;
use crate::system::{Form, Quantity, System};

/// Rows of the ledger after the shares.
#[derive(Clone, Copy)]
enum Row {
    Kinetic,
    Potential,
    Lagrangian,
    Energy,
    Dissipated,
    Supplied,
}

impl Row {
    const COUNT: usize = Row::Supplied as usize + 1;
}

/// A system with values for its parameters and inputs. One thread uses it at a time; clone it for others.
///
/// See the [module](self) for the layout of blocks.
#[derive(Clone)]
pub struct Dynamics {
    engine: Engine,
    solver: Solver,
    /// The state in the other picture: \[q…, v…\] where \[q…, p…\] is given, or the other way round.
    other: Vec<f64>,
    ledger: Vec<f64>,
    inertia: Vec<f64>,
    dense: Vec<f64>,
}

impl Dynamics {
    pub(crate) fn new(system: System) -> Result<Dynamics, SettingError> {
        let dynamics = Dynamics {
            engine: Engine::new(system)?,
            solver: Solver::default(),
            other: Vec::new(),
            ledger: Vec::new(),
            inertia: Vec::new(),
            dense: Vec::new(),
        };
        Ok(dynamics)
    }

    /// The system.
    #[must_use]
    pub fn system(&self) -> &System {
        &self.engine.system
    }

    /// The values of the parameters, in the system's order.
    #[must_use]
    pub fn parameters(&self) -> &[f64] {
        self.engine.parameters()
    }

    /// Sets all parameters, in the system's order.
    ///
    /// # Errors
    /// [`SettingError`] if a value is not finite or makes a mass that is not positive; the old values then stay.
    pub fn set_parameters(&mut self, values: &[f64]) -> Result<(), SettingError> {
        self.engine.set_parameters(values)
    }

    /// Sets one parameter.
    ///
    /// # Errors
    /// [`SettingError`] if there is no such parameter, or as for [`Dynamics::set_parameters`].
    pub fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), SettingError> {
        self.engine.set_parameter(name, value)
    }

    /// Sets an input: a number, a [`Table`](crate::Table), or [`Input::function`]. Inputs are zero until they are set.
    ///
    /// # Errors
    /// [`SettingError::Unknown`] if there is no such input.
    pub fn set_input(&mut self, name: &str, input: impl Into<Input>) -> Result<(), SettingError> {
        self.engine.set_input(name, input.into())
    }

    /// Compiles and allocates ahead what these quantities need.
    ///
    /// # Errors
    /// [`EvalError`] if the system does not have one of them.
    pub fn prepare(&mut self, quantities: &[Quantity]) -> Result<(), EvalError> {
        quantities.iter().try_for_each(|&quantity| self.engine.prepare(quantity))
    }

    /// The vector field in phase space: (q̇, ṗ) at y.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit, or velocities do not follow from momenta.
    #[inline]
    pub fn field(&mut self, t: &[f64], y: &[f64], dy: &mut [f64]) -> Result<(), EvalError> {
        if self.system().facts().closed {
            return self.engine.eval(Quantity::Field, t, y, dy);
        }
        let half = self.system().degrees() * t.len();
        check("(q̇, ṗ)", 2 * half, dy.len())?;
        let (rates, pushes) = dy.split_at_mut(half);
        let found = self.velocities(t, y, rates);
        self.configuration(y, rates);
        self.engine.eval(Quantity::Pushes, t, &self.other[..2 * half], pushes).and(found)
    }

    /// The first half of the field: q̇ at y.
    ///
    /// # Errors
    /// As [`Dynamics::field`].
    #[inline]
    pub fn drift(&mut self, t: &[f64], y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        self.velocities(t, y, rates)
    }

    /// The second half of the field: ṗ at y. If H is separable and no force depends on velocities, it does not depend on p.
    ///
    /// # Errors
    /// As [`Dynamics::field`].
    pub fn kick(&mut self, t: &[f64], y: &[f64], pushes: &mut [f64]) -> Result<(), EvalError> {
        let facts = self.system().facts();
        if facts.closed {
            return self.engine.eval(Quantity::Kick, t, y, pushes);
        }
        if facts.separable && !facts.forces_depend_on_velocities {
            return self.engine.eval(Quantity::Pushes, t, y, pushes); // whatever stands beside q is not read
        }
        check("ṗ", self.system().degrees() * t.len(), pushes.len())?;
        let found = self.velocities(t, y, pushes);
        self.configuration(y, pushes);
        let len = y.len();
        self.engine.eval(Quantity::Pushes, t, &self.other[..len], pushes).and(found)
    }

    /// Velocities at y.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit, the mass matrix is singular there, or no velocities belong to these momenta.
    #[inline]
    pub fn velocities(&mut self, t: &[f64], y: &[f64], v: &mut [f64]) -> Result<(), EvalError> {
        if self.system().facts().closed {
            return self.engine.eval(Quantity::Drift, t, y, v);
        }
        self.invert("velocities for these momenta", t, y, v)
    }

    /// Momenta at z.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit, or no momenta belong to these velocities.
    pub fn momenta(&mut self, t: &[f64], z: &[f64], p: &mut [f64]) -> Result<(), EvalError> {
        if self.engine.has(Quantity::Momenta) {
            return self.engine.eval(Quantity::Momenta, t, z, p);
        }
        self.invert("momenta for these velocities", t, z, p)
    }

    /// ∂L/∂q + Q at z: the rate at which momenta change, given velocities.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit, or no momenta belong to these velocities.
    pub fn pushes(&mut self, t: &[f64], z: &[f64], pushes: &mut [f64]) -> Result<(), EvalError> {
        if self.engine.has(Quantity::Pushes) {
            return self.engine.eval(Quantity::Pushes, t, z, pushes);
        }
        let found = self.momenta(t, z, pushes);
        self.configuration(z, pushes);
        let len = z.len();
        self.engine.eval(Quantity::Kick, t, &self.other[..len], pushes).and(found)
    }

    /// Accelerations q̈ at z: with v, the vector field in configuration space.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit, or the mass matrix is singular there.
    pub fn accelerations(&mut self, t: &[f64], z: &[f64], a: &mut [f64]) -> Result<(), EvalError> {
        if self.system().facts().form == Form::Hamiltonian {
            let found = self.momenta(t, z, a);
            self.configuration(z, a);
            let len = z.len();
            return self.engine.eval(Quantity::Accelerations, t, &self.other[..len], a).and(found);
        }
        if self.engine.has(Quantity::Accelerations) {
            return self.engine.eval(Quantity::Accelerations, t, z, a);
        }
        let (n, width) = (self.system().degrees(), t.len());
        self.engine.eval(Quantity::Loads, t, z, a)?;
        self.inertia(t, z)?;
        grow(&mut self.dense, n * (n + 1));
        let (matrix, right) = self.dense[..n * (n + 1)].split_at_mut(n * n);
        let mut failure = None;
        for lane in 0..width {
            let pattern = &self.engine.system.inverse().pattern;
            fill(matrix, n, pattern, &self.inertia[n * width..], width, lane);
            (0..n).for_each(|i| right[i] = a[i * width + lane]);
            if let Err(index) = lu(matrix, right) {
                right.fill(f64::NAN);
                failure.get_or_insert(Failure::Singular { lane, index });
            }
            (0..n).for_each(|i| a[i * width + lane] = right[i]);
        }
        failure.map_or(Ok(()), |failure| Err(self.explain("accelerations", t, failure)))
    }

    /// The mass matrix ∂p/∂v at z, all n² entries by rows. For a Lagrangian that is quadratic in v it does not depend on v.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit, or for a Hamiltonian if ∂²H/∂p² is singular there.
    pub fn mass_matrix(&mut self, t: &[f64], z: &[f64], m: &mut [f64]) -> Result<(), EvalError> {
        let (n, width) = (self.system().degrees(), t.len());
        check("mass matrix", n * n * width, m.len())?;
        let hamiltonian = self.system().facts().form == Form::Hamiltonian;
        grow(&mut self.dense, n * (n + 1));
        let mut found = Ok(());
        if hamiltonian {
            let mut p = std::mem::take(&mut self.dense);
            grow(&mut p, n * width);
            found = self.momenta(t, z, &mut p[..n * width]);
            self.configuration(z, &p[..n * width]);
            self.dense = p;
            let other = std::mem::take(&mut self.other);
            let evaluated = self.inertia(t, &other[..z.len()]);
            self.other = other;
            evaluated?;
        } else {
            self.inertia(t, z)?;
        }
        let mut failure = None;
        for lane in 0..width {
            let pattern = &self.engine.system.inverse().pattern;
            let (matrix, right) = self.dense[..n * (n + 1)].split_at_mut(n * n);
            let entries =
                |matrix: &mut [f64]| fill(matrix, n, pattern, &self.inertia[n * width..], width, lane);
            if !hamiltonian {
                entries(matrix);
                (0..n * n).for_each(|k| m[k * width + lane] = matrix[k]);
                continue;
            }
            for column in 0..n {
                entries(matrix);
                right.fill(0.0);
                right[column] = 1.0;
                if let Err(index) = lu(matrix, right) {
                    right.fill(f64::NAN);
                    failure.get_or_insert(Failure::Singular { lane, index });
                }
                (0..n).for_each(|i| m[(i * n + column) * width + lane] = right[i]);
            }
        }
        found.and(failure.map_or(Ok(()), |failure| Err(self.explain("mass matrix", t, failure))))
    }

    /// The positions of particles and points at y, one after the other.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit.
    pub fn positions(&mut self, t: &[f64], y: &[f64], x: &mut [f64]) -> Result<(), EvalError> {
        self.engine.eval(Quantity::Positions, t, y, x)
    }

    /// The energy H at y, one number per lane.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit, or velocities do not follow from momenta.
    pub fn energy(&mut self, t: &[f64], y: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        if self.engine.has(Quantity::Energy) {
            return self.engine.eval(Quantity::Energy, t, y, out);
        }
        self.entry(Row::Energy, t, y, out)
    }

    /// The kinetic energy at y: kinetic terms, and what moving adds to the energy of Lagrangian or Hamiltonian terms.
    ///
    /// # Errors
    /// As [`Dynamics::energy`].
    pub fn kinetic_energy(&mut self, t: &[f64], y: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        self.entry(Row::Kinetic, t, y, out)
    }

    /// The potential energy at y: potential terms, and the energy of Lagrangian terms at v = 0, or of Hamiltonian terms at p = 0.
    ///
    /// # Errors
    /// As [`Dynamics::energy`].
    pub fn potential_energy(&mut self, t: &[f64], y: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        self.entry(Row::Potential, t, y, out)
    }

    /// The Lagrangian at y.
    ///
    /// # Errors
    /// As [`Dynamics::energy`].
    pub fn lagrangian(&mut self, t: &[f64], y: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        self.entry(Row::Lagrangian, t, y, out)
    }

    /// The power that dissipation takes out at y: v·∂D/∂v; for ports ∇HᵀR∇H.
    ///
    /// # Errors
    /// As [`Dynamics::energy`].
    pub fn dissipated_power(&mut self, t: &[f64], y: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        self.entry(Row::Dissipated, t, y, out)
    }

    /// The power that forces bring in at y: v·Q; for ports the outputs times the inputs.
    ///
    /// # Errors
    /// As [`Dynamics::energy`].
    pub fn supplied_power(&mut self, t: &[f64], y: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        self.entry(Row::Supplied, t, y, out)
    }

    /// The named terms of the energy at y, in the order of [`System::shares`].
    ///
    /// # Errors
    /// As [`Dynamics::energy`].
    pub fn shares(&mut self, t: &[f64], y: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        let len = self.system().shares().len() * t.len();
        check("shares", len, out.len())?;
        let found = self.fill_ledger(t, y);
        out.copy_from_slice(&self.ledger[..len]);
        found
    }

    /// The outputs of a port-Hamiltonian system: Bᵀ∇H.
    ///
    /// # Errors
    /// [`EvalError::Undefined`] for other systems.
    pub fn outputs(&mut self, t: &[f64], y: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        self.engine.eval(Quantity::Outputs, t, y, out)
    }

    /// J and R of a port-Hamiltonian system, by rows.
    pub(crate) fn structure(&mut self, t: &[f64], y: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        self.engine.eval(Quantity::Structure, t, y, out)
    }

    fn entry(&mut self, row: Row, t: &[f64], y: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        check("energies", t.len(), out.len())?;
        let form = self.system().facts().form;
        if form == Form::Ports && matches!(row, Row::Kinetic | Row::Potential | Row::Lagrangian) {
            return Err(EvalError::Undefined { what: "kinetic and potential energies", form });
        }
        let found = self.fill_ledger(t, y);
        let start = (self.system().shares().len() + row as usize) * t.len();
        out.copy_from_slice(&self.ledger[start..][..t.len()]);
        found
    }

    fn fill_ledger(&mut self, t: &[f64], y: &[f64]) -> Result<(), EvalError> {
        let len = (self.system().shares().len() + Row::COUNT) * t.len();
        grow(&mut self.ledger, len);
        if self.system().facts().form != Form::Lagrangian {
            return self.engine.eval(Quantity::Ledger, t, y, &mut self.ledger[..len]);
        }
        let n = self.system().degrees() * t.len();
        let mut v = std::mem::take(&mut self.dense);
        grow(&mut v, n);
        let found = self.velocities(t, y, &mut v[..n]);
        self.configuration(y, &v[..n]);
        self.dense = v;
        self.engine.eval(Quantity::Ledger, t, &self.other[..2 * n], &mut self.ledger[..len]).and(found)
    }

    /// p at v, or v at p, and the matrix that connects them.
    fn inertia(&mut self, t: &[f64], block: &[f64]) -> Result<(), EvalError> {
        let system = &self.engine.system;
        let len = (system.degrees() + system.inverse().pattern.len()) * t.len();
        grow(&mut self.inertia, len);
        self.engine.eval(Quantity::Inertia, t, block, &mut self.inertia[..len])
    }

    /// Puts q beside other variables than it came with.
    fn configuration(&mut self, block: &[f64], beside: &[f64]) {
        let half = beside.len();
        grow(&mut self.other, 2 * half);
        self.other[..half].copy_from_slice(&block[..half]);
        self.other[half..2 * half].copy_from_slice(beside);
    }

    fn invert(
        &mut self,
        what: &'static str,
        t: &[f64],
        block: &[f64],
        out: &mut [f64],
    ) -> Result<(), EvalError> {
        let half = self.system().degrees() * t.len();
        if self.system().facts().form == Form::Ports {
            return Err(EvalError::Undefined { what: "velocities and momenta", form: Form::Ports });
        }
        check("state block", 2 * half, block.len())?;
        check("result", half, out.len())?;
        let (q, target) = block.split_at(half);
        let Dynamics { engine, solver, other, .. } = self;
        grow(other, 2 * half);
        other[..half].copy_from_slice(q);
        let inverse = engine.system.clone();
        let found = solver.solve(inverse.inverse(), t.len(), target, out, |trial, image| {
            other[half..2 * half].copy_from_slice(trial);
            engine.eval(Quantity::Inertia, t, &other[..2 * half], image)
        });
        found.map_err(|failure| self.explain(what, t, failure))
    }

    fn explain(&self, what: &'static str, t: &[f64], failure: Failure) -> EvalError {
        match failure {
            Failure::Eval(error) => error,
            Failure::Singular { lane, index } => {
                let coordinate = self.system().coordinates()[index].clone();
                EvalError::SingularMass { t: t[lane], lane, coordinate }
            }
            Failure::NoConvergence { lane, residual, iterations } => {
                EvalError::NoConvergence { what, t: t[lane], lane, residual, iterations }
            }
        }
    }
}
