//! Gauss–Lobatto SPARK methods on systems with constraints: order, geometry, and how they get along with what is not Hamiltonian.

use crate::common::{begin, distance, links};
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
    for (what, mut system, steps) in [
        ("links", links(), [32, 64, 128, 256]),
        ("driven", driven(), [2, 4, 8, 16]),
        ("magnetic", magnetic(), [2, 4, 8, 16]),
        ("polar", polar(), [4, 8, 16, 32]),
    ] {
        let exact = exact(&mut system, 1.0).block();
        for (name, order) in METHODS {
            let card = Card::named(name).unwrap();
            let errors =
                steps.map(|n| distance(&end(card, &mut system, 1.0 / f64::from(n), 1.0).block(), &exact));
            let seen = errors.windows(2).filter(|e| e[1] > 3e-13);
            let slopes: Vec<f64> = seen.map(|e| (e[0] / e[1]).log2()).collect();
            println!("{what:9} {name}: errors {errors:?}, slopes {slopes:.2?}");
            let last = slopes.last().unwrap();
            assert!((last - order).abs() < 0.35, "{name} on {what}: {slopes:?}, {errors:?}");
        }
    }
}

/// The largest violation of constraints, of positions and of velocities.
fn violation(dynamics: &mut Dynamics, t: f64, y: &[f64]) -> f64 {
    let count = dynamics.system().constraints().len();
    let (mut positions, mut velocities) = (vec![0.0; count], vec![0.0; count]);
    dynamics.violations(&[t], y, &mut positions, &mut velocities).unwrap();
    positions.iter().chain(&velocities).fold(0.0, |m, x| x.abs().max(m))
}

#[test]
fn constraints_are_met_all_along() {
    for (what, mut system) in [("driven", driven()), ("magnetic", magnetic()), ("polar", polar())] {
        for (name, _) in METHODS {
            let run = Integrator::named(name, 0.05).unwrap();
            let trajectory = run.run(&mut system.0, &system.1, 50.0).unwrap();
            let worst = trajectory.samples().fold(0.0f64, |m, (t, y)| m.max(violation(&mut system.0, t, y)));
            println!("{what:9} {name}: {worst:.1e}, {:?}", trajectory.work());
            assert!(worst < 1e-13, "{name} on {what}: {worst:e}");
        }
    }
}

/// ω(Mu, Mw) = ω(u, w) for vectors u, w that are tangent to the constraints, and M the derivative of the step there.
fn defect(name: &str, (dynamics, start): &mut System, step: f64) -> f64 {
    let (n, y) = (start.q.len(), start.block());
    let run = Integrator::named(name, step).unwrap().ends_only();
    // Curves through the start on the constraints: what was moved off them is projected back.
    let mut curve = |direction: usize, by: f64| {
        let mut from = y.clone();
        (0..2 * n).for_each(|i| from[i] += by * (1.3 * (direction * 2 * n + i) as f64).sin());
        dynamics.project(&[start.t], &mut from).unwrap();
        let to = run.run(dynamics, &State::from_block(start.t, &from, n), start.t + step).unwrap();
        (from, to.end().block())
    };
    let d = 2e-3;
    let tangents: Vec<[Vec<f64>; 2]> = (0..4)
        .map(|direction| {
            let mut pair = [vec![0.0; 2 * n], vec![0.0; 2 * n]];
            for (k, weight) in [(1.0, 0.75), (2.0, -0.15), (3.0, 1.0 / 60.0)] {
                let (above, below) = (curve(direction, k * d), curve(direction, -k * d));
                for i in 0..2 * n {
                    pair[0][i] += weight * (above.0[i] - below.0[i]) / d;
                    pair[1][i] += weight * (above.1[i] - below.1[i]) / d;
                }
            }
            pair
        })
        .collect();
    let omega = |a: &[f64], b: &[f64]| (0..n).map(|i| a[i] * b[n + i] - a[n + i] * b[i]).sum::<f64>();
    let pairs = (0..4).flat_map(|i| (0..i).map(move |j| (i, j)));
    let misses = pairs.map(|(i, j)| {
        let [before, after] = [0, 1].map(|k| omega(&tangents[i][k], &tangents[j][k]));
        (after - before).abs()
    });
    misses.fold(0.0, f64::max)
}

#[test]
fn steps_are_symplectic_on_the_constraints() {
    for (what, mut system) in [("links", links()), ("magnetic", magnetic()), ("polar", polar())] {
        for (name, _) in METHODS {
            let found = defect(name, &mut system, 0.05);
            println!("{what:9} {name}: {found:.1e}");
            assert!(found < 3e-10, "{name} on {what}: {found:e}");
        }
        // A projected method is not, or this sees nothing.
        let found = defect("rk4", &mut system, 0.05);
        assert!(found > 1e-9, "{what}: {found:e}");
    }
}

/// A step and back, and a way and back; also where constraints depend on time and friction acts.
#[test]
fn the_way_back_is_the_way_there() {
    for (what, system) in
        [("links", links()), ("driven", driven()), ("magnetic", magnetic()), ("polar", polar())]
    {
        let (mut dynamics, start) = system;
        for (name, _) in METHODS {
            for steps in [1.0, 20.0] {
                let there = Integrator::named(name, 0.02).unwrap();
                let there = there.run(&mut dynamics, &start, 0.02 * steps).unwrap().end();
                let back = Integrator::named(name, -0.02).unwrap();
                let back = back.run(&mut dynamics, &there, 0.0).unwrap().end();
                let found = distance(&back.block(), &start.block());
                println!("{what:9} {name}: {found:.1e} after {steps} steps");
                assert!(found < 2e-14 * steps.sqrt() * 4.0, "{name} on {what}: {found:e}");
            }
        }
    }
}

/// Energy does not drift, and the angular momentum of a molecule in space is what it was.
#[test]
fn invariants_stay() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let mut atoms = Vec::new();
    for (i, mass) in [1.0, 2.0, 1.5].into_iter().enumerate() {
        let q = ["x", "y", "z"].map(|axis| model.coordinate(&format!("{axis}{i}")));
        model.particle(&format!("atom{i}"), mass, q);
        atoms.push(q);
    }
    let square = |a: usize, b: usize| {
        (0..3).map(|k| (atoms[a][k] - atoms[b][k]).pow(2.0)).reduce(|s, x| s + x).unwrap()
    };
    model.constraint("bond", square(0, 1), 1.0);
    model.constraint("other", square(1, 2), 1.44);
    model.potential("angle", 2.0 * (square(0, 2) - 2.0).pow(2.0));
    let (mut dynamics, start) = begin(
        &model,
        &[("x0", 1.0), ("y2", 1.2), ("z0'", 0.7), ("x1'", -0.2), ("y1'", 0.4), ("z2'", -0.9), ("x2'", 1.1)],
    );
    let spin = |y: &[f64]| {
        let cross = |a: usize, b: usize| {
            (0..3).map(|i| y[3 * i + a] * y[9 + 3 * i + b] - y[3 * i + b] * y[9 + 3 * i + a]).sum::<f64>()
        };
        [cross(1, 2), cross(2, 0), cross(0, 1), (0..3).map(|i| y[9 + 3 * i]).sum()]
    };
    for (name, bound) in [("gauss-spark4", 2e-4), ("gauss-spark6", 1e-6), ("gauss-spark8", 1e-8)] {
        let run = Integrator::named(name, 0.05).unwrap().run(&mut dynamics, &start, 250.0).unwrap();
        let drift = run.energy_drift(&mut dynamics).unwrap();
        let first = spin(&start.block());
        let turned = run.samples().fold(0.0f64, |m, (_, y)| m.max(distance(&spin(y), &first)));
        println!("{name}: energy {drift:.1e}, angular momentum {turned:.1e}, {:?}", run.work());
        assert!(drift < bound && turned < 3e-13, "{name}: {drift:e}, {turned:e}");
    }
}

/// Lanes have the bits that they have alone, whatever the others do.
#[test]
fn lanes_have_bits_of_their_own() {
    for (mut dynamics, start) in [links(), driven(), magnetic()] {
        let n = start.q.len();
        let starts: [Vec<f64>; LANES] = std::array::from_fn(|lane| {
            let mut y = start.block();
            y[0] += 0.02 * lane as f64;
            y[n + 1] += 0.1 * lane as f64;
            dynamics.project(&[0.0], &mut y).unwrap();
            y
        });
        for (name, _) in METHODS {
            let run = Integrator::named(name, 0.02).unwrap().ends_only();
            let mut block = Block::lanes(starts.each_ref().map(Vec::as_slice));
            run.march(&mut dynamics, 0.0, &mut block, 1.0, |_| Ok(ControlFlow::Continue(()))).unwrap();
            for (lane, from) in starts.iter().enumerate() {
                let alone = run.run(&mut dynamics, &State::from_block(0.0, from, n), 1.0).unwrap().end();
                assert_eq!(block.lane(lane), alone.block(), "{name}, lane {lane}");
            }
        }
    }
}

/// Redundant constraints change nothing: the same force is shared differently.
#[test]
fn redundant_constraints_do_no_harm() {
    let chain = |redundant: bool| {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let [x, y, u, v] = model.coordinates(["x", "y", "u", "v"]);
        model.particle("elbow", 1.0, [x, y]);
        model.particle("hand", 2.0, [u, v]);
        model.gravity([0.0, -5.0]);
        model.constraint("upper", x * x + y * y, 1.0);
        model.constraint("lower", (u - x).pow(2.0) + (v - y).pow(2.0), 0.25);
        if redundant {
            model.constraint("again", 3.0 * (x * x + y * y), 3.0);
            let both = (u - x).pow(2.0) + (v - y).pow(2.0) - 2.0 * (x * x + y * y);
            model.constraint("both", both, -1.75);
        }
        begin(&model, &[("x", 1.0), ("u", 1.0), ("v", -0.5)])
    };
    for (name, _) in METHODS {
        let card = Card::named(name).unwrap();
        let [plain, redundant] = [false, true].map(|redundant| end(card, &mut chain(redundant), 0.005, 1.0));
        let found = distance(&plain.block(), &redundant.block());
        assert!(found < 1e-12, "{name}: {found:e}");
    }
}

/// Constraints that come to contradict each other are named.
#[test]
fn contradictions_are_named() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let t = model.time();
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("bob", 1.0, [x, y]);
    model.potential("weight", y);
    model.constraint("rod", x * x + y * y, 1.0);
    model.constraint("stretched", 2.0 * (x * x + y * y), 2.0 + 0.1 * t.pow(4.0));
    let (mut dynamics, start) = begin(&model, &[("x", 0.6), ("y", -0.8)]);
    let error = Integrator::named("gauss-spark4", 0.05).unwrap().run(&mut dynamics, &start, 2.0).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("`stretched`") && text.contains("contradict"), "{text}");
}

/// Without constraints they are the Gauss methods.
#[test]
fn without_constraints_they_are_gauss() {
    for mut system in
        [crate::common::double_pendulum(), crate::common::driven_pendulum(), crate::common::relativistic()]
    {
        for (spark, gauss) in
            [("gauss-spark4", "gauss4"), ("gauss-spark6", "gauss6"), ("gauss-spark8", "gauss8")]
        {
            let [spark, gauss] =
                [spark, gauss].map(|name| end(Card::named(name).unwrap(), &mut system, 0.05, 2.0));
            assert!(distance(&spark.block(), &gauss.block()) < 1e-12);
        }
    }
}

/// Steps that are long for a stiff spring go to Newton's method, and those that no method solves are an error.
#[test]
fn long_steps_are_solved_or_refused() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y, u] = model.coordinates(["x", "y", "u"]);
    model.particle("bob", 1.0, [x, y]);
    model.particle("ball", 1.0, [u]);
    model.potential("weight", 5.0 * y);
    model.potential("spring", 5000.0 * (u - x).pow(2.0));
    model.constraint("rod", x * x + y * y, 1.0);
    let (mut dynamics, start) = begin(&model, &[("x", 0.6), ("y", -0.8), ("u", 0.6)]);
    let exact = exact(&mut (dynamics.clone(), start.clone()), 1.0);
    // ωh = 3.5: iteration alone diverges.
    let run = Integrator::named("gauss-spark6", 0.025).unwrap().run(&mut dynamics, &start, 1.0).unwrap();
    let found = distance(&run.end().q, &exact.q);
    assert!(found < 1e-3 && violation(&mut dynamics, 1.0, &run.end().block()) < 1e-13, "{found:e}");
    let refused = Integrator::named("gauss-spark4", 40.0).unwrap().run(&mut dynamics, &start, 80.0);
    assert!(refused.unwrap_err().to_string().contains("try a smaller step"));
}
