//! Whether a mass matrix can be inverted, and how. Decided from its values at points without pattern.

use crate::check::all_used;
use crate::equations::rate;
use crate::error::ModelError;
use crate::lagrangian::Inversion;
use crate::matrix::Symmetric;
use crate::model::Model;
use crate::probe::{POINTS, Probe};
use leastaction_expr::Expr;
use leastaction_linear::rank;

/// Checks that every coordinate has inertia of its own, and decides how to solve with the mass matrix.
///
/// `shape` gives the mass matrix with all masses 1, if particles are all that has inertia: it has the same rank, whatever masses
/// are lost in the rounding of others.
pub(crate) fn check<'g>(
    model: &Model<'g>,
    mass: &Symmetric<'g>,
    lagrangian: Expr<'g>,
    shape: impl FnOnce() -> Option<Symmetric<'g>>,
    probe: &Probe<'g>,
) -> Result<Inversion, ModelError> {
    // States have neither an energy nor need one.
    let is_state = |q: &Expr<'g>| model.states.iter().any(|(integral, _)| integral == q);
    let coordinates: Vec<_> = model.coordinates.iter().copied().filter(|q| !is_state(q)).collect();
    let velocities: Vec<_> = coordinates.iter().map(|&q| rate(q)).collect();
    all_used(&coordinates, &velocities, lagrangian)?;
    let mut moved = vec![false; mass.size()];
    mass.entries().for_each(|(i, j, _)| (moved[i], moved[j]) = (true, true));
    if let Some((&q, _)) = model.coordinates.iter().zip(moved).find(|(_, moved)| !moved) {
        return Err(ModelError::NoInertia { name: q.to_string() });
    }
    match inversion(mass, probe) {
        Ok(inversion) => Ok(inversion),
        Err(_) if shape().is_some_and(|shape| inversion(&shape, probe).is_ok()) => Ok(Inversion::Indefinite),
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
    let verdicts = (0..POINTS).filter_map(|point| inertia_at(mass, &order, probe, point));
    for verdict in verdicts.take(3) {
        match verdict {
            Verdict::Definite => regular = true,
            Verdict::Regular => (regular, definite) = (true, false),
            Verdict::Singular(coordinates) => idle = coordinates,
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
enum Verdict {
    /// It can be factored without pivots.
    Definite,
    /// It can be inverted.
    Regular,
    /// A motion of these coordinates has no inertia.
    Singular(Vec<usize>),
}

/// What the mass matrix is at a point; `None` if it is not finite there, or seems singular only because a part of it is
/// lost in the rounding of another.
fn inertia_at(
    mass: &Symmetric<'_>,
    order: &Option<Vec<usize>>,
    probe: &Probe<'_>,
    point: u64,
) -> Option<Verdict> {
    let entries: Vec<_> = mass.entries().collect();
    let expressions: Vec<_> = entries.iter().map(|&(.., value)| value).collect();
    let (values, clear) = probe.values(&expressions, point);
    let pattern: Vec<_> = entries.iter().map(|&(i, j, _)| (i, j)).collect();
    let natural: Vec<usize> = (0..mass.size()).collect();
    match judge(&pattern, &values, order.as_ref().unwrap_or(&natural)) {
        Some(Verdict::Singular(_)) if !clear => None,
        found => found,
    }
}

/// The coordinates that move without inertia, if a symmetric matrix of numbers is singular to rounding.
pub(crate) fn idle(size: usize, pattern: &[(usize, usize)], values: &[f64]) -> Option<Vec<usize>> {
    if size <= SMALL && is_definite(size, pattern, values) {
        return None;
    }
    match judge(pattern, values, &(0..size).collect::<Vec<_>>()) {
        Some(Verdict::Singular(idle)) => Some(idle),
        _ => None,
    }
}

/// Matrices of so many rows are first tried as a whole: most are positive definite, and starts are many.
const SMALL: usize = 12;

/// Whether a small symmetric matrix of numbers is positive definite beyond rounding, as [`judge`] would find.
fn is_definite(size: usize, pattern: &[(usize, usize)], values: &[f64]) -> bool {
    let (mut a, mut units, mut sizes) = ([[0.0; SMALL]; SMALL], [0.0; SMALL], [0.0f64; SMALL]);
    pattern.iter().zip(values).for_each(|(&(i, j), &value)| (a[i][j], a[j][i]) = (value, value));
    (0..size).for_each(|i| units[i] = a[i][i].sqrt());
    for (i, row) in a[..size].iter_mut().enumerate() {
        row[..size].iter_mut().zip(&units).for_each(|(v, unit)| *v = *v / units[i] / unit);
        sizes[i] = row.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    }
    rank::is_positive(&mut a, size, &sizes)
}

/// What a symmetric matrix of numbers is, eliminated in this order; `None` if it is not finite.
fn judge(pattern: &[(usize, usize)], values: &[f64], order: &[usize]) -> Option<Verdict> {
    if values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let (mut definite, mut idle) = (true, Vec::new());
    let blocks = blocks(pattern, order);
    // Where each coordinate stands: its block, and its place there.
    let mut place = vec![(0, 0); order.len()];
    for (b, block) in blocks.iter().enumerate() {
        block.iter().enumerate().for_each(|(k, &i)| place[i] = (b, k));
    }
    let mut entries: Vec<Vec<(usize, usize, f64)>> = vec![Vec::new(); blocks.len()];
    for (&(i, j), &value) in pattern.iter().zip(values) {
        entries[place[i].0].push((place[i].1, place[j].1, value));
    }
    for (block, entries) in blocks.iter().zip(entries) {
        let mut a = vec![vec![0.0; block.len()]; block.len()];
        entries.into_iter().for_each(|(i, j, value)| (a[i][j], a[j][i]) = (value, value));
        balance(&mut a);
        if rank::has_pivots(a.clone()) {
            continue;
        }
        definite = false;
        idle.extend(rank::null_space(a).into_iter().map(|k| block[k]));
    }
    idle.sort_unstable();
    Some(match (idle.is_empty(), definite) {
        (false, _) => Verdict::Singular(idle),
        (true, true) => Verdict::Definite,
        (true, false) => Verdict::Regular,
    })
}

/// Measures every coordinate in units that make its own inertia 1, so that light and heavy are judged alike.
fn balance(a: &mut [Vec<f64>]) {
    let unit = |(i, row): (usize, &Vec<f64>)| {
        let largest = row.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let own = if row[i] == 0.0 { largest } else { row[i].abs() };
        if own == 0.0 { 1.0 } else { own.sqrt() }
    };
    let units: Vec<f64> = a.iter().enumerate().map(unit).collect();
    for (i, row) in a.iter_mut().enumerate() {
        row.iter_mut().zip(&units).for_each(|(v, unit)| *v = *v / units[i] / unit);
    }
}

/// The coordinates in groups that the mass matrix does not couple, each in the given order.
fn blocks(pattern: &[(usize, usize)], order: &[usize]) -> Vec<Vec<usize>> {
    let size = order.len();
    let mut group: Vec<usize> = (0..size).collect();
    fn root(group: &mut [usize], mut i: usize) -> usize {
        while group[i] != i {
            group[i] = group[group[i]];
            i = group[i];
        }
        i
    }
    for &(i, j) in pattern {
        let (a, b) = (root(&mut group, i), root(&mut group, j));
        group[a.max(b)] = a.min(b);
    }
    let mut members = vec![Vec::new(); size];
    order.iter().for_each(|&i| members[root(&mut group, i)].push(i));
    members.into_iter().filter(|m| !m.is_empty()).collect()
}
