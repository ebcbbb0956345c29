//! Slider and crank: a piston that a connecting rod moves to and fro.
//!
//! With the crank r at the angle θ and the rod l the piston is at r cos θ + √(l² − r² sin² θ).

use crate::entry::{Entry, Plan, Setup};
use crate::rod::rod;
use leastaction_expr::Graph;
use leastaction_language::Drawing;
use leastaction_mechanics::Model;

pub(super) const ENTRY: Entry = Entry {
    name: "slider-crank",
    about: "a spinning crank that moves a piston by a connecting rod",
    size: None,
    build: |graph, _| build(graph),
};

const CRANK: f64 = 0.2;
const ROD: f64 = 0.5;
const PISTON: f64 = 0.3;

fn build(graph: &Graph) -> Setup<'_> {
    let mut model = Model::new(graph);
    let g = model.parameter("g", 9.81);
    let [x, y, s] = model.coordinates(["x", "y", "s"]);
    let zero = graph.number(0.0);
    rod(&mut model, "crank", (1.0, CRANK, g), [[zero, zero], [x, y]]);
    rod(&mut model, "rod", (0.5, ROD, g), [[x, y], [s, zero]]);
    model.particle("piston", PISTON, [s, zero]);
    model.point("journal", [x, y]);
    Setup::new(model, Plan { step: 0.0005, until: 5.0 })
        .starting([("x", CRANK), ("s", CRANK + ROD), ("y'", 2.0)])
        .drawn(
            Drawing::new()
                .line([[0.0, 0.0], [CRANK + ROD, 0.0]])
                .rod([0.0, 0.0], "journal")
                .rod("journal", "piston")
                .dot("journal", 0.1)
                .dot("piston", PISTON),
        )
}
