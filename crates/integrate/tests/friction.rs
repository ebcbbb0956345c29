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

/// Each lane sticks and slips for itself, with the bits that it has alone.
#[test]
fn lanes_stick_alone() {
    let (dynamics, _) = on_a_line(&[], &[("x", "1.5*sin(t) - x/5 - sign(x')")], "");
    let states: [Vec<f64>; LANES] = std::array::from_fn(|j| vec![0.5 * j as f64 - 2.0, 0.3 * j as f64 - 1.2]);
    for name in ["dop853", "taylor", "radau5", "ias15"] {
        let run = Integrator::named(name, Tolerance::relative(1e-9)).unwrap().ends_only();
        let mut block = Block::lanes(states.each_ref().map(Vec::as_slice));
        run.march(&mut dynamics.clone(), 0.0, &mut block, 9.0, |_| Ok(ControlFlow::Continue(()))).unwrap();
        for (j, y) in states.iter().enumerate() {
            let alone = run.run(&mut dynamics.clone(), &State::from_block(0.0, y, 1), 9.0).unwrap();
            assert_eq!(block.lane(j), alone.end().block(), "{name} lane {j}");
        }
    }
}
