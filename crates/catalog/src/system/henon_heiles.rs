//! A star in the plane of a galaxy: the oscillator with a cubic that bends it, orderly at low energies and chaotic at high ones.
//!
//! $$H=\tfrac12(p_x^2+p_y^2)+\tfrac12(x^2+y^2)+\lambda\left(x^2y-\tfrac13y^3\right)$$
//!
//! With λ = 1 orbits are bounded below the energy 1/6. Almost all are orderly at 1/12, most are chaotic at 1/6 (M. Hénon and C. Heiles,
//! Astron. J. 69 (1964) 73, doi:10.1086/109234). The start has the energy 1/12, at x = 0.

use crate::entry::{Entry, Plan, Setup};
use leastaction_expr::Graph;
use leastaction_language::Drawing;
use leastaction_mechanics::Model;

pub(super) const ENTRY: Entry = Entry {
    name: "henon-heiles",
    about: "a star in the plane of a galaxy, at the energy 1/12",
    size: None,
    build: |graph, _| build(graph),
};

fn build(graph: &Graph) -> Setup<'_> {
    const Y: f64 = 0.1;
    let mut model = Model::new(graph);
    let lambda = model.parameter("lambda", 1.0);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("star", 1.0, [x, y]);
    model.potential("oscillator", (x * x + y * y) / 2.0);
    model.potential("bend", lambda * (x * x * y - y * y * y / 3.0));
    let speed = (2.0 / 12.0 - Y * Y + 2.0 * Y * Y * Y / 3.0_f64).sqrt();
    Setup::new(model, Plan { step: 0.02, until: 100.0 })
        .starting([("y", Y), ("x'", speed)])
        .drawn(Drawing::new().trail("star").dot("star", 1.0))
}
