//! Methods that know nothing of constraints, whose steps are followed by a projection onto them.

use crate::common::{begin, distance, links};
use leastaction_compile::LANES;
use leastaction_expr::Graph;
use leastaction_integrate::{
    ALL, Block, Card, Density, Event, Integrator, Keeps, Needs, RunError, Sizing, Tolerance,
};
use leastaction_mechanics::{Dynamics, Model, State};
use std::f64::consts::FRAC_PI_2;
use std::ops::ControlFlow;

type System = (Dynamics, State);

/// The links again, with so many redundant copies of a constraint that their forces are not written out: constraint forces are then
/// solved for in every evaluation.
fn solved() -> System {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y, u, v] = model.coordinates(["x", "y", "u", "v"]);
    model.particle("elbow", 1.0, [x, y]);
    model.particle("hand", 2.0, [u, v]);
    model.gravity([0.0, -5.0]);
    model.constraint("upper", x * x + y * y, 1.0);
    model.constraint("lower", (u - x).pow(2.0) + (v - y).pow(2.0), 0.25);
    for k in 0..40 {
        let factor = f64::from(k + 2);
        model.constraint(&format!("copy {k}"), factor * (x * x + y * y), factor);
    }
    begin(&model, &[("x", 1.0), ("u", 1.0), ("v", -0.5)])
}

/// The end of the links' motion, from the same in angles.
fn in_angles(t: f64) -> Vec<f64> {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [a, b] = model.coordinates(["a", "b"]);
    let elbow = [a.sin(), -a.cos()];
    model.particle("elbow", 1.0, elbow);
    model.particle("hand", 2.0, [elbow[0] + 0.5 * b.sin(), elbow[1] - 0.5 * b.cos()]);
    model.gravity([0.0, -5.0]);
    let (mut dynamics, start) = begin(&model, &[("a", FRAC_PI_2)]);
    let run = Integrator::named("taylor", Tolerance::relative(1e-15)).unwrap();
    let end = run.run(&mut dynamics, &start, t).unwrap().end();
    let mut v = [0.0; 2];
    dynamics.velocities(&[t], &end.block(), &mut v).unwrap();
    let [a, b, da, db] = [end.q[0], end.q[1], v[0], v[1]];
    let [x, y, u, v] = [a.cos() * da, a.sin() * da, 0.5 * b.cos() * db, 0.5 * b.sin() * db];
    let q = [a.sin(), -a.cos(), a.sin() + 0.5 * b.sin(), -a.cos() - 0.5 * b.cos()];
    [q, [x, y, 2.0 * (x + u), 2.0 * (y + v)]].concat()
}

fn violation(dynamics: &mut Dynamics, t: f64, y: &[f64]) -> f64 {
    let system = dynamics.system().clone();
    let (mut positions, mut velocities) =
        (vec![0.0; system.position_constraints()], vec![0.0; system.constraints().len()]);
    dynamics.violations(&[t], y, &mut positions, &mut velocities).unwrap();
    positions.iter().chain(&velocities).fold(0.0, |m, x| x.abs().max(m))
}

/// Methods that are projected, on a system.
fn projected(dynamics: &Dynamics) -> Vec<&'static Card> {
    let facts = dynamics.system().facts();
    ALL.iter().filter(|card| card.needs.met_by(facts) && card.is_projected_in(facts)).collect()
}

/// A projection costs no order.
#[test]
fn projected_methods_keep_their_order() {
    let exact = in_angles(0.5);
    for (what, system) in [("written out", links()), ("solved for", solved())] {
        let (mut dynamics, start) = system;
        let methods = projected(&dynamics);
        assert!(methods.len() > 10);
        for card in methods.into_iter().filter(|card| card.order < 15) {
            let errors = [16, 32, 64, 128].map(|steps| {
                let run = Integrator::new(card, 0.5 / f64::from(steps)).ends_only();
                let end = run.run(&mut dynamics, &start, 0.5).unwrap().end();
                distance(&end.block(), &exact)
            });
            let seen = errors.windows(2).filter(|e| e[1] > 2e-13);
            let slopes: Vec<f64> = seen.map(|e| (e[0] / e[1]).log2()).collect();
            println!("{what}: {:18} errors {errors:?}, slopes {slopes:.2?}", card.name);
            let best = slopes.iter().copied().fold(0.0, f64::max);
            assert!(best > f64::from(card.order) - 0.35 || errors[1] < 1e-12, "{}: {slopes:?}", card.name);
        }
    }
}

/// Errors follow the tolerance, and no more steps are needed than in angles, within a factor.
#[test]
fn tolerances_are_met() {
    let exact = in_angles(2.0);
    for (what, system) in [("written out", links()), ("solved for", solved())] {
        let (mut dynamics, start) = system;
        let adaptive = |card: &&Card| card.sizing != Sizing::Given;
        for card in projected(&dynamics).into_iter().filter(adaptive) {
            for tolerance in [1e-4, 1e-7, 1e-10] {
                let run = Integrator::new(card, Tolerance::relative(tolerance)).ends_only();
                let run = run.run(&mut dynamics, &start, 2.0).unwrap();
                let error = distance(&run.end().block(), &exact);
                println!("{what}: {:16} {tolerance:.0e}: error {error:.1e}, {:?}", card.name, run.work());
                // Over two seconds this motion magnifies errors some hundred times.
                assert!(error < 2000.0 * tolerance + 1e-12, "{}: {error:e} for {tolerance:e}", card.name);
                let work = run.work();
                assert!(work.rejected <= work.steps / 2, "{}: {work:?}", card.name);
            }
        }
    }
}

/// What is shown between steps lies on the constraints too, and is as good as the steps.
#[test]
fn samples_lie_on_the_constraints() {
    for system in [links(), solved()] {
        let (mut dynamics, start) = system;
        let facts = dynamics.system().facts().clone();
        for card in ALL.iter().filter(|card| card.needs.met_by(&facts) && card.order > 3) {
            let run = match card.sizing {
                Sizing::Given => Integrator::new(card, 0.02),
                Sizing::Estimated { .. } | Sizing::Foreseen => {
                    Integrator::new(card, Tolerance::relative(1e-8))
                }
            };
            let trajectory = run.spaced(0.013).run(&mut dynamics, &start, 1.0).unwrap();
            assert!(trajectory.times().len() > 76);
            let worst = trajectory.samples().fold(0.0f64, |m, (t, y)| m.max(violation(&mut dynamics, t, y)));
            assert!(worst < 1e-13, "{}: {worst:e}", card.name);
        }
    }
}

/// Samples of good runs are good: against the motion in angles.
#[test]
fn samples_are_good() {
    let times = [0.1, 0.333, 0.5, 0.77];
    let exact = times.map(in_angles);
    let (mut dynamics, start) = links();
    for (method, bound) in [
        ("tsit5", 1e-9),
        ("dop853", 1e-9),
        ("vern9", 1e-9),
        ("radau5", 1e-9),
        ("taylor", 1e-10),
        ("ias15", 1e-11),
    ] {
        let run = Integrator::named(method, Tolerance::relative(1e-11)).unwrap().at(&times);
        let found = run.run(&mut dynamics, &start, 1.0).unwrap();
        let worst = found.samples().zip(&exact).fold(0.0f64, |m, ((_, y), exact)| m.max(distance(y, exact)));
        println!("{method}: {worst:.1e}");
        assert!(worst < bound, "{method}: {worst:e}");
    }
}

/// Events are found where they happen on the constraints, once each, also where steps are long.
#[test]
fn events_lie_on_the_constraints() {
    let (mut dynamics, start) = links();
    let reference = Integrator::named("taylor", Tolerance::relative(1e-14)).unwrap();
    let level = Event::new(dynamics.observable("v + 1").unwrap());
    let reference = reference.event(level.clone()).ends_only().run(&mut dynamics, &start, 3.0).unwrap();
    assert!(reference.crossings().len() > 2);
    for (method, tolerance) in [("tsit5", 1e-7), ("dop853", 1e-8), ("vern9", 1e-9), ("taylor", 1e-8)] {
        let run = Integrator::named(method, Tolerance::relative(tolerance)).unwrap();
        let run = run.event(level.clone()).ends_only().run(&mut dynamics, &start, 3.0).unwrap();
        assert_eq!(run.crossings().len(), reference.crossings().len(), "{method}");
        for (found, expected) in run.crossings().iter().zip(reference.crossings()) {
            let (off, miss) =
                (violation(&mut dynamics, found.t, &found.state.block()), found.state.q[3] + 1.0);
            assert!(off < 1e-13, "{method}: {off:e}");
            assert!(miss.abs() < 2e-15, "{method}: {miss:e}");
            assert!((found.t - expected.t).abs() < 1e4 * tolerance, "{method}: {} {}", found.t, expected.t);
        }
    }
    // A run that ends with an event ends on the constraints.
    let run = Integrator::named("tsit5", Tolerance::relative(1e-6)).unwrap().event(level.terminal());
    let end = run.run(&mut dynamics, &start, 3.0).unwrap().end();
    assert!(end.t < 3.0 && violation(&mut dynamics, end.t, &end.block()) < 1e-13);
}

/// A run that is left and gone on with has the same bits.
#[test]
fn resumed_runs_have_the_same_bits() {
    for system in [links(), solved()] {
        let (mut dynamics, start) = system;
        let facts = dynamics.system().facts().clone();
        for card in ALL.iter().filter(|card| card.needs.met_by(&facts)) {
            let run = match card.sizing {
                Sizing::Given => Integrator::new(card, 0.01),
                Sizing::Estimated { .. } | Sizing::Foreseen => {
                    Integrator::new(card, Tolerance::relative(1e-9))
                }
            };
            let whole = run.run(&mut dynamics, &start, 0.6).unwrap();
            let mut steps = 0;
            let half = run.run_watched(&mut dynamics, &start, 0.6, |_| {
                steps += 1;
                if steps > 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            let half = half.unwrap();
            let rest = run.resume(&mut dynamics, half.checkpoint().unwrap()).unwrap();
            assert_eq!(rest.end(), whole.end(), "{}", card.name);
        }
    }
}

/// Lanes have the bits that they have alone.
#[test]
fn lanes_have_bits_of_their_own() {
    for system in [links(), solved()] {
        let (mut dynamics, start) = system;
        let n = start.q.len();
        let starts: [Vec<f64>; LANES] = std::array::from_fn(|lane| {
            let mut y = start.block();
            y[1] += 0.03 * lane as f64;
            y[n + 1] += 0.1 * lane as f64;
            dynamics.project(&[0.0], &mut y).unwrap();
            y
        });
        for card in projected(&dynamics) {
            let run = match card.sizing {
                Sizing::Given => Integrator::new(card, 0.01),
                Sizing::Estimated { .. } | Sizing::Foreseen => {
                    Integrator::new(card, Tolerance::relative(1e-7))
                }
            };
            let (run, mut block) = (run.ends_only(), Block::lanes(starts.each_ref().map(Vec::as_slice)));
            run.march(&mut dynamics, 0.0, &mut block, 0.3, |_| Ok(ControlFlow::Continue(()))).unwrap();
            for (lane, from) in starts.iter().enumerate() {
                let alone = run.run(&mut dynamics, &State::from_block(0.0, from, n), 0.3).unwrap().end();
                assert_eq!(block.lane(lane), alone.block(), "{}, lane {lane}", card.name);
            }
        }
    }
}

/// Methods that would leave constraints out of account refuse, and say what to use.
#[test]
fn methods_that_ignore_constraints_refuse() {
    let (mut dynamics, start) = links();
    let facts = dynamics.system().facts().clone();
    let mut refused = 0;
    for card in ALL.iter().filter(|card| !card.needs.met_by(&facts)) {
        assert!(!matches!(card.needs, Needs::Field | Needs::Holonomic));
        let error = Integrator::new(card, 0.01).run(&mut dynamics, &start, 1.0).unwrap_err().error;
        let RunError::Constrained { instead, .. } = error else { panic!("{}: {error}", card.name) };
        assert!(Card::named(instead).unwrap().needs.met_by(&facts));
        refused += 1;
    }
    assert!(refused > 20);
    // A projection is not symplectic, nor reversible, whatever the method.
    let gauss = Integrator::named("gauss4", 0.01).unwrap().keeping(Keeps::Symplectic);
    let error = gauss.run(&mut dynamics, &start, 1.0).unwrap_err().error;
    assert!(matches!(error, RunError::NotKept { instead: Some(_), .. }), "{error}");
    let gauss = Integrator::named("gauss4", Density::of("1 + x^2", 0.01)).unwrap();
    let error = gauss.run(&mut dynamics, &start, 1.0).unwrap_err().error;
    assert!(matches!(error, RunError::NotReversible { instead: "gauss-spark4", .. }), "{error}");
    let spark = Integrator::named("gauss-spark4", Density::of("1 + x^2", 0.01)).unwrap();
    assert!(spark.run(&mut dynamics, &start, 1.0).is_ok());
}
