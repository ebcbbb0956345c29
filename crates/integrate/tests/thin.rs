//! Regions that a motion is in for a small part of a step, and corners of constraints.

use crate::common::begin;
use leastaction_expr::Graph;
use leastaction_integrate::{Event, Integrator, RunError, Tolerance};
use leastaction_mechanics::{Dynamics, Model, State};

/// A particle of mass 1 in the plane under a force along x that is given as a text, from x' = 1.
fn in_the_plane(force: &str) -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("ball", 1.0, [x, y]);
    model.force(x, graph.parse(force).unwrap());
    begin(&model, &[("x'", 1.0)])
}

fn by(method: &str) -> Integrator {
    Integrator::named(method, Tolerance::relative(1e-10)).unwrap().ends_only().at_most(100_000)
}

/// A force f over a short way w makes v of the velocity 1, with v² = 1 + 2 f w, in the time (v − 1)/f; the run of 100 goes on with v. The way is a chord of a disc with the
/// middle at x = 37.3, and so many radii aside.
#[test]
fn thin_regions_are_not_stepped_over() {
    for (radius, aside) in [(1e-2, 0.0), (1e-4, 0.0), (1e-4, 0.999_9), (1e-6, 0.5)] {
        let (half, off) = (radius * f64::sqrt(1.0 - aside * aside), aside * radius);
        let force = 0.25 / half;
        let distance = format!("((x - 37.3)^2 + (y - {off:e})^2)");
        for condition in [format!("{distance} < {radius:e}^2"), format!("sqrt{distance} < {radius:e}")] {
            let text = format!("select({condition}, {force:e}, 0)");
            let v = f64::sqrt(1.0 + 2.0 * force * 2.0 * half);
            let (entered, within) = (37.3 - half, (v - 1.0) / force);
            let exact = 37.3 + half + v * (100.0 - entered - within);
            for method in ["dop853", "taylor", "ias15", "radau5", "tsit5"] {
                let (mut dynamics, start) = in_the_plane(&text);
                let run = by(method).run(&mut dynamics, &start, 100.0).unwrap();
                let (x, work) = (run.end().q[0], run.work());
                println!("{method:8} {radius:e} {aside} {condition}: {:.1e} in {work:?}", x - exact);
                // A region of the length w is known to a rounding of the place where it is.
                let known = 1e-8 + 37.3 * 40.0 * 1e-15 / half / (1.0 - aside);
                assert!((x - exact).abs() < known, "{method} {text}: {x} for {exact}");
            }
        }
    }
}

/// The border of a disc is crossed twice in a step of the whole run.
#[test]
fn both_crossings_of_a_thin_disc_are_events() {
    for radius in [1e-3, 1e-6] {
        for what in ["norm([x - 37.3, y])", "((x - 37.3)^2 + y^2)/1e-3", "abs(x - 37.3)"] {
            let (mut dynamics, start) = in_the_plane("0");
            let size = if what.contains('^') { radius * radius / 1e-3 } else { radius };
            let event = Event::new(dynamics.observable(&format!("{what} - {size:e}")).unwrap());
            let run = by("taylor").event(event).run(&mut dynamics, &start, 100.0).unwrap();
            let times: Vec<f64> = run.crossings().iter().map(|crossing| crossing.t).collect();
            let [first, second] = times[..] else { panic!("{what} = {size:e}: {times:?}") };
            let off = (first - (37.3 - radius)).abs().max((second - (37.3 + radius)).abs());
            assert!(off < 1e-9, "{what} = {size:e}: {times:?}");
        }
    }
}

/// A bead on a wire: of the velocity that it has before a corner, some is along the wire beyond it, and nothing says what becomes of the rest. Pieces that meet without a
/// corner are passed.
#[test]
fn corners_of_constraints_are_refused() {
    let bead = |wire: &str| {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let [x, y] = model.coordinates(["x", "y"]);
        model.particle("bead", 1.0, [x, y]);
        model.constraint("wire", y, graph.parse(wire).unwrap());
        let (mut dynamics, start) = begin(&model, &[("x'", 1.0)]);
        by("dop853").run(&mut dynamics, &start, 3.0)
    };
    for wire in ["max(0, x - 1)", "abs(x - 1) - 1", "select(x < 1, 0, x - 1)", "-min(0, 1 - x)"] {
        let failed = bead(wire).expect_err(wire);
        let RunError::ConstraintCorner { t, .. } = failed.error else { panic!("{wire}: {failed}") };
        assert!(wire.starts_with("abs") || (t - 1.0).abs() < 1e-9, "{wire}: {t}");
    }
    // Along the wire, the speed stays 1.
    let run = bead("max(0, x - 1)^3").unwrap();
    let p = run.end().p;
    assert!((p[0].hypot(p[1]) - 1.0).abs() < 1e-9, "{p:?}");
}
