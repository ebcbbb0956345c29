//! What follows from a Lagrangian by differentiation, and how its mass matrix is inverted.
//!
//! Particles at x = f(q, t) of inertias m need no second derivatives of f: ẋ = ∂f/∂q v + ∂f/∂t is one forward sweep,
//! M = Jᵀ m J, p = Jᵀ m ẋ is one reverse sweep, and so is the configuration-space load Jᵀ m (g − ẍ₀), where ẍ₀ = d²f/dt² at
//! q̈ = 0 is a second forward sweep.

use crate::check;
use crate::equations::{along, depend, rate};
use crate::error::ModelError;
use crate::matrix::Symmetric;
use crate::model::{Model, Term};
use crate::probe::Probe;
use leastaction_expr::{Entry, Expr, jacobian, substitute, vjp};
use std::collections::BTreeMap;

/// What follows from a Lagrangian.
#[derive(Clone, Debug)]
pub struct Lagrangian<'g> {
    /// L(q, v, t).
    pub value: Expr<'g>,
    /// The energy v·∂L/∂v − L as a function of (q, v, t).
    pub energy: Expr<'g>,
    /// p(q, v, t) = ∂L/∂v.
    pub momenta: Vec<Expr<'g>>,
    /// ∂L/∂q at fixed v.
    pub slopes: Vec<Expr<'g>>,
    /// M(q, t), or M(q, v, t) if L is not quadratic in v.
    pub mass: Symmetric<'g>,
    /// ∂L/∂q − (∂p/∂q) v − ∂p/∂t: what M q̈ is without generalized forces.
    pub loads: Vec<Expr<'g>>,
    /// Whether L is quadratic in v, so that v follows from p by a linear solve.
    pub quadratic: bool,
    /// How to solve with M.
    pub(crate) inversion: Inversion,
}

/// How to solve with the mass matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Inversion {
    /// By LDLᵀ written out as expressions, in this order.
    Unrolled(Vec<usize>),
    /// By LDLᵀ of numbers.
    Definite,
    /// By LU with pivots, of numbers.
    Indefinite,
}

impl<'g> Lagrangian<'g> {
    pub(crate) fn derive(
        model: &Model<'g>,
        kinetic: &[Term<'g>],
        potential: &[Term<'g>],
    ) -> Result<Lagrangian<'g>, ModelError> {
        let graph = model.graph;
        let (q, time) = (&model.coordinates, model.time);
        let v: Vec<_> = q.iter().map(|&q| rate(q)).collect();
        let sum = |terms: &[Term<'g>]| graph.sum(terms.iter().map(|t| t.value));
        let value = sum(kinetic) - sum(potential) + sum(&model.lagrangian);
        // What particles do not cover: energies written directly.
        let direct = sum(&model.kinetic) + sum(&model.lagrangian);

        // Masses last first, so that the masses beyond a link of a chain are sums that share their parts.
        let massive = || model.particles.iter().rev().filter(|p| !p.inertias.is_empty());
        let positions: Vec<_> = massive().flat_map(|p| p.position.iter().copied()).collect();
        let inertias: Vec<_> = massive().flat_map(|p| p.inertias.iter().copied()).collect();
        let speeds = along(&positions, q, time);
        let weighted =
            |rates: Vec<Expr<'g>>| inertias.iter().zip(rates).map(|(&m, x)| m * x).collect::<Vec<_>>();

        let direct_momenta = direct.gradient(&v);
        let moving = vjp(&positions, q, &weighted(speeds.clone()));
        let momenta = match positions.is_empty() {
            true => direct_momenta.clone(),
            false => moving.iter().zip(&direct_momenta).map(|(&a, &b)| a + b).collect(),
        };
        let mass = mass_matrix(model, direct.hessian(&v));

        // One reverse sweep for all loads: particles push with m (g − ẍ₀), the rest with its slope.
        let falling = massive().flat_map(|p| (0..p.position.len()).map(|d| model.gravity.get(d)));
        let falling = along(&speeds, q, time).into_iter().zip(falling);
        let mut seeds = weighted(falling.map(|(a, g)| g.map_or(-a, |&g| g - a)).collect());
        let outputs: Vec<_> = positions.iter().copied().chain([direct - sum(&model.potential)]).collect();
        seeds.push(graph.number(1.0));
        let inertial = along(&direct_momenta, q, time);
        let loads = vjp(&outputs, q, &seeds).into_iter().zip(inertial).map(|(load, i)| load - i).collect();

        let entries: Vec<_> = mass.entries().map(|(.., value)| value).collect();
        let quadratic = !depend(&entries, &v);
        let probe = Probe::new(graph, &model.parameters);
        let inversion = check::inertia(model, &mass, value, &probe)?;
        let energy = energy(model, kinetic, &v, &probe) + sum(potential);
        let slopes = value.gradient(q);
        Ok(Lagrangian { value, energy, momenta, slopes, mass, loads, quadratic, inversion })
    }

    /// a(q, t) = p at v = 0.
    pub(crate) fn momenta_at_rest(&self, velocities: &[Expr<'g>]) -> Vec<Expr<'g>> {
        let rest: Vec<_> = velocities.iter().map(|&v| (v, v.like(0.0))).collect();
        substitute(&self.momenta, &rest)
    }

    /// The solution of M x = b, where it can be written down.
    pub(crate) fn solve(&self, b: &[Expr<'g>]) -> Option<Vec<Expr<'g>>> {
        match &self.inversion {
            Inversion::Unrolled(order) => Some(self.mass.factor(order)?.solve(b)),
            Inversion::Definite | Inversion::Indefinite => None,
        }
    }
}

/// v·∂T/∂v − T summed over kinetic energies and Lagrangian terms. For what is a quadratic form in v, as nearly always, that is
/// T itself.
fn energy<'g>(model: &Model<'g>, kinetic: &[Term<'g>], v: &[Expr<'g>], probe: &Probe<'g>) -> Expr<'g> {
    let graph = model.graph;
    let share = |term: &Term<'g>| {
        let products = term.value.gradient(v).into_iter().zip(v).map(|(p, &v)| p * v);
        let twice = graph.sum(products);
        if probe.is_zero(twice - 2.0 * term.value) { term.value } else { twice - term.value }
    };
    graph.sum(kinetic.iter().chain(&model.lagrangian).map(share))
}

/// Jᵀ m J of the particles plus the second derivatives of what is written directly.
fn mass_matrix<'g>(model: &Model<'g>, direct: Vec<Entry<'g>>) -> Symmetric<'g> {
    let q = &model.coordinates;
    // Products of slopes before masses: where particles share a product, as those beyond a link do, their masses add up first.
    let mut products: BTreeMap<(usize, usize), Vec<(Expr<'g>, Expr<'g>)>> = BTreeMap::new();
    for particle in model.particles.iter().rev().filter(|p| !p.inertias.is_empty()) {
        let mut rows: Vec<Vec<(usize, Expr<'g>)>> = vec![Vec::new(); particle.position.len()];
        for Entry { row, column, value } in jacobian(&particle.position, q) {
            rows[row].push((column, value));
        }
        let mut own: BTreeMap<(usize, usize), Vec<(Expr<'g>, Expr<'g>)>> = BTreeMap::new();
        for (row, &m) in rows.iter().zip(&particle.inertias) {
            for &(i, a) in row {
                for &(j, b) in row.iter().filter(|(j, _)| *j <= i) {
                    let parts = own.entry((i, j)).or_default();
                    match parts.last_mut().filter(|(_, inertia)| *inertia == m) {
                        Some((product, _)) => *product += a * b,
                        None => parts.push((a * b, m)),
                    }
                }
            }
        }
        for (place, parts) in own {
            let all = products.entry(place).or_default();
            for (product, m) in parts {
                match all.last_mut().filter(|(other, _)| *other == product) {
                    Some((_, inertia)) => *inertia += m,
                    None => all.push((product, m)),
                }
            }
        }
    }
    let mut mass = Symmetric::zero(q.len());
    for ((i, j), parts) in products {
        parts.into_iter().for_each(|(product, m)| mass.add(i, j, m * product));
    }
    direct.into_iter().for_each(|Entry { row, column, value }| mass.add(row, column, value));
    mass
}

impl<'g> Model<'g> {
    /// Kinetic energies: ½ Σ m ẋ² of each particle, then those written directly.
    pub(crate) fn kinetic_terms(&self) -> Vec<Term<'g>> {
        let massive = self.particles.iter().filter(|p| !p.inertias.is_empty());
        let of_particles = massive.map(|particle| {
            let squares = along(&particle.position, &self.coordinates, self.time).into_iter().map(|v| v * v);
            // Squares are added before they are weighted, so that turning vectors fold.
            let mut parts: Vec<(Expr<'g>, Expr<'g>)> = Vec::new();
            for (&m, square) in particle.inertias.iter().zip(squares) {
                match parts.last_mut().filter(|(inertia, _)| *inertia == m) {
                    Some((_, sum)) => *sum += square,
                    None => parts.push((m, square)),
                }
            }
            let value = 0.5 * self.graph.sum(parts.into_iter().map(|(m, sum)| m * sum));
            Term { name: particle.name.clone(), value }
        });
        of_particles.chain(self.kinetic.iter().cloned()).collect()
    }

    /// Potential energies: −Σ m g·x of each particle in gravity, then those written directly.
    pub(crate) fn potential_terms(&self) -> Vec<Term<'g>> {
        let falling = self.particles.iter().filter(|p| !self.gravity.is_empty() && !p.inertias.is_empty());
        let of_gravity = falling.map(|particle| {
            let parts = particle.inertias.iter().zip(&particle.position).zip(&self.gravity);
            let value = -self.graph.sum(parts.map(|((&m, &x), &g)| m * g * x));
            Term { name: format!("gravity on {}", particle.name), value }
        });
        of_gravity.chain(self.potential.iter().cloned()).collect()
    }
}
