//! What is not seen from where a step begins: walls, hills and pulses ahead, fields that saturate, jumps, and rest at zero.

use crate::common::begin;
use leastaction_compile::LANES;
use leastaction_expr::{Expr, Graph};
use leastaction_integrate::{ALL, Block, Card, Choice, Integrator, Needs, Sizing, Tolerance};
use leastaction_mechanics::{Dynamics, Input, Model, State};
use std::ops::ControlFlow;

fn adaptive() -> impl Iterator<Item = &'static Card> {
    ALL.iter().filter(|card| card.sizing != Sizing::Given)
}

fn with(card: &'static Card, tolerance: f64) -> Integrator {
    Integrator::new(card, Tolerance::relative(tolerance)).ends_only().at_most(1_000_000)
}

/// A particle of mass 1 on a line.
fn on_a_line(
    start: &[(&str, f64)],
    energy: impl for<'g> Fn(Expr<'g>) -> Expr<'g>,
    force: impl for<'g> Fn(Expr<'g>, Expr<'g>) -> Option<Expr<'g>>,
) -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let (t, x) = (model.time(), model.coordinate("x"));
    model.particle("ball", 1.0, [x]);
    model.potential("energy", energy(x));
    if let Some(force) = force(t, model.velocity(x)) {
        model.force(x, force);
    }
    begin(&model, start)
}

/// The classical method of order 4 for x″ = a(t, x, x′), on its own.
fn rk4(a: impl Fn(f64, f64, f64) -> f64, (mut x, mut v): (f64, f64), end: f64, steps: u32) -> (f64, f64) {
    let h = end / f64::from(steps);
    for k in 0..steps {
        let t = f64::from(k) * h;
        let (v1, a1) = (v, a(t, x, v));
        let (v2, a2) = (v + 0.5 * h * a1, a(t + 0.5 * h, x + 0.5 * h * v1, v + 0.5 * h * a1));
        let (v3, a3) = (v + 0.5 * h * a2, a(t + 0.5 * h, x + 0.5 * h * v2, v + 0.5 * h * a2));
        let (v4, a4) = (v + h * a3, a(t + h, x + h * v3, v + h * a3));
        x += h / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4);
        v += h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
    }
    (x, v)
}

/// A particle is reflected by a hill that it does not feel where it starts, wherever that is. By symmetry of the way there and back,
/// x(t) depends on t − 2T only, T the time of the turn, for any place of the hill.
#[test]
fn hills_are_not_tunnelled_through() {
    for (place, steepness) in [
        (3.0, 5.0),
        (5.0, 5.0),
        (7.3, 8.0),
        (9.0, 5.0),
        (10.0, 5.0),
        (11.0, 3.0),
        (13.0, 5.0),
        (10.0, 1.0),
        (10.0, 15.0),
    ] {
        let force = |x: f64| {
            let d = (x - place) * steepness;
            20.0 * steepness * d * (-d * d).exp()
        };
        let exact = rk4(|_, x, _| force(x), (0.0, 1.0), 20.0, 200_000);
        for card in adaptive() {
            let (mut dynamics, start) = on_a_line(
                &[("x'", 1.0)],
                |x| 10.0 * (-((x - place) * steepness).pow(2.0)).exp(),
                |_, _| None,
            );
            let run = with(card, 1e-10).run(&mut dynamics, &start, 20.0).unwrap();
            let error = (run.end().q[0] - exact.0).abs();
            println!("{:16} hill at {place}, 1/{steepness}: {error:.1e} in {:?}", card.name, run.work());
            assert!(
                error < 1e-5,
                "{} at {place}, 1/{steepness}: {} for {}",
                card.name,
                run.end().q[0],
                exact.0
            );
        }
    }
}

/// Friction that saturates: its series is a constant where the body moves.
#[test]
fn saturated_friction_is_not_missed() {
    for (sharp, steps, tolerated) in [(100.0, 400_000, 1e-7), (1000.0, 2_000_000, 1e-7)] {
        let exact = rk4(|_, x, v| -4.0 * x - 0.5 * (sharp * v).tanh(), (1.0, 0.0), 10.0, steps);
        for tolerance in [1e-7, 1e-10, 1e-13] {
            let (mut dynamics, start) =
                on_a_line(&[("x", 1.0)], |x| 2.0 * x * x, |_, v| Some(-0.5 * (sharp * v).tanh()));
            let run =
                with(Card::named("taylor").unwrap(), tolerance).run(&mut dynamics, &start, 10.0).unwrap();
            let error = (run.end().q[0] - exact.0).abs();
            println!("{sharp} at {tolerance:e}: {:e} for {:e} in {:?}", run.end().q[0], exact.0, run.work());
            assert!(error < tolerated + 100.0 * tolerance, "{sharp} at {tolerance:e}: {error:e}");
        }
    }
}

/// Walls, and what decays fast: the energy is there when the particle comes back.
#[test]
fn walls_keep_the_energy() {
    type Energy = for<'g> fn(Expr<'g>) -> Expr<'g>;
    let cases: [(&str, Energy, [f64; 2], f64); 5] = [
        ("Morse", |x| (1.0 - (-3.0 * (x - 1.0)).exp()).pow(2.0), [30.0, -1.0], 60.0),
        ("walls", |x| (50.0 * (x - 1.0)).exp() + (-50.0 * (x + 1.0)).exp(), [0.0, 1.0], 30.0),
        ("logistic", |x| 10.0 / (1.0 + (-100.0 * (x - 1.0)).exp()), [0.0, 1.0], 3.0),
        ("Lennard-Jones", |x| 4.0 * (x.pow(-12.0) - x.pow(-6.0)), [20.0, -1.0], 50.0),
        ("Yukawa", |x| 5.0 * (-2.0 * x).exp() / x, [50.0, -1.0], 100.0),
    ];
    for (name, energy, [x, v], end) in cases {
        for card in adaptive() {
            let (mut dynamics, start) = on_a_line(&[("x", x), ("x'", v)], energy, |_, _| None);
            let run = with(card, 1e-10).spaced(end / 50.0).run(&mut dynamics, &start, end).unwrap();
            let drift = run.energy_drift(&mut dynamics).unwrap();
            println!("{:16} {name}: {drift:.1e} in {:?}", card.name, run.work());
            assert!(drift < 1e-6, "{} {name}: {drift:e}", card.name);
        }
    }
}

/// A pulse of force in a run of many times its length is caught by a longest step; one of a hundredth of the run without.
#[test]
fn pulses_are_caught() {
    for card in adaptive() {
        // A pulse of momentum 1 at t = 5.
        for (width, longest) in [(0.05, f64::INFINITY), (0.002, 0.005)] {
            let height = 1.0 / (width * std::f64::consts::PI.sqrt());
            let (mut dynamics, start) = on_a_line(
                &[("x", 1.0), ("x'", 1.0)],
                |x| 0.0 * x,
                |t, _| Some(height * (-((t - 5.0) / width).pow(2.0)).exp()),
            );
            let run = with(card, 1e-9).longest_step(longest).run(&mut dynamics, &start, 10.0).unwrap();
            let error = (run.end().q[0] - 16.0).abs();
            println!("{:16} pulse of {width}: {error:.1e} in {:?}", card.name, run.work());
            assert!(error < 1e-6, "{} {width}: {error:e}", card.name);
        }
    }
}

/// From rest at zero there is no scale to be relative to, until something moves.
#[test]
fn rest_at_zero_is_a_start() {
    for card in adaptive().filter(|card| card.needs == Needs::Field) {
        let (mut dynamics, start) = on_a_line(&[], |x| -2.0 * x, |_, _| None);
        let run = with(card, 1e-10).run(&mut dynamics, &start, 3.0).unwrap();
        assert!((run.end().q[0] - 9.0).abs() < 1e-8, "{}: {}", card.name, run.end().q[0]);
        let (mut dynamics, start) = on_a_line(&[], |x| 0.0 * x, |t, _| Some(t.sin()));
        let run = with(card, 1e-10).run(&mut dynamics, &start, 10.0).unwrap();
        assert!((run.end().q[0] - (10.0 - 10f64.sin())).abs() < 1e-8, "{}", card.name);
    }
}

/// A force that sets in at t = 1: x is (t − 1)²/2 from then on, and from rest at zero there is nothing to measure the step across by.
#[test]
fn jumps_are_crossed() {
    for card in adaptive() {
        for start in [&[][..], &[("x", 1.0)], &[("x", 1e-3), ("x'", 1.0)]] {
            let (mut dynamics, start) =
                on_a_line(start, |x| 0.0 * x, |t, _| Some(t.lt(1.0).select(0.0, 1.0)));
            let run = with(card, 1e-9).run(&mut dynamics, &start, 3.0).unwrap();
            let exact = start.q[0] + 3.0 * start.p[0] + 2.0;
            let error = (run.end().q[0] - exact).abs();
            println!("{:16} {error:.1e} in {:?}", card.name, run.work());
            // The estimate of ias15 believes in smooth fields.
            let tolerated = if card.name == "ias15" { 1e-4 } else { 1e-6 };
            assert!(
                error < tolerated && run.work().steps < 3000,
                "{}: {error:e} in {:?}",
                card.name,
                run.work()
            );
        }
    }
}

/// The same by an input, as a controller switches one on, after friction has brought the body to rest.
#[test]
fn inputs_may_jump() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let (x, u) = (model.coordinate("x"), model.input("u"));
    model.particle("cart", 1.0, [x]);
    model.dissipation("friction", 10.0 * model.velocity(x).pow(2.0));
    model.force(x, u);
    for card in adaptive().filter(|card| card.needs != Needs::Closed) {
        let (mut dynamics, start) = begin(&model, &[("x'", 1.0)]);
        dynamics.set_input("u", Input::function(|t| if t < 2.0 { 0.0 } else { 1.0 })).unwrap();
        let run = with(card, 1e-9).run(&mut dynamics, &start, 3.0).unwrap();
        // v′ = −20 v + u.
        let exact = (1.0 - (-60f64).exp()) / 20.0 + 1.0 / 20.0 - (1.0 - (-20f64).exp()) / 400.0;
        let error = (run.end().q[0] - exact).abs();
        println!("{:16} {error:.1e} in {:?}", card.name, run.work());
        assert!(error < 1e-7, "{}: {error:e}", card.name);
    }
}

/// Each lane looks ahead for itself.
#[test]
fn lanes_look_ahead_alone() {
    let (mut dynamics, start) =
        on_a_line(&[("x'", 1.0)], |x| 10.0 * (-((x - 10.0) * 5.0).pow(2.0)).exp(), |_, _| None);
    let states: [Vec<f64>; LANES] = std::array::from_fn(|j| vec![1.7 * j as f64, 1.0 - 0.1 * j as f64]);
    for card in adaptive() {
        let mut block = Block::lanes(states.each_ref().map(Vec::as_slice));
        let run = with(card, 1e-10);
        run.march(&mut dynamics, 0.0, &mut block, 20.0, |_| Ok(ControlFlow::Continue(()))).unwrap();
        for (j, y) in states.iter().enumerate() {
            let alone = run.run(&mut dynamics, &State::from_block(0.0, y, start.q.len()), 20.0).unwrap();
            assert_eq!(block.lane(j), alone.end().block(), "{} lane {j}", card.name);
        }
    }
}

/// Where the fastest motion is rare, steps follow it, and a collision is met at π/√8.
#[test]
fn uneven_motion_is_not_given_one_step() {
    let (mut dynamics, start) = on_a_line(&[("x", 1.0)], |x| -1.0 / x, |_, _| None);
    let Choice { integrator, why } = Choice::new(&mut dynamics, &start, 5.0, None).unwrap();
    let failed = integrator.run(&mut dynamics, &start, 5.0).unwrap_err();
    let t = failed.trajectory.as_ref().unwrap().end().t;
    assert!((t - std::f64::consts::PI / 8f64.sqrt()).abs() < 1e-6, "{failed}, {why}");
    for e in [0.99, 0.999] {
        let (mut dynamics, start) = crate::common::kepler(e);
        let end = 100.0 * std::f64::consts::TAU;
        let Choice { integrator, why } = Choice::new(&mut dynamics, &start, end, None).unwrap();
        assert_eq!(integrator.card().name, "taylor", "{why}");
        let run = integrator.ends_only().run(&mut dynamics, &start, end).unwrap();
        assert!(run.work().steps < 20_000 && why.contains("faster"), "{why}: {:?}", run.work());
        let drift = run.energy_drift(&mut dynamics).unwrap();
        println!("e = {e}: {drift:.1e} in {:?}", run.work());
        assert!(drift < 1e-4, "{drift:e}");
    }
}
