//! Named expressions put in place of their names.

use crate::energy::{Energy, Potential};
use crate::equations::{motion, rate, symbols_of};
use crate::error::ModelError;
use crate::model::{Model, Particle, Term};
use leastaction_expr::{Expr, Graph, Id, Node, Op, Substitution};
use rustc_hash::{FxHashMap, FxHashSet};

/// An expression of numbers that is less than this part of what it is made of is rounding.
const ROUNDING: f64 = 1e-12;

impl<'g> Model<'g> {
    /// The model with every defined name, and its time derivative, replaced by what it stands for.
    pub(crate) fn resolved(&self) -> Result<Model<'g>, ModelError> {
        let mut model = self.clone();
        model.take_held()?;
        model.substituted()
    }

    pub(crate) fn substituted(&self) -> Result<Model<'g>, ModelError> {
        if self.definitions.is_empty() {
            return Ok(self.clone());
        }
        let motion = motion(&self.coordinates, self.time);
        // Neither velocities nor inputs have rates that are known.
        let rateless = self.coordinates.iter().map(|&q| rate(q)).chain(self.inputs.iter().copied());
        let mut moving: FxHashMap<Id, bool> = rateless.map(|symbol| (symbol.id(), true)).collect();
        let mut known = Substitution::new(self.graph);
        let mut list = Vec::new();
        // Definitions share what they are made of: all that do not need each other are done in one pass.
        for level in levels(self.graph, &self.definitions)? {
            let (names, values): (Vec<_>, Vec<_>) = level.into_iter().map(|i| self.definitions[i]).unzip();
            let values = known.apply(&values);
            let mut know = |name, value| {
                known.replace(name, value);
                list.push((name, value));
            };
            names.iter().zip(&values).for_each(|(&name, &value)| know(name, value));
            // The rate of what depends on velocities would need accelerations, that of inputs theirs; its name then stays unknown.
            spread(self.graph, &values, &mut moving);
            let resting = names.into_iter().zip(values).filter(|(_, value)| !moving[&value.id()]);
            let (names, values): (Vec<_>, Vec<_>) = resting.unzip();
            let rates = motion.derivatives(&values);
            for (name, rate) in names.into_iter().zip(rates) {
                name.dot().into_iter().for_each(|name| know(name, rate));
            }
        }
        let replace = |e: &mut Expr<'g>| *e = known.apply(&[*e])[0];
        let replace_all = |list: &mut Vec<Expr<'g>>| *list = known.apply(list);
        let mut model = self.clone();
        for Particle { inertias, position, .. } in &mut model.particles {
            replace_all(inertias);
            replace_all(position);
        }
        for nodes in &mut model.lumped {
            nodes.unit.iter_mut().for_each(&replace);
            nodes.damping.iter_mut().for_each(|(_, rate)| replace(rate));
        }
        replace_all(&mut model.gravity);
        let terms =
            [&mut model.kinetic, &mut model.lagrangian, &mut model.hamiltonian, &mut model.dissipation];
        for Term { value, .. } in terms.into_iter().flatten() {
            replace(value);
        }
        for Term { value, .. } in &mut model.constraints {
            let written = std::mem::replace(value, known.apply(&[*value])[0]);
            // What was so but for the rounding of numbers, as the length of an axis by sines and cosines, demands nothing.
            if value.as_number().is_some_and(|rest| rest.abs() <= ROUNDING * size(written, &known)) {
                *value = self.graph.number(0.0);
            }
        }
        for Potential { energy, .. } in &mut model.potential {
            match energy {
                Energy::Formula(value) => replace(value),
                Energy::Elements(elements) => elements.expressions_mut().for_each(&replace),
                Energy::Opaque(_) => {}
            }
        }
        let losses = model.losses.iter_mut().flat_map(|d| d.elements.expressions_mut());
        losses.for_each(&replace);
        for (_, value) in model.forces.iter_mut().chain(&mut model.states).chain(&mut model.stated_inputs) {
            replace(value);
        }
        model.known = list;
        Ok(model)
    }
}

/// How large an expression of numbers could be if nothing in its sums cancelled.
fn size<'g>(e: Expr<'g>, known: &Substitution<'g>) -> f64 {
    let (parts, nodes): (Vec<_>, Vec<_>) = e.graph().order(&[e.id()]).into_iter().unzip();
    let values = known.apply(&parts.iter().map(|&id| e.graph().at(id)).collect::<Vec<_>>());
    let mut sizes: FxHashMap<Id, f64> = FxHashMap::default();
    for ((id, node), value) in parts.iter().zip(nodes).zip(values) {
        let value = value.as_number().map_or(0.0, f64::abs);
        let size = match node {
            Node::Apply(Op::Add | Op::Sub, [a, b, _]) => sizes[&a] + sizes[&b],
            Node::Apply(Op::Mul, [a, b, _]) => sizes[&a] * sizes[&b],
            Node::Apply(Op::Neg, [a, ..]) => sizes[&a],
            _ => value,
        };
        sizes.insert(*id, size.max(value));
    }
    sizes[&e.id()]
}

/// Marks what is made of something marked.
fn spread(graph: &Graph, expressions: &[Expr<'_>], marks: &mut FxHashMap<Id, bool>) {
    let roots: Vec<Id> = expressions.iter().map(|e| e.id()).collect();
    for (id, node) in graph.order(&roots) {
        let marked = node.arguments().iter().any(|argument| marks[argument]);
        marks.entry(id).or_insert(marked);
    }
}

/// The definitions in levels, each of which uses only earlier ones.
fn levels(graph: &Graph, definitions: &[(Expr<'_>, Expr<'_>)]) -> Result<Vec<Vec<usize>>, ModelError> {
    // Definitions by name and by time derivative.
    let names = definitions.iter().map(|(name, _)| *name).zip(0..);
    let names =
        names.flat_map(|(name, i)| [Some(name), name.dot()].into_iter().flatten().map(move |n| (n.id(), i)));
    let names: FxHashMap<Id, usize> = names.collect();
    // The level of everything that definitions are made of: a name is one above what it stands for. What is open has none yet.
    let mut known: FxHashMap<Id, Option<usize>> = FxHashMap::default();
    let mut path: Vec<Id> = Vec::new();
    for (_, value) in definitions {
        path.push(value.id());
        while let Some(&id) = path.last() {
            if known.get(&id).is_some_and(Option::is_some) {
                path.pop();
                continue;
            }
            let (node, name) = (graph.node(id), names.get(&id));
            let made_of = node.arguments().iter().copied().chain(name.map(|&i| definitions[i].1.id()));
            if known.insert(id, None).is_none() {
                // A part that is open is made of this.
                let open = |part: &Id| known.get(part).is_some_and(Option::is_none);
                if made_of.clone().any(|part| open(&part)) {
                    return Err(ModelError::Cycle { names: cycle(definitions, &names) });
                }
                path.extend(made_of);
            } else {
                let level = made_of.filter_map(|part| known[&part]).max().unwrap_or(0);
                known.insert(id, Some(level + usize::from(name.is_some())));
                path.pop();
            }
        }
    }
    let mut levels: Vec<Vec<usize>> = Vec::new();
    for (i, (_, value)) in definitions.iter().enumerate() {
        let Some(level) = known[&value.id()] else { unreachable!("nothing is open in the end") };
        levels.resize_with(levels.len().max(level + 1), Vec::new);
        levels[level].push(i);
    }
    Ok(levels)
}

/// A round trip through definitions that use each other.
fn cycle(definitions: &[(Expr<'_>, Expr<'_>)], names: &FxHashMap<Id, usize>) -> Vec<String> {
    let used = |i: usize| {
        let mut used: Vec<usize> =
            symbols_of(&[definitions[i].1]).iter().filter_map(|s| names.get(&s.id()).copied()).collect();
        used.sort_unstable();
        used
    };
    let uses: Vec<Vec<usize>> = (0..definitions.len()).map(used).collect();
    // What uses only what is done is done; the others lead round and round.
    let mut done: FxHashSet<usize> = FxHashSet::default();
    loop {
        let before = done.len();
        for (i, used) in uses.iter().enumerate() {
            if used.iter().all(|j| done.contains(j)) {
                done.insert(i);
            }
        }
        if done.len() == before {
            break;
        }
    }
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
