//! Pendulums in space, side by side, each joined to the next by a spring.
//!
//! $$V=g\sum_imz_i+\tfrac k2\sum_i(|x_i-x_{i+1}|-1)^2,\qquad|x_i-(i,0,0)|=l,\quad i=0\dots N-1$$
//!
//! (A system of M. Finzi, K. A. Wang and A. G. Wilson, NeurIPS 2020, arXiv:2010.13581.)

use crate::entry::{Entry, Plan, Setup};
use crate::random::Random;
use crate::spherical::direction;
use leastaction_expr::{Expr, Graph};
use leastaction_language::Drawing;
use leastaction_mechanics::Model;
use std::f64::consts::{FRAC_PI_2, PI};

pub(super) const ENTRY: Entry = Entry {
    name: "coupled-pendulums",
    about: "pendulums in space, each joined to the next by a spring, the first one pulled aside",
    size: Some(3),
    build,
};

fn build(graph: &Graph, size: usize) -> Setup<'_> {
    let mut model = Model::new(graph);
    let [m, l, g, k] = model.parameters([("m", 1.0), ("l", 1.0), ("g", 9.81), ("k", 10.0)]);
    let bobs: Vec<_> = (0..size)
        .map(|i| {
            let position = ["x", "y", "z"].map(|axis| model.coordinate(&format!("{axis}{}", i + 1)));
            model.particle(&bob(i), m, position);
            let [x, y, z] = position;
            model.constraint(&format!("rod{}", i + 1), square([x - i as f64, y, z]), l * l);
            position
        })
        .collect();
    model.gravity([graph.number(0.0), graph.number(0.0), -g]);
    for (i, pair) in bobs.windows(2).enumerate() {
        let stretch = square([0, 1, 2].map(|axis| pair[1][axis] - pair[0][axis])).sqrt() - 1.0;
        model.potential(&format!("spring{}", i + 1), k * stretch * stretch / 2.0);
    }
    let rod = |drawing: Drawing, i: usize| drawing.rod([i as f64, 0.0, 0.0], bob(i).as_str());
    let spring = |drawing: Drawing, i: usize| drawing.spring(bob(i - 1).as_str(), bob(i).as_str());
    let dot = |drawing: Drawing, i: usize| drawing.dot(bob(i).as_str(), 1.0);
    let drawing = (0..size).fold(Drawing::new(), rod);
    let drawing = (1..size).fold(drawing, spring);
    let mut setup = Setup::new(model, Plan { step: 0.005, until: 5.0 })
        .drawn((0..size).fold(drawing, dot))
        .sampled(move |random| (0..size).flat_map(|i| draw(random, i)).collect());
    setup.start = place(0, [PI + 0.5, FRAC_PI_2 + 0.3], [0.0; 2]);
    setup.start.extend((1..size).flat_map(|i| place(i, [PI, FRAC_PI_2], [0.0; 2])));
    setup
}

fn square<'g>([x, y, z]: [Expr<'g>; 3]) -> Expr<'g> {
    x * x + y * y + z * z
}

fn bob(i: usize) -> String {
    format!("bob{}", i + 1)
}

/// Where pendulum i is if its rod has these angles.
fn place(i: usize, angles: [f64; 2], rates: [f64; 2]) -> Vec<(String, f64)> {
    let [rod, velocity] = direction(angles, rates);
    let position = [i as f64 + rod[0], rod[1], rod[2]];
    let name = |axis: &str| format!("{axis}{}", i + 1);
    let each = ["x", "y", "z"].into_iter().zip(position.into_iter().zip(velocity));
    each.flat_map(|(axis, (x, v))| [(name(axis), x), (format!("{}'", name(axis)), v)]).collect()
}

fn draw(random: &mut Random, i: usize) -> Vec<(String, f64)> {
    let [phi, theta, phi_rate, theta_rate] = random.normals().map(|x| 0.3 * x);
    place(i, [PI + phi, FRAC_PI_2 + theta], [phi_rate, theta_rate])
}

/// The text of a row.
pub(crate) fn text(size: usize) -> String {
    let each = |line: &dyn Fn(usize) -> String| (1..=size).map(line).collect::<String>();
    let pair = |line: &dyn Fn(usize) -> String| (1..size).map(line).collect::<String>();
    format!(
        "\
# pendulums in space, each joined to the next by a spring, the first one pulled aside
#
# Pendulum i hangs from (i - 1, 0, 0); springs have length 1 at rest. A system of M. Finzi, K. A. Wang
# and A. G. Wilson, NeurIPS 2020, arXiv:2010.13581.

param m = 1, l = 1, g = 9.81, k = 10

{}
{}gravity [0, 0, -g]

{}
{}
# The first rod is 0.5 aside and 0.3 ahead.
start x1 = l*sin(0.3), y1 = -l*cos(0.3)*sin(0.5), z1 = -l*cos(0.3)*cos(0.5)
{}run step 0.005, until 5

{}{}{}",
        each(&|i| format!("coord x{i}, y{i}, z{i}\n")),
        each(&|i| format!("particle bob{i} mass m at [x{i}, y{i}, z{i}]\n")),
        each(&|i| match i {
            1 => "constraint rod1: x1^2 + y1^2 + z1^2 = l^2\n".to_owned(),
            _ => format!("constraint rod{i}: (x{i} - {})^2 + y{i}^2 + z{i}^2 = l^2\n", i - 1),
        }),
        pair(&|i| format!("potential spring{i} = k*(norm(bob{} - bob{i}) - 1)^2/2\n", i + 1)),
        (2..=size).map(|i| format!("start x{i} = {}, z{i} = -l\n", i - 1)).collect::<String>(),
        each(&|i| format!("draw rod [{}, 0, 0] to bob{i}\n", i - 1)),
        pair(&|i| format!("draw spring bob{i} to bob{}\n", i + 1)),
        each(&|i| format!("draw dot bob{i}\n")),
    )
}
