//! The systems of generalized coordinates with known values: energies at the start, and motion over a while.
//!
//! The numbers were computed independently from the closed forms of the equations of motion.

mod common;

use common::{assert_close, energy, run, velocities};
use leastaction_expr::Graph;
use leastaction_mechanics::Model;
use std::f64::consts::FRAC_PI_2;

/// Two rods of lengths 1 and ½ with g = 5.
fn double_pendulum<'g>(graph: &'g Graph, offset: f64, masses: [f64; 2]) -> Model<'g> {
    let mut model = Model::new(graph);
    let [m1, m2] = model.parameters([("m1", masses[0]), ("m2", masses[1])]);
    let [a, b] = model.coordinates(["th1", "th2"]);
    let [x, y] = [a.sin(), offset - a.cos()];
    model.particle("elbow", m1, [x, y]);
    model.particle("hand", m2, [x + 0.5 * b.sin(), y - 0.5 * b.cos()]);
    model.gravity([0.0, -5.0]);
    model
}

#[test]
fn double_pendulum_at_rest() {
    let graph = Graph::new();
    let mut dynamics = double_pendulum(&graph, 1.0, [1.0, 1.0]).system().unwrap().dynamics().unwrap();
    let start = dynamics.start(&[("th1", FRAC_PI_2)]).unwrap();
    assert_close(&[energy(&mut dynamics, &start)], &[7.5], 1e-15);
    let end = run(&mut dynamics, &start, 1.0, 2000);
    assert_close(&end.q, &[-0.4953648, 0.3951171], 1e-7);
    assert_close(&velocities(&mut dynamics, &end), &[-1.3307365, -5.9072989], 1e-7);
    assert_close(&[energy(&mut dynamics, &end)], &[7.5], 1e-10);
}
