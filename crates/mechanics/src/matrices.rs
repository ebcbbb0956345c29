//! What dynamics needs matrices for: accelerations, the mass matrix, and derivatives of the vector field.

use crate::dynamics::Dynamics;
use crate::engine::check;
use crate::error::EvalError;
use crate::facts::Form;
use crate::inertia;
use crate::inverse::{Failure, fill, grow};
use crate::quantity::Quantity;
use leastaction_compile::LANES;
use leastaction_linear::{Singular, Structure, dense};

/// Up to so many coordinates the written-out inverse of the mass matrix is differentiated; beyond, that would be more than solving with it.
const DIFFERENTIATED: usize = 12;

/// Working memory. It grows when it is first used, and then no more.
#[derive(Clone, Default)]
pub(crate) struct Matrices {
    /// The values of [`Quantity::Inertia`], in lanes.
    inertia: Vec<f64>,
    /// The values of [`Quantity::ConfigurationJacobian`], in lanes.
    tangents: Vec<f64>,
    /// A matrix and right sides of one lane, by rows.
    matrix: Vec<f64>,
    right: Vec<f64>,
    /// A state block.
    state: Vec<f64>,
    /// Coordinates with forces in place of momenta, and the velocities of these.
    forces: Vec<f64>,
}

impl Dynamics {
    /// Accelerations q̈ at z, with the forces of constraints: with v, the vector field in configuration space.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit, or the mass matrix is singular there.
    pub fn accelerations(&mut self, t: &[f64], z: &[f64], a: &mut [f64]) -> Result<(), EvalError> {
        if t.len() > LANES {
            return self.in_groups(t, z, a, Dynamics::accelerations);
        }
        if !self.system().facts().constrained {
            return self.free_accelerations(t, z, a);
        }
        self.check_mechanical(t, z)?;
        check("accelerations", z.len() / 2, a.len())?;
        let half = z.len() / 2;
        let system = self.system();
        let result = if system.facts().form == Form::Lagrangian && system.inverse().linear {
            // Masses do not depend on what moves: momenta are not needed.
            self.pair(&z[..half], &z[half..]);
            self.find_multipliers(t, z)
        } else {
            let result = self.turn(Dynamics::momenta, t, z);
            let mut y = std::mem::take(&mut self.matrices.state);
            grow(&mut y, z.len());
            y[..z.len()].copy_from_slice(&self.other[..z.len()]);
            self.pair(&z[..half], &z[half..]);
            let result = result.and(self.find_multipliers(t, &y[..z.len()]));
            self.matrices.state = y;
            result
        };
        a.copy_from_slice(&self.constraint.accelerations[z.len()..][..a.len()]);
        let rows = self.system().constraints().len() * t.len();
        if let Some(factors) = &self.constraint.factors[usize::from(t.len() > 1)] {
            factors.add_accelerations(&self.constraint.multipliers[..rows], a);
        }
        result
    }

    /// Accelerations at z without the forces of constraints.
    pub(crate) fn free_accelerations(
        &mut self,
        t: &[f64],
        z: &[f64],
        a: &mut [f64],
    ) -> Result<(), EvalError> {
        self.check_mechanical(t, z)?;
        if self.system().facts().form == Form::Hamiltonian {
            let result = self.turn(Dynamics::momenta, t, z);
            self.engine.eval(Quantity::Accelerations, t, &self.other[..z.len()], a)?;
            return self.add_accelerations(t, a).and(result);
        }
        if self.engine.has(Quantity::Accelerations) {
            self.engine.eval(Quantity::Accelerations, t, z, a)?;
            if !self.engine.energies.is_empty() {
                self.pair(&z[..a.len()], &z[a.len()..]);
            }
            return self.add_accelerations(t, a);
        }
        let (n, width) = (self.system().degrees(), t.len());
        self.engine.eval(Quantity::NetForces, t, z, a)?;
        grow(&mut self.other, z.len());
        self.other[..z.len()].copy_from_slice(z);
        self.fill_inertia(t)?;
        self.solve_lanes("accelerations", t, 1, |lane, _, right| match right {
            Right::Given(right) => (0..n).for_each(|i| right[i] = a[i * width + lane]),
            Right::Solved(x) => (0..n).for_each(|i| a[i * width + lane] = x[i]),
        })
    }

    /// Adds what the forces of energies that are no formulas do to accelerations at `other`: M⁻¹f, which for a Lagrangian is by what the
    /// velocities of f as momenta differ from those of none, and for a Hamiltonian ∂²H/∂p² f.
    fn add_accelerations(&mut self, t: &[f64], a: &mut [f64]) -> Result<(), EvalError> {
        if self.engine.energies.is_empty() {
            return Ok(());
        }
        let (half, width) = (a.len(), t.len());
        let mut forces = std::mem::take(&mut self.matrices.forces);
        grow(&mut forces, 3 * half);
        let (state, moved) = forces.split_at_mut(2 * half);
        let moved = &mut moved[..half];
        state[..half].copy_from_slice(&self.other[..half]);
        state[half..].fill(0.0);
        let result = if self.system().facts().form == Form::Hamiltonian {
            let added = self.engine.add_forces(t, &self.other[..2 * half], &mut state[half..]);
            added.and_then(|()| self.fill_inertia(t)).map(|()| {
                let entries = self.matrices.inertia[half..].chunks_exact(width);
                for (&(i, j), entry) in self.engine.system.inverse().pattern.iter().zip(entries) {
                    for (lane, entry) in entry.iter().enumerate() {
                        a[i * width + lane] += entry * state[half + j * width + lane];
                        if i != j {
                            a[j * width + lane] += entry * state[half + i * width + lane];
                        }
                    }
                }
            })
        } else {
            let mut add = |state: &mut [f64], sign: f64, engine: &mut crate::engine::Engine| {
                engine.eval(Quantity::Drift, t, state, moved)?;
                a.iter_mut().zip(&*moved).for_each(|(a, v)| *a += sign * v);
                Ok(())
            };
            add(state, -1.0, &mut self.engine)
                .and_then(|()| self.engine.add_forces(t, &self.other[..2 * half], &mut state[half..]))
                .and_then(|()| add(state, 1.0, &mut self.engine))
        };
        self.matrices.forces = forces;
        result
    }

    /// The coordinates that move without inertia at these coordinates, where the mass matrix does not depend on velocities.
    pub(crate) fn idle(&mut self, t: f64, q: &[f64]) -> Result<Option<Vec<usize>>, EvalError> {
        let (n, system) = (q.len(), self.system().clone());
        // What events set is not told by coordinates.
        if system.facts().form != Form::Lagrangian
            || !system.inverse().linear
            || !system.inverse().set.is_empty()
        {
            return Ok(None);
        }
        grow(&mut self.other, 2 * n);
        self.other[..n].copy_from_slice(q);
        self.other[n..2 * n].fill(0.0);
        self.fill_inertia(&[t])?;
        let pattern = &system.inverse().pattern;
        let entries = &self.matrices.inertia[n..][..pattern.len()];
        let Some(lumped) = system.lumped() else { return Ok(inertia::idle(n, pattern, entries)) };
        // The masses of nodes are positive.
        let number = |place: usize| lumped.formula.binary_search(&(place as u32)).ok();
        let own = pattern.iter().zip(entries).filter_map(|(&(i, j), &m)| Some(((number(i)?, number(j)?), m)));
        let (pattern, entries): (Vec<_>, Vec<_>) = own.unzip();
        let idle = inertia::idle(lumped.formula.len(), &pattern, &entries);
        Ok(idle.map(|idle| idle.into_iter().map(|i| lumped.formula[i] as usize).collect()))
    }

    /// The nonzeros of the mass matrix at y; for a Hamiltonian those of ∂²H/∂p².
    pub(crate) fn inertia_at(&mut self, t: &[f64], y: &[f64], entries: &mut [f64]) -> Result<(), EvalError> {
        let (half, system) = (y.len() / 2, self.system().clone());
        let result = if system.facts().form == Form::Lagrangian && !system.inverse().linear {
            self.turn(Dynamics::velocities, t, y)
        } else {
            self.pair(&y[..half], &y[half..]);
            Ok(())
        };
        if system.facts().form == Form::Lagrangian && system.inverse().linear {
            self.other[half..2 * half].fill(0.0);
            system.inverse().keep_set(t.len(), &y[half..], &mut self.other[half..2 * half]);
        }
        self.fill_inertia(t)?;
        entries.copy_from_slice(&self.matrices.inertia[half..][..entries.len()]);
        result
    }

    /// The nonzeros of the mass matrix of a Lagrangian at z.
    pub(crate) fn inertia_at_rest(
        &mut self,
        t: f64,
        z: &[f64],
        entries: &mut [f64],
    ) -> Result<(), EvalError> {
        let half = z.len() / 2;
        self.pair(&z[..half], &z[half..]);
        self.fill_inertia(&[t])?;
        entries.copy_from_slice(&self.matrices.inertia[half..][..entries.len()]);
        Ok(())
    }

    /// The mass matrix ∂p/∂v at z, all n² entries by rows. Where p is linear in v it does not depend on v.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit, or for a Hamiltonian if ∂²H/∂p² is singular there.
    pub fn mass_matrix(&mut self, t: &[f64], z: &[f64], m: &mut [f64]) -> Result<(), EvalError> {
        if t.len() > LANES {
            return self.in_groups(t, z, m, Dynamics::mass_matrix);
        }
        let (n, width) = (self.system().degrees(), t.len());
        self.check_mechanical(t, z)?;
        check("mass matrix", n * n * width, m.len())?;
        if self.system().facts().form == Form::Lagrangian {
            grow(&mut self.other, z.len());
            self.other[..z.len()].copy_from_slice(z);
            self.fill_inertia(t)?;
            m.fill(0.0);
            let entries = self.matrices.inertia[n * width..].chunks_exact(width);
            for (&(i, j), entry) in self.engine.system.inverse().pattern.iter().zip(entries) {
                m[(i * n + j) * width..][..width].copy_from_slice(entry);
                m[(j * n + i) * width..][..width].copy_from_slice(entry);
            }
            return Ok(());
        }
        let result = self.turn(Dynamics::momenta, t, z);
        self.fill_inertia(t)?;
        let inverted = self.solve_lanes("mass matrix", t, n, |lane, _, right| match right {
            Right::Given(right) => (0..n).for_each(|i| right[i * n + i] = 1.0),
            Right::Solved(x) => (0..n * n).for_each(|k| m[k * width + lane] = x[k]),
        });
        result.and(inverted)
    }

    /// ∂p/∂q, ∂S/∂q and ∂S/∂v at z with S = ∂L/∂q + Q, n² entries each, by rows.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit, or the motion was not stated by energies or a Lagrangian.
    pub fn configuration_jacobian(
        &mut self,
        t: &[f64],
        z: &[f64],
        tangents: &mut [f64],
    ) -> Result<(), EvalError> {
        self.engine.eval(Quantity::ConfigurationJacobian, t, z, tangents)
    }

    /// The derivatives of the vector field by (q, p) at y, all (2n)² entries by rows; for ports, by the states.
    ///
    /// Where velocities follow from momenta by solving p = ∂L/∂v =: P(q, v), or there are many of them, with S(q, v) = ∂L/∂q + Q,
    ///
    /// $$\frac{\partial v}{\partial p} = M^{-1},\quad \frac{\partial v}{\partial q} = -M^{-1}\frac{\partial P}{\partial q},\quad
    /// \frac{\partial\dot p}{\partial q} = \frac{\partial S}{\partial q} + \frac{\partial S}{\partial v}\frac{\partial v}{\partial q},\quad
    /// \frac{\partial\dot p}{\partial p} = \frac{\partial S}{\partial v}\frac{\partial v}{\partial p}.$$
    ///
    /// # Errors
    /// As [`Dynamics::rates`].
    pub fn jacobian(&mut self, t: &[f64], y: &[f64], j: &mut [f64]) -> Result<(), EvalError> {
        if t.len() > LANES {
            return self.in_groups(t, y, j, Dynamics::jacobian);
        }
        if let Structure::Sparse(pattern) = self.system().jacobian_structure() {
            let (d, width) = (pattern.rows(), t.len());
            check("derivatives", d * d * width, j.len())?;
            let mut entries = std::mem::take(&mut self.matrices.tangents);
            grow(&mut entries, pattern.len() * width);
            let evaluated = self.engine.eval(Quantity::Jacobian, t, y, &mut entries[..pattern.len() * width]);
            j.fill(0.0);
            for ((row, column), entry) in pattern.entries().zip(entries.chunks_exact(width)) {
                j[(row * d + column) * width..][..width].copy_from_slice(entry);
            }
            self.matrices.tangents = entries;
            return evaluated;
        }
        if self.system().facts().constrained && !self.engine.has(Quantity::Rates) {
            return self.difference_rates(t, y, |size, _| size.max(1.0), j);
        }
        let facts = self.system().facts();
        let many = self.system().degrees() > DIFFERENTIATED && !facts.constrained;
        // Dissipation over elements has derivatives by velocities.
        let coupled = self.system().lumped().is_some_and(|lumped| lumped.is_coupled());
        let tangents = self.engine.has(Quantity::MomentumRates)
            && (many || self.engine.energies.dissipates() || coupled);
        if self.engine.has(Quantity::Rates) && !tangents {
            return self.engine.eval(Quantity::Jacobian, t, y, j);
        }
        let (n, width) = (self.system().degrees(), t.len());
        self.engine.check_block(t, y)?;
        check("derivatives", 4 * n * n * width, j.len())?;
        let result = self.turn(Dynamics::velocities, t, y);
        self.fill_inertia(t)?;
        let len = 3 * n * n * width;
        grow(&mut self.matrices.tangents, len);
        let tangents = &mut self.matrices.tangents[..len];
        self.engine.eval(Quantity::ConfigurationJacobian, t, &self.other[..y.len()], tangents)?;
        let solved = self.solve_lanes("derivatives", t, 2 * n, |lane, tangents, right| {
            let block = |b: usize, i: usize, k: usize| tangents[((b * n + i) * n + k) * width + lane];
            match right {
                Right::Given(right) => {
                    for i in 0..n {
                        (0..n).for_each(|k| right[i * 2 * n + k] = -block(0, i, k));
                        right[i * 2 * n + n + i] = 1.0;
                    }
                }
                Right::Solved(x) => {
                    for i in 0..n {
                        for k in 0..2 * n {
                            let through: f64 = (0..n).map(|l| block(2, i, l) * x[l * 2 * n + k]).sum();
                            let direct = if k < n { block(1, i, k) } else { 0.0 };
                            j[(i * 2 * n + k) * width + lane] = x[i * 2 * n + k];
                            j[((n + i) * 2 * n + k) * width + lane] = direct + through;
                        }
                    }
                }
            }
        });
        result.and(solved)
    }

    /// The entries of the [Jacobian](Dynamics::jacobian) that its [structure](crate::System::jacobian_structure) keeps.
    ///
    /// # Errors
    /// As [`Dynamics::jacobian`].
    pub fn jacobian_entries(&mut self, t: &[f64], y: &[f64], entries: &mut [f64]) -> Result<(), EvalError> {
        match self.system().jacobian_structure() {
            Structure::Dense(_) => self.jacobian(t, y, entries),
            Structure::Sparse(_) => self.engine.eval(Quantity::Jacobian, t, y, entries),
            Structure::Free(_) => check("derivatives", 0, entries.len()),
        }
    }

    /// The derivatives of the field by central differences, good to some digits if `sizes` are those of coordinates and of momenta: for who needs them a few times, and
    /// would wait longer until formulas of them are compiled.
    ///
    /// # Errors
    /// As [`Dynamics::rates`].
    pub fn rough_jacobian(
        &mut self,
        t: &[f64],
        y: &[f64],
        sizes: [f64; 2],
        j: &mut [f64],
    ) -> Result<(), EvalError> {
        let half = self.system().dimension().div_ceil(2);
        let sizes = sizes.map(|size| if size > 0.0 { size } else { 1.0 });
        self.difference_rates(t, y, |size, column| size.max(sizes[usize::from(column >= half)]), j)
    }

    /// The derivatives of the field, by central differences: good to nine or ten digits if steps are parts of what components are large by. `scale` makes that of the
    /// size of a component.
    fn difference_rates(
        &mut self,
        t: &[f64],
        y: &[f64],
        scale: impl Fn(f64, usize) -> f64,
        j: &mut [f64],
    ) -> Result<(), EvalError> {
        let (width, d) = (t.len(), self.system().dimension());
        self.engine.check_block(t, y)?;
        check("derivatives", d * d * width, j.len())?;
        let mut memory = std::mem::take(&mut self.matrices.state);
        grow(&mut memory, 3 * y.len());
        let (at, fields) = memory.split_at_mut(y.len());
        let (above, below) = fields.split_at_mut(y.len());
        let mut result = Ok(());
        for column in 0..d {
            let mut steps = [0.0; LANES];
            let places = column * width..(column + 1) * width;
            at.copy_from_slice(y);
            let sizes = y[places.clone()].iter().map(|y| f64::EPSILON.cbrt() * scale(y.abs(), column));
            steps.iter_mut().zip(sizes).for_each(|(step, size)| *step = size);
            for (sign, field) in [(1.0, &mut *above), (-1.0, &mut below[..y.len()])] {
                for (at, (y, step)) in at[places.clone()].iter_mut().zip(y[places.clone()].iter().zip(steps))
                {
                    *at = y + sign * step;
                }
                result = result.and(self.rates(t, at, field));
            }
            for row in 0..d {
                for lane in 0..width {
                    let i = row * width + lane;
                    j[(row * d + column) * width + lane] = (above[i] - below[i]) / (2.0 * steps[lane]);
                }
            }
        }
        self.matrices.state = memory;
        result
    }

    /// p at v, or v at p, and the matrix that connects them, at `other`.
    fn fill_inertia(&mut self, t: &[f64]) -> Result<(), EvalError> {
        let n = self.system().degrees();
        let len = (n + self.system().inverse().pattern.len()) * t.len();
        grow(&mut self.matrices.inertia, len);
        let inertia = &mut self.matrices.inertia[..len];
        self.engine.eval(Quantity::Inertia, t, &self.other[..2 * n * t.len()], inertia)
    }

    /// Solves with the matrix of every lane: `exchange` first gives the right sides (which start as zeros), then takes the solution.
    fn solve_lanes(
        &mut self,
        what: &'static str,
        t: &[f64],
        columns: usize,
        mut exchange: impl FnMut(usize, &[f64], Right<'_>),
    ) -> Result<(), EvalError> {
        let (n, width) = (self.system().degrees(), t.len());
        let Matrices { inertia, tangents, matrix, right, .. } = &mut self.matrices;
        grow(matrix, n * n);
        grow(right, n * columns);
        let (matrix, right) = (&mut matrix[..n * n], &mut right[..n * columns]);
        let mut failure = None;
        for lane in 0..width {
            fill(matrix, n, &self.engine.system.inverse().pattern, &inertia[n * width..], width, lane);
            right.fill(0.0);
            exchange(lane, tangents, Right::Given(right));
            if let Err(Singular { column: index }) = dense::solve_once(matrix, right, n) {
                right.fill(f64::NAN);
                failure.get_or_insert(Failure::Singular { lane, index });
            }
            exchange(lane, tangents, Right::Solved(right));
        }
        failure.map_or(Ok(()), |failure| Err(self.explain(what, t, failure)))
    }
}

/// Right sides before and after solving, by rows.
enum Right<'a> {
    Given(&'a mut [f64]),
    Solved(&'a [f64]),
}
