//! A block on a rail between soft stops, with a weight swinging from it on a spring.
//!
//! Gravity pulls the weight with its own mass. A published version multiplies by the mass of the block instead, a slip: it would change the
//! energy at the start from −23.94875 to −25.04875.

use crate::entry::{Entry, Plan, Setup};
use crate::wall::wall;
use leastaction_expr::Graph;
use leastaction_language::Drawing;
use leastaction_mechanics::Model;

pub(super) const ENTRY: Entry = Entry {
    name: "spring-on-rail",
    about: "a weight that swings on a spring from a block sliding on a rail",
    size: None,
    build: |graph, _| build(graph),
};

fn build(graph: &Graph) -> Setup<'_> {
    let mut model = Model::new(graph);
    let [block, weight, k, g] =
        model.parameters([("m_block", 2.0), ("m_weight", 1.0), ("k", 10.0), ("g", 1.0)]);
    let [r, x, th] = model.coordinates(["r", "x", "th"]);
    let zero = graph.number(0.0);
    model.particle("block", block, [r, zero]);
    model.particle("weight", weight, [r + (1.0 + x) * th.sin(), -((1.0 + x) * th.cos())]);
    model.gravity([zero, -g]);
    model.potential("spring", k * x * x / 2.0);
    model.potential("left stop", 1.0 - wall(r, -1.5, 25.0, 0.1));
    model.potential("right stop", wall(r, 1.5, 25.0, 0.1));
    Setup::new(model, Plan { step: 0.001, until: 20.0 })
        .starting([("x", 0.1), ("r'", 1.0), ("th'", -0.5)])
        .drawn(
            Drawing::new()
                .line([[-1.5, 0.0], [1.5, 0.0]])
                .trail("weight")
                .spring("block", "weight")
                .dot("block", 2.0)
                .dot("weight", 1.0),
        )
}
