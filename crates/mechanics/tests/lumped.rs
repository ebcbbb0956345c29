//! Nodes whose masses are numbers: as if each were a particle.

use leastaction_compile::LANES;
use leastaction_expr::{Expr, Graph, SymbolBlock};
use leastaction_mechanics::{
    Dynamics, Elements, EvalError, Linearisation, Model, ModelError, Query, SettingError,
};

const NODES: usize = 7;
const MASSES: [f64; NODES] = [1.0, 0.7, 2.0, 1.3, 0.4, 1.1, 0.9];

/// What is in the model beside the nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum With {
    /// Springs between neighbours, gravity, damping, and forces.
    Fields,
    /// A pendulum that hangs on a node, and a formula of another.
    Formulas,
    /// A rod between two of them, also.
    Constraint,
    /// Nodes that are held, at rest and moved.
    Held,
    /// And nothing else: no formula has a coordinate.
    Alone,
}

const ALL: [With; 5] = [With::Fields, With::Formulas, With::Constraint, With::Held, With::Alone];

/// A chain of nodes in space, as numbers or as particles.
fn chain(with: With, lumped: bool) -> Dynamics {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [k, unit, g, c, push] =
        model.parameters([("k", 30.0), ("unit", 1.5), ("g", 9.81), ("c", 0.2), ("push", 0.6)]);
    let first = (with != With::Alone).then(|| model.coordinate("angle"));
    let nodes = model.coordinate_block("chain", NODES, &["x", "y", "z"]).unwrap();
    let time = model.time();
    match lumped {
        true => {
            model.lumped("chain", nodes, &MASSES, Some(unit));
            model.damp_lumped("air", "chain", c);
        }
        false => as_particles(&mut model, nodes, unit, c),
    }
    let offset = u32::from(first.is_some());
    springs(&mut model, &graph, k, offset);
    model.gravity([graph.number(0.0), graph.number(0.1), -g * (1.0 + 0.1 * time.sin())]);
    for node in [2, 5, 6] {
        model.force(nodes.symbol(node, 0), push * (1.0 + 0.3 * node as f64 + time.cos()));
        model.force(nodes.symbol(node, 2), 0.2);
    }
    if let Some(angle) = first {
        let hinge = match with {
            With::Fields => [graph.number(0.0), graph.number(0.0)],
            _ => [nodes.symbol(4, 0), nodes.symbol(4, 2)],
        };
        let bob = [hinge[0] + angle.sin(), graph.number(0.0), hinge[1] - angle.cos()];
        model.particle("bob", 0.8, bob);
        model.point("tip", [2.0 * angle.sin(), graph.number(1.0), angle]);
    }
    if with != With::Fields && with != With::Alone {
        model.potential("spring", 0.5 * k * (nodes.symbol(1, 0) - nodes.symbol(0, 1)).pow(2));
        model.force(nodes.symbol(3, 1), -0.3 * model.velocity(nodes.symbol(3, 1)));
    }
    if with == With::Constraint {
        let apart = [0, 1, 2].map(|axis| (nodes.symbol(6, axis) - nodes.symbol(5, axis)).pow(2));
        model.constraint("rod", apart[0] + apart[1] + apart[2], 1.0);
    }
    if with == With::Held {
        let at = |x: f64| graph.number(x);
        model.hold("wall", (0..3).map(|axis| (nodes.symbol(6, axis), at(6.0 * f64::from(axis == 0)))));
        model.hold("floor", [(nodes.symbol(5, 2), 0.1 * unit)]);
        model
            .hold("hand", (0..3).map(|axis| (nodes.symbol(0, axis), 0.2 * (2.0 * time).sin() + axis as f64)));
    }
    model.system().unwrap().dynamics().unwrap()
}

fn as_particles<'g>(model: &mut Model<'g>, nodes: SymbolBlock<'g>, unit: Expr<'g>, c: Expr<'g>) {
    let mut power = model.number(0.0);
    for (node, mass) in MASSES.into_iter().enumerate() {
        let at = [0, 1, 2].map(|axis| nodes.symbol(node, axis));
        model.particle(&format!("chain[{node}]"), mass * unit, at);
        at.iter().for_each(|&x| power += mass * unit * model.velocity(x).pow(2));
    }
    model.dissipation("air", 0.5 * c * power);
}

/// Springs between neighbours, from a coordinate on.
fn springs<'g>(model: &mut Model<'g>, graph: &'g Graph, k: Expr<'g>, offset: u32) {
    let slots: Vec<Expr<'g>> =
        ["ax", "ay", "az", "bx", "by", "bz"].iter().map(|name| graph.symbol(name)).collect();
    let square = graph.sum((0..3).map(|i| (slots[3 + i] - slots[i]).pow(2)));
    model.potential(
        "springs",
        Elements {
            energy: 0.5 * k * (square.sqrt() - 0.9).pow(2),
            slots,
            coordinates: (0..NODES as u32 - 1)
                .flat_map(|node| (0..6).map(move |i| offset + 3 * node + i))
                .collect(),
            constants: vec![],
            values: [].into(),
            implicit: vec![],
        },
    );
}

/// A state that the rod allows.
fn state(dynamics: &mut Dynamics, shift: f64) -> Vec<f64> {
    let system = dynamics.system().clone();
    let mut y: Vec<f64> = (0..system.dimension()).map(|i| 0.3 * (1.7 * i as f64 + shift).sin()).collect();
    for i in 0..system.degrees() {
        let name = system.coordinates().at(i);
        if let Some(node) = (0..NODES).find(|node| name == format!("chain[{node}].x")) {
            y[i] += node as f64;
        }
    }
    if system.facts().constrained {
        dynamics.project(&[0.3], &mut y).unwrap();
    }
    y
}

fn close(what: &str, a: &[f64], b: &[f64]) {
    close_to(what, a, b, 1e-13);
}

fn close_to(what: &str, a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len(), "{what}");
    let size = a.iter().fold(1e-3f64, |m, x| m.max(x.abs()));
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        assert!((a - b).abs() <= tolerance * size, "{what} {i}: {a} for {b}");
    }
}

/// Quantities of states, and how many numbers each has.
fn of_states(n: usize, dynamics: &Dynamics) -> Vec<(&'static str, Query, usize)> {
    let system = dynamics.system();
    let axes = system.places().iter().map(|place| place.dimensions).sum();
    vec![
        ("rates", Dynamics::rates, 2 * n),
        ("drift", Dynamics::drift, n),
        ("kick", Dynamics::kick, n),
        ("velocities", Dynamics::velocities, n),
        ("positions", Dynamics::positions, axes),
        ("energy", Dynamics::energy, 1),
        ("hamiltonian", Dynamics::hamiltonian, 1),
        ("kinetic", Dynamics::kinetic_energy, 1),
        ("potential", Dynamics::potential_energy, 1),
        ("lagrangian", Dynamics::lagrangian, 1),
        ("dissipated", Dynamics::dissipated_power, 1),
        ("forces", Dynamics::force_power, 1),
        ("supplied", Dynamics::supplied_power, 1),
        ("jacobian", Dynamics::jacobian, 4 * n * n),
        ("reactions", Dynamics::reactions, system.held().len()),
        ("multipliers", Dynamics::multipliers, system.constraints().len()),
    ]
}

fn of_configurations(n: usize) -> Vec<(&'static str, Query, usize)> {
    vec![
        ("momenta", Dynamics::momenta, n),
        ("momentum rates", Dynamics::momentum_rates, n),
        ("accelerations", Dynamics::accelerations, n),
        ("mass matrix", Dynamics::mass_matrix, n * n),
        ("derivatives", Dynamics::configuration_jacobian, 3 * n * n),
    ]
}

#[test]
fn nodes_are_as_particles_in_every_quantity() {
    for with in ALL {
        let [mut nodes, mut particles] = [true, false].map(|lumped| chain(with, lumped));
        let n = nodes.system().degrees();
        assert_eq!(nodes.system().coordinates(), particles.system().coordinates());
        assert_eq!(nodes.system().places(), particles.system().places());
        assert_eq!(nodes.system().held(), particles.system().held());
        let [a, b] = [&nodes, &particles].map(|dynamics| dynamics.system().facts().clone());
        assert_eq!(
            (a.separable, a.constant_mass, a.autonomous),
            (b.separable, b.constant_mass, b.autonomous)
        );
        assert_eq!(
            (a.dissipative, a.forced, a.linear_damping),
            (b.dissipative, b.forced, b.linear_damping),
            "{with:?}"
        );
        assert_eq!((a.forces_depend_on_velocities, a.explicit), (b.forces_depend_on_velocities, b.explicit));
        assert_eq!(
            (a.smooth, a.jacobi, &a.cyclic, &a.conserved),
            (b.smooth, b.jacobi, &b.cyclic, &b.conserved)
        );
        let y = state(&mut particles, 0.4);
        let mut both = |what: &str, query: Query, t: &[f64], block: &[f64], len: usize| {
            let [mut found, mut expected] = [vec![0.0; len * t.len()], vec![1.0; len * t.len()]];
            query(&mut nodes, t, block, &mut found).unwrap();
            query(&mut particles, t, block, &mut expected).unwrap();
            let name = format!("{with:?} {what} in {}", t.len());
            // Derivatives of the forces of constraints are taken by differences.
            let differences = with == With::Constraint && what == "jacobian";
            close_to(&name, &found, &expected, if differences { 1e-9 } else { 1e-13 });
        };
        let mut queries = of_states(n, &chain(with, true));
        queries.extend(of_configurations(n));
        for (what, query, len) in queries.into_iter().filter(|(.., len)| *len > 0) {
            both(what, query, &[0.3], &y, len);
            let t: Vec<f64> = (0..LANES).map(|lane| 0.3 + 0.01 * lane as f64).collect();
            let lanes = |width: usize| -> Vec<f64> {
                let each = |i: usize| (0..width).map(move |lane| (i, lane));
                let moved = (0..2 * n).flat_map(each).map(|(i, lane)| {
                    y[i] * if with == With::Constraint { 1.0 } else { 1.0 + 0.01 * lane as f64 }
                });
                moved.collect()
            };
            both(what, query, &t, &lanes(LANES), len);
            if matches!(what, "rates" | "energy" | "momenta" | "accelerations" | "kick" | "jacobian") {
                both(what, query, &t.repeat(2), &lanes(2 * LANES), len);
            }
        }
    }
}

#[test]
fn parameters_of_lanes_reach_nodes() {
    let [mut nodes, mut particles] = [true, false].map(|lumped| chain(With::Held, lumped));
    let n = nodes.system().degrees();
    let y = state(&mut particles, 0.1);
    for dynamics in [&mut nodes, &mut particles] {
        dynamics.set_parameters(&[20.0, 1.2, 3.0, 0.5, 0.1]).unwrap();
        dynamics.set_parameters_in(3, &[25.0, 2.5, 1.0, 0.7, 0.9]).unwrap();
    }
    let (t, block) = ([0.2; LANES], y.iter().flat_map(|&y| [y; LANES]).collect::<Vec<_>>());
    for (what, query, len) in of_states(n, &nodes.clone()).into_iter().filter(|(.., len)| *len > 0) {
        let [mut found, mut expected] = [vec![0.0; len * LANES], vec![1.0; len * LANES]];
        query(&mut nodes, &t, &block, &mut found).unwrap();
        query(&mut particles, &t, &block, &mut expected).unwrap();
        close(what, &found, &expected);
        assert!(
            what == "positions" || found.chunks(LANES).any(|row| row[3] != row[2]) || what == "multipliers"
        );
    }
    let wrong = nodes.set_parameters(&[1.0, -1.0, 1.0, 0.1, 0.1]).unwrap_err();
    assert!(matches!(wrong, SettingError::BadMass { .. }), "{wrong}");
}

#[test]
fn small_motions_and_damping_are_those_of_particles() {
    for with in [With::Fields, With::Formulas, With::Alone] {
        let [mut nodes, mut particles] = [true, false].map(|lumped| chain(with, lumped));
        let n = nodes.system().degrees();
        let y = state(&mut particles, 0.7);
        let mut matrices = [&mut nodes, &mut particles].map(|dynamics| {
            let mut about = Linearisation::new(dynamics).unwrap();
            about.evaluate(dynamics, 0.3, &y[..n], &[]).unwrap();
            let mut damping = vec![0.0; n * n];
            let (pattern, values) = about.rates(dynamics, 0.3, &y[..n]).unwrap().unwrap();
            pattern.entries().zip(values).for_each(|((i, j), value)| damping[i * n + j] += value);
            let mut masses = vec![0.0; n * n];
            let places = dynamics.mass_pattern().unwrap().to_vec();
            let entries = dynamics.mass_entries(0.3, &y[..n]).unwrap();
            places
                .iter()
                .zip(entries)
                .for_each(|(&(i, j), m)| (masses[i * n + j], masses[j * n + i]) = (m, m));
            [about.stiffness().to_vec(), damping, masses]
        });
        let [[k, d, m], [stiffness, damping, masses]] = std::mem::take(&mut matrices);
        close("stiffness", &k, &stiffness);
        close("damping", &d, &damping);
        close("masses", &m, &masses);
    }
    let [nodes, particles] = [true, false].map(|lumped| chain(With::Fields, lumped));
    let n = nodes.system().degrees();
    let [mut a, mut b] = [vec![0.0; n * n], vec![1.0; n * n]];
    nodes.damping(&mut a).unwrap();
    particles.damping(&mut b).unwrap();
    close("rates of damping", &a, &b);
}

#[test]
fn nodes_are_observed_by_name() {
    for with in [With::Fields, With::Held] {
        let [mut nodes, mut particles] = [true, false].map(|lumped| chain(with, lumped));
        let y = state(&mut particles, 0.2);
        let texts = [
            "chain[3].x",
            "chain[3].y'",
            "norm(chain[3] - chain[2])",
            "dot(chain[3]', chain[3])",
            "norm(chain[6])",
            "energy",
            "springs",
            "kinetic",
            "p_chain[2].x",
        ];
        for text in texts {
            let [found, expected] = [&mut nodes, &mut particles].map(|dynamics| {
                let what = dynamics.observable(text).unwrap_or_else(|error| panic!("{text}: {error}"));
                let mut out = [0.0];
                dynamics.observe(what, &[0.3], &y, &mut out).unwrap();
                out
            });
            close(text, &found, &expected);
        }
        for text in ["chain[3].x^2", "chain[2].y'*chain[3].x"] {
            let [found, expected] = [&mut nodes, &mut particles].map(|dynamics| {
                let what = dynamics.rated(text).unwrap_or_else(|error| panic!("{text}: {error}"));
                let (mut value, mut rate) = ([0.0], [0.0]);
                dynamics.observe_rated(what, &[0.3], &y, &mut value, &mut rate).unwrap();
                [value[0], rate[0]]
            });
            close(text, &found, &expected);
        }
        let (fall, n) = (nodes.observable("chain[2].z''").unwrap(), nodes.system().degrees());
        let place = nodes.system().coordinates().position("chain[2].z").unwrap();
        let (mut out, mut v, mut a) = ([0.0], vec![0.0; n], vec![0.0; n]);
        nodes.observe(fall, &[0.3], &y, &mut out).unwrap();
        nodes.velocities(&[0.3], &y, &mut v).unwrap();
        nodes.accelerations(&[0.3], &[&y[..n], &v].concat(), &mut a).unwrap();
        assert_eq!(out[0], a[place]);
        // Their energies are told together.
        let names: Vec<&str> = nodes.system().shares().iter().map(|share| share.name.as_str()).collect();
        assert!(names.contains(&"chain") && names.contains(&"gravity on chain"), "{names:?}");
        assert!(!names.contains(&"chain[3]"));
    }
}

#[test]
fn totals_and_equations_have_nodes_in_them() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let nodes = model.coordinate_block("dust", 2, &["x", "y", "z"]).unwrap();
    model.lumped("dust", nodes, &[2.0, 3.0], None);
    assert_eq!(model.total_momentum()[0].to_string(), "2*dust[0].x' + 3*dust[1].x'");
    let equations = model.equations().unwrap();
    assert_eq!(equations.to_string(), "m*dust[i]'' = 0");
    assert!(equations.latex().contains("dust"));
    assert!(matches!(equations.function(), Err(EvalError::NoFormula { .. })));
    // Whether a node is at rest nobody knows from formulas.
    assert_eq!(equations.is_conserved(nodes.symbol(0, 0)), None);
    let system = equations.system().unwrap();
    assert_eq!(system.conserved().len(), 7, "{:?}", system.conserved());
    assert!(matches!(
        system.kernel(leastaction_mechanics::Quantity::Rates),
        Err(EvalError::NoFormula { .. })
    ));
}

#[test]
fn nodes_without_a_positive_mass_are_refused() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let nodes = model.coordinate_block("dust", 3, &["x", "y"]).unwrap();
    model.lumped("dust", nodes, &[2.0, 0.0, 1.0], None);
    let wrong = model.system().unwrap_err();
    assert!(matches!(&wrong, ModelError::BadMass { particle, .. } if particle == "dust[1]"), "{wrong}");
    model.gravity([0.0, 0.0, -9.81]);
    assert!(matches!(model.system(), Err(ModelError::Dimensions { .. })));
}
