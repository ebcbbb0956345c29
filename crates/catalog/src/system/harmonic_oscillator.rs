//! The pendulum for small angles: the yardstick for phase errors.
//!
//! θ(t) = θ₀ cos(√(g/L) t) exactly; the implicit midpoint rule lags behind by about t ω²h²/12.

use crate::entry::{Entry, Plan, Setup};
use leastaction_expr::Graph;
use leastaction_language::Drawing;
use leastaction_mechanics::Model;

pub(super) const ENTRY: Entry = Entry {
    name: "harmonic-oscillator",
    about: "the pendulum for small angles, 300 s of it",
    size: None,
    build: |graph, _| build(graph),
};

fn build(graph: &Graph) -> Setup<'_> {
    let mut model = Model::new(graph);
    let [m, l, g] = model.parameters([("m", 1.0), ("L", 1.0), ("g", 9.81)]);
    let th = model.coordinate("th");
    let rate = model.velocity(th);
    model.kinetic("motion", m * l * l * rate * rate / 2.0);
    model.potential("gravity", m * g * l * th * th / 2.0);
    model.point("bob", [l * th.sin(), -(l * th.cos())]);
    Setup::new(model, Plan { step: 0.01, until: 300.0 })
        .starting([("th", 0.1)])
        .drawn(Drawing::new().rod([0.0, 0.0], "bob").dot("bob", 1.0))
}
