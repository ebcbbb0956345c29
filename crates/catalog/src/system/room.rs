//! A ball in a room with soft walls.

use crate::entry::{Entry, Plan, Setup};
use crate::wall::wall;
use leastaction_expr::Graph;
use leastaction_language::Drawing;
use leastaction_mechanics::Model;
use std::f64::consts::FRAC_1_SQRT_2;

pub(super) const ENTRY: Entry = Entry {
    name: "room",
    about: "a ball that bounces between soft walls, floor and ceiling",
    size: None,
    build: |graph, _| build(graph),
};

fn build(graph: &Graph) -> Setup<'_> {
    let mut model = Model::new(graph);
    let [m, g, height, width] = model.parameters([("m", 1.0), ("g", 2.0), ("height", 10.0), ("width", 0.1)]);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("ball", m, [x, y]);
    model.gravity([graph.number(0.0), -g]);
    model.potential("floor", 1.0 - wall(y, -1.0, height, width));
    model.potential("ceiling", wall(y, 1.0, height, width));
    model.potential("left wall", 1.0 - wall(x, -2.0, height, width));
    model.potential("right wall", wall(x, 2.0, height, width));
    Setup::new(model, Plan { step: 0.001, until: 20.0 })
        .starting([("x", -1.0), ("y", 0.25), ("x'", FRAC_1_SQRT_2), ("y'", FRAC_1_SQRT_2)])
        .drawn(
            Drawing::new()
                .line([[-2.0, -1.0], [2.0, -1.0], [2.0, 1.0], [-2.0, 1.0], [-2.0, -1.0]])
                .trail("ball")
                .dot("ball", 1.0),
        )
}
