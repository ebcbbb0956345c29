//! A pendulum that hangs from a pendulum: chaotic, from rest with the upper rod level.

use crate::entry::{Entry, Plan, Setup};
use leastaction_expr::Graph;
use leastaction_language::Drawing;
use leastaction_mechanics::Model;
use std::f64::consts::FRAC_PI_2;

pub(super) const ENTRY: Entry = Entry {
    name: "double-pendulum",
    about: "two rods with equal weights, from rest with the upper one level",
    size: None,
    build: |graph, _| build(graph, 1.0, 1.0).starting([("th1", FRAC_PI_2)]),
};

/// The variant whose lower weight is twice the upper one.
pub(super) const UNEQUAL: Entry = Entry {
    name: "double-pendulum-unequal",
    about: "two rods, the lower weight twice the upper one, swinging",
    size: None,
    build: |graph, _| build(graph, 2.0, 0.0).starting([("th1", 1.0), ("th2'", 0.5)]),
};

fn build(graph: &Graph, m2: f64, height: f64) -> Setup<'_> {
    let mut model = Model::new(graph);
    let [m1, m2, l1, l2, g] =
        model.parameters([("m1", 1.0), ("m2", m2), ("l1", 1.0), ("l2", 0.5), ("g", 5.0)]);
    let [th1, th2] = model.coordinates(["th1", "th2"]);
    let elbow = [l1 * th1.sin(), height - l1 * th1.cos()];
    let hand = [elbow[0] + l2 * th2.sin(), elbow[1] - l2 * th2.cos()];
    model.particle("elbow", m1, elbow);
    model.particle("hand", m2, hand);
    model.gravity([graph.number(0.0), -g]);
    Setup::new(model, Plan { step: 0.002, until: 20.0 }).drawn(
        Drawing::new()
            .trail("hand")
            .rod([0.0, height], "elbow")
            .rod("elbow", "hand")
            .dot("elbow", 1.0)
            .dot("hand", 1.0),
    )
}
