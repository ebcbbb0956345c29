//! Equations of motion, derived from a model by differentiation.
//!
//! For a Lagrangian L(q, v, t) with v = q̇, M = ∂²L/∂v² and generalized forces Q:
//!
//! - momenta p = ∂L/∂v; where L is quadratic in v, p = M v + a(q, t), and v = M⁻¹(p − a) by one factorisation;
//! - in phase space ṗ = ∂L/∂q + Q at v(q, p): because ∂H/∂q at fixed p is −∂L/∂q at fixed v, this is one reverse sweep;
//! - in configuration space M q̈ = ∂L/∂q + Q − (∂p/∂q) v − ∂p/∂t, the last two being one forward sweep.
//!
//! Particles at x = f(q, t) of inertias m need no second derivatives of f: ẋ is one forward sweep, M = Jᵀ m J, p = Jᵀ m ẋ and
//! the configuration-space force −Jᵀ m ẍ₀ one reverse sweep each, where ẍ₀ = d²f/dt² at q̈ = 0 is a second forward sweep.

use crate::check;
use crate::error::ModelError;
use crate::factor::{Factor, UNROLLED};
use crate::model::{Model, Particle, Term};
use leastaction_expr::{Entry, Expr, Graph, jacobian, jvp, vjp};

/// The lower triangle of a symmetric matrix, by rows.
pub type Lower<'g> = Vec<Vec<Expr<'g>>>;

/// The equations of motion of a model, as expressions.
#[derive(Clone, Debug)]
pub struct Equations<'g> {
    /// The graph of all expressions.
    pub graph: &'g Graph,
    /// Time.
    pub time: Expr<'g>,
    /// Parameters with their defaults.
    pub parameters: Vec<(Expr<'g>, f64)>,
    /// Inputs.
    pub inputs: Vec<Expr<'g>>,
    /// Coordinates q.
    pub coordinates: Vec<Expr<'g>>,
    /// Velocities v = q̇.
    pub velocities: Vec<Expr<'g>>,
    /// Momenta p.
    pub momenta: Vec<Expr<'g>>,
    /// Particles.
    pub particles: Vec<Particle<'g>>,
    /// Kinetic energies T(q, v, t), by name.
    pub kinetic: Vec<Term<'g>>,
    /// Potential energies V(q, t), by name.
    pub potential: Vec<Term<'g>>,
    /// The Rayleigh dissipation functions D(q, v), by name.
    pub dissipation: Vec<Term<'g>>,
    /// Generalized forces Q(q, v, t, u) on each coordinate, those of dissipation included.
    pub forces: Vec<Expr<'g>>,
    /// How the motion is stated.
    pub statement: Statement<'g>,
}

/// How the motion is stated: by a Lagrangian or by a Hamiltonian.
#[derive(Clone, Debug)]
pub enum Statement<'g> {
    /// By a Lagrangian.
    Lagrangian(Lagrangian<'g>),
    /// By a Hamiltonian H(q, p, t).
    Hamiltonian(Expr<'g>),
}

/// What follows from a Lagrangian.
#[derive(Clone, Debug)]
pub struct Lagrangian<'g> {
    /// L(q, v, t).
    pub value: Expr<'g>,
    /// p(q, v, t) = ∂L/∂v.
    pub momenta: Vec<Expr<'g>>,
    /// ∂L/∂q at fixed v.
    pub slopes: Vec<Expr<'g>>,
    /// M(q, t), or M(q, v, t) if L is not quadratic in v.
    pub mass: Lower<'g>,
    /// ∂L/∂q − (∂p/∂q) v − ∂p/∂t: what M q̈ is without generalized forces.
    pub loads: Vec<Expr<'g>>,
    /// Whether L is quadratic in v, so that v follows from p by a linear solve.
    pub quadratic: bool,
}

impl<'g> Equations<'g> {
    pub(crate) fn derive(model: &Model<'g>) -> Result<Equations<'g>, ModelError> {
        check::names(model)?;
        let graph = model.graph;
        let coordinates = model.coordinates.clone();
        let velocities: Vec<_> = coordinates.iter().map(|&q| rate(q)).collect();
        let momenta = if model.momenta.is_empty() {
            coordinates.iter().map(|q| graph.symbol(&format!("p_{q}"))).collect()
        } else {
            model.momenta.clone()
        };

        let mut kinetic = Vec::new();
        for particle in &model.particles {
            let speeds = model.along(&particle.position);
            let squares = particle.inertias.iter().zip(&speeds).map(|(&m, &v)| m * (v * v));
            kinetic.push(Term { name: particle.name.clone(), value: 0.5 * graph.sum(squares) });
        }
        kinetic.extend(model.kinetic.iter().cloned());
        let mut potential = Vec::new();
        if !model.gravity.is_empty() {
            for particle in &model.particles {
                let parts = particle.inertias.iter().zip(&particle.position).zip(&model.gravity);
                let value = -graph.sum(parts.map(|((&m, &x), &g)| m * g * x));
                potential.push(Term { name: format!("gravity on {}", particle.name), value });
            }
        }
        potential.extend(model.potential.iter().cloned());

        let mut forces = vec![graph.number(0.0); coordinates.len()];
        for term in &model.dissipation {
            for (force, slope) in forces.iter_mut().zip(term.value.gradient(&velocities)) {
                *force -= slope;
            }
        }
        for &(coordinate, value) in &model.forces {
            if let Some(i) = coordinates.iter().position(|&q| q == coordinate) {
                forces[i] += value;
            }
        }

        let statement = if model.hamiltonian.is_empty() {
            Statement::Lagrangian(Lagrangian::derive(model, &kinetic, &potential, &velocities))
        } else {
            let terms = model.hamiltonian.iter().chain(&potential).map(|t| t.value);
            Statement::Hamiltonian(graph.sum(terms))
        };
        let equations = Equations {
            graph,
            time: model.time,
            parameters: model.parameters.clone(),
            inputs: model.inputs.clone(),
            coordinates,
            velocities,
            momenta,
            particles: model.particles.clone(),
            kinetic,
            potential,
            dissipation: model.dissipation.clone(),
            forces,
            statement,
        };
        check::inertia(&equations)?;
        Ok(equations)
    }

    /// The number of coordinates.
    #[must_use]
    pub fn degrees(&self) -> usize {
        self.coordinates.len()
    }

    /// v(q, p, t), where it can be written down: always for a Hamiltonian, and for a Lagrangian that is quadratic in v and
    /// has few enough coordinates.
    #[must_use]
    pub fn velocities_of_momenta(&self) -> Option<Vec<Expr<'g>>> {
        match &self.statement {
            Statement::Hamiltonian(h) => Some(h.gradient(&self.momenta)),
            Statement::Lagrangian(l) if l.quadratic && self.degrees() <= UNROLLED => {
                let at_rest = l.momenta_at_rest(&self.velocities);
                let moving = self.momenta.iter().zip(at_rest).map(|(&p, a)| p - a).collect();
                Some(Factor::new(&l.mass).solve(moving))
            }
            Statement::Lagrangian(_) => None,
        }
    }

    /// (q̇, ṗ) as functions of (q, p, t, u), where they can be written down.
    #[must_use]
    pub fn phase_field(&self) -> Option<(Vec<Expr<'g>>, Vec<Expr<'g>>)> {
        let rates = self.velocities_of_momenta()?;
        let known: Vec<_> = self.velocities.iter().copied().zip(rates.iter().copied()).collect();
        let forces = self.forces.iter().map(|f| f.substitute(&known));
        let pushes: Vec<Expr<'g>> = match &self.statement {
            Statement::Hamiltonian(h) => {
                h.gradient(&self.coordinates).into_iter().zip(forces).map(|(slope, f)| f - slope).collect()
            }
            Statement::Lagrangian(l) => {
                l.slopes.iter().zip(forces).map(|(slope, f)| slope.substitute(&known) + f).collect()
            }
        };
        Some((rates, pushes))
    }

    /// H(q, p, t), where it can be written down.
    #[must_use]
    pub fn hamiltonian(&self) -> Option<Expr<'g>> {
        match &self.statement {
            Statement::Hamiltonian(h) => Some(*h),
            Statement::Lagrangian(l) => {
                let rates = self.velocities_of_momenta()?;
                let known: Vec<_> = self.velocities.iter().copied().zip(rates.iter().copied()).collect();
                let products = self.momenta.iter().zip(&rates).map(|(&p, &v)| p * v);
                Some(self.graph.sum(products) - l.value.substitute(&known))
            }
        }
    }

    /// The energy as a function of (q, v, t): v·∂L/∂v − L.
    #[must_use]
    pub fn energy_of_velocities(&self) -> Option<Expr<'g>> {
        match &self.statement {
            Statement::Hamiltonian(_) => None,
            Statement::Lagrangian(l) => {
                let products = l.momenta.iter().zip(&self.velocities).map(|(&p, &v)| p * v);
                Some(self.graph.sum(products) - l.value)
            }
        }
    }

    /// q̈ as functions of (q, v, t, u), where they can be written down.
    #[must_use]
    pub fn accelerations(&self) -> Option<Vec<Expr<'g>>> {
        match &self.statement {
            Statement::Lagrangian(l) if self.degrees() <= UNROLLED => {
                let loads = l.loads.iter().zip(&self.forces).map(|(&load, &force)| load + force).collect();
                Some(Factor::new(&l.mass).solve(loads))
            }
            _ => None,
        }
    }

    /// Whether H = T(p, t) + V(q, t): what explicit symplectic methods need. Decided from the expressions.
    #[must_use]
    pub fn is_separable(&self) -> bool {
        match &self.statement {
            Statement::Hamiltonian(h) => {
                jacobian(&h.gradient(&self.momenta), &self.coordinates).is_empty()
            }
            Statement::Lagrangian(l) => {
                // p must not mix q and v: neither the mass matrix nor the momenta at rest depend on q.
                l.quadratic && jacobian(&l.momenta, &self.coordinates).is_empty()
            }
        }
    }
}

impl<'g> Lagrangian<'g> {
    fn derive(model: &Model<'g>, kinetic: &[Term<'g>], potential: &[Term<'g>], v: &[Expr<'g>]) -> Lagrangian<'g> {
        let graph = model.graph;
        let q = &model.coordinates;
        let sum = |terms: &[Term<'g>]| graph.sum(terms.iter().map(|t| t.value));
        let value = sum(kinetic) - sum(potential) + sum(&model.lagrangian);
        // What particles do not cover: energies written directly.
        let direct = sum(&model.kinetic) + sum(&model.lagrangian);

        let positions: Vec<_> = model.particles.iter().flat_map(|p| p.position.iter().copied()).collect();
        let inertias: Vec<_> = model.particles.iter().flat_map(|p| p.inertias.iter().copied()).collect();
        let speeds = model.along(&positions);
        let accelerations_at_rest = model.along(&speeds);
        let weighted = |rates: &[Expr<'g>]| -> Vec<Expr<'g>> {
            inertias.iter().zip(rates).map(|(&m, &x)| m * x).collect()
        };

        let direct_momenta = direct.gradient(v);
        let momenta: Vec<_> = if positions.is_empty() {
            direct_momenta.clone()
        } else {
            add(&vjp(&positions, q, &weighted(&speeds)), &direct_momenta)
        };
        let slopes = value.gradient(q);
        let mass = add_lower(particle_mass(graph, &positions, &inertias, q), direct.hessian(v));
        let quadratic = !mass.iter().flatten().any(|entry| depends(*entry, v));

        let moving = model.along(&direct_momenta);
        let still = (direct - sum(potential)).gradient(q);
        let mut loads: Vec<_> = still.iter().zip(&moving).map(|(&slope, &rate)| slope - rate).collect();
        if !positions.is_empty() {
            let inertial = vjp(&positions, q, &weighted(&accelerations_at_rest));
            loads = loads.iter().zip(inertial).map(|(&load, f)| load - f).collect();
        }
        Lagrangian { value, momenta, slopes, mass, loads, quadratic }
    }

    /// a(q, t) = p at v = 0.
    pub(crate) fn momenta_at_rest(&self, velocities: &[Expr<'g>]) -> Vec<Expr<'g>> {
        let rest: Vec<_> = velocities.iter().map(|&v| (v, v.like(0.0))).collect();
        self.momenta.iter().map(|p| p.substitute(&rest)).collect()
    }
}

impl<'g> Model<'g> {
    /// The rate of change along the motion at constant velocity: ∂/∂q · v + ∂/∂t.
    fn along(&self, expressions: &[Expr<'g>]) -> Vec<Expr<'g>> {
        let moving = self.coordinates.iter().map(|&q| (q, rate(q)));
        let direction: Vec<_> = moving.chain([(self.time, self.time.like(1.0))]).collect();
        jvp(expressions, &direction)
    }
}

/// The velocity of a coordinate.
pub(crate) fn rate(coordinate: Expr<'_>) -> Expr<'_> {
    coordinate.dot().unwrap_or(coordinate)
}

pub(crate) fn depends(e: Expr<'_>, on: &[Expr<'_>]) -> bool {
    e.free_symbols().iter().any(|s| on.contains(s))
}

fn add<'g>(a: &[Expr<'g>], b: &[Expr<'g>]) -> Vec<Expr<'g>> {
    a.iter().zip(b).map(|(&a, &b)| a + b).collect()
}

/// Jᵀ m J, particle coordinate by particle coordinate.
fn particle_mass<'g>(graph: &'g Graph, positions: &[Expr<'g>], inertias: &[Expr<'g>], q: &[Expr<'g>]) -> Lower<'g> {
    let mut rows: Vec<Vec<(usize, Expr<'g>)>> = vec![Vec::new(); positions.len()];
    for Entry { row, column, value } in jacobian(positions, q) {
        rows[row].push((column, value));
    }
    let mut mass: Lower<'g> = (0..q.len()).map(|i| vec![graph.number(0.0); i + 1]).collect();
    for (row, &m) in rows.iter().zip(inertias) {
        for &(i, a) in row {
            for &(j, b) in row.iter().filter(|(j, _)| *j <= i) {
                mass[i][j] += m * (a * b);
            }
        }
    }
    mass
}

fn add_lower<'g>(mut matrix: Lower<'g>, entries: Vec<Entry<'g>>) -> Lower<'g> {
    for Entry { row, column, value } in entries {
        matrix[row][column] += value;
    }
    matrix
}
