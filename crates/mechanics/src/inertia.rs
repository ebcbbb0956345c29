//! Whether a mass matrix can be inverted, and how. Decided from its values at points without pattern.

use crate::check::all_used;
use crate::equations::rate;
use crate::error::ModelError;
use crate::lagrangian::Inversion;
use crate::matrix::Symmetric;
use crate::model::Model;
use crate::probe::{POINTS, Probe};
use leastaction_expr::Expr;

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
    let velocities: Vec<_> = model.coordinates.iter().map(|&q| rate(q)).collect();
    all_used(&model.coordinates, &velocities, lagrangian)?;
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

/// What the mass matrix is at a point; `None` if it is not finite there, or seems singular only because a part of it is
/// lost in the rounding of another.
fn inertia_at(
    mass: &Symmetric<'_>,
    order: &Option<Vec<usize>>,
    probe: &Probe<'_>,
    point: u64,
) -> Option<Found> {
    let entries: Vec<_> = mass.entries().collect();
    let expressions: Vec<_> = entries.iter().map(|&(.., value)| value).collect();
    let (values, clear) = probe.values(&expressions, point);
    let pattern: Vec<_> = entries.iter().map(|&(i, j, _)| (i, j)).collect();
    let natural: Vec<usize> = (0..mass.size()).collect();
    match judge(&pattern, &values, order.as_ref().unwrap_or(&natural)) {
        Some(Found::Singular(_)) if !clear => None,
        found => found,
    }
}

/// The coordinates that move without inertia, if a symmetric matrix of numbers is singular to rounding.
pub(crate) fn idle(size: usize, pattern: &[(usize, usize)], values: &[f64]) -> Option<Vec<usize>> {
    if size <= SMALL && is_definite(size, pattern, values) {
        return None;
    }
    match judge(pattern, values, &(0..size).collect::<Vec<_>>()) {
        Some(Found::Singular(idle)) => Some(idle),
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
    for k in 0..size {
        let (row, pivot) = (a[k], a[k][k]);
        let clear = pivot > rounding(size) * sizes[k] && pivot.is_finite();
        if !clear {
            return false;
        }
        for other in &mut a[k + 1..size] {
            let factor = other[k] / pivot;
            (k..size).for_each(|j| other[j] -= factor * row[j]);
        }
    }
    true
}

/// What a symmetric matrix of numbers is, eliminated in this order; `None` if it is not finite.
fn judge(pattern: &[(usize, usize)], values: &[f64], order: &[usize]) -> Option<Found> {
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
        if has_pivots(a.clone()) {
            continue;
        }
        definite = false;
        idle.extend(null_space(a).into_iter().map(|k| block[k]));
    }
    idle.sort_unstable();
    Some(match (idle.is_empty(), definite) {
        (false, _) => Found::Singular(idle),
        (true, true) => Found::Definite,
        (true, false) => Found::Regular,
    })
}

/// Rounding, relative to a diagonal of ones.
fn rounding(n: usize) -> f64 {
    16.0 * n as f64 * f64::EPSILON
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

/// The coordinates in directions that a balanced matrix maps to zero, by Gauss–Jordan elimination with full pivoting.
fn null_space(mut a: Vec<Vec<f64>>) -> Vec<usize> {
    let n = a.len();
    let size = a.iter().flatten().fold(0.0f64, |m, v| m.max(v.abs()));
    let mut columns: Vec<usize> = (0..n).collect();
    for k in 0..n {
        let open = (k..n).flat_map(|i| (k..n).map(move |j| (i, j)));
        let largest =
            open.max_by(|&(i, j), &(r, s)| a[i][columns[j]].abs().total_cmp(&a[r][columns[s]].abs()));
        let (i, j) = largest.unwrap_or((k, k));
        if a[i][columns[j]].abs() <= rounding(n) * size {
            // What is left without a pivot is free; the rows above say which columns move with it.
            let moves = |&r: &usize| columns[k..].iter().any(|&free| a[r][free].abs() > 1e-9);
            return (0..k).filter(moves).map(|r| columns[r]).chain(columns[k..].iter().copied()).collect();
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
    Vec::new()
}

/// Whether elimination of a balanced matrix without exchanges is safe: all pivots are positive, or none is small.
fn has_pivots(mut a: Vec<Vec<f64>>) -> bool {
    let n = a.len();
    let sizes: Vec<f64> = a.iter().map(|row| row.iter().fold(0.0f64, |m, v| m.max(v.abs()))).collect();
    let (mut positive, mut large) = (true, true);
    for k in 0..n {
        let pivot = a[k][k];
        positive &= pivot > rounding(n) * sizes[k];
        large &= pivot.abs() > 1e-8 * sizes[k];
        if !positive && !large {
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
