//! Named expressions put in place of their names.

use crate::equations::{along, rate, symbols_of};
use crate::error::ModelError;
use crate::model::{Model, Particle, Term};
use leastaction_expr::{Expr, substitute};

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
        let mut known: Vec<(Expr<'g>, Expr<'g>)> = Vec::new();
        for index in order(&self.definitions)? {
            let (name, value) = self.definitions[index];
            let value = value.substitute(&known);
            known.push((name, value));
            // The rate of what depends on velocities would need accelerations; its name then stays unknown.
            if !symbols_of(&[value]).iter().any(|s| self.coordinates.iter().any(|&q| rate(q) == *s)) {
                let rates = along(&[value], &self.coordinates, self.time);
                known.extend(name.dot().zip(rates.first().copied()));
            }
        }
        let replace = |e: &mut Expr<'g>| *e = e.substitute(&known);
        let replace_all = |list: &mut Vec<Expr<'g>>| *list = substitute(list, &known);
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
        model.known = known;
        Ok(model)
    }
}

/// The definitions in an order in which each uses only earlier ones.
fn order(definitions: &[(Expr<'_>, Expr<'_>)]) -> Result<Vec<usize>, ModelError> {
    let uses: Vec<Vec<usize>> = definitions.iter().map(|&(_, value)| used_in(definitions, value)).collect();
    let mut order: Vec<usize> = Vec::new();
    while order.len() < definitions.len() {
        let mut open = (0..definitions.len()).filter(|i| !order.contains(i));
        let Some(next) = open.find(|&i| uses[i].iter().all(|j| order.contains(j))) else {
            return Err(ModelError::Cycle { names: cycle(definitions, &uses, &order) });
        };
        order.push(next);
    }
    Ok(order)
}

/// The definitions that an expression uses, by name or by time derivative.
fn used_in(definitions: &[(Expr<'_>, Expr<'_>)], value: Expr<'_>) -> Vec<usize> {
    let symbols = symbols_of(&[value]);
    let uses = |name: Expr<'_>| symbols.contains(&name) || name.dot().is_some_and(|r| symbols.contains(&r));
    (0..definitions.len()).filter(|&i| uses(definitions[i].0)).collect()
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
