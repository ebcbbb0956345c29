//! Clusters of atoms and chains, against published minima and closed forms (sections c and e of the reference).

use crate::body::close;
use leastaction_analyze::{ModeKind, equilibrium, modes};
use leastaction_expr::Graph;
use leastaction_field::{Mesh, Nodes, Value, shipped};
use leastaction_mechanics::{Dynamics, Elements, Model};

fn cluster(atoms: &[[f64; 3]]) -> (Dynamics, Vec<f64>) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let mesh = Mesh::new(atoms.to_vec()).unwrap();
    let nodes = Nodes::new(&mut model, "atoms", &mesh, &vec![1.0; atoms.len()]).unwrap();
    let given = ["epsilon", "sigma"].map(|name| (name, Value::uniform(&graph, 1.0)));
    nodes.add(&mut model, &shipped("lennard-jones").unwrap().field(&graph, &given).unwrap()).unwrap();
    (model.system().unwrap().dynamics().unwrap(), atoms.as_flattened().to_vec())
}

/// Its energy, and its lowest and highest frequencies.
fn relaxed(atoms: &[[f64; 3]]) -> (f64, f64, f64) {
    let (mut dynamics, q) = cluster(atoms);
    let found = equilibrium(&mut dynamics, 0.0, &q).unwrap();
    assert!(found.is_stable(), "{} negative modes", found.negative_modes);
    let all = modes(&mut dynamics, 0.0, &found.q, q.len()).unwrap();
    let free = all.modes.iter().filter(|mode| mode.kind == ModeKind::Free).count();
    assert_eq!(free, if atoms.len() == 2 { 5 } else { 6 });
    assert_eq!(all.rigid.others, 0);
    (found.energy, all.modes[free].frequency(), all.modes[all.modes.len() - 1].frequency())
}

#[test]
fn two_to_four_atoms_are_in_closed_form() {
    let curvature = 36.0 * 2.0f64.powf(2.0 / 3.0);
    let (energy, lowest, _) = relaxed(&[[0.0; 3], [1.2, 0.1, 0.05]]);
    close(energy, -1.0, 1e-12);
    close(lowest, (2.0 * curvature).sqrt(), 1e-9);
    let (energy, lowest, highest) = relaxed(&[[0.0; 3], [1.2, 0.1, 0.05], [0.5, 1.0, 0.2]]);
    close(energy, -3.0, 1e-12);
    close(lowest, (1.5 * curvature).sqrt(), 1e-9);
    close(highest, (3.0 * curvature).sqrt(), 1e-9);
    let (energy, lowest, highest) = relaxed(&[[0.0; 3], [1.1, 0.1, 0.05], [0.5, 1.0, 0.2], [0.5, 0.3, 1.0]]);
    close(energy, -6.0, 1e-12);
    close(lowest, curvature.sqrt(), 1e-9);
    close(highest, (4.0 * curvature).sqrt(), 1e-9);
}

#[test]
fn thirteen_atoms_make_an_icosahedron() {
    let phi = 0.5 * (1.0 + 5.0f64.sqrt());
    let mut atoms = vec![[0.0; 3]];
    for (a, b) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
        atoms.extend([[0.0, a, b * phi], [a, b * phi, 0.0], [b * phi, 0.0, a]]);
    }
    let atoms: Vec<_> = atoms.into_iter().map(|x| x.map(|x| 0.6 * x)).collect();
    let (energy, lowest, highest) = relaxed(&atoms);
    close(energy, -44.32680142, 1e-9);
    close(lowest, 6.531007, 1e-6);
    close(highest, 24.34625, 1e-6);
}

#[test]
fn thirty_eight_atoms_make_a_truncated_octahedron() {
    let mut atoms = Vec::new();
    for x in -2i32..=2 {
        for y in -2i32..=2 {
            for z in -2i32..=2 {
                if (x + y + z).rem_euclid(2) == 1 && x.abs() + y.abs() + z.abs() <= 3 {
                    atoms.push([x, y, z].map(|i| 0.78 * f64::from(i)));
                }
            }
        }
    }
    assert_eq!(atoms.len(), 38);
    let (energy, lowest, highest) = relaxed(&atoms);
    close(energy, -173.928426591, 1e-10);
    close(lowest, 3.163072, 1e-6);
    close(highest, 22.8323, 1e-6);
}

#[test]
fn chains_have_the_modes_of_theory() {
    // N masses, springs of K, held or free at the ends.
    let chain = |count: u32, held: bool| {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let beads = model.coordinate_block("x", count as usize, &[]).unwrap();
        (0..count as usize).for_each(|i| model.particle(&format!("bead {i}"), 0.5, [beads.symbol(i, 0)]));
        let [a, b] = graph.symbols(["a", "b"]);
        model.potential(
            "springs",
            Elements {
                energy: 50.0 * (b - a - 0.1).pow(2),
                slots: vec![a, b],
                coordinates: (1..count).flat_map(|i| [i - 1, i]).collect(),
                constants: vec![],
                values: [].into(),
                implicit: vec![],
            },
        );
        if held {
            let last = count as usize - 1;
            model.hold("ends", [(beads.symbol(0, 0), 0.0), (beads.symbol(last, 0), 0.1 * last as f64)]);
        }
        model.system().unwrap().dynamics().unwrap()
    };
    let mut dynamics = chain(22, true);
    let start: Vec<f64> = (1..21).map(|i| 0.1 * f64::from(i) + 0.02 * f64::from(i % 3)).collect();
    let rest = equilibrium(&mut dynamics, 0.0, &start).unwrap();
    let found = modes(&mut dynamics, 0.0, &rest.q, 20).unwrap().modes;
    for (k, expected) in [(0, 2.11368623734664), (1, 4.21555188386333), (19, 28.2051826884715)] {
        close(found[k].frequency(), expected, 1e-11);
    }
    // Free ends, and so many masses that the stiffness is sparse: ω = 2√(K/m) sin(nπ/2N).
    for count in [20u32, 2000] {
        let mut dynamics = chain(count, false);
        let start: Vec<f64> = (0..count).map(|i| 0.1 * f64::from(i)).collect();
        let found = modes(&mut dynamics, 0.0, &start, 4).unwrap();
        assert_eq!(found.modes[0].kind, ModeKind::Free);
        for (n, mode) in found.modes.iter().enumerate().skip(1) {
            let angle = n as f64 * std::f64::consts::PI / (2.0 * f64::from(count));
            close(mode.frequency(), 2.0 * (100.0f64 / 0.5).sqrt() * angle.sin(), 1e-8);
        }
    }
}
