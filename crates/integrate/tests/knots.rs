//! Forces and energies with corners and jumps: every method lands on them, and goes on from there.

use crate::common::begin;
use leastaction_compile::LANES;
use leastaction_expr::Graph;
use leastaction_integrate::{ALL, Block, Card, Integrator, Pace, RunError, Sizing, Tolerance, Trajectory};
use leastaction_mechanics::{Dynamics, Model, State};
use std::ops::ControlFlow;

/// A particle of mass 1 on a line, in a potential and under a force that are given as texts.
fn on_a_line(start: &[(&str, f64)], potential: &str, force: &str) -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    model.particle("ball", 1.0, [x]);
    model.potential("energy", graph.parse(potential).unwrap());
    model.force(x, graph.parse(force).unwrap());
    begin(&model, start)
}

/// The paces of a method: a step, and a tolerance if it can.
fn paces(card: &Card, step: f64) -> impl Iterator<Item = Pace> {
    let tolerance = (card.sizing != Sizing::Given).then_some(Pace::from(Tolerance::relative(1e-10)));
    [Some(Pace::Step(step)), tolerance].into_iter().flatten()
}

/// Every method of order 2 or more that applies to a system, at each of its paces.
fn sweep(
    step: f64,
    (dynamics, start): &(Dynamics, State),
    end: f64,
    mut check: impl FnMut(&str, Trajectory),
) {
    let mut count = 0;
    // Where a force acts, discrete-gradient divides by how far a step leads, which may be nowhere.
    let forced = dynamics.system().facts().forced;
    for card in ALL.iter().filter(|card| card.order > 1 && !(forced && card.name == "discrete-gradient")) {
        for pace in paces(card, step) {
            let (mut dynamics, label) = (dynamics.clone(), format!("{} with {pace}", card.name));
            let run = Integrator::new(card, pace).ends_only().at_most(1_000_000);
            match run.run(&mut dynamics, start, end) {
                Ok(run) => check(&label, run),
                Err(failed) => {
                    let refused =
                        matches!(failed.error, RunError::NotApplicable { .. } | RunError::Constrained { .. });
                    assert!(refused, "{label}: {failed}");
                    continue;
                }
            }
            count += 1;
        }
    }
    assert!(count > 20, "{count}");
}

/// v = 1 after a push of 10 for 0.1: x = 0.05 + 4.9 at t = 10, wherever the grid is.
#[test]
fn a_push_is_not_stepped_over() {
    let cases = [
        "select(t > 5, select(t < 5.1, 10, 0), 0)",
        "select((t >= 5)*(t < 5.1), 10, 0)",
        "10*(t > 5)*(t <= 5.1)",
        "5*(sign(t - 5) - sign(t - 5.1))",
        "10*(floor(t/5) >= 1)*(floor(t/5.1) < 1)",
        "max(0, min(10, 1e30*(t - 5)*(5.1 - t)))",
    ];
    for force in cases {
        let system = on_a_line(&[], "0*x", force);
        sweep(0.3, &system, 10.0, |label, run| {
            let error = (run.end().q[0] - 4.95).abs();
            println!("{force} {label}: {error:.1e} in {:?}", run.work());
            assert!(error < 1e-12, "{force} {label}: {error:e}");
        });
    }
}

/// A border that is touched at the very start is left to the side where the motion goes, also where it is touched without a slope, in time and in the
/// state: there rounding makes the function the same for some time.
#[test]
fn a_border_at_the_start_is_left() {
    const END: f64 = 1.15;
    // Where forces that are constant for some time lead from x = 0.
    let pushed = |start: f64, pieces: &[(f64, f64)]| {
        let (mut t, mut x, mut v) = (0.0, 0.0, start);
        for &(force, until) in pieces {
            let d = until - t;
            (t, x, v) = (until, x + v * d + 0.5 * force * d * d, v + force * d);
        }
        x
    };
    let (third, whole) = (std::f64::consts::FRAC_PI_3, 3.0_f64.sqrt() - 1.0);
    let cases = [
        ("floor(2*cos(t))", 0.0, pushed(0.0, &[(1.0, third), (0.0, END)])),
        ("floor(4*sin(t/2)^2)", 0.5, pushed(0.5, &[(0.0, third), (1.0, END)])),
        ("floor(1 - t^4)", 0.0, pushed(0.0, &[(0.0, 1.0), (-1.0, END)])),
        ("floor(-t)", 0.0, pushed(0.0, &[(-1.0, 1.0), (-2.0, END)])),
        ("sign(cos(t) - 1)", 0.0, pushed(0.0, &[(-1.0, END)])),
        ("floor(1 - x^2/1000)", 1.0, pushed(1.0, &[(0.0, END)])),
        ("floor(x)", -1.0, pushed(-1.0, &[(-1.0, whole), (-2.0, END)])),
        ("floor(x)", 1.0, pushed(1.0, &[(0.0, 1.0), (1.0, END)])),
    ];
    for (force, start, exact) in cases {
        let system = on_a_line(&[("p_x", start)], "0*x", force);
        sweep(0.3, &system, END, |label, run| {
            let error = (run.end().q[0] - exact).abs();
            assert!(error < 1e-11, "{force} {label}: {error:e}");
        });
    }
}

/// x″ = t − ⌊t⌋ − 1/2: from rest, v is (s² − s)/2 with s = t − ⌊t⌋, and x falls by 1/12 in each unit of time.
#[test]
fn a_saw_has_as_many_teeth_as_it_has() {
    let system = on_a_line(&[("x", 1.0)], "0*x", "t - floor(t) - 0.5");
    sweep(0.3, &system, 30.0, |label, run| {
        let order = Card::named(label.split(' ').next().unwrap()).unwrap().order;
        let error = (run.end().q[0] - (1.0 - 30.0 / 12.0)).abs();
        println!("{label}: {error:.1e} in {:?}", run.work());
        assert!(error < if order > 2 { 1e-11 } else { 0.5 }, "{label}: {error:e}");
    });
}

/// The period of V = |x| from rest at 1 is 4√2.
fn zigzag(t: f64) -> f64 {
    let quarter = 2f64.sqrt();
    let half = (t / (2.0 * quarter)).floor();
    let s = t - 2.0 * quarter * half - quarter;
    let sign = if half % 2.0 == 0.0 { -1.0 } else { 1.0 };
    sign * s * (1.0 - s.abs() / (2.0 * quarter)) * quarter
}

/// Its pieces are parabolas, of which methods of order 2 have no error but rounding.
#[test]
fn corners_of_a_potential_are_landed_on() {
    let cases =
        [("abs(x)", "0*x"), ("0*x", "-sign(x)"), ("max(x, -x)", "0*x"), ("select(x > 0, x, -x)", "0*x")];
    for (potential, force) in cases {
        let system = on_a_line(&[("x", 1.0)], potential, force);
        sweep(0.3, &system, 100.0, |label, run| {
            let error = (run.end().q[0] - zigzag(100.0)).abs();
            println!("{potential} {label}: {error:.1e} in {:?}", run.work());
            assert!(error < 1e-9, "{potential} {force} {label}: {error:e}");
        });
    }
}

/// A particle with v = 1 comes to a wall of height 1 and half-width 0.001, slows down at 1000, and turns after 0.001: it is back where it was
/// 0.002 later. With v = 2 it passes: √2·(√2 − 1)/1000 for each half.
#[test]
fn thin_walls_are_met() {
    let wall = "1000*max(0, 0.001 - abs(x - 5.0123))";
    for (speed, exact) in [
        (1.0, 5.0113 - (10.0 - 5.0133)),
        (2.0, {
            let half = (2.0 - 2f64.sqrt()) / 1000.0;
            5.0133 + 2.0 * (10.0 - 5.0113 / 2.0 - 2.0 * half)
        }),
    ] {
        let system = on_a_line(&[("x'", speed)], wall, "0*x");
        sweep(0.3, &system, 10.0, |label, run| {
            let error = (run.end().q[0] - exact).abs();
            println!("{speed} {label}: {error:.1e} in {:?}", run.work());
            assert!(error < 1e-10, "{speed} {label}: {error:e}");
        });
    }
}

/// A ball on a soft floor: parabolas, and pieces of an oscillation about where it would rest.
#[test]
fn a_soft_floor_throws_back_what_falls() {
    let (g, k, height, end) = (9.81_f64, 1e6_f64, 1.0_f64, 10.0);
    let (omega, speed) = (k.sqrt(), (2.0 * g * height).sqrt());
    let (fall, contact) = (speed / g, 2.0 * (std::f64::consts::PI - (speed * omega / g).atan()) / omega);
    let phase = (end + fall) % (2.0 * fall + contact);
    assert!(phase < 2.0 * fall, "in flight");
    let exact = speed * phase - g * phase * phase / 2.0;
    let system = on_a_line(&[("x", height)], "9.81*x + 1e6*max(0, -x)^2/2", "0*x");
    for card in ALL.iter().filter(|card| card.sizing != Sizing::Given) {
        let run = Integrator::new(card, Tolerance::relative(1e-11)).ends_only().at_most(100_000);
        let run = run.run(&mut system.0.clone(), &system.1, end).unwrap();
        let error = (run.end().q[0] - exact).abs();
        println!("{}: {error:.1e} in {:?}", card.name, run.work());
        assert!(error < 1e-7, "{}: {error:e}", card.name);
    }
}

/// The way back leads to where it began.
#[test]
fn there_and_back() {
    let (dynamics, start) =
        on_a_line(&[("x", 0.3), ("x'", 1.0)], "abs(x) + 0.1*x^2", "floor(2*t)/9 - (t > 3.3)");
    for card in ALL.iter().filter(|card| card.sizing != Sizing::Given) {
        let run = Integrator::new(card, Tolerance::relative(1e-12)).ends_only();
        let there = run.run(&mut dynamics.clone(), &start, 7.3).unwrap();
        let back = run.run(&mut dynamics.clone(), &there.end(), 0.0).unwrap();
        let (x, v) = (back.end().q[0], back.end().p[0]);
        assert!((x - 0.3).abs() < 1e-8 && (v - 1.0).abs() < 1e-8, "{}: {x} {v}", card.name);
    }
}

/// Steps to a switch and on are one of the grid, and samples are where they are without.
#[test]
fn grids_keep_their_times() {
    let (mut dynamics, start) = on_a_line(&[("x", 1.0)], "abs(x)", "(t > 1.23)/10");
    let run = Integrator::named("verlet", 0.25).unwrap().every(3).run(&mut dynamics, &start, 5.0).unwrap();
    let times: Vec<f64> = (0..7).map(|k| 0.75 * f64::from(k)).chain([5.0]).collect();
    assert_eq!(run.times(), times);
    assert!(run.work().steps > 20, "{:?}", run.work());
}

/// Each lane lands for itself, with the bits that it has alone.
#[test]
fn lanes_land_alone() {
    let (dynamics, start) = on_a_line(&[], "abs(x) + max(0, x - 0.7)^2", "floor(2*t)/9 - 0.3*(t > 3.3)");
    let states: [Vec<f64>; LANES] = std::array::from_fn(|j| vec![1.0 - 0.3 * j as f64, 0.2 * j as f64]);
    let mut lanes = dynamics.clone();
    // Restarts make symplectic-euler lose all of its energy here.
    for card in ALL.iter().filter(|card| card.order > 1) {
        for pace in paces(card, 0.3) {
            let mut block = Block::lanes(states.each_ref().map(Vec::as_slice));
            let run = Integrator::new(card, pace).ends_only().at_most(100_000);
            let ran = run.march(&mut lanes, 0.0, &mut block, 9.0, |_| Ok(ControlFlow::Continue(())));
            if matches!(ran, Err(RunError::NotApplicable { .. } | RunError::Constrained { .. })) {
                continue;
            }
            ran.unwrap();
            for (j, y) in states.iter().enumerate() {
                let from = State::from_block(0.0, y, start.q.len());
                let alone = run.run(&mut dynamics.clone(), &from, 9.0).unwrap();
                assert_eq!(block.lane(j), alone.end().block(), "{} lane {j}", card.name);
            }
        }
    }
}

/// A run that is broken off anywhere goes on with the same bits.
#[test]
fn resumed_runs_keep_their_branches() {
    let (dynamics, start) = on_a_line(&[("x", 1.0)], "abs(x) + max(0, x - 0.7)^2", "floor(2*t)/9");
    for name in ["dop853", "taylor", "ias15", "radau5", "gauss4", "verlet"] {
        let card = Card::named(name).unwrap();
        for pace in paces(card, 0.3) {
            let run = Integrator::new(card, pace).ends_only();
            let whole = run.run(&mut dynamics.clone(), &start, 6.0).unwrap();
            for after in 1..whole.work().steps.min(40) {
                let mut dynamics = dynamics.clone();
                let part = run.run_watched(&mut dynamics, &start, 6.0, |moment| {
                    if moment.work().steps >= after {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(())
                    }
                });
                let checkpoint = part.unwrap().checkpoint().unwrap().clone();
                let rest = run.resume(&mut dynamics, &checkpoint).unwrap();
                assert_eq!(rest.end(), whole.end(), "{name} after {after}");
                assert_eq!(rest.work(), whole.work(), "{name} after {after}");
            }
        }
    }
}

/// A step of the potential is a blow: forces on both sides of it are 0, and none of them tells of it. A steep slope has one.
#[test]
fn energies_that_jump_in_place_are_refused() {
    let jumps = ["select(x > 1, 1, 0)", "0.3*sign(x - 1)", "0.1*floor(x)"];
    for potential in jumps {
        let (mut dynamics, start) = on_a_line(&[("x", 0.5), ("x'", 2.0)], potential, "0.01*x'");
        let failed =
            Integrator::named("dop853", Tolerance::relative(1e-10)).unwrap().run(&mut dynamics, &start, 3.0);
        let failed = failed.expect_err(potential);
        assert!(matches!(failed.error, RunError::EnergyJump { .. }), "{potential}: {failed}");
        assert!(failed.to_string().contains("steep slope"), "{failed}");
    }
    for potential in ["max(0, x - 1)", "1e6*max(0, x - 1)^2", "abs(x - 1)", "1e5*max(0, x - 1)"] {
        let (mut dynamics, start) = on_a_line(&[("x", 0.5), ("x'", 2.0)], potential, "-0.01*x'");
        let run = Integrator::named("dop853", Tolerance::relative(1e-10)).unwrap();
        run.run(&mut dynamics, &start, 3.0).expect(potential);
    }
}

/// Masses that jump where a track has a corner change the energy of what keeps its momentum.
#[test]
fn corners_of_a_track_are_refused() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    model.particle("cart", 1.0, [x, (x - 1.0).max(0.0)]);
    model.gravity([0.0, -9.81]);
    let (mut dynamics, start) = begin(&model, &[("x", 2.0)]);
    let run = Integrator::named("dop853", Tolerance::relative(1e-10)).unwrap();
    let failed = run.run(&mut dynamics, &start, 2.0).unwrap_err();
    assert!(matches!(failed.error, RunError::EnergyJump { .. }), "{failed}");
}
