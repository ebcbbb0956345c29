//! A weight on a rod.

use crate::entry::{Entry, Plan, Setup};
use leastaction_expr::Graph;
use leastaction_language::Drawing;
use leastaction_mechanics::Model;

pub(super) const ENTRY: Entry = Entry {
    name: "pendulum",
    about: "a weight on a rod, swinging",
    size: None,
    build: |graph, _| build(graph),
};

fn build(graph: &Graph) -> Setup<'_> {
    let mut model = Model::new(graph);
    let [m, l, g] = model.parameters([("m", 1.0), ("l", 1.0), ("g", 1.0)]);
    let th = model.coordinate("th");
    model.particle("bob", m, [l * th.sin(), 0.5 - l * th.cos()]);
    model.gravity([graph.number(0.0), -g]);
    Setup::new(model, Plan { step: 0.01, until: 20.0 })
        .starting([("th'", 1.0)])
        .drawn(Drawing::new().trail("bob").rod([0.0, 0.5], "bob").dot("bob", 1.0))
}
