//! Galerkin variational integrators: the action of a polynomial, by quadrature, is stationary.
//!
//! Over a step q is a polynomial of degree s, so that v is one of degree s − 1, and the discrete Lagrangian is the extremum of
//!
//! $$L_d(q_0,q_1)=\operatorname{ext}\;h\sum_i b_i\,L\bigl(q(c_ih),\dot q(c_ih),t+c_ih\bigr)$$
//!
//! over the polynomials between q₀ and q₁ (J. E. Marsden and M. West, Acta Numerica 10 (2001) 357, doi:10.1017/S096249290100006X,
//! section 2.2.6; S. Ober-Blöbaum and N. Saake, Adv. Comput. Math. 41 (2015) 955, doi:10.1007/s10444-014-9394-8). Forces Q
//! enter by the discrete Lagrange–d'Alembert principle, their virtual work with the same quadrature.
//!
//! With v = Σ aₖφₖ in orthonormal Legendre polynomials, Iₖ = ∫₀φₖ and wⱼ = ∫¹φⱼ, and with P = ∂L/∂v and S = ∂L/∂q + Q at the nodes,
//! p₀ = −D₁L_d and stationarity are
//!
//! $$\sum_i b_i\,\varphi_j(c_i)\,(P_i-p_0)=h\sum_i b_i\,w_j(c_i)\,S_i,\qquad j=0\dots s-1,$$
//!
//! at qᵢ = q₀ + h Σ aₖIₖ(cᵢ), and p₁ = D₂L_d is the rest:
//!
//! $$q_1=q_0+h\,a_0,\qquad p_1=p_0+h\sum_i b_i\,S_i.$$
//!
//! Neither is a difference of large numbers. The equations are solved for x = h a by x ← x − h M⁻¹F(x), where F is what the two
//! sides of the first differ by, and M is the mass matrix in the middle of the step. Of few coordinates that is inverted, and Newton's method
//! takes over where the iteration fails; of many M⁻¹F is found as the velocities that F would have as momenta, and there is the iteration alone:
//! nothing is quadratic in their number.
//!
//! Energy must not drift by rounding. Whatever numbers φ, I and b are, a step is symplectic to the last bit if the same ones stand wherever the formulas have them: nodes are
//! rounded such that 1 − c is exact, P and S are multiplied by b before anything else, and what Σ bᵢφⱼ and Σ bᵢφⱼφₖ differ by from 0 or 1 is counted. And
//! where M is known, x − h M⁻¹F is written as h M⁻¹ times what P is besides M v, which is nothing or little, so that it is found anew each time: where x is what it was but for a
//! difference that is lost in the rounding of P, the iteration would rest on the side that it comes from.

pub(super) mod lobatto;
pub(super) mod midpoint;

use crate::block::{Block, scale};
use crate::error::RunError;
use crate::implicit::{Equation, Past, Solver};
use crate::quadrature::{Double, Rule, basis, integrals};
use crate::run::checkpoint::Kept;
use crate::step::{Interval, Motion, Step, StepError};
use leastaction_compile::LANES;
use leastaction_linear::{Structure, dense};
use leastaction_mechanics::{Dynamics, EvalError, Quantity};

/// A variational integrator with polynomials of a degree, and a quadrature that is exact up to twice the degree less two.
fn stepper(
    dynamics: &mut Dynamics,
    width: usize,
    degree: usize,
    rule: Rule,
) -> Result<Box<dyn Step>, RunError> {
    dynamics.prepare(&[Quantity::Momenta, Quantity::MomentumRates])?;
    let n = dynamics.system().degrees();
    let few = matches!(dynamics.system().jacobian_structure(), Structure::Dense(_));
    let masses = if few {
        dynamics.prepare(&[Quantity::Inertia])?;
        Masses::Inverted(Inverted::new(n, width))
    } else {
        Masses::Moved(Moved::new(n, width))
    };
    let mut galerkin = Galerkin {
        solver: Solver::new(degree * n * width),
        past: Past::of_coefficients(degree, n * width),
        x: vec![0.0; degree * n * width],
        scale: vec![0.0; 2 * n * width],
        action: Action::new(n, width, degree, rule, masses),
    };
    // The mass matrix makes room when it is first asked for; what it is here does not matter.
    if let Masses::Inverted(Inverted { mass, .. }) = &mut galerkin.action.masses {
        let _ = dynamics.mass_matrix(&[0.0; LANES][..width], &galerkin.scale, mass);
    }
    Ok(Box::new(galerkin))
}

struct Galerkin {
    solver: Solver,
    past: Past,
    /// h a of the step.
    x: Vec<f64>,
    /// Coordinates and h a₀, twice: what both halves of the unknowns are measured by.
    scale: Vec<f64>,
    action: Action,
}

impl Step for Galerkin {
    fn step(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        change: &mut [f64],
    ) -> Result<(), StepError> {
        let Galerkin { solver, past, x, scale: size, action } = self;
        let half = change.len() / 2;
        let y = block.values();
        let (first, later) = x.split_at_mut(half);
        if past.is_empty(interval.h.len()) {
            motion.drift(interval, 0.0, y, first)?;
            scale(first, interval.h);
            later.fill(0.0);
        }
        past.guess(interval.h, x);
        for i in 0..half {
            // Rounding of a₀ reaches all of them: without it, higher coefficients of a start at zero would have no scale but themselves.
            size[i] = y[i].abs() + x[i].abs();
            size[half + i] = size[i];
        }
        let mut equation = Stationary { motion, interval, y, action };
        equation.weigh(x)?;
        let iterations = solver.solve(interval.t, size, x, &mut equation)?;
        // Once more, as S so far is that of one iteration earlier, or in lanes that rested of the last.
        equation.sweep(x)?;
        motion.work_mut().iterations += u64::from(iterations);
        let (dq, dp) = change.split_at_mut(half);
        dq.copy_from_slice(&x[..half]);
        action.impulse(dp);
        scale(dp, interval.h);
        Ok(())
    }

    fn accept(&mut self, lanes: &[bool]) {
        self.past.keep(lanes, &self.x);
    }

    fn memory(&mut self, visit: &mut dyn FnMut(Kept<'_>)) {
        self.past.memory(visit);
    }
}

/// The coefficients of the method, and what is known at its nodes.
struct Action {
    n: usize,
    degree: usize,
    rule: Rule,
    /// φₖ, Iₖ and wₖ at the nodes: nodes × terms.
    phi: Vec<f64>,
    integral: Vec<f64>,
    rest: Vec<f64>,
    /// Σ bᵢφⱼ(cᵢ) and, terms × terms, Σ bᵢφⱼ(cᵢ)φₖ(cᵢ) are so much larger than they are without rounding.
    excess: Vec<f64>,
    excess_products: Vec<f64>,
    /// \[q…, v…\] at a node.
    z: Vec<f64>,
    /// b (P − p₀), or b (P − M v) where M is known, and b S at all nodes.
    momenta: Vec<f64>,
    pushes: Vec<f64>,
    masses: Masses,
    side: Vec<f64>,
    /// ∂P/∂q, ∂S/∂q and ∂S/∂v, made when they are first needed.
    tangents: Vec<f64>,
}

/// What M⁻¹ is found by.
enum Masses {
    Inverted(Inverted),
    Moved(Moved),
}

/// The mass matrix in the middle of the step, its inverse, room for both in one lane, and the mass matrix at a node.
struct Inverted {
    mass: Vec<f64>,
    at_node: Vec<f64>,
    inverse: Vec<f64>,
    one: [Vec<f64>; 2],
}

/// \[q…, p…\] with coordinates in the middle of the step, velocities there, and those of momenta that are zero.
struct Moved {
    at: Vec<f64>,
    velocities: Vec<f64>,
    resting: Vec<f64>,
}

impl Inverted {
    fn new(n: usize, width: usize) -> Inverted {
        let all = || vec![0.0; n * n * width];
        Inverted {
            mass: all(),
            at_node: all(),
            inverse: all(),
            one: std::array::from_fn(|_| vec![0.0; n * n]),
        }
    }
}

impl Moved {
    fn new(n: usize, width: usize) -> Moved {
        let memory = || vec![0.0; n * width];
        Moved { at: vec![0.0; 2 * n * width], velocities: memory(), resting: memory() }
    }
}

impl Action {
    fn new(n: usize, width: usize, degree: usize, mut rule: Rule, masses: Masses) -> Action {
        const UNIT: f64 = f64::EPSILON / 2.0;
        let nodes = rule.nodes.len();
        rule.nodes.iter_mut().for_each(|c| *c = (*c / UNIT).round() * UNIT);
        let memory = |len: usize| vec![0.0; len * width];
        let (mut phi, mut integral) = (vec![0.0; nodes * degree], vec![0.0; nodes * degree]);
        for (i, &c) in rule.nodes.iter().enumerate() {
            basis(c, &mut phi[i * degree..][..degree]);
            integrals(c, &mut integral[i * degree..][..degree]);
        }
        let rest = integral.iter().enumerate().map(|(at, i)| f64::from(at % degree == 0) - i).collect();
        let sum = |values: &dyn Fn(usize) -> Double, exact: bool| {
            let terms = rule.weights.iter().zip(0..);
            let sum = terms.fold(Double::ZERO, |sum, (b, i)| sum + Double::from(*b) * values(i));
            (sum - if exact { Double::ONE } else { Double::ZERO }).rounded()
        };
        let phi_at = |i: usize, j: usize| Double::from(phi[i * degree + j]);
        let excess = (0..degree).map(|j| sum(&|i| phi_at(i, j), j == 0)).collect();
        let pairs = (0..degree).flat_map(|j| (0..degree).map(move |k| (j, k)));
        let excess_products = pairs.map(|(j, k)| sum(&|i| phi_at(i, j) * phi_at(i, k), j == k)).collect();
        Action {
            n,
            degree,
            rule,
            phi,
            integral,
            rest,
            excess,
            excess_products,
            z: memory(2 * n),
            momenta: memory(nodes * n),
            pushes: memory(nodes * n),
            masses,
            side: memory(n),
            tangents: Vec::new(),
        }
    }

    /// Σ bᵢ Sᵢ.
    fn impulse(&self, out: &mut [f64]) {
        out.fill(0.0);
        self.pushes.chunks_exact(out.len()).for_each(|pushes| add(out, 1.0, pushes));
    }
}

/// x = x − h M⁻¹F(x).
struct Stationary<'a, 'd> {
    motion: &'a mut Motion<'d>,
    interval: Interval<'a>,
    y: &'a [f64],
    action: &'a mut Action,
}

impl Stationary<'_, '_> {
    /// \[q…, v…\] where the polynomials and their integrals have these values.
    fn go(&mut self, x: &[f64], phi: &[f64], integral: &[f64]) {
        let half = self.y.len() / 2;
        let (q, v) = self.action.z.split_at_mut(half);
        q.fill(0.0);
        v.fill(0.0);
        for (k, x) in x.chunks_exact(half).enumerate() {
            add(q, integral[k], x);
            add(v, phi[k], x);
        }
        q.iter_mut().zip(self.y).for_each(|(q, y)| *q += y);
        let width = self.interval.h.len();
        for v in v.chunks_exact_mut(width) {
            for (v, h) in v.iter_mut().zip(self.interval.h) {
                // A lane that rests has no velocities.
                *v = if *h == 0.0 { 0.0 } else { *v / h };
            }
        }
    }

    fn go_to(&mut self, x: &[f64], node: usize) {
        const MOST: usize = 32;
        let (degree, mut values) = (self.action.degree.min(MOST), [[0.0; MOST]; 2]);
        values[0][..degree].copy_from_slice(&self.action.phi[node * degree..][..degree]);
        values[1][..degree].copy_from_slice(&self.action.integral[node * degree..][..degree]);
        self.go(x, &values[0], &values[1]);
    }

    fn times(&self, c: f64) -> [f64; LANES] {
        let mut times = [0.0; LANES];
        let lanes = times.iter_mut().zip(self.interval.t.iter().zip(self.interval.h));
        lanes.for_each(|(time, (t, h))| *time = t + c * h);
        times
    }

    /// Inverts the mass matrix in the middle of the step, or finds what momenta move there.
    fn weigh(&mut self, x: &[f64]) -> Result<(), EvalError> {
        let (width, n) = (self.interval.h.len(), self.action.n);
        let (mut phi, mut integral) = ([0.0; 32], [0.0; 32]);
        basis(0.5, &mut phi);
        integrals(0.5, &mut integral);
        self.go(x, &phi, &integral);
        let times = self.times(0.5);
        let Action { z, masses, .. } = &mut *self.action;
        let Inverted { mass, inverse, one: [matrix, inverted], .. } = match masses {
            Masses::Inverted(inverted) => inverted,
            Masses::Moved(Moved { at, resting, .. }) => {
                let (q, p) = at.split_at_mut(resting.len());
                q.copy_from_slice(&z[..q.len()]);
                p.fill(0.0);
                return self.motion.drift(self.interval, 0.5, at, resting);
            }
        };
        self.motion.dynamics().mass_matrix(&times[..width], z, mass)?;
        for lane in 0..width {
            (0..n * n).for_each(|k| matrix[k] = mass[k * width + lane]);
            if dense::invert(matrix, inverted, n).is_err() {
                inverted.fill(f64::NAN);
            }
            // As symmetric as it should be, or steps would not be symplectic but for its rounding.
            let mean = |k: usize| 0.5 * (inverted[k] + inverted[k % n * n + k / n]);
            (0..n * n).for_each(|k| inverse[k * width + lane] = mean(k));
        }
        Ok(())
    }

    /// b (P − p₀), or b (P − M v) where M is known, and b S at all nodes.
    fn sweep(&mut self, x: &[f64]) -> Result<(), EvalError> {
        let (width, half) = (self.interval.h.len(), self.y.len() / 2);
        for node in 0..self.action.rule.nodes.len() {
            self.go_to(x, node);
            let times = self.times(self.action.rule.nodes[node]);
            self.motion.work_mut().evaluations += 1;
            let Action { n, rule, z, momenta, pushes, masses, .. } = &mut *self.action;
            let (momenta, pushes) = (&mut momenta[node * half..][..half], &mut pushes[node * half..][..half]);
            self.motion.dynamics().momenta(&times[..width], z, momenta)?;
            self.motion.dynamics().momentum_rates(&times[..width], z, pushes)?;
            let b = rule.weights[node];
            match masses {
                Masses::Inverted(Inverted { mass, .. }) => {
                    apply(mass, (*n, width, -1.0), &z[half..], momenta);
                    momenta.iter_mut().for_each(|p| *p *= b);
                }
                Masses::Moved(_) => {
                    momenta.iter_mut().zip(&self.y[half..]).for_each(|(p, start)| *p = b * (*p - start));
                }
            }
            pushes.iter_mut().for_each(|push| *push *= b);
        }
        Ok(())
    }
}

impl Equation for Stationary<'_, '_> {
    fn image(&mut self, x: &[f64], image: &mut [f64]) -> Result<(), EvalError> {
        self.sweep(x)?;
        let (width, half, h) = (self.interval.h.len(), self.y.len() / 2, self.interval.h);
        let Action { n, degree, phi, rest, excess, excess_products, momenta, pushes, masses, side, .. } =
            &mut *self.action;
        for (j, image) in image.chunks_exact_mut(half).enumerate() {
            side.fill(0.0);
            for (i, pushes) in pushes.chunks_exact(half).enumerate() {
                add(side, -rest[i * *degree + j], pushes);
            }
            scale(side, h);
            for (i, momenta) in momenta.chunks_exact(half).enumerate() {
                add(side, phi[i * *degree + j], momenta);
            }
            match masses {
                Masses::Inverted(Inverted { inverse, .. }) => {
                    if j == 0 {
                        add(side, -1.0, &self.y[half..]);
                    }
                    scale(side, h);
                    image.fill(0.0);
                    for (excess, x) in excess_products[j * *degree..].iter().zip(x.chunks_exact(half)) {
                        add(image, -excess, x);
                    }
                    apply(inverse, (*n, width, -1.0), side, image);
                }
                Masses::Moved(Moved { at, velocities, resting }) => {
                    image.copy_from_slice(&x[j * half..][..half]);
                    add(side, excess[j], &self.y[half..]);
                    at[half..].copy_from_slice(side);
                    self.motion.drift(self.interval, 0.5, at, velocities)?;
                    add(velocities, -1.0, resting);
                    scale(velocities, h);
                    add(image, -1.0, velocities);
                }
            }
        }
        Ok(())
    }

    fn structure(&self) -> Structure {
        let unknowns = self.action.degree * self.action.n;
        match self.action.masses {
            Masses::Inverted(_) => Structure::Dense(unknowns),
            Masses::Moved(_) => Structure::Free(unknowns),
        }
    }

    /// 1 − M⁻¹ Σ bᵢ {φⱼ (h ∂P/∂q Iₖ + ∂P/∂v φₖ) − h wⱼ (h ∂S/∂q Iₖ + ∂S/∂v φₖ)}.
    fn jacobian(&mut self, x: &[f64], matrix: &mut [f64]) -> Result<(), EvalError> {
        let (width, h) = (self.interval.h.len(), self.interval.h);
        let (n, degree) = (self.action.n, self.action.degree);
        let side = degree * n;
        self.action.tangents.resize(3 * n * n * width, 0.0);
        matrix.fill(0.0);
        for node in 0..self.action.rule.nodes.len() {
            self.go_to(x, node);
            let times = self.times(self.action.rule.nodes[node]);
            self.motion.work_mut().jacobians += 1;
            let Action { rule, phi, integral, rest, z, masses, tangents, .. } = &mut *self.action;
            let Masses::Inverted(Inverted { at_node: mass, .. }) = masses else {
                unreachable!("there are no entries")
            };
            self.motion.dynamics().mass_matrix(&times[..width], z, mass)?;
            self.motion.dynamics().configuration_jacobian(&times[..width], z, tangents)?;
            let (b, row) = (rule.weights[node], node * degree);
            for (j, k) in (0..degree).flat_map(|j| (0..degree).map(move |k| (j, k))) {
                let (phi_j, phi_k) = (phi[row + j], phi[row + k]);
                let (rest, integral) = (rest[row + j], integral[row + k]);
                for (r, c) in (0..n).flat_map(|r| (0..n).map(move |c| (r, c))) {
                    let out = &mut matrix[((j * n + r) * side + k * n + c) * width..][..width];
                    for lane in 0..width {
                        let at = |part: usize| tangents[((part * n + r) * n + c) * width + lane];
                        let h = h[lane];
                        let momenta = h * at(0) * integral + mass[(r * n + c) * width + lane] * phi_k;
                        let pushes = h * (h * at(1) * integral + at(2) * phi_k);
                        out[lane] += b * (phi_j * momenta - rest * pushes);
                    }
                }
            }
        }
        let Masses::Inverted(Inverted { inverse, one: [column, product], .. }) = &mut self.action.masses
        else {
            unreachable!("there are no entries")
        };
        for (j, c, lane) in
            (0..degree).flat_map(|j| (0..side).flat_map(move |c| (0..width).map(move |lane| (j, c, lane))))
        {
            let place = |r: usize| ((j * n + r) * side + c) * width + lane;
            (0..n).for_each(|r| column[r] = matrix[place(r)]);
            for r in 0..n {
                product[r] = (0..n).map(|k| inverse[(r * n + k) * width + lane] * column[k]).sum();
            }
            (0..n).for_each(|r| matrix[place(r)] = f64::from(j * n + r == c) - product[r]);
        }
        Ok(())
    }
}

/// out += factor·A x, for matrices of n rows in so many lanes.
fn apply(matrix: &[f64], (n, width, factor): (usize, usize, f64), x: &[f64], out: &mut [f64]) {
    for (r, out) in out.chunks_exact_mut(width).enumerate() {
        for (k, x) in x.chunks_exact(width).enumerate() {
            let entries = &matrix[(r * n + k) * width..][..width];
            out.iter_mut()
                .zip(entries.iter().zip(x))
                .for_each(|(out, (entry, x))| *out += factor * entry * x);
        }
    }
}

/// out += factor·x.
fn add(out: &mut [f64], factor: f64, x: &[f64]) {
    out.iter_mut().zip(x).for_each(|(out, x)| *out += factor * x);
}

#[cfg(test)]
mod tests {
    use super::*;
    use leastaction_expr::Graph;
    use leastaction_mechanics::Model;

    /// The derivatives of x − h M⁻¹F(x) are those that differences show: where p depends on q, and forces on velocities and time.
    #[test]
    fn slopes_are_those_of_the_image() {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let [a, b] = model.coordinates(["a", "b"]);
        let t = model.time();
        model.particle("elbow", 1.0, [a.sin() + 0.3 * t.sin(), -a.cos()]);
        model.particle("hand", 1.5, [a.sin() + b.sin(), -a.cos() - b.cos()]);
        model.gravity([0.0, -9.81]);
        model.dissipation("friction", 0.3 * model.velocity(a).pow(2.0) * b.cos());
        let system = model.system().expect("a double pendulum");
        let mut dynamics = system.dynamics().expect("it has parameters");
        let (y, x) = ([0.9, -0.4, 1.0, 0.7], [0.3, -0.2, 0.05, 0.07, -0.02, 0.03]);
        let mut action = Action::new(2, 1, 3, Rule::lobatto(4), Masses::Inverted(Inverted::new(2, 1)));
        let mut motion = Motion::new(&mut dynamics);
        let interval = Interval { t: &[0.4], h: &[0.2] };
        let mut equation = Stationary { motion: &mut motion, interval, y: &y, action: &mut action };
        equation.weigh(&x).expect("masses");
        let mut matrix = [0.0; 36];
        equation.jacobian(&x, &mut matrix).expect("Jacobian");
        for column in 0..6 {
            let mut image = |by: f64| {
                let (mut x, mut image) = (x, [0.0; 6]);
                x[column] += by;
                equation.image(&x, &mut image).expect("an image");
                image
            };
            let (above, below) = (image(1e-5), image(-1e-5));
            for row in 0..6 {
                let (found, exact) = ((above[row] - below[row]) / 2e-5, matrix[row * 6 + column]);
                assert!((found - exact).abs() < 1e-8, "{row} {column}: {found} {exact}");
            }
        }
    }
}
