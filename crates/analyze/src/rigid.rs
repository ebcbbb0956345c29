//! Which motions that cost no energy are those of a rigid body.

use crate::error::AnalyzeError;
use crate::rest::{Rest, dot};

/// What is known of the modes that cost no energy.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Rigid {
    /// The axes along which everything can be moved, of 0, 1 and 2.
    pub translations: Vec<usize>,
    /// The axes about which everything can be turned.
    pub rotations: Vec<usize>,
    /// How many other modes cost no energy.
    pub others: usize,
}

/// How much of a rigid motion may be missing in what costs no energy.
const MISSING: f64 = 1e-4;

/// Looks for rigid motions of all particles and points among the modes that cost no energy.
pub(crate) fn rigid(rest: &mut Rest<'_>, q: &[f64], shapes: &[&[f64]]) -> Result<Rigid, AnalyzeError> {
    let places = rest.dynamics.system().places().to_vec();
    if shapes.is_empty() || places.is_empty() {
        return Ok(Rigid { others: shapes.len(), ..Rigid::default() });
    }
    let len = places.iter().map(|place| place.dimensions).sum();
    let n = rest.n;
    let mut at = |q: &[f64]| {
        let (mut y, mut x) = (q.to_vec(), vec![0.0; len]);
        y.resize(2 * n, 0.0);
        rest.dynamics.positions(&[rest.t], &y, &mut x).map(|()| x)
    };
    let whole = at(q)?;
    // How all positions change along each mode, by central differences.
    let mut moved: Vec<Vec<f64>> = Vec::new();
    for shape in shapes {
        let step = 1e-5 / shape.iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
        let side = |sign: f64| q.iter().zip(*shape).map(|(q, x)| q + sign * step * x).collect::<Vec<_>>();
        let (ahead, behind) = (at(&side(1.0))?, at(&side(-1.0))?);
        let mut change: Vec<f64> = ahead.iter().zip(&behind).map(|(a, b)| (a - b) / (2.0 * step)).collect();
        for other in &moved {
            let part = dot(other, &change);
            change.iter_mut().zip(other).for_each(|(x, o)| *x -= part * o);
        }
        let length = dot(&change, &change).sqrt();
        if length > 1e-9 {
            change.iter_mut().for_each(|x| *x /= length);
            moved.push(change);
        }
    }
    let mut centre = [0.0; 3];
    let mut start = 0;
    for place in &places {
        let x = &whole[start..][..place.dimensions];
        centre.iter_mut().zip(x).for_each(|(c, x)| *c += x / places.len() as f64);
        start += place.dimensions;
    }
    let flat = places.iter().all(|place| place.dimensions == 2);
    let generator = |velocity: &dyn Fn([f64; 3]) -> [f64; 3]| {
        let mut out = Vec::with_capacity(len);
        let mut start = 0;
        for place in &places {
            let mut from_centre = [0.0; 3];
            for (axis, x) in whole[start..][..place.dimensions].iter().enumerate().take(3) {
                from_centre[axis] = x - centre[axis];
            }
            out.extend(velocity(from_centre).into_iter().take(place.dimensions));
            start += place.dimensions;
        }
        out
    };
    let contains = |motion: &[f64]| {
        let size = dot(motion, motion);
        let kept: f64 = moved.iter().map(|mode| dot(mode, motion).powi(2)).sum();
        size > 0.0 && size - kept <= MISSING * MISSING * size
    };
    let size = whole.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let axes = if flat { 0..2 } else { 0..3 };
    let translations: Vec<usize> = axes
        .filter(|&axis| {
            contains(&generator(&|_| {
                let mut v = [0.0; 3];
                v[axis] = 1.0;
                v
            }))
        })
        .collect();
    let turns = if flat { 2..3 } else { 0..3 };
    let rotations: Vec<usize> = turns
        .filter(|&axis| {
            let (j, k) = ((axis + 1) % 3, (axis + 2) % 3);
            let motion = generator(&|x| {
                let mut v = [0.0; 3];
                (v[j], v[k]) = (-x[k], x[j]);
                v
            });
            // Of points on the axis, nothing turns.
            dot(&motion, &motion) > 1e-18 * size * size && contains(&motion)
        })
        .collect();
    let others = shapes.len().saturating_sub(translations.len() + rotations.len());
    Ok(Rigid { translations, rotations, others })
}
