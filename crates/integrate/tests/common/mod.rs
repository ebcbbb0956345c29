//! What the tests share: systems that are nonlinear, and some that can be solved by hand.
#![allow(dead_code)] // each test file uses a part
#![allow(clippy::unwrap_used)] // a test may panic

use leastaction_expr::Graph;
use leastaction_mechanics::{Dynamics, Model, State};

/// The double pendulum, chaotic and not separable, well on its way.
pub(crate) fn double_pendulum() -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [a, b] = model.coordinates(["a", "b"]);
    let elbow = [a.sin(), -a.cos()];
    model.particle("elbow", 1.0, elbow);
    model.particle("hand", 1.5, [elbow[0] + b.sin(), elbow[1] - b.cos()]);
    model.gravity([0.0, -9.81]);
    begin(&model, &[("a", 0.9), ("b", -0.4), ("a'", 0.3), ("b'", 0.8)])
}

/// A pendulum driven at its pivot and damped: it depends on time, and velocities enter its forces.
pub(crate) fn driven_pendulum() -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let (t, a) = (model.time(), model.coordinate("a"));
    model.particle("bob", 1.0, [a.sin() + 0.3 * (2.0 * t).sin(), -a.cos()]);
    model.gravity([0.0, -4.0]);
    model.dissipation("friction", 0.05 * model.velocity(a).pow(2.0));
    begin(&model, &[("a", 1.0)])
}

/// A planet on an ellipse of eccentricity e with semi-major axis 1 about a sun of GM = 1.
pub(crate) fn kepler(e: f64) -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("planet", 1.0, [x, y]);
    model.potential("gravity", -1.0 / (x * x + y * y).sqrt());
    begin(&model, &[("x", 1.0 - e), ("y'", ((1.0 + e) / (1.0 - e)).sqrt())])
}

/// A pendulum on a spring that is stiff: its fast oscillation has ω = 100.
pub(crate) fn stiff_pendulum() -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("bob", 1.0, [x, y]);
    model.potential("spring", 5000.0 * ((x * x + y * y).sqrt() - 1.0).pow(2.0));
    model.gravity([0.0, -9.81]);
    begin(&model, &[("x", 1.0)])
}

pub(crate) fn begin(model: &Model<'_>, start: &[(&str, f64)]) -> (Dynamics, State) {
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let start = dynamics.start(start).unwrap();
    (dynamics, start)
}

/// The largest difference between numbers.
pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}
