//! A chain of pendulums in a plane, in Cartesian coordinates: as many weights as you like, held by rods.
//!
//! Masses and lengths, from top to bottom, are the first N and the next N of one sequence, each read backwards; it repeats after ten
//! numbers (the systems of M. Finzi, K. A. Wang and A. G. Wilson, *Simplifying Hamiltonian and Lagrangian Neural Networks via Explicit Constraints*,
//! NeurIPS 2020, arXiv:2010.13581, for N = 1, 2, 3 and 5).

use super::statement;
use leastaction_expr::Random;

const SEQUENCE: [f64; 10] =
    [1.039051, 1.172151, 1.082211, 1.035907, 0.938924, 1.116715, 0.950070, 1.313418, 1.370930, 0.906753];

/// The mass of weight i, counted from 1.
fn mass(i: usize, size: usize) -> f64 {
    SEQUENCE[(size - i) % 10]
}

/// The length of rod i, counted from 1.
fn length(i: usize, size: usize) -> f64 {
    SEQUENCE[(2 * size - i) % 10]
}

pub(super) fn text(size: usize) -> String {
    let numbers = |i: usize| format!("param m{i} = {}, l{i} = {}\n", mass(i, size), length(i, size));
    let rod = |i: usize| match i {
        1 => "constraint rod1: dot(bob1, bob1) = l1^2\n".to_owned(),
        _ => format!("constraint rod{i}: dot(bob{i} - bob{0}, bob{i} - bob{0}) = l{i}^2\n", i - 1),
    };
    let reach = |i: usize| match i {
        2 => "r2 = l1 + l2".to_owned(),
        _ => format!("r{i} = r{} + l{i}", i - 1),
    };
    format!(
        "\
# a chain of weights on rods in a plane, in Cartesian coordinates
#
# Masses and lengths are those of M. Finzi, K. A. Wang and A. G. Wilson, Simplifying Hamiltonian and
# Lagrangian Neural Networks via Explicit Constraints, NeurIPS 2020, arXiv:2010.13581.

param g = 9.81
{}
{}
{}gravity [0, -g]

{}
# It falls from where it is stretched out at a right angle to gravity.
{}{}run step 0.003, until 3
{}{}",
        (1..=size).map(numbers).collect::<String>(),
        statement("coord", (1..=size).map(|i| format!("x{i}, y{i}"))),
        (1..=size).map(|i| format!("particle bob{i} mass m{i} at [x{i}, y{i}]\n")).collect::<String>(),
        (1..=size).map(rod).collect::<String>(),
        statement("let", (2..=size).map(reach)),
        statement(
            "start",
            (1..=size).map(|i| match i {
                1 => "x1 = l1".to_owned(),
                _ => format!("x{i} = r{i}"),
            })
        ),
        statement(
            "draw",
            (1..=size).map(|i| match i {
                1 => "rod [0, 0] to bob1".to_owned(),
                _ => format!("rod bob{} to bob{i}", i - 1),
            })
        ),
        statement("draw", (1..=size).map(|i| format!("dot bob{i}"))),
    )
}

/// Angles and their rates are normal; positions and velocities are then blurred, and the velocities enlarged.
pub(super) fn draw(random: &mut Random, size: usize) -> Vec<(String, f64)> {
    let mut values = Vec::with_capacity(4 * size);
    let (mut x, mut v) = ([0.0; 2], [0.0; 2]);
    for i in 1..=size {
        let (l, [th, rate]) = (length(i, size), random.normals());
        x = [x[0] + l * th.sin(), x[1] - l * th.cos()];
        v = [v[0] + l * rate * th.cos(), v[1] + l * rate * th.sin()];
        for (k, axis) in ["x", "y"].iter().enumerate() {
            values.push((format!("{axis}{i}'"), 3.0 * (0.5 * v[k] + 0.4 * random.normal())));
            values.push((format!("{axis}{i}"), x[k] + 0.2 * random.normal()));
        }
    }
    values
}
