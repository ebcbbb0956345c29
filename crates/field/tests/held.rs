//! Nodes that are held: fields read where they are, and their reactions balance.

use crate::common::*;
use leastaction_expr::{Graph, Random};
use leastaction_field::{Mesh, Nodes, Value, lumped_masses, shipped};
use leastaction_mechanics::Model;

/// What holds nodes carries the body: its weight, what its held nodes are accelerated by, and what the others pull.
#[test]
fn reactions_balance_the_momentum_of_the_body() {
    let mesh = Mesh::cuboid([1.0, 1.0, 2.0], [2, 3, 4]).unwrap();
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let before = model.coordinate("before");
    model.particle("bead", 1.0, [before, before * 0.0, before * 0.0]);
    let masses = lumped_masses(&mesh, 2.0).unwrap();
    let nodes = Nodes::new(&mut model, "body", &mesh, &masses).unwrap();
    let given = [("young", Value::uniform(&graph, 80.0)), ("poisson", Value::uniform(&graph, 0.3))];
    for name in ["neo-hookean", "st-venant-kirchhoff"] {
        nodes.add(&mut model, &shipped(name).unwrap().field(&graph, &given).unwrap()).unwrap();
    }
    model.gravity([0.0, 0.0, -2.0]);
    let time = model.time();
    let held: Vec<usize> = (0..mesh.nodes().len()).filter(|&node| mesh.nodes()[node][2] == 0.0).collect();
    let shaken = held.iter().map(|&node| {
        let [x, y, z] = mesh.nodes()[node].map(|x| graph.number(x));
        (node, [x + 0.2 * (3.0 * time).sin(), y, z])
    });
    nodes.hold(&mut model, "floor", shaken).unwrap();
    let missing = nodes.hold(&mut model.clone(), "floor", [(60, nodes.at(0))]).unwrap_err();
    assert_eq!(missing.to_string(), "there is no node 60: the mesh has 60, which are counted from 0");
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let (count, t) = (mesh.nodes().len(), 0.4);
    assert_eq!(dynamics.system().degrees(), 1 + 3 * (count - held.len()));
    let mut random = Random::new(3);
    let mut state = vec![0.0; dynamics.system().dimension()];
    nodes.place(dynamics.system(), positions(&mesh, 0.05, &mut random).as_chunks::<3>().0, &mut state);
    let mut rates = vec![0.0; state.len()];
    dynamics.rates(&[t], &state, &mut rates).unwrap();
    // The rate of the momentum of the body, less its weight.
    let degrees = dynamics.system().degrees();
    let mut expected = [0.0; 3];
    rates[degrees + 1..].iter().enumerate().for_each(|(i, rate)| expected[i % 3] += rate);
    let mass_held: f64 = held.iter().map(|&node| masses[node]).sum();
    expected[0] -= mass_held * 0.2 * 9.0 * (3.0 * t).sin();
    expected[2] += 2.0 * masses.iter().sum::<f64>();
    for (axis, expected) in ["x", "y", "z"].into_iter().zip(expected) {
        let observable = dynamics.observable(&format!("reaction_floor.{axis}")).unwrap();
        let mut found = [0.0];
        dynamics.observe(observable, &[t], &state, &mut found).unwrap();
        assert!((found[0] - expected).abs() < 1e-11, "{axis}: {} {expected}", found[0]);
    }
    // Positions of all nodes are told.
    let mut places = vec![0.0; 3 + 3 * count];
    dynamics.positions(&[t], &state, &mut places).unwrap();
    let first = 3 + 3 * held[0];
    assert_eq!(places[first], mesh.nodes()[held[0]][0] + 0.2 * (3.0 * t).sin());
}
