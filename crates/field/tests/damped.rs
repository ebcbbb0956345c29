//! Dissipation fields: what they resist, and what not.

use crate::common::*;
use leastaction_expr::Graph;
use leastaction_field::{Field, Mesh, Nodes, Over, Value, lumped_masses, shipped};
use leastaction_mechanics::{Dynamics, Model};
use leastaction_testing::Random;

type Make = for<'g> fn(&'g Graph) -> Field<'g>;

/// A body with a dissipation field alone.
fn damped(mesh: &Mesh, field: impl for<'g> Fn(&'g Graph) -> Field<'g>) -> Dynamics {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let nodes = Nodes::new(&mut model, "body", mesh, &vec![1.0; mesh.nodes().len()]).unwrap();
    nodes.damp(&mut model, &field(&graph)).unwrap();
    model.system().unwrap().dynamics().unwrap()
}

/// The forces at places and velocities, of nodes of mass 1, and the power.
fn forces(dynamics: &mut Dynamics, x: &[f64], v: &[f64]) -> (Vec<f64>, f64) {
    let y = [x, v].concat();
    let (mut rates, mut power) = (vec![0.0; y.len()], [0.0]);
    dynamics.rates(&[0.0], &y, &mut rates).unwrap();
    dynamics.dissipated_power(&[0.0], &y, &mut power).unwrap();
    (rates.split_off(x.len()), power[0])
}

/// The velocities of a rigid motion.
fn rigid(x: &[f64]) -> Vec<f64> {
    let (turn, speed) = ([0.3, -0.7, 0.5], [0.2, 0.1, -0.4]);
    let at = |x: &[f64; 3], i: usize| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        speed[i] + turn[j] * x[k] - turn[k] * x[j]
    };
    x.as_chunks::<3>().0.iter().flat_map(|x| [0, 1, 2].map(|i| at(x, i))).collect()
}

#[test]
fn dampers_and_viscosity_resist_strain_and_no_rigid_motion() {
    let mut random = Random::new(11);
    let cases: [(Over, Make); 2] = [
        (Over::Edges, |graph| Field::dampers(graph, 0.8)),
        (Over::Tetrahedra, |graph| Field::viscosity(graph, 0.8, 0.3)),
    ];
    for (over, field) in cases {
        let mesh = mesh_for(over);
        let mut dynamics = damped(&mesh, field);
        let x = positions(&mesh, 0.05, &mut random);
        let (held, none) = forces(&mut dynamics, &x, &rigid(&x));
        assert!(held.iter().all(|f| f.abs() < 1e-13) && none.abs() < 1e-26, "{over:?}");
        let v: Vec<f64> = x.iter().map(|_| random.between(-1.0, 1.0)).collect();
        let (force, power) = forces(&mut dynamics, &x, &v);
        // What is taken is what forces take, and momenta stay.
        let taken: f64 = -force.iter().zip(&v).map(|(f, v)| f * v).sum::<f64>();
        assert!(power > 0.0 && (taken - power).abs() < 1e-12 * power, "{taken} {power}");
        for axis in 0..3 {
            let sum: f64 = force.iter().skip(axis).step_by(3).sum();
            assert!(sum.abs() < 1e-12);
        }
    }
}

/// A tetrahedron that is stretched at a rate: Ė is known.
#[test]
fn viscosity_is_that_of_the_strain_rate() {
    let mesh = Mesh::cuboid([1.0, 1.0, 2.0], [2, 2, 2]).unwrap();
    let mut dynamics = damped(&mesh, |graph| Field::viscosity(graph, 0.8, 0.3));
    // x = diag(2, 1, 1) X, ẋ = (0.5 X, 0.2 X, 0): FᵀḞ has 2·0.5 at 00 and 0.2 at 10.
    let x: Vec<f64> = mesh.nodes().iter().flat_map(|x| [2.0 * x[0], x[1], x[2]]).collect();
    let v: Vec<f64> = mesh.nodes().iter().flat_map(|x| [0.5 * x[0], 0.2 * x[0], 0.0]).collect();
    let (_, power) = forces(&mut dynamics, &x, &v);
    let function = 2.0 * (0.8 * (1.0 + 2.0 * 0.01) + 0.15);
    assert!((power - 2.0 * function).abs() < 1e-12, "{power}");
}

/// The stiffness at rest times velocities, and masses times velocities.
#[test]
fn rayleighs_damping_is_by_stiffness_and_masses() {
    let mesh = mesh_for(Over::Tetrahedra);
    let graph = Graph::new();
    let elastic = shipped("neo-hookean")
        .unwrap()
        .field(&graph, &uniform(&graph, &[("young", 50.0), ("poisson", 0.3)]))
        .unwrap();
    let mut dynamics = damped(&mesh, |graph| {
        let given = uniform(graph, &[("young", 50.0), ("poisson", 0.3)]);
        shipped("neo-hookean").unwrap().field(graph, &given).unwrap().rest_damping(0.02).unwrap()
    });
    let mut random = Random::new(5);
    let x = positions(&mesh, 0.1, &mut random);
    let v: Vec<f64> = x.iter().map(|_| random.between(-1.0, 1.0)).collect();
    let (force, _) = forces(&mut dynamics, &x, &v);
    let mut expected = vec![0.0; x.len()];
    let rest = mesh.nodes().as_flattened();
    let elements = elastic.on(&mesh, 0).unwrap();
    evaluator(&elements, &[]).add_force_changes(0.0, rest, &v, &mut expected).unwrap();
    for (f, e) in force.iter().zip(&expected) {
        assert!((f - 0.02 * e).abs() < 1e-11, "{f} {e}");
    }
    let corotational = shipped("corotational").unwrap();
    let given = [("young", Value::uniform(&graph, 50.0)), ("poisson", Value::uniform(&graph, 0.3))];
    let refused = corotational.field(&graph, &given).unwrap().rest_damping(0.02).unwrap_err();
    assert!(refused.to_string().contains("cannot damp by its stiffness at rest"), "{refused}");

    let mut model = Model::new(&graph);
    let masses = lumped_masses(&mesh, 2.0).unwrap();
    let nodes = Nodes::new(&mut model, "body", &mesh, &masses).unwrap();
    nodes.damp_masses(&mut model, "air", 0.7);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    assert!(dynamics.system().facts().linear_damping);
    let (force, _) = forces(&mut dynamics, &x, &v);
    for (f, p) in force.iter().zip(&v) {
        assert!((f + 0.7 * p).abs() < 1e-14);
    }
}
