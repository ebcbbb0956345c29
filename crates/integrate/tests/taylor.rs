//! The Taylor method: where series are delicate.

use crate::common::{distance, double_pendulum, henon_heiles};
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
    // A branch, and a singularity ahead that is not weaker than what is tolerated.
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    model.particle("ball", 1.0, [x]);
    model.potential("edge", -x.abs() + 1e-6 * (0.5 - x).ln());
    let (mut dynamics, start) = begin(&model, &[("x", 0.25), ("x'", 1.0)]);
    let failed = taylor(1e-9).run(&mut dynamics, &start, 1.0).unwrap_err();
    assert!(matches!(failed.error, RunError::StepTooShort { .. }), "{failed}");
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
