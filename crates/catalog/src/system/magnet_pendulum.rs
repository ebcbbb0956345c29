//! A pendulum in space whose bob is a magnet, above two magnets that repel it: starts of M. Finzi, K. A. Wang and A. G. Wilson, NeurIPS 2020,
//! arXiv:2010.13581.

use crate::spherical::direction;
use leastaction_expr::Random;
use std::f64::consts::{FRAC_PI_2, PI};

pub(super) fn draw(random: &mut Random, _: usize) -> Vec<(String, f64)> {
    let [phi, phi_rate, theta, theta_rate] = random.normals();
    let angles = [PI + 0.3 * phi, FRAC_PI_2 + 0.2 * theta];
    let [position, velocity] = direction(angles, [0.05 * phi_rate, 0.4 * theta_rate]);
    let names = ["x", "y", "z", "x'", "y'", "z'"].map(str::to_owned);
    names.into_iter().zip(position.into_iter().chain(velocity)).collect()
}
