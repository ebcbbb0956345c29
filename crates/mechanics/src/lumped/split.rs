//! Which nodes are left to numbers, and which are particles because a formula reads them.

use super::coupling::Coupling;
use crate::equations::{depend, is_smooth, is_smooth_in, rate, symbols_of};
use crate::error::ModelError;
use crate::facts::Place;
use crate::model::{Model, Particle, Term};
use leastaction_expr::{Expr, Id, rebind, substitute};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::sync::Arc;

/// The nodes of a model whose motion is computed from numbers, and where all coordinates stand.
#[derive(Clone, Debug)]
pub struct LumpedNodes<'g> {
    /// All coordinates that are not held, of formulas and of nodes.
    pub coordinates: Vec<Expr<'g>>,
    /// Their momenta.
    pub momenta: Vec<Expr<'g>>,
    /// Where those of formulas stand among them.
    pub formula: Arc<[u32]>,
    /// Which held coordinates are those of formulas, by their places among all that are held.
    pub formula_held: Arc<[u32]>,
    /// Nodes of one name.
    pub blocks: Vec<LumpedBlock<'g>>,
    /// The acceleration of gravity along each axis, if there is any.
    pub gravity: Vec<Expr<'g>>,
    /// Forces on coordinates of nodes: functions of time and parameters. Held coordinates are counted after the others.
    pub drives: Vec<(usize, Expr<'g>)>,
    /// For each component of each place its coordinate, held ones after the others; and after all these, components of positions that formulas give.
    pub(crate) positions: Arc<[u32]>,
    /// Whether constraints are functions of all coordinates, and not of those of formulas only.
    pub(crate) constrained: bool,
}

/// Nodes of one name, without those that are particles.
#[derive(Clone, Debug)]
pub struct LumpedBlock<'g> {
    /// The name of their energy.
    pub name: String,
    /// The unit of their masses, if they have one.
    pub unit: Option<Expr<'g>>,
    /// The rate at which their momenta decay.
    pub damping: Expr<'g>,
    /// Coordinates with their masses: those that move, then those that are held.
    pub moving: Arc<[LumpedCoordinate]>,
    /// Those that are held, counted after all that move.
    pub held: Arc<[LumpedCoordinate]>,
    /// Their mass matrix, if masses are coupled.
    pub(crate) coupling: Option<Arc<Coupling>>,
}

impl LumpedBlock<'_> {
    /// The entries of the mass matrix on and below the diagonal, in units of the block.
    fn masses(&self) -> Box<dyn Iterator<Item = (usize, usize, f64)> + '_> {
        masses(&self.moving, self.coupling.as_deref())
    }
}

/// The entries of a mass matrix on and below the diagonal, by the places of coordinates.
pub(crate) fn masses<'a>(
    moving: &'a [LumpedCoordinate],
    coupling: Option<&'a Coupling>,
) -> Box<dyn Iterator<Item = (usize, usize, f64)> + 'a> {
    let place = |number: usize| moving[number].place as usize;
    match coupling {
        Some(coupling) => Box::new(coupling.lower().map(move |(i, j, mass)| (place(i), place(j), mass))),
        None => Box::new(moving.iter().map(|c| (c.place as usize, c.place as usize, c.mass))),
    }
}

/// A coordinate of a node.
#[derive(Clone, Copy, Debug)]
pub struct LumpedCoordinate {
    /// Its place among the coordinates.
    pub place: u32,
    /// Its axis: 0, 1 or 2.
    pub axis: u32,
    /// The mass of its node, in units of the block.
    pub mass: f64,
}

rebind!(LumpedNodes { coordinates, momenta, blocks, gravity, drives; formula, formula_held, positions, constrained });
rebind!(LumpedBlock { unit, damping; name, moving, held, coupling });

/// A model of formulas alone, and nodes beside it.
pub(crate) struct Split<'g> {
    /// As it was written, with the nodes that formulas read as particles.
    pub(crate) written: Model<'g>,
    /// The same with held coordinates taken out.
    pub(crate) model: Model<'g>,
    pub(crate) nodes: Option<LumpedNodes<'g>>,
    /// Particles, points and nodes, in the order of declaration.
    pub(crate) places: Vec<Place>,
}

impl<'g> LumpedNodes<'g> {
    /// Where the mass matrix has entries, on and below the diagonal.
    pub(crate) fn masses(&self) -> impl Iterator<Item = (usize, usize)> {
        self.blocks.iter().flat_map(LumpedBlock::masses).map(|(i, j, _)| (i, j))
    }

    /// All expressions that numbers are computed with.
    pub(crate) fn expressions(&self) -> Vec<Expr<'g>> {
        let blocks = self.blocks.iter().flat_map(|block| block.unit.into_iter().chain([block.damping]));
        blocks
            .chain(self.gravity.iter().copied())
            .chain(self.drives.iter().map(|(_, force)| *force))
            .collect()
    }

    /// Whether momenta of nodes decay.
    pub(crate) fn is_damped(&self) -> bool {
        self.blocks.iter().any(|block| block.damping.as_number() != Some(0.0))
    }

    /// Whether rates of damping depend on time.
    pub(crate) fn is_damped_by(&self, time: Expr<'g>) -> bool {
        self.blocks.iter().any(|block| depend(&[block.damping], &[time]))
    }

    /// Whether forces act on nodes that move.
    pub(crate) fn is_driven(&self) -> bool {
        self.drives.iter().any(|(place, _)| *place < self.coordinates.len())
    }

    /// Coordinates along which nothing weighs, by their places.
    pub(crate) fn weightless(&self) -> impl Iterator<Item = usize> {
        let moving = self.blocks.iter().flat_map(|block| block.moving.iter());
        moving.filter(|c| self.is_weightless(c.axis)).map(|c| c.place as usize)
    }

    fn is_weightless(&self, axis: u32) -> bool {
        self.gravity.get(axis as usize).is_none_or(|g| g.as_number() == Some(0.0))
    }

    /// Coordinates on which no weight, no damping and no force acts, by their places.
    pub(crate) fn free(&self) -> impl Iterator<Item = usize> {
        let driven: FxHashSet<usize> = self.drives.iter().map(|(place, _)| *place).collect();
        let undamped = self.blocks.iter().filter(|block| block.damping.as_number() == Some(0.0));
        let moving = undamped.flat_map(|block| block.moving.iter()).filter(|c| self.is_weightless(c.axis));
        moving.map(|c| c.place as usize).filter(move |place| !driven.contains(place))
    }

    /// Whether an expression is of a node that is computed from numbers.
    pub(crate) fn is_read_by(&self, e: Expr<'g>) -> bool {
        let own: FxHashSet<Id> = symbols_of(&[e]).iter().map(|s| s.id()).collect();
        let mut moving = self.blocks.iter().flat_map(|block| block.moving.iter()).map(|c| c.place as usize);
        let symbols = |place: usize| {
            let q = self.coordinates[place];
            [q, rate(q), self.momenta[place]]
        };
        !own.is_empty() && moving.any(|place| symbols(place).iter().any(|symbol| own.contains(&symbol.id())))
    }
}

/// Splits a model as it was written, whose held coordinates are taken out in the other. So many constraints may read nodes without making particles of them.
pub(crate) fn split<'g>(written: &Model<'g>, model: Model<'g>, many: usize) -> Result<Split<'g>, ModelError> {
    let all_places = all_places(&model);
    if model.lumped.is_empty() {
        return Ok(Split { written: written.clone(), model, nodes: None, places: all_places });
    }
    let free = written.substituted()?;
    let known = known_forces(&free);
    let constrained = constraints_read_nodes(&free, &model, many);
    let chosen = Chosen::new(&free, &model, &known, constrained);
    let places = places(&model);
    let all = model.coordinates.len() + model.held.len();
    let mut of_nodes = vec![false; all];
    let mut blocks = Vec::new();
    for (nodes, is_particle) in model.lumped.iter().zip(&chosen.particles) {
        if let (Some(_), Some(node)) = (&nodes.matrix, is_particle.iter().position(|&read| read)) {
            return Err(ModelError::CoupledNode { nodes: nodes.name.clone(), node: nodes.node_name(node) });
        }
        let (mut moving, mut held) = (Vec::new(), Vec::new());
        let (mut numbers, mut held_numbers) = (Vec::new(), Vec::new());
        for (node, &mass) in nodes.masses.iter().enumerate().filter(|(node, _)| !is_particle[*node]) {
            for axis in 0..nodes.width {
                let place = places[nodes.first + node * nodes.width + axis];
                of_nodes[place as usize] = true;
                let coordinate = LumpedCoordinate { place, axis: axis as u32, mass };
                if (place as usize) < model.coordinates.len() {
                    moving.push(coordinate);
                    numbers.push((node as u32, axis as u32));
                } else {
                    held.push(coordinate);
                    held_numbers.push((node as u32, axis as u32));
                }
            }
        }
        let coupling = |matrix| Arc::new(Coupling::new(matrix, nodes.width, &numbers, &held_numbers));
        let coupling = nodes.matrix.as_deref().map(coupling);
        let damping = model.graph.sum(nodes.damping.iter().map(|(_, rate)| *rate));
        blocks.push(LumpedBlock {
            name: nodes.name.clone(),
            unit: nodes.unit,
            damping,
            moving: moving.into(),
            held: held.into(),
            coupling,
        });
    }
    let declared = free.all_coordinates();
    let numbers: FxHashMap<Id, usize> = match known.is_empty() {
        true => FxHashMap::default(),
        false => declared.iter().zip(&places).map(|(q, &place)| (q.id(), place as usize)).collect(),
    };
    let mut drives: Vec<(usize, Expr<'g>)> = Vec::new();
    for (coordinate, force) in &known {
        // The check of names refuses forces on anything else.
        let Some(&place) = numbers.get(coordinate).filter(|place| of_nodes[**place]) else { continue };
        drives.push((place, *force));
    }
    drives.sort_by_key(|(place, _)| *place);

    let core = with_particles(&model, &chosen, declared);
    let positions = positions(&model, &chosen, &places);
    let count = model.coordinates.len();
    let outside = |range: Range<usize>| range.filter(|&place| !of_nodes[place]);
    let nodes = LumpedNodes {
        coordinates: model.coordinates.clone(),
        momenta: model.all_momenta(),
        formula: outside(0..count).map(|place| place as u32).collect(),
        formula_held: outside(count..all).map(|place| (place - count) as u32).collect(),
        blocks,
        gravity: model.gravity.clone(),
        drives,
        positions: positions.into(),
        constrained,
    };
    let core = only(core, &of_nodes);
    let written = match model.held.is_empty() {
        // Nobody asks for it.
        true => core.clone(),
        false => {
            let of_nodes: Vec<bool> = places.iter().map(|&place| of_nodes[place as usize]).collect();
            only(with_particles(&free, &chosen, declared), &of_nodes)
        }
    };
    let any = nodes.blocks.iter().any(|block| !block.moving.is_empty() || !block.held.is_empty());
    Ok(Split { written, model: core, nodes: any.then_some(nodes), places: all_places })
}

/// Whether constraints may read nodes that are computed from numbers. Formulas of few constraints are faster together with those of the masses that they read, and can be differentiated
/// again.
fn constraints_read_nodes<'g>(free: &Model<'g>, model: &Model<'g>, many: usize) -> bool {
    let apart = model.held.is_empty() && model.lumped.iter().all(|nodes| nodes.matrix.is_none());
    let values = || free.constraints.iter().map(|term| term.value).collect::<Vec<_>>();
    free.constraints.len() >= many && apart && is_smooth(&values())
}

/// Particles, points and nodes, in the order of declaration.
fn all_places(model: &Model<'_>) -> Vec<Place> {
    let particle = |p: &Particle<'_>| Place { name: p.name.clone(), dimensions: p.position.len() };
    let (mut places, mut done) = (Vec::with_capacity(model.place_count()), 0);
    for nodes in &model.lumped {
        places.extend(model.particles[done..nodes.after].iter().map(particle));
        done = nodes.after;
        let node = |node| Place { name: nodes.node_name(node), dimensions: nodes.width };
        places.extend((0..nodes.masses.len()).map(node));
    }
    places.extend(model.particles[done..].iter().map(particle));
    places
}

/// Forces that are functions of time and parameters, and smooth, by the coordinate on which they act.
fn known_forces<'g>(free: &Model<'g>) -> FxHashMap<Id, Expr<'g>> {
    let (coordinates, values): (Vec<_>, Vec<_>) = free.forces.iter().copied().unzip();
    let values = substitute(&values, &free.stated_inputs);
    let mut forces: FxHashMap<Id, Expr<'g>> = FxHashMap::default();
    for (coordinate, value) in coordinates.iter().zip(values) {
        forces.entry(coordinate.id()).and_modify(|sum| *sum += value).or_insert(value);
    }
    forces.retain(|_, force| is_known(free, *force));
    forces
}

/// Whether an expression is a smooth function of time and parameters.
fn is_known<'g>(model: &Model<'g>, e: Expr<'g>) -> bool {
    let known = |s: &Expr<'g>| *s == model.time || model.defaults.contains_key(&s.id());
    symbols_of(&[e]).iter().all(known) && is_smooth_in(model.time, &[e])
}

/// Where each declared coordinate stands: those that are held after the others.
fn places(model: &Model<'_>) -> Vec<u32> {
    let declared = model.all_coordinates();
    let held: FxHashMap<Id, u32> = model.held.iter().map(|(q, _)| q.id()).zip(0..).collect();
    let (count, mut next) = (model.coordinates.len() as u32, 0);
    let place = |q: &Expr<'_>| match held.get(&q.id()) {
        Some(&held) => count + held,
        None => {
            next += 1;
            next - 1
        }
    };
    declared.iter().map(place).collect()
}

/// Which nodes are particles.
struct Chosen {
    /// Of each block, for each node.
    particles: Vec<Vec<bool>>,
}

impl Chosen {
    fn new<'g>(
        free: &Model<'g>,
        model: &Model<'g>,
        known: &FxHashMap<Id, Expr<'g>>,
        constrained: bool,
    ) -> Chosen {
        let mut read: Vec<Expr<'g>> = Vec::new();
        for Particle { inertias, position, .. } in &free.particles {
            read.extend(inertias.iter().chain(position));
        }
        let terms = [&free.kinetic, &free.lagrangian, &free.hamiltonian, &free.dissipation];
        let constraints = free.constraints.iter().filter(|_| !constrained);
        read.extend(terms.into_iter().flatten().chain(constraints).map(|term| term.value));
        read.extend(free.potential.iter().filter_map(crate::Potential::formula));
        for (coordinate, force) in free.forces.iter().filter(|(q, _)| !known.contains_key(&q.id())) {
            read.extend([*coordinate, *force]);
        }
        let mut touched: FxHashSet<Id> = symbols_of(&read).iter().map(|symbol| symbol.id()).collect();
        // What is moved has a velocity.
        let held: FxHashMap<Id, Expr<'g>> = match model.held.is_empty() {
            true => FxHashMap::default(),
            false => model.known.iter().map(|(name, value)| (name.id(), *value)).collect(),
        };
        let moved = model.held.iter().filter(|(q, _)| depend(&[held[&q.id()]], &[model.time]));
        touched.extend(moved.map(|(q, _)| q.id()));
        let declared = free.all_coordinates();
        let particles = free.lumped.iter().map(|nodes| {
            let known = |e: &Expr<'g>| is_known(free, *e);
            if !free.gravity.iter().chain(nodes.damping.iter().map(|(_, rate)| rate)).all(known) {
                return vec![true; nodes.masses.len()];
            }
            if touched.is_empty() {
                return vec![false; nodes.masses.len()];
            }
            let own = &declared[nodes.first..][..nodes.masses.len() * nodes.width];
            let is_read = |q: &Expr<'g>| touched.contains(&q.id()) || touched.contains(&rate(*q).id());
            own.chunks_exact(nodes.width).map(|node| node.iter().any(is_read)).collect()
        });
        Chosen { particles: particles.collect() }
    }
}

/// The model with chosen nodes as particles, among the others in the order of declaration.
fn with_particles<'g>(model: &Model<'g>, chosen: &Chosen, declared: &[Expr<'g>]) -> Model<'g> {
    let mut core = model.clone();
    core.particles.clear();
    core.groups.clear();
    let known: FxHashMap<Id, Expr<'g>> = match model.held.is_empty() {
        true => FxHashMap::default(),
        false => model.known.iter().map(|(name, value)| (name.id(), *value)).collect(),
    };
    let mut done = 0;
    for (nodes, is_particle) in model.lumped.iter().zip(&chosen.particles) {
        core.particles.extend_from_slice(&model.particles[done..nodes.after]);
        done = nodes.after;
        let (first, mut power) = (core.particles.len(), model.graph.number(0.0));
        for node in (0..nodes.masses.len()).filter(|&node| is_particle[node]) {
            let own = &declared[nodes.first + node * nodes.width..][..nodes.width];
            let position: Vec<_> = own.iter().map(|q| known.get(&q.id()).copied().unwrap_or(*q)).collect();
            let mass = nodes.mass(node, model.time);
            for &x in &position {
                power += mass * model.velocity(x).pow(2);
            }
            let inertias = vec![mass; nodes.width];
            core.particles.push(Particle { name: nodes.node_name(node), inertias, position });
        }
        core.groups.push((nodes.name.clone(), first..core.particles.len()));
        for (name, rate) in nodes.damping.iter().filter(|_| core.particles.len() > first) {
            core.dissipation.push(Term { name: name.clone(), value: 0.5 * *rate * power });
        }
    }
    core.particles.extend_from_slice(&model.particles[done..]);
    core.lumped.clear();
    core
}

/// Forgets coordinates of nodes, by their places.
fn only<'g>(mut model: Model<'g>, of_nodes: &[bool]) -> Model<'g> {
    let count = model.coordinates.len();
    let mut stay = of_nodes.iter().take(model.momenta.len());
    model.momenta.retain(|_| stay.next() != Some(&true));
    let mut stay = of_nodes.iter();
    model.coordinates.retain(|_| stay.next() != Some(&true));
    let mut stay = of_nodes[count..].iter();
    model.held.retain(|_| stay.next() != Some(&true));
    let own: FxHashSet<Id> = match model.forces.is_empty() {
        true => FxHashSet::default(),
        false => model.coordinates.iter().chain(model.held.iter().map(|(q, _)| q)).map(|q| q.id()).collect(),
    };
    model.forces.retain(|(on, _)| own.contains(&on.id()));
    model
}

/// Where the components of all places are found, in the order of declaration.
fn positions(model: &Model<'_>, chosen: &Chosen, places: &[u32]) -> Vec<u32> {
    let all = (model.coordinates.len() + model.held.len()) as u32;
    let (mut positions, mut formula, mut done) = (Vec::new(), 0, 0);
    let mut written = |count: usize, positions: &mut Vec<u32>| {
        positions.extend((formula..formula + count as u32).map(|component| all + component));
        formula += count as u32;
    };
    for (nodes, is_particle) in model.lumped.iter().zip(&chosen.particles) {
        let before = &model.particles[done..nodes.after];
        before.iter().for_each(|particle| written(particle.position.len(), &mut positions));
        done = nodes.after;
        for node in 0..nodes.masses.len() {
            match is_particle[node] {
                true => written(nodes.width, &mut positions),
                false => positions.extend(&places[nodes.first + node * nodes.width..][..nodes.width]),
            }
        }
    }
    model.particles[done..].iter().for_each(|particle| written(particle.position.len(), &mut positions));
    positions
}
