//! Named expressions put in place of their names.

use crate::equations::{motion, rate, symbols_of};
use crate::error::ModelError;
use crate::model::{Model, Particle, Term};
use leastaction_expr::{Expr, Id, Substitution};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

impl<'g> Model<'g> {
    /// The model with every defined name, and its time derivative, replaced by what it stands for.
    pub(crate) fn resolved(&self) -> Result<Model<'g>, ModelError> {
        let mut model = self.clone();
        model.hold()?;
        model.substituted()
    }

    pub(crate) fn substituted(&self) -> Result<Model<'g>, ModelError> {
        if self.definitions.is_empty() {
            return Ok(self.clone());
        }
        let velocities: HashSet<Id> = self.coordinates.iter().map(|&q| rate(q).id()).collect();
        let motion = motion(&self.coordinates, self.time);
        let mut known = Substitution::new(self.graph);
        let mut list = Vec::new();
        for index in order(&self.definitions)? {
            let (name, value) = self.definitions[index];
            let value = known.apply(&[value])[0];
            let mut know = |name, value| {
                known.replace(name, value);
                list.push((name, value));
            };
            know(name, value);
            // The rate of what depends on velocities would need accelerations; its name then stays unknown.
            if !symbols_of(&[value]).iter().any(|s| velocities.contains(&s.id())) {
                let rates = motion.derivatives(&[value]);
                name.dot().into_iter().zip(rates).for_each(|(name, rate)| know(name, rate));
            }
        }
        let replace = |e: &mut Expr<'g>| *e = known.apply(&[*e])[0];
        let replace_all = |list: &mut Vec<Expr<'g>>| *list = known.apply(list);
        let mut model = self.clone();
        for Particle { inertias, position, .. } in &mut model.particles {
            replace_all(inertias);
            replace_all(position);
        }
        replace_all(&mut model.gravity);
        let terms = [
            &mut model.kinetic,
            &mut model.potential,
            &mut model.lagrangian,
            &mut model.hamiltonian,
            &mut model.dissipation,
            &mut model.constraints,
        ];
        for Term { value, .. } in terms.into_iter().flatten() {
            replace(value);
        }
        for (_, force) in &mut model.forces {
            replace(force);
        }
        model.known = list;
        Ok(model)
    }
}

/// The definitions in an order in which each uses only earlier ones.
fn order(definitions: &[(Expr<'_>, Expr<'_>)]) -> Result<Vec<usize>, ModelError> {
    // Definitions by name and by time derivative.
    let names = definitions.iter().map(|(name, _)| *name).zip(0..);
    let names =
        names.flat_map(|(name, i)| [Some(name), name.dot()].into_iter().flatten().map(move |n| (n.id(), i)));
    let names: HashMap<Id, usize> = names.collect();
    let mut uses: Vec<Vec<usize>> = Vec::with_capacity(definitions.len());
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); definitions.len()];
    for (i, (_, value)) in definitions.iter().enumerate() {
        let mut used: Vec<usize> =
            symbols_of(&[*value]).iter().filter_map(|s| names.get(&s.id()).copied()).collect();
        used.sort_unstable();
        used.dedup();
        used.iter().for_each(|&j| users[j].push(i));
        uses.push(used);
    }
    let mut missing: Vec<usize> = uses.iter().map(Vec::len).collect();
    let ready = (0..definitions.len()).filter(|&i| missing[i] == 0);
    let mut ready: BinaryHeap<Reverse<usize>> = ready.map(Reverse).collect();
    let mut order: Vec<usize> = Vec::with_capacity(definitions.len());
    while let Some(Reverse(next)) = ready.pop() {
        order.push(next);
        for &user in &users[next] {
            missing[user] -= 1;
            if missing[user] == 0 {
                ready.push(Reverse(user));
            }
        }
    }
    if order.len() < definitions.len() {
        return Err(ModelError::Cycle { names: cycle(definitions, &uses, &order) });
    }
    Ok(order)
}

/// A round trip through definitions that are not done, each of which uses another of them.
fn cycle(definitions: &[(Expr<'_>, Expr<'_>)], uses: &[Vec<usize>], done: &[usize]) -> Vec<String> {
    let mut path: Vec<usize> = (0..definitions.len()).filter(|i| !done.contains(i)).take(1).collect();
    loop {
        let next = path.last().and_then(|&i| uses[i].iter().copied().find(|j| !done.contains(j)));
        let start = path.iter().position(|&i| Some(i) == next);
        if let (None, Some(next)) = (start, next) {
            path.push(next);
        } else {
            return path[start.unwrap_or(0)..].iter().map(|&i| definitions[i].0.to_string()).collect();
        }
    }
}
