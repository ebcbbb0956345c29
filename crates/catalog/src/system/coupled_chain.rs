//! Pendulums in a row, each joined to the next by a spring.
//!
//! Pendulum i hangs from (i d, 0); springs between bobs have length d at rest. Small swings are waves with
//!
//! $$\omega_j^2=\frac gl+\frac{4k}m\sin^2\frac{j\pi}{2N},\qquad \theta_i\propto\cos\frac{j\pi(i+\frac12)}N,\qquad j=0\dots N-1$$

use crate::entry::{Entry, Plan, Setup};
use leastaction_expr::Graph;
use leastaction_language::Drawing;
use leastaction_mechanics::Model;

pub(super) const ENTRY: Entry = Entry {
    name: "coupled-chain",
    about: "a row of pendulums joined by springs, the first one pulled aside",
    size: Some(8),
    build,
};

const DISTANCE: f64 = 1.0;

fn build(graph: &Graph, size: usize) -> Setup<'_> {
    let mut model = Model::new(graph);
    let [m, l, g, k, d] =
        model.parameters([("m", 1.0), ("l", 1.0), ("g", 9.81), ("k", 10.0), ("d", DISTANCE)]);
    let bobs: Vec<_> = (0..size)
        .map(|i| {
            let th = model.coordinate(&format!("th{}", i + 1));
            let position = [i as f64 * d + l * th.sin(), -(l * th.cos())];
            model.particle(&bob(i), m, position);
            position
        })
        .collect();
    model.gravity([graph.number(0.0), -g]);
    for (i, pair) in bobs.windows(2).enumerate() {
        let [across, up] = [0, 1].map(|axis| pair[1][axis] - pair[0][axis]);
        let stretch = (across * across + up * up).sqrt() - d;
        model.potential(&format!("spring{}", i + 1), k * stretch * stretch / 2.0);
    }
    let rod = |drawing: Drawing, i: usize| drawing.rod([i as f64 * DISTANCE, 0.0], bob(i).as_str());
    let spring = |drawing: Drawing, i: usize| drawing.spring(bob(i - 1).as_str(), bob(i).as_str());
    let dot = |drawing: Drawing, i: usize| drawing.dot(bob(i).as_str(), 1.0);
    let drawing = (0..size).fold(Drawing::new(), rod);
    let drawing = (1..size).fold(drawing, spring);
    Setup::new(model, Plan { step: 0.005, until: 20.0 })
        .starting([("th1", 0.5)])
        .drawn((0..size).fold(drawing, dot))
}

fn bob(i: usize) -> String {
    format!("bob{}", i + 1)
}

/// The text of a chain.
pub(crate) fn text(size: usize) -> String {
    let each = |line: &dyn Fn(usize) -> String| (1..=size).map(line).collect::<String>();
    let pair = |line: &dyn Fn(usize) -> String| (1..size).map(line).collect::<String>();
    let across = |i: usize| match i {
        1 => "0".to_owned(),
        2 => "d".to_owned(),
        _ => format!("{}*d", i - 1),
    };
    format!(
        "\
# a row of pendulums joined by springs, the first one pulled aside
#
# Small swings of N pendulums are waves: th_i ~ cos(jπ(i - 1/2)/N) at frequencies
# ω_j² = g/l + 4k/m sin²(jπ/2N), for j = 0 to N - 1.

param m = 1, l = 1, g = 9.81, k = 10, d = 1

{}
{}gravity [0, -g]

{}
start th1 = 0.5
run step 0.005, until 20

{}{}{}",
        each(&|i| format!("coord th{i}\n")),
        each(&|i| match i {
            1 => "particle bob1 mass m at [l*sin(th1), -l*cos(th1)]\n".to_owned(),
            _ => format!("particle bob{i} mass m at [{} + l*sin(th{i}), -l*cos(th{i})]\n", across(i)),
        }),
        pair(&|i| format!("potential spring{i} = k*(norm(bob{} - bob{i}) - d)^2/2\n", i + 1)),
        each(&|i| format!("draw rod [{}, 0] to bob{i}\n", across(i))),
        pair(&|i| format!("draw spring bob{i} to bob{}\n", i + 1)),
        each(&|i| format!("draw dot bob{i}\n")),
    )
}
