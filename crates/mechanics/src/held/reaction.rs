//! Reactions: the forces with which coordinates are held.
//!
//! For a held coordinate the equation of motion gives the force: $R=\dot p-\partial L/\partial q-Q+G^\mathsf{T}\lambda$, where L is the Lagrangian in which
//! it still is a coordinate. Accelerations and multipliers enter linearly; they are put in as numbers.

use crate::constraint::Level;
use crate::dynamics::Dynamics;
use crate::engine::check;
use crate::equations::rate;
use crate::error::{EvalError, ModelError};
use crate::inverse::grow;
use crate::lumped::split::LumpedNodes;
use crate::model::{Model, Term};
use crate::quantity::Quantity;
use leastaction_expr::{Direction, Entry, Expr, Id, Variables, jacobian, rebind, substitute};
use rustc_hash::FxHashMap;

/// The forces with which coordinates are held, as functions of (q, v, t, u), without energies that are no formulas.
#[derive(Clone, Debug, Default)]
pub struct Reactions<'g> {
    /// For each held coordinate its force where nothing accelerates, and without constraints.
    pub values: Vec<Expr<'g>>,
    /// What accelerations add: for a held coordinate (row) and a free one (column), the entry of the mass matrix.
    pub inertia: Vec<Entry<'g>>,
    /// What multipliers add: for a constraint (row) and a held coordinate (column), its slope.
    pub slopes: Vec<Entry<'g>>,
    /// The power that dissipation takes from held coordinates, if there are any.
    pub lost: Option<Expr<'g>>,
}

rebind!(Reactions { values, inertia, slopes, lost });

/// Where the entries of [`Quantity::Reactions`] after the forces belong.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReactionLayout {
    held: usize,
    /// A held coordinate, and a free one.
    inertia: Vec<(usize, usize)>,
    /// A constraint, and a held coordinate.
    slopes: Vec<(usize, usize)>,
}

impl<'g> Reactions<'g> {
    /// Of a model as it was written, and with held coordinates taken out; `constraints` are those that are left, by name.
    pub(crate) fn derive(
        written: &Model<'g>,
        held: &Model<'g>,
        constraints: &[(&str, Level)],
    ) -> Result<Reactions<'g>, ModelError> {
        if held.held.is_empty() {
            return Ok(Reactions::default());
        }
        let free = written.substituted()?;
        let (graph, time) = (free.graph, free.time);
        let on: Vec<_> = held.held.iter().map(|(q, _)| *q).collect();
        let speeds: Vec<_> = on.iter().map(|&q| rate(q)).collect();
        let (places, fast) = (Variables::new(graph, &on), Variables::new(graph, &speeds));
        let zero = graph.number(0.0);
        let spread = |slopes: Vec<(usize, Expr<'g>)>| {
            let mut all = vec![zero; on.len()];
            slopes.into_iter().for_each(|(i, slope)| all[i] += slope);
            all
        };
        let terms = free.kinetic_terms();
        let terms = terms.iter().chain(&free.lagrangian).map(|term| term.value);
        let potential = free.potential_terms();
        let potential = potential.iter().filter_map(crate::Potential::formula).map(|value| -value);
        let lagrangian = graph.sum(terms.chain(potential));
        let momenta = spread(fast.gradient(lagrangian));

        // What is known of held coordinates.
        let known: FxHashMap<Id, Expr<'g>> =
            held.known.iter().map(|(name, value)| (name.id(), *value)).collect();
        let pushed = speeds.iter().map(|v| (*v, known[&v.id()].derivative(time)));
        let moving = free.coordinates.iter().map(|&q| (q, rate(q))).chain(pushed);
        let along = Direction::new(graph, moving.chain([(time, graph.number(1.0))]));
        let mut values = along.derivatives(&momenta);
        let slopes = spread(places.gradient(lagrangian));
        values.iter_mut().zip(slopes).for_each(|(value, slope)| *value -= slope);
        let mut lost = zero;
        for (i, slope) in free.dissipation.iter().flat_map(|term| fast.gradient(term.value)) {
            values[i] += slope;
            lost += slope * speeds[i];
        }
        let numbers: FxHashMap<Id, usize> = on.iter().map(|q| q.id()).zip(0..).collect();
        for (coordinate, force) in &free.forces {
            numbers.get(&coordinate.id()).into_iter().for_each(|&i| values[i] -= *force);
        }

        let velocities: Vec<_> = held.coordinates.iter().map(|&q| rate(q)).collect();
        let mut inertia = jacobian(&momenta, &velocities);
        let named: FxHashMap<&str, Expr<'g>> =
            free.constraints.iter().map(|Term { name, value }| (name.as_str(), *value)).collect();
        let mut slopes = Vec::new();
        for (row, (name, level)) in constraints.iter().enumerate() {
            let Some(&value) = named.get(name) else { continue };
            let by = if *level == Level::Position { &places } else { &fast };
            let entry = |(column, value)| Entry { row, column, value };
            slopes.extend(by.gradient(value).into_iter().map(entry));
        }
        let all: Vec<_> =
            values.iter().copied().chain(inertia.iter().chain(&slopes).map(|e| e.value)).collect();
        let lost = lost.substitute(&held.known);
        let all = substitute(&all, &held.known);
        let (values, rest) = all.split_at(on.len());
        inertia.iter_mut().chain(&mut slopes).zip(rest).for_each(|(entry, value)| entry.value = *value);
        let present = |entry: &Entry<'g>| entry.value.as_number() != Some(0.0);
        inertia.retain(present);
        slopes.retain(present);
        Ok(Reactions { values: values.to_vec(), inertia, slopes, lost: Some(lost) })
    }

    /// What [`Quantity::Reactions`] is.
    pub(crate) fn outputs(&self) -> Vec<Expr<'g>> {
        let entries = self.inertia.iter().chain(&self.slopes).map(|entry| entry.value);
        self.values.iter().copied().chain(entries).collect()
    }

    /// Where they belong among so many held coordinates; nodes may be among these, and among the coordinates.
    pub(crate) fn layout(&self, held: usize, nodes: Option<&LumpedNodes<'g>>) -> ReactionLayout {
        let row = |row: usize| nodes.map_or(row, |nodes| nodes.formula_held[row] as usize);
        let column = |column: usize| nodes.map_or(column, |nodes| nodes.formula[column] as usize);
        ReactionLayout {
            held,
            inertia: self.inertia.iter().map(|entry| (row(entry.row), column(entry.column))).collect(),
            slopes: self.slopes.iter().map(|entry| (entry.row, row(entry.column))).collect(),
        }
    }
}

impl ReactionLayout {
    pub(crate) fn len(&self) -> usize {
        self.held + self.inertia.len() + self.slopes.len()
    }
}

/// Working memory for reactions.
#[derive(Clone, Default)]
pub(crate) struct ReactionMemory {
    values: Vec<f64>,
    configuration: Vec<f64>,
    /// Accelerations, and multipliers.
    accelerations: Vec<f64>,
    multipliers: Vec<f64>,
    each: Vec<f64>,
}

impl Dynamics {
    /// The forces at y with which held coordinates are held, in the order of [`System::held`](crate::System::held): what acts on them from outside.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit, or velocities do not follow from momenta.
    pub fn reactions(&mut self, t: &[f64], y: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        self.engine.check_block(t, y)?;
        let system = self.system().clone();
        let (layout, width, half) = (system.reaction_layout(), t.len(), y.len() / 2);
        check("reactions", layout.held * width, out.len())?;
        if out.is_empty() {
            return Ok(());
        }
        let mut memory = std::mem::take(&mut self.reaction);
        let ReactionMemory { values, configuration, accelerations, multipliers, .. } = &mut memory;
        grow(values, layout.len() * width);
        grow(configuration, y.len());
        let (values, z) = (&mut values[..layout.len() * width], &mut configuration[..y.len()]);
        let mut status = self.turn(Dynamics::velocities, t, y);
        z.copy_from_slice(&self.other[..y.len()]);
        status = self.engine.eval(Quantity::Reactions, t, z, values).and(status);
        let (forces, entries) = values.split_at(layout.held * width);
        out.copy_from_slice(forces);
        let (inertia, slopes) = entries.split_at(layout.inertia.len() * width);
        let shares_masses = system.lumped().is_some_and(|lumped| lumped.is_coupled());
        if !layout.inertia.is_empty() || shares_masses {
            grow(accelerations, half);
            let a = &mut accelerations[..half];
            status = self.accelerations(t, z, a).and(status);
            if let Some(lumped) = self.engine.lumped.as_deref_mut().filter(|_| shares_masses) {
                status = lumped.add_shared_reactions(t, z, a, out).and(status);
            }
            for (&(row, column), entry) in layout.inertia.iter().zip(inertia.chunks_exact(width)) {
                add(out, row, entry, a, column);
            }
        }
        if !layout.slopes.is_empty() {
            let rows = system.constraints().len() * width;
            grow(multipliers, rows);
            let lambda = &mut multipliers[..rows];
            status = self.multipliers(t, y, lambda).and(status);
            for (&(row, column), entry) in layout.slopes.iter().zip(slopes.chunks_exact(width)) {
                add(out, column, entry, lambda, row);
            }
        }
        self.reaction = memory;
        status
    }

    /// The sum of the forces at y with which coordinates are held under one name, by its place among
    /// [`System::holds`](crate::System::holds).
    pub(crate) fn reaction(
        &mut self,
        hold: usize,
        t: &[f64],
        y: &[f64],
        out: &mut [f64],
    ) -> Result<(), EvalError> {
        let (system, width) = (self.system().clone(), t.len());
        let mut each = std::mem::take(&mut self.reaction.each);
        grow(&mut each, system.held().len() * width);
        let status = self.reactions(t, y, &mut each[..system.held().len() * width]);
        out.fill(0.0);
        for ((_, by), force) in system.held().iter().zip(each.chunks_exact(width)) {
            if *by == system.holds()[hold] {
                out.iter_mut().zip(force).for_each(|(sum, force)| *sum += force);
            }
        }
        self.reaction.each = each;
        status
    }
}

/// Adds an entry, one for each lane, times a row.
fn add(out: &mut [f64], to: usize, entry: &[f64], of: &[f64], from: usize) {
    let width = entry.len();
    for (lane, entry) in entry.iter().enumerate() {
        out[to * width + lane] += entry * of[from * width + lane];
    }
}
