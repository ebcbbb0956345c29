//! What is wrong with a model, found before anything is compiled.

use crate::equations::{Equations, Lower, Statement, depends, rate};
use crate::error::ModelError;
use crate::model::Model;
use leastaction_expr::Expr;

/// What a declared name stands for, and so where it may be used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Parameter,
    Time,
    Coordinate,
    Velocity,
    Momentum,
    Input,
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
        }
    }

    /// What to do where the name cannot stand.
    fn remedy(self) -> &'static str {
        match self {
            Kind::Velocity => "state a velocity-dependent energy as a Lagrangian term",
            Kind::Momentum => "momenta belong into a Hamiltonian",
            Kind::Input => "inputs act through forces",
            Kind::Parameter | Kind::Time | Kind::Coordinate => "it must be constant",
        }
    }
}

/// Checks everything that can be seen from names alone.
pub(crate) fn names(model: &Model<'_>) -> Result<(), ModelError> {
    if model.coordinates.is_empty() {
        return Err(ModelError::NoCoordinates);
    }
    let declared = declared(model)?;
    statement(model)?;
    use Kind::{Coordinate, Input, Momentum, Parameter, Time, Velocity};
    let check = |place: String, e: Expr<'_>, allowed: &[Kind]| uses(&declared, place, e, allowed);
    for particle in &model.particles {
        let name = &particle.name;
        if !(1..=3).contains(&particle.position.len()) {
            let found = particle.position.len();
            return Err(ModelError::Dimensions { particle: name.clone(), found, expected: "1, 2 or 3".into() });
        }
        if !model.gravity.is_empty() && model.gravity.len() != particle.position.len() {
            let expected = format!("{} (those of gravity)", model.gravity.len());
            let found = particle.position.len();
            return Err(ModelError::Dimensions { particle: name.clone(), found, expected });
        }
        for &mass in &particle.inertias {
            check(format!("the mass of particle `{name}`"), mass, &[Parameter])?;
            let defaults: Vec<_> = model.parameters.clone();
            match mass.eval(&defaults) {
                Ok(value) if value > 0.0 && value.is_finite() => {}
                Ok(value) => return Err(ModelError::BadMass { particle: name.clone(), value }),
                Err(_) => {} // an unknown name was reported above
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

/// Every declared symbol with its kind; an error if a name is declared twice.
fn declared<'g>(model: &Model<'g>) -> Result<Vec<(Expr<'g>, Kind)>, ModelError> {
    let mut all: Vec<(Expr<'g>, Kind)> = vec![(model.time, Kind::Time)];
    let parameters = model.parameters.iter().map(|(s, _)| (*s, Kind::Parameter));
    let coordinates = model.coordinates.iter().map(|&s| (s, Kind::Coordinate));
    let velocities = model.coordinates.iter().map(|&q| (rate(q), Kind::Velocity));
    let momenta = model.momenta.iter().map(|&s| (s, Kind::Momentum));
    let inputs = model.inputs.iter().map(|&s| (s, Kind::Input));
    for (symbol, kind) in parameters.chain(coordinates).chain(velocities).chain(momenta).chain(inputs) {
        if let Some((_, first)) = all.iter().find(|(other, _)| *other == symbol) {
            let (first, second) = (first.what(), kind.what());
            return Err(ModelError::DuplicateName { name: symbol.to_string(), first, second });
        }
        all.push((symbol, kind));
    }
    Ok(all)
}

/// Checks that the motion is stated, and one way only.
fn statement(model: &Model<'_>) -> Result<(), ModelError> {
    if !model.momenta.is_empty() && model.momenta.len() != model.coordinates.len() {
        let (momenta, coordinates) = (model.momenta.len(), model.coordinates.len());
        return Err(ModelError::MomentaCount { momenta, coordinates });
    }
    let other = [&model.kinetic, &model.lagrangian].into_iter().flatten().map(|t| t.name.clone());
    let other = other.chain(model.particles.iter().map(|p| p.name.clone())).next();
    match (model.hamiltonian.is_empty(), other) {
        (true, None) => Err(ModelError::NoEnergy),
        (false, Some(name)) => Err(ModelError::MixedForms { what: format!("`{name}`") }),
        _ => Ok(()),
    }
}

fn uses(declared: &[(Expr<'_>, Kind)], place: String, e: Expr<'_>, allowed: &[Kind]) -> Result<(), ModelError> {
    for symbol in e.free_symbols() {
        let name = symbol.to_string();
        match declared.iter().find(|(s, _)| *s == symbol) {
            None => {
                let known = declared.iter().map(|(s, _)| s.to_string());
                let nearest = leastaction_expr::nearest(&name, known);
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

/// Checks that every coordinate has inertia of its own.
pub(crate) fn inertia(equations: &Equations<'_>) -> Result<(), ModelError> {
    let Statement::Lagrangian(l) = &equations.statement else { return Ok(()) };
    for (i, &q) in equations.coordinates.iter().enumerate() {
        let row = (0..equations.degrees()).map(|j| l.mass[i.max(j)][i.min(j)]);
        if row.clone().all(|entry| entry.as_number() == Some(0.0)) && !depends(l.value, &[rate(q)]) {
            return Err(ModelError::UnusedCoordinate { name: q.to_string() });
        }
    }
    // A matrix that is singular at several points without pattern is singular everywhere.
    let mut idle: Option<Vec<usize>> = None;
    for trial in 1..=3 {
        match null_vector(equations, &l.mass, trial) {
            Some(found) => idle = Some(found),
            None => return Ok(()),
        }
    }
    let idle = idle.unwrap_or_default();
    let names = idle.into_iter().map(|i| equations.coordinates[i].to_string()).collect();
    Err(ModelError::SingularMass { coordinates: names })
}

/// The coordinates of a direction that the mass matrix does not resist, at a point without pattern.
fn null_vector(equations: &Equations<'_>, mass: &Lower<'_>, trial: u32) -> Option<Vec<usize>> {
    let mut values = equations.parameters.clone();
    let symbols = equations.coordinates.iter().chain(&equations.velocities).chain([&equations.time]);
    for (i, &symbol) in symbols.enumerate() {
        // Multiples of the golden ratio, reduced: spread out and never repeating.
        values.push((symbol, 0.1 + 0.8 * (f64::from(trial) * 0.754_877_666 + i as f64 * 0.618_033_989).fract()));
    }
    let n = mass.len();
    let mut a = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            a[i][j] = mass[i][j].eval(&values).ok().filter(|v| v.is_finite())?;
            a[j][i] = a[i][j];
        }
    }
    // Gauss–Jordan elimination with full pivoting; what is left without a pivot is the null space.
    let size = a.iter().flatten().fold(0.0f64, |m, v| m.max(v.abs()));
    let mut columns: Vec<usize> = (0..n).collect();
    for k in 0..n {
        let (i, j) = (k..n)
            .flat_map(|i| (k..n).map(move |j| (i, j)))
            .max_by(|&(i, j), &(r, s)| a[i][columns[j]].abs().total_cmp(&a[r][columns[s]].abs()))?;
        if a[i][columns[j]].abs() <= 1e-12 * size {
            let free = columns[k];
            let involved = (0..k).filter(|&r| a[r][free].abs() > 1e-9).map(|r| columns[r]);
            let mut involved: Vec<usize> = involved.chain([free]).collect();
            involved.sort_unstable();
            return Some(involved);
        }
        a.swap(k, i);
        columns.swap(k, j);
        let pivot = a[k][columns[k]];
        a[k].iter_mut().for_each(|v| *v /= pivot);
        let row = a[k].clone();
        for (r, other) in a.iter_mut().enumerate().filter(|(r, _)| *r != k) {
            let factor = other[columns[k]];
            let _ = r;
            other.iter_mut().zip(&row).for_each(|(v, p)| *v -= factor * p);
        }
    }
    None
}
