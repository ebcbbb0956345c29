//! Quantities with their rates, against differences along the motion and what is known by hand.

use leastaction_compile::LANES;
use leastaction_expr::Graph;
use leastaction_mechanics::{Dynamics, Model, ObserveError, Ports};

fn rated(dynamics: &mut Dynamics, text: &str, t: f64, y: &[f64]) -> (f64, f64) {
    let what = dynamics.rated(text).unwrap();
    let (mut value, mut rate) = ([0.0], [0.0]);
    dynamics.observe_rated(what, &[t], y, &mut value, &mut rate).unwrap();
    (value[0], rate[0])
}

/// A step of the field to either side: what changes, divided by the time.
fn difference(dynamics: &mut Dynamics, text: &str, t: f64, y: &[f64]) -> f64 {
    let (d, what) = (1e-5, dynamics.observable(text).unwrap());
    let mut field = vec![0.0; y.len()];
    dynamics.rates(&[t], y, &mut field).unwrap();
    let mut at = |d: f64| {
        let there: Vec<f64> = y.iter().zip(&field).map(|(y, f)| y + d * f).collect();
        let mut out = [0.0];
        dynamics.observe(what, &[t + d], &there, &mut out).unwrap();
        out[0]
    };
    (at(d) - at(-d)) / (2.0 * d)
}

fn pendulum_on_wheels(graph: &Graph) -> Model<'_> {
    let mut model = Model::new(graph);
    let m = model.parameter("m", 2.0);
    let [x, a] = model.coordinates(["x", "a"]);
    model.particle("cart", 1.0, [x, model.number(0.0)]);
    model.particle("bob", m, [x + a.sin(), -a.cos()]);
    model.gravity([0.0, -9.81]);
    model.dissipation("drag", 0.1 * model.velocity(x).pow(2.0));
    model
}

#[test]
fn rates_are_those_along_the_field() {
    let graph = Graph::new();
    let mut dynamics = pendulum_on_wheels(&graph).system().unwrap().dynamics().unwrap();
    let y = [0.3, 0.8, 1.1, -0.7];
    for text in ["x^2*a", "p_a*sin(a) + t*x", "m*a'^2 + x'*p_x", "exp(-x*t)"] {
        let (value, rate) = rated(&mut dynamics, text, 0.4, &y);
        let what = dynamics.observable(text).unwrap();
        let mut plain = [0.0];
        dynamics.observe(what, &[0.4], &y, &mut plain).unwrap();
        let expected = difference(&mut dynamics, text, 0.4, &y);
        assert!((value - plain[0]).abs() < 1e-13 * (1.0 + value.abs()), "{text}");
        assert!((rate - expected).abs() < 1e-7 * (1.0 + rate.abs()), "{text}: {rate} and {expected}");
    }
    // Parameters reach what was compiled before.
    let before = rated(&mut dynamics, "m*x", 0.0, &y).0;
    dynamics.set_parameter("m", 3.0).unwrap();
    assert_eq!(rated(&mut dynamics, "m*x", 0.0, &y).0, 1.5 * before);
}

#[test]
fn rates_are_known_without_a_closed_field() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    let v = model.velocity(x);
    model.lagrangian("L", v.pow(2.0) / 2.0 + v.pow(4.0) / 4.0 - x.cos());
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    assert!(!dynamics.system().facts().explicit);
    let y = [0.7, 1.3];
    let (_, rate) = rated(&mut dynamics, "x*p_x + t", 0.0, &y);
    let expected = difference(&mut dynamics, "x*p_x + t", 0.0, &y);
    assert!((rate - expected).abs() < 1e-8, "{rate} and {expected}");
    assert!(matches!(dynamics.rated("x'"), Err(ObserveError::NoRate { .. })));
    // An expression of any graph is the same quantity as its text.
    let elsewhere = Graph::new();
    assert_eq!(dynamics.rated(2.0 * elsewhere.symbol("x")).unwrap(), dynamics.rated("2*x").unwrap());
    assert!(matches!(dynamics.natural_time(), Err(ObserveError::NoRate { .. })));
}

#[test]
fn lanes_are_what_they_are_alone() {
    let graph = Graph::new();
    let mut dynamics = pendulum_on_wheels(&graph).system().unwrap().dynamics().unwrap();
    let state = |j: usize| [0.1, 0.2 + 0.1 * j as f64, 0.5, -0.3 * j as f64];
    let block: Vec<f64> = (0..4).flat_map(|i| (0..LANES).map(move |j| state(j)[i])).collect();
    let what = dynamics.natural_time().unwrap();
    let (mut values, mut rates) = ([0.0; LANES], [0.0; LANES]);
    dynamics.observe_rated(what, &[0.0; LANES], &block, &mut values, &mut rates).unwrap();
    for j in 0..LANES {
        let (mut value, mut rate) = ([0.0], [0.0]);
        dynamics.observe_rated(what, &[0.0], &state(j), &mut value, &mut rate).unwrap();
        assert_eq!((values[j].to_bits(), rates[j].to_bits()), (value[0].to_bits(), rate[0].to_bits()));
    }
}

/// 5^{−1/4} r^{3/2} for a planet, whatever its mass and the units; 1/√(Σω⁴)^{1/2} for springs.
#[test]
fn natural_times_are_known_by_hand() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let m = model.parameter("m", 3.0);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("planet", m, [x, y]);
    model.potential("gravity", -m / (x * x + y * y).sqrt());
    let mut planet = model.system().unwrap().dynamics().unwrap();
    let what = planet.natural_time().unwrap();
    let state = [1.2, 0.5, 3.0, -6.0];
    let (mut value, mut rate) = ([0.0], [0.0]);
    planet.observe_rated(what, &[0.0], &state, &mut value, &mut rate).unwrap();
    let r: f64 = 1.3;
    let expected = 5.0_f64.powf(-0.25) * r.powf(1.5);
    assert!((value[0] - expected).abs() < 1e-15);
    // ṙ = (x ẋ + y ẏ)/r, with velocities 1 and −2.
    let expected = expected * 1.5 / r * (1.2 - 0.5 * 2.0) / r;
    assert!((rate[0] - expected).abs() < 1e-15);

    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [a, b] = model.coordinates(["a", "b"]);
    model.particle("left", 2.0, [a]);
    model.particle("right", 0.5, [b]);
    model.potential("springs", 8.0 * a * a / 2.0 + 4.5 * b * b / 2.0);
    let mut springs = model.system().unwrap().dynamics().unwrap();
    let what = springs.natural_time().unwrap();
    springs.observe_rated(what, &[0.0], &[1.0, 2.0, 3.0, 4.0], &mut value, &mut rate).unwrap();
    assert!((value[0] - (4.0_f64.powi(2) + 9.0_f64.powi(2)).powf(-0.25)).abs() < 1e-15);
    assert_eq!(rate, [0.0]);
}

#[test]
fn refuses_what_has_no_rate() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    let push = model.input("u");
    model.particle("cart", 1.0, [x]);
    model.force(x, push);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    assert!(matches!(dynamics.rated("x*u"), Err(ObserveError::NoRate { .. })));
    assert!(matches!(dynamics.rated("y"), Err(ObserveError::UnknownName { .. })));
    assert!(matches!(dynamics.rated("x +"), Err(ObserveError::Parse(_))));

    let graph = Graph::new();
    let mut ports = Ports::new(&graph);
    let [x] = ports.states(["x"]);
    ports.hamiltonian("H", x * x / 2.0);
    ports.interconnection([[0.0]]);
    ports.dissipation([[0.5]]);
    let mut dynamics = ports.system().unwrap().dynamics().unwrap();
    assert!(matches!(dynamics.natural_time(), Err(ObserveError::NoRate { .. })));
    assert_eq!(rated(&mut dynamics, "x^2", 0.0, &[3.0]), (9.0, 2.0 * 3.0 * -0.5 * 3.0));
}
