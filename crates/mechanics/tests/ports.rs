//! Port-Hamiltonian systems: their power balance, and that they contain mechanics.

use crate::common::{assert_close, energy, field, run};
use leastaction_compile::LANES;
use leastaction_expr::Graph;
use leastaction_mechanics::{Dynamics, Form, Input, Model, Ports, State};

/// Three states with matrices that depend on them, and two inputs.
fn tangle() -> Dynamics {
    let graph = Graph::new();
    let mut ports = Ports::new(&graph);
    let [k] = ports.parameters([("k", 1.7)]);
    let [x, y, z] = ports.states(["x", "y", "z"]);
    ports.inputs(["u", "w"]);
    ports.hamiltonian("well", k * x * x / 2.0 + y.pow(4.0) / 4.0);
    ports.hamiltonian("mixed", (x * z).cos() + z * z);
    let (zero, one) = (graph.number(0.0), graph.number(1.0));
    ports.interconnection([[zero, one, -z], [-one, zero, x * y], [z, -x * y, zero]]);
    let (a, b) = (x.sin(), 0.5 + y * y);
    ports.dissipation([[a * a, a * b, zero], [a * b, b * b, zero], [zero, zero, 0.1 * (1.0 + z * z)]]);
    ports.port_matrix([[one, zero], [zero, x], [y, one]]);
    let mut dynamics = ports.system().unwrap().dynamics().unwrap();
    dynamics.set_input("u", Input::function(f64::sin)).unwrap();
    dynamics.set_input("w", 0.3).unwrap();
    dynamics
}

#[test]
fn the_power_is_balanced() {
    let mut dynamics = tangle();
    assert_eq!(dynamics.system().facts().form, Form::Ports);
    let start = dynamics.start_at(0.4, &[("x", 0.6), ("y", -0.9), ("z", 1.1)]).unwrap();
    let (t, y) = ([start.t], start.block());
    let (mut lost, mut gained, mut outputs) = ([0.0], [0.0], [0.0; 2]);
    dynamics.dissipated_power(&t, &y, &mut lost).unwrap();
    dynamics.supplied_power(&t, &y, &mut gained).unwrap();
    dynamics.outputs(&t, &y, &mut outputs).unwrap();
    assert!(lost[0] > 0.0);
    assert_close(&gained, &[outputs[0] * 0.4f64.sin() + outputs[1] * 0.3], 1e-15);
    // The gradient by hand.
    let (k, [a, b, c]) = (1.7, [0.6, -0.9, 1.1f64]);
    let s = (a * c).sin();
    let slopes = [k * a - c * s, b * b * b, 2.0 * c - a * s];
    let mut gradient = [0.0; 3];
    dynamics.gradient(&t, &y, &mut gradient).unwrap();
    assert_close(&gradient, &slopes, 1e-15);
    let rate: f64 = field(&mut dynamics, &start).iter().zip(slopes).map(|(x, g)| x * g).sum();
    assert_close(&[rate], &[gained[0] - lost[0]], 1e-14);
    let mut shares = [0.0; 2];
    dynamics.shares(&t, &y, &mut shares).unwrap();
    assert_close(&[shares[0] + shares[1]], &[energy(&mut dynamics, &start)], 1e-15);
}

#[test]
fn lanes_are_single_states() {
    let mut dynamics = tangle();
    let times: Vec<f64> = (0..LANES).map(|l| 0.1 * l as f64).collect();
    let block: Vec<f64> = (0..3 * LANES).map(|i| (i as f64).sin()).collect();
    let (mut lanes, mut slopes) = (vec![0.0; 3 * LANES], vec![0.0; 9 * LANES]);
    dynamics.rates(&times, &block, &mut lanes).unwrap();
    dynamics.jacobian(&times, &block, &mut slopes).unwrap();
    for l in 0..LANES {
        let pick = |block: &[f64]| block.iter().skip(l).step_by(LANES).copied().collect::<Vec<f64>>();
        let state = State::from_block(times[l], &pick(&block), 3);
        assert_eq!(pick(&lanes), field(&mut dynamics, &state));
        let mut single = [0.0; 9];
        dynamics.jacobian(&times[l..=l], &state.block(), &mut single).unwrap();
        assert_eq!(pick(&slopes), single);
        // A column by differences.
        let at = |h: f64| State { q: vec![state.q[0], state.q[1] + h, state.q[2]], ..state.clone() };
        let (up, down) = (field(&mut dynamics, &at(1e-5)), field(&mut dynamics, &at(-1e-5)));
        for row in 0..3 {
            assert!((single[row * 3 + 1] - (up[row] - down[row]) / 2e-5).abs() < 1e-8);
        }
    }
}

#[test]
fn mechanics_is_a_port_hamiltonian_system() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    let p = model.momentum("p");
    let u = model.input("u");
    model.hamiltonian("motion", p * p / 4.0);
    model.potential("well", x.pow(4.0) - x * x);
    model.dissipation("friction", 0.15 * model.velocity(x).pow(2.0));
    model.force(x, u);
    let mut ports = Ports::new(&graph);
    ports.states(["x", "p"]);
    ports.inputs(["u"]);
    ports.hamiltonian("all", p * p / 4.0 + x.pow(4.0) - x * x);
    ports.interconnection([[0.0, 1.0], [-1.0, 0.0]]);
    ports.dissipation([[0.0, 0.0], [0.0, 0.3]]);
    ports.port_matrix([[0.0], [1.0]]);
    let systems = [model.system().unwrap(), ports.system().unwrap()];
    let ends = systems.map(|system| {
        let mut dynamics = system.dynamics().unwrap();
        dynamics.set_input("u", Input::function(|t| (2.0 * t).cos())).unwrap();
        let start = dynamics.start(&[("x", 0.3), ("p", 1.0)]).unwrap();
        let end = run(&mut dynamics, &start, 4.0, 1000);
        let (mut lost, mut gained) = ([0.0], [0.0]);
        dynamics.dissipated_power(&[4.0], &end.block(), &mut lost).unwrap();
        dynamics.supplied_power(&[4.0], &end.block(), &mut gained).unwrap();
        [end.block(), lost.to_vec(), gained.to_vec()].concat()
    });
    assert_close(&ends[0], &ends[1], 1e-13);
}
