//! The projected Hamiltonian flow of a system with constraints of positions.
//!
//! With Ψ = (Φ, Φ̇) as functions of z = (q, p), the flow of H is projected along the Hamiltonian directions of Ψ:
//!
//! $$\dot z=P(z)\,J\nabla H,\qquad P=I-J\,D\Psi^T(D\Psi\,J\,D\Psi^T)^{-1}D\Psi$$
//!
//! (M. Finzi, K. A. Wang and A. G. Wilson, *Simplifying Hamiltonian and Lagrangian neural networks via explicit constraints*, NeurIPS
//! 2020, arXiv:2010.13581). On the constraints this is [`Dynamics::rates`]; off them Φ and Φ̇ stay what they are, whereas constraint forces
//! of the acceleration level keep Φ̈ = 0 only, and let Φ grow with Φ̇.
//!
//! With G = ∂Φ/∂q, W = ∂²H/∂p², K = ∂Φ̇/∂q, and A = G W Gᵀ, C = K W Gᵀ − G W Kᵀ, the Poisson brackets of Ψ are 0, A, −A and C, so that
//!
//! $$\dot q=v-WG^Tb,\quad\dot p=f+G^Ta+K^Tb,\qquad A\,b=\dot\Phi,\quad A\,a=C\,b-\frac{d\dot\Phi}{dt}\Big|_{J\nabla H}.$$

use crate::dynamics::Dynamics;
use crate::engine::check;
use crate::error::EvalError;
use crate::facts::Form;
use crate::inverse::grow;
use crate::quantity::Quantity;
use leastaction_compile::LANES;

impl Dynamics {
    /// The projected Hamiltonian flow P(z) J∇H at y, with other forces projected alike: along it Φ and Φ̇ stay what they are, also where they
    /// are not zero. Without constraints it is the [field](Dynamics::rates).
    ///
    /// ```
    /// # use leastaction_expr::Graph;
    /// # use leastaction_mechanics::Model;
    /// # let graph = Graph::new();
    /// # let mut model = Model::new(&graph);
    /// # let [x, y] = model.coordinates(["x", "y"]);
    /// # model.particle("bob", 1.0, [x, y]);
    /// # model.gravity([0.0, -9.81]);
    /// model.constraint("rod", x * x + y * y, 1.0);
    /// let mut dynamics = model.system()?.dynamics()?;
    /// let (mut field, mut flow) = ([0.0; 4], [0.0; 4]);
    /// // Off the rod, and moving along it: the flow goes round.
    /// let z = [1.1, 0.0, 0.5, 2.0];
    /// dynamics.rates(&[0.0], &z, &mut field)?;
    /// dynamics.projected_rates(&[0.0], &z, &mut flow)?;
    /// assert_eq!((field[0], flow[0]), (0.5, 0.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`EvalError`] as [`Dynamics::rates`]; and if constraints are of velocities, which no flow of this kind keeps.
    pub fn projected_rates(&mut self, t: &[f64], y: &[f64], dy: &mut [f64]) -> Result<(), EvalError> {
        let facts = self.system().facts().clone();
        if !facts.constrained {
            return self.rates(t, y, dy);
        }
        if !facts.holonomic {
            let what = "the projected flow, where constraints are of velocities,";
            return Err(EvalError::Undefined { what, form: facts.form });
        }
        self.engine.check_block(t, y)?;
        check("field", y.len(), dy.len())?;
        let (width, half) = (t.len(), y.len() / 2);
        let layout = self.system().layout().clone();
        let (rows, entries, n) = (layout.rows * width, layout.jacobian.len() * width, half / width);
        let shears = if facts.separable { 0 } else { n * n * width };
        let mut memory = std::mem::take(&mut self.constraint.flow);
        grow(&mut memory, 5 * half + 2 * rows + entries + shears);
        let (z, rest) = memory.split_at_mut(2 * half);
        let (push, rest) = rest.split_at_mut(half);
        let (moved, rest) = rest.split_at_mut(half);
        let (sheared, rest) = rest.split_at_mut(half);
        let (b, rest) = rest.split_at_mut(rows);
        let (a, rest) = rest.split_at_mut(rows);
        let (turns, rest) = rest.split_at_mut(entries);
        let shears = &mut rest[..shears];

        let (rates, pushes) = dy.split_at_mut(half);
        let result = self.velocities(t, y, rates).and(self.kick(t, y, pushes));
        z[..half].copy_from_slice(&y[..half]);
        z[half..].copy_from_slice(rates);
        let mut factors = self.constraint.take_factors(&self.system().clone(), width);
        // −dΦ̇/dt and b.
        let result = result
            .and(self.free_accelerations(t, z, push))
            .and_then(|()| self.engine.eval(Quantity::ConstraintBias, t, z, a))
            .and_then(|()| self.engine.eval(Quantity::ConstraintRates, t, z, b))
            .and_then(|()| self.engine.eval(Quantity::ConstraintRateJacobian, t, z, turns))
            .and_then(|()| factors.factor(self, t, y));
        factors.add_rates(push, a);
        a.iter_mut().for_each(|a| *a = -*a);
        factors.solve(b);
        // moved = −W Gᵀ b, and push = −Kᵀ b.
        moved.fill(0.0);
        factors.add_accelerations(b, moved);
        push.fill(0.0);
        match width {
            1 => layout.jacobian.subtract_transposed::<1>(turns, b, push),
            _ => layout.jacobian.subtract_transposed::<LANES>(turns, b, push),
        }
        let mut sheared_too = Ok(());
        if !shears.is_empty() {
            let hamiltonian = facts.form == Form::Hamiltonian;
            let block = if hamiltonian { y } else { &*z };
            sheared_too = self.engine.eval(Quantity::MomentumJacobian, t, block, shears);
            // v depends on q at constant p: ∂v/∂q = S for a Hamiltonian, and −W S with S = ∂p/∂q at constant v for a Lagrangian.
            sheared.fill(0.0);
            if hamiltonian {
                factors.add_forces(b, sheared);
                transposed(shears, n, width, 1.0, sheared, push);
                multiplied(shears, n, width, -1.0, moved, sheared);
                factors.add_rates(sheared, a);
            } else {
                transposed(shears, n, width, -1.0, moved, push);
                multiplied(shears, n, width, 1.0, moved, sheared);
                factors.add_rates_of_momenta(sheared, a);
            }
        }
        // a = A⁻¹(C b − dΦ̇/dt), where C b = −K·moved + G W·push.
        factors.add_rates_of_momenta(push, a);
        turns.iter_mut().for_each(|turn| *turn = -*turn);
        match width {
            1 => layout.jacobian.add_product::<1>(turns, moved, a),
            _ => layout.jacobian.add_product::<LANES>(turns, moved, a),
        }
        factors.solve(a);
        a.iter_mut().for_each(|a| *a = -*a);
        factors.add_forces(a, pushes);
        rates.iter_mut().zip(&*moved).for_each(|(rate, moved)| *rate += moved);
        pushes.iter_mut().zip(&*push).for_each(|(pushed, push)| *pushed -= push);
        self.constraint.put_back(factors);
        self.constraint.flow = memory;
        result.and(sheared_too)
    }
}

/// out = factor·S x, for a matrix by rows.
fn multiplied(matrix: &[f64], n: usize, width: usize, factor: f64, x: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
        for lane in 0..width {
            out[i * width + lane] += factor * matrix[(i * n + j) * width + lane] * x[j * width + lane];
        }
    }
}

/// out += factor·Sᵀ x, for a matrix by rows.
fn transposed(matrix: &[f64], n: usize, width: usize, factor: f64, x: &[f64], out: &mut [f64]) {
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
        for lane in 0..width {
            out[j * width + lane] += factor * matrix[(i * n + j) * width + lane] * x[i * width + lane];
        }
    }
}
