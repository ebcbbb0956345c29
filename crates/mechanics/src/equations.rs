//! Equations of motion, derived from a model by differentiation.
//!
//! For a Lagrangian L(q, v, t) with v = q̇, M = ∂²L/∂v² and generalized forces Q:
//!
//! - momenta p = ∂L/∂v; where L is quadratic in v, p = M v + a(q, t), and v = M⁻¹(p − a) by one factorisation;
//! - in phase space ṗ = ∂L/∂q + Q at v(q, p): because ∂H/∂q at fixed p is −∂L/∂q at fixed v, this is one reverse sweep;
//! - in configuration space M q̈ = ∂L/∂q + Q − (∂p/∂q) v − ∂p/∂t, the last two being one forward sweep.
//!
//! For a Hamiltonian H(q, p, t): q̇ = ∂H/∂p, ṗ = −∂H/∂q + Q, two reverse sweeps.
//!
//! (Goldstein, Poole and Safko, *Classical Mechanics*, 3rd ed., ch. 1, 2 and 8.)

use crate::blueprint::REPEATED;
use crate::check;
use crate::constraint::{self, Constraint};
use crate::energy::dissipation::ElementDissipation;
use crate::energy::{Energy, Potential};
use crate::error::ModelError;
use crate::facts::Place;
use crate::held::reaction::Reactions;
use crate::jump;
use crate::lagrangian::Lagrangian;
use crate::lumped::split::{LumpedNodes, Split, split};
use crate::model::{Model, Particle, Term};
use crate::probe::Probe;
use leastaction_expr::{
    Direction, Expr, Glossary, Graph, Id, Node, Rebind, Rebinding, Variables, rebind, substitute,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::sync::Arc;

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
    /// Those that are stated, with what they are: functions of time and parameters.
    pub stated_inputs: Vec<(Expr<'g>, Expr<'g>)>,
    /// Coordinates q. Those of [nodes](Equations::nodes) that are computed from numbers are not among these, nor in anything that follows.
    pub coordinates: Vec<Expr<'g>>,
    /// Velocities v = q̇.
    pub velocities: Vec<Expr<'g>>,
    /// Momenta p.
    pub momenta: Vec<Expr<'g>>,
    /// Particles, and points without mass.
    pub particles: Vec<Particle<'g>>,
    /// All of these, and all nodes, in the order of declaration.
    pub places: Vec<Place>,
    /// Kinetic energies T(q, v, t): those of particles, then those written directly.
    pub kinetic: Vec<Term<'g>>,
    /// Potential energies V(q, t): those of particles in gravity, then those written directly.
    pub potential: Vec<Potential<'g>>,
    /// Terms of a Lagrangian or of a Hamiltonian written directly.
    pub direct: Vec<Term<'g>>,
    /// The generalized force of dissipation on each coordinate, −∂D/∂v.
    pub resistances: Vec<Expr<'g>>,
    /// Dissipation over elements, which is not in these.
    pub losses: Vec<ElementDissipation<'g>>,
    /// The other generalized forces Q(q, v, t, u) on each coordinate.
    pub drives: Vec<Expr<'g>>,
    /// The places of coordinates whose rates are states of first order: what drives these are the rates of the states.
    pub states: Vec<usize>,
    /// Parameters and inputs that events set, as these expressions have them, and the places of the coordinates of the states that have their values along a run.
    pub set: Vec<(Expr<'g>, usize)>,
    /// Constraints: those of positions, then those of velocities.
    pub constraints: Vec<Constraint<'g>>,
    /// Nodes that are computed from numbers, if there are any.
    pub nodes: Option<LumpedNodes<'g>>,
    /// Coordinates that are held, with the names of what holds them. They are not among the coordinates.
    pub held: Vec<(Expr<'g>, String)>,
    /// The forces with which they are held.
    pub reactions: Reactions<'g>,
    /// All coordinates as they were declared, if some are held; empty else.
    pub declared: Vec<Expr<'g>>,
    /// Defined names, held coordinates, and the rates of both, with what they stand for.
    pub definitions: Vec<(Expr<'g>, Expr<'g>)>,
    /// What names mean in expressions that are read later.
    pub names: Arc<Glossary<'g>>,
    /// How the motion is stated.
    pub statement: Statement<'g>,
}

/// How the motion is stated: by a Lagrangian or by a Hamiltonian.
#[derive(Clone, Debug)]
pub enum Statement<'g> {
    /// By a Lagrangian.
    Lagrangian(Lagrangian<'g>),
    /// By a Hamiltonian H(q, p, t). Potential energies that are no formulas are not in it.
    Hamiltonian(Expr<'g>),
}

rebind!(Equations {
    graph,
    time,
    parameters,
    inputs,
    stated_inputs,
    coordinates,
    velocities,
    momenta,
    particles,
    kinetic,
    potential,
    direct,
    resistances,
    losses,
    drives,
    set,
    constraints,
    nodes,
    held,
    reactions,
    declared,
    definitions,
    names,
    statement;
    places, states
});

impl Rebind for Statement<'_> {
    type To<'h> = Statement<'h>;

    fn rebind<'h>(&self, graphs: Rebinding<'_, 'h>) -> Statement<'h> {
        match self {
            Statement::Lagrangian(lagrangian) => Statement::Lagrangian(lagrangian.rebind(graphs)),
            Statement::Hamiltonian(h) => Statement::Hamiltonian(h.rebind(graphs)),
        }
    }
}

impl<'g> Equations<'g> {
    pub(crate) fn derive(written: &Model<'g>) -> Result<Equations<'g>, ModelError> {
        Equations::derive_repeated(written, REPEATED)
    }

    /// As [`Equations::derive`], where so many constraints may read nodes without making particles of them.
    pub(crate) fn derive_repeated(written: &Model<'g>, repeated: usize) -> Result<Equations<'g>, ModelError> {
        jump::check_jumps(written, &[])?;
        let answered = constraint::answer::answered(written)?;
        let written = answered.as_ref().unwrap_or(written);
        let resolved = written.resolved()?;
        check::names(&resolved)?;
        let (held, declared) = (resolved.held.clone(), resolved.declared.clone());
        check::set(&resolved)?;
        let Split { written, model, nodes, places: all_places } = split(written, resolved, repeated)?;
        let model = &model;
        let graph = model.graph;
        let coordinates = model.coordinates.clone();
        let velocities: Vec<_> = coordinates.iter().map(|&q| rate(q)).collect();
        let momenta = model.all_momenta();

        let zero = graph.number(0.0);
        let mut resistances = vec![zero; coordinates.len()];
        let moving = Variables::new(graph, &velocities);
        for term in &model.dissipation {
            moving.gradient(term.value).into_iter().for_each(|(i, slope)| resistances[i] -= slope);
        }
        let mut drives = vec![zero; coordinates.len()];
        let places: FxHashMap<Id, usize> = coordinates.iter().zip(0..).map(|(q, i)| (q.id(), i)).collect();
        for (coordinate, value) in &model.forces {
            // The check of names refuses forces on anything else.
            drives[places[&coordinate.id()]] += *value;
        }
        for (integral, rate) in &model.states {
            drives[places[&integral.id()]] += *rate;
        }

        let kinetic = model.kinetic_terms();
        let potential = model.potential_terms();
        let statement = if model.hamiltonian.is_empty() {
            Statement::Lagrangian(Lagrangian::derive(model, &kinetic, &potential)?)
        } else {
            let formulas = potential.iter().filter_map(Potential::formula);
            let h = graph.sum(model.hamiltonian.iter().map(|t| t.value).chain(formulas));
            let states = model.state_places();
            let others = |list: &[Expr<'g>]| {
                let others = list.iter().enumerate().filter(|(i, _)| !states.contains(i));
                others.map(|(_, symbol)| *symbol).collect::<Vec<_>>()
            };
            check::all_used(&others(&coordinates), &others(&momenta), h)?;
            Statement::Hamiltonian(h)
        };
        let constraints = match nodes.as_ref().filter(|nodes| nodes.constrained) {
            Some(nodes) => constraint::derive(model, &nodes.coordinates)?,
            None => constraint::derive(model, &coordinates)?,
        };
        let left: Vec<_> = constraints.iter().map(|c| (c.name.as_str(), c.level)).collect();
        let reactions = Reactions::derive(&written, model, &left)?;
        Ok(Equations {
            graph,
            time: model.time,
            parameters: model.parameters.clone(),
            inputs: model.inputs.clone(),
            stated_inputs: model.stated_inputs.clone(),
            coordinates,
            velocities,
            momenta,
            particles: model.particles.clone(),
            places: all_places,
            kinetic,
            potential,
            direct: model.lagrangian.iter().chain(&model.hamiltonian).cloned().collect(),
            resistances,
            losses: model.losses.clone(),
            drives,
            states: model.state_places(),
            set: model.set.iter().map(|(symbol, integral)| (*symbol, places[&integral.id()])).collect(),
            constraints,
            nodes,
            held,
            reactions,
            declared,
            definitions: model.known.clone(),
            names: model.names.clone(),
            statement,
        })
    }

    /// The number of coordinates, without those of nodes that are computed from numbers.
    #[must_use]
    pub fn degrees(&self) -> usize {
        self.coordinates.len()
    }

    /// All coordinates, those of nodes too.
    #[must_use]
    pub fn all_coordinates(&self) -> &[Expr<'g>] {
        self.nodes.as_ref().map_or(&self.coordinates, |nodes| &nodes.coordinates)
    }

    /// Where a coordinate stands among all.
    pub(crate) fn place(&self, coordinate: usize) -> usize {
        self.nodes.as_ref().map_or(coordinate, |nodes| nodes.formula[coordinate] as usize)
    }

    /// The coordinates that constraints are functions of, and their velocities.
    pub(crate) fn constrained(&self) -> (&[Expr<'g>], Cow<'_, [Expr<'g>]>) {
        match self.nodes.as_ref().filter(|nodes| nodes.constrained) {
            Some(nodes) => (&nodes.coordinates, nodes.coordinates.iter().map(|&q| rate(q)).collect()),
            None => (&self.coordinates, Cow::Borrowed(&self.velocities)),
        }
    }

    /// Where one of these stands among all coordinates.
    pub(crate) fn constrained_place(&self, coordinate: usize) -> usize {
        match &self.nodes {
            Some(nodes) if nodes.constrained => coordinate,
            _ => self.place(coordinate),
        }
    }

    /// All generalized forces Q(q, v, t, u), those of dissipation included.
    #[must_use]
    pub fn forces(&self) -> Vec<Expr<'g>> {
        self.resistances.iter().zip(&self.drives).map(|(&a, &b)| a + b).collect()
    }

    /// Whether every energy, and all dissipation, is a formula: if not, forces cannot be written down.
    #[must_use]
    pub fn is_symbolic(&self) -> bool {
        let written = self.nodes.is_none() && self.losses.is_empty();
        written && self.potential.iter().all(|potential| potential.formula().is_some())
    }

    /// Which coordinates, of all, energies read that are no formulas.
    pub(crate) fn read_by_others(&self) -> Vec<bool> {
        let mut read = vec![false; self.all_coordinates().len()];
        let reads = self.other_reads();
        reads.for_each(|&i| read.get_mut(i as usize).into_iter().for_each(|read| *read = true));
        read
    }

    /// What held coordinates are, in their order.
    pub(crate) fn held_values(&self) -> Vec<Expr<'g>> {
        let held: FxHashMap<Id, usize> = self.held.iter().map(|(q, _)| q.id()).zip(0..).collect();
        let mut values = vec![self.graph.number(0.0); held.len()];
        for (name, value) in &self.definitions {
            held.get(&name.id()).into_iter().for_each(|&place| values[place] = *value);
        }
        values
    }

    /// The coordinates that are read by what is no formula.
    fn other_reads(&self) -> impl Iterator<Item = &u32> {
        let lost = self.losses.iter().flat_map(|d| d.elements.coordinates.iter());
        self.potential.iter().flat_map(Potential::reads).chain(lost)
    }

    /// Whether held coordinates are read by energies that are no formulas.
    pub(crate) fn others_read_held(&self) -> bool {
        let free = self.all_coordinates().len();
        self.other_reads().any(|&i| i as usize >= free)
    }

    /// Whether an energy depends on time that is no formula.
    pub(crate) fn others_depend_on_time(&self) -> bool {
        let held = self.held_values();
        let free = self.all_coordinates().len();
        let held_reads = self.other_reads().filter(|&&i| i as usize >= free);
        let read: FxHashSet<u32> = held_reads.copied().collect();
        let read: Vec<_> = read.into_iter().map(|i| held[i as usize - free]).collect();
        depend(&read, &[self.time])
            || self.losses.iter().any(|d| d.elements.depends_on(self.time))
            || self.nodes.as_ref().is_some_and(|nodes| depend(&nodes.expressions(), &[self.time]))
            || self.potential.iter().any(|potential| match &potential.energy {
                Energy::Formula(_) => false,
                Energy::Elements(elements) => elements.depends_on(self.time),
                Energy::Opaque(opaque) => opaque.time,
            })
    }

    /// v(q, p, t), where it can be written down: always for a Hamiltonian, and for a Lagrangian that is quadratic in v
    /// and whose mass matrix is small or sparse, or whose particles form a tree.
    #[must_use]
    pub fn velocities_of_momenta(&self) -> Option<Vec<Expr<'g>>> {
        match &self.statement {
            Statement::Hamiltonian(h) => Some(self.moving(*h).gradient(&self.momenta)),
            Statement::Lagrangian(l) if l.quadratic => {
                let rest = self.momenta.iter().zip(l.momenta_at_rest(&self.velocities));
                let moving: Vec<_> = rest.map(|(&p, a)| p - a).collect();
                l.solve(&moving)
            }
            Statement::Lagrangian(_) => None,
        }
    }

    /// A Hamiltonian with what makes states move, which is no energy.
    pub(crate) fn moving(&self, h: Expr<'g>) -> Expr<'g> {
        let squares = self.states.iter().map(|&i| 0.5 * (self.momenta[i] * self.momenta[i]));
        self.graph.sum([h].into_iter().chain(squares))
    }

    /// The generalized forces that act on what has energy: not those of states.
    pub(crate) fn working_forces(&self) -> Vec<Expr<'g>> {
        let mut forces = self.forces();
        self.states.iter().for_each(|&i| forces[i] = self.graph.number(0.0));
        forces
    }

    /// (q̇, ṗ) as functions of (q, p, t, u), where they can be written down; without the forces of constraints.
    #[must_use]
    pub fn phase_rates(&self) -> Option<(Vec<Expr<'g>>, Vec<Expr<'g>>)> {
        if self.is_symbolic() { self.formula_phase_rates() } else { None }
    }

    /// As [`Equations::phase_rates`], without energies that are no formulas.
    pub(crate) fn formula_phase_rates(&self) -> Option<(Vec<Expr<'g>>, Vec<Expr<'g>>)> {
        let rates = self.velocities_of_momenta()?;
        let forces = self.in_phase_space(&self.formula_momentum_rates(), &rates);
        Some((rates, forces))
    }

    /// ∂L/∂q + Q as functions of (q, v, t, u), or −∂H/∂q + Q with ∂H/∂q in (q, p, t): what ṗ is without the forces of constraints,
    /// and of energies that are no formulas.
    pub(crate) fn formula_momentum_rates(&self) -> Vec<Expr<'g>> {
        let slopes = match &self.statement {
            Statement::Hamiltonian(h) => h.gradient(&self.coordinates).into_iter().map(|s| -s).collect(),
            Statement::Lagrangian(l) => l.gradient.clone(),
        };
        slopes.into_iter().zip(self.forces()).map(|(slope, force)| slope + force).collect()
    }

    /// H(q, p, t), where it can be written down.
    #[must_use]
    pub fn hamiltonian(&self) -> Option<Expr<'g>> {
        if self.is_symbolic() { self.formula_hamiltonian() } else { None }
    }

    /// As [`Equations::hamiltonian`], without energies that are no formulas.
    pub(crate) fn formula_hamiltonian(&self) -> Option<Expr<'g>> {
        match &self.statement {
            Statement::Hamiltonian(h) => Some(*h),
            Statement::Lagrangian(l) => {
                let rates = self.velocities_of_momenta()?;
                self.in_phase_space(&[l.energy], &rates).first().copied()
            }
        }
    }

    /// q̈ as functions of (q, v, t, u), where they can be written down: for a Lagrangian whose mass matrix is small or sparse, or whose
    /// particles form a tree. Without the forces of constraints.
    #[must_use]
    pub fn accelerations(&self) -> Option<Vec<Expr<'g>>> {
        if self.is_symbolic() { self.formula_accelerations() } else { None }
    }

    /// As [`Equations::accelerations`], without energies that are no formulas.
    pub(crate) fn formula_accelerations(&self) -> Option<Vec<Expr<'g>>> {
        let Statement::Lagrangian(l) = &self.statement else { return None };
        l.accelerations(&self.forces())
    }

    /// Functions of (q, v, t, u) as functions of (q, p, t, u), given v(q, p, t).
    pub(crate) fn in_phase_space(&self, expressions: &[Expr<'g>], rates: &[Expr<'g>]) -> Vec<Expr<'g>> {
        let known: Vec<_> = self.velocities.iter().copied().zip(rates.iter().copied()).collect();
        substitute(expressions, &known)
    }

    pub(crate) fn probe(&self) -> Probe<'g> {
        Probe::new(self.graph, &self.parameters)
    }
}

/// The rate of change along the motion at constant velocity: ∂/∂q · v + ∂/∂t.
pub(crate) fn along<'g>(expressions: &[Expr<'g>], coordinates: &[Expr<'g>], time: Expr<'g>) -> Vec<Expr<'g>> {
    motion(coordinates, time).derivatives(expressions)
}

/// The direction of the motion at constant velocity.
pub(crate) fn motion<'g>(coordinates: &[Expr<'g>], time: Expr<'g>) -> Direction<'g> {
    let moving = coordinates.iter().map(|&q| (q, rate(q)));
    Direction::new(time.graph(), moving.chain([(time, time.like(1.0))]))
}

/// The velocity of a coordinate, or the rate of another symbol.
pub(crate) fn rate(symbol: Expr<'_>) -> Expr<'_> {
    symbol.dot().unwrap_or_else(|| unreachable!("{symbol} is not a symbol: it has no rate of its own"))
}

/// The symbols that expressions depend on, in one walk over what they share.
pub(crate) fn symbols_of<'g>(expressions: &[Expr<'g>]) -> Vec<Expr<'g>> {
    let Some(graph) = expressions.first().map(|e| e.graph()) else { return Vec::new() };
    let ids: Vec<_> = expressions.iter().map(|e| e.id()).collect();
    let symbols = graph.order(&ids).into_iter().filter(|(_, node)| matches!(node, Node::Symbol(_)));
    symbols.map(|(id, _)| graph.at(id)).collect()
}

/// Whether all operators that a symbol reaches in these expressions are smooth.
pub(crate) fn is_smooth_in<'g>(symbol: Expr<'g>, expressions: &[Expr<'g>]) -> bool {
    let ids: Vec<_> = expressions.iter().map(|e| e.id()).collect();
    let mut reached = FxHashSet::from_iter([symbol.id()]);
    for (id, node) in symbol.graph().order(&ids) {
        if let Node::Apply(op, arguments) = node
            && arguments.iter().any(|argument| reached.contains(argument))
        {
            if !op.is_smooth() {
                return false;
            }
            reached.insert(id);
        }
    }
    true
}

/// Whether all operators in these expressions are smooth.
pub(crate) fn is_smooth(expressions: &[Expr<'_>]) -> bool {
    let Some(graph) = expressions.first().map(|e| e.graph()) else { return true };
    let ids: Vec<_> = expressions.iter().map(|e| e.id()).collect();
    graph.order(&ids).into_iter().all(|(_, node)| !matches!(node, Node::Apply(op, _) if !op.is_smooth()))
}

/// Whether any of the expressions depends on any of the symbols.
pub(crate) fn depend<'g>(expressions: &[Expr<'g>], symbols: &[Expr<'g>]) -> bool {
    let symbols: FxHashSet<Id> = symbols.iter().map(|s| s.id()).collect();
    symbols_of(expressions).iter().any(|s| symbols.contains(&s.id()))
}
