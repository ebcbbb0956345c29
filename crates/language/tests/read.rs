//! What texts say.

use leastaction_expr::Graph;
use leastaction_language::{Part, Setup, Spot, read};
use leastaction_mechanics::Dynamics;

const DOUBLE_PENDULUM: &str = "\
# double pendulum
param m1 = 1, m2 = 1, l1 = 1, l2 = 1, g = 9.81
coord th1, th2
particle a mass m1 at [l1*sin(th1), -l1*cos(th1)]
particle b mass m2 at a + [l2*sin(th2), -l2*cos(th2)]
gravity [0, -g]
start th1 = 2.0, th2 = 1.5
run method gauss4, step 0.005, until 60
";

const CART_POLE: &str = "\
# damped cart-pole with a push
param M = 1, m = 0.1, l = 0.5, g = 9.81, c = 0.1
coord x, th
let T = (M+m)*x'^2/2 + m*l*x'*th'*cos(th) + m*l^2*th'^2/2
lagrangian T - m*g*l*cos(th)
dissipation c*x'^2/2
force x = 0.5*sin(2*t)
start th = 0.1
run method implicit-midpoint, step 0.002, until 20
";

fn energy(setup: &Setup<'_>) -> f64 {
    let mut dynamics = setup.model.system().unwrap().dynamics().unwrap();
    let start = setup.start(&dynamics).unwrap();
    let start = dynamics.start(&start).unwrap();
    let mut energy = [0.0];
    dynamics.energy(&[0.0], &start.block(), &mut energy).unwrap();
    energy[0]
}

#[test]
fn the_double_pendulum_is_read() {
    let graph = Graph::new();
    let setup = read(&graph, DOUBLE_PENDULUM, &[]).unwrap();
    assert_eq!(setup.about, "double pendulum");
    assert!((energy(&setup) - 9.81 * (-2.0 * 2f64.cos() - 1.5f64.cos())).abs() < 1e-14);
    let plan = &setup.plan;
    assert_eq!((plan.method.as_deref(), plan.step, plan.until), (Some("gauss4"), Some(0.005), 60.0));
    // Two rods are seen, though nobody drew them.
    let rods: Vec<_> = setup.drawing.parts.iter().filter(|part| matches!(part, Part::Rod(..))).collect();
    let expected = [Part::Rod(Spot::At([0.0; 3]), "a".into()), Part::Rod("a".into(), "b".into())];
    assert_eq!(rods, expected.iter().collect::<Vec<_>>());
}

#[test]
fn parameters_can_be_given() {
    let graph = Graph::new();
    let setup = read(&graph, DOUBLE_PENDULUM, &[("l1", 2.0)]).unwrap();
    assert!((energy(&setup) - 9.81 * (-4.0 * 2f64.cos() - 1.5f64.cos())).abs() < 1e-14);
}

#[test]
fn the_cart_pole_is_read() {
    let graph = Graph::new();
    let setup = read(&graph, CART_POLE, &[]).unwrap();
    assert!((energy(&setup) - 0.1 * 9.81 * 0.5 * 0.1f64.cos()).abs() < 1e-15);
    assert_eq!(setup.plan.method.as_deref(), Some("implicit-midpoint"));
    let facts = setup.model.system().unwrap();
    assert!(facts.facts().dissipative && facts.facts().forced && !facts.facts().autonomous);
}

#[test]
fn several_errors_are_found_and_none_that_only_follows() {
    let graph = Graph::new();
    let text = "param l = = 2\ncoord x\nlet a = l*x\npotential a + x*l + thta\nfroce x = 2\nstart y = 1\n";
    let errors = read(&graph, text, &[]).unwrap_err();
    let messages: Vec<_> = errors.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "expected an expression, found `=`",
            "no statement begins with `froce`",
            "`y` is no coordinate, velocity or momentum"
        ]
    );
}

#[test]
fn rods_are_seen_in_constraints() {
    let graph = Graph::new();
    let text = "param l = 2\ncoord x, y, u, v\nparticle a mass 1 at [x, y]\nparticle b mass 1 at [u, v]\n\
                constraint x^2 + y^2 = l^2\nconstraint norm(a - b)^2/2 = 1\nconstraint x*u = 3\n";
    let rods = |text| {
        let setup = read(&graph, text, &[]).unwrap();
        setup.drawing.parts.into_iter().filter(|part| matches!(part, Part::Rod(..))).collect::<Vec<_>>()
    };
    assert_eq!(rods(text), [Part::Rod(Spot::At([0.0; 3]), "a".into()), Part::Rod("a".into(), "b".into())]);
    assert_eq!(rods("coord x, y\nparticle a mass 1 at [x, y]\nconstraint x*y = 1\n"), []);
}

#[test]
fn inputs_are_functions_of_time() {
    let graph = Graph::new();
    let text = "param a = 3\ncoord x\nparticle cart mass 2 at x\ninput u = a*sin(2*t), w\nforce x = u + w\n";
    let setup = read(&graph, text, &[]).unwrap();
    let mut dynamics = setup.model.system().unwrap().dynamics().unwrap();
    dynamics.set_parameter("a", 5.0).unwrap();
    let push = |dynamics: &mut Dynamics| {
        let mut rates = [0.0; 2];
        dynamics.rates(&[0.7], &[0.0, 0.0], &mut rates).unwrap();
        rates[1]
    };
    assert!((push(&mut dynamics) - 5.0 * 1.4f64.sin()).abs() < 1e-15);
    // One without a value is given when the system runs; one with a value is part of the system, and has another if the model is told so.
    dynamics.set_input("w", 2.0).unwrap();
    assert!((push(&mut dynamics) - 2.0 - 5.0 * 1.4f64.sin()).abs() < 1e-15);
    let error = dynamics.set_input("u", 2.0).unwrap_err().to_string();
    assert_eq!(error, "the input `u` is stated by the model: give it another value there");
    let mut held = read(&graph, text, &[]).unwrap();
    assert!(held.model.restate_input("u", -1.5) && held.model.restate_input("w", 0.25));
    assert!(!held.model.restate_input("a", 1.0));
    let mut dynamics = held.model.system().unwrap().dynamics().unwrap();
    assert_eq!(push(&mut dynamics), -1.25);
}

#[test]
fn what_is_held_may_have_pieces_that_meet() {
    let accepted = |value: &str| {
        let text = format!(
            "param r = 2\ncoord x, y\nkinetic (x'^2 + y'^2)/2\npotential (y - x)^2\nconstraint x = {value}\n"
        );
        let graph = Graph::new();
        read(&graph, &text, &[]).unwrap().model.system().is_ok()
    };
    for meets in [
        "select(t < r, t, r)",
        "select(t > 1e-7, 3*(t - 1e-7), 0)",
        "select(sin(t) > 0, sin(t), 0)",
        "select(t < 1, t^2, select(t < r, 2*t - 1, 3))",
        "select(r > 1, 1, 0)",
        "min(1, max(0, t)) + abs(t - 1)",
    ] {
        assert!(accepted(meets), "{meets}");
    }
    for jumps in [
        "select(t < r, t, 1)",
        "select(t > 1e-7, 1e-3, 0)",
        "select(sin(t) > 0, cos(t), 0)",
        "select(t < 1, t^2, select(t < r, 2*t - 1, 2))",
        "t + (t > 1)",
        "sign(t - 1)",
    ] {
        assert!(!accepted(jumps), "{jumps}");
    }
}
