//! What is wrong with a model, found before anything is compiled.

use crate::equations::{rate, symbols_of};
use crate::error::ModelError;
use crate::lagrangian::Inversion;
use crate::matrix::Symmetric;
use crate::model::Model;
use crate::probe::{POINTS, Probe};
use leastaction_expr::{Expr, Id, nearest};
use std::collections::HashMap;

/// Declared symbols.
pub(crate) type Declared<'g> = HashMap<Id, (Expr<'g>, Kind)>;

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
        }
    }

    /// What to do where the name cannot stand.
    fn remedy(self) -> &'static str {
        match self {
            Kind::Velocity => "state a velocity-dependent energy as a Lagrangian term",
            Kind::Momentum => "momenta belong into a Hamiltonian",
            Kind::Input => "inputs act through forces",
            Kind::Parameter | Kind::Time | Kind::Coordinate | Kind::Definition => "it must be constant",
        }
    }
}

/// Checks everything that can be seen from names alone.
pub(crate) fn names(model: &Model<'_>) -> Result<(), ModelError> {
    if model.coordinates.is_empty() {
        return Err(ModelError::NoCoordinates);
    }
    let declared = declared(symbols(model))?;
    parameters(&model.parameters)?;
    statement(model)?;
    use Kind::{Coordinate, Input, Momentum, Parameter, Time, Velocity};
    let check = |place: String, e, allowed: &[Kind]| uses(&declared, place, e, allowed);
    for particle in &model.particles {
        let name = &particle.name;
        if !(1..=3).contains(&particle.position.len()) {
            let found = particle.position.len();
            return Err(ModelError::Dimensions {
                particle: name.clone(),
                found,
                expected: "1, 2 or 3".into(),
            });
        }
        if !model.gravity.is_empty() && model.gravity.len() != particle.position.len() {
            let expected = format!("{} (those of gravity)", model.gravity.len());
            let found = particle.position.len();
            return Err(ModelError::Dimensions { particle: name.clone(), found, expected });
        }
        if !particle.inertias.is_empty() && particle.inertias.len() != particle.position.len() {
            let expected = format!("{} (as many as inertias)", particle.inertias.len());
            let found = particle.position.len();
            return Err(ModelError::Dimensions { particle: name.clone(), found, expected });
        }
        for &mass in &particle.inertias {
            check(format!("the mass of particle `{name}`"), mass, &[Parameter])?;
            if let Some(value) = mass.eval(&model.parameters).ok().filter(|m| !(*m > 0.0 && m.is_finite())) {
                return Err(ModelError::BadMass { particle: name.clone(), value });
            }
        }
        for &x in &particle.position {
            check(format!("the position of particle `{name}`"), x, &[Parameter, Time, Coordinate])?;
        }
    }
    for &g in &model.gravity {
        check("gravity".into(), g, &[Parameter, Time])?;
    }
    let moving: &[Kind] = &[Parameter, Time, Coordinate, Velocity];
    let groups: [(&str, &[_], &[Kind]); 5] = [
        ("kinetic energy", &model.kinetic, moving),
        ("potential energy", &model.potential, &[Parameter, Time, Coordinate]),
        ("Lagrangian term", &model.lagrangian, moving),
        ("Hamiltonian term", &model.hamiltonian, &[Parameter, Time, Coordinate, Momentum]),
        ("dissipation", &model.dissipation, moving),
    ];
    for (what, terms, allowed) in groups {
        for term in terms {
            check(format!("the {what} `{}`", term.name), term.value, allowed)?;
        }
    }
    for &(coordinate, force) in &model.forces {
        if !model.coordinates.contains(&coordinate) {
            return Err(ModelError::ForceOnUnknown { name: coordinate.to_string() });
        }
        let allowed = &[Parameter, Time, Coordinate, Velocity, Input];
        check(format!("the force on `{coordinate}`"), force, allowed)?;
    }
    Ok(())
}

/// The symbols of a model with their kinds.
fn symbols<'g>(model: &Model<'g>) -> impl Iterator<Item = (Expr<'g>, Kind)> {
    let parameters = model.parameters.iter().map(|(s, _)| (*s, Kind::Parameter));
    let coordinates = model.coordinates.iter().map(|&s| (s, Kind::Coordinate));
    let velocities = model.coordinates.iter().map(|&q| (rate(q), Kind::Velocity));
    let momenta = model.all_momenta().into_iter().map(|s| (s, Kind::Momentum));
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

/// Every declared symbol with its kind; an error if a name is declared twice.
pub(crate) fn declared<'g>(
    symbols: impl Iterator<Item = (Expr<'g>, Kind)>,
) -> Result<Declared<'g>, ModelError> {
    let mut all = Declared::default();
    for (symbol, kind) in symbols {
        if let Some((_, first)) = all.insert(symbol.id(), (symbol, kind)) {
            let (first, second) = (first.what(), kind.what());
            return Err(ModelError::DuplicateName { name: symbol.to_string(), first, second });
        }
    }
    Ok(all)
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
    if model.momenta.len() > model.coordinates.len() {
        let (momenta, coordinates) = (model.momenta.len(), model.coordinates.len());
        return Err(ModelError::MomentaCount { momenta, coordinates });
    }
    let other = [&model.kinetic, &model.lagrangian].into_iter().flatten().map(|t| t.name.clone());
    let other =
        other.chain(model.particles.iter().filter(|p| !p.inertias.is_empty()).map(|p| p.name.clone())).next();
    match (model.hamiltonian.is_empty(), other) {
        (true, None) => Err(ModelError::NoEnergy),
        (false, Some(name)) => Err(ModelError::MixedForms { what: format!("`{name}`") }),
        _ => Ok(()),
    }
}

/// Checks that an expression uses only names that are declared, and of kinds that are allowed there.
pub(crate) fn uses<'g>(
    declared: &Declared<'g>,
    place: String,
    e: Expr<'g>,
    allowed: &[Kind],
) -> Result<(), ModelError> {
    for symbol in symbols_of(&[e]) {
        let name = symbol.to_string();
        match declared.get(&symbol.id()) {
            None => {
                let known: Vec<String> = declared.values().map(|(s, _)| s.to_string()).collect();
                let nearest = nearest(&name, known.iter().map(String::as_str));
                return Err(ModelError::UnknownName { place, name, nearest });
            }
            Some((_, kind)) if !allowed.contains(kind) => {
                let (what, remedy) = (kind.what(), kind.remedy());
                return Err(ModelError::MisplacedName { place, name, what, remedy });
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// Checks that an energy depends on every coordinate or on what stands beside it.
pub(crate) fn all_used(
    coordinates: &[Expr<'_>],
    beside: &[Expr<'_>],
    energy: Expr<'_>,
) -> Result<(), ModelError> {
    let used = symbols_of(&[energy]);
    match coordinates.iter().zip(beside).find(|(q, other)| !used.contains(q) && !used.contains(other)) {
        Some((q, _)) => Err(ModelError::UnusedCoordinate { name: q.to_string() }),
        None => Ok(()),
    }
}

/// Checks that every coordinate has inertia of its own, and decides how to solve with the mass matrix.
pub(crate) fn inertia<'g>(
    model: &Model<'g>,
    mass: &Symmetric<'g>,
    lagrangian: Expr<'g>,
    probe: &Probe<'g>,
) -> Result<Inversion, ModelError> {
    let velocities: Vec<_> = model.coordinates.iter().map(|&q| rate(q)).collect();
    all_used(&model.coordinates, &velocities, lagrangian)?;
    for (i, &q) in model.coordinates.iter().enumerate() {
        if (0..mass.size()).all(|j| mass.get(i, j).is_none()) {
            return Err(ModelError::NoInertia { name: q.to_string() });
        }
    }
    match inversion(mass, probe) {
        Ok(inversion) => Ok(inversion),
        Err(idle) => {
            let coordinates = idle.into_iter().map(|i| model.coordinates[i].to_string()).collect();
            Err(ModelError::SingularMass { coordinates })
        }
    }
}

/// How to solve with a symmetric matrix; the rows of a direction that it maps to zero, if it is singular everywhere.
pub(crate) fn inversion(mass: &Symmetric<'_>, probe: &Probe<'_>) -> Result<Inversion, Vec<usize>> {
    let order = mass.elimination();
    let (mut regular, mut definite, mut idle) = (false, true, Vec::new());
    let found = (0..POINTS).filter_map(|point| inertia_at(mass, &order, probe, point));
    for found in found.take(3) {
        match found {
            Found::Definite => regular = true,
            Found::Regular => (regular, definite) = (true, false),
            Found::Singular(coordinates) => idle = coordinates,
        }
    }
    // A matrix that is singular at every point without pattern is singular everywhere.
    if !regular && !idle.is_empty() {
        return Err(idle);
    }
    Ok(match order {
        Some(order) if regular && definite => Inversion::Unrolled(order),
        None if regular && definite => Inversion::Definite,
        _ => Inversion::Indefinite,
    })
}

/// What a mass matrix is at one point.
enum Found {
    /// It can be factored without pivots.
    Definite,
    /// It can be inverted.
    Regular,
    /// A motion of these coordinates has no inertia.
    Singular(Vec<usize>),
}

/// What the mass matrix is at a point; `None` if it is not finite there.
fn inertia_at(
    mass: &Symmetric<'_>,
    order: &Option<Vec<usize>>,
    probe: &Probe<'_>,
    point: u64,
) -> Option<Found> {
    let entries: Vec<_> = mass.entries().collect();
    let values: Vec<_> = entries.iter().map(|&(.., value)| value).collect();
    let values = probe.values(&values, point, 0);
    if values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let natural: Vec<usize> = (0..mass.size()).collect();
    let mut definite = true;
    for block in blocks(mass.size(), &entries, order.as_ref().unwrap_or(&natural)) {
        let mut place = vec![None; mass.size()];
        block.iter().enumerate().for_each(|(k, &i)| place[i] = Some(k));
        let mut a = vec![vec![0.0; block.len()]; block.len()];
        for (&(i, j, _), &value) in entries.iter().zip(&values) {
            if let (Some(i), Some(j)) = (place[i], place[j]) {
                (a[i][j], a[j][i]) = (value, value);
            }
        }
        if has_pivots(a.clone()) {
            continue;
        }
        definite = false;
        if let Some(idle) = null_direction(a) {
            let mut idle: Vec<usize> = idle.into_iter().map(|k| block[k]).collect();
            idle.sort_unstable();
            return Some(Found::Singular(idle));
        }
    }
    Some(if definite { Found::Definite } else { Found::Regular })
}

/// The coordinates in groups that the mass matrix does not couple, each in the given order.
fn blocks<T>(size: usize, entries: &[(usize, usize, T)], order: &[usize]) -> Vec<Vec<usize>> {
    let mut group: Vec<usize> = (0..size).collect();
    fn root(group: &mut [usize], mut i: usize) -> usize {
        while group[i] != i {
            group[i] = group[group[i]];
            i = group[i];
        }
        i
    }
    for &(i, j, _) in entries {
        let (a, b) = (root(&mut group, i), root(&mut group, j));
        group[a.max(b)] = a.min(b);
    }
    let mut members = vec![Vec::new(); size];
    order.iter().for_each(|&i| members[root(&mut group, i)].push(i));
    members.into_iter().filter(|m| !m.is_empty()).collect()
}

/// The coordinates of a direction that a matrix maps to zero, by Gauss–Jordan elimination with full pivoting.
fn null_direction(mut a: Vec<Vec<f64>>) -> Option<Vec<usize>> {
    let n = a.len();
    let size = a.iter().flatten().fold(0.0f64, |m, v| m.max(v.abs()));
    let mut columns: Vec<usize> = (0..n).collect();
    for k in 0..n {
        let (i, j) = (k..n)
            .flat_map(|i| (k..n).map(move |j| (i, j)))
            .max_by(|&(i, j), &(r, s)| a[i][columns[j]].abs().total_cmp(&a[r][columns[s]].abs()))?;
        if a[i][columns[j]].abs() <= 1e-12 * size {
            // What is left without a pivot is free; the rows above say which columns move with it.
            let free = columns[k];
            let coupled = (0..k).filter(|&r| a[r][free].abs() > 1e-9).map(|r| columns[r]);
            return Some(coupled.chain([free]).collect());
        }
        a.swap(k, i);
        columns.swap(k, j);
        let pivot = a[k][columns[k]];
        a[k].iter_mut().for_each(|v| *v /= pivot);
        let row = a[k].clone();
        for other in (0..n).filter(|&r| r != k) {
            let factor = a[other][columns[k]];
            a[other].iter_mut().zip(&row).for_each(|(v, p)| *v -= factor * p);
        }
    }
    None
}

/// Whether elimination without exchanges meets no small pivot.
fn has_pivots(mut a: Vec<Vec<f64>>) -> bool {
    let sizes: Vec<f64> = a.iter().map(|row| row.iter().fold(0.0f64, |m, v| m.max(v.abs()))).collect();
    for k in 0..a.len() {
        let pivot = a[k][k];
        if pivot.abs() <= 1e-8 * sizes[k] {
            return false;
        }
        let row = a[k].clone();
        for other in &mut a[k + 1..] {
            let factor = other[k] / pivot;
            other.iter_mut().zip(&row).skip(k).for_each(|(v, p)| *v -= factor * p);
        }
    }
    true
}
