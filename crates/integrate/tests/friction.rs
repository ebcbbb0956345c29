//! Dry friction: bodies stop, stick, and slip, as laws with a jump at v = 0 say.

use crate::common::begin;
use leastaction_compile::LANES;
use leastaction_expr::Graph;
use leastaction_integrate::{ALL, Block, Card, Integrator, Pace, RunError, Sizing, Tolerance};
use leastaction_mechanics::{Dynamics, Model, State};
use std::ops::ControlFlow;

/// Particles of mass 1 on a line, one for each force that is given as a text.
fn on_a_line(start: &[(&str, f64)], forces: &[(&str, &str)], dissipation: &str) -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    for (name, force) in forces {
        let x = model.coordinate(name);
        model.particle(name, 1.0, [x]);
        model.force(x, graph.parse(force).unwrap());
    }
    if !dissipation.is_empty() {
        model.dissipation("friction", graph.parse(dissipation).unwrap());
    }
    begin(&model, start)
}

/// Every method of order 2 or more that applies, with steps and by a tolerance.
fn sweep(what: &str, (dynamics, start): &(Dynamics, State), end: f64, exact: &[f64], tolerated: f64) {
    let mut count = 0;
    for card in ALL.iter().filter(|card| card.order > 1 && card.name != "discrete-gradient") {
        let tolerance = (card.sizing != Sizing::Given).then_some(Pace::from(Tolerance::relative(1e-10)));
        for pace in [Some(Pace::Step(0.07)), tolerance].into_iter().flatten() {
            let (mut dynamics, label) = (dynamics.clone(), format!("{what}: {} with {pace}", card.name));
            let by_step = matches!(pace, Pace::Step(_));
            let run = Integrator::new(card, pace).ends_only().at_most(100_000);
            let run = match run.run(&mut dynamics, start, end) {
                Ok(run) => run,
                Err(failed) => {
                    let refused =
                        matches!(failed.error, RunError::NotApplicable { .. } | RunError::Constrained { .. });
                    assert!(refused, "{label}: {failed}");
                    continue;
                }
            };
            let tolerated = if by_step && card.order < 4 { tolerated.max(1e-2) } else { tolerated };
            let tolerated = if by_step { tolerated.max(1e-5) } else { tolerated };
            let error = run.end().q.iter().zip(exact).fold(0.0_f64, |m, (x, exact)| m.max((x - exact).abs()));
            println!("{label}: {error:.1e} in {:?}", run.work());
            assert!(error < tolerated, "{label}: {error:e} {:?}", run.end());
            count += 1;
        }
    }
    assert!(count > 15, "{count}");
}

/// A block that is braked at 2 from v = 1 stops after 1/2, at 1/4, and stays there.
#[test]
fn a_block_stops() {
    let laws = [
        ("-2*sign(x')", ""),
        ("select(x' > 0, -2, 2)", ""),
        ("2*(x' < 0) - 2*(x' > 0)", ""),
        ("0*x", "2*abs(x')"),
    ];
    for (force, dissipation) in laws {
        let system = on_a_line(&[("x'", 1.0)], &[("x", force)], dissipation);
        sweep(force, &system, 3.0, &[0.25], 1e-12);
    }
}

/// On a slope that pulls by 3: friction of 2 lets it slip, one of 4 holds it; moving up, it is braked at 7, and sticks.
#[test]
fn a_block_on_a_slope_sticks_or_slips() {
    sweep("slips", &on_a_line(&[], &[("x", "3 - 2*sign(x')")], ""), 2.0, &[2.0], 1e-12);
    sweep("sticks", &on_a_line(&[], &[("x", "3 - 4*sign(x')")], ""), 2.0, &[0.0], 1e-12);
    sweep("brakes", &on_a_line(&[("x'", 1.0)], &[("x", "3 - 4*sign(x')")], ""), 2.0, &[0.5], 1e-12);
    let up = on_a_line(&[("x'", -1.0)], &[("x", "3 - 4*sign(x')")], "");
    sweep("up", &up, 2.0, &[-1.0 / 14.0], 1e-12);
    let up_and_down = on_a_line(&[("x'", -1.0)], &[("x", "3 - 2*sign(x')")], "");
    sweep("up and down", &up_and_down, 2.2, &[-0.1 + 2.0], 1e-12);
}

/// An oscillator on a belt that runs at 1/2 with friction of 1: x = 1 + 2 cos t until it is as fast as the belt; it rides along to x = 1, where the spring
/// is as strong as friction; from there x = 1 + sin(t − t₂)/2.
#[test]
fn an_oscillator_sticks_to_a_belt_and_slips() {
    let stick = std::f64::consts::PI + 0.25_f64.asin();
    let slip = stick + -2.0 * stick.cos() / 0.5;
    let system = on_a_line(&[("x", 3.0)], &[("x", "-x - sign(x' - 0.5)")], "");
    sweep("rides", &system, slip - 1.0, &[0.5], 1e-8);
    sweep("slips", &system, slip + 1.0, &[1.0 + 0.5 * 1.0_f64.sin()], 1e-8);
}

/// A push of 1.5 sin t against friction of 1 moves a body from sin t = 2/3 on, until it stops and sticks.
#[test]
fn a_push_must_exceed_friction() {
    let begin = (2.0_f64 / 3.0).asin();
    let speed = |t: f64| 1.5 * (begin.cos() - t.cos()) - (t - begin);
    let (mut low, mut high) = (2.0, 3.8);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if speed(middle) > 0.0 { low = middle } else { high = middle }
    }
    let way =
        |t: f64| 1.5 * (begin.cos() * (t - begin) - (t.sin() - begin.sin())) - (t - begin).powi(2) / 2.0;
    let system = on_a_line(&[], &[("x", "1.5*sin(t) - sign(x')")], "");
    sweep("sticks", &system, 0.7, &[0.0], 1e-12);
    sweep("moves", &system, 3.6, &[way(low)], 1e-8);
}

/// A block on a block on the ground: the lower one stays where the ground holds it; else both come to one speed, and stop together.
#[test]
fn two_blocks_stick_to_each_other() {
    let forces = |ground: &str| format!("0.5*sign(y' - x') - {ground}*sign(x')");
    let start = [("y'", 2.0)];
    let held = on_a_line(&start, &[("x", &forces("1")), ("y", "-0.5*sign(y' - x')")], "");
    sweep("held", &held, 6.0, &[0.0, 4.0], 1e-10);
    let taken = on_a_line(&start, &[("x", &forces("0.2")), ("y", "-0.5*sign(y' - x')")], "");
    sweep(
        "taken along",
        &taken,
        6.0,
        &[0.9375 + 0.75 * 3.5 - 0.05 * 12.25, 3.4375 + 0.75 * 3.5 - 0.05 * 12.25],
        1e-10,
    );
    sweep("stopped", &taken, 12.0, &[3.75, 6.25], 1e-10);
}

/// A law that is driven to rest by a force of positions alone is not one of friction, and nothing is made up for it.
#[test]
fn what_cannot_be_held_is_said() {
    let (mut dynamics, start) = on_a_line(&[], &[("x", "0.5 - sign(x)")], "");
    let run = Integrator::new(Card::named("dop853").unwrap(), Tolerance::relative(1e-9));
    let failed = run.run(&mut dynamics, &start, 1.0).unwrap_err();
    assert!(matches!(failed.error, RunError::Chatter { .. }), "{failed}");
}

/// Two components of a force of this size against a vector of velocities.
fn against(size: &str, [u, v]: [&str; 2]) -> [String; 2] {
    [u, v].map(|part| format!("-{size}*({part})/sqrt(({u})^2 + ({v})^2)"))
}

/// Every method that takes a tolerance is right, or says that it is not.
fn by_tolerance(what: &str, (dynamics, start): &(Dynamics, State), end: f64, exact: &[f64], tolerated: f64) {
    let mut right = Vec::new();
    for card in ALL.iter().filter(|card| card.sizing != Sizing::Given) {
        let run = Integrator::new(card, Tolerance::relative(1e-10)).ends_only().at_most(100_000);
        match run.run(&mut dynamics.clone(), start, end) {
            Ok(run) => {
                let found = run.end();
                let off = found.q.iter().zip(exact).map(|(x, exact)| (x - exact).abs());
                let error = off.fold(0.0, f64::max);
                println!("{what}: {}: {error:.1e} in {:?}", card.name, run.work());
                assert!(error < tolerated, "{what}: {}: {error:e} {:?}", card.name, run.end());
                right.push(card.name);
            }
            Err(failed) => println!("{what}: {}: {failed}", card.name),
        }
    }
    assert!(right.len() >= 3 && right.contains(&"radau5"), "{what}: only {right:?}");
}

/// A puck that is braked at 2 from a speed of 1 stops after 1/2, at 1/4 along its way, and stays there; pushed up a slope that pulls by 1, it is braked at 3, and
/// sticks; on one that pulls by 3 it slides back.
#[test]
fn a_puck_stops_in_the_plane() {
    let [x, y] = against("2", ["x'", "y'"]);
    let start = [("x'", 0.6), ("y'", 0.8)];
    let forces = [("x", x.as_str()), ("y", y.as_str())];
    by_tolerance("quotient", &on_a_line(&start, &forces, ""), 3.0, &[0.15, 0.2], 1e-10);
    let free = [("x", "0*x"), ("y", "0*y")];
    by_tolerance("dissipation", &on_a_line(&start, &free, "2*sqrt(x'^2 + y'^2)"), 3.0, &[0.15, 0.2], 1e-10);
    by_tolerance("hypot", &on_a_line(&start, &free, "2*hypot(x', y')"), 3.0, &[0.15, 0.2], 1e-10);
    let slope = |pull: f64| [("x", format!("-0.6*{pull}")), ("y", format!("-0.8*{pull}"))];
    let on_slope = |pull: f64| {
        let forces = slope(pull);
        let forces = forces.each_ref().map(|(name, force)| (*name, force.as_str()));
        on_a_line(&start, &forces, "2*sqrt(x'^2 + y'^2)")
    };
    by_tolerance("sticks", &on_slope(1.0), 3.0, &[0.1, 0.4 / 3.0], 1e-10);
    let way = 0.1 - 0.5 * 0.8_f64.powi(2);
    by_tolerance("slides back", &on_slope(3.0), 1.0, &[0.6 * way, 0.8 * way], 1e-10);
}

/// A puck at rest moves when what pulls it is stronger than friction, and to where it pulls; a coin on a turntable goes round with it.
#[test]
fn a_puck_sticks_until_it_is_pulled() {
    let way = 0.5 * (3.0_f64 - 1.0).powi(3) / 6.0;
    let pulled = on_a_line(&[], &[("x", "0.3*t"), ("y", "0.4*t")], "0.5*sqrt(x'^2 + y'^2)");
    by_tolerance("pulled", &pulled, 3.0, &[0.6 * way, 0.8 * way], 1e-8);
    by_tolerance("not yet", &pulled, 0.9, &[0.0, 0.0], 1e-14);
    let [x, y] = against("3", ["x' + 1.5*y", "y' - 1.5*x"]);
    let coin = on_a_line(&[("x", 0.4), ("y'", 0.6)], &[("x", &x), ("y", &y)], "");
    by_tolerance("turntable", &coin, 2.0, &[0.4 * 3.0_f64.cos(), 0.4 * 3.0_f64.sin()], 1e-8);
}

/// A puck that stops while a force pulls it aside. With s = tan(ψ/2) of the angle between velocity and force, v = s(1 + s²)/2, from s = 1 to s = 0: it stops at
/// t = 2/3, at 4/15 and 1/12.
#[test]
fn a_puck_turns_as_it_stops() {
    let (dynamics, start) =
        on_a_line(&[("x'", 1.0)], &[("x", "0*x"), ("y", "1 + 0*y")], "2*sqrt(x'^2 + y'^2)");
    by_tolerance("turns", &(dynamics.clone(), start.clone()), 2.0, &[4.0 / 15.0, 1.0 / 12.0], 1e-8);
    let run = Integrator::named("dop853", Tolerance::relative(1e-10)).unwrap().ends_only();
    let end = run.run(&mut dynamics.clone(), &start, 2.0).unwrap().end().clone();
    assert!(end.p.iter().all(|p| p.abs() < 1e-12), "{:?}", end.p);
    // A step of one length leads beyond rest.
    let failed = Integrator::named("rk4", 0.01).unwrap().run(&mut dynamics.clone(), &start, 2.0).unwrap_err();
    assert!(matches!(failed.error, RunError::Directed { .. }), "{failed}");
}

/// A puck in polar coordinates, that runs straight on as friction brakes it.
#[test]
fn a_puck_stops_in_polar_coordinates() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    model.coordinate("r");
    model.coordinate("f");
    model.kinetic("moving", graph.parse("(r'^2 + r^2*f'^2)/2").unwrap());
    model.dissipation("friction", graph.parse("2*sqrt(r'^2 + (r*f')^2)").unwrap());
    let system = begin(&model, &[("r", 1.0), ("r'", 0.6), ("f'", 0.8)]);
    let (x, y) = (1.15_f64, 0.2_f64);
    by_tolerance("polar", &system, 2.0, &[x.hypot(y), y.atan2(x)], 1e-8);
}

/// Where friction has no direction, and nothing is known of what holds, no power is made up.
#[test]
fn rest_dissipates_nothing() {
    let (mut dynamics, start) = on_a_line(&[], &[("x", "0*x"), ("y", "0*y")], "2*sqrt(x'^2 + y'^2)");
    let mut power = [f64::NAN];
    dynamics.dissipated_power(&[0.0], &start.block(), &mut power).unwrap();
    assert_eq!(power, [0.0]);
}

/// Each lane sticks and slips for itself, with the bits that it has alone.
#[test]
fn lanes_stick_alone() {
    let on_line = on_a_line(&[], &[("x", "1.5*sin(t) - x/5 - sign(x')")], "").0;
    let start = |j: usize| [0.5 * j as f64 - 2.0, 0.3 * j as f64 - 1.2];
    stick_alone(&on_line, &["dop853", "taylor", "radau5", "ias15"], &|j| start(j).to_vec());
    let in_plane = on_a_line(&[], &[("x", "1.5*sin(t) - x/5"), ("y", "cos(t) - y/5")], "sqrt(x'^2 + y'^2)").0;
    stick_alone(&in_plane, &["dop853", "radau5"], &|j| [start(j), start(7 - j)].concat());
}

fn stick_alone(dynamics: &Dynamics, methods: &[&str], start: &dyn Fn(usize) -> Vec<f64>) {
    let states: [Vec<f64>; LANES] = std::array::from_fn(start);
    for name in methods {
        let run = Integrator::named(name, Tolerance::relative(1e-9)).unwrap().ends_only();
        let mut block = Block::lanes(states.each_ref().map(Vec::as_slice));
        run.march(&mut dynamics.clone(), 0.0, &mut block, 9.0, |_| Ok(ControlFlow::Continue(()))).unwrap();
        for (j, y) in states.iter().enumerate() {
            let alone = run.run(&mut dynamics.clone(), &State::from_block(0.0, y, y.len() / 2), 9.0).unwrap();
            assert_eq!(block.lane(j), alone.end().block(), "{name} lane {j}");
        }
    }
}

/// A puck that starts to slip when the pull jumps, and whose direction turns from then on: methods for stiff motions took it to go straight on at first, 1e-4 off at the end, and so
/// did the run that it was compared with.
#[test]
fn a_puck_that_is_torn_away_turns_at_once() {
    let pull = [("x", "0.6 + select(t > 1, 1, 0)"), ("y", "0.4*t")];
    let system = on_a_line(&[], &pull, "sqrt(x'^2 + y'^2)");
    let end = |name: &str| {
        let run = Integrator::named(name, Tolerance::relative(1e-10)).unwrap().ends_only().at_most(20_000);
        run.run(&mut system.0.clone(), &system.1, 4.0)
            .unwrap_or_else(|error| panic!("{name}: {error}"))
            .end()
            .q
    };
    let known = end("vern9");
    for name in ["dop853", "tsit5", "taylor", "radau5", "ias15"] {
        let found = end(name);
        let off = found.iter().zip(&known).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
        assert!(off < 1e-7, "{name}: {found:?} {known:?}");
    }
}

/// Friction that depends on the speed in size, too, as Stribeck's does: v dv/dx = −(2 + v)/(1 + v) from v = 3. It stops, and stays.
#[test]
fn friction_may_depend_on_the_speed() {
    let law = "-sign(x')*(1 + 1/(1 + abs(x')))";
    // ∫ v (1 + v)/(2 + v) dv = v²/2 − v + 2 ln(2 + v).
    let way = 4.5 - 3.0 + 2.0 * 2.5_f64.ln();
    sweep("Stribeck", &on_a_line(&[("x'", 3.0)], &[("x", law)], ""), 5.0, &[way], 1e-8);
    let held = on_a_line(&[], &[("x", "1.5 - sign(x')*(1 + 1/(1 + abs(x')))")], "");
    sweep("holds", &held, 5.0, &[0.0], 1e-12);
}

/// A puck at rest that is pulled to and fro stays as long as friction holds it, and then slips: as one on a line. It is held up to rounding, which is no motion to follow.
#[test]
fn a_puck_is_held_against_a_pull_that_turns() {
    let end = |name: &str, (dynamics, start): &(Dynamics, State), until: f64| {
        let run = Integrator::named(name, Tolerance::relative(1e-10)).unwrap().ends_only().at_most(100_000);
        run.run(&mut dynamics.clone(), start, until).unwrap_or_else(|error| panic!("{name}: {error}")).end().q
    };
    let line = on_a_line(&[], &[("x", "1.5*sin(t) - sign(x')")], "");
    let way = end("dop853", &line, 3.0)[0];
    let held = on_a_line(&[], &[("x", "0.24*sin(t)"), ("y", "0.32*sin(t)")], "0.5*sqrt(x'^2 + y'^2)");
    let pulled = on_a_line(&[], &[("x", "0.9*sin(t)"), ("y", "1.2*sin(t)")], "sqrt(x'^2 + y'^2)");
    for name in ["dop853", "radau5"] {
        let (held, pulled) = (end(name, &held, 2.0), end(name, &pulled, 3.0));
        assert!(held.iter().all(|x| x.abs() < 1e-12), "{name}: {held:?}");
        let off = (pulled[0] - 0.6 * way).abs().max((pulled[1] - 0.8 * way).abs());
        assert!(off < 1e-7, "{name}: {pulled:?} {way}");
    }
}
