//! The balance of power: the energy changes by what is supplied, less what is dissipated.

use crate::held::{By, beads, states};
use leastaction_compile::LANES;
use leastaction_expr::{Expr, Graph};
use leastaction_mechanics::{Dynamics, Elements, Model, Ports, Query};

/// What a quantity of one number is.
fn one(dynamics: &mut Dynamics, query: Query, t: f64, y: &[f64]) -> f64 {
    let mut out = [0.0];
    query(dynamics, &[t], y, &mut out).unwrap();
    out[0]
}

/// The rate of the energy along the motion, by differences of fourth order.
fn energy_rate(dynamics: &mut Dynamics, t: f64, y: &[f64]) -> f64 {
    let mut rates = vec![0.0; y.len()];
    dynamics.rates(&[t], y, &mut rates).unwrap();
    let mut at = |h: f64| {
        let moved: Vec<f64> = y.iter().zip(&rates).map(|(y, rate)| y + h * rate).collect();
        one(dynamics, Dynamics::energy, t + h, &moved)
    };
    let h = 1e-3;
    (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h)
}

fn check(what: &str, dynamics: &mut Dynamics, t: f64, y: &[f64]) {
    let rate = energy_rate(dynamics, t, y);
    let supplied = one(dynamics, Dynamics::supplied_power, t, y);
    let dissipated = one(dynamics, Dynamics::dissipated_power, t, y);
    let size = rate.abs().max(supplied.abs()).max(dissipated.abs()).max(1.0);
    assert!((rate - (supplied - dissipated)).abs() < 1e-9 * size, "{what}: {rate} {supplied} {dissipated}");
}

/// The same motion with coordinates held and by constraints: power is what moves the one hand, or the other.
#[test]
fn what_moves_held_coordinates_and_constraints_supplies_power() {
    for (t, far) in [(0.0, 4.4), (0.7, 4.4), (1.3, 5.1)] {
        let mut found = Vec::new();
        for by in [By::Hold, By::HoldInFormulas, By::Constraint] {
            let mut dynamics = beads(by);
            dynamics.set_parameter("far", far).unwrap();
            let (free, all) = states(t, far);
            let z = if by == By::Constraint { all } else { free };
            let mut y = z.clone();
            dynamics.momenta(&[t], &z, &mut y[z.len() / 2..]).unwrap();
            if by != By::Constraint {
                // Off the constraints an energy changes along the field as well: both are on them, but only these move as told.
                check(&format!("{by:?}"), &mut dynamics, t, &y);
            }
            found.push(
                [Dynamics::supplied_power as Query, Dynamics::dissipated_power]
                    .map(|query| one(&mut dynamics, query, t, &y)),
            );
        }
        for (i, by) in [By::HoldInFormulas, By::Constraint].into_iter().enumerate() {
            for (a, b) in found[0].iter().zip(found[i + 1]) {
                assert!((a - b).abs() < 1e-11 * b.abs().max(1.0), "{by:?} {t}: {a} {b}");
            }
        }
    }
}

#[test]
fn whatever_depends_on_time_supplies_power() {
    let graph = Graph::new();
    let mut driven = Model::new(&graph);
    let (t, a) = (driven.time(), driven.coordinate("a"));
    driven.particle("bob", 1.5, [a.sin() + 0.3 * (2.0 * t).sin(), -a.cos() + 0.1 * t * a]);
    driven.gravity([0.3 * t, graph.number(-4.0)]);
    driven.dissipation("friction", 0.05 * driven.velocity(a).pow(2.0));
    driven.force(a, 0.4 * (3.0 * t).cos());
    check("driven", &mut driven.system().unwrap().dynamics().unwrap(), 0.4, &[1.0, 0.7]);

    let graph = Graph::new();
    let mut timed = Model::new(&graph);
    let t = timed.time();
    let q = timed.coordinates(["x", "y"]);
    timed.particle("bead", 2.0, q);
    let [u, v] = graph.symbols(["u", "v"]);
    let elements = |energy| Elements {
        energy,
        slots: vec![u, v],
        coordinates: [0, 1, 1, 0].into(),
        constants: vec![],
        values: [].into(),
        implicit: vec![],
    };
    timed.potential("springs", elements((1.0 + 0.5 * t.sin()) * (u - v * t).pow(2)));
    timed.dissipation("dampers", elements(0.2 * t * (timed.velocity(u) - timed.velocity(v)).pow(4)));
    check("timed", &mut timed.system().unwrap().dynamics().unwrap(), 0.4, &[1.0, 0.7, -0.4, 0.9]);

    let graph = Graph::new();
    let mut stated = Model::new(&graph);
    let x = stated.coordinate("x");
    let p = stated.momentum("p");
    stated.hamiltonian("all", 0.5 * p * p + (x - stated.time().sin()).pow(2));
    stated.force(x, 0.2 * stated.velocity(x));
    check("stated", &mut stated.system().unwrap().dynamics().unwrap(), 0.4, &[1.0, 0.7]);

    let graph = Graph::new();
    let mut ports = Ports::new(&graph);
    let [x, p] = ports.states(["x", "p"]);
    ports.inputs(["u"]);
    ports.hamiltonian("all", (0.5 + 0.1 * graph.symbol("t")) * p * p + x.cos());
    ports.interconnection([[0.0, 1.0], [-1.0, 0.0]]);
    ports.dissipation([[0.0, 0.0], [0.0, 0.3]]);
    ports.port_matrix([[0.0], [1.0]]);
    let mut dynamics = ports.system().unwrap().dynamics().unwrap();
    dynamics.set_input("u", 0.8).unwrap();
    check("ports", &mut dynamics, 0.4, &[1.0, 0.7]);
}

/// Dampers over elements are those of formulas in every quantity, alone and in lanes.
#[test]
fn dissipation_over_elements_is_that_of_formulas() {
    let damped = |by_elements: bool| {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let q: Vec<_> = (0..4).map(|i| model.coordinate(&format!("q{i}"))).collect();
        for (i, &q) in q.iter().enumerate() {
            model.particle(&format!("bead {i}"), 1.0 + 0.3 * i as f64, [q]);
        }
        let c = model.parameter("c", 0.4);
        let [a, b, own] = graph.symbols(["a", "b", "own"]);
        let rub = own * c * (1.0 + (a * b).sin()) * (model.velocity(b) - model.velocity(a)).pow(4);
        if by_elements {
            let elements = Elements {
                energy: rub,
                slots: vec![a, b],
                coordinates: [0, 1, 1, 2, 2, 3].into(),
                constants: vec![own],
                values: [1.0, 1.5, 2.0].into(),
                implicit: vec![],
            };
            model.dissipation("dampers", elements);
        } else {
            let each = |i: usize| -> Expr<'_> {
                let velocities = [a, b].map(|x| model.velocity(x)).into_iter();
                let velocities: Vec<_> =
                    velocities.zip([q[i], q[i + 1]].map(|q| model.velocity(q))).collect();
                let own = (own, graph.number(1.0 + 0.5 * i as f64));
                rub.substitute(&velocities).substitute(&[(a, q[i]), (b, q[i + 1]), own])
            };
            let all: Vec<_> = (0..3).map(each).collect();
            model.dissipation("dampers", graph.sum(all));
        }
        model.system().unwrap().dynamics().unwrap()
    };
    let (mut formula, mut elements) = (damped(false), damped(true));
    let facts = elements.system().facts().clone();
    assert!(
        facts.dissipative && facts.forces_depend_on_velocities && !facts.linear_damping && !facts.symbolic
    );
    assert!(facts.conserved.is_empty());
    let state = |lane: usize| -> Vec<f64> { (0..8).map(|i| ((3 * i + lane) as f64).sin()).collect() };
    let queries: [(&str, Query, usize); 9] = [
        ("rates", Dynamics::rates, 8),
        ("kick", Dynamics::kick, 4),
        ("momentum rates", Dynamics::momentum_rates, 4),
        ("accelerations", Dynamics::accelerations, 4),
        ("jacobian", Dynamics::jacobian, 64),
        ("configuration", Dynamics::configuration_jacobian, 48),
        ("dissipated", Dynamics::dissipated_power, 1),
        ("supplied", Dynamics::supplied_power, 1),
        ("forces", Dynamics::force_power, 1),
    ];
    for c in [0.4, 0.9] {
        formula.set_parameter("c", c).unwrap();
        elements.set_parameter("c", c).unwrap();
        for (name, query, len) in queries {
            let (mut expected, mut found) = (vec![0.0; len], vec![0.0; len]);
            let mut lanes = vec![0.0; len * LANES];
            let block: Vec<f64> = (0..8 * LANES).map(|k| state(k % LANES)[k / LANES]).collect();
            query(&mut elements, &[0.0; LANES], &block, &mut lanes).unwrap();
            for lane in 0..LANES {
                query(&mut formula, &[0.0], &state(lane), &mut expected).unwrap();
                query(&mut elements, &[0.0], &state(lane), &mut found).unwrap();
                for i in 0..len {
                    let (a, b) = (found[i], expected[i]);
                    assert!((a - b).abs() <= 1e-12 * b.abs().max(1.0), "{name} {i}: {a} {b}");
                    assert_eq!(a.to_bits(), lanes[i * LANES + lane].to_bits(), "{name} {i}");
                }
            }
        }
    }
}

#[test]
fn dissipation_that_does_not_fit_is_refused() {
    let refusal = |slots: usize, hamiltonian: bool, velocity: bool| {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let x = model.coordinate("x");
        match hamiltonian {
            true => {
                let p = model.momentum("p");
                model.hamiltonian("free", 0.5 * p * p + x * x);
            }
            false => model.particle("bead", 1.0, [x]),
        }
        let a = graph.symbol("a");
        let energy = if velocity { model.velocity(a).pow(2) } else { graph.symbol("nobody").pow(2) };
        let elements = Elements {
            energy,
            slots: vec![a],
            coordinates: vec![slots as u32].into(),
            constants: vec![],
            values: [].into(),
            implicit: vec![],
        };
        model.dissipation("dampers", elements);
        model.system().unwrap_err().to_string()
    };
    let far = refusal(3, false, true);
    assert!(far.starts_with("the dissipation `dampers` does not fit the model"), "{far}");
    assert!(far.contains("reads coordinate 3"), "{far}");
    let stated = refusal(0, true, true);
    assert!(stated.contains("state energies instead of a Hamiltonian"), "{stated}");
    let unknown = refusal(0, false, false);
    assert!(unknown.contains("`nobody`"), "{unknown}");
}

/// So many elements are shared by threads for one state, and come one after the other for eight: the bits are the same, held coordinates or not.
#[test]
fn forces_on_many_elements_have_the_same_bits_however_they_are_shared() {
    let (count, elements) = (60u32, 40_000u32);
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let row = model.coordinate_block("row", count as usize, &[]).unwrap();
    (0..count as usize).for_each(|i| model.particle(&format!("bead {i}"), 1.0, [row.symbol(i, 0)]));
    let [a, b] = graph.symbols(["a", "b"]);
    let reads = (0..elements).flat_map(|k| [k % count, (k * 7 + k / count + 1) % count]).collect();
    let springs = Elements {
        energy: (0.3 * (b - a)).cos(),
        slots: vec![a, b],
        coordinates: reads,
        constants: vec![],
        values: [].into(),
        implicit: vec![],
    };
    let rub = (model.velocity(b) - model.velocity(a)).pow(2) * (1.0 + a.cos());
    model.potential("springs", springs.clone());
    model.dissipation("dampers", Elements { energy: rub, ..springs });
    let time = model.time();
    model.hold("hand", (0..10).map(|i| (row.symbol(6 * i, 0), (time + i as f64).sin())));
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let n = dynamics.system().dimension();
    let y: Vec<f64> = (0..n).map(|i| (1.3 * i as f64).sin()).collect();
    let block: Vec<f64> = y.iter().flat_map(|&y| [y; LANES]).collect();
    let queries: [(Query, usize); 4] = [
        (Dynamics::rates, n),
        (Dynamics::energy, 1),
        (Dynamics::dissipated_power, 1),
        (Dynamics::supplied_power, 1),
    ];
    for (query, len) in queries {
        let (mut alone, mut lanes) = (vec![0.0; len], vec![0.0; len * LANES]);
        query(&mut dynamics, &[0.7], &y, &mut alone).unwrap();
        query(&mut dynamics, &[0.7; LANES], &block, &mut lanes).unwrap();
        assert!(alone.iter().zip(lanes.chunks(LANES)).all(|(a, b)| a.to_bits() == b[3].to_bits()));
    }
    check("many", &mut dynamics, 0.7, &y);
}
