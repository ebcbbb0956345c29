//! Closed loops, redundant constraints, singular configurations, and constraints that cannot be met.

use crate::common::{begin, distance};
use leastaction_expr::{Expr, Graph};
use leastaction_integrate::{Integrator, Pace, RunError, StepError, Tolerance};
use leastaction_mechanics::{Dynamics, Inertia, Model, Pose, State};

/// A uniform rod of 1 kg per metre between two points, under 9.81 m/s².
fn rod<'g>(model: &mut Model<'g>, name: &str, length: f64, [a, b]: [[Expr<'g>; 2]; 2]) {
    let ([u, v], [w, z]) = (model.velocities(a), model.velocities(b));
    model.kinetic(name, length / 6.0 * (u * u + v * v + u * w + v * z + w * w + z * z));
    model.potential(name, 9.81 * length * (a[1] + b[1]) / 2.0);
    link(model, name, length, [a, b]);
}

/// A distance that is kept, without mass.
fn link<'g>(model: &mut Model<'g>, name: &str, length: f64, [a, b]: [[Expr<'g>; 2]; 2]) {
    model.constraint(name, (a[0] - b[0]).pow(2.0) + (a[1] - b[1]).pow(2.0), length * length);
}

fn points<'g>(model: &mut Model<'g>, count: usize) -> Vec<[Expr<'g>; 2]> {
    (0..count).map(|i| ["x", "y"].map(|axis| model.coordinate(&format!("{axis}{i}")))).collect()
}

fn ground<'g>(model: &Model<'g>, x: f64) -> [Expr<'g>; 2] {
    [x, 0.0].map(|x| model.number(x))
}

fn start(dynamics: &mut Dynamics, values: &[(String, f64)]) -> State {
    let values: Vec<(&str, f64)> = values.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    dynamics.start(&values).unwrap()
}

/// Upright rods with feet 1 m apart, and rods between their heads: N loops. It starts at 1 m/s to the right.
pub(crate) fn loops(count: usize, more: impl Fn(&mut Model<'_>, &[String])) -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let heads = points(&mut model, count + 1);
    for (i, &head) in heads.iter().enumerate() {
        let foot = ground(&model, i as f64);
        rod(&mut model, &format!("post {i}"), 1.0, [foot, head]);
    }
    for i in 0..count {
        rod(&mut model, &format!("beam {i}"), 1.0, [heads[i], heads[i + 1]]);
    }
    let names: Vec<String> = heads.iter().flatten().map(Expr::to_string).collect();
    more(&mut model, &names);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let each = |i: usize| [(format!("x{i}"), i as f64), (format!("y{i}"), 1.0), (format!("x{i}'"), 1.0)];
    let state = start(&mut dynamics, &(0..=count).flat_map(each).collect::<Vec<_>>());
    (dynamics, state)
}

/// The first joint of N = 2 loops at t = 10, and its velocity: problem A02 of the library of benchmark problems of the IFToMM technical committee for
/// multibody dynamics (<https://www.iftomm-multibody.org/benchmark>).
const A02: [f64; 4] = [0.3284581115408, 0.9445185381786, 1.423051470207, -0.494868845487];

fn first_joint((dynamics, start): &mut (Dynamics, State), method: &str, pace: impl Into<Pace>) -> [f64; 4] {
    let run = Integrator::named(method, pace).unwrap().ends_only().run(dynamics, start, 10.0).unwrap();
    let end = run.end();
    let mut v = vec![0.0; end.q.len()];
    dynamics.velocities(&[end.t], &end.block(), &mut v).unwrap();
    [end.q[0], end.q[1], v[0], v[1]]
}

/// Whenever all rods lie flat, two of five constraints depend on the others; eight times in ten seconds. To the digits that are
/// published by collocation; methods that find their steps come as near as their tolerance.
#[test]
fn loops_of_iftomm_pass_where_they_are_singular() {
    let mut system = loops(2, |_, _| {});
    let found = first_joint(&mut system, "gauss12", 0.05);
    assert!(distance(&found, &A02) < 5e-13, "{found:?}");
    for (method, tolerance, reached) in
        [("dop853", 1e-6, 1e-3), ("vern9", 1e-6, 1e-4), ("dop853", 1e-9, 1e-6), ("vern9", 1e-10, 1e-7)]
    {
        let found = distance(&first_joint(&mut system, method, Tolerance::relative(tolerance)), &A02);
        assert!(found < reached, "{method} at {tolerance:e}: {found:e}");
    }
    // The last step of the run above ended away from there.
    let (dynamics, start) = &mut system;
    let mut rank = [0];
    dynamics.rank(&[0.0], &start.block(), &mut rank).unwrap();
    assert_eq!(rank, [5]);
    let flat = [1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 0.0, -1.0, 0.0, -1.0, 0.0, -1.0];
    dynamics.rank(&[0.0], &flat, &mut rank).unwrap();
    assert_eq!(rank, [3]);
}

/// Methods that keep constraints by themselves end their run there, if they cannot pass, and say why.
#[test]
fn singular_places_are_reported() {
    let (mut dynamics, start) = loops(2, |_, _| {});
    for (method, step) in [("rattle", 1e-2), ("rattle", 1e-3), ("rattle6", 1e-2), ("shake", 1e-3)] {
        let failed = Integrator::named(method, step).unwrap().run(&mut dynamics, &start, 10.0).unwrap_err();
        let RunError::Step(StepError::Singular { t, lane: 0 }) = failed.error else {
            panic!("{method}: {failed}")
        };
        assert!((0.7..0.72).contains(&t), "{method}: {failed}");
        let drift = failed.trajectory.unwrap().energy_drift(&mut dynamics).unwrap();
        assert!(drift < 1e-3, "{method}: {drift:e}");
    }
}

/// A rod that is drawn in to nothing, and a circle that leaves the line on which a bead slides: no method goes on beyond t = 1.
#[test]
fn what_is_driven_out_of_reach_is_named() {
    for circle in [false, true] {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let t = model.time();
        let [x, y] = model.coordinates(["x", "y"]);
        model.particle("bead", 1.0, [x, y]);
        model.gravity([0.0, -1.0]);
        if circle {
            model.constraint("line", x, 0.0);
            model.constraint("out of reach", (x - t).pow(2.0) + y * y, 1.0);
        } else {
            model.constraint("out of reach", x * x + y * y, 1.0 - t);
        }
        let (mut dynamics, start) = begin(&model, &[("y", -1.0)]);
        for method in ["rk4", "rattle", "rattle4", "gauss-spark4", "gauss-spark8"] {
            let failed =
                Integrator::named(method, 1e-2).unwrap().run(&mut dynamics, &start, 3.0).unwrap_err();
            let reached = failed.trajectory.as_ref().unwrap().end().t;
            println!("{method}: {failed}");
            assert!((0.98..=1.0 + 1e-9).contains(&reached), "{method} came to {reached}: {failed}");
            assert!(failed.to_string().contains("`out of reach`"), "{method}: {failed}");
        }
    }
}

/// A third parallel post under the middle of the beam, and the first post twice, change neither the motion nor the rank.
#[test]
fn redundant_bars_change_nothing() {
    let (mut dynamics, plain) = loops(1, |_, _| {});
    let run = Integrator::named("vern9", Tolerance::relative(1e-12)).unwrap();
    let expected = run.run(&mut dynamics, &plain, 0.6).unwrap().end();

    let (mut dynamics, state) = loops(1, |model, names| {
        let [x0, y0, x1, y1] = [0, 1, 2, 3].map(|i| model.graph().symbol(&names[i]));
        let middle = [(x0 + x1) / 2.0, (y0 + y1) / 2.0];
        let foot = ground(model, 0.5);
        link(model, "third post", 1.0, [foot, middle]);
        model.constraint("once more", 5.0 * (x0 * x0 + y0 * y0), 5.0);
    });
    let mut rank = [0];
    dynamics.rank(&[0.0], &state.block(), &mut rank).unwrap();
    assert_eq!((rank[0], dynamics.system().constraints().len()), (3, 5));
    for (method, pace, within) in [
        ("vern9", Pace::from(Tolerance::relative(1e-12)), 1e-10),
        ("dop853", Pace::from(Tolerance::relative(1e-10)), 1e-8),
        ("rattle", Pace::Step(1e-4), 1e-6),
        ("gauss8", Pace::Step(0.01), 1e-11),
    ] {
        let end = Integrator::named(method, pace).unwrap().run(&mut dynamics, &state, 0.6).unwrap().end();
        let apart = distance(&end.block(), &expected.block());
        assert!(apart < within, "{method}: {apart:e}");
        dynamics.rank(&[end.t], &end.block(), &mut rank).unwrap();
        assert_eq!(rank[0], 3, "{method}");
    }
}

/// Where C is follows from the angle of the crank, as the point at given distances from B and D.
#[test]
fn a_four_bar_closes() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let joints = points(&mut model, 2);
    let [a, d] = [ground(&model, 0.0), ground(&model, 4.0)];
    rod(&mut model, "crank", 1.0, [a, joints[0]]);
    rod(&mut model, "coupler", 3.5, [joints[0], joints[1]]);
    rod(&mut model, "rocker", 2.5, [joints[1], d]);
    let closed = |[x, y]: [f64; 2]| {
        let (dx, dy) = (4.0 - x, -y);
        let apart = dx.hypot(dy);
        let along = (apart * apart + 3.5f64.powi(2) - 2.5f64.powi(2)) / (2.0 * apart);
        let across = (3.5f64.powi(2) - along * along).sqrt();
        [x + (along * dx - across * dy) / apart, y + (along * dy + across * dx) / apart]
    };
    let [x, y] = closed([0.0, 1.0]);
    let (mut dynamics, start) =
        begin(&model, &[("y0", 1.0), ("x1", x), ("y1", y), ("x0'", 6.0), ("x1'", 6.0)]);
    let run = Integrator::named("rattle", 1e-3).unwrap().every(50).run(&mut dynamics, &start, 10.0).unwrap();
    assert!(run.energy_drift(&mut dynamics).unwrap() < 1e-4);
    let mut turns = 0.0;
    let mut last = [0.0, 1.0];
    for (_, y) in run.samples() {
        let (b, c) = ([y[0], y[1]], closed([y[0], y[1]]));
        assert!((y[2] - c[0]).abs() < 1e-13 && (y[3] - c[1]).abs() < 1e-13, "{y:?} {c:?}");
        turns += (last[0] * b[1] - last[1] * b[0]).atan2(last[0] * b[0] + last[1] * b[1]);
        last = b;
    }
    assert!(turns.abs() > 4.0 * std::f64::consts::TAU, "the crank goes round, {turns}");
}

/// A crank that turns at a given rate moves a slider as geometry says; the multiplier of what drives it is the torque, by its power.
#[test]
fn a_driven_slider_moves_as_it_must() {
    let (r, l, omega, piston) = (0.3, 1.0, 2.0, 0.7);
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let t = model.time();
    let [x, y, s] = model.coordinates(["x", "y", "s"]);
    let (zero, angle) = (graph.number(0.0), omega * t);
    rod(&mut model, "crank", r, [[zero, zero], [x, y]]);
    rod(&mut model, "rod", l, [[x, y], [s, zero]]);
    model.particle("piston", piston, [s, zero]);
    model.constraint("drive", y * angle.cos() - x * angle.sin(), 0.0);
    let (mut dynamics, start) = begin(&model, &[("x", r), ("s", r + l), ("y'", r * omega)]);
    let slider = |t: f64| r * (omega * t).cos() + (l * l - (r * (omega * t).sin()).powi(2)).sqrt();
    // The energy of the motion that is prescribed, and by differences of high order the power that it takes.
    let energy = |t: f64| {
        let h = 1e-3;
        let v = (8.0 * (slider(t + h) - slider(t - h)) - (slider(t + 2.0 * h) - slider(t - 2.0 * h)))
            / (12.0 * h);
        let (u, w) = (-r * omega * (omega * t).sin(), r * omega * (omega * t).cos());
        let height = r * (omega * t).sin();
        let moving =
            r / 6.0 * (u * u + w * w) + l / 6.0 * (u * u + w * w + u * v + v * v) + 0.5 * piston * v * v;
        moving + 9.81 * height * (r + l) / 2.0
    };
    let power = |t: f64| {
        let h = 1e-3;
        (8.0 * (energy(t + h) - energy(t - h)) - (energy(t + 2.0 * h) - energy(t - 2.0 * h))) / (12.0 * h)
    };
    for (method, pace) in [("rattle", Pace::Step(1e-3)), ("dop853", Pace::from(Tolerance::relative(1e-10)))] {
        let run = Integrator::named(method, pace).unwrap().run(&mut dynamics, &start, 4.0).unwrap();
        assert!(run.len() > 5, "{}", run.len());
        for (t, block) in run.samples() {
            assert!((block[2] - slider(t)).abs() < 1e-13, "{method} at {t}: {} {}", block[2], slider(t));
            let mut multipliers = [0.0; 3];
            dynamics.multipliers(&[t], block, &mut multipliers).unwrap();
            // The force −Gᵀλ brings in −λ G v = λ ∂Φ/∂t = −λ ω r.
            let drive = dynamics.system().constraints().iter().position(|(name, _)| name == "drive").unwrap();
            let torque = -multipliers[drive] * r;
            assert!(
                (torque * omega - power(t)).abs() < 1e-8,
                "{method} at {t}: {} {}",
                torque * omega,
                power(t)
            );
        }
    }
}

/// A crank whose angle is given turns on and on, five times; what drives it is the torque of its weight. A gear drives a wheel on its own axle
/// two turns for each three of its own.
#[test]
fn angles_are_driven_beyond_half_a_turn() {
    let omega = 3.0;
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let t = model.time();
    let crank = model.planar_body("crank", Inertia::rod(2.0, 1.0).unwrap()).unwrap();
    let wheel = model.planar_body("wheel", Inertia::rod(1.0, 1.0).unwrap()).unwrap();
    model.pin("axle", &model.anchor([0.0, 0.0]), &crank.point([-0.5, 0.0]).unwrap()).unwrap();
    model.pin("other axle", &model.anchor([3.0, 0.0]), &wheel.point([0.0, 0.0]).unwrap()).unwrap();
    let (driving, driven) = (crank.angle().unwrap(), wheel.angle().unwrap());
    model.constraint("drive", driving, omega * t);
    model.constraint("gear", 3.0 * driven, 2.0 * driving);
    model.gravity([0.0, -9.81]);
    let spinning = |x: f64, y: f64, rate: f64| Pose::at([x, 0.0]).moving([0.0, y]).turning(rate);
    let start = [
        crank.start(&spinning(0.5, 0.5 * omega, omega)).unwrap(),
        wheel.start(&spinning(3.0, 0.0, 2.0 / 3.0 * omega)).unwrap(),
    ];
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let start = dynamics.start(&start.concat()).unwrap();
    let drive = dynamics.system().constraints().iter().position(|(name, _)| name == "drive").unwrap();
    for (method, pace) in [("rattle", Pace::Step(1e-2)), ("dop853", Pace::from(Tolerance::relative(1e-9)))] {
        let run = Integrator::named(method, pace).unwrap().run(&mut dynamics, &start, 10.0).unwrap();
        for (t, block) in run.samples() {
            let (sin, cos) = (omega * t).sin_cos();
            assert!(distance(&block[..2], &[0.5 * cos, 0.5 * sin]) < 1e-9, "{method} at {t}");
            let mut multipliers = vec![0.0; dynamics.system().constraints().len()];
            dynamics.multipliers(&[t], block, &mut multipliers).unwrap();
            let torque = -multipliers[drive];
            assert!((torque - 9.81 * cos).abs() < 1e-6, "{method} at {t}: {torque}");
        }
    }
}

/// The far pivot of a four-bar is drawn away until the bars cannot reach it: the run ends there, says which constraints cannot be met, and keeps
/// what was computed.
#[test]
fn a_loop_that_is_torn_says_so() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let t = model.time();
    let joints = points(&mut model, 2);
    let a = ground(&model, 0.0);
    rod(&mut model, "crank", 1.0, [a, joints[0]]);
    rod(&mut model, "coupler", 1.0, [joints[0], joints[1]]);
    rod(&mut model, "rocker", 1.0, [joints[1], [1.0 + t, graph.number(0.0)]]);
    let (mut dynamics, start) = begin(&model, &[("y0", 1.0), ("x1", 1.0), ("y1", 1.0)]);
    for (method, pace) in [
        ("rk4", Pace::Step(1e-3)),
        ("rattle", Pace::Step(1e-3)),
        ("gauss4", Pace::Step(1e-2)),
        ("dop853", Pace::from(Tolerance::relative(1e-8))),
    ] {
        let failed = Integrator::named(method, pace).unwrap().run(&mut dynamics, &start, 5.0).unwrap_err();
        let reached = failed.trajectory.as_ref().unwrap().end().t;
        println!("{method}: {failed}");
        assert!((1.9..=2.0 + 1e-9).contains(&reached), "{method} came to {reached}: {failed}");
        // A method that finds its steps makes them shorter and shorter, as speeds grow without bound.
        if method == "rk4" {
            assert!(failed.to_string().contains("`coupler`"), "{failed}");
        }
        assert!(!matches!(failed.error, RunError::OutOfSteps { .. }), "{method} gives up late: {failed}");
    }
}

/// Two constraints are one until t = 1, and then part.
#[test]
fn constraints_that_part_are_named() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let t = model.time();
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("bead", 1.0, [x, y]);
    model.gravity([0.0, -1.0]);
    model.constraint("line", x + y, 1.0);
    model.constraint("parting", x + y, 1.0 + (t - 1.0).max(0.0).pow(2.0));
    let (mut dynamics, start) = begin(&model, &[("x", 0.5), ("y", 0.5)]);
    for (method, pace) in [
        ("rk4", Pace::Step(1e-2)),
        ("rattle", Pace::Step(1e-2)),
        ("gauss4", Pace::Step(1e-2)),
        ("dop853", Pace::from(Tolerance::relative(1e-8))),
    ] {
        let failed = Integrator::named(method, pace).unwrap().run(&mut dynamics, &start, 5.0).unwrap_err();
        let reached = failed.trajectory.as_ref().unwrap().end().t;
        println!("{method}: {failed}");
        assert!((0.98..1.05).contains(&reached), "{method} came to {reached}: {failed}");
        assert!(failed.to_string().contains("`parting`"), "{method}: {failed}");
    }
}
