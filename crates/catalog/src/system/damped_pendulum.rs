//! A pendulum in Cartesian coordinates, held by a rod and slowed by friction at the pivot.
//!
//! $$T=\tfrac m2(\dot x^2+\dot y^2),\quad V=mg(y+R),\quad D=\tfrac c2\dot\theta^2,\ \dot\theta=\frac{x\dot y-y\dot x}{x^2+y^2},\qquad
//! x^2+y^2=R^2$$
//!
//! Small swings are θ₀e^{−γt}(cos ωt + (γ/ω) sin ωt) with γ = c/(2mR²) and ω² = g/R − γ².

use crate::entry::{Entry, Plan, Setup};
use leastaction_expr::Graph;
use leastaction_language::Drawing;
use leastaction_mechanics::Model;

pub(super) const ENTRY: Entry = Entry {
    name: "damped-pendulum",
    about: "a pendulum in Cartesian coordinates that friction brings to rest",
    size: None,
    build: |graph, _| build(graph),
};

fn build(graph: &Graph) -> Setup<'_> {
    const ANGLE: f64 = 0.1;
    let mut model = Model::new(graph);
    let [m, length, c, g] = model.parameters([("m", 1.0), ("R", 1.0), ("c", 1.0), ("g", 9.81)]);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("bob", m, [x, y]);
    model.potential("gravity", m * g * (y + length));
    let square = x * x + y * y;
    let [vx, vy] = model.velocities([x, y]);
    model.dissipation("friction", c * ((x * vy - y * vx) / square).pow(2.0) / 2.0);
    model.constraint("rod", square, length * length);
    Setup::new(model, Plan { step: 0.01, until: 10.0 })
        .starting([("x", ANGLE.sin()), ("y", -ANGLE.cos())])
        .drawn(Drawing::new().rod([0.0, 0.0], "bob").dot("bob", 1.0))
}
