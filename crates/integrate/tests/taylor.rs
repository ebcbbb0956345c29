//! The Taylor method: where series are delicate, and published problems.
#![allow(clippy::unwrap_used)] // a test may panic

mod common;

use common::{distance, double_pendulum, henon_heiles, kepler};
use leastaction_compile::LANES;
use leastaction_expr::Graph;
use leastaction_integrate::{Block, Card, Integrator, RunError, Tolerance, Trajectory};
use leastaction_mechanics::{Dynamics, Input, Model, State};
use std::f64::consts::FRAC_PI_2;
use std::ops::ControlFlow;

fn taylor(relative: f64) -> Integrator {
    Integrator::named("taylor", Tolerance::relative(relative)).unwrap().ends_only()
}

fn end(run: &Integrator, (dynamics, start): &mut (Dynamics, State), end: f64) -> Trajectory {
    run.run(dynamics, start, end).unwrap()
}

fn begin(model: &Model<'_>, start: &[(&str, f64)]) -> (Dynamics, State) {
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let start = dynamics.start(start).unwrap();
    (dynamics, start)
}

/// A double pendulum of equal parts.
fn equal_pendulums(start: &[(&str, f64)]) -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [a, b] = model.coordinates(["a", "b"]);
    let elbow = [a.sin(), -a.cos()];
    model.particle("elbow", 1.0, elbow);
    model.particle("hand", 1.0, [elbow[0] + b.sin(), elbow[1] - b.cos()]);
    model.gravity([0.0, -9.81]);
    begin(&model, start)
}

/// The tolerance that asks for an order.
fn asking_for(order: u32) -> f64 {
    (-(f64::from(order) - 1.25) / 0.45).exp()
}

/// At rest with both rods level, coefficients of angles vanish but for orders 2, 6, 10, … and those of momenta but for 1, 5, 9, …: the
/// last two of an order that is a multiple of 4 say nothing.
#[test]
fn a_symmetric_start_is_right_at_every_order() {
    let mut system = equal_pendulums(&[("a", FRAC_PI_2), ("b", FRAC_PI_2)]);
    let rk4 = Integrator::named("rk4", 1.0 / 8192.0).unwrap().ends_only();
    let exact = end(&rk4, &mut system, 1.0).end().block();
    let check = end(&Integrator::named("vern9", Tolerance::relative(1e-14)).unwrap(), &mut system, 1.0);
    assert!(distance(&check.end().block(), &exact) < 1e-11);
    for order in 4..=30 {
        let tolerance = asking_for(order);
        let run = end(&taylor(tolerance), &mut system, 1.0);
        let error = distance(&run.end().block(), &exact);
        println!("order {order}: error {error:.1e} for {tolerance:.1e} in {} steps", run.work().steps);
        assert!(error < 30.0 * tolerance + 1e-11, "order {order}: {error:e} for {tolerance:e}");
    }
}

/// From the bottom of the potential x⁸/8, coordinate and momentum have every eighth order only.
#[test]
fn a_start_with_every_eighth_order_is_right_at_every_order() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    model.particle("bead", 1.0, [x]);
    model.potential("well", x.pow(8.0) / 8.0);
    let mut system = begin(&model, &[("x'", 1.0)]);
    let exact =
        end(&Integrator::named("rk4", 1.0 / 8192.0).unwrap().ends_only(), &mut system, 5.0).end().block();
    for order in 4..=30 {
        let run = end(&taylor(asking_for(order)), &mut system, 5.0);
        let error = distance(&run.end().block(), &exact);
        println!("order {order}: error {error:.1e} in {} steps", run.work().steps);
        assert!(error < 300.0 * asking_for(order) + 1e-11, "order {order}: {error:e}");
    }
}

/// Each lane takes its own steps, and gets the bits it would get alone.
#[test]
fn lanes_run_as_they_would_alone() {
    for build in [double_pendulum, henon_heiles] {
        let (mut dynamics, start) = build();
        let states: [Vec<f64>; LANES] = std::array::from_fn(|j| {
            let mut y = start.block();
            y[0] += 0.02 * j as f64;
            y
        });
        let mut block = Block::lanes(states.each_ref().map(|y| y.as_slice()));
        let run = taylor(1e-13);
        let none = |_: leastaction_integrate::Sample<'_>| Ok(ControlFlow::Continue(()));
        run.march(&mut dynamics, 0.0, &mut block, 3.0, none).unwrap();
        for (j, y) in states.iter().enumerate() {
            let state = State::from_block(0.0, y, start.q.len());
            let alone = run.run(&mut dynamics, &state, 3.0).unwrap().end().block();
            assert_eq!(block.lane(j), alone, "lane {j}");
        }
    }
}

/// A particle in the potential |x|: parabolas with a kink in the force, which no series sees. From rest at 1 it is back after 4√2.
#[test]
fn branches_of_the_field_are_not_run_past() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    model.particle("ball", 1.0, [x]);
    model.potential("wedge", x.abs());
    let mut system = begin(&model, &[("x", 1.0)]);
    let run = end(&taylor(1e-10), &mut system, 4.0 * 2f64.sqrt());
    let error = distance(&run.end().block(), &[1.0, 0.0]);
    println!("wedge: {error:.1e} in {:?}", run.work());
    assert!(error < 1e-6, "{error:e}");
    // A force that sets in when the ball has long been flying.
    let mut model = Model::new(&graph);
    let (t, x) = (model.time(), model.coordinate("x"));
    model.particle("ball", 1.0, [x]);
    model.potential("push", -t.lt(3.0).select(0.0, 1.0) * x);
    let mut system = begin(&model, &[("x", 1.0), ("x'", 1.0)]);
    let run = end(&taylor(1e-10), &mut system, 5.0);
    let error = distance(&run.end().block(), &[1.0 + 5.0 + 2.0, 3.0]);
    println!("push: {error:.1e} in {:?}", run.work());
    assert!(error < 1e-6, "{error:e}");
}

/// Free flight, and rest: series that end.
#[test]
fn series_that_end_take_one_step() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    model.particle("ball", 2.0, [x]);
    model.gravity([-9.81]);
    let mut system = begin(&model, &[("x", 3.0), ("x'", 5.0)]);
    let run = end(&taylor(1e-12), &mut system, 10.0);
    assert_eq!(run.work().steps, 1);
    assert!((run.end().q[0] - (3.0 + 50.0 - 490.5)).abs() < 1e-12);
    let mut still = equal_pendulums(&[]);
    let run = end(&taylor(1e-12), &mut still, 10.0);
    assert_eq!((run.work().steps, run.end().block()), (1, vec![0.0; 4]));
}

#[test]
fn what_has_no_series_is_refused() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let (x, u) = (model.coordinate("x"), model.input("u"));
    model.particle("ball", 1.0, [x]);
    model.force(x, u);
    let (mut dynamics, start) = begin(&model, &[("x", 1.0)]);
    dynamics.set_input("u", Input::Constant(1.0)).unwrap();
    for run in [taylor(1e-9), Integrator::named("taylor", 0.1).unwrap()] {
        let refused = run.run(&mut dynamics, &start, 1.0).unwrap_err();
        assert!(matches!(refused.error, RunError::NotApplicable { .. }), "{refused}");
        let said = refused.to_string();
        let instead = Card::named(said.rsplit(' ').next().unwrap());
        assert!(instead.is_ok() && said.starts_with("taylor needs"), "{said}");
    }
    // A state at which the field is not finite.
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    model.particle("ball", 1.0, [x]);
    model.potential("pole", 1.0 / x);
    let (mut dynamics, _) = begin(&model, &[("x", 1.0)]);
    let start = State::from_block(0.0, &[0.0, 1.0], 1);
    for run in [taylor(1e-9), Integrator::named("taylor", 0.1).unwrap()] {
        let failed = run.run(&mut dynamics, &start, 1.0).unwrap_err();
        assert!(matches!(failed.error, RunError::NotFinite { .. }), "{failed}");
    }
}

/// Kepler's orbits, problems D1 and D3 of DETEST (T. E. Hull et al., SIAM J. Numer. Anal. 9 (1972) 603).
#[test]
fn detest_orbits() {
    let known = [
        (0.1, [0.2198835352008397, 0.9427076846341813, -0.9787659841058176, 0.3287977990962036]),
        (0.5, [-0.5780432953035361, 0.8633840009194193, -0.9595083730380727, -0.06504915126712089]),
    ];
    for (e, expected) in known {
        let run = end(&taylor(1e-16), &mut kepler(e), 20.0);
        let error = distance(&run.end().block(), &expected);
        println!("e = {e}: {error:.1e} in {} steps", run.work().steps);
        assert!(error < 5e-14, "{error:e}");
    }
}

/// The orbit of R. F. Arenstorf in the frame that turns with earth and moon (E. Hairer, S. P. Nørsett and G. Wanner, *Solving Ordinary
/// Differential Equations I*, 1993, section II.0): it closes. Errors grow a millionfold on the way.
#[test]
fn the_arenstorf_orbit_closes() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    let [p, q] = ["p_x", "p_y"].map(|name| model.momentum(name));
    let moon = 0.012277471;
    let earth = 1.0 - moon;
    let distance_to = |place: f64| ((x - place).pow(2.0) + y * y).sqrt();
    let pull = earth / distance_to(-moon) + moon / distance_to(earth);
    model.hamiltonian("H", 0.5 * (p * p + q * q) + y * p - x * q - pull);
    let speed = -2.001_585_106_379_082_5;
    let start = [0.994, 0.0, 0.0, speed + 0.994];
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let state = State::from_block(0.0, &start, 2);
    let run = taylor(1e-16).run(&mut dynamics, &state, 17.065_216_560_157_963).unwrap();
    let error = distance(&run.end().block()[..2], &start[..2]);
    println!("Arenstorf: closes to {error:.1e} in {} steps", run.work().steps);
    assert!(error < 1e-9, "{error:e}");
}

/// Seven stars in a plane (E. Hairer, S. P. Nørsett and G. Wanner, *Solving Ordinary Differential Equations I*, 1993, section II.10; digits of
/// the Test Set for IVP Solvers).
#[test]
fn pleiades() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let places: Vec<_> = (1..=7)
        .map(|i| {
            let place = [format!("x{i}"), format!("y{i}")].map(|name| model.coordinate(&name));
            model.particle(&format!("star{i}"), f64::from(i), place);
            place
        })
        .collect();
    for (i, a) in places.iter().enumerate() {
        for (j, b) in places.iter().enumerate().skip(i + 1) {
            let apart = ((a[0] - b[0]).pow(2.0) + (a[1] - b[1]).pow(2.0)).sqrt();
            model.potential(&format!("{i}–{j}"), -((i + 1) as f64 * (j + 1) as f64) / apart);
        }
    }
    let x = [3.0, 3.0, -1.0, -3.0, 2.0, -2.0, 2.0];
    let y = [3.0, -3.0, 2.0, 0.0, 0.0, -4.0, 4.0];
    let mut start: Vec<(String, f64)> = Vec::new();
    for i in 0..7 {
        start.extend([(format!("x{}", i + 1), x[i]), (format!("y{}", i + 1), y[i])]);
    }
    for (name, rate) in [("x6'", 1.75), ("x7'", -1.5), ("y4'", -1.25), ("y5'", 1.0)] {
        start.push((name.to_owned(), rate));
    }
    let start: Vec<(&str, f64)> = start.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let run = end(&taylor(1e-16), &mut begin(&model, &start), 3.0);
    let end = run.end();
    let expected = [
        (0.3706139143970502, -3.943437585517392),
        (3.237284092057233, -3.271380973972550),
        (-3.222559032418324, 5.225081843456543),
        (0.6597091455775310, -2.590612434977470),
        (0.3425581707156584, 1.198213693392275),
        (1.562172101400631, -0.2429682344935824),
        (-0.7003092922212495, 1.091449240428980),
    ];
    let expected: Vec<f64> = expected.iter().flat_map(|(x, y)| [*x, *y]).collect();
    let error = distance(&end.q, &expected);
    println!("Pleiades: {error:.1e} in {} steps", run.work().steps);
    assert!(error < 1e-11, "{error:e}");
}

/// Prints errors and times of a double pendulum over ten seconds.
#[test]
#[ignore = "long"]
fn cost() {
    let mut system = equal_pendulums(&[("a", FRAC_PI_2), ("b", FRAC_PI_2)]);
    let exact = end(&taylor(1e-18), &mut system, 10.0).end().block();
    for exponent in 6..=17 {
        let run = taylor(10f64.powi(-exponent));
        let found = end(&run, &mut system, 10.0);
        let mut best = f64::INFINITY;
        for _ in 0..200 {
            let clock = std::time::Instant::now();
            end(&run, &mut system, 10.0);
            best = best.min(clock.elapsed().as_secs_f64());
        }
        let error = distance(&found.end().block(), &exact);
        let steps = found.work().steps;
        println!(
            "1e-{exponent}: error {error:.1e}, {:.1} µs, {steps} steps of {:.0} ns",
            1e6 * best,
            1e9 * best / steps as f64
        );
    }
}
