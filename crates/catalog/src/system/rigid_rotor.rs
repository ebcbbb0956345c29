//! A body that nothing acts on: starts of M. Finzi, K. A. Wang and A. G. Wilson, NeurIPS 2020, arXiv:2010.13581.

use super::posed;
use leastaction_expr::Random;
use leastaction_mechanics::Pose;

pub(super) fn draw(random: &mut Random, _: usize) -> Vec<(String, f64)> {
    let [at, velocity, angles, rates] =
        [(); 4].map(|()| random.normals().map(|x| (2.0 * x).clamp(-3.0, 3.0)));
    posed("rotor", &Pose::at(at.map(|x| 0.1 * x)).moving(velocity.map(|v| 0.1 * v)).zxz(angles, rates))
}
