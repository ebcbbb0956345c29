//! Dynamics: a system bound to parameter values and inputs, with the working memory of one thread.

use crate::assembly::Loose;
use crate::constraint::multipliers::ConstraintMemory;
use crate::constraint::project::Projection;
use crate::energy::sum::Place;
use crate::engine::{Engine, Group, check, wrong_length};
use crate::error::{EvalError, SettingError};
use crate::facts::Form;
use crate::held::reaction::ReactionMemory;
use crate::input::Input;
use crate::inverse::{Failure, Solver, grow};
use crate::matrices::Matrices;
use crate::observe::Observatory;
use crate::quantity::Quantity;
use crate::reverse::ReverseMemory;
use crate::system::System;
use leastaction_compile::LANES;
use std::sync::Arc;

/// Rows of the energy balance after the shares.
#[derive(Clone, Copy)]
pub(crate) enum Row {
    Kinetic,
    Potential,
    Lagrangian,
    Energy,
    Dissipated,
    /// Of all generalized forces.
    Forces,
    /// What time does to T + V.
    Driven,
}

impl Row {
    const COUNT: usize = Row::Driven as usize + 1;
}

/// One of the quantities of [`Dynamics`]: of times and a block of states or configurations, into a slice.
pub type Query = fn(&mut Dynamics, &[f64], &[f64], &mut [f64]) -> Result<(), EvalError>;

/// A system with values for its parameters and inputs, and the working memory of one thread. Clone it for others.
///
/// Every quantity is computed for one state or for a block of eight, in the layout of
/// [`leastaction_compile::Evaluator::eval_lanes`]: component-major, lanes innermost. The number of times given says which: 1 or 8.
/// Rates, energies, momenta, accelerations and their derivatives are also computed for any multiple of eight lanes: component i of lane j
/// then stands at i·lanes + j, and a lane has the parameters of its place among eight.
/// A *state block* y is \[q…, p…\]; a *configuration block* z is \[q…, v…\] with velocities v = q̇.
///
/// A quantity is compiled, and its memory allocated, when it is first asked for ([`Dynamics::prepare`] compiles ahead); after that
/// nothing allocates. If something cannot be computed in a lane, its results are NaN there, the other lanes are right, and the
/// error tells of the first such lane.
#[derive(Clone)]
pub struct Dynamics {
    pub(crate) engine: Engine,
    solver: Solver,
    /// The state in the other picture: \[q…, v…\] where \[q…, p…\] is given, or the other way round.
    pub(crate) other: Vec<f64>,
    /// The second half of `other`, while it is being found.
    second: Vec<f64>,
    balance: Vec<f64>,
    power: Vec<f64>,
    pub(crate) matrices: Matrices,
    pub(crate) observatory: Observatory,
    group: Group,
    pub(crate) constraint: ConstraintMemory,
    pub(crate) reaction: ReactionMemory,
    pub(crate) reverse: ReverseMemory,
    /// How far the last start was moved.
    pub(crate) placed: Option<Projection>,
    /// Bodies whose start follows from constraints, and whether the last start had to move them.
    pub(crate) loose: Arc<[Loose]>,
    pub(crate) assembled: bool,
}

impl Dynamics {
    pub(crate) fn new(system: System) -> Result<Dynamics, SettingError> {
        let dynamics = Dynamics {
            engine: Engine::new(system)?,
            solver: Solver::default(),
            other: Vec::new(),
            second: Vec::new(),
            balance: Vec::new(),
            power: Vec::new(),
            matrices: Matrices::default(),
            observatory: Observatory::default(),
            group: Group::default(),
            constraint: ConstraintMemory::default(),
            reaction: ReactionMemory::default(),
            reverse: ReverseMemory::default(),
            placed: None,
            loose: Arc::new([]),
            assembled: false,
        };
        Ok(dynamics)
    }

    /// The system.
    #[must_use]
    pub fn system(&self) -> &System {
        &self.engine.system
    }

    /// Sets an input: a number, a [`Table`](crate::Table), or [`Input::function`]. Inputs are zero until they are set.
    ///
    /// # Errors
    /// [`SettingError`] if there is no such input, or its constant value is not finite; the old input then stays.
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

    /// The vector field in phase space: (q̇, ṗ) at y, with the forces of constraints.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit, or velocities do not follow from momenta.
    #[inline]
    pub fn rates(&mut self, t: &[f64], y: &[f64], dy: &mut [f64]) -> Result<(), EvalError> {
        if self.engine.has(Quantity::Rates) {
            return self.engine.eval(Quantity::Rates, t, y, dy);
        }
        if t.len() > LANES {
            return self.in_groups(t, y, dy, Dynamics::rates);
        }
        self.engine.check_block(t, y)?;
        check("rates", y.len(), dy.len())?;
        let half = y.len() / 2;
        let (rates, forces) = dy.split_at_mut(half);
        let result = self.velocities(t, y, rates);
        self.pair(&y[..half], rates);
        let result = if self.engine.has(Quantity::Kick) && !self.engine.energies.dissipates() {
            self.engine.eval(Quantity::Kick, t, y, forces).and(result)
        } else {
            self.engine.eval(Quantity::MomentumRates, t, &self.other[..2 * half], forces).and(result)
        };
        if self.system().facts().constrained {
            return self.add_constraint_forces(t, y, forces).and(result);
        }
        result
    }

    /// The first half of the field: q̇ at y.
    ///
    /// # Errors
    /// As [`Dynamics::rates`].
    #[inline]
    pub fn drift(&mut self, t: &[f64], y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        self.velocities(t, y, rates)
    }

    /// The second half of the field without the forces of constraints: ∂L/∂q + Q at y. If H is separable and no force depends on
    /// velocities, it does not depend on p.
    ///
    /// # Errors
    /// As [`Dynamics::rates`].
    pub fn kick(&mut self, t: &[f64], y: &[f64], forces: &mut [f64]) -> Result<(), EvalError> {
        if self.engine.has(Quantity::Kick) && !self.engine.energies.dissipates() {
            return self.engine.eval(Quantity::Kick, t, y, forces);
        }
        let facts = self.system().facts();
        if facts.separable && !facts.forces_depend_on_velocities {
            return self.engine.eval(Quantity::MomentumRates, t, y, forces); // only q is read
        }
        if t.len() > LANES {
            return self.in_groups(t, y, forces, Dynamics::kick);
        }
        self.engine.check_block(t, y)?;
        let result = self.turn(Dynamics::velocities, t, y);
        self.engine.eval(Quantity::MomentumRates, t, &self.other[..y.len()], forces).and(result)
    }

    /// Velocities at y.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit, the mass matrix is singular there, or no velocities belong to these momenta.
    #[inline]
    pub fn velocities(&mut self, t: &[f64], y: &[f64], v: &mut [f64]) -> Result<(), EvalError> {
        if self.engine.has(Quantity::Drift) {
            return self.engine.eval(Quantity::Drift, t, y, v);
        }
        if t.len() > LANES {
            return self.in_groups(t, y, v, Dynamics::velocities);
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
        if t.len() > LANES {
            return self.in_groups(t, z, p, Dynamics::momenta);
        }
        self.invert("momenta for these velocities", t, z, p)
    }

    /// ∂L/∂q + Q at z: the rate at which momenta change, given velocities, without the forces of constraints.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit, or no momenta belong to these velocities.
    pub fn momentum_rates(&mut self, t: &[f64], z: &[f64], forces: &mut [f64]) -> Result<(), EvalError> {
        if self.engine.has(Quantity::MomentumRates) {
            return self.engine.eval(Quantity::MomentumRates, t, z, forces);
        }
        if t.len() > LANES {
            return self.in_groups(t, z, forces, Dynamics::momentum_rates);
        }
        self.check_mechanical(t, z)?;
        let result = self.turn(Dynamics::momenta, t, z);
        self.engine.eval(Quantity::Kick, t, &self.other[..z.len()], forces).and(result)
    }

    /// The positions of particles and points at y, one after the other.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit.
    pub fn positions(&mut self, t: &[f64], y: &[f64], x: &mut [f64]) -> Result<(), EvalError> {
        self.engine.eval(Quantity::Positions, t, y, x)
    }

    /// The energy T + V at y, one number per lane: mostly H itself.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit, or velocities do not follow from momenta.
    pub fn energy(&mut self, t: &[f64], y: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        if !self.system().facts().jacobi {
            return self.hamiltonian(t, y, out);
        }
        if t.len() > LANES {
            return self.in_groups(t, y, out, Dynamics::energy);
        }
        let mut potential = [0.0; LANES];
        self.kinetic_energy(t, y, out)?;
        self.potential_energy(t, y, &mut potential[..out.len().min(LANES)])?;
        out.iter_mut().zip(potential).for_each(|(sum, v)| *sum += v);
        Ok(())
    }

    /// H at y, one number per lane: Jacobi's function p·v − L, which is conserved where nothing depends on time. It is the energy unless
    /// [`Facts::jacobi`](crate::Facts) says otherwise.
    ///
    /// # Errors
    /// As [`Dynamics::energy`].
    pub fn hamiltonian(&mut self, t: &[f64], y: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
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

    /// The power that dissipation takes out at y: v·∂D/∂v, that of held coordinates included; for ports ∇HᵀR∇H.
    ///
    /// # Errors
    /// As [`Dynamics::energy`].
    pub fn dissipated_power(&mut self, t: &[f64], y: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        self.entry(Row::Dissipated, t, y, out)
    }

    /// The power of all generalized forces at y: v·Q, with dissipation, on the coordinates that are not held.
    ///
    /// # Errors
    /// As [`Dynamics::energy`].
    pub fn force_power(&mut self, t: &[f64], y: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        self.entry(Row::Forces, t, y, out)
    }

    /// The power that comes from outside at y, so that the energy is balanced: d(T + V)/dt is this less the
    /// [dissipated power](Dynamics::dissipated_power). It is what forces do, v·Q, for ports outputs times inputs; what moves held coordinates and
    /// positions that depend on time; what changes potentials with time; and what constraints do that depend on time.
    ///
    /// # Errors
    /// As [`Dynamics::energy`]; [`EvalError::NoFormula`] if an opaque energy depends on time, of which nobody knows how.
    pub fn supplied_power(&mut self, t: &[f64], y: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        if t.len() > LANES {
            return self.in_groups(t, y, out, Dynamics::supplied_power);
        }
        if let Some(energy) = self.system().energies().unknown_in_time() {
            return Err(EvalError::NoFormula { what: "the power supplied", energy: energy.to_owned() });
        }
        let width = t.len();
        let mut result = self.entry(Row::Dissipated, t, y, out);
        for row in [Row::Forces, Row::Driven] {
            let start = (self.system().shares().len() + row as usize) * width;
            out.iter_mut().zip(&self.balance[start..][..width]).for_each(|(sum, power)| *sum += power);
        }
        let (system, half) = (self.system().clone(), y.len() / 2);
        let mut memory = std::mem::take(&mut self.power);
        let rows = system.constraints().len() * width;
        grow(&mut memory, y.len() + 2 * half + 2 * rows);
        let (z, rest) = memory.split_at_mut(y.len());
        let (numbers, rest) = rest.split_at_mut(2 * half);
        let (lambda, demanded) = rest[..2 * rows].split_at_mut(rows);
        if self.engine.has(Quantity::ExcessSlopes) {
            let (slopes, a) = numbers.split_at_mut(half);
            result = result.and(self.turn(Dynamics::velocities, t, y));
            z.copy_from_slice(&self.other[..y.len()]);
            result = result.and(self.engine.eval(Quantity::ExcessSlopes, t, z, slopes));
            result = result.and(self.accelerations(t, z, a));
            add_products(slopes, a, out);
        }
        if system.constraints_work() {
            // −λᵀGv, which where constraints are met is λᵀΨ at v = 0.
            result = result.and(self.multipliers(t, y, lambda));
            z[..half].copy_from_slice(&y[..half]);
            z[half..].fill(0.0);
            system.inverse().keep_set(width, &y[half..], &mut z[half..]);
            result = result.and(self.engine.eval(Quantity::ConstraintRates, t, z, demanded));
            add_products(lambda, demanded, out);
        }
        self.power = memory;
        result
    }

    /// The named terms of the energy at y, in the order of [`System::shares`].
    ///
    /// # Errors
    /// As [`Dynamics::energy`].
    pub fn shares(&mut self, t: &[f64], y: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        if t.len() > LANES {
            return self.in_groups(t, y, out, Dynamics::shares);
        }
        self.engine.check_block(t, y)?;
        let len = self.system().shares().len() * t.len();
        check("shares", len, out.len())?;
        let result = self.fill_balance(t, y);
        out.copy_from_slice(&self.balance[..len]);
        result
    }

    /// The first element of a field whose energy is infinite or NaN at a state, such as one that is inverted: the name of the energy, and the
    /// number of the element.
    ///
    /// # Errors
    /// [`EvalError`] if the state has another length.
    pub fn broken_element(&mut self, t: f64, y: &[f64]) -> Result<Option<(String, usize)>, EvalError> {
        let all = self.element_energies(t, y)?;
        let broken = all.into_iter().find_map(|(name, energies)| {
            energies.iter().position(|energy| !energy.is_finite()).map(|element| (name, element))
        });
        Ok(broken)
    }

    /// The energy of each element at a state, of every energy that is a sum over elements, by its name.
    ///
    /// # Errors
    /// [`EvalError`] if the state has another length.
    pub fn element_energies(&mut self, t: f64, y: &[f64]) -> Result<Vec<(String, Vec<f64>)>, EvalError> {
        self.engine.check_block(&[t], y)?;
        let Engine { energies, parameters, .. } = &mut self.engine;
        let all = energies.of_elements(Place { t: &[t], states: y, velocities: &[], parameters })?;
        Ok(all.into_iter().map(|(share, each)| (self.system().shares()[share].name.clone(), each)).collect())
    }

    /// One of the shares at y, by its place.
    pub(crate) fn share(
        &mut self,
        place: usize,
        t: &[f64],
        y: &[f64],
        out: &mut [f64],
    ) -> Result<(), EvalError> {
        let result = self.fill_balance(t, y);
        out.copy_from_slice(&self.balance[place * t.len()..][..t.len()]);
        result
    }

    /// The matrix Γ by rows, where dissipation is −Γp: see [`Facts::linear_damping`](crate::Facts::linear_damping).
    ///
    /// # Errors
    /// [`EvalError`] if the slice does not fit, or dissipation is not of this kind.
    pub fn damping(&self, matrix: &mut [f64]) -> Result<(), EvalError> {
        let (n, entries) = (self.system().degrees(), self.damping_entries(None)?);
        check("matrix", n * n, matrix.len())?;
        matrix.fill(0.0);
        self.system().damped().iter().zip(entries).for_each(|(&(i, j), value)| matrix[i * n + j] = value);
        Ok(())
    }

    /// The entries of Γ where it may have any, at [`System::damped`](crate::System::damped), with the parameters of single states or of a lane.
    ///
    /// # Errors
    /// [`EvalError`] if dissipation is not of this kind.
    ///
    /// # Panics
    /// If there is no such lane.
    pub fn damping_entries(&self, lane: Option<usize>) -> Result<Vec<f64>, EvalError> {
        self.damping_with(lane.map_or(self.parameters(), |lane| self.parameters_in(lane)))
    }

    fn damping_with(&self, parameters: &[f64]) -> Result<Vec<f64>, EvalError> {
        let (system, form) = (self.system(), self.system().facts().form);
        if !system.facts().linear_damping {
            return Err(EvalError::Undefined { what: "rates of damping", form });
        }
        let mut of_nodes = match &self.engine.lumped {
            Some(lumped) => lumped.rates_of_damping(parameters)?,
            None => Vec::new(),
        };
        let mut values = vec![0.0; system.damped().len() - of_nodes.len()];
        if !values.is_empty() {
            let kernel = system.kernel(Quantity::Damping)?;
            let mut evaluator = kernel.evaluator(parameters).map_err(wrong_length)?;
            evaluator.eval(&[], &mut values).map_err(wrong_length)?;
        }
        values.append(&mut of_nodes);
        Ok(values)
    }

    /// The outputs of a port-Hamiltonian system: Bᵀ∇H.
    ///
    /// # Errors
    /// [`EvalError::Undefined`] for other systems.
    pub fn outputs(&mut self, t: &[f64], y: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        self.engine.eval(Quantity::Outputs, t, y, out)
    }

    /// The gradient ∇H of a port-Hamiltonian system.
    ///
    /// # Errors
    /// [`EvalError::Undefined`] for other systems.
    pub fn gradient(&mut self, t: &[f64], y: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        self.engine.eval(Quantity::Gradient, t, y, out)
    }

    /// J, then R, of a port-Hamiltonian system, by rows.
    ///
    /// # Errors
    /// [`EvalError::Undefined`] for other systems.
    pub fn structure(&mut self, t: &[f64], y: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        self.engine.eval(Quantity::Structure, t, y, out)
    }

    fn entry(&mut self, row: Row, t: &[f64], y: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        if t.len() > LANES {
            return self.in_groups(t, y, out, |dynamics, t, y, out| dynamics.entry(row, t, y, out));
        }
        self.engine.check_block(t, y)?;
        check("energies", t.len(), out.len())?;
        let form = self.system().facts().form;
        if form == Form::Ports && matches!(row, Row::Kinetic | Row::Potential | Row::Lagrangian) {
            return Err(EvalError::Undefined { what: "kinetic and potential energies", form });
        }
        let result = self.fill_balance(t, y);
        let start = (self.system().shares().len() + row as usize) * t.len();
        out.copy_from_slice(&self.balance[start..][..t.len()]);
        result
    }

    fn fill_balance(&mut self, t: &[f64], y: &[f64]) -> Result<(), EvalError> {
        let len = (self.system().shares().len() + Row::COUNT) * t.len();
        grow(&mut self.balance, len);
        if self.system().facts().form != Form::Lagrangian {
            return self.engine.eval(Quantity::EnergyBalance, t, y, &mut self.balance[..len]);
        }
        let result = self.turn(Dynamics::velocities, t, y);
        let z = &self.other[..y.len()];
        self.engine.eval(Quantity::EnergyBalance, t, z, &mut self.balance[..len]).and(result)
    }

    /// Runs what takes blocks of eight lanes over a wider block.
    pub(crate) fn in_groups(
        &mut self,
        t: &[f64],
        block: &[f64],
        out: &mut [f64],
        mut query: impl FnMut(&mut Dynamics, &[f64], &[f64], &mut [f64]) -> Result<(), EvalError>,
    ) -> Result<(), EvalError> {
        check("state block", self.system().dimension() * t.len(), block.len())?;
        let mut group = std::mem::take(&mut self.group);
        let result = group.run(t, block, out, |t, block, out| query(self, t, block, out));
        self.group = group;
        result
    }

    /// Checks that there are velocities at all, and a block for every lane.
    pub(crate) fn check_mechanical(&self, t: &[f64], block: &[f64]) -> Result<(), EvalError> {
        match self.system().facts().form {
            Form::Ports => Err(EvalError::Undefined { what: "velocities and momenta", form: Form::Ports }),
            Form::Lagrangian | Form::Hamiltonian => self.engine.check_block(t, block),
        }
    }

    /// Fills `other` with the block in the other picture, by way of [`Dynamics::velocities`] or [`Dynamics::momenta`].
    pub(crate) fn turn(&mut self, find: Query, t: &[f64], block: &[f64]) -> Result<(), EvalError> {
        let half = block.len() / 2;
        let mut second = std::mem::take(&mut self.second);
        grow(&mut second, half);
        let result = find(self, t, block, &mut second[..half]);
        self.pair(&block[..half], &second[..half]);
        self.second = second;
        result
    }

    /// Fills `other` with coordinates and what belongs to them: velocities or momenta.
    pub(crate) fn pair(&mut self, q: &[f64], second: &[f64]) {
        grow(&mut self.other, 2 * q.len());
        self.other[..q.len()].copy_from_slice(q);
        self.other[q.len()..][..second.len()].copy_from_slice(second);
    }

    fn invert(
        &mut self,
        what: &'static str,
        t: &[f64],
        block: &[f64],
        out: &mut [f64],
    ) -> Result<(), EvalError> {
        self.check_mechanical(t, block)?;
        let half = block.len() / 2;
        check("result", half, out.len())?;
        let (q, target) = block.split_at(half);
        let Dynamics { engine, solver, other, .. } = self;
        grow(other, 2 * half);
        other[..half].copy_from_slice(q);
        let inverse = engine.system.clone();
        let result = solver.solve(inverse.inverse(), t.len(), target, out, |trial, image| {
            other[half..2 * half].copy_from_slice(trial);
            engine.eval(Quantity::Inertia, t, &other[..2 * half], image)
        });
        result.map_err(|failure| self.explain(what, t, failure))
    }

    pub(crate) fn explain(&self, what: &'static str, t: &[f64], failure: Failure) -> EvalError {
        match failure {
            Failure::Eval(error) => error,
            Failure::Singular { lane, index } => {
                let coordinate = self.system().coordinates().at(index);
                EvalError::SingularMass { t: t[lane], lane, coordinate }
            }
            Failure::NoConvergence { lane, residual, iterations } => {
                EvalError::NoConvergence { what, t: t[lane], lane, residual, iterations }
            }
        }
    }
}

/// Adds the products of two lists of rows, lane by lane.
pub(crate) fn add_products(a: &[f64], b: &[f64], sums: &mut [f64]) {
    let width = sums.len();
    for (a, b) in a.chunks_exact(width).zip(b.chunks_exact(width)) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
    }
}
