//! What is wrong with a model, found before anything is compiled.

use crate::energy::{Energy, EnergyError, Potential};
use crate::equations::{depend, rate, symbols_of};
use crate::error::{DimensionsExpected, ModelError, Site, TermKind};
use crate::model::{Model, Term};
use crate::names;
use leastaction_expr::{Expr, Id, Kind as TokenKind, Names, Node, Span, nearest, tokens};
use rustc_hash::{FxHashMap, FxHashSet};

/// Declared symbols.
pub(crate) type Declared<'g> = FxHashMap<Id, (Expr<'g>, Kind)>;

/// What a declared name stands for, and so where it may be used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Parameter,
    Time,
    Coordinate,
    Velocity,
    Momentum,
    Input,
    Definition,
    /// A state of first order, or the coordinate whose rate it is.
    State,
}

impl Kind {
    fn what(self) -> &'static str {
        match self {
            Kind::Parameter => "a parameter",
            Kind::Time => "the time",
            Kind::Coordinate => "a coordinate",
            Kind::Velocity => "a velocity",
            Kind::Momentum => "a momentum",
            Kind::Input => "an input",
            Kind::Definition => "a definition",
            Kind::State => "a state of first order",
        }
    }

    /// What to do where the name cannot stand.
    fn remedy(self) -> &'static str {
        match self {
            Kind::Velocity => "state a velocity-dependent energy as a Lagrangian term",
            Kind::Momentum => "momenta belong into a Hamiltonian",
            Kind::Input => "inputs act through forces, as in `force x = -k*(x - u)`",
            Kind::State => "states act through forces",
            Kind::Parameter | Kind::Time | Kind::Coordinate | Kind::Definition => "it must be constant",
        }
    }
}

/// Checks everything that can be seen from names alone.
pub(crate) fn names(model: &Model<'_>) -> Result<(), ModelError> {
    if model.coordinates.len() == model.states.len() {
        return Err(match model.states.is_empty() {
            true => ModelError::NoCoordinates,
            false => ModelError::OnlyStates,
        });
    }
    let declared = declared(symbols(model))?;
    parameters(&model.parameters)?;
    statement(model)?;
    if let Some(name) = repeated(model.particles.iter().map(|p| p.name.as_str())) {
        return Err(ModelError::DuplicateParticle { name: name.to_owned() });
    }
    use Kind::{Coordinate, Input, Momentum, Parameter, Time, Velocity};
    let check = |place: Site, e, allowed: &[Kind]| uses(&declared, place, e, allowed);
    for particle in &model.particles {
        let name = &particle.name;
        if !(1..=3).contains(&particle.position.len()) {
            let found = particle.position.len();
            let expected = DimensionsExpected::UpToThree;
            return Err(ModelError::Dimensions { particle: name.clone(), found, expected });
        }
        let found = particle.position.len();
        if let Some(&expected) = model.gravity_dimensions.iter().find(|&&d| d != found) {
            let expected = DimensionsExpected::OfGravity(expected);
            return Err(ModelError::Dimensions { particle: name.clone(), found, expected });
        }
        if !particle.inertias.is_empty() && particle.inertias.len() != particle.position.len() {
            let expected = DimensionsExpected::OfInertias(particle.inertias.len());
            let found = particle.position.len();
            return Err(ModelError::Dimensions { particle: name.clone(), found, expected });
        }
        for &mass in &particle.inertias {
            check(Site::Mass(name.clone()), mass, &[Parameter])?;
            let values: Vec<_> =
                symbols_of(&[mass]).into_iter().map(|s| (s, model.defaults[&s.id()])).collect();
            if let Some(value) = mass.eval(&values).ok().filter(|m| !(*m > 0.0 && m.is_finite())) {
                return Err(ModelError::BadMass { particle: name.clone(), value });
            }
        }
        for &x in &particle.position {
            check(Site::Position(name.clone()), x, &[Parameter, Time, Coordinate])?;
        }
    }
    for nodes in &model.lumped {
        let name = || nodes.node_name(0);
        if !(1..=3).contains(&nodes.width) {
            let (found, expected) = (nodes.width, DimensionsExpected::UpToThree);
            return Err(ModelError::Dimensions { particle: name(), found, expected });
        }
        if let Some(&expected) = model.gravity_dimensions.iter().find(|&&d| d != nodes.width) {
            let (found, expected) = (nodes.width, DimensionsExpected::OfGravity(expected));
            return Err(ModelError::Dimensions { particle: name(), found, expected });
        }
        if let Some(unit) = nodes.unit {
            check(Site::Mass(nodes.name.clone()), unit, &[Parameter])?;
        }
        let unit = nodes.unit.map_or(Ok(1.0), |unit| {
            let values = symbols_of(&[unit]).into_iter().map(|s| (s, model.defaults[&s.id()]));
            unit.eval(&values.collect::<Vec<_>>())
        });
        let bad = |mass: f64| !(mass > 0.0 && mass.is_finite());
        if let Ok(unit) = unit
            && let Some(node) = nodes.masses.iter().position(|mass| bad(mass * unit))
        {
            return Err(ModelError::BadMass {
                particle: nodes.node_name(node),
                value: nodes.masses[node] * unit,
            });
        }
        if let Some(node) = nodes.matrix.as_ref().and_then(|matrix| matrix.wrong()) {
            return Err(ModelError::BadMass { particle: nodes.node_name(node), value: f64::NAN });
        }
        for (name, rate) in &nodes.damping {
            check(Site::Term(TermKind::Dissipation, name.clone()), *rate, &[Parameter, Time])?;
        }
    }
    let weightless = model.lumped.is_empty() && model.particles.iter().all(|p| p.inertias.is_empty());
    if !model.gravity_dimensions.is_empty() && weightless {
        return Err(ModelError::IdleGravity);
    }
    for &g in &model.gravity {
        check(Site::Gravity, g, &[Parameter, Time])?;
    }
    let moving: &[Kind] = &[Parameter, Time, Coordinate, Velocity];
    let groups: [(TermKind, &[_], &[Kind]); 5] = [
        (TermKind::Kinetic, &model.kinetic, moving),
        (TermKind::Lagrangian, &model.lagrangian, moving),
        (TermKind::Hamiltonian, &model.hamiltonian, &[Parameter, Time, Coordinate, Momentum]),
        (TermKind::Dissipation, &model.dissipation, moving),
        (TermKind::Constraint, &model.constraints, moving),
    ];
    let massive = || model.particles.iter().filter(|p| !p.inertias.is_empty());
    let of_nodes = || model.lumped.iter().map(|nodes| nodes.name.clone());
    let of_particles = massive().map(|p| p.name.clone()).chain(of_nodes());
    let weighed = massive().map(|p| &p.name).chain(model.lumped.iter().map(|nodes| &nodes.name));
    let of_gravity = weighed.filter(|_| !model.gravity.is_empty()).map(|name| gravity_on(name));
    for (kind, terms, allowed) in groups {
        let others: Vec<String> = match kind {
            TermKind::Kinetic => of_particles.clone().collect(),
            TermKind::Dissipation => {
                let damping = model.lumped.iter().flat_map(|nodes| nodes.damping.iter());
                let damping = damping.map(|(name, _)| name.clone());
                model.losses.iter().map(|d| d.name.clone()).chain(damping).collect()
            }
            _ => Vec::new(),
        };
        let names = others.iter().map(String::as_str).chain(terms.iter().map(|t| t.name.as_str()));
        distinct(kind, names)?;
        for term in terms {
            check(Site::Term(kind, term.name.clone()), term.value, allowed)?;
        }
    }
    let others: Vec<String> = of_gravity.collect();
    let names = model.potential.iter().map(|potential| potential.name.as_str());
    distinct(TermKind::Potential, others.iter().map(String::as_str).chain(names))?;
    for potential in &model.potential {
        match &potential.energy {
            Energy::Formula(value) => {
                let place = Site::Term(TermKind::Potential, potential.name.clone());
                check(place, *value, &[Parameter, Time, Coordinate])?;
            }
            Energy::Elements(elements) => {
                let outside = |kind: &Kind| matches!(kind, Parameter | Time | Kind::Definition);
                let outside = symbols(model).filter(|(_, kind)| outside(kind));
                elements.check(&potential.name, outside)?;
            }
            Energy::Opaque(opaque) => {
                let known = |name: &&String| model.parameters.iter().any(|(p, _)| p.to_string() == **name);
                if let Some(name) = opaque.parameters.iter().find(|name| !known(name)) {
                    let source = EnergyError::NoParameter { name: name.clone() };
                    let kind = TermKind::Potential;
                    return Err(ModelError::Energy { kind, name: potential.name.clone(), source });
                }
            }
        }
        // Held coordinates stand after the others.
        reads(model.coordinates.len() + model.held.len(), potential)?;
    }
    for dissipation in &model.losses {
        let outside = |kind: &Kind| matches!(kind, Parameter | Time | Kind::Definition);
        dissipation.check(symbols(model).filter(|(_, kind)| outside(kind)))?;
        let wrong = |source| ModelError::Energy {
            kind: TermKind::Dissipation,
            name: dissipation.name.clone(),
            source,
        };
        let count = model.coordinates.len() + model.held.len();
        if let Some(&index) = dissipation.elements.coordinates.iter().find(|&&i| i as usize >= count) {
            return Err(wrong(EnergyError::NoCoordinate { index, count }));
        }
        if !model.hamiltonian.is_empty() {
            return Err(wrong(EnergyError::HamiltonianDissipation));
        }
    }
    for &(coordinate, force) in &model.forces {
        if !matches!(declared.get(&coordinate.id()), Some((_, Coordinate))) {
            return Err(ModelError::ForceOnUnknown { name: coordinate.to_string() });
        }
        let allowed = &[Parameter, Time, Coordinate, Velocity, Input, Kind::State];
        check(Site::Force(coordinate.to_string()), force, allowed)?;
    }
    for &(integral, rate) in &model.states {
        let allowed = &[Parameter, Time, Coordinate, Velocity, Input, Kind::State];
        check(Site::State(state_of(integral)), rate, allowed)?;
    }
    let known: FxHashMap<Id, Expr<'_>> = match model.held.is_empty() {
        true => FxHashMap::default(),
        false => model.known.iter().map(|(name, value)| (name.id(), *value)).collect(),
    };
    for (coordinate, by) in &model.held {
        check(Site::Held(by.clone()), known[&coordinate.id()], &[Parameter, Time])?;
    }
    for (input, value) in &model.stated_inputs {
        check(Site::Input(input.to_string()), *value, &[Parameter, Time])?;
    }
    Ok(())
}

/// Checks that what events set is read by formulas alone: other numbers are computed once.
pub(crate) fn set(model: &Model<'_>) -> Result<(), ModelError> {
    for &(symbol, _) in &model.set {
        let depends = |list: &[Expr<'_>]| depend(list, &[symbol]);
        let refused =
            |by: &str| Err(ModelError::SetBeyondFormulas { name: symbol.to_string(), by: by.to_owned() });
        for Potential { name, energy } in &model.potential {
            let reads = match energy {
                Energy::Formula(_) => false,
                Energy::Elements(elements) => elements.depends_on(symbol),
                Energy::Opaque(opaque) => opaque.parameters.iter().any(|p| *p == symbol.to_string()),
            };
            if reads {
                return refused(name);
            }
        }
        if let Some(loss) = model.losses.iter().find(|loss| loss.elements.depends_on(symbol)) {
            return refused(&loss.name);
        }
        for nodes in &model.lumped {
            let own = nodes.unit.into_iter().chain(nodes.damping.iter().map(|(_, rate)| *rate));
            let forces = model.forces.iter().map(|(_, force)| *force);
            let all: Vec<_> = own.chain(model.gravity.iter().copied()).chain(forces).collect();
            if depends(&all) {
                return refused(&nodes.name);
            }
        }
        let velocities: Vec<_> = model.coordinates.iter().map(|&q| rate(q)).collect();
        let of_places = |term: &&Term<'_>| depends(&[term.value]) && !depend(&[term.value], &velocities);
        if let Some(constraint) = model.constraints.iter().find(of_places) {
            return refused(&constraint.name);
        }
        let known = |q: Expr<'_>| model.known.iter().find(|(name, _)| *name == q).map(|(_, value)| *value);
        let holds = |(q, _): &&(Expr<'_>, String)| known(*q).is_some_and(|value| depends(&[value]));
        if let Some((_, by)) = model.held.iter().find(holds) {
            return refused(by);
        }
    }
    Ok(())
}

/// Checks that the coordinates exist which an energy reads that is no formula, and that an opaque one says so of each once.
fn reads(count: usize, potential: &Potential<'_>) -> Result<(), ModelError> {
    let kind = TermKind::Potential;
    let wrong = |source| ModelError::Energy { kind, name: potential.name.clone(), source };
    let reads = potential.reads();
    if let Some(&index) = reads.iter().find(|&&i| i as usize >= count) {
        return Err(wrong(EnergyError::NoCoordinate { index, count }));
    }
    let mut seen = vec![false; if let Energy::Opaque(_) = potential.energy { count } else { 0 }];
    let twice = |&&i: &&u32| seen.get_mut(i as usize).is_some_and(|seen| std::mem::replace(seen, true));
    match reads.iter().find(twice) {
        Some(&index) => Err(wrong(EnergyError::Twice { index })),
        None => Ok(()),
    }
}

/// The name of the potential energy of a particle in gravity.
#[must_use]
pub fn gravity_on(particle: &str) -> String {
    format!("gravity on {particle}")
}

/// Checks that the names of terms of a kind are distinct.
pub(crate) fn distinct<'a>(kind: TermKind, names: impl Iterator<Item = &'a str>) -> Result<(), ModelError> {
    match repeated(names) {
        Some(name) => Err(ModelError::DuplicateTerm { kind, name: name.to_owned() }),
        None => Ok(()),
    }
}

/// The first name that was there before.
fn repeated<'a>(mut names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = FxHashSet::default();
    names.find(|name| !seen.insert(*name))
}

/// The symbols of a model with their kinds.
fn symbols<'g>(model: &Model<'g>) -> impl Iterator<Item = (Expr<'g>, Kind)> {
    let parameters = model.parameters.iter().map(|(s, _)| (*s, Kind::Parameter));
    let states: FxHashSet<Id> = model.states.iter().map(|(integral, _)| integral.id()).collect();
    let of = move |q: Expr<'g>, kind| if states.contains(&q.id()) { Kind::State } else { kind };
    let (of_rate, of_momentum) = (of.clone(), of.clone());
    let coordinates = model.coordinates.iter().map(move |&q| (q, of(q, Kind::Coordinate)));
    let velocities = model.coordinates.iter().map(move |&q| (rate(q), of_rate(q, Kind::Velocity)));
    let momenta = model.all_momenta().into_iter().zip(&model.coordinates);
    let momenta = momenta.map(move |(p, &q)| (p, of_momentum(q, Kind::Momentum)));
    let inputs = model.inputs.iter().map(|&s| (s, Kind::Input));
    let definitions = model.definitions.iter().map(|(s, _)| (*s, Kind::Definition));
    let time = [(model.time, Kind::Time)].into_iter();
    time.chain(parameters)
        .chain(coordinates)
        .chain(velocities)
        .chain(momenta)
        .chain(inputs)
        .chain(definitions)
}

/// Every declared symbol with its kind; an error if a name is declared twice, or is no name.
pub(crate) fn declared<'g>(
    symbols: impl Iterator<Item = (Expr<'g>, Kind)>,
) -> Result<Declared<'g>, ModelError> {
    let symbols: Vec<_> = symbols.collect();
    let is_rate = |(symbol, kind): &(Expr<'g>, Kind)| match kind {
        Kind::State => symbol.to_string().ends_with('\''),
        kind => *kind == Kind::Velocity,
    };
    let named: Vec<_> = symbols.iter().filter(|named| !is_rate(named)).copied().collect();
    let names = Names::of(&named.iter().map(|(symbol, _)| *symbol).collect::<Vec<_>>());
    if let Some((place, name)) = names.firsts().find(|(_, name)| !is_plain(name)) {
        return Err(ModelError::BadName { name, what: named[place].1.what() });
    }
    let mut all = Declared::default();
    for (symbol, kind) in symbols {
        if let Some((_, first)) = all.insert(symbol.id(), (symbol, kind)) {
            let (first, second) = (first.what(), kind.what());
            return Err(ModelError::DuplicateName { name: symbol.to_string(), first, second });
        }
    }
    Ok(all)
}

/// Whether a name is one identifier, without primes.
fn is_plain(name: &str) -> bool {
    let whole = Span { start: 0, end: name.len() };
    let first = tokens(name).ok().and_then(|tokens| tokens.first().copied());
    first.is_some_and(|token| token.kind == TokenKind::Name && token.span == whole)
}

/// The name of the state whose integral a coordinate is.
pub(crate) fn state_of(integral: Expr<'_>) -> String {
    let name = integral.to_string();
    let Some(state) = names::state_of(&name) else { unreachable!("`{name}` is the integral of a state") };
    state.to_owned()
}

/// Checks that all defaults are finite.
pub(crate) fn parameters(list: &[(Expr<'_>, f64)]) -> Result<(), ModelError> {
    match list.iter().find(|(_, value)| !value.is_finite()) {
        Some((symbol, value)) => Err(ModelError::BadParameter { name: symbol.to_string(), value: *value }),
        None => Ok(()),
    }
}

/// Checks that the motion is stated, and one way only.
fn statement(model: &Model<'_>) -> Result<(), ModelError> {
    let coordinates = model.coordinates.len() - model.states.len();
    if model.momenta.len() > coordinates {
        let momenta = model.momenta.len();
        return Err(ModelError::MomentaCount { momenta, coordinates });
    }
    let other = [&model.kinetic, &model.lagrangian].into_iter().flatten().map(|t| t.name.clone());
    let other =
        other.chain(model.particles.iter().filter(|p| !p.inertias.is_empty()).map(|p| p.name.clone()));
    let other = other.chain(model.lumped.iter().map(|nodes| nodes.name.clone())).next();
    match (model.hamiltonian.is_empty(), other) {
        (true, None) => Err(ModelError::NoEnergy),
        (false, Some(name)) => Err(ModelError::MixedForms { name }),
        _ => Ok(()),
    }
}

/// Checks that an expression uses only finite numbers, and names that are declared, of kinds that are allowed there.
pub(crate) fn uses<'g>(
    declared: &Declared<'g>,
    place: Site,
    e: Expr<'g>,
    allowed: &[Kind],
) -> Result<(), ModelError> {
    let graph = e.graph();
    for (id, node) in graph.order(&[e.id()]) {
        match node {
            Node::Number(bits) if !f64::from_bits(bits).is_finite() => {
                return Err(ModelError::NotFinite { place, value: f64::from_bits(bits) });
            }
            Node::Symbol(_) => {}
            _ => continue,
        }
        let name = || graph.at(id).to_string();
        match declared.get(&id) {
            None => {
                let name = name();
                let known: Vec<String> = declared.values().map(|(s, _)| s.to_string()).collect();
                let nearest = nearest(&name, known.iter().map(String::as_str));
                return Err(ModelError::UnknownName { place, name, nearest });
            }
            Some((_, kind)) if !allowed.contains(kind) => {
                let name = match kind {
                    Kind::State => state_of(graph.at(id)).trim_end_matches('\'').to_owned(),
                    _ => name(),
                };
                let (what, remedy) = (kind.what(), kind.remedy());
                return Err(ModelError::MisplacedName { place, name, what, remedy });
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// Checks that an energy depends on every coordinate or on its velocity or momentum.
pub(crate) fn all_used(
    coordinates: &[Expr<'_>],
    conjugate: &[Expr<'_>],
    energy: Expr<'_>,
) -> Result<(), ModelError> {
    let used: FxHashSet<Id> = symbols_of(&[energy]).iter().map(|s| s.id()).collect();
    let idle = |(q, other): &(&Expr<'_>, &Expr<'_>)| !used.contains(&q.id()) && !used.contains(&other.id());
    match coordinates.iter().zip(conjugate).find(idle) {
        Some((q, _)) => Err(ModelError::UnusedCoordinate { name: q.to_string() }),
        None => Ok(()),
    }
}
