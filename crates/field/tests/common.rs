//! What several tests of fields share.

use leastaction_expr::{Expr, Graph};
use leastaction_field::{Card, Lattice, Mesh, Over, Per, Value};
use leastaction_mechanics::{ElementHessians, Elements, ElementsEvaluator};
use leastaction_testing::Random;

pub(crate) fn evaluator<'g>(elements: &Elements<'g>, parameters: &[(Expr<'g>, f64)]) -> ElementsEvaluator {
    let time = elements.energy.graph().symbol("t");
    ElementsEvaluator::new(elements, time, parameters).unwrap()
}

pub(crate) fn hessians<'g>(elements: &Elements<'g>, parameters: &[(Expr<'g>, f64)]) -> ElementHessians {
    let time = elements.energy.graph().symbol("t");
    ElementHessians::new(elements, time, parameters).unwrap()
}

/// Numbers as parameters.
pub(crate) fn uniform<'g>(graph: &'g Graph, list: &[(&'static str, f64)]) -> Vec<(&'static str, Value<'g>)> {
    list.iter().map(|&(name, value)| (name, Value::uniform(graph, value))).collect()
}

/// A small mesh that has elements of a kind.
pub(crate) fn mesh_for(over: Over) -> Mesh {
    match over {
        Over::Nodes | Over::Pairs => Mesh::lattice(Lattice::BodyCentred, 1.3, [2, 2, 2]).unwrap(),
        Over::Edges | Over::Bends => Mesh::rope([0.1, 0.2, 0.3], [1.0, -2.0, 0.5], 6).unwrap(),
        Over::Triangles | Over::Hinges | Over::Surface | Over::ClosedSurface => Mesh::sphere(1.0, 1).unwrap(),
        Over::Tetrahedra => Mesh::ball(1.0, 1).unwrap(),
    }
}

/// Something for every parameter.
pub(crate) fn parameters_for<'g>(
    card: &Card,
    graph: &'g Graph,
    mesh: &Mesh,
) -> Vec<(&'static str, Value<'g>)> {
    let value = |name: &str| match name {
        "softening" | "thickness" => 0.1,
        "cutoff" => 1.9,
        "sigma" => 0.9,
        "a" | "r0" => 1.2,
        _ => 1.7,
    };
    let of = |name: &'static str, per: Per| match per {
        Per::Field => (name, Value::uniform(graph, value(name))),
        Per::Node => (name, Value::Nodes((0..mesh.nodes().len()).map(|i| 1.0 + 0.1 * i as f64).collect())),
    };
    card.parameters.iter().map(|parameter| of(parameter.name, parameter.per)).collect()
}

/// The places of the nodes at rest, moved at random by so much.
pub(crate) fn positions(mesh: &Mesh, by: f64, random: &mut Random) -> Vec<f64> {
    mesh.nodes().as_flattened().iter().map(|x| x + random.between(-by, by)).collect()
}

/// Vectors turned about a skew axis.
pub(crate) fn rotated(vectors: &[f64]) -> Vec<f64> {
    // The rotation of the quaternion (1, 2, 3, 4)/√30.
    let matrix =
        [[-20.0, 4.0, 22.0], [20.0, -10.0, 20.0], [10.0, 28.0, 4.0]].map(|row| row.map(|x: f64| x / 30.0));
    vectors
        .chunks_exact(3)
        .flat_map(|v| matrix.map(|row| row[0] * v[0] + row[1] * v[1] + row[2] * v[2]))
        .collect()
}
