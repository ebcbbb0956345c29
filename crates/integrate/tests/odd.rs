//! Odd systems, through every method that applies: one state or three, inputs from outside, nothing that moves, nothing that is a number.

use crate::common::{begin, distance, kepler};
use leastaction_compile::LANES;
use leastaction_expr::Graph;
use leastaction_integrate::{ALL, Block, Integrator, Pace, Sizing, Tolerance};
use leastaction_mechanics::{Dynamics, Input, Model, Ports, State};
use std::ops::ControlFlow;

/// A tank that runs empty while a pump fills it: one state.
fn tank() -> (Dynamics, State) {
    let graph = Graph::new();
    let mut ports = Ports::new(&graph);
    let [x] = ports.states(["x"]);
    ports.hamiltonian("H", 0.5 * x * x + 0.1 * x.pow(4.0));
    ports.interconnection([[0.0]]);
    ports.dissipation([[0.7]]);
    ports.inputs(["u"]);
    ports.port_matrix([[1.0]]);
    let mut dynamics = ports.system().unwrap().dynamics().unwrap();
    dynamics.set_input("u", Input::function(|t| 0.4 * (3.0 * t).sin())).unwrap();
    let start = dynamics.start(&[("x", 1.0)]).unwrap();
    (dynamics, start)
}

/// A rigid body that turns freely: three states.
fn top() -> (Dynamics, State) {
    let graph = Graph::new();
    let mut ports = Ports::new(&graph);
    let [x, y, z] = ports.states(["x", "y", "z"]);
    let zero = graph.number(0.0);
    ports.hamiltonian("H", 0.5 * (x * x + y * y / 2.0 + z * z / 3.0));
    ports.interconnection([[zero, -z, y], [z, zero, -x], [-y, x, zero]]);
    let mut dynamics = ports.system().unwrap().dynamics().unwrap();
    let start = dynamics.start(&[("x", 0.3), ("y", 1.0), ("z", 0.7)]).unwrap();
    (dynamics, start)
}

/// A mass that a hand pushes, of which nothing is known but its force.
fn pushed() -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    let push = model.input("push");
    model.particle("mass", 1.0, [x]);
    model.potential("spring", 0.5 * x * x + 0.25 * x.pow(4.0));
    model.force(x, push);
    let (mut dynamics, start) = begin(&model, &[("x", 1.0)]);
    dynamics.set_input("push", Input::function(|t| 0.3 * (2.0 * t).cos())).unwrap();
    (dynamics, start)
}

/// The same mass, pushed by a force that the model states.
fn driven() -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    let strength = model.parameter("strength", 0.3);
    let push = model.stated_input("push", strength * (2.0 * model.time()).cos());
    model.particle("mass", 1.0, [x]);
    model.potential("spring", 0.5 * x * x + 0.25 * x.pow(4.0));
    model.force(x, push);
    begin(&model, &[("x", 1.0)])
}

/// A particle that nothing moves.
fn still() -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    model.particle("stone", 1.0, [x]);
    begin(&model, &[])
}

/// A stated input does what a function does that is asked at every stage, and whole steps and series do not mind it.
#[test]
fn a_stated_input_is_part_of_the_system() {
    let ((mut pushed, start), (mut driven, _)) = (pushed(), driven());
    assert!(pushed.system().facts().driven && !driven.system().facts().driven);
    assert!(!driven.system().facts().autonomous && driven.system().stated_inputs() == ["push"]);
    let facts = pushed.system().facts().clone();
    for card in ALL.iter().filter(|card| card.needs.met_by(&facts)) {
        let run = Integrator::new(card, Pace::Step(0.02)).ends_only();
        let ends = [&mut pushed, &mut driven].map(|d| run.run(d, &start, 2.0).unwrap().end().block());
        assert!(distance(&ends[0], &ends[1]) < 1e-12, "{}: {ends:?}", card.name);
    }
    let series = Integrator::named("taylor", Tolerance::relative(1e-12)).unwrap();
    assert!(series.run(&mut pushed, &start, 2.0).is_err());
    let end = series.run(&mut driven, &start, 2.0).unwrap().end().block();
    let fine = Integrator::named("dop853", 1e-3).unwrap();
    assert!(distance(&end, &fine.run(&mut pushed, &start, 2.0).unwrap().end().block()) < 1e-11);
    let observable = driven.observable("2*push").unwrap();
    let mut value = [0.0];
    driven.observe(observable, &[0.7], &start.block(), &mut value).unwrap();
    assert!((value[0] - 0.6 * 1.4f64.cos()).abs() < 1e-15);
}

#[test]
fn odd_systems_run_with_every_method() {
    for make in [tank, top, pushed, driven] {
        let (mut dynamics, start) = make();
        let fine = Integrator::named("dop853", 1e-3).unwrap();
        let exact = fine.ends_only().run(&mut dynamics, &start, 2.0).unwrap().end().block();
        let facts = dynamics.system().facts().clone();
        for card in ALL.iter().filter(|card| card.needs.met_by(&facts)) {
            let adaptive = (card.sizing != Sizing::Given).then(|| Tolerance::relative(1e-8).into());
            for pace in [Pace::Step(0.01)].into_iter().chain(adaptive) {
                let run = Integrator::new(card, pace).ends_only();
                let end = run.run(&mut dynamics, &start, 2.0).unwrap().end().block();
                let allowed = if card.order == 1 { 2e-2 } else { 1e-4 };
                assert!(distance(&end, &exact) < allowed, "{}: {end:?} {exact:?}", card.name);
                let mut block = Block::lanes([start.block().as_slice(); LANES]);
                let go_on = |_: leastaction_integrate::Sample<'_>| Ok(ControlFlow::Continue(()));
                run.march(&mut dynamics, 0.0, &mut block, 2.0, go_on).unwrap();
                assert!((0..LANES).all(|lane| block.lane(lane) == end), "{}: {block:?} {end:?}", card.name);
            }
        }
    }
}

#[test]
fn what_rests_stays() {
    let (mut dynamics, start) = still();
    for card in ALL {
        let run = Integrator::new(card, 0.1).run(&mut dynamics, &start, 1.0).unwrap();
        assert_eq!(run.end().block(), [0.0, 0.0], "{}", card.name);
        if card.sizing != Sizing::Given {
            let run =
                Integrator::new(card, Tolerance::relative(1e-9)).run(&mut dynamics, &start, 1.0).unwrap();
            assert_eq!((run.end().t, run.end().block()), (1.0, vec![0.0, 0.0]), "{}", card.name);
        }
    }
}

#[test]
fn starts_and_ends_must_be_numbers() {
    let (mut dynamics, start) = kepler(0.2);
    for card in ALL {
        for bad in [f64::NAN, f64::INFINITY] {
            let run = Integrator::new(card, 0.1);
            let mut off = start.clone();
            off.q[0] = bad;
            let refused = run.run(&mut dynamics, &off, 1.0).unwrap_err().error;
            assert!(refused.to_string().contains("finite"), "{}: {refused}", card.name);
            assert!(run.run(&mut dynamics, &start, bad).is_err(), "{}", card.name);
            assert!(Integrator::new(card, bad).run(&mut dynamics, &start, 1.0).is_err(), "{}", card.name);
        }
        assert!(Integrator::new(card, 0.0).run(&mut dynamics, &start, 1.0).is_err(), "{}", card.name);
    }
}

#[test]
fn a_system_needs_something_that_moves() {
    let graph = Graph::new();
    let error = Model::new(&graph).system().unwrap_err().to_string();
    assert!(error.contains("coordinate"), "{error}");
}
