//! Four-bar linkage: crank, coupler and rocker, which close a loop over the ground.
//!
//! The shortest and the longest side together are shorter than the other two, so that the crank can go round (F. Grashof, *Theoretische
//! Maschinenlehre*, 1883).

use crate::entry::{Entry, Plan, Setup};
use crate::rod::rod;
use leastaction_expr::Graph;
use leastaction_language::Drawing;
use leastaction_mechanics::Model;

pub(super) const ENTRY: Entry = Entry {
    name: "four-bar",
    about: "a crank that goes round, and a rocker that it moves by a coupler",
    size: None,
    build: |graph, _| build(graph),
};

const GROUND: f64 = 4.0;
const CRANK: f64 = 1.0;
const COUPLER: f64 = 3.5;
const ROCKER: f64 = 2.5;

fn build(graph: &Graph) -> Setup<'_> {
    let mut model = Model::new(graph);
    let g = model.parameter("g", 9.81);
    let [b, c] = [["bx", "by"], ["cx", "cy"]].map(|names| model.coordinates(names));
    let at = |x: f64| [graph.number(x), graph.number(0.0)];
    // One kilogram per metre.
    rod(&mut model, "crank", (CRANK, CRANK, g), [at(0.0), b]);
    rod(&mut model, "coupler", (COUPLER, COUPLER, g), [b, c]);
    rod(&mut model, "rocker", (ROCKER, ROCKER, g), [c, at(GROUND)]);
    model.point("B", b);
    model.point("C", c);
    // The crank stands upright, and turns to the right.
    let (x, y) = meeting([0.0, CRANK], COUPLER, [GROUND, 0.0], ROCKER);
    Setup::new(model, Plan { step: 0.001, until: 10.0 })
        .starting([("by", CRANK), ("cx", x), ("cy", y), ("bx'", 4.0), ("cx'", 4.0)])
        .drawn(
            Drawing::new()
                .line([[0.0, 0.0], [GROUND, 0.0]])
                .trail("C")
                .rod([0.0, 0.0], "B")
                .rod("B", "C")
                .rod("C", [GROUND, 0.0])
                .dot("B", 0.2)
                .dot("C", 0.2),
        )
}

/// The upper point at a distance from each of two points.
fn meeting(a: [f64; 2], to_a: f64, b: [f64; 2], to_b: f64) -> (f64, f64) {
    let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
    let apart = dx.hypot(dy);
    let along = (apart * apart + to_a * to_a - to_b * to_b) / (2.0 * apart);
    let across = (to_a * to_a - along * along).sqrt();
    (a[0] + (along * dx - across * dy) / apart, a[1] + (along * dy + across * dx) / apart)
}
