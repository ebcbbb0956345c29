//! Brackets, rates of change, and what is conserved.
//!
//! $$\{f, g\} = \sum_i \frac{\partial f}{\partial q_i}\frac{\partial g}{\partial p_i} - \frac{\partial f}{\partial
//! p_i}\frac{\partial g}{\partial q_i}, \qquad \frac{df}{dt} = \{f, H\} + \frac{\partial f}{\partial p}\cdot Q +
//! \frac{\partial f}{\partial t}$$
//!
//! A coordinate that L does not depend on is cyclic, and its momentum is conserved; energy is, where L does not depend on time
//! (E. Noether, *Invariante Variationsprobleme*, 1918). Whether an expression vanishes is decided by folding,
//! and where folding cannot see it, by values at points without pattern; what those may miss is not claimed.

use crate::equations::{Equations, Statement, depend};
use crate::lumped::split::LumpedNodes;
use crate::probe::Verdict;
use leastaction_expr::{Entry, Expr, Id, Node, Op, jacobian, jvp};
use rustc_hash::FxHashSet;

/// A quantity that the motion conserves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conserved {
    /// H, or Jacobi's function v·∂L/∂v − L: the energy, unless [`Facts::jacobi`](crate::Facts) says otherwise.
    Energy,
    /// The momentum of the coordinate with this index, which is cyclic.
    Momentum(usize),
}

impl<'g> Equations<'g> {
    /// The Poisson bracket of two expressions of (q, p, t). Velocities in them count as functions of (q, p, t).
    ///
    /// `None` if there are velocities that cannot be written as functions of the momenta.
    #[must_use]
    pub fn bracket(&self, f: Expr<'g>, g: Expr<'g>) -> Option<Expr<'g>> {
        let (f, g) = (self.of_momenta(f)?, self.of_momenta(g)?);
        if self.nodes.as_ref().is_some_and(|nodes| nodes.is_read_by(f) || nodes.is_read_by(g)) {
            return None;
        }
        let (q, p) = (&self.coordinates, &self.momenta);
        let (f_q, f_p) = (f.gradient(q), f.gradient(p));
        let (g_q, g_p) = (g.gradient(q), g.gradient(p));
        let terms = (0..self.degrees()).map(|i| f_q[i] * g_p[i] - f_p[i] * g_q[i]);
        Some(self.graph.sum(terms))
    }

    /// The rate of change df/dt along the motion of an expression of (q, v, p, t), forces included. It is a function of
    /// (q, v, t, u) if the motion is stated by a Lagrangian, else of (q, p, t, u).
    ///
    /// `None` if that needs accelerations that cannot be written down.
    #[must_use]
    pub fn rate_of_change(&self, f: Expr<'g>) -> Option<Expr<'g>> {
        if self.feels_constraints(f) {
            return None; // constraint forces cannot be written down
        }
        self.unconstrained_rate(f)
    }

    /// Whether constraint forces enter the rate of change of an expression: it has velocities or momenta in it.
    fn feels_constraints(&self, f: Expr<'g>) -> bool {
        let turned = [&self.velocities[..], &self.momenta].concat();
        !self.constraints.is_empty() && depend(&[self.graph.adopt(f)], &turned)
    }

    /// df/dt as if there were no constraints.
    fn unconstrained_rate(&self, f: Expr<'g>) -> Option<Expr<'g>> {
        if self.nodes.as_ref().is_some_and(|nodes| nodes.is_read_by(self.graph.adopt(f))) {
            return None; // how they move is known by numbers
        }
        if !self.is_symbolic() && depend(&[f], &[&self.velocities[..], &self.momenta].concat()) {
            return None; // not all forces can be written down
        }
        match &self.statement {
            Statement::Hamiltonian(_) => {
                let (rates, forces) = self.formula_phase_rates()?;
                let f = self.of_momenta(f)?;
                self.derivative_along(f, &[(&self.coordinates, &rates), (&self.momenta, &forces)])
            }
            Statement::Lagrangian(l) => {
                let accelerations = match depend(&[f], &self.velocities) {
                    true => self.formula_accelerations()?,
                    false => self.velocities.clone(), // not looked at
                };
                let forces = self.formula_momentum_rates();
                let directions: [(&[_], &[_]); 3] = [
                    (&self.coordinates, &self.velocities),
                    (&self.velocities, &accelerations),
                    (&self.momenta, &forces),
                ];
                let rate = self.derivative_along(f, &directions)?;
                let known: Vec<_> = self.momenta.iter().copied().zip(l.momenta.iter().copied()).collect();
                Some(rate.substitute(&known))
            }
        }
    }

    /// What each multiplier λ adds to df/dt: −G ∂f/∂p, where ∂f/∂p is M⁻¹ ∂f/∂v of velocities.
    fn reactions(&self, f: Expr<'g>) -> Option<Vec<Expr<'g>>> {
        let f = self.graph.adopt(f);
        let mut turned = f.gradient(&self.momenta);
        if depend(&[f], &self.velocities) {
            let by_velocities = match &self.statement {
                Statement::Lagrangian(l) => l.solve(&f.gradient(&self.velocities))?,
                Statement::Hamiltonian(_) => self.of_momenta(f)?.gradient(&self.momenta),
            };
            turned.iter_mut().zip(by_velocities).for_each(|(sum, part)| *sum += part);
        }
        let rates: Vec<_> = self.constraints.iter().map(|c| c.rate).collect();
        let mut reactions = vec![self.graph.number(0.0); rates.len()];
        for Entry { row, column, value } in jacobian(&rates, &self.velocities) {
            reactions[row] -= value * turned[column];
        }
        Some(reactions)
    }

    /// Whether the motion conserves an expression of (q, v, p, t). `None` if that cannot be decided. Under constraints what the free motion
    /// conserves is conserved if it generates a symmetry of each of them, as the momenta of translations and rotations do.
    #[must_use]
    pub fn is_conserved(&self, f: Expr<'g>) -> Option<bool> {
        let mut rates = vec![self.unconstrained_rate(f)?];
        if self.feels_constraints(f) {
            rates.extend(self.reactions(f)?);
        }
        let verdicts = self.probe().verdicts(&rates);
        let moving = [&self.coordinates[..], &self.velocities, &self.momenta, &[self.time]].concat();
        if verdicts.iter().all(|verdict| matches!(verdict, Verdict::Zero)) {
            return (!jumps(&[f], &moving)).then_some(true);
        }
        // On the constraints a rate may vanish that does not vanish everywhere.
        let decided = self.constraints.is_empty() && matches!(verdicts[..], [Verdict::NotZero]);
        decided.then_some(false)
    }

    /// Whether an expression is certainly zero wherever it is defined.
    #[must_use]
    pub fn is_zero(&self, f: Expr<'g>) -> bool {
        self.probe().is_zero(f)
    }

    /// The coordinates that L, or H, certainly does not depend on, by index.
    #[must_use]
    pub fn cyclic(&self) -> Vec<usize> {
        let (value, slopes) = match &self.statement {
            Statement::Hamiltonian(h) => (*h, h.gradient(&self.coordinates)),
            Statement::Lagrangian(l) => (l.value, l.gradient.clone()),
        };
        let flat = self.probe().zeros(&slopes);
        let any = jumps(&[value], &self.coordinates);
        let read = self.read_by_others();
        let cyclic = |&i: &usize| {
            flat[i] && !read[self.place(i)] && !(any && jumps(&[value], &self.coordinates[i..=i]))
        };
        (0..self.degrees()).filter(cyclic).filter(|i| !self.states.contains(i)).collect()
    }

    /// The conserved quantities that follow from symmetries: energy if nothing depends on time and no force acts, and the momenta
    /// of cyclic coordinates without a force. What is in doubt is left out.
    #[must_use]
    pub fn conserved(&self) -> Vec<Conserved> {
        let probe = self.probe();
        let forces = self.forces();
        let value = match &self.statement {
            Statement::Hamiltonian(h) => *h,
            Statement::Lagrangian(l) => l.value,
        };
        let unforced = probe.zeros(&forces);
        // What only states feel changes no energy.
        let free = unforced.iter().enumerate().all(|(i, &zero)| zero || self.states.contains(&i));
        let timeless = !jumps(&[value], &[self.time]) && probe.is_zero(value.derivative(self.time));
        let timeless = timeless && !self.others_depend_on_time();
        let driven = self.nodes.as_ref().is_some_and(|nodes| nodes.is_damped() || nodes.is_driven());
        let energy = free && !driven && self.losses.is_empty() && timeless && !self.constraints_work();
        // Forces of constraints act along the coordinates that constraints have slopes by.
        let rates: Vec<_> = self.constraints.iter().map(|c| c.rate).collect();
        let bound: FxHashSet<_> =
            jacobian(&rates, &self.velocities).iter().map(|entry| entry.column).collect();
        let lone = |i: &usize| unforced[*i] && !bound.contains(i) && !self.states.contains(i);
        let momenta = self.cyclic().into_iter().filter(lone).map(Conserved::Momentum);
        energy.then_some(Conserved::Energy).into_iter().chain(momenta).collect()
    }

    /// Whether H = T(p, t) + V(q, t): what explicit symplectic methods need. In doubt the answer is no.
    #[must_use]
    pub fn is_separable(&self) -> bool {
        let moving = match &self.statement {
            Statement::Hamiltonian(h) => self.moving(*h).gradient(&self.momenta),
            // p must not mix q and v: neither the mass matrix nor the momenta at rest may depend on q.
            Statement::Lagrangian(l) => l.momenta.clone(),
        };
        // Along one direction, which is soon seen; derivatives in all of them are many.
        let direction: Vec<_> =
            self.coordinates.iter().copied().zip(self.velocities.iter().copied()).collect();
        if self.probe().verdicts(&jvp(&moving, &direction)).contains(&Verdict::NotZero) {
            return false;
        }
        let entries: Vec<_> = jacobian(&moving, &self.coordinates).iter().map(|entry| entry.value).collect();
        !jumps(&moving, &self.coordinates) && self.probe().zeros(&entries).iter().all(|&zero| zero)
    }

    /// Whether velocities are M⁻¹p with a constant matrix M: what Runge–Kutta–Nyström methods need. In doubt the answer is no.
    #[must_use]
    pub fn has_constant_mass(&self) -> bool {
        if !self.is_separable() {
            return false;
        }
        let (moving, conjugate) = match &self.statement {
            Statement::Hamiltonian(h) => (self.moving(*h).gradient(&self.momenta), &self.momenta),
            Statement::Lagrangian(l) => (l.momenta.clone(), &self.velocities),
        };
        let outside = [&[self.time], self.inputs.as_slice()].concat();
        let masses: Vec<_> = jacobian(&moving, conjugate).iter().map(|entry| entry.value).collect();
        let bent = jacobian(&masses, conjugate).into_iter().chain(jacobian(&moving, &outside));
        let entries: Vec<_> = bent.map(|entry| entry.value).collect();
        let moved = [conjugate.as_slice(), &outside].concat();
        !jumps(&moving, &moved) && self.probe().zeros(&entries).iter().all(|&zero| zero)
    }

    /// Whether a generalized force depends on velocities.
    #[must_use]
    pub fn forces_depend_on_velocities(&self) -> bool {
        let damped = self.nodes.as_ref().is_some_and(LumpedNodes::is_damped);
        damped || !self.losses.is_empty() || depend(&self.forces(), &self.velocities)
    }

    /// The nonzeros of Γ, if masses are constant, dissipation is −Γp with a constant matrix Γ, and no other force depends on
    /// velocities. In doubt there is none.
    #[must_use]
    pub fn damping(&self) -> Option<Vec<Entry<'g>>> {
        if self.nodes.as_ref().is_some_and(|nodes| nodes.is_damped_by(self.time)) {
            return None;
        }
        if !self.losses.is_empty() || !self.has_constant_mass() || depend(&self.drives, &self.velocities) {
            return None;
        }
        if self.resistances.iter().all(|force| force.as_number() == Some(0.0)) {
            return Some(Vec::new());
        }
        let resistances = self.in_phase_space(&self.resistances, &self.velocities_of_momenta()?);
        let slopes = jacobian(&resistances, &self.momenta).into_iter();
        let damping: Vec<_> = slopes.map(|entry| Entry { value: -entry.value, ..entry }).collect();
        let values: Vec<_> = damping.iter().map(|entry| entry.value).collect();
        let moving = [&self.coordinates[..], &self.momenta, &[self.time], &self.inputs].concat();
        if depend(&values, &moving) {
            return None;
        }
        // Nothing is left beside what is linear, such as dry friction.
        let mut rest = resistances;
        damping.iter().for_each(|entry| rest[entry.row] += entry.value * self.momenta[entry.column]);
        self.probe().zeros(&rest).iter().all(|&zero| zero).then_some(damping)
    }

    /// The expression with velocities written as functions of (q, p, t).
    fn of_momenta(&self, f: Expr<'g>) -> Option<Expr<'g>> {
        let f = self.graph.adopt(f);
        if !depend(&[f], &self.velocities) {
            return Some(f);
        }
        self.in_phase_space(&[f], &self.velocities_of_momenta()?).first().copied()
    }

    fn derivative_along(&self, f: Expr<'g>, directions: &[(&[Expr<'g>], &[Expr<'g>])]) -> Option<Expr<'g>> {
        let pairs = directions.iter().flat_map(|(x, dx)| x.iter().copied().zip(dx.iter().copied()));
        let pairs: Vec<_> = pairs.chain([(self.time, self.graph.number(1.0))]).collect();
        jvp(&[self.graph.adopt(f)], &pairs).first().copied()
    }
}

/// Whether expressions may jump where one of these symbols changes: derivatives do not see a jump.
fn jumps<'g>(expressions: &[Expr<'g>], symbols: &[Expr<'g>]) -> bool {
    let Some(graph) = expressions.first().map(|e| e.graph()) else { return false };
    let ids: Vec<_> = expressions.iter().map(|&e| graph.adopt(e).id()).collect();
    let mut moving: FxHashSet<Id> = symbols.iter().map(|s| s.id()).collect();
    for (id, node) in graph.order(&ids) {
        if !node.arguments().iter().any(|a| moving.contains(a)) {
            continue;
        }
        moving.insert(id);
        match node {
            Node::Apply(Op::Lt | Op::Le | Op::Eq | Op::Ne | Op::Sign | Op::Floor, _) => return true,
            Node::Apply(Op::Select, [condition, ..]) if moving.contains(&condition) => return true,
            _ => {}
        }
    }
    false
}
