//! What follows from a Lagrangian by differentiation, and how its mass matrix is inverted.
//!
//! Particles at x = f(q, t) of inertias m need no second derivatives of f: ẋ = ∂f/∂q v + ∂f/∂t is one forward sweep,
//! M = Jᵀ m J, p = Jᵀ m ẋ is one reverse sweep, and so is the configuration-space load Jᵀ m (g − ẍ₀), where ẍ₀ = d²f/dt² at
//! q̈ = 0 is a second forward sweep.

use crate::check::gravity_on;
use crate::energy::{Energy, Potential};
use crate::equations::{along, depend, motion, rate};
use crate::error::ModelError;
use crate::inertia;
use crate::matrix::Symmetric;
use crate::model::{Model, Particle, Term};
use crate::probe::Probe;
use crate::tree::Tree;
use leastaction_expr::{Entry, Expr, Id, Node, Variables, operations, rebind, substitute, vjp};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// Up to so many coordinates, a factorisation of their full mass matrix may be shorter than other ways.
const FULL: usize = 12;

/// What follows from a Lagrangian. Potential energies that are no formulas are not in it.
#[derive(Clone, Debug)]
pub struct Lagrangian<'g> {
    /// L(q, v, t).
    pub value: Expr<'g>,
    /// Jacobi's function v·∂L/∂v − L as a function of (q, v, t), which is H; mostly the energy T + V.
    pub energy: Expr<'g>,
    /// Whether it is another one than T + V.
    pub jacobi: bool,
    /// p(q, v, t) = ∂L/∂v.
    pub momenta: Vec<Expr<'g>>,
    /// ∂L/∂q at fixed v.
    pub gradient: Vec<Expr<'g>>,
    /// M(q, t), or M(q, v, t) if L is not quadratic in v.
    pub mass: Symmetric<'g>,
    /// ∂L/∂q − (∂p/∂q) v − ∂p/∂t: what M q̈ is without generalized forces.
    pub loads: Vec<Expr<'g>>,
    /// Whether L is quadratic in v, so that v follows from p by a linear solve.
    pub quadratic: bool,
    /// How to solve with M.
    pub(crate) inversion: Inversion,
    /// A shorter way, if particles form a tree; and what M q̈ is without generalized forces, and without particles.
    pub(crate) tree: Option<Box<(Tree<'g>, Vec<Expr<'g>>)>>,
}

rebind!(Lagrangian { value, energy, momenta, gradient, mass, loads, tree; quadratic, inversion, jacobi });

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
        potential: &[Potential<'g>],
    ) -> Result<Lagrangian<'g>, ModelError> {
        let graph = model.graph;
        let (q, time) = (&model.coordinates, model.time);
        let v: Vec<_> = q.iter().map(|&q| rate(q)).collect();
        let sum = |terms: &[Term<'g>]| graph.sum(terms.iter().map(|t| t.value));
        let formulas = |terms: &[Potential<'g>]| graph.sum(terms.iter().filter_map(Potential::formula));
        let probe = Probe::new(graph, &model.parameters);
        // What particles do not cover: energies written directly.
        let direct = sum(&model.kinetic) + sum(&model.lagrangian);
        // States have inertia without energy, which no particle has.
        let places = model.state_places();
        let of_particles_only = direct.hessian(&v).is_empty() && places.is_empty();
        let tree = if of_particles_only { Tree::find(model) } else { None };
        let mut mass = particle_mass(model, tree.as_ref(), &probe);
        let of_particles = &kinetic[..kinetic.len() - model.kinetic.len()];
        let moving = kinetic_energy(model, &mass, sum(of_particles), &v);
        direct.hessian(&v).into_iter().for_each(|Entry { row, column, value }| mass.add(row, column, value));
        places.iter().for_each(|&i| mass.add(i, i, graph.number(1.0)));
        let value = moving + direct - formulas(potential);
        let gradient = value.gradient(q);

        // Masses last first, so that the masses beyond a link of a chain are sums that share their parts.
        let massive = || model.particles.iter().rev().filter(|p| !p.inertias.is_empty());
        let positions: Vec<_> = massive().flat_map(|p| p.position.iter().copied()).collect();
        let inertias: Vec<_> = massive().flat_map(|p| p.inertias.iter().copied()).collect();
        let speeds = along(&positions, q, time);
        let weighted =
            |rates: Vec<Expr<'g>>| inertias.iter().zip(rates).map(|(&m, x)| m * x).collect::<Vec<_>>();

        // By way of positions, one reverse sweep for all loads: particles push with m (g − ẍ₀), the rest with its slope.
        let direct_momenta = direct.gradient(&v);
        let carried = vjp(&positions, q, &weighted(speeds.clone()));
        let momenta =
            (0..q.len()).map(|i| carried.get(i).map_or(direct_momenta[i], |&p| p + direct_momenta[i]));
        let falling = massive().flat_map(|p| (0..p.position.len()).map(|d| model.gravity.get(d)));
        let falling = along(&speeds, q, time).into_iter().zip(falling);
        let mut seeds = weighted(falling.map(|(a, g)| g.map_or(-a, |&g| g - a)).collect());
        seeds.push(graph.number(1.0));
        let outputs: Vec<_> =
            positions.iter().copied().chain([direct - formulas(&model.potential)]).collect();
        let changes = along(&direct_momenta, q, time);
        let less =
            |pulls: Vec<Expr<'g>>| pulls.into_iter().zip(&changes).map(|(pull, &rate)| pull - rate).collect();
        let loads: Vec<_> = less(vjp(&outputs, q, &seeds));
        let rest: Vec<_> = less((direct - formulas(&model.potential)).gradient(q));
        // By way of L as a whole, which is shorter where the kinetic energy folds.
        let whole_momenta = value.gradient(&v);
        let whole_loads =
            gradient.iter().zip(along(&whole_momenta, q, time)).map(|(&slope, rate)| slope - rate);
        let loads = shorter(loads, whole_loads.collect());
        let mut momenta = shorter(momenta.collect(), whole_momenta);
        places.iter().for_each(|&i| momenta[i] = v[i]);

        let entries: Vec<_> = mass.entries().map(|(.., value)| value).collect();
        let quadratic = !depend(&entries, &v);
        let shape = || {
            let mut equal = model.clone();
            let inertias = equal.particles.iter_mut().flat_map(|p| &mut p.inertias);
            inertias.for_each(|m| *m = m.like(1.0));
            direct.hessian(&v).is_empty().then(|| {
                let mut shape = particle_mass(&equal, None, &probe);
                places.iter().for_each(|&i| shape.add(i, i, graph.number(1.0)));
                shape
            })
        };
        let inversion = inertia::check(model, &mass, value, shape, &probe)?;
        let fast = Variables::new(graph, &v);
        let energy = |part| energy(part, &v, &fast, &probe);
        // Where positions do not depend on time, speeds are linear in v.
        let whole = if depend(&positions, &[time]) { energy(moving) } else { moving };
        let written: Vec<_> = model.kinetic.iter().map(|term| (term.value, energy(term.value))).collect();
        // Where masses depend on velocities, as in relativity, what is written is no kinetic energy: H is the energy there.
        let jacobi = quadratic && (whole != moving || written.iter().any(|(value, energy)| value != energy));
        let terms = model.lagrangian.iter().map(|term| energy(term.value));
        let terms = written.iter().map(|(_, energy)| *energy).chain(terms);
        let energy = graph.sum([whole].into_iter().chain(terms)) + formulas(potential);
        let tree = tree.filter(|_| quadratic && inversion != Inversion::Indefinite);
        let mut lagrangian = Lagrangian {
            value,
            energy,
            jacobi,
            momenta,
            gradient,
            mass,
            loads,
            quadratic,
            inversion,
            tree: None,
        };
        // Few particles are sooner done by their mass matrix.
        let by_mass = if q.len() > FULL { None } else { lagrangian.solve(&v) };
        let fixed: FxHashSet<Id> = model.parameters.iter().map(|(p, _)| p.id()).collect();
        let tree = tree.filter(|tree| {
            let by_tree = tree.solve(&v);
            by_tree.is_some_and(|x| by_mass.is_none_or(|y| work(&x, &fixed) < work(&y, &fixed)))
        });
        lagrangian.tree = tree.map(|tree| Box::new((tree, rest)));
        Ok(lagrangian)
    }

    /// a(q, t) = p at v = 0.
    pub(crate) fn momenta_at_rest(&self, velocities: &[Expr<'g>]) -> Vec<Expr<'g>> {
        let rest: Vec<_> = velocities.iter().map(|&v| (v, v.like(0.0))).collect();
        substitute(&self.momenta, &rest)
    }

    /// q̈ under these generalized forces, where it can be written down.
    pub(crate) fn accelerations(&self, forces: &[Expr<'g>]) -> Option<Vec<Expr<'g>>> {
        let with = |loads: &[Expr<'g>]| loads.iter().zip(forces).map(|(&a, &b)| a + b).collect::<Vec<_>>();
        match &self.tree {
            Some(tree) => tree.0.accelerations(&with(&tree.1)),
            None => self.solve(&with(&self.loads)),
        }
    }

    /// The solution of M x = b, where it can be written down.
    pub(crate) fn solve(&self, b: &[Expr<'g>]) -> Option<Vec<Expr<'g>>> {
        if let Some(tree) = &self.tree {
            return tree.0.solve(b);
        }
        match &self.inversion {
            Inversion::Unrolled(order) => Some(self.mass.factor(order)?.solve(b)),
            Inversion::Definite | Inversion::Indefinite => None,
        }
    }
}

/// Of two lists of expressions for the same, the one with fewer operations.
fn shorter<'g>(a: Vec<Expr<'g>>, b: Vec<Expr<'g>>) -> Vec<Expr<'g>> {
    if operations(&a) <= operations(&b) { a } else { b }
}

/// The number of operations that are left when parameters are known.
fn work(expressions: &[Expr<'_>], parameters: &FxHashSet<Id>) -> usize {
    let Some(graph) = expressions.first().map(|e| e.graph()) else { return 0 };
    let ids: Vec<_> = expressions.iter().map(|e| e.id()).collect();
    let mut moving: FxHashSet<Id> = FxHashSet::default();
    let mut count = 0;
    for (id, node) in graph.order(&ids) {
        let moves = match node {
            Node::Symbol(_) => !parameters.contains(&id),
            _ => node.arguments().iter().any(|argument| moving.contains(argument)),
        };
        if moves {
            moving.insert(id);
            count += usize::from(matches!(node, Node::Apply(..)));
        }
    }
    count
}

/// v·∂T/∂v − T, which for a quadratic form in v, as it nearly always is, is T itself.
fn energy<'g>(value: Expr<'g>, v: &[Expr<'g>], fast: &Variables<'g>, probe: &Probe<'g>) -> Expr<'g> {
    let products = fast.gradient(value).into_iter().map(|(i, p)| p * v[i]);
    let twice = value.graph().sum(products);
    if probe.is_zero(twice - 2.0 * value) { value } else { twice - value }
}

/// The kinetic energy of the particles: by their speeds, or as ½ vᵀ M v where that is shorter, as in coordinates whose lines
/// cross at right angles.
fn kinetic_energy<'g>(
    model: &Model<'g>,
    mass: &Symmetric<'g>,
    by_speeds: Expr<'g>,
    v: &[Expr<'g>],
) -> Expr<'g> {
    let positions: Vec<_> = model.particles.iter().flat_map(|p| p.position.iter().copied()).collect();
    if depend(&positions, &[model.time]) {
        return by_speeds;
    }
    let products = mass.entries().map(|(i, j, m)| {
        let product = m * (v[i] * v[j]);
        if i == j { 0.5 * product } else { product }
    });
    let by_mass = model.graph.sum(products);
    if by_mass.operations() < by_speeds.operations() { by_mass } else { by_speeds }
}

/// Jᵀ m J of the particles, without entries that vanish everywhere.
fn particle_mass<'g>(model: &Model<'g>, tree: Option<&Tree<'g>>, probe: &Probe<'g>) -> Symmetric<'g> {
    let (places, sums): (Vec<_>, Vec<_>) =
        tree.map_or_else(|| masses(model), Tree::masses).into_iter().unzip();
    let mut mass = Symmetric::zero(model.coordinates.len());
    for ((&(i, j), &value), vanishes) in places.iter().zip(&sums).zip(probe.zeros(&sums)) {
        if !vanishes {
            mass.add(i, j, value);
        }
    }
    mass
}

/// The entries of Jᵀ m J on and below the diagonal.
fn masses<'g>(model: &Model<'g>) -> Vec<((usize, usize), Expr<'g>)> {
    let q = Variables::new(model.graph, &model.coordinates);
    // Products of slopes before masses: where particles share a product, as those beyond a link do, their masses add up first.
    let mut products: BTreeMap<(usize, usize), Vec<(Expr<'g>, Expr<'g>)>> = BTreeMap::new();
    for particle in model.particles.iter().rev().filter(|p| !p.inertias.is_empty()) {
        let mut rows: Vec<Vec<(usize, Expr<'g>)>> = vec![Vec::new(); particle.position.len()];
        for Entry { row, column, value } in q.jacobian(&particle.position) {
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
    let sums = products.into_iter().map(|(place, parts)| {
        let terms: Vec<_> = parts.into_iter().map(|(product, m)| m * product).collect();
        (place, terms.into_iter().reduce(|a, b| a + b).unwrap_or_else(|| model.number(0.0)))
    });
    sums.collect()
}

impl<'g> Model<'g> {
    /// Where the coordinates are whose rates are states.
    pub(crate) fn state_places(&self) -> Vec<usize> {
        let is_state = |q: &Expr<'g>| self.states.iter().any(|(integral, _)| integral == q);
        let places = self.coordinates.iter().enumerate().filter(|(_, q)| is_state(q));
        places.map(|(i, _)| i).filter(|_| !self.states.is_empty()).collect()
    }

    /// Kinetic energies: ½ Σ m ẋ² of each particle, then those written directly.
    pub(crate) fn kinetic_terms(&self) -> Vec<Term<'g>> {
        let motion = motion(&self.coordinates, self.time);
        let of_particle = |particle: &Particle<'g>| {
            let squares = motion.derivatives(&particle.position).into_iter().map(|v| v * v);
            // Squares are added before they are weighted, so that turning vectors fold.
            let mut parts: Vec<(Expr<'g>, Expr<'g>)> = Vec::new();
            for (&m, square) in particle.inertias.iter().zip(squares) {
                match parts.last_mut().filter(|(inertia, _)| *inertia == m) {
                    Some((_, sum)) => *sum += square,
                    None => parts.push((m, square)),
                }
            }
            0.5 * self.graph.sum(parts.into_iter().map(|(m, sum)| m * sum))
        };
        let of_particles = self.massive().into_iter().map(|(name, particles)| {
            let value = self.graph.sum(particles.iter().map(of_particle));
            Term { name: name.to_owned(), value }
        });
        of_particles.chain(self.kinetic.iter().cloned()).collect()
    }

    /// Potential energies: −Σ m g·x of each particle in gravity, then those written directly.
    pub(crate) fn potential_terms(&self) -> Vec<Potential<'g>> {
        let weight = |particle: &Particle<'g>| {
            let parts = particle.inertias.iter().zip(&particle.position).zip(&self.gravity);
            -self.graph.sum(parts.map(|((&m, &x), &g)| m * g * x))
        };
        let falling = self.massive().into_iter().filter(|_| !self.gravity.is_empty());
        let of_gravity = falling.map(|(name, particles)| {
            let value = self.graph.sum(particles.iter().map(weight));
            Potential { name: gravity_on(name), energy: Energy::Formula(value) }
        });
        of_gravity.chain(self.potential.iter().cloned()).collect()
    }

    /// Particles with mass, one by one, and those of a group together, even if there are none in it.
    fn massive(&self) -> Vec<(&str, &[Particle<'g>])> {
        let (mut all, mut done): (Vec<(&str, &[Particle<'g>])>, usize) = (Vec::new(), 0);
        let ends = [("", self.particles.len()..self.particles.len())];
        let groups = self.groups.iter().map(|(name, range)| (name.as_str(), range.clone()));
        for (name, range) in groups.chain(ends) {
            let single =
                self.particles[done..range.start].chunks_exact(1).filter(|p| !p[0].inertias.is_empty());
            all.extend(single.map(|particle| (particle[0].name.as_str(), particle)));
            done = range.end;
            if !name.is_empty() {
                all.push((name, &self.particles[range]));
            }
        }
        all
    }
}
