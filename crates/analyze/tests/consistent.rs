//! Consistent masses: energies and frequencies against closed forms.

use leastaction_analyze::{largest_frequency, modes};
use leastaction_expr::Graph;
use leastaction_field::{Field, Mesh, Nodes, Over, Value, consistent_masses, lumped_masses, shipped};
use leastaction_mechanics::{Dynamics, Elements, Model};
use std::f64::consts::PI;

/// A bar of length 1, density 1 and stiffness 1 that moves along itself: angular frequencies of its first modes.
fn bar(cells: u32, consistent: bool, count: usize) -> Vec<f64> {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let mesh = Mesh::rope([0.0; 3], [1.0, 0.0, 0.0], cells).unwrap();
    let nodes = match consistent {
        true => Nodes::coupled(&mut model, "bar", &mesh, consistent_masses(&mesh, 1.0).unwrap()).unwrap(),
        false => Nodes::new(&mut model, "bar", &mesh, &lumped_masses(&mesh, 1.0).unwrap()).unwrap(),
    };
    let stretch = Field::new(&graph, "stretch", Over::Edges, |e| {
        let (now, rest) = (e.at(1)[0] - e.at(0)[0], e.rest(1)[0] - e.rest(0)[0]);
        0.5 * (now - rest).pow(2) / rest
    });
    nodes.add(&mut model, &stretch).unwrap();
    let across = (0..=cells as usize).flat_map(|node| [1, 2].map(|axis| (nodes.at(node)[axis], 0.0)));
    model.hold("guide", across);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let mut q = vec![0.0; dynamics.system().degrees()];
    nodes.place(dynamics.system(), mesh.nodes(), &mut q);
    let found = modes(&mut dynamics, 0.0, &q, count + 1).unwrap();
    found.modes.iter().map(|mode| mode.square.max(0.0).sqrt()).filter(|f| *f > 1e-3).take(count).collect()
}

#[test]
fn a_free_bar_vibrates_too_fast_with_consistent_and_too_slowly_with_lumped_masses() {
    // K. J. Bathe, Finite Element Procedures, 2014, section 9.3: ω of linear cells in a row, with θ = kπ/N.
    let mut errors = [Vec::new(), Vec::new()];
    for cells in [20, 40, 80] {
        let h = 1.0 / f64::from(cells);
        for (consistent, errors) in [false, true].into_iter().zip(&mut errors) {
            let found = bar(cells, consistent, 3);
            assert_eq!(found.len(), 3);
            for (k, omega) in (1..).zip(&found) {
                let theta = f64::from(k) * PI * h;
                let expected = match consistent {
                    true => (6.0 * (1.0 - theta.cos()) / (2.0 + theta.cos())).sqrt() / h,
                    false => 2.0 * (theta / 2.0).sin() / h,
                };
                assert!((omega / expected - 1.0).abs() < 1e-9, "{cells} {k}: {omega} for {expected}");
                let exact = f64::from(k) * PI;
                assert_eq!(*omega > exact, consistent, "{cells} {k}: {omega} and {exact}");
            }
            errors.push((found[0] - PI).abs());
        }
    }
    for errors in errors {
        for pair in errors.windows(2) {
            let order = (pair[0] / pair[1]).log2();
            assert!((order - 2.0).abs() < 0.02, "{order}");
        }
    }
}

/// A block of density 2 with consistent masses, held or free, under gravity and damped.
fn block(mesh: &Mesh, held: bool) -> Dynamics {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let nodes = Nodes::coupled(&mut model, "block", mesh, consistent_masses(mesh, 2.0).unwrap()).unwrap();
    let given = [("young", Value::uniform(&graph, 50.0)), ("poisson", Value::uniform(&graph, 0.3))];
    nodes.add(&mut model, &shipped("neo-hookean").unwrap().field(&graph, &given).unwrap()).unwrap();
    nodes.damp_masses(&mut model, "air", 0.3);
    model.gravity([0.0, 0.2, -9.81]);
    model.force(nodes.at(5)[1], 0.7 * model.time().cos());
    if held {
        let low = (0..mesh.nodes().len()).filter(|&node| mesh.nodes()[node][2] == 0.0);
        let rest = |node: usize| mesh.nodes()[node].map(|x| graph.number(x));
        nodes.hold(&mut model, "floor", low.map(|node| (node, rest(node)))).unwrap();
    }
    model.system().unwrap().dynamics().unwrap()
}

#[test]
fn the_kinetic_energy_of_a_linear_velocity_field_is_exact() {
    let size = [1.0, 2.0, 0.5];
    let mesh = Mesh::cuboid(size, [2, 3, 2]).unwrap();
    let mut dynamics = block(&mesh, false);
    // v = A x + b, whose energy is ½ρ∫v·v: integrals of 1, x and x x over a box.
    let a = [[0.3, -0.2, 0.5], [1.1, 0.4, -0.7], [0.2, 0.9, -0.1]];
    let b = [0.4, -0.8, 0.3];
    let speed = |x: [f64; 3]| -> [f64; 3] {
        std::array::from_fn(|i| b[i] + (0..3).map(|j| a[i][j] * x[j]).sum::<f64>())
    };
    let volume: f64 = size.iter().product();
    let second = |i: usize, j: usize| volume * size[i] * size[j] / if i == j { 3.0 } else { 4.0 };
    let mut expected = 0.0;
    for i in 0..3 {
        expected += volume * b[i] * b[i];
        for j in 0..3 {
            expected += 2.0 * b[i] * a[i][j] * volume * size[j] / 2.0;
            expected += (0..3).map(|k| a[i][j] * a[i][k] * second(j, k)).sum::<f64>();
        }
    }
    let q = mesh.nodes().as_flattened();
    let v: Vec<f64> = mesh.nodes().iter().flat_map(|&x| speed(x)).collect();
    let (mut p, z) = (vec![0.0; q.len()], [q, &v].concat());
    dynamics.momenta(&[0.0], &z, &mut p).unwrap();
    let y = [q, &p].concat();
    let (mut energy, mut back) = ([0.0], vec![0.0; q.len()]);
    dynamics.kinetic_energy(&[0.0], &y, &mut energy).unwrap();
    assert!((energy[0] - expected).abs() < 1e-13 * expected, "{} for {expected}", energy[0]);
    dynamics.velocities(&[0.0], &y, &mut back).unwrap();
    back.iter().zip(&v).for_each(|(a, b)| assert!((a - b).abs() < 1e-14, "{a} for {b}"));
}

#[test]
fn all_quantities_of_consistent_masses_agree() {
    let mesh = Mesh::cuboid([1.0, 1.0, 1.0], [1, 1, 2]).unwrap();
    for held in [false, true] {
        let mut dynamics = block(&mesh, held);
        let n = dynamics.system().degrees();
        let start: Vec<f64> = (0..n).map(|i| (0.9 * i as f64).sin() * 0.01).collect();
        let mut q = vec![0.0; n];
        for (declared, x) in mesh.nodes().as_flattened().iter().enumerate() {
            dynamics.system().place_of(declared).into_iter().for_each(|place| q[place] = x + start[place]);
        }
        let v: Vec<f64> = (0..n).map(|i| (1.3 * i as f64).cos()).collect();
        let (t, z) = ([0.4], [&q[..], &v].concat());
        let mut m = vec![0.0; n * n];
        dynamics.mass_matrix(&t, &z, &mut m).unwrap();
        let times = |x: &[f64]| -> Vec<f64> {
            m.chunks(n).map(|row| row.iter().zip(x).map(|(m, x)| m * x).sum()).collect()
        };
        let close = |what: &str, a: &[f64], b: &[f64]| {
            let size = b.iter().fold(1e-3f64, |m, x| m.max(x.abs()));
            a.iter()
                .zip(b)
                .for_each(|(a, b)| assert!((a - b).abs() < 1e-12 * size, "{held} {what}: {a} for {b}"));
        };
        let mut p = vec![0.0; n];
        dynamics.momenta(&t, &z, &mut p).unwrap();
        close("momenta", &p, &times(&v));
        let y = [&q[..], &p].concat();
        let (mut rates, mut forces, mut a) = (vec![0.0; 2 * n], vec![0.0; n], vec![0.0; n]);
        dynamics.rates(&t, &y, &mut rates).unwrap();
        dynamics.momentum_rates(&t, &z, &mut forces).unwrap();
        close("velocities", &rates[..n], &v);
        close("forces", &rates[n..], &forces);
        dynamics.accelerations(&t, &z, &mut a).unwrap();
        close("accelerations", &times(&a), &forces);
        let [mut kinetic, mut energy, mut potential] = [[0.0]; 3];
        dynamics.kinetic_energy(&t, &y, &mut kinetic).unwrap();
        dynamics.potential_energy(&t, &y, &mut potential).unwrap();
        dynamics.energy(&t, &y, &mut energy).unwrap();
        let half: f64 = 0.5 * p.iter().zip(&v).map(|(p, v)| p * v).sum::<f64>();
        close("kinetic energy", &kinetic, &[half]);
        close("energy", &energy, &[half + potential[0]]);
        // The change of the energy along the motion is what comes in less what is lost.
        let [mut supplied, mut lost, mut above, mut below] = [[0.0]; 4];
        dynamics.supplied_power(&t, &y, &mut supplied).unwrap();
        dynamics.dissipated_power(&t, &y, &mut lost).unwrap();
        let moved = |h: f64| -> Vec<f64> { y.iter().zip(&rates).map(|(y, rate)| y + h * rate).collect() };
        dynamics.energy(&[t[0] + 1e-5], &moved(1e-5), &mut above).unwrap();
        dynamics.energy(&[t[0] - 1e-5], &moved(-1e-5), &mut below).unwrap();
        let change = (above[0] - below[0]) / 2e-5;
        assert!((change - supplied[0] + lost[0]).abs() < 1e-6 * lost[0], "{change} {supplied:?} {lost:?}");
        let mut jacobian = vec![0.0; 4 * n * n];
        dynamics.jacobian(&t, &y, &mut jacobian).unwrap();
        for column in [0, 4, n, n + 5, 2 * n - 1] {
            let at = |h: f64| {
                let mut y = y.clone();
                y[column] += h;
                y
            };
            let (mut above, mut below) = (vec![0.0; 2 * n], vec![0.0; 2 * n]);
            dynamics.rates(&t, &at(1e-6), &mut above).unwrap();
            dynamics.rates(&t, &at(-1e-6), &mut below).unwrap();
            for row in 0..2 * n {
                let expected = (above[row] - below[row]) / 2e-6;
                let found = jacobian[row * 2 * n + column];
                assert!(
                    (found - expected).abs() < 1e-5 * expected.abs().max(10.0),
                    "{row} {column}: {found} for {expected}"
                );
            }
        }
    }
}

/// The whole obeys Newton: what accelerates its momentum, and what damps that, is its weight, the force on it, and what holds it.
#[test]
fn what_holds_a_body_bears_the_inertia_of_all_of_it() {
    let mesh = Mesh::cuboid([1.0, 1.0, 1.0], [1, 1, 2]).unwrap();
    let mut dynamics = block(&mesh, true);
    let (n, t) = (dynamics.system().degrees(), 0.4);
    let number = |i: usize| 0.05 * (1.3 * i as f64).sin();
    let free: Vec<usize> = (0..mesh.nodes().len()).filter(|&node| mesh.nodes()[node][2] != 0.0).collect();
    let mut z: Vec<f64> = free.iter().flat_map(|&node| mesh.nodes()[node]).collect();
    z.extend((0..n).map(|i| 6.0 * number(i + 7)));
    (0..n).for_each(|i| z[i] += number(i));
    let (mut accelerations, mut y) = (vec![0.0; n], z.clone());
    dynamics.accelerations(&[t], &z, &mut accelerations).unwrap();
    dynamics.momenta(&[t], &z, &mut y[n..]).unwrap();
    let sums = consistent_masses(&mesh, 2.0).unwrap().row_sums();
    let outside = [0.0, 0.2 * 2.0 + 0.7 * t.cos(), -9.81 * 2.0];
    for (axis, letter) in ["x", "y", "z"].into_iter().enumerate() {
        let rates = free.iter().enumerate().map(|(k, &node)| {
            let place = 3 * k + axis;
            sums[node] * (accelerations[place] + 0.3 * z[n + place])
        });
        let expected = rates.sum::<f64>() - outside[axis];
        let observable = dynamics.observable(&format!("reaction_floor.{letter}")).unwrap();
        let mut found = [0.0];
        dynamics.observe(observable, &[t], &y, &mut found).unwrap();
        assert!((found[0] - expected).abs() < 1e-11, "{letter}: {} for {expected}", found[0]);
    }
}

#[test]
fn the_largest_frequency_of_very_many_coordinates_is_found_by_products() {
    // A ring of beads and springs: ω ≤ 2√(k/m), reached where neighbours move against each other.
    const BEADS: u32 = 10_002;
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let ring = model.coordinate_block("ring", BEADS as usize, &[]).unwrap();
    model.lumped("ring", ring, &[0.5; BEADS as usize], None);
    let [a, b] = graph.symbols(["a", "b"]);
    let springs = Elements {
        energy: 0.5 * 3.0 * (b - a).pow(2),
        slots: vec![a, b],
        coordinates: (0..BEADS).flat_map(|i| [i, (i + 1) % BEADS]).collect(),
        constants: vec![],
        values: [].into(),
        implicit: vec![],
    };
    model.potential("springs", springs);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let found = largest_frequency(&mut dynamics, 0.0, &[0.0; BEADS as usize], 1e-4).unwrap();
    let expected = 2.0 * 6f64.sqrt();
    assert!(found <= expected * (1.0 + 1e-12) && found > 0.99 * expected, "{found} for {expected}");
}
