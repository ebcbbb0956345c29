//! Five carts on a track that turns from a straight into loops, each at the same distance from the next.
//!
//! $$x(q)=(1-f)\,30\left(\tfrac\pi2+q\right)+f\,10\left(\tfrac\pi2+q+1.8\cos q\right),\quad y(q)=f\,10(\sin q+1),\quad f=\frac1{1+e^{-5(q+\pi/2)}}$$
//!
//! The distance is that of the first two carts at the published start q = −π + (0.4, 0.3, 0.2, 0.1, 0), q̇ = 2. That start is inconsistent: the other
//! distances differ, by up to 0.0188 in their squares, and all of them change, by up to 0.176 a second. So the run starts where the
//! projection onto the constraints leads.

use crate::entry::{Entry, Plan, Setup};
use leastaction_expr::{Expr, Graph};
use leastaction_language::Drawing;
use leastaction_mechanics::Model;
use std::f64::consts::{FRAC_PI_2, PI};

pub(super) const ENTRY: Entry = Entry {
    name: "rollercoaster",
    about: "five carts, coupled at one distance, that run from a straight into loops",
    size: None,
    build: |graph, _| build(graph),
};

const CARTS: [(&str, &str, f64); 5] = [
    ("cart1", "q1", 0.4 - PI),
    ("cart2", "q2", 0.3 - PI),
    ("cart3", "q3", 0.2 - PI),
    ("cart4", "q4", 0.1 - PI),
    ("cart5", "q5", -PI),
];

fn build(graph: &Graph) -> Setup<'_> {
    let mut model = Model::new(graph);
    let (front, next) = (place(CARTS[0].2), place(CARTS[1].2));
    let distance = (front[0] - next[0]).hypot(front[1] - next[1]);
    let [m, g, d] = model.parameters([("m", 200.0), ("g", 9.81), ("d", distance)]);
    let carts = CARTS.map(|(cart, q, _)| {
        let position = track(model.coordinate(q));
        model.particle(cart, m, position);
        position
    });
    model.gravity([graph.number(0.0), -g]);
    for (i, pair) in carts.windows(2).enumerate() {
        let [across, up] = [0, 1].map(|axis| pair[1][axis] - pair[0][axis]);
        model.constraint(&format!("coupling{}", i + 1), across * across + up * up, d * d);
    }
    let rails = (0..=400).map(|i| place(-3.5 + 19.5 * f64::from(i) / 400.0));
    let drawing =
        CARTS.windows(2).fold(Drawing::new().line(rails), |drawing, pair| drawing.rod(pair[0].0, pair[1].0));
    let mut setup = Setup::new(model, Plan { step: 0.005, until: 5.0 })
        .drawn(CARTS.iter().fold(drawing, |drawing, (cart, ..)| drawing.dot(*cart, 200.0)));
    for (_, q, start) in CARTS {
        setup.start.push((q.to_owned(), start));
        setup.start.push((format!("{q}'"), 2.0));
    }
    setup
}

fn track(q: Expr<'_>) -> [Expr<'_>; 2] {
    let f = 1.0 / (1.0 + (-5.0 * (q + FRAC_PI_2)).exp());
    let from = FRAC_PI_2 + q;
    [(1.0 - f) * 30.0 * from + f * 10.0 * (from + 1.8 * q.cos()), f * 10.0 * (q.sin() + 1.0)]
}

fn place(q: f64) -> [f64; 2] {
    let f = 1.0 / (1.0 + (-5.0 * (q + FRAC_PI_2)).exp());
    let from = FRAC_PI_2 + q;
    [(1.0 - f) * 30.0 * from + f * 10.0 * (from + 1.8 * q.cos()), f * 10.0 * (q.sin() + 1.0)]
}
