//! A chain of pendulums in a plane, in Cartesian coordinates: as many weights as you like, held by rods.
//!
//! $$V=g\sum_im_iy_i,\qquad|x_1|=l_1,\quad|x_i-x_{i-1}|=l_i$$
//!
//! Masses and lengths, from top to bottom, are the first N and the next N of one sequence, each read backwards; it repeats after ten
//! numbers (the systems of M. Finzi, K. A. Wang and A. G. Wilson, *Simplifying Hamiltonian and Lagrangian Neural Networks via Explicit Constraints*,
//! NeurIPS 2020, arXiv:2010.13581, for N = 1, 2, 3 and 5).

use crate::entry::{Entry, Plan, Setup};
use crate::random::Random;
use leastaction_expr::Graph;
use leastaction_language::Drawing;
use leastaction_mechanics::Model;

pub(super) const ENTRY: Entry = Entry {
    name: "n-pendulum",
    about: "a chain of weights on rods in a plane, in Cartesian coordinates",
    size: Some(3),
    build,
};

const SEQUENCE: [f64; 10] =
    [1.039051, 1.172151, 1.082211, 1.035907, 0.938924, 1.116715, 0.950070, 1.313418, 1.370930, 0.906753];

fn mass(i: usize, size: usize) -> f64 {
    SEQUENCE[(size - 1 - i) % 10]
}

fn length(i: usize, size: usize) -> f64 {
    SEQUENCE[(2 * size - 1 - i) % 10]
}

fn build(graph: &Graph, size: usize) -> Setup<'_> {
    let mut model = Model::new(graph);
    let g = model.parameter("g", 9.81);
    let mut above = [graph.number(0.0); 2];
    let mut drawing = Drawing::new();
    for i in 0..size {
        let bob = format!("bob{}", i + 1);
        let m = model.parameter(&format!("m{}", i + 1), mass(i, size));
        let l = model.parameter(&format!("l{}", i + 1), length(i, size));
        let [x, y] = ["x", "y"].map(|axis| model.coordinate(&format!("{axis}{}", i + 1)));
        model.particle(&bob, m, [x, y]);
        let [across, up] = [x - above[0], y - above[1]];
        model.constraint(&format!("rod{}", i + 1), across * across + up * up, l * l);
        drawing = match i {
            0 => drawing.rod([0.0, 0.0], bob.as_str()),
            _ => drawing.rod(format!("bob{i}").as_str(), bob.as_str()),
        };
        above = [x, y];
    }
    model.gravity([graph.number(0.0), -g]);
    let dot = |drawing: Drawing, i: usize| drawing.dot(format!("bob{}", i + 1).as_str(), mass(i, size));
    let mut setup = Setup::new(model, Plan { step: 0.003, until: 3.0 })
        .drawn((0..size).fold(drawing, dot))
        .sampled(move |random| draw(random, size));
    // It falls from where it is stretched out at a right angle to gravity.
    let mut reach = 0.0;
    for i in 0..size {
        reach += length(i, size);
        setup.start.push((format!("x{}", i + 1), reach));
    }
    setup
}

/// Angles and their rates are normal; positions and velocities are then blurred, and the velocities enlarged.
fn draw(random: &mut Random, size: usize) -> Vec<(String, f64)> {
    let mut values = Vec::with_capacity(4 * size);
    let (mut x, mut v) = ([0.0; 2], [0.0; 2]);
    for i in 0..size {
        let (l, [th, rate]) = (length(i, size), random.normals());
        x = [x[0] + l * th.sin(), x[1] - l * th.cos()];
        v = [v[0] + l * rate * th.cos(), v[1] + l * rate * th.sin()];
        for (k, axis) in ["x", "y"].iter().enumerate() {
            let name = format!("{axis}{}", i + 1);
            values.push((format!("{name}'"), 3.0 * (0.5 * v[k] + 0.4 * random.normal())));
            values.push((name, x[k] + 0.2 * random.normal()));
        }
    }
    values
}

/// The text of a chain.
pub(crate) fn text(size: usize) -> String {
    let each = |line: &dyn Fn(usize) -> String| (1..=size).map(line).collect::<String>();
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
{}run step 0.003, until 3

{}{}",
        each(&|i| format!("param m{i} = {}, l{i} = {}\n", mass(i - 1, size), length(i - 1, size))),
        each(&|i| format!("coord x{i}, y{i}\n")),
        each(&|i| format!("particle bob{i} mass m{i} at [x{i}, y{i}]\n")),
        each(&|i| match i {
            1 => "constraint rod1: dot(bob1, bob1) = l1^2\n".to_owned(),
            _ => format!("constraint rod{i}: dot(bob{i} - bob{0}, bob{i} - bob{0}) = l{i}^2\n", i - 1),
        }),
        each(&|i| match i {
            1 => "let r1 = l1\nstart x1 = r1\n".to_owned(),
            _ => format!("let r{i} = r{} + l{i}\nstart x{i} = r{i}\n", i - 1),
        }),
        each(&|i| match i {
            1 => "draw rod [0, 0] to bob1\n".to_owned(),
            _ => format!("draw rod bob{} to bob{i}\n", i - 1),
        }),
        each(&|i| format!("draw dot bob{i}\n")),
    )
}
