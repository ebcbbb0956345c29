//! Events against closed forms.

use crate::common::{begin, henon_heiles, kepler, oscillator, undisturbed};
use leastaction_compile::LANES;
use leastaction_expr::Graph;
use leastaction_integrate::{ALL, Block, Event, Integrator, Reason, RunError, Sizing, Tolerance};
use leastaction_mechanics::{Dynamics, Model, State};
use std::f64::consts::PI;
use std::ops::ControlFlow;

fn crossings(run: Integrator, (dynamics, start): &mut (Dynamics, State), text: &str, end: f64) -> Vec<f64> {
    let event = Event::new(dynamics.observable(text).unwrap());
    let found = run.event(event).ends_only().run(dynamics, start, end).unwrap();
    found.crossings().iter().map(|crossing| crossing.t).collect()
}

#[test]
fn zeros_are_where_they_should_be() {
    let mut system = oscillator();
    let fine = || Integrator::named("rk4", 1e-3).unwrap();
    let found = crossings(fine(), &mut system, "x", 20.0);
    assert_eq!(found.len(), 6);
    for (k, t) in found.iter().enumerate() {
        assert!((t - (k as f64 + 0.5) * PI).abs() < 1e-11, "{t}");
    }
    // Back in time the same zeros come, and what fell rises.
    let back = crossings(Integrator::named("rk4", -1e-3).unwrap(), &mut system, "x", -8.0);
    assert!(back.len() == 3 && (back[0] + PI / 2.0).abs() < 1e-11, "{back:?}");
    // Time is an expression like others, and is known to the last bit.
    let clock = crossings(fine(), &mut system, "(t - 0.2525)*(t - 0.2527)*(t - 7.25)", 20.0);
    assert_eq!(clock.len(), 3);
    assert!(clock.iter().zip([0.2525, 0.2527, 7.25]).all(|(t, at)| (t - at).abs() < 4.0 * f64::EPSILON * at));
}

/// A particle that nothing stops is at the end in one step, and crosses a grid all the way.
#[test]
fn long_steps_hide_no_events() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    model.particle("ball", 1.0, [x]);
    for name in ["taylor", "dop853", "vern9", "radau5"] {
        for (text, apart) in [("sin(40*x)", PI / 40.0), ("cos(300*(x + 1))", PI / 300.0)] {
            let mut system = begin(&model, &[("x", 0.001), ("x'", 1.0)]);
            let run = Integrator::named(name, Tolerance::relative(1e-10)).unwrap();
            let found = crossings(run, &mut system, text, 100.0);
            let right = (100.0 / apart).floor();
            assert!((found.len() as f64 - right).abs() <= 1.0, "{name}, {text}: {} of {right}", found.len());
            assert!(found.windows(2).all(|t| ((t[1] - t[0]) - apart).abs() < 1e-9), "{name}, {text}");
        }
    }
}

#[test]
fn directions_are_distinguished() {
    let (mut dynamics, start) = oscillator();
    let x = Event::new(dynamics.observable("x").unwrap());
    let run =
        Integrator::named("rk4", 0.01).unwrap().ends_only().event(x.clone().rising()).event(x.falling());
    let swing = run.run(&mut dynamics, &start, 20.0).unwrap();
    let seen: Vec<(usize, bool)> = swing.crossings().iter().map(|c| (c.event, c.rising)).collect();
    let (up, down) = ((0, true), (1, false));
    assert_eq!(seen, [down, up, down, up, down, up]);
    assert!(swing.crossings().iter().all(|c| c.state.q[0].abs() < 1e-14 && c.state.t == c.t));
}

/// A step of five radians holds several zeros, and a polynomial that shows them.
#[test]
fn several_in_one_step() {
    let mut system = oscillator();
    for step in [0.5, 1.0] {
        let found = crossings(Integrator::named("rk4", step).unwrap(), &mut system, "sin(40*t)", 3.0);
        assert_eq!(found.len(), 38, "with a step of {step}");
        assert!(found.iter().enumerate().all(|(k, t)| (t - (k as f64 + 1.0) * PI / 40.0).abs() < 1e-14));
    }
}

#[test]
fn terminal_events_end_the_run() {
    for card in ALL {
        let (mut dynamics, start) = undisturbed(card);
        let name = dynamics.system().coordinates().at(0);
        let text = format!("({name} - {})^2 - 0.0004", start.q[0]);
        let event = Event::new(dynamics.observable(&text).unwrap()).terminal();
        let run = Integrator::new(card, 0.03).event(event).run(&mut dynamics, &start, 10.0).unwrap();
        assert_eq!(run.reason(), Reason::Event(0), "{}", card.name);
        assert!(((run.end().q[0] - start.q[0]).abs() - 0.02).abs() < 1e-14, "{}", card.name);
        assert_eq!(run.crossings()[0].state, run.end());
        assert!(run.times().windows(2).all(|t| t[0] < t[1]));
    }
}

/// A start on the section is not a crossing; one at the border of two steps is one.
#[test]
fn borders_count_once() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    model.particle("ball", 1.0, [x]);
    let mut system = begin(&model, &[("x'", 1.0)]);
    let run = |step| Integrator::named("rk4", step).unwrap();
    assert!(crossings(run(0.125), &mut system, "x", 4.0).is_empty());
    assert_eq!(crossings(run(0.125), &mut system, "x - 1", 4.0), [1.0]);
    for step in [0.1, 0.3, 1.0 / 7.0] {
        for k in 1..9 {
            let wall = step * f64::from(k);
            let found = crossings(run(step), &mut system, &format!("x - {wall:?}"), 4.0);
            assert!(
                found.len() == 1 && (found[0] - wall).abs() < 1e-15 * wall.max(1.0),
                "{found:?} for {wall}"
            );
        }
    }
}

/// Perihelia of an ellipse come once a period; the adaptive run has them too.
#[test]
fn perihelia_come_once_a_period() {
    for card in ALL.iter().filter(|card| card.sizing != Sizing::Given) {
        let (mut dynamics, start) = kepler(0.6);
        let event = Event::new(dynamics.observable("x*p_x + y*p_y").unwrap()).rising();
        let run = Integrator::new(card, Tolerance::relative(1e-11)).event(event).ends_only();
        let orbit = run.run(&mut dynamics, &start, 6.5 * PI).unwrap();
        let times: Vec<f64> = orbit.crossings().iter().map(|c| c.t).collect();
        assert_eq!(times.len(), 3, "{}", card.name);
        for (k, t) in times.iter().enumerate() {
            assert!((t - 2.0 * PI * (k as f64 + 1.0)).abs() < 1e-7, "{}: {t}", card.name);
        }
    }
}

/// A Poincaré section: y = 0, upwards; every point lies on it and on the energy's surface.
#[test]
fn sections_lie_on_their_surface() {
    let (mut dynamics, start) = henon_heiles();
    let event = Event::new(dynamics.observable("y").unwrap()).rising();
    let run = Integrator::named("rk4", 0.01).unwrap().event(event).ends_only();
    let orbit = run.run(&mut dynamics, &start, 300.0).unwrap();
    let mut energy = [0.0; 2];
    dynamics.energy(&[0.0], &start.block(), &mut energy[..1]).unwrap();
    assert!(orbit.crossings().len() > 30);
    for crossing in orbit.crossings() {
        assert!(crossing.state.q[1].abs() < 1e-15 && crossing.state.p[1] > 0.0);
        dynamics.energy(&[0.0], &crossing.state.block(), &mut energy[1..]).unwrap();
        assert!((energy[0] - energy[1]).abs() < 1e-8);
    }
}

#[test]
fn observers_see_events() {
    let (mut dynamics, start) = oscillator();
    let event = Event::new(dynamics.observable("x").unwrap());
    let run = Integrator::named("rk4", 0.5).unwrap().event(event).spaced(1.0);
    let mut seen = Vec::new();
    let end = run.observe(&mut dynamics, &start, 3.0, |sample| {
        seen.push((sample.t, sample.event.is_some()));
        Ok(ControlFlow::Continue(()))
    });
    assert_eq!(end.unwrap().reason, Reason::Complete);
    let kinds: Vec<bool> = seen.iter().map(|(_, hit)| *hit).collect();
    assert_eq!(kinds, [false, false, true, false, false]);
    let mut block = Block::lanes([start.block().as_slice(); LANES]);
    let refused = run.march(&mut dynamics, 0.0, &mut block, 1.0, |_| Ok(ControlFlow::Continue(())));
    assert_eq!(refused.unwrap_err(), RunError::EventsInLanes);
}
