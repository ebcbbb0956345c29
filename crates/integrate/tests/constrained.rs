//! Systems with constraints, against the same motion in coordinates that need none.

use crate::common::{begin, links};
use leastaction_expr::Graph;
use leastaction_integrate::{Integrator, Tolerance};
use leastaction_mechanics::Model;

/// The two links in angles.
#[test]
fn links_move_as_they_do_in_angles() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [a, b] = model.coordinates(["a", "b"]);
    let elbow = [a.sin(), -a.cos()];
    model.particle("elbow", 1.0, elbow);
    model.particle("hand", 2.0, [elbow[0] + 0.5 * b.sin(), elbow[1] - 0.5 * b.cos()]);
    model.gravity([0.0, -5.0]);
    let (mut dynamics, start) = begin(&model, &[("a", std::f64::consts::FRAC_PI_2)]);
    let run = Integrator::named("dop853", Tolerance::relative(1e-13)).unwrap();
    let end = run.run(&mut dynamics, &start, 2.0).unwrap().end();
    let (a, b) = (end.q[0], end.q[1]);
    let expected = [a.sin(), -a.cos(), a.sin() + 0.5 * b.sin(), -a.cos() - 0.5 * b.cos()];

    let (mut dynamics, start) = links();
    for method in ["dop853", "vern9", "radau5", "ias15", "taylor"] {
        let run = Integrator::named(method, Tolerance::relative(1e-13)).unwrap();
        let end = run.run(&mut dynamics, &start, 2.0).unwrap().end();
        for (found, expected) in end.q.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-11, "{method}: {found} {expected}");
        }
        let (mut positions, mut velocities) = ([0.0; 2], [0.0; 2]);
        dynamics.violations(&[end.t], &end.block(), &mut positions, &mut velocities).unwrap();
        let worst = positions.iter().chain(&velocities).fold(0.0f64, |m, x| m.max(x.abs()));
        assert!(worst < 2e-14, "{method}: {positions:?} {velocities:?}");
    }
}
