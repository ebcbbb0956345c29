//! Expressions on fixed branches.

use super::direction::{AT_REST, Contact, Length, directed, guarded};
use super::level::difference;
use super::range::excludes_zero;
use super::slide::{Ease, Row, controls};
use super::{Switch, SwitchKind};
use crate::blueprint::Plans;
use crate::equations::{depend, symbols_of};
use crate::quantity::Quantity;
use crate::source::Space;
use leastaction_expr::{Expr, Graph, Id, Node, Op, Substitution};
use rustc_hash::{FxHashMap, FxHashSet};

/// The plans of a system on fixed branches.
pub(crate) struct Held<'g> {
    pub(crate) plans: Plans<'g>,
    /// The branch of each switch as a symbol, then whether the motion slides on its border, and then what is known of each direction
    /// ([`Switch::direction`](super::Switch::direction)).
    pub(crate) branches: Vec<Expr<'g>>,
    pub(crate) switches: Vec<Switch>,
    /// The plans of the system as it is, where directions that have no meaning count as 0.
    pub(crate) guarded: Plans<'g>,
}

/// What plans are made of, besides parameters.
pub(crate) struct States<'a, 'g> {
    pub(crate) time: Expr<'g>,
    pub(crate) coordinates: &'a [Expr<'g>],
    pub(crate) momenta: &'a [Expr<'g>],
    pub(crate) velocities: &'a [Expr<'g>],
}

fn watched(quantity: Quantity, space: Space) -> bool {
    space != Space::Parameters && (!quantity.is_rare() || is_balance(quantity))
}

/// The powers of the balance are those of the branches on which the motion is: of friction that holds, its own.
fn is_balance(quantity: Quantity) -> bool {
    quantity == Quantity::EnergyBalance
}

/// Finds the switches in plans, and holds their branches; `None` if there are none. Velocities have symbols in plans of configuration space. The rates of a
/// constrained system have more branches, by which elimination skips rows: these are no switches of the motion.
pub(crate) fn hold<'g>(
    graph: &'g Graph,
    parameters: &[(Expr<'g>, f64)],
    States { time, coordinates, momenta, velocities }: States<'_, 'g>,
    constrained: bool,
    lengths: &[Length<'g>],
    plans: &Plans<'g>,
) -> Option<Held<'g>> {
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
        candidates: Vec::new(),
        places: FxHashMap::default(),
    };
    let mut plans = plans.clone();
    let drift = plans.iter().find(|(quantity, ..)| *quantity == Quantity::Drift).map(|plan| plan.2.clone());
    let mut contacts = Vec::new();
    if let Some(drift) = &drift {
        let mut in_phase_space = Substitution::new(graph);
        velocities.iter().zip(drift).for_each(|(v, drift)| in_phase_space.replace(*v, *drift));
        let each = lengths.iter().enumerate();
        contacts = each.map(|(k, length)| Contact::new(graph, k, length, momenta, &in_phase_space)).collect();
        let drift = holder.hold(drift);
        velocities.iter().zip(drift).for_each(|(v, drift)| holder.velocities.replace(*v, drift));
    }
    let guarded_plans = plans.clone();
    for (quantity, space, outputs) in plans.iter_mut().filter(|_| !contacts.is_empty()) {
        if watched(*quantity, *space) {
            *outputs = directed(&contacts, outputs);
        }
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
    if holder.candidates.is_empty() && contacts.is_empty() {
        return None;
    }
    let contacts = holder.find_directions(contacts);
    let slide = |k: usize| graph.symbol(&format!("slide {k}"));
    let slides: Vec<_> = (0..holder.candidates.len()).map(slide).collect();
    let functions: Vec<_> = holder.candidates.iter().map(|candidate| candidate.function).collect();
    let in_phase_space = drift.is_some() || velocities.is_empty();
    let space = if in_phase_space { Space::Phase } else { Space::Configuration };
    let outputs =
        |plans: &Plans<'g>, wanted| plans.iter().find(|plan| plan.0 == wanted).map(|plan| plan.2.clone());
    let rows = holder.rows(&contacts);
    let controls = match outputs(&plans, Quantity::Rates) {
        Some(rates) => {
            let states = [coordinates, momenta].concat();
            let rates = holder.mixed(&rates);
            controls(graph, &rows, &slides, &states, time, &rates)
        }
        None => vec![None; rows.len()],
    };
    // Momenta by velocities, for plans of configuration space.
    let by_velocities: Vec<_> = match outputs(&held, Quantity::Momenta) {
        Some(values) => momenta.iter().copied().zip(values).collect(),
        None => Vec::new(),
    };
    let zero = graph.number(0.0);
    let mut signs = [Substitution::new(graph), Substitution::new(graph)];
    let mut replace = |symbol: Expr<'g>, image: Expr<'g>| {
        signs[0].replace(symbol, image);
        signs[1].replace(symbol, image.substitute(&by_velocities));
    };
    // What holds each switch on its border, as one number that is 1, or −1, where it no longer does.
    let mut holds = vec![zero; holder.candidates.len()];
    for (row, control) in rows.iter().zip(&controls) {
        if let (Some(control), None) = (control, &row.ease) {
            (holder.candidates[row.switch].switch.slides, holds[row.switch]) = (true, *control);
            replace(row.sign, *control);
        }
    }
    let mut vectors = Vec::new();
    for contact in &contacts {
        let own = rows.iter().zip(&controls).filter(|(row, _)| row.switch == contact.switch);
        let solved: Option<Vec<_>> = own.map(|(_, control)| *control).collect();
        let at_rest = [(contact.contact.length, graph.number(AT_REST))];
        let solved = solved.map(|solved| leastaction_expr::substitute(&solved, &at_rest));
        holder.candidates[contact.switch].switch.slides = solved.is_some();
        let solved = solved.unwrap_or_else(|| vec![zero; contact.contact.direction.len()]);
        holds[contact.switch] = graph.sum(solved.iter().map(|&u| u * u));
        let (length, direction) = contact.moving(functions[contact.switch]);
        let slide = slides[contact.switch];
        replace(contact.contact.length, slide.select(graph.number(AT_REST), length));
        for ((&symbol, solved), moving) in contact.contact.direction.iter().zip(&solved).zip(direction) {
            replace(symbol, slide.select(*solved, moving));
        }
        vectors.extend(contact.contact.vector.iter().chain(&solved).copied());
    }
    // What holds a direction may depend on others.
    let symbols: Vec<_> = contacts.iter().flat_map(DirectionCandidate::symbols).collect();
    let applied = |signs: &Substitution<'g>, expressions: &[Expr<'g>]| {
        let mut applied = signs.apply(expressions);
        while depend(&applied, &symbols) {
            applied = signs.apply(&applied);
        }
        applied
    };
    for (quantity, space, outputs) in &mut held {
        if watched(*quantity, *space) {
            *outputs = applied(&signs[usize::from(*space == Space::Configuration)], outputs);
        }
    }
    let rows = applied(&signs[0], &[functions, holds, vectors].concat());
    held.push((Quantity::SwitchingFunctions, space, rows));
    let known = contacts.iter().flat_map(DirectionCandidate::known);
    let branches =
        holder.candidates.iter().map(|candidate| candidate.branch).chain(slides).chain(known).collect();
    let contacts: Vec<_> = contacts.into_iter().map(|candidate| candidate.contact).collect();
    let mut plans = guarded_plans;
    for (_, space, outputs) in plans.iter_mut().filter(|_| !contacts.is_empty()) {
        if *space != Space::Parameters {
            *outputs = guarded(&contacts, outputs);
        }
    }
    let switches = holder.candidates.into_iter().map(|candidate| candidate.switch).collect();
    Some(Held { plans: held, branches, switches, guarded: plans })
}

/// A direction among the switches, with the symbols of what is known of it.
struct DirectionCandidate<'g> {
    contact: Contact<'g>,
    switch: usize,
    still: Expr<'g>,
    ease: Ease<'g>,
    before: Vec<Expr<'g>>,
}

impl<'g> DirectionCandidate<'g> {
    fn known(&self) -> impl Iterator<Item = Expr<'g>> {
        [self.still, self.ease.pull, self.ease.slack].into_iter().chain(self.before.clone())
    }

    /// What stands for the length and the direction.
    fn symbols(&self) -> impl Iterator<Item = Expr<'g>> {
        self.contact.direction.iter().copied().chain([self.contact.length])
    }

    /// The vector, from a little before where it is: at rest it points to where the motion begins.
    fn ahead(&self) -> Vec<Expr<'g>> {
        self.contact.vector.iter().zip(&self.before).map(|(&a, &d)| a + self.still * d).collect()
    }

    /// The length while it moves, and the direction. Beyond rest, where the vector points back, both go on as they were.
    fn moving(&self, along: Expr<'g>) -> (Expr<'g>, Vec<Expr<'g>>) {
        let (ahead, graph) = (self.ahead(), along.graph());
        let length = graph.sum(ahead.iter().map(|&a| a * a)).sqrt();
        let length = along.lt(0.0).select(-length, length);
        (length, ahead.iter().map(|&a| a / length).collect())
    }
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
    candidates: Vec<Candidate<'g>>,
    /// Comparisons on fixed branches: the side of zero that tells, −1 where they hold.
    conditions: FxHashMap<Id, Expr<'g>>,
    /// Whether `select` is a mixture of its pieces, whatever its condition.
    mixes: bool,
    /// Whether what has not been found is no switch.
    all_found: bool,
    /// The switch of a function, and of what is rounded.
    places: FxHashMap<(Id, SwitchKind), usize>,
}

struct Candidate<'g> {
    function: Expr<'g>,
    branch: Expr<'g>,
    switch: Switch,
}

impl Candidate<'_> {
    /// Whether a motion could slide on its border, as far as that does not depend on the rates.
    fn may_slide(&self) -> bool {
        let Switch { kind, of_time, nested, .. } = self.switch;
        kind != SwitchKind::Floor && !of_time && !nested
    }
}

/// An expression on a side of a border, which is told by a branch or by its negative.
fn on_side<'g>(e: Expr<'g>, side: Expr<'g>, value: f64) -> Expr<'g> {
    let branches = symbols_of(&[side]);
    let mirrored = |branch: &Expr<'g>| if branch.id() == side.id() { value } else { -value };
    let fixed: Vec<_> = branches.iter().map(|branch| (*branch, e.graph().number(mirrored(branch)))).collect();
    e.substitute(&fixed)
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

    /// Adds directions to the switches: each vanishes where its vector, along the direction it had before, does.
    fn find_directions(&mut self, contacts: Vec<Contact<'g>>) -> Vec<DirectionCandidate<'g>> {
        let mut directions = Vec::new();
        for (k, mut contact) in contacts.into_iter().enumerate() {
            contact.vector = self.hold(&contact.vector);
            let symbol = |what: &str| self.graph.symbol(&format!("{what} {k}"));
            let before = (0..contact.vector.len()).map(|i| symbol(&format!("before {i}"))).collect();
            let ease = Ease { pull: symbol("pull"), slack: symbol("slack") };
            let (switch, still) = (self.candidates.len(), symbol("still"));
            let direction = DirectionCandidate { contact, switch, still, ease, before };
            let along =
                direction.ahead().iter().zip(&direction.before).map(|(&a, &d)| a * d).collect::<Vec<_>>();
            let nested =
                symbols_of(&direction.contact.vector).iter().any(|s| self.branches.contains_key(&s.id()));
            self.candidates.push(Candidate {
                function: self.graph.sum(along),
                branch: self.graph.symbol(&format!("branch {switch}")),
                switch: Switch {
                    what: direction.contact.written.clone(),
                    kind: SwitchKind::Direction,
                    of_time: false,
                    affine: false,
                    nested,
                    slides: false,
                    direction: direction.contact.vector.len(),
                },
            });
            directions.push(direction);
        }
        directions
    }

    /// What stays as it is while the motion slides on a border: the function of a switch, or a vector that vanishes.
    fn rows(&self, directions: &[DirectionCandidate<'g>]) -> Vec<Row<'g>> {
        let mut rows = Vec::new();
        for (switch, candidate) in
            self.candidates.iter().enumerate().filter(|(_, candidate)| candidate.may_slide())
        {
            match directions.iter().find(|direction| direction.switch == switch) {
                None => rows.push(Row {
                    switch,
                    function: candidate.function,
                    sign: candidate.branch,
                    ease: None,
                }),
                Some(DirectionCandidate { contact, ease, .. }) => {
                    let components = contact.vector.iter().zip(&contact.direction);
                    rows.extend(components.map(|(&function, &sign)| Row {
                        switch,
                        function,
                        sign,
                        ease: Some(ease.clone()),
                    }));
                }
            }
        }
        rows
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
                let side = self.side(difference(a, b))?;
                let condition = 0.5 * (1.0 - side);
                self.conditions.insert(condition.id(), side);
                Some(condition)
            }
            // While a motion slides on the border, the value is between those of the pieces, each on its own side.
            (Op::Select, &[condition, a, b]) if self.conditions.contains_key(&condition.id()) => {
                let side = self.conditions[&condition.id()];
                let mixture = condition * on_side(a, side, -1.0) + (1.0 - condition) * on_side(b, side, 1.0);
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
            Some(&place) => Some(-self.candidates[place].branch),
            None => self.switch(function, SwitchKind::Side),
        }
    }

    fn switch(&mut self, function: Expr<'g>, kind: SwitchKind) -> Option<Expr<'g>> {
        let function = self.velocities.apply(&[function])[0];
        if let Some(&place) = self.places.get(&(function.id(), kind)) {
            return Some(self.candidates[place].branch);
        }
        if self.all_found {
            return None;
        }
        let (mut changes, mut of_time, mut nested) = (false, true, false);
        for symbol in symbols_of(&[function]) {
            match self.branches.get(&symbol.id()) {
                Some(&place) => (nested, of_time) = (true, of_time && self.candidates[place].switch.of_time),
                None if self.constants.contains(&symbol.id()) => {}
                None => (changes, of_time) = (true, of_time && symbol == self.time),
            }
        }
        if !changes || kind == SwitchKind::Side && excludes_zero(function) {
            return None;
        }
        let place = self.candidates.len();
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
            SwitchKind::Direction => unreachable!("directions are found by their lengths"),
        };
        self.meanings.push((branch, rounded));
        let switch =
            Switch { what: what.to_string(), kind, of_time, affine, nested, slides: false, direction: 0 };
        self.candidates.push(Candidate { function, branch, switch });
        Some(branch)
    }
}
