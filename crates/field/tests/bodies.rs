//! Whole bodies: equilibria and vibrations, clusters of atoms, and models with fields in them.

use crate::common::{evaluator, hessians, mesh_for, positions, uniform};
use leastaction_compile::LANES;
use leastaction_expr::Graph;
use leastaction_field::{FieldError, Mesh, Nodes, Over, Value, enclosed_volume, lumped_masses, shipped};
use leastaction_mechanics::{ElementsEvaluator, Model};
use leastaction_testing::Random;

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Elements of which some coordinates are held.
struct Body {
    elements: ElementsEvaluator,
    free: Vec<bool>,
}

impl Body {
    fn held(&self, mut vector: Vec<f64>) -> Vec<f64> {
        vector.iter_mut().zip(&self.free).filter(|(_, free)| !**free).for_each(|(x, _)| *x = 0.0);
        vector
    }

    fn forces(&mut self, q: &[f64]) -> Vec<f64> {
        let mut forces = vec![0.0; q.len()];
        self.elements.add_forces(0.0, q, &mut forces).unwrap();
        self.held(forces)
    }

    /// (∂²V/∂q²) d
    fn product(&mut self, q: &[f64], d: &[f64]) -> Vec<f64> {
        let mut changes = vec![0.0; q.len()];
        self.elements.add_force_changes(0.0, q, d, &mut changes).unwrap();
        self.held(changes.iter().map(|c| -c).collect())
    }

    /// Solves (∂²V/∂q²) x = b by conjugate gradients, up to so much of b: less than rounding leaves of forces that move a free body as a
    /// whole, which cannot be solved for.
    fn solve(&mut self, q: &[f64], b: &[f64], tolerance: f64) -> Vec<f64> {
        let (mut x, mut r) = (vec![0.0; b.len()], b.to_vec());
        let (mut p, mut square) = (r.clone(), dot(&r, &r));
        let small = tolerance * tolerance * square;
        for _ in 0..3 * b.len() {
            if square <= small {
                break;
            }
            let hp = self.product(q, &p);
            let step = square / dot(&p, &hp);
            (0..b.len()).for_each(|i| {
                x[i] += step * p[i];
                r[i] -= step * hp[i];
            });
            let next = dot(&r, &r);
            (0..b.len()).for_each(|i| p[i] = r[i] + next / square * p[i]);
            square = next;
        }
        x
    }

    /// Where forces balance a load, by Newton's method.
    fn equilibrium(&mut self, q: &mut [f64], load: &[f64]) {
        let scale = dot(load, load).max(1.0);
        for _ in 0..30 {
            let sum: Vec<f64> = self.forces(q).iter().zip(load).map(|(f, l)| f + l).collect();
            if dot(&sum, &sum) <= 1e-22 * scale {
                return;
            }
            let step = self.solve(q, &sum, 1e-6);
            q.iter_mut().zip(step).for_each(|(q, step)| *q += step);
        }
        panic!("no equilibrium was found");
    }

    /// The lowest frequency of small vibrations, by inverse iteration of two vectors.
    fn lowest_frequency(&mut self, q: &[f64], masses: &[f64]) -> f64 {
        let mut pair: Vec<Vec<f64>> =
            (1..3).map(|k| self.held((0..q.len()).map(|i| ((k * i) as f64).sin()).collect())).collect();
        let mut lowest = 0.0;
        for _ in 0..14 {
            for v in &mut pair {
                let b: Vec<f64> = v.iter().zip(masses).map(|(v, m)| v * m).collect();
                *v = self.solve(q, &b, 1e-11);
                let size = dot(v, v).sqrt();
                v.iter_mut().for_each(|x| *x /= size);
            }
            let stiff: Vec<Vec<f64>> = pair.iter().map(|v| self.product(q, v)).collect();
            let heavy: Vec<Vec<f64>> =
                pair.iter().map(|v| v.iter().zip(masses).map(|(v, m)| v * m).collect()).collect();
            let entries =
                |of: &[Vec<f64>]| [dot(&pair[0], &of[0]), dot(&pair[0], &of[1]), dot(&pair[1], &of[1])];
            let ([a, b, c], [d, e, f]) = (entries(&stiff), entries(&heavy));
            // det(K − λM) = 0
            let (p, half, r) = (d * f - e * e, 0.5 * (a * f + c * d) - b * e, a * c - b * b);
            lowest = r / (half + (half * half - p * r).sqrt());
        }
        lowest.sqrt()
    }
}

#[test]
fn a_box_sags_and_swings_as_the_reference_says() {
    let mesh = Mesh::cuboid([1.0, 1.0, 2.0], [4, 4, 8]).unwrap();
    let masses = lumped_masses(&mesh, 1.0).unwrap();
    let load: Vec<f64> = masses.iter().flat_map(|m| [-5.0 * m, 0.0, 0.0]).collect();
    let known = [
        (
            "linear",
            [-0.11779642590123263, 0.006305343218291792, -0.00045463828862724043],
            0.26974871333196654,
            7.496568998783815,
        ),
        (
            "st-venant-kirchhoff",
            [-0.11733258037351085, 0.006297880363236086, -0.004119122285973997],
            0.26841638289406283,
            7.503111307660999,
        ),
        (
            "neo-hookean",
            [-0.11826459227282804, 0.006231921004225538, -0.003156522415508789],
            0.27144163331015875,
            7.4850632143453435,
        ),
        (
            "stable-neo-hookean",
            [-0.11807681648339391, 0.006250902034107497, -0.003278839395631339],
            0.27084629226862944,
            7.488784195693032,
        ),
    ];
    for (name, sag, energy, frequency) in known {
        let graph = Graph::new();
        let given = uniform(&graph, &[("young", 1000.0), ("poisson", 0.3)]);
        let elements = shipped(name).unwrap().field(&graph, &given).unwrap().on(&mesh, 0).unwrap();
        let free = mesh.nodes().iter().flat_map(|at| [at[2] > 0.0; 3]).collect();
        let mut body = Body { elements: evaluator(&elements, &[]), free };
        let rest = mesh.nodes().as_flattened();
        let mut q = rest.to_vec();
        let load = body.held(load.clone());
        body.equilibrium(&mut q, &load);
        for i in 0..3 {
            assert!(
                (q[3 * 212 + i] - rest[3 * 212 + i] - sag[i]).abs() < 1e-9,
                "{name}: {}",
                q[3 * 212 + i] - rest[3 * 212 + i]
            );
        }
        let stored = body.elements.energy(0.0, &q).unwrap() - body.elements.energy(0.0, rest).unwrap();
        assert!((stored - energy).abs() < 1e-9, "{name}: {stored}");
        let each: Vec<f64> = masses.iter().flat_map(|&m| [m; 3]).collect();
        let found = body.lowest_frequency(&q, &each);
        assert!((found - frequency).abs() < 1e-8 * frequency, "{name}: {found}");
    }
}

/// A bar under a stress at its end is stretched alike everywhere, whatever the mesh: E = 1000, ν = 0.3, a stress of 10.
#[test]
fn a_bar_in_tension_is_exact() {
    let mesh = Mesh::beam([1.0, 1.0], 10.0, [2, 2], 10).unwrap();
    let graph = Graph::new();
    let given = uniform(&graph, &[("young", 1000.0), ("poisson", 0.3)]);
    let elements = shipped("linear").unwrap().field(&graph, &given).unwrap().on(&mesh, 0).unwrap();
    let mut load = vec![0.0; 3 * mesh.nodes().len()];
    for face in
        mesh.surface().iter().filter(|face| face.iter().all(|&node| mesh.nodes()[node as usize][2] == 10.0))
    {
        // Every face of the end has an eighth of its area.
        face.iter().for_each(|&node| load[3 * node as usize + 2] += 10.0 / 8.0 / 3.0);
    }
    // Held along z at one end, and against rigid motions at two of its nodes.
    let held = |at: &[f64; 3]| {
        [
            at[2] == 0.0 && at[0] == 0.0 && at[1] == 0.0,
            at[2] == 0.0 && at[1] == 0.0 && at[0] != 0.5,
            at[2] == 0.0,
        ]
    };
    let free = mesh.nodes().iter().flat_map(|at| held(at).map(|held| !held)).collect();
    let mut body = Body { elements: evaluator(&elements, &[]), free };
    let mut q = mesh.nodes().as_flattened().to_vec();
    body.equilibrium(&mut q, &load);
    let corner = 3 * (mesh.nodes().len() - 1);
    let moved: Vec<f64> = (0..3).map(|i| q[corner + i] - mesh.nodes().as_flattened()[corner + i]).collect();
    assert!(
        (moved[0] + 0.003).abs() < 1e-11
            && (moved[1] + 0.003).abs() < 1e-11
            && (moved[2] - 0.1).abs() < 1e-11,
        "{moved:?}"
    );
    assert!((body.elements.energy(0.0, &q).unwrap() - 0.5).abs() < 1e-11);
}

fn lennard_jones(atoms: &Mesh) -> Body {
    let graph = Graph::new();
    let elements = shipped("lennard-jones").unwrap().field(&graph, &[]).unwrap().on(atoms, 0).unwrap();
    Body { elements: evaluator(&elements, &[]), free: vec![true; 3 * atoms.nodes().len()] }
}

/// The energy of the nearest minimum, and the highest frequency there, of atoms of unit mass.
fn relaxed(atoms: &Mesh) -> (f64, f64) {
    let mut body = lennard_jones(atoms);
    // First as large as they want to be, without changing shape.
    let scaled = |s: f64| atoms.nodes().as_flattened().iter().map(|x| s * x).collect::<Vec<_>>();
    let sizes = (0..200).map(|i| 0.8 + 0.002 * f64::from(i));
    let energy = |body: &mut Body, s: f64| body.elements.energy(0.0, &scaled(s)).unwrap();
    let best =
        sizes.fold(1.0, |best, s| if energy(&mut body, s) < energy(&mut body, best) { s } else { best });
    let mut q = scaled(best);
    let nothing = vec![0.0; q.len()];
    body.equilibrium(&mut q, &nothing);
    let mut v: Vec<f64> = (0..q.len()).map(|i| (i as f64).sin()).collect();
    let mut square = 0.0;
    for _ in 0..3000 {
        let next = body.product(&q, &v);
        square = dot(&next, &v) / dot(&v, &v);
        let size = dot(&next, &next).sqrt();
        v = next.iter().map(|x| x / size).collect();
    }
    (body.elements.energy(0.0, &q).unwrap(), square.sqrt())
}

#[test]
fn clusters_have_the_energies_of_the_cambridge_database() {
    let r0 = 2f64.powf(1.0 / 6.0);
    let dimer = Mesh::new(vec![[0.0; 3], [r0, 0.0, 0.0]]).unwrap();
    let mut body = lennard_jones(&dimer);
    let q = dimer.nodes().as_flattened();
    assert!((body.elements.energy(0.0, q).unwrap() + 1.0).abs() < 1e-15);
    let mut stretch = vec![0.0; 6];
    stretch[3] = 1.0;
    assert!((body.product(q, &stretch)[3] - 57.1464378708552).abs() < 1e-11);
    // A Mackay icosahedron, and a truncated octahedron of a face-centred lattice.
    let mut icosahedron = Mesh::sphere(r0, 0).unwrap().nodes().to_vec();
    icosahedron.push([0.0; 3]);
    let places = (0..125).map(|i| [i / 25 - 2, i / 5 % 5 - 2, i % 5 - 2]);
    let shell = |[x, y, z]: &[i32; 3]| (x + y + z) % 2 != 0 && x.abs() + y.abs() + z.abs() <= 3;
    let octahedron: Vec<_> = places.filter(shell).map(|place| place.map(|x| 0.78 * f64::from(x))).collect();
    for (atoms, count, energy, frequency) in
        [(icosahedron, 13, -44.32680141953403, 24.34624737204166), (octahedron, 38, -173.928426591, 22.8323)]
    {
        assert_eq!(atoms.len(), count);
        let (found, highest) = relaxed(&Mesh::new(atoms).unwrap());
        assert!((found - energy).abs() < 2e-9, "{count}: {found}");
        assert!((highest - frequency).abs() < 1e-4, "{count}: {highest}");
    }
}

#[test]
fn a_cut_potential_ends_with_no_energy_and_no_force() {
    let graph = Graph::new();
    let given = uniform(&graph, &[("cutoff", 2.5)]);
    let field = shipped("lennard-jones-cut").unwrap().field(&graph, &given).unwrap();
    let pair = Mesh::new(vec![[0.0; 3], [1.0, 0.0, 0.0]]).unwrap();
    let mut cut = evaluator(&field.on(&pair, 0).unwrap(), &[]);
    let mut at = |r: f64| {
        let (q, mut forces) = ([0.0, 0.0, 0.0, r, 0.0, 0.0], [0.0; 6]);
        cut.add_forces(0.0, &q, &mut forces).unwrap();
        (cut.energy(0.0, &q).unwrap(), forces[3])
    };
    let whole = |r: f64| (4.0 * (r.powi(-12) - r.powi(-6)), 24.0 * (2.0 * r.powi(-13) - r.powi(-7)));
    let ((energy, force), (whole_energy, whole_force)) = (at(1.3), whole(1.3));
    let (end_energy, end_force) = whole(2.5);
    assert!((force - (whole_force - end_force)).abs() < 1e-14);
    assert!((energy - (whole_energy - end_energy + (1.3 - 2.5) * end_force)).abs() < 1e-14);
    let (energy, force) = at(2.5 - 1e-9);
    assert!(energy.abs() < 1e-15 && force.abs() < 1e-9);
    assert_eq!((at(2.5), at(1e6)), ((0.0, 0.0), (0.0, 0.0)));
}

/// Two bodies on circles round each other, softened: ω² = (m₁ + m₂)/(r² + s²)^1.5.
#[test]
fn softened_bodies_attract_as_their_orbit_says() {
    let graph = Graph::new();
    let masses = Value::Nodes(vec![1.0, 2.0]);
    let given = [("mass", masses), ("softening", Value::uniform(&graph, 0.1))];
    let field = shipped("gravitation").unwrap().field(&graph, &given).unwrap();
    let pair = Mesh::new(vec![[-2.0 / 3.0, 0.0, 0.0], [1.0 / 3.0, 0.0, 0.0]]).unwrap();
    let mut both = evaluator(&field.on(&pair, 0).unwrap(), &[]);
    let (q, mut forces) = (pair.nodes().as_flattened(), [0.0; 6]);
    both.add_forces(0.0, q, &mut forces).unwrap();
    let omega: f64 = 1.71917306008578;
    assert!((forces[0] - omega * omega * 2.0 / 3.0).abs() < 1e-13 && (forces[3] + forces[0]).abs() < 1e-15);
    let kinetic = 0.5 * (1.14611537339052f64.powi(2) + 2.0 * 0.573057686695261f64.powi(2));
    assert!((both.energy(0.0, q).unwrap() + kinetic + 1.00488904357841).abs() < 1e-13);
}

#[test]
fn fields_in_a_model_move_its_nodes_alone_and_in_lanes() {
    let mesh = mesh_for(Over::Tetrahedra);
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let young = model.parameter("E", 100.0);
    let before = model.coordinate("before");
    model.particle("bead", 1.0, [before]);
    let masses = lumped_masses(&mesh, 2.0).unwrap();
    let nodes = Nodes::new(&mut model, "body", &mesh, &masses).unwrap();
    assert_eq!(nodes.first(), 1);
    let poisson = Value::uniform(&graph, 0.3);
    for name in ["neo-hookean", "corotational"] {
        let given = [("young", young.into()), ("poisson", poisson.clone())];
        nodes.add(&mut model, &shipped(name).unwrap().field(&graph, &given).unwrap()).unwrap();
    }
    let weight = [("mass", Value::Nodes(masses.clone())), ("gz", Value::uniform(&graph, -2.0))];
    nodes.add(&mut model, &shipped("gravity").unwrap().field(&graph, &weight).unwrap()).unwrap();
    let system = model.system().unwrap();
    let mut dynamics = system.dynamics().unwrap();
    dynamics.set_parameter("E", 50.0).unwrap();
    let n = 1 + 3 * mesh.nodes().len();
    let mut random = Random::new(8);
    let state = |random: &mut Random| {
        let mut state = vec![0.0; 2 * n];
        nodes.place(&system, positions(&mesh, 0.05, random).as_chunks::<3>().0, &mut state[..n]);
        state
    };
    let states: Vec<_> = (0..LANES).map(|_| state(&mut random)).collect();
    let block: Vec<f64> = (0..2 * n * LANES).map(|k| states[k % LANES][k / LANES]).collect();
    let mut lanes = vec![0.0; 2 * n * LANES];
    dynamics.rates(&[0.0; LANES], &block, &mut lanes).unwrap();
    for (lane, state) in states.iter().enumerate() {
        let mut rates = vec![0.0; 2 * n];
        dynamics.rates(&[0.0], state, &mut rates).unwrap();
        // The forces of the fields by themselves.
        let mut expected = vec![0.0; n];
        for name in ["neo-hookean", "corotational"] {
            let given = uniform(&graph, &[("young", 50.0), ("poisson", 0.3)]);
            let elements = shipped(name).unwrap().field(&graph, &given).unwrap().on(&mesh, 1).unwrap();
            evaluator(&elements, &[]).add_forces(0.0, &state[..n], &mut expected).unwrap();
        }
        (0..masses.len()).for_each(|node| expected[3 + 3 * node] -= 2.0 * masses[node]);
        let size = expected.iter().fold(0.0f64, |m, f| m.max(f.abs()));
        for i in 0..n {
            assert!((rates[n + i] - expected[i]).abs() <= 1e-13 * size, "{i}");
            assert_eq!(rates[n + i].to_bits(), lanes[(n + i) * LANES + lane].to_bits(), "bit for bit");
        }
    }
    let rope = mesh_for(Over::Edges);
    let twice = Nodes::new(&mut model, "body", &rope, &lumped_masses(&rope, 1.0).unwrap()).unwrap_err();
    assert!(twice.to_string().contains("body"), "{twice}");
    let few = Nodes::new(&mut model, "other", &mesh, &masses[1..]).unwrap_err();
    assert_eq!(few.to_string(), "`mass` has 54 numbers, and the mesh has 55 nodes");
}

/// The matrix that elements assemble is the one whose products they give, also where Hessians need implicit numbers.
#[test]
fn assembled_matrices_have_the_products_of_the_elements() {
    let mesh = mesh_for(Over::Tetrahedra);
    let graph = Graph::new();
    let given = uniform(&graph, &[("young", 100.0), ("poisson", 0.3)]);
    for name in ["corotational", "stable-neo-hookean"] {
        let elements = shipped(name).unwrap().field(&graph, &given).unwrap().on(&mesh, 0).unwrap();
        let mut random = Random::new(4);
        let (q, d) = (positions(&mesh, 0.05, &mut random), positions(&mesh, 1.0, &mut random));
        let mut product = vec![0.0; q.len()];
        let mut all = hessians(&elements, &[]);
        let pattern = all.pattern();
        all.entries(0.0, &q, |i, j, entry| {
            assert!(pattern.binary_search(&(i, j)).is_ok());
            product[i as usize] += entry * d[j as usize];
        })
        .unwrap();
        evaluator(&elements, &[]).add_force_changes(0.0, &q, &d, &mut product).unwrap();
        assert!(product.iter().all(|p| p.abs() < 1e-11), "{name}");
    }
}

#[test]
fn a_balloon_keeps_the_volume_that_it_encloses() {
    let sphere = Mesh::sphere(1.0, 1).unwrap();
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let nodes = Nodes::new(&mut model, "balloon", &sphere, &lumped_masses(&sphere, 1.0).unwrap()).unwrap();
    model.potential("air", enclosed_volume(&sphere, 0, 7.0).unwrap());
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let n = 3 * sphere.nodes().len();
    let forces = |dynamics: &mut leastaction_mechanics::Dynamics, state: &[f64]| {
        let mut rates = vec![0.0; 2 * n];
        dynamics.rates(&[0.0], state, &mut rates).unwrap();
        rates.split_off(n)
    };
    // Scaled by s: V = s³ V₀, and the forces are −K (s³ − 1) ∂V/∂x, of the norm that is known at s = 1.
    let scale = 1.2f64;
    let mut state = vec![0.0; 2 * n];
    let scaled: Vec<_> =
        sphere.nodes().iter().map(|x| [scale * x[0] + 5.0, scale * x[1], scale * x[2] - 3.0]).collect();
    nodes.place(dynamics.system(), &scaled, &mut state[..n]);
    let found = forces(&mut dynamics, &state);
    let expected = 7.0 * (scale.powi(3) - 1.0) * scale.powi(2) * 1.7024983139509193;
    assert!((dot(&found, &found).sqrt() - expected).abs() < 1e-12 * expected);
    let mut energy = [0.0];
    dynamics.energy(&[0.0], &state, &mut energy).unwrap();
    assert!((energy[0] - 3.5 * (scale.powi(3) - 1.0).powi(2) * 3.65871220851216).abs() < 1e-11);
    // The Jacobian of the rates holds −∂²V/∂q²: columns against differences of forces.
    let mut random = Random::new(6);
    let moved = positions(&sphere, 0.1, &mut random);
    state[..n].copy_from_slice(&moved);
    let mut jacobian = vec![0.0; 4 * n * n];
    dynamics.jacobian(&[0.0], &state, &mut jacobian).unwrap();
    for j in [0, 17, n - 1] {
        let h = 1e-4;
        let mut ends = [1.0, -1.0].map(|sign| {
            state[j] = moved[j] + sign * h;
            forces(&mut dynamics, &state)
        });
        state[j] = moved[j];
        let (plus, minus) = ends.split_at_mut(1);
        for i in 0..n {
            // Forces are polynomials of the fifth degree: the error is of the second order.
            let slope = (plus[0][i] - minus[0][i]) / (2.0 * h);
            assert!((jacobian[(n + i) * 2 * n + j] - slope).abs() < 1e-6, "{i} {j}");
        }
    }
    let states: Vec<Vec<f64>> = (0..LANES).map(|_| positions(&sphere, 0.1, &mut random)).collect();
    let block: Vec<f64> =
        (0..2 * n * LANES).map(|k| if k / LANES < n { states[k % LANES][k / LANES] } else { 0.0 }).collect();
    let mut lanes = vec![0.0; 2 * n * LANES];
    dynamics.rates(&[0.0; LANES], &block, &mut lanes).unwrap();
    for lane in [0, 5] {
        state[..n].copy_from_slice(&states[lane]);
        let alone = forces(&mut dynamics, &state);
        assert!((0..n).all(|i| alone[i].to_bits() == lanes[(n + i) * LANES + lane].to_bits()), "bit for bit");
    }
    assert!(matches!(
        enclosed_volume(&Mesh::plate([1.0; 2], [2; 2]).unwrap(), 0, 1.0),
        Err(FieldError::NotClosed)
    ));
    let turned = sphere.triangles().iter().map(|&[a, b, c]| [a, c, b]).collect();
    let inside_out = Mesh::new(sphere.nodes().to_vec()).unwrap().with_triangles(turned).unwrap();
    assert!(matches!(enclosed_volume(&inside_out, 0, 1.0), Err(FieldError::NoVolume { .. })));
}

/// How long a large body takes from its mesh to its first forces.
#[test]
#[ignore = "takes a while, and only prints"]
fn large_bodies_are_ready_soon() {
    for cells in [10, 20, 30] {
        let mesh = Mesh::cuboid([1.0; 3], [cells; 3]).unwrap();
        let begun = std::time::Instant::now();
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let nodes = Nodes::new(&mut model, "body", &mesh, &lumped_masses(&mesh, 1.0).unwrap()).unwrap();
        let field = shipped("neo-hookean").unwrap();
        let given = uniform(&graph, &[("young", 100.0), ("poisson", 0.3)]);
        nodes.add(&mut model, &field.field(&graph, &given).unwrap()).unwrap();
        let written = begun.elapsed();
        let mut dynamics = model.system().unwrap().dynamics().unwrap();
        let compiled = begun.elapsed();
        let mut state = vec![0.0; 6 * mesh.nodes().len()];
        nodes.place(dynamics.system(), mesh.nodes(), &mut state[..3 * mesh.nodes().len()]);
        let mut rates = state.clone();
        dynamics.rates(&[0.0], &state, &mut rates).unwrap();
        println!(
            "{} nodes: {written:?} to write, {compiled:?} to a system, {:?} to rates",
            mesh.nodes().len(),
            begun.elapsed()
        );
    }
}
