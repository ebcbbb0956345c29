//! A heavy symmetric top on a ball joint: starts of M. Finzi, K. A. Wang and A. G. Wilson, NeurIPS 2020, arXiv:2010.13581.

use super::posed;
use leastaction_expr::Random;
use leastaction_mechanics::Pose;

/// The pivot, from the centre of mass.
const FOOT: [f64; 3] = [0.0, 0.0, -0.2217285];

pub(super) fn draw(random: &mut Random, _: usize) -> Vec<(String, f64)> {
    let angles = [(); 3].map(|()| random.between(-1.5, 1.5));
    let (precession, nutation) = (random.between(-4.5, 4.5), random.between(-0.3, 0.3));
    let sense = if random.between(-1.0, 1.0) < 0.0 { -1.0 } else { 1.0 };
    let rates = [precession, nutation, sense * 1.5 * (7.0 + random.normal())];
    posed("top", &Pose::at([0.0, 0.0, 0.0]).holding(FOOT).zxz(angles, rates))
}
