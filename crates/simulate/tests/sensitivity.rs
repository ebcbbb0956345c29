//! How the end of a run depends on its start and on parameters, against differences.

use leastaction_expr::Graph;
use leastaction_simulate::{Overrides, Sensitivity, SensitivityError, Simulation, Source};

fn simulation(text: &str, start: &[(String, f64)], parameters: &[(String, f64)]) -> Simulation {
    let source = Source::text("test", text);
    let asked = Overrides { start: start.to_vec(), parameters: parameters.to_vec(), ..Overrides::default() };
    source.simulation(&Graph::new(), &asked).unwrap()
}

const PENDULUM: &str = "param l = 1.2, g = 9.81, m = 2, c = 0.3, w = 2
coord th
particle bob mass m at [l*sin(th) + 0.1*sin(w*t), -l*cos(th)]
gravity [0, -g]
dissipation c*th'^2/2
start th = 1.1, th' = 0.4
run method dop853, step 0.05, until 2
";

/// The derivatives of the end by differences of runs.
fn check(text: &str, what: &str) {
    let found: Sensitivity = simulation(text, &[], &[]).sensitivity(what).unwrap();
    let at = simulation(text, &[], &[]);
    let system = at.dynamics.system().clone();
    let mut v = vec![0.0; system.degrees()];
    at.dynamics.clone().velocities(&[at.start.t], &at.start.block(), &mut v).unwrap();
    let value = |start: &[(String, f64)], parameters: &[(String, f64)]| {
        let simulation = simulation(text, start, parameters);
        let run = simulation.run().unwrap();
        let (mut dynamics, end) = (simulation.dynamics.clone(), run.trajectory.end());
        let observable = dynamics.observable(what).unwrap();
        let mut out = [0.0];
        dynamics.observe(observable, &[end.t], &end.block(), &mut out).unwrap();
        out[0]
    };
    assert!((found.value - value(&[], &[])).abs() < 1e-12);
    let difference = |f: &dyn Fn(f64) -> f64| {
        let [a, b, c] = [2e-3, 1e-3, 5e-4].map(|h| (f(h) - f(-h)) / (2.0 * h));
        let (ab, bc) = ((4.0 * b - a) / 3.0, (4.0 * c - b) / 3.0);
        (16.0 * bc - ab) / 15.0
    };
    let numbers: Vec<f64> = at.start.q.iter().chain(&v).copied().collect();
    assert_eq!(found.start.len(), numbers.len());
    for (i, (name, slope)) in found.start.iter().enumerate() {
        let moved = |by: f64| {
            let names = found.start.iter().zip(&numbers).enumerate();
            let start: Vec<(String, f64)> =
                names.map(|(k, ((name, _), x))| (name.clone(), x + if k == i { by } else { 0.0 })).collect();
            value(&start, &[])
        };
        let expected = difference(&moved);
        assert!((slope - expected).abs() < 1e-8, "{what} by {name}: {slope} and not {expected}");
    }
    for ((name, slope), (_, at)) in found.parameters.iter().zip(system.parameters()) {
        let expected = difference(&|by| value(&[], &[(name.clone(), at + by)]));
        assert!((slope - expected).abs() < 1e-8, "{what} by {name}: {slope} and not {expected}");
    }
}

#[test]
fn the_end_depends_on_start_and_parameters() {
    for what in ["th", "bob.x", "m*th'^2 + l*t", "p_th"] {
        check(PENDULUM, what);
    }
}

/// An event that ends the run: its time moves.
#[test]
fn an_end_that_moves_is_followed() {
    let text = PENDULUM.replace("until 2", "until 5\nevent low: bob.y = -0.97*l, falling, stop");
    for what in ["t", "bob.x + t^2", "th'"] {
        check(&text, what);
    }
}

#[test]
fn what_is_no_formula_is_refused() {
    let error = simulation(PENDULUM, &[], &[]).sensitivity("energy").unwrap_err();
    assert!(matches!(error, SensitivityError::NoFormula { .. }), "{error}");
    let error = simulation(PENDULUM, &[], &[]).sensitivity("nothing").unwrap_err();
    assert!(matches!(error, SensitivityError::Observe(_)), "{error}");
}
