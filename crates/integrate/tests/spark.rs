//! Gauss–Lobatto SPARK methods on systems with constraints: order, geometry, and how they get along with what is not Hamiltonian.
#![allow(clippy::unwrap_used)] // a test may panic

mod common;

use common::{begin, distance, links};
use leastaction_compile::LANES;
use leastaction_expr::Graph;
use leastaction_integrate::{Block, Card, Integrator, Tolerance};
use leastaction_mechanics::{Dynamics, Model, State};
use std::ops::ControlFlow;

type System = (Dynamics, State);

const METHODS: [(&str, f64); 3] = [("gauss-spark4", 4.0), ("gauss-spark6", 6.0), ("gauss-spark8", 8.0)];

/// A spherical pendulum whose length and pivot follow time, with friction: the constraint depends on time.
fn driven() -> System {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let t = model.time();
    let [x, y, z] = model.coordinates(["x", "y", "z"]);
    model.particle("bob", 1.5, [x, y, z]);
    model.gravity([0.0, 0.0, -5.0]);
    let v = model.velocity(x);
    model.dissipation("friction", 0.1 * v * v);
    let pivot = 0.3 * (2.0 * t).sin();
    let length = 1.0 + 0.2 * t.sin();
    model.constraint("rod", (x - pivot).pow(2.0) + y * y + z * z, length * length);
    begin(&model, &[("x", 0.8), ("y", 0.1), ("z", -0.6), ("y'", 0.9)])
}

/// A charge in a magnetic field on an ellipsoid, by a Hamiltonian that is not separable, with a kinetic energy that is not quadratic.
fn magnetic() -> System {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y, z] = model.coordinates(["x", "y", "z"]);
    let [px, py, pz] = ["p_x", "p_y", "p_z"].map(|p| model.momentum(p));
    let (u, v) = (px + 0.4 * y * z, py - 0.3 * x);
    let kinetic = (1.0 + u * u + v * v + (1.0 + 0.5 * x * x) * pz * pz).sqrt();
    model.hamiltonian("H", kinetic + 0.7 * z + 0.2 * x * y);
    model.constraint("shell", x * x + 2.0 * y * y + 0.5 * z * z, 1.0);
    begin(&model, &[("x", 0.6), ("y", 0.5), ("z", 0.5), ("p_x", 0.5), ("p_y", -0.4), ("p_z", 0.8)])
}

/// Two links in polar coordinates about their pivots' ends: the mass matrix depends on coordinates.
fn polar() -> System {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [r, a, x, y] = model.coordinates(["r", "a", "x", "y"]);
    model.particle("elbow", 1.0, [r * a.sin(), -r * a.cos()]);
    model.particle("hand", 2.0, [x, y]);
    model.gravity([0.0, -5.0]);
    model.potential("spring", 5.0 * (r - 1.0).pow(2.0));
    model.constraint("lower", (x - r * a.sin()).pow(2.0) + (y + r * a.cos()).pow(2.0), 0.25);
    begin(&model, &[("r", 1.1), ("a", 1.0), ("x", 1.1 * 1f64.sin()), ("y", -1.1 * 1f64.cos() - 0.5)])
}

fn end(card: &'static Card, (dynamics, start): &mut System, step: f64, end: f64) -> State {
    Integrator::new(card, step).ends_only().run(dynamics, start, end).unwrap().end()
}

fn exact((dynamics, start): &mut System, end: f64) -> State {
    let run = Integrator::named("vern9", Tolerance::relative(1e-14)).unwrap().ends_only();
    run.run(dynamics, start, end).unwrap().end()
}

/// The slope of the error, of positions and momenta, where rounding does not show.
#[test]
fn methods_have_their_order() {
    for (what, mut system) in
        [("links", links()), ("driven", driven()), ("magnetic", magnetic()), ("polar", polar())]
    {
        let exact = exact(&mut system, 1.0).block();
        for (name, order) in METHODS {
            let card = Card::named(name).unwrap();
            let errors: Vec<f64> = [32, 64, 128, 256]
                .map(|steps| distance(&end(card, &mut system, 1.0 / f64::from(steps), 1.0).block(), &exact))
                .to_vec();
            let slopes: Vec<f64> =
                errors.windows(2).filter(|e| e[1] > 3e-13).map(|e| (e[0] / e[1]).log2()).collect();
            println!("{what:9} {name}: errors {errors:?}, slopes {slopes:.2?}");
            let last = slopes.last().unwrap();
            assert!((last - order).abs() < 0.35, "{name} on {what}: {slopes:?}, {errors:?}");
        }
    }
}
