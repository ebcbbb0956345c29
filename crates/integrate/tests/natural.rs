//! What errors are measured by where coordinates and momenta pass through zero together, or rest there.

use crate::common::{begin, pushed};
use leastaction_expr::Graph;
use leastaction_integrate::{ALL, Card, Integrator, Needs, Sizing, Tolerance};
use leastaction_mechanics::{Dynamics, Model, State};

/// A pendulum of length 1 on a spring of 10⁸, let go where the spring is at rest, in Cartesian coordinates and in polar ones.
fn on_a_spring(polar: bool) -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    model.gravity([0.0, -9.81]);
    let start = if polar {
        let [r, a] = model.coordinates(["r", "a"]);
        model.particle("bob", 1.0, [r * a.sin(), -r * a.cos()]);
        model.potential("spring", 0.5e8 * (r - 1.0).pow(2.0));
        vec![("r", 1.0), ("a", 1.0)]
    } else {
        let [x, y] = model.coordinates(["x", "y"]);
        model.particle("bob", 1.0, [x, y]);
        model.potential("spring", 0.5e8 * ((x * x + y * y).sqrt() - 1.0).pow(2.0));
        vec![("x", 1.0)]
    };
    begin(&model, &start)
}

/// All but ias15: its estimate is relative to the field, and the rounding of times is much of a field that begins at zero, so that it takes many steps.
fn adaptive() -> impl Iterator<Item = &'static Card> {
    let suited = |card: &&Card| matches!(card.needs, Needs::Field | Needs::Closed) && card.name != "ias15";
    ALL.iter().filter(|card| card.sizing != Sizing::Given).filter(suited)
}

/// By methods that find their steps, whenever the push begins: x = (t − from)³/12.
#[test]
fn what_rests_may_be_pushed() {
    for from in [5.0, 5.1234, 1.7, 0.3 * std::f64::consts::PI, 9.0] {
        for card in adaptive() {
            for relative in [1e-6, 1e-10] {
                let (mut dynamics, start) = pushed(from);
                let run = Integrator::new(card, Tolerance::relative(relative)).ends_only().at_most(100_000);
                let end = run.run(&mut dynamics, &start, 10.0);
                let end = end.unwrap_or_else(|error| panic!("{} from {from}: {error}", card.name));
                let (x, p) = ((10.0 - from).powi(3) / 12.0, (10.0 - from).powi(2) / 2.0);
                let found = end.end();
                let off = (found.q[0] / x - 1.0).abs().max((found.p[0] / p - 1.0).abs());
                println!(
                    "{:16} {from:8.4} {relative:e}: {} steps, off by {off:.1e}",
                    card.name,
                    end.work().steps
                );
                assert!(off < 10.0 * relative, "{} from {from}: off by {off:e}", card.name);
                assert!(end.work().steps < 10_000, "{} from {from}: {} steps", card.name, end.work().steps);
            }
        }
    }
}

/// In about ten steps for each of some 3000 vibrations, not in hundreds; to the same end by methods that have nothing in common.
#[test]
fn pendulums_on_stiff_springs_turn() {
    for polar in [false, true] {
        let mut ends: Vec<f64> = Vec::new();
        for (name, most) in [("dop853", 60_000), ("vern9", 120_000), ("taylor", 20_000), ("ias15", 40_000)] {
            let (mut dynamics, start) = on_a_spring(polar);
            let run = Integrator::named(name, Tolerance::relative(1e-10)).unwrap().ends_only();
            let end = run.run(&mut dynamics, &start, 2.0).unwrap();
            println!("{name:8} {} steps, to {:?}", end.work().steps, end.end().q);
            assert!(end.work().steps < most, "{name}: {} steps", end.work().steps);
            ends.push(end.end().q[1]);
        }
        for end in &ends {
            assert!((end - ends[3]).abs() < 1e-8, "{ends:?}");
        }
    }
}

/// A fast force long after t = 0, where the rounding of times is much of a momentum that touches zero in each period: p = (1 − cos ωt)/ω.
#[test]
fn late_and_fast_forces_are_followed() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let (t, x) = (model.time(), model.coordinate("x"));
    model.particle("mass", 1.0, [x]);
    model.force(x, (1e4 * t).sin());
    for card in adaptive() {
        let (mut dynamics, mut start) = begin(&model, &[("p_x", 2e-4)]);
        start.t = ((1e4 * 2284.0 / std::f64::consts::TAU).round() + 0.5) * std::f64::consts::TAU / 1e4;
        let end = start.t + 0.02;
        let run = Integrator::new(card, Tolerance::relative(1e-8)).ends_only().at_most(200_000);
        let run = run.run(&mut dynamics, &start, end);
        let run = run.unwrap_or_else(|error| panic!("{}: {error}", card.name));
        let exact = 2e-4 + ((1e4 * start.t).cos() - (1e4 * end).cos()) / 1e4;
        let off = (run.end().p[0] - exact).abs() / 1e-4;
        println!("{:16} off by {off:.1e} in {:?}", card.name, run.work());
        assert!(off < 1e-6, "{}: off by {off:e}", card.name);
    }
}

/// A damped oscillator comes to rest about a place: x'' = −1000 (x − place) − 20 x'. Its end from a distance of −0.1, in closed form.
fn damped(place: f64, card: &'static Card) -> (f64, f64, u64) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    model.particle("mass", 1.0, [x]);
    model.potential("spring", 500.0 * (x - place).pow(2.0));
    model.dissipation("damper", 10.0 * model.velocity(x).pow(2.0));
    let (mut dynamics, start) = begin(&model, &[("x", place - 0.1)]);
    let run = Integrator::new(card, Tolerance::relative(1e-12)).ends_only().at_most(20_000);
    let run = run
        .run(&mut dynamics, &start, 2.5)
        .unwrap_or_else(|error| panic!("{} about {place}: {error}", card.name));
    (run.end().q[0], run.end().p[0], run.work().steps)
}

/// Far from 0 it comes to rest but for the rounding of coordinates, in no more steps than that takes: an explicit method took 15 million. About 0 all its digits are followed.
#[test]
fn rest_is_found_wherever_it_is() {
    for card in adaptive() {
        let [(x, _, far_steps), (near, p, steps)] = [1.0, 0.0].map(|place| damped(place, card));
        println!("{:16} {far_steps} steps about 1, {steps} about 0", card.name);
        assert!((x - 1.0).abs() < 1e-11, "{}: {x}", card.name);
        assert!(far_steps < 10_000, "{}: {far_steps} steps, and {steps} about 0", card.name);
        let off = [near / -1.100_606_669_658_66e-12, p / -1.795_163_194_810_04e-11]
            .map(|ratio| (ratio - 1.0).abs());
        assert!(off.iter().all(|off| *off < 1e-7), "{}: {near:e} {p:e}", card.name);
    }
}
