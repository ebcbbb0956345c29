//! Stiff systems: what decays fast, or relaxes, at steps that follow what is slow.

use crate::common::{begin, distance, stiff_pendulum};
use leastaction_expr::Graph;
use leastaction_integrate::{Integrator, Pace, Tolerance};
use leastaction_mechanics::{Dynamics, Model, State};
use std::ops::ControlFlow;

/// The equation of van der Pol, ε ẍ = (1 − x²)ẋ − x, as a mass ε with friction that is negative near the middle.
fn van_der_pol(epsilon: f64) -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    let v = model.velocity(x);
    model.kinetic("motion", 0.5 * epsilon * v * v);
    model.potential("spring", 0.5 * x * x);
    model.dissipation("friction", 0.5 * (x * x - 1.0) * v * v);
    begin(&model, &[("x", 2.0)])
}

/// The state at t = 2 for ε = 10⁻⁶ (F. Mazzia and C. Magherini, *Test Set for Initial Value Problem Solvers*, 2008, problem VDPOL).
#[test]
fn van_der_pol_relaxes() {
    let (x, v) = (1.706167732170483, -0.8928097010247975);
    let (mut dynamics, start) = van_der_pol(1e-6);
    for (tolerance, most) in [(1e-4, 400), (1e-6, 800), (1e-8, 1800), (1e-10, 4500)] {
        let run = Integrator::named("radau5", Tolerance::relative(tolerance)).unwrap().ends_only();
        let end = run.run(&mut dynamics, &start, 2.0).unwrap();
        let (found, work) = (end.end(), end.work());
        let errors = [(found.q[0] / x - 1.0).abs(), (found.p[0] / (1e-6 * v) - 1.0).abs()];
        println!("tolerance {tolerance:.0e}: errors {errors:?} in {work:?}");
        assert!(errors.iter().all(|error| *error < 20.0 * tolerance), "{tolerance:e}: {errors:?}");
        assert!(work.steps < most && work.rejected < work.steps / 3, "{work:?}");
        assert!(work.evaluations < 12 * (work.steps + work.rejected), "{work:?}");
    }
}

/// A stiff pendulum whose spring is damped: its fast oscillation dies within a few of its periods, and steps then follow the swing.
#[test]
fn damped_springs_come_to_rest() {
    let damped = || {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let [x, y] = model.coordinates(["x", "y"]);
        let [vx, vy] = [model.velocity(x), model.velocity(y)];
        let r = (x * x + y * y).sqrt();
        model.particle("bob", 1.0, [x, y]);
        model.potential("spring", 5000.0 * (r - 1.0).pow(2.0));
        model.gravity([0.0, -9.81]);
        model.dissipation("damper", 500.0 * ((x * vx + y * vy) / r).pow(2.0));
        begin(&model, &[("x", 1.05)])
    };
    let (mut dynamics, start) = damped();
    let mut run = |tolerance: f64| {
        let radau = Integrator::named("radau5", Tolerance::relative(tolerance)).unwrap().ends_only();
        let end = radau.run(&mut dynamics, &start, 10.0).unwrap();
        (end.end().block(), end.work())
    };
    let (exact, _) = run(1e-12);
    for (tolerance, most) in [(1e-4, 550), (1e-6, 1200), (1e-8, 2500)] {
        let (found, work) = run(tolerance);
        let error = distance(&found, &exact);
        println!("tolerance {tolerance:.0e}: error {error:.1e} in {work:?}");
        assert!(error < 100.0 * tolerance, "{tolerance:e}: {error:e}");
        assert!(work.steps < most && work.rejected < work.steps / 3, "{work:?}");
    }
    // The fastest decay has a rate near 1000, and an explicit method must follow it with steps of 1/360 for its stability.
    let rk4 = Integrator::named("rk4", 1e-4).unwrap().ends_only().run(&mut dynamics, &start, 10.0).unwrap();
    assert!(distance(&rk4.end().block(), &exact) < 1e-9, "{:?}", rk4.end());
}

/// Steps of one length, far longer than what oscillates fast: solved to rounding, by slopes that are kept.
#[test]
fn long_steps_are_solved() {
    for (name, step) in [("gauss4", 0.05), ("gauss8", 0.05), ("radau5", 0.05), ("lobatto-pair6", 0.05)] {
        let (mut dynamics, start) = stiff_pendulum();
        let swing = Integrator::named(name, step).unwrap().run(&mut dynamics, &start, 10.0).unwrap();
        println!("{name} with steps of {step}: {:?}", swing.work());
        assert!(swing.work().jacobians > 0 && swing.work().jacobians < 6 * swing.work().steps, "{name}");
        let energies = swing.energies(&mut dynamics).unwrap();
        assert!(energies.iter().all(|e| e.abs() < 30.0), "{name}: {energies:?}");
    }
}

/// A chain of fifty masses on springs that harden: a state of a hundred numbers, solved through the modes of the method. The waves
/// that cross it fast are not resolved by these steps, and its energy is kept nevertheless.
#[test]
fn large_systems_are_solved() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let names: Vec<String> = (0..50).map(|k| format!("x{k}")).collect();
    let x: Vec<_> = names.iter().map(|name| model.coordinate(name)).collect();
    for (k, place) in x.iter().enumerate() {
        model.particle(&format!("m{k}"), 1.0, [*place]);
        let stretch = if k == 0 { *place } else { *place - x[k - 1] };
        model.potential(&format!("s{k}"), 0.5 * 400.0 * stretch * stretch + 100.0 * stretch.pow(4.0));
    }
    let start: Vec<(&str, f64)> =
        names.iter().enumerate().map(|(k, name)| (name.as_str(), 0.1 * (0.3 * k as f64).sin())).collect();
    let (mut dynamics, start) = begin(&model, &start);
    for name in ["gauss4", "radau5"] {
        let run = Integrator::named(name, 0.25).unwrap().run(&mut dynamics, &start, 2.5).unwrap();
        println!("{name}: {:?}", run.work());
        assert!(run.work().jacobians > 0, "{name}: {:?}", run.work());
        let energies = run.energies(&mut dynamics).unwrap();
        assert!(energies.iter().all(|e| *e < 1.2 * energies[0]), "{name}: {energies:?}");
    }
}

/// What is kept from step to step is written down, and a run that goes on has the same bits.
#[test]
fn stiff_runs_are_resumed() {
    for (name, pace) in [
        ("gauss4", Pace::Step(0.05)),
        ("lobatto-pair6", Pace::Step(0.05)),
        ("radau5", Pace::Step(0.05)),
        ("radau5", Pace::Tolerance(Tolerance::relative(1e-5))),
    ] {
        let (mut dynamics, start) = stiff_pendulum();
        let run = Integrator::named(name, pace).unwrap().ends_only();
        let whole = run.run(&mut dynamics, &start, 3.0).unwrap();
        let mut steps = 0;
        let half = run.run_watched(&mut dynamics, &start, 3.0, |_| {
            steps += 1;
            if steps > 25 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let half = half.unwrap();
        assert!(half.end().t < 3.0);
        let rest = run.resume(&mut dynamics, half.checkpoint().unwrap()).unwrap();
        assert_eq!((rest.end(), rest.work()), (whole.end(), whole.work()), "{name}");
    }
}

/// Methods that are the midpoint rule for linear forces turn an oscillation of frequency ω by 2 atan(hω/2) in each step, and do so to rounding
/// however long the step is: two masses between walls, at hω from 0.1 to 1000. (With two directions of motion an accelerated iteration seems
/// to have found the solution after three tries, with eight digits lost.)
#[test]
fn long_steps_turn_linear_oscillations_by_the_right_angle() {
    let stiffness = 1e6;
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [a, b] = model.coordinates(["a", "b"]);
    model.particle("first", 1.0, [a]);
    model.particle("second", 1.0, [b]);
    model.potential("springs", 0.5 * stiffness * (a * a + (a - b) * (a - b) + b * b));
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let mut worst: f64 = 0.0;
    // The masses swing together, and against each other.
    for (shape, omega) in [([0.8, 0.8], stiffness.sqrt()), ([0.8, -0.8], (3.0 * stiffness).sqrt())] {
        let start = State { t: 0.0, q: shape.to_vec(), p: vec![0.0; 2] };
        for name in ["implicit-midpoint", "variational-midpoint", "average-vector-field", "gauss-spark4"] {
            for turn in [0.1, 1.0, 3.0, 10.0, 100.0, 1000.0] {
                let (h, steps) = (turn / omega, 20.0);
                let run = Integrator::named(name, h).unwrap().ends_only();
                let end = run.run(&mut dynamics, &start, steps * h).unwrap().end();
                let angle = match name {
                    // Gauss of two stages: the Padé approximation (1 + z/2 + z²/12)/(1 − z/2 + z²/12) at z = iωh.
                    "gauss-spark4" => 2.0 * (0.5 * turn).atan2(1.0 - turn * turn / 12.0),
                    _ => 2.0 * (0.5 * turn).atan(),
                };
                let off = (0..2).map(|i| (end.q[i] - shape[i] * (steps * angle).cos()).abs());
                let off = off.fold(0.0, f64::max);
                println!("{name}, hω = {turn}: {off:e}");
                // Forces are known to the rounding of coordinates, times the stiffness.
                worst = worst.max(off / (1.0 + turn * turn));
            }
        }
    }
    assert!(worst < 1e-13, "{worst:e}");
}
