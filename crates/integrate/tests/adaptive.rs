//! Steps from tolerances: lanes, the way back, samples between steps, resumed runs, and where there is no way.

use crate::common::{begin, distance, driven_pendulum, kepler, oscillator, suited};
use leastaction_compile::LANES;
use leastaction_expr::Graph;
use leastaction_integrate::{
    ALL, Absolute, Block, Card, Integrator, Moment, Needs, Pace, Reason, RunError, Sizing, Tolerance,
};
use leastaction_mechanics::{Model, State};
use std::ops::ControlFlow;

fn adaptive() -> impl Iterator<Item = &'static Card> {
    ALL.iter().filter(|card| card.sizing != Sizing::Given)
}

/// Lanes have steps of their own, and reject them at other times: each is what it would be alone.
#[test]
fn lanes_adapt_alone() {
    for card in adaptive() {
        for (mut dynamics, start) in suited(card) {
            let run = Integrator::new(card, Tolerance::relative(1e-7)).ends_only();
            let states: [Vec<f64>; LANES] = std::array::from_fn(|lane| {
                let mut y = start.block();
                y[0] += 0.07 * lane as f64;
                y
            });
            let mut block = Block::lanes(states.each_ref().map(Vec::as_slice));
            run.march(&mut dynamics, 0.0, &mut block, 4.0, |_| Ok(ControlFlow::Continue(()))).unwrap();
            for (lane, state) in states.iter().enumerate() {
                let from = State::from_block(0.0, state, start.q.len());
                let alone = run.run(&mut dynamics, &from, 4.0).unwrap();
                assert_eq!(block.lane(lane), alone.end().block(), "{} lane {lane}", card.name);
            }
        }
    }
}

/// A run that was broken off and goes on has the bits, and the work, of one that was not.
#[test]
fn resumed_runs_have_the_same_bits() {
    for card in ALL {
        let step = [Pace::Step(0.03)];
        let tolerance = (card.sizing != Sizing::Given).then_some(Pace::from(Tolerance::relative(1e-8)));
        for pace in step.into_iter().chain(tolerance) {
            for (mut dynamics, start) in suited(card) {
                let run = Integrator::new(card, pace.clone());
                let whole = run.run(&mut dynamics, &start, 4.0).unwrap();
                let breaks = |at: u64| {
                    move |moment: &mut Moment<'_, '_>| match moment.work().steps {
                        steps if steps == at => ControlFlow::Break(()),
                        _ => ControlFlow::Continue(()),
                    }
                };
                let part = run.run_watched(&mut dynamics, &start, 4.0, breaks(5)).unwrap();
                assert_eq!(part.reason(), Reason::Interrupted);
                let rest = run.resume(&mut dynamics, part.checkpoint().unwrap()).unwrap();
                assert_eq!(rest.end(), whole.end(), "{} with {pace}", card.name);
                assert_eq!(rest.work(), whole.work(), "{} with {pace}", card.name);
            }
        }
    }
}

/// Samples between steps are as good as the steps, and do not change them.
#[test]
fn samples_between_steps_change_nothing() {
    for card in adaptive() {
        let (mut dynamics, start) = kepler(0.5);
        let tolerance = Tolerance::relative(1e-9);
        let plain = Integrator::new(card, tolerance.clone()).run(&mut dynamics, &start, 7.0).unwrap();
        let fine = Integrator::new(card, Tolerance::relative(1e-13)).spaced(0.1);
        let fine = fine.run(&mut dynamics, &start, 7.0).unwrap();
        let often = Integrator::new(card, tolerance).spaced(0.1).run(&mut dynamics, &start, 7.0).unwrap();
        assert_eq!(often.end(), plain.end(), "{}", card.name);
        assert_eq!(often.len(), 71);
        let found = distance(often.blocks(), fine.blocks());
        println!("{:20} between steps {found:.1e}", card.name);
        assert!(found < 1e-6, "{}: {found:e}", card.name);
    }
}

#[test]
fn there_is_a_way_back() {
    for card in adaptive().filter(|card| card.needs == Needs::Field) {
        let (mut dynamics, start) = driven_pendulum();
        let run = Integrator::new(card, Tolerance::relative(1e-11)).ends_only();
        let there = run.run(&mut dynamics, &start, 5.0).unwrap().end();
        let back = run.run(&mut dynamics, &there, 0.0).unwrap().end();
        assert_eq!(back.t, 0.0);
        assert!(distance(&back.block(), &start.block()) < 1e-9, "{}", card.name);
    }
}

/// Absolute tolerances alone will do, and so does a start at rest at zero, which has no scale.
#[test]
fn absolute_tolerances_need_no_scale() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let (t, x) = (model.time(), model.coordinate("x"));
    model.particle("mass", 1.0, [x]);
    model.potential("push", -x * t.sin());
    for card in adaptive().filter(|card| card.needs == Needs::Field) {
        for absolute in [1e-6, 1e-10] {
            let (mut dynamics, start) = begin(&model, &[]);
            let tolerance = Tolerance { relative: 0.0, absolute: absolute.into() };
            let end = Integrator::new(card, tolerance).ends_only().run(&mut dynamics, &start, 10.0).unwrap();
            let error = (end.end().q[0] - (10.0 - 10.0_f64.sin())).abs();
            println!("{:20} absolute {absolute:.0e}: {error:.1e} in {:?}", card.name, end.work());
            assert!(error < 1e3 * absolute && end.work().steps < 2000, "{}: {error:e}", card.name);
        }
    }
}

/// A fall into the centre ends with an error, not with numbers that mean nothing, and not never.
#[test]
fn collisions_are_reported() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("comet", 1.0, [x, y]);
    model.potential("gravity", -1.0 / (x * x + y * y).sqrt());
    for card in adaptive() {
        let (mut dynamics, start) = begin(&model, &[("x", 1.0)]);
        let run = Integrator::new(card, Tolerance::relative(1e-10)).ends_only().at_most(100_000);
        let failed = run.run(&mut dynamics, &start, 2.0).unwrap_err();
        println!("{:20} {failed}", card.name);
        let known = matches!(
            failed.error,
            RunError::StepTooShort { .. }
                | RunError::OutOfSteps { .. }
                | RunError::Step(_)
                | RunError::NotFinite { .. }
        );
        // It falls for π/√8.
        assert!(known && (failed.trajectory.unwrap().end().t - 1.1107).abs() < 1e-3, "{}", card.name);
    }
}

/// Nobody can meet a tolerance below rounding, and nobody is kept waiting for it: the steps stay as long as rounding allows.
#[test]
fn tolerances_below_rounding_come_to_an_end() {
    for card in ALL.iter().filter(|card| matches!(card.sizing, Sizing::Estimated { .. })) {
        for tolerance in
            [Tolerance::relative(1e-20), Tolerance { relative: 0.0, absolute: Absolute::All(1e-20) }]
        {
            let (mut dynamics, start) = oscillator();
            let run = Integrator::new(card, tolerance).at_most(5000).ends_only();
            let end = run.run(&mut dynamics, &start, 1.0).unwrap().end();
            assert!((end.q[0] - 1.0_f64.cos()).abs() < 1e-15, "{}", card.name);
        }
    }
}

/// A run that will not end within anything like the steps that are allowed is given up, long before these are used up; what was computed until then is kept.
#[test]
fn runs_without_hope_are_given_up() {
    for (name, end) in [("dop853", 1e15), ("taylor", 1e300), ("radau5", -1e15)] {
        let (mut dynamics, start) = oscillator();
        let run =
            Integrator::named(name, Tolerance::relative(1e-6)).unwrap().ends_only().at_most(100_000_000);
        let failed = run.run(&mut dynamics, &start, end).unwrap_err();
        let RunError::Endless { tried, steps, t, .. } = failed.error else { panic!("{name}: {failed}") };
        assert!(tried < 200_000 && steps > 1e14, "{failed}");
        assert_eq!(failed.trajectory.unwrap().end().t, t, "{name}");
    }
    // One that comes to its end is not.
    let (mut dynamics, start) = oscillator();
    let run = Integrator::named("tsit5", Tolerance::relative(1e-6)).unwrap().ends_only().at_most(400_000);
    assert!(run.run(&mut dynamics, &start, 20_000.0).is_ok());
}
