//! Shipped fields against answers with digits, and what every field must have.

use crate::common::{evaluator, hessians, mesh_for, parameters_for, positions, rotated, uniform};
use crate::reference::KNOWN;
use leastaction_expr::Graph;
use leastaction_field::{FIELDS, Field, FieldError, Mesh, Over, Value, lame, lumped_masses, shipped};
use leastaction_mechanics::Elements;
use leastaction_testing::Random;

/// To so many parts of the largest.
fn close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    let size = expected.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!(
            (a - b).abs() <= tolerance * size,
            "{what}: {i} is {a}, not {b}: off by {:e}",
            (a - b).abs() / size
        );
    }
}

#[test]
fn single_elements_have_the_digits_of_the_reference() {
    for known in KNOWN {
        let graph = Graph::new();
        let field = shipped(known.field).unwrap().field(&graph, &uniform(&graph, known.parameters)).unwrap();
        let nodes: Vec<u32> = (0..known.rest.len() as u32).collect();
        let elements = field.on_elements(&nodes, known.rest, 0).unwrap();
        let mut evaluator = evaluator(&elements, &[]);
        let (q, n) = (known.now.as_flattened(), 3 * known.now.len());
        let what = known.field;
        close(&[evaluator.energy(0.0, q).unwrap()], &[known.energy], 2e-14, what);
        let mut forces = vec![0.0; n];
        evaluator.add_forces(0.0, q, &mut forces).unwrap();
        close(&forces, known.forces.as_flattened(), 1e-13, what);
        let d: Vec<f64> = (1..=n).map(|i| i as f64 / 10.0).collect();
        let mut changes = vec![0.0; n];
        evaluator.add_force_changes(0.0, q, &d, &mut changes).unwrap();
        let curvature: f64 = -changes.iter().zip(&d).map(|(c, d)| c * d).sum::<f64>();
        close(&[curvature], &[known.curvature], 1e-12, what);
        let mut square = 0.0;
        hessians(&elements, &[]).entries(0.0, q, |_, _, entry| square += entry * entry).unwrap();
        close(&[square.sqrt()], &[known.hessian], 1e-12, what);
    }
}

#[test]
fn the_deformed_box_has_the_energies_and_forces_of_the_reference() {
    let mesh = Mesh::cuboid([1.0, 1.0, 2.0], [4, 4, 8]).unwrap();
    let pi = std::f64::consts::PI;
    let moved = mesh.clone().mapped(|[x, y, z]| {
        let bend = x + 0.15 * (pi * z / 2.0).sin() + 0.05 * x * y;
        [bend, y + 0.10 * x * z - 0.04 * y * y, z * (1.0 + 0.08 * x) + 0.06 * (pi * y / 2.0).cos()]
    });
    let moved = moved.unwrap();
    close(&[moved.volume()], &[2.06287737268734], 1e-13, "volume");
    let known = [
        (
            "linear",
            20.863843428298395,
            57.72355883930815,
            7.5376178420216595,
            [2.2742802744965203, -0.10652567265515035, -3.1350498004713976],
        ),
        (
            "corotational",
            21.926609553799686,
            62.22297618576575,
            8.403344875599851,
            [2.9076840994825623, -0.06976061828539978, -5.56049882020977],
        ),
        (
            "st-venant-kirchhoff",
            23.809017274714982,
            74.35845940249732,
            11.145914724221283,
            [3.624620428088546, 0.2563484894607524, -6.639486230534956],
        ),
        (
            "neo-hookean",
            21.09247214662559,
            57.717329981106815,
            7.336934236183865,
            [2.5776727184052164, -0.18179827096051793, -4.810301805928489],
        ),
        (
            "stable-neo-hookean",
            -524.7627409162726,
            59.41063309105694,
            7.863952879314124,
            [2.732919743331034, -0.21493802352384314, -5.161103926604809],
        ),
    ];
    let graph = Graph::new();
    let given = uniform(&graph, &[("young", 1000.0), ("poisson", 0.3)]);
    for (name, energy, norm, largest, probe) in known {
        let elements = shipped(name).unwrap().field(&graph, &given).unwrap().on(&mesh, 0).unwrap();
        let mut evaluator = evaluator(&elements, &[]);
        let q = moved.nodes().as_flattened();
        let mut forces = vec![0.0; q.len()];
        evaluator.add_forces(0.0, q, &mut forces).unwrap();
        let size = |f: &[f64]| f.iter().map(|x| x * x).sum::<f64>().sqrt();
        let found = [evaluator.energy(0.0, q).unwrap(), size(&forces)];
        close(&found[..1], &[energy], 1e-12, name);
        close(&found[1..], &[norm], 1e-12, name);
        let nodal = forces.chunks_exact(3).map(size).fold(0.0, f64::max);
        close(&[nodal], &[largest], 1e-12, name);
        close(&forces[3 * 212..][..3], &probe, 1e-11, name);
    }
}

#[test]
fn materials_are_hookes_at_rest() {
    let mesh = Mesh::ball(1.0, 1).unwrap();
    let rest = mesh.nodes().as_flattened().to_vec();
    let d: Vec<f64> = (0..rest.len()).map(|i| (1.7 * i as f64).sin()).collect();
    let graph = Graph::new();
    let (lambda, mu) = lame(1000.0, 0.3);
    let changes = |name: &str| {
        let given: &[_] = match name {
            "mooney-rivlin" => &[("c10", 0.3 * mu), ("c01", 0.2 * mu), ("kappa", lambda + 2.0 * mu / 3.0)],
            _ => &[("mu", mu), ("lambda", lambda)],
        };
        let elements =
            shipped(name).unwrap().field(&graph, &uniform(&graph, given)).unwrap().on(&mesh, 0).unwrap();
        let mut evaluator = evaluator(&elements, &[]);
        let (mut forces, mut changes) = (vec![0.0; rest.len()], vec![0.0; rest.len()]);
        evaluator.add_forces(0.0, &rest, &mut forces).unwrap();
        evaluator.add_force_changes(0.0, &rest, &d, &mut changes).unwrap();
        assert!(forces.iter().all(|f| f.abs() < 1e-11 * mu), "{name} has forces at rest");
        changes
    };
    let hooke = changes("linear");
    for name in [
        "corotational",
        "fixed-corotated",
        "st-venant-kirchhoff",
        "neo-hookean",
        "stable-neo-hookean",
        "stable-neo-hookean-simple",
        "mooney-rivlin",
    ] {
        close(&changes(name), &hooke, 1e-12, name);
    }
}

/// The derivative at 0 of a function of one number, by central differences of the eighth order.
fn difference(h: f64, mut f: impl FnMut(f64) -> f64) -> f64 {
    let weights = [(1.0, 4.0 / 5.0), (2.0, -1.0 / 5.0), (3.0, 4.0 / 105.0), (4.0, -1.0 / 280.0)];
    weights.iter().map(|&(k, w)| w * (f(k * h) - f(-k * h))).sum::<f64>() / h
}

#[test]
fn forces_are_what_energies_change_by_and_hessian_products_what_forces_change_by() {
    for card in FIELDS {
        let graph = Graph::new();
        let mesh = mesh_for(card.over);
        let field = card.field(&graph, &parameters_for(card, &graph, &mesh)).unwrap();
        let mut evaluator = evaluator(&field.on(&mesh, 0).unwrap(), &[]);
        let mut random = Random::new(5);
        let (q, n) = (positions(&mesh, 0.03, &mut random), 3 * mesh.nodes().len());
        let (mut forces, mut changes) = (vec![0.0; n], vec![0.0; n]);
        evaluator.add_forces(0.0, &q, &mut forces).unwrap();
        assert!(forces.iter().any(|f| *f != 0.0), "{}", card.name);
        let d: Vec<f64> = (0..n).map(|_| random.between(-1.0, 1.0)).collect();
        evaluator.add_force_changes(0.0, &q, &d, &mut changes).unwrap();
        let along = |s: f64| q.iter().zip(&d).map(|(q, d)| q + s * d).collect::<Vec<_>>();
        let h = 4e-4;
        let power: f64 = forces.iter().zip(&d).map(|(f, d)| f * d).sum();
        let found = -difference(h, |s| evaluator.energy(0.0, &along(s)).unwrap());
        let size: f64 = forces.iter().zip(&d).map(|(f, d)| (f * d).abs()).sum();
        assert!((power - found).abs() <= 1e-10 * size, "{}: {power} {found}", card.name);
        for i in [0, n / 2 + 1, n - 1] {
            let found = difference(h, |s| {
                let mut forces = vec![0.0; n];
                evaluator.add_forces(0.0, &along(s), &mut forces).unwrap();
                forces[i]
            });
            let size = changes.iter().fold(0.0f64, |m, c| m.max(c.abs())).max(1e-3);
            assert!((changes[i] - found).abs() <= 1e-10 * size, "{}: {} {found}", card.name, changes[i]);
        }
    }
}

#[test]
fn fields_have_the_symmetries_that_they_declare() {
    for card in FIELDS {
        let graph = Graph::new();
        let mesh = mesh_for(card.over);
        let field = card.field(&graph, &parameters_for(card, &graph, &mesh)).unwrap();
        let mut evaluator = evaluator(&field.on(&mesh, 0).unwrap(), &[]);
        let q = positions(&mesh, 0.03, &mut Random::new(9));
        let mut at = |q: &[f64]| {
            let mut forces = vec![0.0; q.len()];
            evaluator.add_forces(0.0, q, &mut forces).unwrap();
            (evaluator.energy(0.0, q).unwrap(), forces)
        };
        let (energy, forces) = at(&q);
        let size = forces.iter().fold(0.0f64, |m, f| m.max(f.abs()));
        let same = |(e, f): (f64, Vec<f64>), expected: &[f64]| {
            let off = f.iter().zip(expected).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
            (e - energy).abs() <= 1e-11 * energy.abs().max(size) && off <= 1e-11 * size
        };
        let moved: Vec<f64> = q.iter().zip([0.3, -0.7, 0.2].iter().cycle()).map(|(q, d)| q + d).collect();
        assert_eq!(same(at(&moved), &forces), card.invariant[0], "{} is moved", card.name);
        assert_eq!(same(at(&rotated(&q)), &rotated(&forces)), card.invariant[1], "{} is turned", card.name);
    }
}

/// Nodes inside are displaced at rest, so that no two elements are alike, and all is deformed alike: forces inside cancel.
#[test]
fn patches_of_any_material_are_in_equilibrium_inside() {
    let mut random = Random::new(3);
    let regular = Mesh::cuboid([1.0; 3], [3; 3]).unwrap();
    let inside = |at: [f64; 3]| at.iter().all(|x| (0.01..0.99).contains(x));
    let shifts: Vec<[f64; 3]> =
        regular.nodes().iter().map(|_| std::array::from_fn(|_| random.between(-0.08, 0.08))).collect();
    let rest = regular
        .nodes()
        .iter()
        .zip(&shifts)
        .map(|(at, shift)| if inside(*at) { std::array::from_fn(|i| at[i] + shift[i]) } else { *at });
    let mesh = Mesh::new(rest.collect()).unwrap().with_tetrahedra(regular.tetrahedra().to_vec()).unwrap();
    mesh.check().unwrap();
    let f = [[1.1, 0.2, -0.1], [0.05, 0.9, 0.1], [0.0, -0.15, 1.2]];
    let deformed = mesh.clone().mapped(|x| f.map(|row| row.iter().zip(x).map(|(f, x)| f * x).sum())).unwrap();
    for card in FIELDS.iter().filter(|card| card.over == Over::Tetrahedra) {
        let graph = Graph::new();
        let field = card.field(&graph, &parameters_for(card, &graph, &mesh)).unwrap();
        let mut evaluator = evaluator(&field.on(&mesh, 0).unwrap(), &[]);
        let mut forces = vec![0.0; 3 * mesh.nodes().len()];
        evaluator.add_forces(0.0, deformed.nodes().as_flattened(), &mut forces).unwrap();
        let size = forces.iter().fold(0.0f64, |m, f| m.max(f.abs()));
        for (at, force) in regular.nodes().iter().zip(forces.chunks_exact(3)) {
            assert!(!inside(*at) || force.iter().all(|f| f.abs() < 1e-13 * size), "{}: {force:?}", card.name);
        }
    }
}

#[test]
fn the_gradient_of_an_enclosed_volume() {
    let known = [
        (2.1963709427902183, 0.6340376775301025),
        (1.7024983139509193, 0.2782493688313604),
        (0.9565648852973193, 0.0798498501781199),
        (0.4929619749214774, 0.022582313917828976),
    ];
    let graph = Graph::new();
    let pressure =
        shipped("pressure").unwrap().field(&graph, &uniform(&graph, &[("pressure", 1.0)])).unwrap();
    assert!(matches!(pressure.on(&Mesh::plate([1.0; 2], [2; 2]).unwrap(), 0), Err(FieldError::NotClosed)));
    for (level, (norm, largest)) in (0..).zip(known) {
        let sphere = Mesh::sphere(1.0, level).unwrap();
        let mut evaluator = evaluator(&pressure.on(&sphere, 0).unwrap(), &[]);
        let q = sphere.nodes().as_flattened();
        let mut gradient = vec![0.0; q.len()];
        evaluator.add_forces(0.0, q, &mut gradient).unwrap();
        close(&[-evaluator.energy(0.0, q).unwrap()], &[sphere.volume()], 1e-13, "volume");
        let rows: Vec<[f64; 3]> = gradient.as_chunks::<3>().0.to_vec();
        let size = |g: &[f64]| g.iter().map(|x| x * x).sum::<f64>().sqrt();
        close(&[size(&gradient)], &[norm], 1e-12, "gradient");
        close(&[rows.iter().map(|g| size(g)).fold(0.0, f64::max)], &[largest], 1e-12, "largest");
        let virial: f64 = q.iter().zip(&gradient).map(|(x, g)| x * g).sum();
        close(&[virial], &[3.0 * sphere.volume()], 1e-13, "virial");
        for i in 0..3 {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            let sum: f64 = rows.iter().map(|g| g[i]).sum();
            let torque: f64 = rows.iter().zip(sphere.nodes()).map(|(g, x)| x[j] * g[k] - x[k] * g[j]).sum();
            assert!(sum.abs() < 1e-13 && torque.abs() < 1e-13);
        }
    }
}

/// Young and Laplace: a soap bubble is in equilibrium under p = 2γ/R, up to how well triangles are a sphere.
#[test]
fn a_bubble_under_the_pressure_of_its_tension() {
    let graph = Graph::new();
    let radius = 2.0;
    let off = |level: u32| {
        let sphere = Mesh::sphere(radius, level).unwrap();
        let mut forces = vec![0.0; 3 * sphere.nodes().len()];
        let mut pushes = forces.clone();
        let q = sphere.nodes().as_flattened();
        let tension =
            shipped("surface-tension").unwrap().field(&graph, &uniform(&graph, &[("tension", 0.3)])).unwrap();
        let pressure = shipped("pressure")
            .unwrap()
            .field(&graph, &uniform(&graph, &[("pressure", 0.6 / radius)]))
            .unwrap();
        evaluator(&pressure.on(&sphere, 0).unwrap(), &[]).add_forces(0.0, q, &mut pushes).unwrap();
        evaluator(&tension.on(&sphere, 0).unwrap(), &[]).add_forces(0.0, q, &mut forces).unwrap();
        let virial = |forces: &[f64]| q.iter().zip(forces).map(|(x, f)| x * f).sum::<f64>();
        (virial(&forces) + virial(&pushes)) / virial(&pushes)
    };
    let (coarse, fine) = (off(3).abs(), off(4).abs());
    assert!(fine < 2e-3 && (coarse / fine - 4.0).abs() < 0.1, "{coarse} {fine}");
}

#[test]
fn what_rests_on_rest_positions_alone_is_a_constant() {
    let graph = Graph::new();
    let constants = |name: &str| {
        let card = shipped(name).unwrap();
        let mesh = mesh_for(card.over);
        card.field(&graph, &parameters_for(card, &graph, &mesh))
            .unwrap()
            .on(&mesh, 0)
            .unwrap()
            .constants
            .len()
    };
    for (name, count) in [
        ("st-venant-kirchhoff", 10),
        ("springs", 1),
        ("hinges", 2),
        ("tethers", 3),
        ("gravitation", 1),
        ("lennard-jones", 0),
    ] {
        assert_eq!(constants(name), count, "{name}");
    }
}

#[test]
fn rods_bend_as_a_circle_says() {
    // Nodes on an arc: the energy is B L/(2 R²), up to the square of the angle between segments.
    let (radius, stiffness, segments) = (2.0, 3.0, 200);
    let rope = Mesh::rope([0.0; 3], [1.0, 0.0, 0.0], segments).unwrap();
    let graph = Graph::new();
    let field =
        shipped("rods").unwrap().field(&graph, &uniform(&graph, &[("stiffness", stiffness)])).unwrap();
    let mut rods = evaluator(&field.on(&rope, 0).unwrap(), &[]);
    let q: Vec<f64> = rope
        .nodes()
        .iter()
        .flat_map(|x| [radius * (x[0] / radius).sin(), radius * (1.0 - (x[0] / radius).cos()), 0.0])
        .collect();
    let bends = f64::from(segments - 1) / f64::from(segments);
    close(&[rods.energy(0.0, &q).unwrap()], &[bends * stiffness / (2.0 * radius * radius)], 1e-5, "arc");
    let bent = rope.mapped(|[x, _, _]| [x, x * x, 0.0]).unwrap();
    let error = field.on(&bent, 0).unwrap_err();
    assert_eq!(error.to_string(), "the field `rods` is not defined for the rest shape of element 0");
}

#[test]
fn fields_of_ones_own() {
    let graph = Graph::new();
    let k = graph.symbol("k");
    // Three nodes that want to be in a line, more or less strongly, the heavier the more.
    let field = Field::new(&graph, "line", Over::Bends, |e| {
        let strength = e.element_values("strength", vec![1.0, 2.0]);
        let mass = e.node_values("mass", vec![1.0, 2.0, 3.0, 4.0]);
        let middle: Vec<_> = (0..3).map(|i| e.at(1)[i] - 0.5 * (e.at(0)[i] + e.at(2)[i])).collect();
        let rest = e.rest(1)[0] - 0.5 * (e.rest(0)[0] + e.rest(2)[0]);
        k * strength * mass[1] * (middle[0].pow(2) + middle[1].pow(2) + (middle[2] - rest).pow(2))
    });
    let rope = Mesh::rope([0.0; 3], [3.0, 0.0, 0.0], 3).unwrap();
    let elements = field.on(&rope, 0).unwrap();
    let mut evaluator = evaluator(&elements, &[(k, 10.0)]);
    let mut q = rope.nodes().as_flattened().to_vec();
    q[4] = 0.5;
    let expected = 10.0 * (1.0 * 2.0 * 0.25 + 2.0 * 3.0 * 0.0625);
    close(&[evaluator.energy(0.0, &q).unwrap()], &[expected], 1e-14, "line");

    let error = field.on(&Mesh::sphere(1.0, 0).unwrap(), 0).unwrap_err();
    assert_eq!(error.to_string(), "the field `line` has an energy for bends, and the mesh has none");
    let longer = Mesh::rope([0.0; 3], [3.0, 0.0, 0.0], 4).unwrap();
    let error = field.on(&longer, 0).unwrap_err();
    assert_eq!(error.to_string(), "`mass` has 4 numbers, and the mesh has 5 nodes");
    assert!(matches!(
        field.on_elements(&[0, 1], rope.nodes(), 0),
        Err(FieldError::Partial { arity: 3, found: 2 })
    ));
    assert!(matches!(
        field.on_elements(&[0, 1, 9], rope.nodes(), 0),
        Err(FieldError::NoNode { element: 0, node: 9, .. })
    ));
}

#[test]
fn what_is_wrong_with_parameters_is_said() {
    let graph = Graph::new();
    let said = |name: &str, given: &[(&str, Value<'_>)]| {
        shipped(name).and_then(|card| card.field(&graph, given).map(drop)).unwrap_err().to_string()
    };
    let one = || Value::uniform(&graph, 1.0);
    assert!(
        said("rubber", &[]).starts_with("there is no field `rubber`: there are `gravity`, `gravitation`,")
    );
    assert_eq!(
        said("springs", &[]),
        "the field `springs` needs `stiffness`, the force for each unit of extension"
    );
    assert_eq!(
        said("springs", &[("k", one())]),
        "the field `springs` has no parameter `k`: it has `stiffness`"
    );
    assert_eq!(
        said("springs", &[("stiffness", one()), ("stiffness", one())]),
        "`stiffness` of the field `springs` is given twice"
    );
    assert_eq!(
        said("springs", &[("stiffness", Value::Nodes(vec![1.0]))]),
        "`stiffness` of the field `springs` belongs to the field, or to elements, not to nodes"
    );
    assert_eq!(
        said("neo-hookean", &[("young", one())]),
        "the field `neo-hookean` has no parameter `young`: it has `lambda`, `mu`"
    );
    let wrong = shipped("springs")
        .unwrap()
        .field(&graph, &[("stiffness", Value::Elements(vec![1.0, f64::NAN]))])
        .unwrap();
    let rope = Mesh::rope([0.0; 3], [1.0, 0.0, 0.0], 2).unwrap();
    assert_eq!(
        wrong.on(&rope, 0).unwrap_err().to_string(),
        "`stiffness` is not finite for number 1, counted from 0"
    );
    let flat = Mesh::new(vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]]).unwrap();
    let flat = flat.with_tetrahedra(vec![[0, 1, 2, 3]]).unwrap();
    let field = shipped("linear").unwrap().field(&graph, &[("mu", one()), ("lambda", one())]).unwrap();
    assert_eq!(
        field.on(&flat, 0).unwrap_err().to_string(),
        "the field `linear` is not defined for the rest shape of element 0"
    );
    assert!(matches!(lumped_masses(&rope, -1.0), Err(FieldError::Density { .. })));
    assert!(matches!(lumped_masses(&Mesh::new(vec![[0.0; 3]]).unwrap(), 1.0), Err(FieldError::NoCells)));
}

#[test]
fn an_element_that_inverts_is_named() {
    let graph = Graph::new();
    let mesh = Mesh::cuboid([1.0; 3], [2; 3]).unwrap();
    let given = uniform(&graph, &[("young", 1000.0), ("poisson", 0.3)]);
    let mut q = mesh.nodes().as_flattened().to_vec();
    // A corner is pushed through its cell.
    q[..3].copy_from_slice(&[0.9, 0.9, 0.9]);
    let inverted = mesh.tetrahedra().iter().position(|cell| cell.contains(&0)).unwrap();
    for (name, expected) in [
        ("neo-hookean", Some(inverted)),
        ("mooney-rivlin", Some(inverted)),
        ("stable-neo-hookean", None),
        ("corotational", None),
    ] {
        let card = shipped(name).unwrap();
        let field = if name == "mooney-rivlin" {
            card.field(&graph, &parameters_for(card, &graph, &mesh))
        } else {
            card.field(&graph, &given)
        };
        let mut evaluator = evaluator(&field.unwrap().on(&mesh, 0).unwrap(), &[]);
        assert_eq!(evaluator.not_finite(0.0, &q).unwrap(), expected, "{name}");
    }
}

/// Of every field, the bits of its energy, forces and Hessian products.
#[test]
fn every_backend_gives_the_same_bits() {
    let name = "fields::every_backend_gives_the_same_bits";
    let mut bits = 0u64;
    let mut mix = |elements: &Elements<'_>, q: &[f64], d: &[f64]| {
        let mut evaluator = evaluator(elements, &[]);
        let mut found = vec![evaluator.energy(0.0, q).unwrap()];
        found.resize(1 + 2 * q.len(), 0.0);
        let (forces, changes) = found[1..].split_at_mut(q.len());
        evaluator.add_forces(0.0, q, forces).unwrap();
        evaluator.add_force_changes(0.0, q, d, changes).unwrap();
        found.iter().for_each(|x| bits = Random::mix(bits ^ x.to_bits()));
    };
    for card in FIELDS {
        let graph = Graph::new();
        let mesh = mesh_for(card.over);
        let field = card.field(&graph, &parameters_for(card, &graph, &mesh)).unwrap();
        let mut random = Random::new(2);
        let (q, d) = (positions(&mesh, 0.05, &mut random), positions(&mesh, 1.0, &mut random));
        mix(&field.on(&mesh, 0).unwrap(), &q, &d);
    }
    println!("bits {bits}.");
    let variable = leastaction_compile::BACKEND_VARIABLE;
    if std::env::var_os(variable).is_some() {
        return; // this is one of the others
    }
    for backend in leastaction_compile::Backend::ALL.into_iter().filter(|backend| backend.is_available()) {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        let output = command
            .args(["--exact", name, "--nocapture"])
            .env(variable, backend.to_string())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains(&format!("bits {bits}.")), "{backend} gives other bits:\n{text}");
    }
}
