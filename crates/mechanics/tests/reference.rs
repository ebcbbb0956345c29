//! The systems of generalized coordinates with known values: energies at the start, and motion over a while.
//!
//! The numbers were computed independently from the closed forms of the equations of motion.

use crate::common::{assert_close, dynamics, energy, run, velocities};
use leastaction_compile::Code;
use leastaction_expr::{Expr, Graph};
use leastaction_mechanics::{Model, Quantity};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, TAU};

/// A wall of a height at a place, a tenth of which is reached a width before it.
fn wall<'g>(place: f64, height: f64, width: f64, x: Expr<'g>) -> Expr<'g> {
    height * (9f64.ln() / width * (x - place)).logistic()
}

#[test]
fn pendulum() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let th = model.coordinate("th");
    let [x, y] = [th.sin(), 0.5 - th.cos()];
    model.particle("bob", 1.0, [x, y]);
    model.potential("weight", y);
    let mut dynamics = dynamics(&model);
    let start = dynamics.start(&[("th'", 1.0)]).unwrap();
    assert_close(&[energy(&mut dynamics, &start)], &[0.0], 1e-15);
    let mut position = [0.0; 2];
    dynamics.positions(&[0.0], &start.block(), &mut position).unwrap();
    assert_eq!(position, [0.0, -0.5]);
}

/// Two rods of lengths 1 and ½ with g = 5.
fn double_pendulum<'g>(graph: &'g Graph, offset: f64, masses: [f64; 2]) -> Model<'g> {
    let mut model = Model::new(graph);
    let [m1, m2] = model.parameters([("m1", masses[0]), ("m2", masses[1])]);
    let [a, b] = model.coordinates(["th1", "th2"]);
    let [x, y] = [a.sin(), offset - a.cos()];
    model.particle("elbow", m1, [x, y]);
    model.particle("hand", m2, [x + 0.5 * b.sin(), y - 0.5 * b.cos()]);
    model.gravity([0.0, -5.0]);
    model
}

#[test]
fn double_pendulum_at_rest() {
    let graph = Graph::new();
    let mut dynamics = dynamics(&double_pendulum(&graph, 1.0, [1.0, 1.0]));
    let start = dynamics.start(&[("th1", FRAC_PI_2)]).unwrap();
    assert_close(&[energy(&mut dynamics, &start)], &[7.5], 1e-15);
    let end = run(&mut dynamics, &start, 1.0, 2000);
    assert_close(&end.q, &[-0.4953648, 0.3951171], 1e-7);
    assert_close(&velocities(&mut dynamics, &end), &[-1.3307365, -5.9072989], 1e-7);
    assert_close(&[energy(&mut dynamics, &end)], &[7.5], 1e-10);
}

#[test]
fn double_pendulum_by_momenta() {
    let graph = Graph::new();
    let mut dynamics = dynamics(&double_pendulum(&graph, 0.0, [1.0, 2.0]));
    let start = dynamics.start(&[("th1", 1.0), ("th2'", 0.5)]).unwrap();
    assert_close(&start.p, &[0.2701512, 0.25], 1e-7);
    assert_close(&[energy(&mut dynamics, &start)], &[-13.0420346], 1e-8);
    let end = run(&mut dynamics, &start, 1.0, 2000);
    assert_close(&end.q, &[-0.0538722, -0.4882148], 1e-7);
    assert_close(&end.p, &[-4.2271690, -2.5122975], 1e-7);
    // The same from momenta, with the masses as they are set rather than as they were compiled.
    let mut other = double_pendulum(&graph, 0.0, [1.0, 1.0]).system().unwrap().dynamics().unwrap();
    other.set_parameter("m2", 2.0).unwrap();
    let same = other.start(&[("th1", 1.0), ("p_th1", start.p[0]), ("p_th2", start.p[1])]).unwrap();
    assert_eq!(run(&mut other, &same, 1.0, 100), run(&mut dynamics, &start, 1.0, 100));
}

/// With sines and cosines, cos(a − b) and sin(a − b), one quotient, and parameters in products of their own, by hand: 20 and one.
#[test]
fn the_field_of_a_double_pendulum_takes_as_few_instructions_as_by_hand() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [m, l, g] = model.parameters([("m", 1.0), ("l", 1.0), ("g", 9.81)]);
    let [a, b] = model.coordinates(["a", "b"]);
    let [x, y] = [l * a.sin(), -l * a.cos()];
    model.particle("elbow", m, [x, y]);
    model.particle("hand", m, [x + l * b.sin(), y - l * b.cos()]);
    model.potential("weight", m * g * (2.0 * y - l * b.cos()));
    let field = model.system().unwrap().kernel(Quantity::Rates).unwrap();
    let quotients = field.source().body().iter().filter(|i| i.code == Code::Div).count();
    assert_eq!((field.source().body().len(), quotients), (21, 1), "{}", field.source());
}

#[test]
fn room() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("ball", 1.0, [x, y]);
    let walls = |low: f64, high: f64, x| 1.0 - wall(low, 10.0, 0.1, x) + wall(high, 10.0, 0.1, x);
    model.potential("weight", 2.0 * y);
    model.potential("floor and ceiling", walls(-1.0, 1.0, y));
    model.potential("sides", walls(-2.0, 2.0, x));
    let mut dynamics = dynamics(&model);
    assert!(dynamics.system().facts().separable);
    let speed = FRAC_PI_4.cos();
    let start = dynamics.start(&[("x", -1.0), ("y", 0.25), ("x'", speed), ("y'", speed)]).unwrap();
    assert_close(&[energy(&mut dynamics, &start)], &[-17.0], 5e-5);
}

#[test]
fn two_body() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [m1, m2] = model.parameters([("m1", 5.0), ("m2", 0.5)]);
    let [r, th] = model.coordinates(["r", "th"]);
    let at = |s: Expr<'_>| [s * th.cos(), s * th.sin()].map(|x| graph.adopt(x));
    model.particle("one", m1, at(-r * m2 / (m1 + m2)));
    model.particle("two", m2, at(r * m1 / (m1 + m2)));
    model.potential("gravity", -m1 * m2 / r);
    let mut dynamics = dynamics(&model);
    // Folding cannot see that θ is cyclic: values at points without pattern do.
    assert_eq!(dynamics.system().conserved(), ["energy", "p_th"]);
    let start = dynamics.start(&[("r", 2.0), ("th'", 0.5)]).unwrap();
    let value = energy(&mut dynamics, &start);
    assert_close(&[value, start.p[1]], &[-1.0227273, 0.909091], 1e-6);
    // Half a Kepler period later the bodies are nearest, at a(1 − e); a = 11/9, e = 7/11, Kepler's third law gives 3.62013.
    let (axis, eccentricity) = (11.0 / 9.0, 7.0 / 11.0);
    let period = TAU * f64::sqrt(axis * axis * axis / 5.5);
    assert_close(&[period], &[3.62013], 1e-5);
    let half = run(&mut dynamics, &start, period / 2.0, 4000);
    assert_close(&half.q, &[axis * (1.0 - eccentricity), TAU / 2.0], 1e-9);
    assert_close(&half.p, &[0.0, start.p[1]], 1e-9);
    assert_close(&[axis * (1.0 - eccentricity)], &[0.4444], 1e-4);
}

#[test]
fn spring_on_rail() {
    // A published version weighs the weight with the block's mass.
    for (weight, expected) in [(1.0, -23.94875), (2.0, -25.04875)] {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let [r, th, x] = model.coordinates(["r", "th", "x"]);
        let reach = 1.0 + x;
        model.particle("block", 2.0, [r]);
        model.particle("weight", 1.0, [r + reach * th.sin(), -reach * th.cos()]);
        model.potential("spring", 5.0 * x * x);
        model.potential("walls", 1.0 - wall(-1.5, 25.0, 0.1, r) + wall(1.5, 25.0, 0.1, r));
        model.potential("gravity", -weight * reach * th.cos());
        let mut dynamics = dynamics(&model);
        let start = dynamics.start(&[("x", 0.1), ("r'", 1.0), ("th'", -0.5)]).unwrap();
        let value = energy(&mut dynamics, &start);
        assert_close(&[value], &[expected], 1e-13);
        let end = run(&mut dynamics, &start, 2.0, 4000);
        assert_close(&[energy(&mut dynamics, &end)], &[value], 1e-9);
    }
}

#[test]
fn bezier_bead() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let s = model.coordinate("s");
    let points = [(-1.0, -1.0), (-2.0, 1.0), (0.0, 1.0), (1.0, -1.0), (2.0, 1.0)];
    let binomial = [1.0, 4.0, 6.0, 4.0, 1.0];
    let weight = |k: usize| binomial[k] * s.pow(k as f64) * (1.0 - s).pow((4 - k) as f64);
    let curve = |pick: fn((f64, f64)) -> f64| graph.sum((0..5).map(|k| pick(points[k]) * weight(k)));
    model.particle("bead", 1.0, [curve(|p| p.0), curve(|p| p.1)]);
    model.potential("ends", 1.0 - wall(0.0, 5.0, 0.05, s) + wall(1.0, 5.0, 0.05, s));
    let mut dynamics = dynamics(&model);
    let start = dynamics.start(&[("s", 0.5), ("s'", 0.25)]).unwrap();
    assert_close(&[energy(&mut dynamics, &start)], &[-3.3359375], 1e-9);
    let mut kinetic = [0.0];
    dynamics.kinetic_energy(&[0.0], &start.block(), &mut kinetic).unwrap();
    assert_close(&[(2.0 * kinetic[0]).sqrt()], &[1.152443], 1e-6);
}
