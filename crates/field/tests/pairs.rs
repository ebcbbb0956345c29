//! Pairs within a cut-off, found as they move, against all pairs.

use crate::common::uniform;
use leastaction_expr::Graph;
use leastaction_field::{Field, FieldError, Lattice, Mesh, Nodes, Over, Value, shipped};
use leastaction_mechanics::{Dynamics, Energy, Model};
use leastaction_testing::Random;

/// Dynamics of atoms by pairs that are found as they move, and by a list of all pairs.
fn both(atoms: &Mesh, field: impl for<'g> Fn(&'g Graph, &mut Model<'g>) -> Field<'g>) -> [Dynamics; 2] {
    [true, false].map(|near| {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let field = field(&graph, &mut model);
        let nodes = Nodes::new(&mut model, "atoms", atoms, &vec![1.0; atoms.nodes().len()]).unwrap();
        if near {
            assert!(matches!(field.potential(atoms, 0).unwrap(), Energy::Opaque(_)));
            nodes.add(&mut model, &field).unwrap();
        } else {
            model.potential("pairs", field.on(atoms, 0).unwrap());
        }
        model.system().unwrap().dynamics().unwrap()
    })
}

fn lennard_jones<'g>(graph: &'g Graph, model: &mut Model<'g>) -> Field<'g> {
    let cutoff = model.parameter("c", 2.5);
    shipped("lennard-jones-cut").unwrap().field(graph, &[("cutoff", cutoff.into())]).unwrap()
}

/// Charges that repel each other, cut off, with numbers of nodes and time in it.
fn charges<'g>(graph: &'g Graph, model: &mut Model<'g>, atoms: usize) -> Field<'g> {
    let (cutoff, time) = (model.parameter("c", 2.5), model.time());
    let field = Field::new(graph, "charges", Over::Pairs, |e| {
        let q = e.node_values("charge", (0..atoms).map(|i| 1.0 + 0.01 * i as f64).collect());
        let square = (0..3).map(|i| (e.at(1)[i] - e.at(0)[i]).pow(2)).reduce(|a, b| a + b).unwrap();
        (1.0 + 0.1 * time) * q[0] * q[1] * (1.0 - square.sqrt() / cutoff).pow(3)
    });
    field.within(cutoff)
}

fn gravitation<'g>(graph: &'g Graph, model: &mut Model<'g>, atoms: usize) -> Field<'g> {
    let masses = Value::Nodes((0..atoms).map(|i| 1.0 + 0.01 * i as f64).collect());
    let constant = model.parameter("G", 0.7);
    shipped("gravitation").unwrap().field(graph, &[("mass", masses), ("G", constant.into())]).unwrap()
}

fn cluster() -> Mesh {
    Mesh::lattice(Lattice::FaceCentred, 1.6, [3, 3, 5]).unwrap()
}

/// Places of atoms and their momenta, moved at random by up to so much.
fn state(mesh: &Mesh, by: f64, random: &mut Random) -> Vec<f64> {
    let places = mesh.nodes().as_flattened().iter().map(|x| x + random.between(-by, by));
    let mut state: Vec<f64> = places.collect();
    state.resize(2 * state.len(), 0.0);
    state
}

fn close(a: &[f64], b: &[f64], tolerance: f64) {
    let size = b.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        assert!((a - b).abs() <= tolerance * size, "{i}: {a} {b}");
    }
}

/// Energy, rates, and a product with the derivative of the forces.
fn everything(dynamics: &mut Dynamics, t: f64, y: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; y.len() + 1];
    dynamics.rates(&[t], y, &mut out[1..]).unwrap();
    let mut energy = [0.0];
    dynamics.energy(&[t], y, &mut energy).unwrap();
    out[0] = energy[0];
    out
}

#[test]
fn near_pairs_have_the_energies_and_forces_of_all_pairs() {
    let atoms = cluster();
    let count = atoms.nodes().len();
    let mut random = Random::new(5);
    let fields: [&dyn Fn() -> [Dynamics; 2]; 3] = [
        &|| both(&atoms, lennard_jones),
        &|| both(&atoms, |graph, model| charges(graph, model, count)),
        &|| both(&atoms, |graph, model| gravitation(graph, model, count)),
    ];
    for field in fields {
        let [mut near, mut all] = field();
        for (i, by) in [0.0, 0.05, 0.1, 0.3, 0.1].into_iter().enumerate() {
            let (y, t) = (state(&atoms, by, &mut random), 0.3 * i as f64);
            let [found, expected] = [&mut near, &mut all].map(|dynamics| everything(dynamics, t, &y));
            close(&found[..1], &expected[..1], 1e-13);
            close(&found[1..], &expected[1..], 1e-12);
        }
    }
}

#[test]
fn no_bit_depends_on_when_a_list_was_made_or_on_lanes() {
    let atoms = cluster();
    let mut random = Random::new(11);
    let [mut near, _] = both(&atoms, lennard_jones);
    let [fresh, _] = both(&atoms, lennard_jones);
    let mut y = state(&atoms, 0.05, &mut random);
    let n = y.len();
    let mut states = Vec::new();
    for _ in 0..24 {
        y[..n / 2].iter_mut().for_each(|x| *x += random.between(-0.03, 0.035));
        let found = everything(&mut near, 0.0, &y);
        // In a thread of its own there is no list yet.
        let mut fresh = fresh.clone();
        let expected =
            std::thread::scope(|scope| scope.spawn(|| everything(&mut fresh, 0.0, &y)).join().unwrap());
        assert_eq!(found, expected);
        states.push((y.clone(), found));
    }
    for eight in states.chunks_exact(8) {
        let lanes: Vec<f64> = (0..n).flat_map(|i| eight.iter().map(move |(y, _)| y[i])).collect();
        let mut rates = vec![0.0; 8 * n];
        near.rates(&[0.0; 8], &lanes, &mut rates).unwrap();
        for (lane, (_, expected)) in eight.iter().enumerate() {
            let found: Vec<f64> = rates.iter().skip(lane).step_by(8).copied().collect();
            assert_eq!(found, expected[1..], "lane {lane}");
        }
    }
}

#[test]
fn hessian_products_are_those_of_all_pairs_and_cutoffs_may_change() {
    let atoms = Mesh::lattice(Lattice::FaceCentred, 1.6, [2, 1, 1]).unwrap();
    let mut random = Random::new(2);
    let [mut near, mut all] = both(&atoms, lennard_jones);
    for cutoff in [2.5, 1.3, 4.0, 0.1] {
        let y = state(&atoms, 0.05, &mut random);
        let [found, expected] = [&mut near, &mut all].map(|dynamics| {
            dynamics.set_parameters(&[cutoff]).unwrap();
            let mut jacobian = vec![0.0; y.len() * y.len()];
            dynamics.jacobian(&[0.0], &y, &mut jacobian).unwrap();
            jacobian
        });
        close(&found, &expected, 1e-12);
    }
}

#[test]
fn all_pairs_without_a_list_have_their_hessian_products_in_lanes_too() {
    // As many as do not fill a block of eight.
    let atoms = Mesh::lattice(Lattice::Simple, 1.1, [3, 9, 5]).unwrap();
    let count = atoms.nodes().len();
    let mut random = Random::new(4);
    let [mut streamed, mut all] = both(&atoms, |graph, model| gravitation(graph, model, count));
    let y = state(&atoms, 0.1, &mut random);
    let n = y.len() / 2;
    let [found, expected] = [&mut streamed, &mut all].map(|dynamics| {
        let mut jacobian = vec![0.0; 4 * n * n];
        dynamics.jacobian(&[0.0], &y, &mut jacobian).unwrap();
        jacobian
    });
    close(&found, &expected, 1e-12);
    let lanes: Vec<f64> = y.iter().flat_map(|x| [*x; 8]).collect();
    let (mut single, mut eight) = (vec![0.0; 2 * n], vec![0.0; 16 * n]);
    streamed.rates(&[0.0], &y, &mut single).unwrap();
    streamed.rates(&[0.0; 8], &lanes, &mut eight).unwrap();
    assert!(single.iter().zip(eight.chunks_exact(8)).all(|(one, row)| row.iter().all(|x| x == one)));
}

/// Eight nodes go against eight others at once, whether all blocks of eight are whole or not, and pairs of a field are mirrored or not.
#[test]
fn tiles_of_pairs_have_the_forces_of_single_pairs() {
    let mut random = Random::new(8);
    for cells in [[4, 6, 6], [3, 9, 5], [1, 1, 129]] {
        let atoms = Mesh::lattice(Lattice::Simple, 1.1, cells).unwrap();
        let count = atoms.nodes().len();
        let fields: [&dyn Fn() -> [Dynamics; 2]; 2] =
            [&|| both(&atoms, |graph, model| gravitation(graph, model, count)), &|| {
                both(&atoms, |graph, _| {
                    Field::new(graph, "own", Over::Pairs, |e| {
                        let [a, b] = [e.at(0), e.at(1)];
                        (0.1 * (a[0] * b[1] - 2.0 * a[2])).sin() + 0.01 * (b[2] - a[2]).pow(2)
                    })
                })
            }];
        for field in fields {
            let [mut tiled, mut listed] = field();
            let y = state(&atoms, 0.1, &mut random);
            let [found, expected] = [&mut tiled, &mut listed].map(|dynamics| everything(dynamics, 0.3, &y));
            close(&found, &expected, 1e-12);
        }
    }
}

#[test]
fn ten_thousand_atoms_need_no_list_of_fifty_million_pairs() {
    let atoms = Mesh::lattice(Lattice::FaceCentred, 1.55, [14, 14, 13]).unwrap();
    assert!(atoms.nodes().len() > 10_000);
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let nodes = Nodes::new(&mut model, "atoms", &atoms, &vec![1.0; atoms.nodes().len()]).unwrap();
    let field =
        shipped("lennard-jones-cut").unwrap().field(&graph, &uniform(&graph, &[("cutoff", 2.5)])).unwrap();
    nodes.add(&mut model, &field).unwrap();
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let mut y = vec![0.0; dynamics.system().dimension()];
    nodes.place(dynamics.system(), atoms.nodes(), &mut y);
    let mut rates = vec![0.0; y.len()];
    dynamics.rates(&[0.0], &y, &mut rates).unwrap();
    // A perfect crystal of finite size: forces at its middle vanish, and all of them together do.
    let (n, largest) = (y.len() / 2, rates.iter().fold(0.0_f64, |m, x| m.max(x.abs())));
    for axis in 0..3 {
        let sum: f64 = rates[n..].iter().skip(axis).step_by(3).sum();
        assert!(sum.abs() < 1e-9 * largest && largest > 1.0, "{sum} {largest}");
    }
}

#[test]
fn what_is_no_number_is_told_and_too_few_atoms_are_refused() {
    let atoms = cluster();
    let [mut near, _] = both(&atoms, lennard_jones);
    let mut y = state(&atoms, 0.0, &mut Random::new(1));
    y[7] = f64::NAN;
    let mut energy = [0.0];
    let status = near.energy(&[0.0], &y, &mut energy);
    assert!(status.is_err() || energy[0].is_nan());
    let graph = Graph::new();
    let one = Mesh::new(vec![[0.0; 3]]).unwrap();
    let field = shipped("lennard-jones-cut").unwrap();
    let field = field.field(&graph, &[("cutoff", Value::uniform(&graph, 2.5))]).unwrap();
    assert!(matches!(field.potential(&one, 0), Err(FieldError::Nothing { .. })));
}
