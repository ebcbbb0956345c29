//! Bricard's mechanism: six hinges, whose axes are at right angles to each other and to the rods between them.
//!
//! Five rods and the ground close a loop along edges of a cube. Six hinges take away all the freedom that five bodies have, and yet it moves: one
//! of its constraints follows from the others (R. Bricard, *Leçons de cinématique II*, 1927; problem A03 of the library of
//! benchmark problems of the IFToMM technical committee for multibody dynamics).

use crate::entry::{Entry, Plan, Setup};
use leastaction_expr::Graph;
use leastaction_language::Drawing;
use leastaction_mechanics::{Inertia, Model, Pose};

pub(super) const ENTRY: Entry = Entry {
    name: "bricard",
    about: "a loop of six hinges that should not move, and does",
    size: None,
    build: |graph, _| build(graph),
};

/// The hinges, along edges of a cube, and their axes.
const HINGES: [([f64; 3], [f64; 3]); 6] = [
    ([0.0, 0.0, 0.0], [0.0, 1.0, 0.0]),
    ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0]),
    ([1.0, 1.0, 0.0], [1.0, 0.0, 0.0]),
    ([1.0, 1.0, 1.0], [0.0, 1.0, 0.0]),
    ([0.0, 1.0, 1.0], [0.0, 0.0, 1.0]),
    ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0]),
];
/// How thick the rods are.
const THICKNESS: f64 = 0.1;

fn build(graph: &Graph) -> Setup<'_> {
    let mut model = Model::new(graph);
    let sound = "the mechanism is sound";
    let mut start = Vec::new();
    let mut drawing = Drawing::new();
    let mut last = model.anchor(HINGES[0].0);
    for (i, pair) in HINGES.windows(2).enumerate() {
        let [(from, axis), (to, _)] = [pair[0], pair[1]];
        let centre = [0, 1, 2].map(|k| 0.5 * (from[k] + to[k]));
        let edges = [0, 1, 2].map(|k| if from[k] == to[k] { THICKNESS } else { 1.0 });
        let inertia = Inertia::cuboid(1.0, edges).expect(sound);
        let rod = model.body(&format!("rod{}", i + 1), inertia).expect(sound);
        let end = |of: [f64; 3]| rod.point([0, 1, 2].map(|k| of[k] - centre[k])).expect(sound);
        model.hinge(&format!("hinge {}", i + 1), &last, &end(from), axis).expect(sound);
        start.extend(rod.start(&Pose::at(centre)).expect(sound).into_iter().map(|(n, x)| (n.to_owned(), x)));
        drawing = drawing.dot(format!("rod{}", i + 1).as_str(), 0.2);
        last = end(to);
    }
    let (at, axis) = HINGES[5];
    model.hinge("hinge 6", &last, &model.anchor(at), axis).expect(sound);
    model.gravity([0.0, -9.81, 0.0]);
    Setup::new(model, Plan { step: 0.002, until: 4.0 }).starting(start).drawn(drawing)
}
