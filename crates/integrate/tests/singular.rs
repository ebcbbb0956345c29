//! Configurations in which constraints depend on each other, passed with speed: the motion is that of one angle, to the tolerance.
//!
//! The mechanism is problem A02 of the library of benchmark problems of the IFToMM technical committee for multibody dynamics
//! (<https://www.iftomm-multibody.org/benchmark>): N loops of rods of one length, which lie flat twice in each turn. All posts stand at the
//! same angle to the ground, so that one coordinate without constraints tells its motion.

use crate::common::distance;
use crate::loops::loops;
use leastaction_compile::LANES;
use leastaction_expr::Graph;
use leastaction_integrate::{ALL, Block, Integrator, Sizing, Tolerance};
use leastaction_mechanics::{Dynamics, Inertia, Model, Pose, State};
use std::ops::ControlFlow;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Construction {
    OfPoints,
    OfBodies,
}

fn mechanism(construction: Construction, count: usize) -> (Dynamics, State) {
    if construction == Construction::OfPoints {
        return loops(count, |_, _| {});
    }
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let mut bodies = |name: &str, count: usize| -> Vec<_> {
        let rod = || Inertia::rod(1.0, 1.0).unwrap();
        (0..count).map(|i| model.planar_body(&format!("{name}{i}"), rod()).unwrap()).collect()
    };
    let (posts, beams) = (bodies("post", count + 1), bodies("beam", count));
    for (i, post) in posts.iter().enumerate() {
        let foot = model.anchor([i as f64, 0.0]);
        model.pin(&format!("foot{i}"), &foot, &post.point([-0.5, 0.0]).unwrap()).unwrap();
    }
    for (i, beam) in beams.iter().enumerate() {
        for (post, end) in [(i, -0.5), (i + 1, 0.5)] {
            let (head, end) = (posts[post].point([0.5, 0.0]).unwrap(), beam.point([end, 0.0]).unwrap());
            model.pin(&format!("head{i}{post}"), &head, &end).unwrap();
        }
    }
    model.gravity([0.0, -9.81]);
    let mut start = Vec::new();
    for (i, post) in posts.iter().enumerate() {
        let pose = Pose::between([i as f64, 0.0], [i as f64, 1.0]).unwrap();
        start.extend(post.start(&pose.moving([0.5, 0.0]).turning(-1.0)).unwrap());
    }
    for (i, beam) in beams.iter().enumerate() {
        let pose = Pose::between([i as f64, 1.0], [i as f64 + 1.0, 1.0]).unwrap();
        start.extend(beam.start(&pose.moving([1.0, 0.0])).unwrap());
    }
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let start = dynamics.start(&start).unwrap();
    (dynamics, start)
}

/// The same motion by the angle of the posts from upright.
fn angle(count: usize, start: [f64; 2]) -> (Dynamics, State) {
    let (graph, n) = (Graph::new(), count as f64);
    let mut model = Model::new(&graph);
    let angle = model.coordinate("angle");
    model.kinetic("rods", ((n + 1.0) / 6.0 + n / 2.0) * model.velocity(angle).pow(2.0));
    model.potential("rods", 9.81 * ((n + 1.0) / 2.0 + n) * angle.cos());
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let start = dynamics.start(&[("angle", start[0]), ("angle'", start[1])]).unwrap();
    (dynamics, start)
}

fn exact(count: usize, end: f64) -> f64 {
    let (mut dynamics, start) = angle(count, [0.0, 1.0]);
    let run = Integrator::named("taylor", Tolerance::relative(1e-15)).unwrap().ends_only();
    run.run(&mut dynamics, &start, end).unwrap().end().q[0]
}

/// How far the heads of all posts are from where they are if the posts stand at this angle.
fn off(construction: Construction, count: usize, q: &[f64], angle: f64) -> f64 {
    let head = |i: usize| match construction {
        Construction::OfPoints => [q[2 * i], q[2 * i + 1]],
        Construction::OfBodies => [2.0 * q[4 * i] - i as f64, 2.0 * q[4 * i + 1]],
    };
    let exact = |i: usize| [i as f64 + angle.sin(), angle.cos()];
    (0..=count).map(|i| distance(&head(i), &exact(i))).fold(0.0, f64::max)
}

/// What is wrong with a run to t = 20, which passes sixteen such configurations. An error is what the tolerance asks for if it is at most a
/// hundred times that, or ten times what the method does with the one angle; and below 3e−10 it is rounding, which grows as any error does.
/// Methods of order 5 miss that, and are held to what was measured: at 1e−6 their energy is up to 30 tolerances off, and an error of the energy grows
/// a hundredfold where posts are nearly upright.
fn wrong(construction: Construction, count: usize, method: &str, tolerance: f64) -> Option<String> {
    let (end, pace) = (20.0, Tolerance::relative(tolerance));
    let expected = exact(count, end);
    let (mut free, from) = angle(count, [0.0, 1.0]);
    let run = Integrator::named(method, pace).unwrap().at_most(200_000);
    let free = (run.run(&mut free, &from, end).unwrap().end().q[0] - expected).abs();
    let (mut dynamics, start) = mechanism(construction, count);
    let run = match run.run(&mut dynamics, &start, end) {
        Ok(run) => run,
        Err(failed) => return Some(format!("{construction:?} {count} {method} {tolerance:e}: {failed}")),
    };
    let error = off(construction, count, &run.end().q, expected);
    let drift = run.energy_drift(&mut dynamics).unwrap();
    let low = matches!(method, "tsit5" | "dormand-prince5");
    let (within, kept) = if low { (3000.0, 50.0) } else { (100.0, 30.0) };
    let fits = error <= (within * tolerance).max(10.0 * free).max(3e-10);
    let keeps = drift <= (kept * tolerance).max(5e-12);
    (!fits || !keeps).then(|| {
        format!("{construction:?} {count} {method} {tolerance:e}: {error:e}, free {free:e}, energy {drift:e}")
    })
}

fn passes(method: &str, tolerances: &[f64]) {
    for construction in [Construction::OfPoints, Construction::OfBodies] {
        for &tolerance in tolerances {
            assert_eq!(wrong(construction, 2, method, tolerance), None);
        }
    }
}

#[test]
fn explicit_methods_pass() {
    passes("tsit5", &[1e-7]);
    passes("dop853", &[1e-6, 1e-10, 1e-13]);
    passes("vern9", &[1e-8, 1e-12, 1e-13]);
}

#[test]
fn series_pass() {
    passes("taylor", &[1e-6, 1e-10, 1e-12]);
}

#[test]
fn implicit_methods_pass() {
    passes("ias15", &[1e-8, 1e-12]);
    passes("radau5", &[1e-7]);
}

/// Of many loops directions are short for a long time before they vanish.
#[test]
fn many_loops_pass() {
    assert_eq!(wrong(Construction::OfBodies, 12, "dop853", 1e-11), None);
}

/// N × methods × tolerances.
#[test]
#[ignore = "long"]
fn all_loops_pass() {
    let mut found = Vec::new();
    for construction in [Construction::OfPoints, Construction::OfBodies] {
        for count in [1, 2, 3, 5, 10, 20, 40] {
            for card in ALL.iter().filter(|card| card.sizing != Sizing::Given) {
                let (dynamics, _) = mechanism(construction, count);
                if !card.needs.met_by(dynamics.system().facts()) {
                    continue;
                }
                let slow = matches!(card.name, "tsit5" | "dormand-prince5" | "radau5" | "ias15");
                for digits in (6..=13).filter(|digits| count < 10 || digits % 3 == 0) {
                    if slow && (digits > 9 || count > 10) {
                        continue;
                    }
                    let failed = wrong(construction, count, card.name, 10.0_f64.powi(-digits));
                    failed.iter().for_each(|failed| println!("{failed}"));
                    found.extend(failed);
                }
            }
        }
    }
    assert!(found.is_empty(), "{} of them", found.len());
}

/// Flat at the start, with speed: what the constraints do not say there, the motion does.
#[test]
fn runs_begin_where_constraints_are_singular() {
    let speed = 5.0;
    let (mut free, from) = angle(2, [std::f64::consts::FRAC_PI_2, speed]);
    let reference = Integrator::named("taylor", Tolerance::relative(1e-14)).unwrap().ends_only();
    let expected = reference.run(&mut free, &from, 3.0).unwrap().end().q[0];
    let (mut dynamics, _) = mechanism(Construction::OfPoints, 2);
    let values: Vec<(String, f64)> = (0..=2)
        .flat_map(|i| [(format!("x{i}"), i as f64 + 1.0), (format!("y{i}"), 0.0), (format!("y{i}'"), -speed)])
        .collect();
    let values: Vec<(&str, f64)> = values.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let start = dynamics.start(&values).unwrap();
    for method in ["dop853", "taylor", "vern9", "ias15"] {
        let run = Integrator::named(method, Tolerance::relative(1e-9)).unwrap().ends_only();
        let end = run.run(&mut dynamics, &start, 3.0).unwrap().end();
        let error = off(Construction::OfPoints, 2, &end.q, expected);
        assert!(error < 1e-6, "{method}: {error:e}");
    }
}

/// Back in time through eight of them, to the start.
#[test]
fn they_are_passed_backwards_too() {
    let (mut dynamics, start) = mechanism(Construction::OfBodies, 2);
    let run = Integrator::named("dop853", Tolerance::relative(1e-11)).unwrap().ends_only();
    let there = run.run(&mut dynamics, &start, 8.0).unwrap().end();
    let back = run.run(&mut dynamics, &there, 0.0).unwrap().end();
    assert!(distance(&back.block(), &start.block()) < 1e-7, "{back:?}");
}

/// Samples within the step that passes lie on the motion; and the first post said twice is redundant all along, and changes nothing.
#[test]
fn samples_and_redundant_constraints_do_no_harm() {
    let (mut free, from) = angle(2, [0.0, 1.0]);
    let reference = Integrator::named("taylor", Tolerance::relative(1e-14)).unwrap().spaced(0.002);
    let reference = reference.run(&mut free, &from, 2.0).unwrap();
    let twice = loops(2, |model, names| {
        let [x, y] = [0, 1].map(|i| model.graph().symbol(&names[i]));
        model.constraint("once more", 3.0 * (x * x + y * y), 3.0);
    });
    for (mut dynamics, start) in [mechanism(Construction::OfPoints, 2), twice] {
        for method in ["dop853", "taylor", "ias15"] {
            let run = Integrator::named(method, Tolerance::relative(1e-11)).unwrap().spaced(0.002);
            let run = run.run(&mut dynamics, &start, 2.0).unwrap();
            for ((t, y), (_, angle)) in run.samples().zip(reference.samples()) {
                let error = off(Construction::OfPoints, 2, y, angle[0]);
                assert!(error < 1e-8, "{method} at {t}: {error:e}");
            }
        }
    }
}

/// Lanes that pass at times of their own have the bits that they have alone, and so have runs that are resumed.
#[test]
fn bits_do_not_depend_on_company() {
    let (mut dynamics, start) = mechanism(Construction::OfBodies, 1);
    let half = start.q.len();
    for method in ["dop853", "taylor", "ias15"] {
        let run = Integrator::named(method, Tolerance::relative(1e-10)).unwrap().ends_only();
        let states: [Vec<f64>; LANES] = std::array::from_fn(|lane| {
            let mut y = start.block();
            y[half..].iter_mut().for_each(|p| *p *= 1.0 + 0.2 * lane as f64);
            y
        });
        let mut block = Block::lanes(states.each_ref().map(Vec::as_slice));
        run.march(&mut dynamics, 0.0, &mut block, 1.5, |_| Ok(ControlFlow::Continue(()))).unwrap();
        for (lane, state) in states.iter().enumerate() {
            let alone = run.run(&mut dynamics, &State::from_block(0.0, state, half), 1.5).unwrap();
            assert_eq!(block.lane(lane), alone.end().block(), "{method} lane {lane}");
        }
        let whole = run.run(&mut dynamics, &start, 1.5).unwrap();
        let broken = run.run_watched(&mut dynamics, &start, 1.5, |moment| {
            if moment.fraction() > 0.45 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let rest = run.resume(&mut dynamics, broken.unwrap().checkpoint().unwrap()).unwrap();
        assert_eq!((rest.end(), rest.work()), (whole.end(), whole.work()), "{method}");
    }
}
