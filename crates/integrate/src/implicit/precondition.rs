//! A preconditioner for 1 − h B⊗J where J has no entries but the stiffness of the system is sparse: fields of many elements.
//!
//! With one a in place of h B, and J of masses M and stiffness K alone, each stage solves
//!
//! $$\begin{pmatrix}1&-aM^{-1}\\\\aK&1\end{pmatrix}\begin{pmatrix}x_q\\\\x_p\end{pmatrix}=\begin{pmatrix}u_q\\\\u_p\end{pmatrix},\qquad
//! (M+a^2K)\,x_q=Mu_q+au_p,\quad x_p=u_p-aKx_q,$$
//!
//! by the factors L Lᵀ of M + a²K, which are kept as long as the place of J and the step are. For the implicit midpoint rule without damping that is J itself.

use leastaction_linear::{Pattern, SparseCholesky, Structure};
use leastaction_mechanics::{Dynamics, EvalError, Form, Linearisation, Revision};
use std::sync::Arc;

/// Factors of more coordinates are gigabytes.
const MOST: usize = 150_000;

/// The factors of M + a²K, and what they are of.
pub(super) struct Preconditioner {
    linear: Linearisation,
    pattern: Arc<Pattern>,
    /// M, at the places of K.
    masses: Vec<f64>,
    factors: SparseCholesky,
    a: f64,
    q: Vec<f64>,
    /// Whether there are factors: M + a²K is positive definite.
    serves: bool,
    revision: Revision,
    side: Vec<f64>,
}

impl Preconditioner {
    /// That of a system whose energies are sums over elements, with constant masses and without constraints, if its stiffness is sparse.
    pub(super) fn new(
        dynamics: &mut Dynamics,
        t: f64,
        q: &[f64],
    ) -> Result<Option<Preconditioner>, EvalError> {
        let system = dynamics.system();
        let facts = system.facts();
        let suits = facts.form == Form::Lagrangian && facts.constant_mass && !facts.constrained;
        if !suits || system.elements() == 0 || q.len() > MOST {
            return Ok(None);
        }
        let linear = Linearisation::new(dynamics)?;
        let Structure::Sparse(pattern) = linear.structure().clone() else { return Ok(None) };
        let mut masses = vec![0.0; pattern.len()];
        let places = dynamics.mass_pattern().map(<[_]>::to_vec).unwrap_or_default();
        for ((i, j), mass) in places.into_iter().zip(dynamics.mass_entries(t, q)?) {
            match (pattern.find(i, j), pattern.find(j, i)) {
                (Some(one), Some(other)) => (masses[one], masses[other]) = (mass, mass),
                _ if mass == 0.0 => {}
                _ => return Ok(None),
            }
        }
        Ok(Some(Preconditioner {
            factors: SparseCholesky::new(&pattern),
            linear,
            pattern,
            masses,
            a: f64::NAN,
            q: Vec::new(),
            serves: false,
            revision: dynamics.revision(),
            side: vec![0.0; q.len()],
        }))
    }

    /// Whether it is of these parameters.
    pub(super) fn is_of(&self, dynamics: &Dynamics) -> bool {
        self.revision == dynamics.revision()
    }

    /// Makes the factors for J at a place and for a step, unless they are there.
    pub(super) fn prepare(
        &mut self,
        dynamics: &mut Dynamics,
        t: f64,
        q: &[f64],
        a: f64,
    ) -> Result<(), EvalError> {
        if self.a == a && self.q == q {
            return Ok(());
        }
        self.linear.evaluate(dynamics, t, q, &[])?;
        let (k, masses) = (self.linear.stiffness(), &self.masses);
        self.serves = self.factors.factor(|place| masses[place] + a * a * k[place]).is_ok();
        self.a = a;
        self.q.clear();
        self.q.extend_from_slice(q);
        Ok(())
    }

    /// Replaces u by x in each stage; does nothing if there are no factors.
    pub(super) fn apply(&mut self, stages: &mut [f64]) {
        let Preconditioner { linear, pattern, masses, factors, a, serves, side, .. } = self;
        if !*serves {
            return;
        }
        for stage in stages.chunks_exact_mut(2 * side.len()) {
            let (q, p) = stage.split_at_mut(side.len());
            side.iter_mut().zip(&*p).for_each(|(side, p)| *side = *a * p);
            pattern.add_product::<1>(masses, q, side);
            factors.solve(side);
            q.copy_from_slice(side);
            side.fill(0.0);
            pattern.add_product::<1>(linear.stiffness(), q, side);
            p.iter_mut().zip(&*side).for_each(|(p, k)| *p -= *a * k);
        }
    }
}
