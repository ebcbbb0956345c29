//! Ensembles: a trajectory has the bits that it has alone, whatever runs beside it.

use crate::common::{begin, double_pendulum, henon_heiles, kepler, links, pushed, suited};
use leastaction_expr::Graph;
use leastaction_integrate::{
    ALL, Absolute, Card, Checkpoint, Chunk, Density, Ensemble, Event, Fate, Integrator, Keeps, Kind, Launch,
    Pace, Reason, Sizing, Tolerance,
};
use leastaction_mechanics::{Dynamics, Model, StartError, State};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Starts about a state, each a little elsewhere.
fn about(start: &State) -> impl Fn(u64, &mut Dynamics, &mut Launch) -> Result<(), StartError> + Sync {
    let state = start.block();
    move |index, dynamics, launch| {
        for (i, (to, from)) in launch.state.iter_mut().zip(&state).enumerate() {
            *to = from * (1.0 + 0.03 * ((index * 7 + i as u64 * 3) as f64).sin());
        }
        if dynamics.system().facts().constrained {
            dynamics.project(&[0.0], &mut launch.state)?;
        }
        Ok(())
    }
}

fn chunks(ensemble: &Ensemble, dynamics: &Dynamics, start: &State, count: u64) -> Vec<Chunk> {
    let mut all = Vec::new();
    let ran = ensemble.run(dynamics, &about(start), 0..count, |chunk| {
        all.push(chunk.clone());
        ControlFlow::Continue(())
    });
    assert_eq!(ran.unwrap().trajectories, count);
    all
}

/// What is known of a trajectory, to the last bit.
#[derive(Debug, PartialEq)]
struct Known {
    fate: Fate,
    t: u64,
    steps: u64,
    end: Vec<u64>,
    samples: Vec<u64>,
    crossings: Vec<(usize, u64)>,
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

fn known(chunks: &[Chunk]) -> Vec<Known> {
    let rows = chunks.iter().flat_map(|chunk| (0..chunk.len()).map(move |row| (chunk, row)));
    rows.map(|(chunk, row)| {
        let (d, s) = (chunk.dimension, chunk.sampled * chunk.dimension);
        let mine = |(index, _): &&(u64, _)| *index == chunk.first + row as u64;
        Known {
            fate: chunk.fates[row],
            t: chunk.times[row].to_bits(),
            steps: chunk.steps[row],
            end: bits(&chunk.ends[row * d..][..d]),
            samples: bits(&chunk.samples[row * s..][..s]),
            crossings: chunk.crossings.iter().filter(mine).map(|(_, c)| (c.event, c.t.to_bits())).collect(),
        }
    })
    .collect()
}

/// The same trajectory by a run of its own.
fn alone(integrator: &Integrator, dynamics: &Dynamics, start: &State, index: u64, end: f64) -> Known {
    let mut dynamics = dynamics.clone();
    let mut launch =
        Launch { state: vec![0.0; start.block().len()], parameters: dynamics.parameters().to_vec() };
    about(start)(index, &mut dynamics, &mut launch).unwrap();
    let begin = State::from_block(0.0, &launch.state, start.q.len());
    let run = integrator.run(&mut dynamics, &begin, end);
    let (trajectory, failed) = match run {
        Ok(trajectory) => (trajectory, false),
        Err(failed) => (*failed.trajectory.unwrap(), true),
    };
    let last = trajectory.end();
    Known {
        fate: match trajectory.reason() {
            _ if failed => Fate::Failed,
            Reason::Event(event) => Fate::Event(event),
            _ => Fate::Complete,
        },
        t: last.t.to_bits(),
        steps: trajectory.work().steps,
        end: bits(&last.block()),
        samples: Vec::new(),
        crossings: trajectory.crossings().iter().map(|c| (c.event, c.t.to_bits())).collect(),
    }
}

/// All that end where they begin are told, however many there are.
#[test]
fn trajectories_may_end_where_they_begin() {
    let (dynamics, start) = henon_heiles();
    for pace in [Pace::Step(0.1), Pace::Tolerance(Tolerance::relative(1e-6))] {
        let stay = Integrator::named("dop853", pace).unwrap().at(&[0.0]);
        for (lanes, threads) in [(true, 1), (true, 2), (false, 2)] {
            let ensemble = Ensemble::new(stay.clone(), 0.0, 0.0).in_lanes(lanes).threads(threads).chunk(30);
            let found = chunks(&ensemble, &dynamics, &start, 100);
            for chunk in found {
                assert!(chunk.ends == chunk.starts && chunk.samples == chunk.starts);
                assert!(chunk.fates.iter().all(|fate| *fate == Fate::Complete));
            }
        }
    }
}

/// Compares an ensemble in all ways to run it with runs one by one.
fn compare(what: &str, integrator: &Integrator, dynamics: &Dynamics, start: &State, end: f64) {
    const COUNT: u64 = 19;
    let single = integrator.clone().ends_only();
    let expected: Vec<Known> = (0..COUNT).map(|i| alone(&single, dynamics, start, i, end)).collect();
    for (lanes, threads, chunk) in [(true, 1, 1024), (true, 2, 3), (false, 3, 5)] {
        let ensemble = Ensemble::new(single.clone(), 0.0, end).in_lanes(lanes).threads(threads).chunk(chunk);
        let found = known(&chunks(&ensemble, dynamics, start, COUNT));
        for (index, (expected, found)) in expected.iter().zip(found).enumerate() {
            assert_eq!(*expected, found, "{what}: trajectory {index}, lanes {lanes}, {threads} threads");
        }
    }
}

/// From rest, where nothing says how large coordinates and momenta are.
#[test]
fn trajectories_from_rest_have_the_bits_of_runs() {
    for name in ["tsit5", "dop853", "vern9", "taylor", "radau5"] {
        let (mut dynamics, start) = pushed(1.7);
        let run = Integrator::named(name, Tolerance::relative(1e-9)).unwrap();
        compare(name, &run, &dynamics, &start, 10.0);
        let by_stages = run.clone().compiled(false).run(&mut dynamics, &start, 10.0).unwrap();
        let whole = run.compiled(true).run(&mut dynamics, &start, 10.0).unwrap();
        assert_eq!(by_stages.end(), whole.end(), "{name}");
    }
}

/// Absolute tolerances of single components, in lanes, by stages, in compiled steps, and after an interruption; alike ones are those of all.
#[test]
fn components_may_have_tolerances_of_their_own() {
    let (mut dynamics, start) = double_pendulum();
    let pace = |absolute: Absolute| Pace::from(Tolerance { relative: 1e-9, absolute });
    for card in ALL.iter().filter(|card| card.sizing != Sizing::Given) {
        let mut run = |absolute: Absolute, compiled: bool| {
            let run = Integrator::new(card, pace(absolute)).compiled(compiled);
            run.run(&mut dynamics, &start, 3.0).unwrap()
        };
        let alike = run(vec![1e-6; 4].into(), true);
        assert_eq!(alike.end(), run(Absolute::All(1e-6), true).end(), "{}", card.name);
        // One that is known to fewer digits allows longer steps, but not as long as if all were.
        let loose = vec![1e-9, 1e-6, 1e-9, 1e-6];
        let each = run(loose.clone().into(), true);
        let steps = [1e-9, 1e-6].map(|absolute| run(Absolute::All(absolute), true).work().steps);
        assert!(
            (steps[1]..=steps[0]).contains(&each.work().steps),
            "{}: {steps:?} {:?}",
            card.name,
            each.work()
        );
        assert_ne!(each.end(), run(Absolute::All(1e-9), true).end(), "{}", card.name);
        assert_eq!(each.end(), run(loose.clone().into(), false).end(), "{}", card.name);
        let integrator = Integrator::new(card, pace(loose.into()));
        compare(card.name, &integrator, &dynamics, &start, 0.7);
        let part = integrator.run_watched(&mut dynamics, &start, 3.0, |moment| match moment.work().steps {
            5 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        });
        let checkpoint: Checkpoint = part.unwrap().checkpoint().unwrap().to_string().parse().unwrap();
        assert_eq!(integrator.resume(&mut dynamics, &checkpoint).unwrap().end(), each.end(), "{}", card.name);
    }
    let short = Integrator::named("dop853", pace(vec![1e-6; 3].into())).unwrap();
    let refused = short.run(&mut dynamics, &start, 1.0).unwrap_err().to_string();
    assert!(refused.contains("3 absolute tolerances") && refused.contains("4 components"), "{refused}");
}

fn paces(card: &Card, dynamics: &Dynamics) -> Vec<Pace> {
    let mut paces = vec![Pace::Step(0.02)];
    if card.sizing != Sizing::Given {
        paces.push(Tolerance::relative(1e-7).into());
    }
    let facts = dynamics.system().facts();
    if card.kept_in(facts).any(|kept| kept == Keeps::Reversible) && facts.autonomous {
        paces.push(Density::of("1", 0.03).into());
    }
    paces
}

fn every_method_gives_what_it_gives_alone(card: &'static Card) {
    for (dynamics, start) in suited(card).iter().take(2) {
        for pace in paces(card, dynamics) {
            let what = format!("{} with {pace}", card.name);
            compare(&what, &Integrator::new(card, pace), dynamics, start, 0.7);
        }
    }
}

methods!(tests_of every_method_gives_what_it_gives_alone);

#[test]
fn so_it_does_on_constraints() {
    let (dynamics, start) = links();
    for card in ALL.iter().filter(|card| card.needs.met_by(dynamics.system().facts())) {
        for pace in paces(card, &dynamics) {
            let what = format!("{} with {pace}", card.name);
            compare(&what, &Integrator::new(card, pace), &dynamics, &start, 0.3);
        }
    }
}

/// Lanes that end at events of their own are filled again, whatever the method remembers.
#[test]
fn events_end_lanes_one_by_one() {
    let (mut dynamics, start) = double_pendulum();
    let turn = Event::new(dynamics.observable("a'").unwrap());
    let down = Event::new(dynamics.observable("b + 0.2").unwrap()).terminal();
    for card in ALL.iter().filter(|card| card.needs.met_by(dynamics.system().facts())) {
        for pace in paces(card, &dynamics) {
            let what = format!("{} with {pace}", card.name);
            let integrator = Integrator::new(card, pace).event(turn.clone()).event(down.clone());
            compare(&what, &integrator, &dynamics, &start, 1.5);
        }
    }
}

#[test]
fn so_do_events_on_constraints() {
    let (mut dynamics, start) = links();
    let low = Event::new(dynamics.observable("v + 1").unwrap()).terminal();
    for (name, pace) in [("rattle", Pace::Step(0.01)), ("dop853", Tolerance::relative(1e-8).into())] {
        compare(name, &Integrator::named(name, pace).unwrap().event(low.clone()), &dynamics, &start, 1.0);
    }
}

#[test]
fn samples_are_those_of_single_runs() {
    let (dynamics, start) = henon_heiles();
    let times = [0.0, 0.31, 0.5, 0.50001, 1.0];
    for (name, pace) in [("rk4", Pace::Step(0.1)), ("dop853", Tolerance::relative(1e-9).into())] {
        let integrator = Integrator::named(name, pace).unwrap().at(&times);
        let found = chunks(&Ensemble::new(integrator.clone(), 0.0, 1.0).chunk(7), &dynamics, &start, 17);
        for (index, found) in known(&found).iter().enumerate() {
            let mut dynamics = dynamics.clone();
            let mut launch = Launch { state: vec![0.0; 4], parameters: Vec::new() };
            about(&start)(index as u64, &mut dynamics, &mut launch).unwrap();
            let begin = State::from_block(0.0, &launch.state, 2);
            let run = integrator.run(&mut dynamics, &begin, 1.0).unwrap();
            let samples: Vec<f64> = (0..run.len()).flat_map(|i| run.state(i).unwrap().block()).collect();
            assert_eq!(found.samples, bits(&samples), "{name}, trajectory {index}");
        }
    }
}

/// A trajectory that fails is marked, and nobody else notices.
#[test]
fn one_failure_is_one_failure() {
    let (dynamics, start) = kepler(0.3);
    // Trajectory 5 falls into the sun, trajectory 11 cannot begin.
    let starts = |index: u64, dynamics: &mut Dynamics, launch: &mut Launch| {
        about(&start)(index, dynamics, launch)?;
        match index {
            5 => launch.state.copy_from_slice(&[0.4, 0.0, 0.0, 0.0]),
            11 => launch.state[0] = f64::NAN,
            _ => {}
        }
        Ok(())
    };
    for (name, pace) in [
        ("verlet", Pace::Step(0.01)),
        ("dop853", Tolerance::relative(1e-8).into()),
        ("gauss4", Pace::Step(0.05)),
    ] {
        let integrator = Integrator::named(name, pace).unwrap().ends_only().at_most(20_000);
        let mut found = Vec::new();
        let ensemble = Ensemble::new(integrator.clone(), 0.0, 3.0);
        let tally = ensemble.run(&dynamics, &starts, 0..20, |chunk| {
            found.push(chunk.clone());
            ControlFlow::Continue(())
        });
        let tally = tally.unwrap();
        let failures: Vec<u64> = found[0].failures.iter().map(|(index, _)| *index).collect();
        assert!(failures.contains(&11) && tally.failed == failures.len() as u64, "{name}: {failures:?}");
        assert!(failures.iter().all(|index| [5, 11].contains(index)), "{name}: {failures:?}");
        let expected = alone(&integrator, &dynamics, &start, 7, 3.0);
        assert_eq!(known(&found)[7], expected, "{name}");
        assert!(found[0].ends[11 * 4..12 * 4].iter().all(|y| y.is_nan()));
    }
}

/// Lanes that come to a singularity, to the last step they may try, or across a jump of the field end as they do alone, and so do those beside them.
#[test]
fn what_stops_a_lane_is_what_stops_it_alone() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    model.particle("mass", 1.0, [x]);
    model.potential("valley", x.abs());
    let (valley, slope) = begin(&model, &[("x", 1.0)]);
    let mut model = Model::new(&graph);
    let (t, x) = (model.time(), model.coordinate("x"));
    model.particle("mass", 1.0, [x]);
    model.potential("push", -x * t.lt(1.0).select(0.0, 1.0));
    let (pushed, rest) = begin(&model, &[]);
    let (dynamics, start) = kepler(0.3);
    let fall = State { p: vec![0.0, 0.0], ..start.clone() };
    let [orbit, valley, pushed] = [(&dynamics, &start), (&valley, &slope), (&pushed, &rest)];
    for card in ALL.iter().filter(|card| card.kind == Kind::Explicit) {
        let suits = |dynamics: &Dynamics| card.needs.met_by(dynamics.system().facts());
        for pace in paces(card, &dynamics) {
            let (what, integrator) = (format!("{} with {pace}", card.name), Integrator::new(card, pace));
            let (few, many) = (integrator.clone().at_most(3), integrator.clone().at_most(20_000));
            if let Pace::Tolerance(_) = integrator.pace() {
                compare(&format!("{what}, at most 3"), &few, orbit.0, orbit.1, 3.0);
            }
            for (whose, run, (dynamics, start), end) in [
                ("falling", &many, (orbit.0, &fall), 1.0),
                ("in a valley", &integrator, valley, 3.0),
                ("pushed", &integrator, pushed, 3.0),
            ] {
                if suits(dynamics) {
                    compare(&format!("{what}, {whose}"), run, dynamics, start, end);
                }
            }
        }
        // The state of the last of these steps is infinite.
        if suits(valley.0) {
            let burst = Integrator::new(card, 1e160);
            compare(&format!("{} bursts", card.name), &burst, valley.0, valley.1, 4e161);
        }
    }
}

/// Parameters are those of the trajectory, also in a lane that others had before, and beside lanes with others.
#[test]
fn parameters_differ_from_lane_to_lane() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let (a, l) = (model.coordinate("a"), model.parameter("l", 1.0));
    model.particle("bob", 1.0, [l * a.sin(), -l * a.cos()]);
    model.gravity([0.0, -9.81]);
    let (dynamics, start) = begin(&model, &[("a", 1.0)]);
    // Some have the parameter that the ensemble has.
    let length = |index: u64| if index.is_multiple_of(3) { 1.0 } else { 0.5 + 0.1 * index as f64 };
    let starts = |index: u64, _: &mut Dynamics, launch: &mut Launch| {
        launch.state.copy_from_slice(&start.block());
        launch.parameters[0] = length(index);
        Ok(())
    };
    for (name, pace) in [
        ("vern9", Tolerance::relative(1e-8).into()),
        ("rk4", Pace::Step(0.01)),
        ("blanes-moan4", Pace::Step(0.05)),
        ("taylor", Tolerance::relative(1e-8).into()),
    ] {
        let integrator = Integrator::named(name, pace).unwrap().ends_only();
        let mut found = Vec::new();
        Ensemble::new(integrator.clone(), 0.0, 2.0)
            .threads(1)
            .run(&dynamics, &starts, 0..41, |chunk| {
                found.extend(chunk.ends().map(bits));
                ControlFlow::Continue(())
            })
            .unwrap();
        assert_eq!(found.len(), 41);
        for (index, found) in (0..).zip(found) {
            let mut dynamics = dynamics.clone();
            dynamics.set_parameters(&[length(index)]).unwrap();
            let alone = integrator.run(&mut dynamics, &start, 2.0).unwrap();
            assert_eq!(found, bits(&alone.end().block()), "{name}: trajectory {index}");
        }
    }
}

#[test]
fn observables_are_reported_at_both_ends() {
    let (mut dynamics, start) = double_pendulum();
    let angle = dynamics.observable("a - b").unwrap();
    let ensemble =
        Ensemble::new(Integrator::named("rk4", 0.01).unwrap(), 0.0, 0.5).observing(&[angle]).chunk(4);
    for chunk in chunks(&ensemble, &dynamics, &start, 10) {
        for row in 0..chunk.len() {
            let difference = |states: &[f64]| states[row * 4] - states[row * 4 + 1];
            assert_eq!(chunk.before[row], difference(&chunk.starts));
            assert_eq!(chunk.after[row], difference(&chunk.ends));
        }
    }
}

#[test]
fn what_is_wrong_for_all_is_said_once() {
    let (dynamics, start) = double_pendulum();
    let refused = |integrator: Integrator, end: f64| {
        let ensemble = Ensemble::new(integrator, 0.0, end);
        ensemble.run(&dynamics, &about(&start), 0..10, |_| panic!("nothing to show")).unwrap_err().to_string()
    };
    assert!(refused(Integrator::named("verlet", 0.1).unwrap(), 1.0).contains("verlet"));
    assert!(refused(Integrator::named("rk4", -0.1).unwrap(), 1.0).contains("step"));
    assert!(refused(Integrator::named("rk4", 0.1).unwrap(), f64::NAN).contains("end"));
}

#[test]
fn a_run_can_be_broken_off() {
    let (dynamics, start) = double_pendulum();
    let ensemble = Ensemble::new(Integrator::named("rk4", 0.01).unwrap(), 0.0, 1.0).chunk(8).threads(2);
    let mut shown = 0;
    let tally = ensemble.run(&dynamics, &about(&start), 0..1_000_000_000, |chunk| {
        shown += chunk.len();
        if shown >= 100 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let tally = tally.unwrap();
    assert!(tally.interrupted && tally.trajectories == shown as u64 && shown == 104);
    // From outside, too: in the midst of trajectories that would take for ever.
    let stop = Arc::new(AtomicBool::new(false));
    let ensemble = Ensemble::new(Integrator::named("rk4", 1e-9).unwrap(), 0.0, 1.0).stopped_by(stop.clone());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(50));
            stop.store(true, Ordering::Relaxed);
        });
        let tally = ensemble.run(&dynamics, &about(&start), 0..8, |_| panic!("none is complete")).unwrap();
        assert!(tally.interrupted && tally.trajectories == 0);
    });
}
