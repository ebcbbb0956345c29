//! Expressions on fixed branches.

use super::range::excludes_zero;
use super::slide::controls;
use super::{Switch, SwitchKind};
use crate::blueprint::Plans;
use crate::equations::symbols_of;
use crate::quantity::Quantity;
use crate::source::Space;
use leastaction_expr::{Expr, Graph, Id, Node, Op, Substitution};
use rustc_hash::{FxHashMap, FxHashSet};

/// The plans of a system on fixed branches.
pub(crate) struct Held<'g> {
    pub(crate) plans: Plans<'g>,
    /// The branch of each switch as a symbol, and then whether the motion slides on its border.
    pub(crate) branches: Vec<Expr<'g>>,
    pub(crate) switches: Vec<Switch>,
}

/// Finds the switches in plans, and holds their branches; `None` if there are none. Velocities have symbols in plans of configuration space. The rates of a
/// constrained system have more branches, by which elimination skips rows: these are no switches of the motion.
pub(crate) fn hold<'g>(
    graph: &'g Graph,
    time: Expr<'g>,
    parameters: &[(Expr<'g>, f64)],
    [coordinates, momenta, velocities]: [&[Expr<'g>]; 3],
    constrained: bool,
    plans: &Plans<'g>,
) -> Option<Held<'g>> {
    // The powers of the balance are those of the branches on which the motion is: of friction that holds, its own.
    let is_balance = |quantity: Quantity| quantity == Quantity::EnergyBalance;
    let watched = |quantity: Quantity, space: Space| {
        space != Space::Parameters && (!quantity.is_rare() || is_balance(quantity))
    };
    let mut holder = Holder {
        graph,
        time,
        constants: parameters.iter().map(|(p, _)| p.id()).collect(),
        velocities: Substitution::new(graph),
        branches: FxHashMap::default(),
        meanings: Vec::new(),
        all_found: false,
        mixes: false,
        conditions: FxHashMap::default(),
        images: FxHashMap::default(),
        found: Vec::new(),
        places: FxHashMap::default(),
    };
    let drift = plans.iter().find(|(quantity, ..)| *quantity == Quantity::Drift);
    if let Some((.., drift)) = drift {
        let drift = holder.hold(drift);
        velocities.iter().zip(drift).for_each(|(v, drift)| holder.velocities.replace(*v, drift));
    }
    let mut held = plans.clone();
    let is_last = |quantity: Quantity| constrained && quantity == Quantity::Rates || is_balance(quantity);
    for last in [false, true] {
        holder.all_found = last;
        for (quantity, space, outputs) in held.iter_mut().filter(|plan| is_last(plan.0) == last) {
            if watched(*quantity, *space) {
                *outputs = holder.hold(outputs);
            }
        }
    }
    if holder.found.is_empty() {
        return None;
    }
    let slide = |k: usize| graph.symbol(&format!("slide {k}"));
    let slides: Vec<_> = (0..holder.found.len()).map(slide).collect();
    let functions: Vec<_> = holder.found.iter().map(|found| found.function).collect();
    let in_phase_space = drift.is_some() || velocities.is_empty();
    let space = if in_phase_space { Space::Phase } else { Space::Configuration };
    let outputs =
        |plans: &Plans<'g>, wanted| plans.iter().find(|plan| plan.0 == wanted).map(|plan| plan.2.clone());
    let rates = outputs(plans, Quantity::Rates);
    let controls = match rates {
        Some(rates) => {
            let states = [coordinates, momenta].concat();
            let rates = holder.mixed(&rates);
            controls(graph, &holder.found, &slides, &states, time, &rates)
        }
        None => vec![None; functions.len()],
    };
    // Momenta by velocities, for plans of configuration space.
    let by_velocities: Vec<_> = match outputs(&held, Quantity::Momenta) {
        Some(values) => momenta.iter().copied().zip(values).collect(),
        None => Vec::new(),
    };
    let mut signs = [Substitution::new(graph), Substitution::new(graph)];
    for (found, control) in holder.found.iter_mut().zip(&controls) {
        found.switch.slides = control.is_some();
        if let Some(control) = control {
            signs[0].replace(found.branch, *control);
            signs[1].replace(found.branch, control.substitute(&by_velocities));
        }
    }
    for (quantity, space, outputs) in &mut held {
        if watched(*quantity, *space) {
            *outputs = signs[usize::from(*space == Space::Configuration)].apply(outputs);
        }
    }
    let zero = graph.number(0.0);
    let rows = signs[0].apply(&functions).into_iter().chain(controls.iter().map(|c| c.unwrap_or(zero)));
    held.push((Quantity::SwitchingFunctions, space, rows.collect()));
    let branches = holder.found.iter().map(|found| found.branch).chain(slides).collect();
    let switches = holder.found.into_iter().map(|found| found.switch).collect();
    Some(Held { plans: held, branches, switches })
}

struct Holder<'g> {
    graph: &'g Graph,
    time: Expr<'g>,
    constants: FxHashSet<Id>,
    /// Velocities, and what they are in phase space: switches that differ only by that are one.
    velocities: Substitution<'g>,
    /// The switch whose branch a symbol is.
    branches: FxHashMap<Id, usize>,
    /// What the symbol of a branch stands for, for people.
    meanings: Vec<(Expr<'g>, Expr<'g>)>,
    /// What nodes become that change.
    images: FxHashMap<Id, Expr<'g>>,
    found: Vec<Found<'g>>,
    /// Comparisons on fixed branches.
    conditions: FxHashMap<Id, Expr<'g>>,
    /// Whether `select` is a mixture of its pieces, whatever its condition.
    mixes: bool,
    /// Whether what has not been found is no switch.
    all_found: bool,
    /// The switch of a function, and of what is rounded.
    places: FxHashMap<(Id, SwitchKind), usize>,
}

pub(super) struct Found<'g> {
    pub(super) function: Expr<'g>,
    pub(super) branch: Expr<'g>,
    switch: Switch,
}

impl Found<'_> {
    /// Whether a motion could slide on its border, as far as that does not depend on the rates.
    pub(super) fn may_slide(&self) -> bool {
        let Switch { kind, of_time, nested, .. } = self.switch;
        kind == SwitchKind::Side && !of_time && !nested
    }
}

impl<'g> Holder<'g> {
    /// Expressions on fixed branches.
    fn hold(&mut self, expressions: &[Expr<'g>]) -> Vec<Expr<'g>> {
        let roots: Vec<Id> = expressions.iter().map(|e| e.id()).collect();
        for (id, node) in self.graph.order(&roots) {
            let Node::Apply(op, _) = node else { continue };
            if self.images.contains_key(&id) {
                continue;
            }
            let arguments: Vec<_> = node.arguments().iter().map(|a| self.image(*a)).collect();
            let held = self.branch(op, &arguments);
            let image = match held.or_else(|| self.continued(op, node.arguments(), &arguments)) {
                Some(image) => image,
                None => self.graph.apply(op, &arguments),
            };
            if image.id() != id {
                self.images.insert(id, image);
            }
        }
        roots.iter().map(|id| self.image(*id)).collect()
    }

    /// Expressions with mixtures in place of pieces.
    fn mixed(&mut self, expressions: &[Expr<'g>]) -> Vec<Expr<'g>> {
        self.images.clear();
        (self.mixes, self.all_found) = (true, true);
        self.hold(expressions)
    }

    fn image(&self, id: Id) -> Expr<'g> {
        self.images.get(&id).copied().unwrap_or(self.graph.at(id))
    }

    /// The value of an operator on a fixed branch, if it has branches that can change.
    fn branch(&mut self, op: Op, arguments: &[Expr<'g>]) -> Option<Expr<'g>> {
        match (op, arguments) {
            (Op::Sign, &[x]) => self.side(x),
            (Op::Abs, &[x]) => self.side(x).map(|side| side * x),
            (Op::Lt | Op::Le, &[a, b]) => {
                let condition = self.side(a - b).map(|side| 0.5 * (1.0 - side))?;
                self.conditions.insert(condition.id(), condition);
                Some(condition)
            }
            // While a motion slides on the border, the value is between those of the pieces.
            (Op::Select, &[condition, a, b]) if self.conditions.contains_key(&condition.id()) => {
                let mixture = condition * a + (1.0 - condition) * b;
                let piece = condition.equals(0.0).select(b, mixture);
                Some(if self.mixes { mixture } else { condition.equals(1.0).select(a, piece) })
            }
            (Op::Max, &[a, b]) => self.side(a - b).map(|side| side.lt(0.0).select(b, a)),
            (Op::Min, &[a, b]) => self.side(a - b).map(|side| side.lt(0.0).select(a, b)),
            (Op::Floor, &[x]) => self.switch(x, SwitchKind::Floor),
            _ => None,
        }
    }

    /// Whether a node is never negative, because of a switch in it: max(0, x), or |x|.
    fn is_cut_off(&self, id: Id) -> bool {
        let number = |id: &Id| self.graph.at(*id).as_number();
        match self.graph.node(id) {
            Node::Apply(Op::Abs, _) => true,
            node @ Node::Apply(Op::Max, _) => node.arguments().iter().filter_map(number).any(|x| x >= 0.0),
            _ => false,
        }
    }

    /// The power of something that is cut off at 0. Beyond the border its branch has none, but steps look there to find the border.
    fn continued(&self, op: Op, originals: &[Id], arguments: &[Expr<'g>]) -> Option<Expr<'g>> {
        let (&original, &base) = originals.first().zip(arguments.first())?;
        if base.id() == original || !self.is_cut_off(original) {
            return None;
        }
        match (op, arguments) {
            (Op::Sqrt, _) => Some(base.abs().sqrt()),
            (Op::Pow, [_, exponent]) if exponent.as_number().is_some_and(|n| n.fract() != 0.0) => {
                Some(base.abs().pow(*exponent))
            }
            _ => None,
        }
    }

    /// The side of zero on which a function is.
    fn side(&mut self, function: Expr<'g>) -> Option<Expr<'g>> {
        let mirrored = self.velocities.apply(&[-function])[0].id();
        match self.places.get(&(mirrored, SwitchKind::Side)) {
            Some(&place) => Some(-self.found[place].branch),
            None => self.switch(function, SwitchKind::Side),
        }
    }

    fn switch(&mut self, function: Expr<'g>, kind: SwitchKind) -> Option<Expr<'g>> {
        let function = self.velocities.apply(&[function])[0];
        if let Some(&place) = self.places.get(&(function.id(), kind)) {
            return Some(self.found[place].branch);
        }
        if self.all_found {
            return None;
        }
        let (mut changes, mut of_time, mut nested) = (false, true, false);
        for symbol in symbols_of(&[function]) {
            match self.branches.get(&symbol.id()) {
                Some(&place) => (nested, of_time) = (true, of_time && self.found[place].switch.of_time),
                None if self.constants.contains(&symbol.id()) => {}
                None => (changes, of_time) = (true, of_time && symbol == self.time),
            }
        }
        if !changes || kind == SwitchKind::Side && excludes_zero(function) {
            return None;
        }
        let place = self.found.len();
        // No text can name it.
        let branch = self.graph.symbol(&format!("branch {place}"));
        self.places.insert((function.id(), kind), place);
        self.branches.insert(branch.id(), place);
        let slope = symbols_of(&function.gradient(&[self.time]));
        let affine = of_time && !slope.contains(&self.time);
        let what = function.substitute(&self.meanings);
        let rounded = match kind {
            SwitchKind::Side => what.sign(),
            SwitchKind::Floor => what.floor(),
        };
        self.meanings.push((branch, rounded));
        let switch = Switch { what: what.to_string(), kind, of_time, affine, nested, slides: false };
        self.found.push(Found { function, branch, switch });
        Some(branch)
    }
}
