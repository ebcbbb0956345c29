//! Which method is chosen when none is named, and that it does what is expected of it.

use crate::common::{
    begin, damped_pendulum, double_pendulum, driven_pendulum, henon_heiles, kepler, links, stiff_pendulum,
};
use leastaction_expr::{Expr, Graph};
use leastaction_integrate::{Choice, Density, Keeps, Pace, Tolerance};
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
    assert_eq!((tolerance(links(), 1e-10), tolerance(links(), 1e-3)), ("taylor", "tsit5"));
    assert_eq!((tolerance(skate(), 1e-10), tolerance(damped_rod(), 1e-8)), ("taylor", "radau5"));
    let density = |system: System| chosen(system, 10.0, Some(Pace::from(Density::of("1", 0.05)))).0;
    assert_eq!(density(links()), "gauss-spark6");
    // Neither: short runs adapt, long ones keep what there is to be kept.
    assert_eq!((chosen(links(), 10.0, None).0, chosen(skate(), 5000.0, None).0), ("taylor", "taylor"));
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
