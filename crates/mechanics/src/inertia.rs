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
pub(crate) fn check<'g>(
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
    let values = probe.values(&values, point);
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
