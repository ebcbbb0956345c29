//! Which method is chosen when none is named, and that it does what is expected of it.

use crate::common::{
    begin, damped_pendulum, double_pendulum, driven_pendulum, henon_heiles, kepler, links, stiff_pendulum,
};
use leastaction_expr::{Expr, Graph};
use leastaction_integrate::{Choice, Density, Integrator, Keeps, Pace, RunError, Tolerance};
use leastaction_mechanics::{Dynamics, Model, State};

type System = (Dynamics, State);

fn chosen((mut dynamics, start): System, end: f64, pace: Option<Pace>) -> (&'static str, String) {
    let choice = Choice::new(&mut dynamics, &start, end, pace).unwrap();
    assert!(choice.integrator.card().needs.met_by(dynamics.system().facts()));
    (choice.integrator.card().name, choice.why)
}

/// A spring of rate 1e4 with friction that stops it in 1e−4: stiff.
fn damped_spring() -> System {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("bob", 1.0, [x, y]);
    model.potential("spring", 0.5 * x * x + 0.5 * y * y);
    model.dissipation("friction", 5000.0 * model.velocity(y).pow(2.0) * (1.0 + x * x));
    begin(&model, &[("x", 1.0), ("y", 0.1)])
}

/// A mass pushed by an input.
fn pushed() -> System {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    let u = model.input("u");
    model.particle("mass", 1.0, [x]);
    model.potential("spring", x.pow(4.0));
    model.force(x, u);
    begin(&model, &[("x", 1.0)])
}

/// A mass pushed by what is stated as a function of time.
fn pushed_by(push: impl for<'g> Fn(Expr<'g>) -> Expr<'g>) -> System {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    let push = push(model.time());
    model.particle("mass", 1.0, [x]);
    let u = model.stated_input("u", push);
    model.force(x, u);
    begin(&model, &[])
}

/// A series sees nothing of what begins later. Sines are seen wherever they are.
#[test]
fn what_jumps_at_a_time_is_no_matter_of_series() {
    let with = |system: System| chosen(system, 10.0, Some(Pace::Tolerance(Tolerance::relative(1e-10)))).0;
    assert_eq!(with(pushed_by(|t| t.sin())), "taylor");
    assert_eq!(with(pushed_by(|t| t.gt(5.0).select(1.0, 0.0))), "dop853");
    assert_eq!(with(pushed_by(|t| (t - 5.0).max(0.0))), "dop853");
    assert_eq!(with(pushed_by(|t| (t * t).floor().sin())), "dop853");
}

#[test]
fn a_step_asks_for_the_geometry() {
    let with = |system: System, step: f64| chosen(system, 10.0, Some(Pace::Step(step))).0;
    assert_eq!(with(double_pendulum(), 0.01), "gauss4");
    assert_eq!(with(kepler(0.3), 0.01), "blanes-moan4");
    assert_eq!(with(driven_pendulum(), 0.01), "gauss4");
    assert_eq!(with(damped_pendulum(), 0.01), "conformal4");
    assert_eq!(with(damped_spring(), 0.01), "radau5");
    // ωh = 5: an explicit method would not even be stable.
    let (name, why) = chosen(stiff_pendulum(), 10.0, Some(Pace::Step(0.05)));
    assert_eq!(name, "gauss4");
    assert!(why.contains("too long for an explicit method"), "{why}");
    assert_eq!(with(stiff_pendulum(), 0.001), "blanes-moan4");
}

#[test]
fn a_tolerance_asks_for_digits() {
    let with = |system: System, tolerance: f64| {
        chosen(system, 10.0, Some(Pace::Tolerance(Tolerance::relative(tolerance)))).0
    };
    assert_eq!(with(double_pendulum(), 1e-12), "taylor");
    assert_eq!(with(double_pendulum(), 1e-3), "tsit5");
    assert_eq!(with(pushed(), 1e-12), "vern9");
    assert_eq!(with(pushed(), 1e-8), "dop853");
    assert_eq!(with(damped_spring(), 1e-6), "radau5");
    assert_eq!(with(damped_pendulum(), 1e-8), "taylor");
}

#[test]
fn a_density_asks_for_symmetry() {
    let with = |system: System| chosen(system, 10.0, Some(Pace::from(Density::natural(0.05)))).0;
    assert_eq!((with(kepler(0.9)), with(double_pendulum())), ("blanes-moan6", "gauss6"));
}

/// Short runs adapt, long ones keep their geometry; both are accurate without any number from the user.
#[test]
fn nothing_given_is_enough() {
    for (system, end, name) in [
        (kepler(0.5), 30.0, "taylor"),
        (henon_heiles(), 20_000.0, "blanes-moan6"),
        (kepler(0.2), 20_000.0, "blanes-moan6"),
        (double_pendulum(), 5000.0, "gauss8"),
        (damped_pendulum(), 5000.0, "taylor"),
    ] {
        let (mut dynamics, start) = system;
        let Choice { integrator, why } = Choice::new(&mut dynamics, &start, end, None).unwrap();
        assert_eq!(integrator.card().name, name, "{why}");
        if dynamics.system().conserves_energy() {
            let run = integrator.clone().spaced(end / 500.0).run(&mut dynamics, &start, end).unwrap();
            let drift = run.energy_drift(&mut dynamics).unwrap();
            println!("{name:16} {drift:.1e}: {}", integrator.pace());
            assert!(drift < 1e-7, "{name}: {drift:e}");
            let long = integrator.card().keeps.contains(&Keeps::Symplectic);
            assert_eq!(long, end > 1000.0);
        }
    }
}

/// A skate that turns on an incline, with or without friction: its constraint is one of velocities.
fn skate() -> System {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y, a] = model.coordinates(["x", "y", "a"]);
    let [u, v, w] = model.velocities([x, y, a]);
    model.kinetic("motion", u * u + v * v + 0.4 * w * w);
    model.potential("slope", -3.0 * x);
    model.constraint("blade", u * a.sin(), v * a.cos());
    begin(&model, &[("a'", 1.7)])
}

/// A bob on a rod, with a ball on a spring whose friction stops it in 1e−4: stiff, and constrained.
fn damped_rod() -> System {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y, z] = model.coordinates(["x", "y", "z"]);
    model.particle("bob", 1.0, [x, y, z]);
    model.potential("weight", y + 0.5 * z * z);
    model.dissipation("friction", 5000.0 * model.velocity(z).pow(2.0) * (1.0 + x * x));
    model.constraint("rod", x * x + y * y, 1.0);
    begin(&model, &[("x", 0.8), ("y", -0.6), ("z", 0.1)])
}

/// A bob on a crank whose angle is a coordinate: masses are not constant.
fn crank() -> System {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [r, a, x] = model.coordinates(["r", "a", "x"]);
    model.particle("pin", 1.0, [r * a.cos(), r * a.sin()]);
    model.particle("slider", 2.0, [x, 0.0 * x]);
    model.gravity([0.0, -5.0]);
    model.constraint("rod", (x - r * a.cos()).pow(2.0) + (r * a.sin()).pow(2.0), 4.0);
    model.potential("spring", 5.0 * (r - 1.0).pow(2.0));
    begin(&model, &[("r", 1.0), ("a", 1.0), ("x", 2.35), ("a'", 1.0)])
}

/// Constraints are kept by methods that are made for them, or by projections.
#[test]
fn constraints_ask_for_their_methods() {
    let step = |system: System, step: f64| chosen(system, 10.0, Some(Pace::Step(step))).0;
    assert_eq!((step(links(), 0.01), step(links(), 0.2)), ("rattle4", "gauss-spark4"));
    assert_eq!((step(skate(), 0.01), step(crank(), 0.01)), ("dop853", "gauss-spark4"));
    assert_eq!(step(damped_rod(), 0.01), "radau5");
    let tolerance = |system: System, tolerance: f64| {
        chosen(system, 10.0, Some(Pace::Tolerance(Tolerance::relative(tolerance)))).0
    };
    assert_eq!((tolerance(links(), 1e-10), tolerance(links(), 1e-3)), ("vern9", "tsit5"));
    assert_eq!((tolerance(skate(), 1e-10), tolerance(damped_rod(), 1e-8)), ("taylor", "radau5"));
    let density = |system: System| chosen(system, 10.0, Some(Pace::from(Density::of("1", 0.05)))).0;
    assert_eq!(density(links()), "gauss-spark6");
    // Neither: short runs adapt, long ones keep what there is to be kept.
    assert_eq!((chosen(links(), 10.0, None).0, chosen(skate(), 5000.0, None).0), ("vern9", "taylor"));
    let (mut dynamics, start) = links();
    let Choice { integrator, why } = Choice::new(&mut dynamics, &start, 2000.0, None).unwrap();
    assert_eq!(integrator.card().name, "gauss-spark8", "{why}");
    // The fastest rate is that of the links on their constraints, some twenty radians per second where they whip.
    let Pace::Step(step) = *integrator.pace() else { panic!("{why}") };
    assert!((0.002..0.02).contains(&step), "{step}");
    let run = integrator.spaced(0.5).run(&mut dynamics, &start, 200.0).unwrap();
    let drift = run.energy_drift(&mut dynamics).unwrap();
    println!("links: {drift:.1e} with steps of {step}");
    assert!(drift < 1e-7, "{drift:e}");
}

/// A run back in time gets steps that lead back.
#[test]
fn the_way_back_is_chosen_too() {
    let (mut dynamics, start) = kepler(0.2);
    let choice = Choice::new(&mut dynamics, &start, -20_000.0, None).unwrap();
    assert!(choice.integrator.ends_only().run(&mut dynamics, &start, -20_000.0).is_ok());
}

/// Series do not reach over branches of the state, cost more than they save where fields are long, and creep where things are stiff.
#[test]
fn series_are_chosen_where_they_are_worth_it() {
    let with = |system, tolerance: f64| chosen(system, 10.0, Some(Tolerance::relative(tolerance).into())).0;
    let on_soft_floor = || {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let y = model.coordinate("y");
        model.particle("ball", 1.0, [y]);
        model.gravity([-9.81]);
        model.potential("floor", 0.5e6 * (-y).max(0.0).pow(2.0));
        begin(&model, &[("y", 1.0)])
    };
    assert_eq!((with(on_soft_floor(), 1e-10), with(on_soft_floor(), 1e-12)), ("dop853", "vern9"));
    let bodies = || {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let names: Vec<String> = (0..24).flat_map(|i| ["x", "y"].map(|axis| format!("{axis}{i}"))).collect();
        let places: Vec<_> = names.iter().map(|name| model.coordinate(name)).collect();
        for (i, one) in places.chunks_exact(2).enumerate() {
            model.particle(&format!("body{i}"), 1.0, [one[0], one[1]]);
            for (j, other) in places.chunks_exact(2).enumerate().take(i) {
                let (dx, dy) = (one[0] - other[0], one[1] - other[1]);
                model.potential(&format!("pull{i}_{j}"), -1.0 / (dx * dx + dy * dy).sqrt());
            }
        }
        let start: Vec<f64> =
            (0..48).map(|i| 5.0 * (1.7 * f64::from(i)).sin() + 0.1 * f64::from(i)).collect();
        let start: Vec<(&str, f64)> = names.iter().map(String::as_str).zip(start).collect();
        begin(&model, &start)
    };
    assert_eq!(with(bodies(), 1e-10), "vern9");
}

/// Damping so strong that a body pushed from rest has its last velocity at once.
#[test]
fn stiffness_is_seen_from_rest() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    model.particle("body", 1.0, [x]);
    model.dissipation("honey", 0.5e9 * model.velocity(x).pow(2.0));
    model.force(x, 1.0);
    let (mut dynamics, start) = begin(&model, &[]);
    let Choice { integrator, why } = Choice::new(&mut dynamics, &start, 10.0, None).unwrap();
    assert_eq!(integrator.card().name, "radau5", "{why}");
    let run = integrator.ends_only().at_most(2000).run(&mut dynamics, &start, 10.0).unwrap();
    assert!((run.end().q[0] / 1e-8 - 1.0).abs() < 1e-8, "{:?} in {:?}", run.end(), run.work());
}

/// A vibration that becomes three hundred times as fast as it was at the beginning, long after a short trial has ended.
#[test]
fn motion_that_speeds_up_is_not_given_one_step() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("bead", 1.0, [x, y]);
    model.potential("trough", 0.5 * (1.0 + 100.0 * y * y) * x * x);
    let system = || begin(&model, &[("x", 1e-4), ("y'", 0.01)]);
    let (mut dynamics, start) = system();
    let Choice { integrator, why } = Choice::new(&mut dynamics, &start, 3000.0, None).unwrap();
    assert!(matches!(integrator.pace(), Pace::Tolerance(_)), "{why}");
    let run = integrator.ends_only().run(&mut dynamics, &start, 500.0).unwrap();
    // The action of the vibration stays, so that it rises from ω = 1 to 50 in energy, too, and slows y by next to nothing.
    assert!((run.end().q[1] / 5.0 - 1.0).abs() < 0.1, "{:?}", run.end());
}

/// Steps that would never end are refused.
#[test]
fn steps_must_not_be_too_short() {
    let (mut dynamics, start) = kepler(0.1);
    let run = Integrator::named("dop853", Tolerance::relative(1e-6)).unwrap().longest_step(1e-300);
    let refused = run.run(&mut dynamics, &start, 1.0).unwrap_err();
    assert!(refused.to_string().contains("steps"), "{refused}");
    assert!(matches!(refused.error, RunError::TooManySteps { .. }), "{refused}");
}

/// A relativistic body that is pushed for long: its velocity comes close to that of light, p/√(1 + p²), and follows from its momentum all the same.
#[test]
fn velocities_close_to_that_of_light_are_found() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    model.lagrangian("free", -(1.0 - model.velocity(x).pow(2.0)).sqrt());
    model.force(x, 1.0);
    let (mut dynamics, start) = begin(&model, &[]);
    let mut velocity = [0.0];
    for p in [1.0_f64, 65_535.0, 65_536.0, 1e6, 1e7] {
        dynamics.velocities(&[0.0], &[0.0, p], &mut velocity).unwrap();
        assert!((velocity[0] - p / (1.0 + p * p).sqrt()).abs() < 1e-15, "{p}: {velocity:?}");
    }
    let run = Integrator::named("dop853", Tolerance::relative(1e-9)).unwrap().ends_only();
    let end = run.run(&mut dynamics, &start, 1e5).unwrap().end();
    let exact = (1.0 + 1e10_f64).sqrt() - 1.0;
    assert!((end.q[0] / exact - 1.0).abs() < 1e-7, "{end:?}");
}
