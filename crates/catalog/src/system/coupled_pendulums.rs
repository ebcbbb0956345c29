//! Pendulums in space, side by side, each joined to the next by a spring.

use super::statement;
use crate::spherical::direction;
use leastaction_expr::Random;
use std::f64::consts::{FRAC_PI_2, PI};

pub(super) fn text(size: usize) -> String {
    let rod = |i: usize| match i {
        1 => "constraint rod1: x1^2 + y1^2 + z1^2 = l^2\n".to_owned(),
        _ => format!("constraint rod{i}: (x{i} - {})^2 + y{i}^2 + z{i}^2 = l^2\n", i - 1),
    };
    let spring = |i: usize| format!("spring spring{i} from bob{i} to bob{} stiffness k length 1\n", i + 1);
    format!(
        "\
# pendulums in space, each joined to the next by a spring, the first one pulled aside
#
# Pendulum i hangs from (i - 1, 0, 0), and springs have length 1 at rest (a system of M. Finzi,
# K. A. Wang and A. G. Wilson, NeurIPS 2020, arXiv:2010.13581).

param m = 1, l = 1, g = 9.81, k = 10
{}
{}gravity [0, 0, -g]

{}
{}
# The first rod is tilted by 0.5 about the x axis, and by 0.3 towards it.
start x1 = l*sin(0.3), y1 = -l*cos(0.3)*sin(0.5), z1 = -l*cos(0.3)*cos(0.5)
{}run step 0.005, until 5
{}{}{}",
        statement("coord", (1..=size).map(|i| format!("x{i}, y{i}, z{i}"))),
        (1..=size).map(|i| format!("particle bob{i} mass m at [x{i}, y{i}, z{i}]\n")).collect::<String>(),
        (1..=size).map(rod).collect::<String>(),
        (1..size).map(spring).collect::<String>(),
        statement("start", (2..=size).map(|i| format!("x{i} = {}, z{i} = -l", i - 1))),
        statement("draw", (1..=size).map(|i| format!("rod [{}, 0, 0] to bob{i}", i - 1))),
        statement("draw", (1..size).map(|i| format!("spring bob{i} to bob{}", i + 1))),
        statement("draw", (1..=size).map(|i| format!("dot bob{i}"))),
    )
}

pub(super) fn draw(random: &mut Random, size: usize) -> Vec<(String, f64)> {
    let mut pendulum = |i: usize| {
        let [phi, theta, phi_rate, theta_rate] = random.normals().map(|x| 0.3 * x);
        let [rod, velocity] = direction([PI + phi, FRAC_PI_2 + theta], [phi_rate, theta_rate]);
        let position = [(i - 1) as f64 + rod[0], rod[1], rod[2]];
        let each = ["x", "y", "z"].into_iter().zip(position.into_iter().zip(velocity));
        each.flat_map(move |(axis, (x, v))| [(format!("{axis}{i}"), x), (format!("{axis}{i}'"), v)])
    };
    (1..=size).flat_map(&mut pendulum).collect()
}
