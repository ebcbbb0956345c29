//! Constraints of velocities that no constraint of positions stands behind, against motions that are known in closed form.

use crate::common::begin;
use leastaction_expr::Graph;
use leastaction_integrate::{ALL, Card, Choice, Event, Integrator, Keeps, RunError, Sizing, Tolerance};
use leastaction_mechanics::{Dynamics, Model, ModelError, State};
use std::f64::consts::FRAC_PI_2;

type System = (Dynamics, State);

const SLOPE: f64 = 3.0;
const SPIN: f64 = 1.7;

/// A skate on an inclined plane, turning, from rest.
fn skate() -> System {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y, a] = model.coordinates(["x", "y", "a"]);
    let [u, v, w] = model.velocities([x, y, a]);
    model.kinetic("motion", u * u + v * v + 0.4 * w * w);
    model.potential("slope", -2.0 * SLOPE * x);
    model.constraint("blade", u * a.sin(), v * a.cos());
    begin(&model, &[("a'", SPIN)])
}

/// It slides along a cycloid, and across the slope (J. I. Neimark and N. A. Fufaev, *Dynamics of Nonholonomic Systems*, 1972, section
/// III.2): with a = ωt its speed is (g/ω) sin ωt.
fn cycloid(t: f64) -> [f64; 3] {
    let (r, a) = (SLOPE / (2.0 * SPIN * SPIN), SPIN * t);
    [r * a.sin().powi(2), r * (a - 0.5 * (2.0 * a).sin()), a]
}

fn violation(dynamics: &mut Dynamics, t: f64, y: &[f64]) -> f64 {
    let system = dynamics.system().clone();
    let mut positions = vec![0.0; system.position_constraints()];
    let mut velocities = vec![0.0; system.constraints().len()];
    dynamics.violations(&[t], y, &mut positions, &mut velocities).unwrap();
    positions.iter().chain(&velocities).fold(0.0, |m, x| x.abs().max(m))
}

fn miss(found: &[f64], expected: &[f64]) -> f64 {
    found.iter().zip(expected).fold(0.0, |m, (a, b)| (a - b).abs().max(m))
}

/// Every method that applies, at its own pace and between its steps.
#[test]
fn a_skate_draws_a_cycloid() {
    let (mut dynamics, start) = skate();
    let facts = dynamics.system().facts().clone();
    let mut count = 0;
    for card in ALL.iter().filter(|card| card.needs.met_by(&facts) && card.order > 3) {
        let run = match card.sizing {
            Sizing::Given => Integrator::new(card, 0.01),
            Sizing::Estimated { .. } | Sizing::Foreseen => Integrator::new(card, Tolerance::relative(1e-10)),
        };
        let run = run.spaced(0.37).run(&mut dynamics, &start, 10.0).unwrap();
        let (mut error, mut off) = (0.0f64, 0.0f64);
        for (t, y) in run.samples() {
            error = error.max(miss(&y[..3], &cycloid(t)));
            off = off.max(violation(&mut dynamics, t, y));
        }
        let drift = run.energy_drift(&mut dynamics).unwrap();
        println!("{:16} {error:.1e}, off the constraint {off:.1e}, energy {drift:.1e}", card.name);
        assert!(error < 2e-7 && off < 1e-13 && drift < 1e-7, "{}: {error:e} {off:e} {drift:e}", card.name);
        count += 1;
    }
    assert!(count > 10);
    assert!(dynamics.system().conserves_energy());
    // Nothing depends on y, but the blade pushes along it.
    assert!(!dynamics.system().conserved().contains(&"p_y".to_owned()));
}

/// A disk that stays upright rolls in a circle.
#[test]
fn a_disk_rolls_in_a_circle() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y, a, b] = model.coordinates(["x", "y", "a", "b"]);
    let [u, v, turn, roll] = model.velocities([x, y, a, b]);
    let radius = 0.5;
    model.kinetic("motion", 1.5 * (u * u + v * v) + 0.2 * turn * turn + 0.3 * roll * roll);
    model.constraint("along", u, radius * roll * a.cos());
    model.constraint("across", v, radius * roll * a.sin());
    let (mut dynamics, start) = begin(&model, &[("a'", 0.8), ("b'", 3.0), ("x'", 1.5)]);
    assert!(dynamics.placed().unwrap().moved == 0.0);
    let circle =
        |t: f64| [1.5 / 0.8 * (0.8 * t).sin(), 1.5 / 0.8 * (1.0 - (0.8 * t).cos()), 0.8 * t, 3.0 * t];
    for method in ["dop853", "vern9", "taylor", "radau5", "ias15"] {
        let run = Integrator::named(method, Tolerance::relative(1e-12)).unwrap();
        let run = run.run(&mut dynamics, &start, 20.0).unwrap();
        let error = run.samples().fold(0.0f64, |m, (t, y)| m.max(miss(&y[..4], &circle(t))));
        println!("{method}: {error:.1e}");
        assert!(error < 1e-9, "{method}: {error:e}");
    }
    let mut multipliers = [0.0; 2];
    dynamics.multipliers(&[0.0], &start.block(), &mut multipliers).unwrap();
    // The ground holds the disk on its circle: m v Ω across, nothing along; constraints act with −Gᵀλ.
    assert!(
        multipliers[0].abs() < 1e-14 && (multipliers[1] + 3.0 * 1.5 * 0.8).abs() < 1e-13,
        "{multipliers:?}"
    );
}

/// Chaplygin's sleigh turns until it slides straight: u = U tanh κt, and its direction is Gudermann's function of κt
/// (S. A. Chaplygin 1911; A. M. Bloch, *Nonholonomic Mechanics and Control*, 2003, section 1.7).
#[test]
fn a_sleigh_comes_to_slide_straight() {
    let (mass, inertia, offset, speed) = (2.0, 0.7, 0.3, 1.4);
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y, a] = model.coordinates(["x", "y", "a"]);
    let [u, v, w] = model.velocities([x, y, a]);
    let centre = [u - offset * a.sin() * w, v + offset * a.cos() * w];
    model.kinetic("motion", 0.5 * mass * (centre[0].pow(2.0) + centre[1].pow(2.0)) + 0.5 * inertia * w * w);
    model.constraint("blade", u * a.sin(), v * a.cos());
    let kappa = mass * offset * speed / (inertia + mass * offset * offset);
    let spin = (speed * kappa / offset).sqrt();
    let (mut dynamics, start) = begin(&model, &[("a'", spin)]);
    let run = Integrator::named("dop853", Tolerance::relative(1e-12)).unwrap();
    let run = run.spaced(0.25).run(&mut dynamics, &start, 10.0).unwrap();
    let forward = dynamics.observable("x'*cos(a) + y'*sin(a)").unwrap();
    for (t, y) in run.samples() {
        let mut found = [0.0];
        dynamics.observe(forward, &[t], y, &mut found).unwrap();
        let angle = spin / kappa * 2.0 * (0.5 * kappa * t).tanh().atan();
        assert!((found[0] - speed * (kappa * t).tanh()).abs() < 1e-10, "{t}: {}", found[0]);
        assert!((y[2] - angle).abs() < 1e-10, "{t}: {} {angle}", y[2]);
    }
    assert!(run.energy_drift(&mut dynamics).unwrap() < 1e-11);
    assert!(dynamics.system().conserves_energy());
}

/// A ball that rolls on a turntable circles in space, with 2/7 of the table's frequency: the velocity of its centre turns at that
/// rate (E. A. Milne, *Vectorial Mechanics*, 1948). The table does work, and no energy is conserved.
#[test]
fn a_ball_circles_on_a_turntable() {
    let (radius, table) = (0.4, 2.1);
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y, phi, theta, psi] = model.coordinates(["x", "y", "phi", "theta", "psi"]);
    let [u, v, dphi, dtheta, dpsi] = model.velocities([x, y, phi, theta, psi]);
    let spin = [
        dtheta * phi.cos() + dpsi * theta.sin() * phi.sin(),
        dtheta * phi.sin() - dpsi * theta.sin() * phi.cos(),
        dphi + dpsi * theta.cos(),
    ];
    let squares = spin[0].pow(2.0) + spin[1].pow(2.0) + spin[2].pow(2.0);
    model.kinetic("motion", 0.5 * (u * u + v * v) + 0.2 * radius * radius * squares);
    model.constraint("one", u - radius * spin[1], -table * y);
    model.constraint("other", v + radius * spin[0], table * x);
    let (x0, y0, u0, v0) = (0.2, -0.1, 0.3, 0.25);
    let (mut dynamics, start) = begin(
        &model,
        &[
            ("x", x0),
            ("y", y0),
            ("theta", FRAC_PI_2),
            ("x'", u0),
            ("y'", v0),
            ("theta'", (table * x0 - v0) / radius),
            ("psi'", -(u0 + table * y0) / radius),
            ("phi'", 0.1),
        ],
    );
    assert!(dynamics.placed().unwrap().deflected < 1e-14);
    assert!(!dynamics.system().conserves_energy());
    let rate = 2.0 / 7.0 * table;
    let circle = |t: f64| {
        let (s, c) = ((rate * t).sin(), 1.0 - (rate * t).cos());
        [x0 + (u0 * s - v0 * c) / rate, y0 + (v0 * s + u0 * c) / rate]
    };
    for method in ["dop853", "vern9", "radau5"] {
        let run = Integrator::named(method, Tolerance::relative(1e-11)).unwrap();
        let run = run.run(&mut dynamics, &start, 3.0).unwrap();
        let error = run.samples().fold(0.0f64, |m, (t, y)| m.max(miss(&y[..2], &circle(t))));
        println!("{method}: {error:.1e}");
        assert!(error < 1e-9, "{method}: {error:e}");
    }
}

/// A skate on a bowl: a constraint of positions beside one of velocities. Positions are brought onto the bowl by moves that the blade allows, and
/// what one demands twice, of positions and of velocities, does no harm.
#[test]
fn positions_are_projected_beside_velocities() {
    let bowl = |twice: bool| {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let [x, y, z, a] = model.coordinates(["x", "y", "z", "a"]);
        let [u, v, w, turn] = model.velocities([x, y, z, a]);
        model.kinetic("motion", 0.5 * (u * u + v * v + w * w) + 0.2 * turn * turn);
        model.potential("weight", 2.0 * z);
        model.constraint("bowl", z, 0.5 * (x * x + y * y));
        model.constraint("blade", u * a.sin(), v * a.cos());
        if twice {
            model.constraint("again", w, x * u + y * v);
        }
        begin(&model, &[("x", 0.5), ("z", 0.12), ("a", 0.3), ("x'", 0.3), ("a'", 1.1)])
    };
    let mut ends = Vec::new();
    let (_, first) = bowl(false);
    for twice in [false, true] {
        let (mut dynamics, start) = bowl(twice);
        let placed = dynamics.placed().unwrap();
        assert!(placed.moved > 1e-4 && placed.moved < 5e-3 && placed.rank == 2, "{placed:?}");
        // The blade stands at a = 0.3, and the start moved along it.
        assert!((start.q[1] * 0.3f64.cos() - (start.q[0] - 0.5) * 0.3f64.sin()).abs() < 1e-15, "{start:?}");
        let run = Integrator::named("dop853", Tolerance::relative(1e-11)).unwrap();
        // Starts that are moved in other steps end in places that differ by the square of the move.
        let run = run.run(&mut dynamics, &first, 10.0).unwrap();
        let off = run.samples().fold(0.0f64, |m, (t, y)| m.max(violation(&mut dynamics, t, y)));
        assert!(off < 1e-14 && run.energy_drift(&mut dynamics).unwrap() < 1e-9, "{off:e}");
        ends.push(run.end().block());
    }
    assert!(miss(&ends[0], &ends[1]) < 1e-9, "{ends:?}");
}

/// What is not supported is refused with a reason.
#[test]
fn wrong_models_and_methods_are_refused() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    let [u, v] = model.velocities([x, y]);
    model.particle("point", 1.0, [x, y]);
    model.constraint("speed", u * u + v * v, 1.0);
    let error = model.system().unwrap_err();
    assert!(matches!(error, ModelError::NonlinearConstraint { .. }), "{error}");

    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    let [p, r] = model.momenta(["p", "r"]);
    model.hamiltonian("H", p * p + r * r);
    model.constraint("skate", model.velocity(y), x * model.velocity(x));
    let error = model.system().unwrap_err();
    assert!(matches!(error, ModelError::VelocityConstraint { .. }), "{error}");

    let (mut dynamics, start) = skate();
    for name in ["gauss-spark4", "rattle", "verlet", "variational4"] {
        let error = Integrator::named(name, 0.01).unwrap().run(&mut dynamics, &start, 1.0).unwrap_err().error;
        assert!(matches!(error, RunError::Constrained { instead: "dop853", .. }), "{name}: {error}");
    }
    // Nothing is symplectic here.
    let error = Integrator::named("gauss4", 0.01).unwrap().keeping(Keeps::Symplectic);
    let error = error.run(&mut dynamics, &start, 1.0).unwrap_err().error;
    assert!(matches!(error, RunError::NothingToKeep { .. }), "{error}");
    // What is chosen is a method that applies, and long runs do not ask for a geometry that is not there.
    for end in [5.0, 5000.0] {
        let choice = Choice::new(&mut dynamics, &start, end, None).unwrap();
        assert!(choice.integrator.card().needs.met_by(dynamics.system().facts()));
        assert!(!choice.integrator.card().keeps.contains(&Keeps::Symplectic), "{}", choice.why);
    }
    assert!(Card::named("dop853").unwrap().is_projected_in(dynamics.system().facts()));
}

/// A run ends where the skate has turned by two radians.
#[test]
fn events_are_found() {
    let (mut dynamics, start) = skate();
    let level = Event::new(dynamics.observable("a - 2").unwrap()).terminal();
    let run = Integrator::named("dop853", Tolerance::relative(1e-9)).unwrap().event(level);
    let end = run.run(&mut dynamics, &start, 10.0).unwrap().end();
    assert!((end.t - 2.0 / SPIN).abs() < 1e-9 && miss(&end.q, &cycloid(end.t)) < 1e-7);
    assert!(violation(&mut dynamics, end.t, &end.block()) < 1e-13);
}
