//! Bodies of meshes for tests.

use leastaction_expr::Graph;
use leastaction_field::{Mesh, Nodes, Value, lumped_masses, shipped};
use leastaction_mechanics::{Dynamics, Model};

/// A body of one material, some of whose coordinates are held where they are at rest, under gravity and forces on nodes.
pub(crate) struct Body<'a> {
    pub(crate) mesh: &'a Mesh,
    pub(crate) material: &'a str,
    pub(crate) young: f64,
    pub(crate) poisson: f64,
    pub(crate) gravity: [f64; 3],
    pub(crate) held: &'a dyn Fn([f64; 3]) -> [bool; 3],
    /// Forces on nodes that do not change, by node.
    pub(crate) loads: Vec<(usize, [f64; 3])>,
}

impl Body<'_> {
    /// The dynamics with density 1, and the coordinates at rest.
    pub(crate) fn dynamics(&self) -> (Dynamics, Vec<f64>) {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let masses = lumped_masses(self.mesh, 1.0).unwrap();
        let nodes = Nodes::new(&mut model, "body", self.mesh, &masses).unwrap();
        let given = [
            ("young", Value::uniform(&graph, self.young)),
            ("poisson", Value::uniform(&graph, self.poisson)),
        ];
        nodes.add(&mut model, &shipped(self.material).unwrap().field(&graph, &given).unwrap()).unwrap();
        if self.gravity != [0.0; 3] {
            model.gravity(self.gravity);
        }
        let mut holds = Vec::new();
        for (node, &place) in self.mesh.nodes().iter().enumerate() {
            let held = (self.held)(place);
            holds.extend((0..3).filter(|&axis| held[axis]).map(|axis| (nodes.at(node)[axis], place[axis])));
        }
        if !holds.is_empty() {
            model.hold("clamp", holds);
        }
        let loads =
            self.loads.iter().flat_map(|&(node, force)| (0..3).map(move |axis| (node, axis, force[axis])));
        let work: Vec<_> = loads.map(|(node, axis, force)| -force * nodes.at(node)[axis]).collect();
        if !work.is_empty() {
            model.potential("load", graph.sum(work));
        }
        let dynamics = model.system().unwrap().dynamics().unwrap();
        let mut q = vec![0.0; dynamics.system().degrees()];
        nodes.place(dynamics.system(), self.mesh.nodes(), &mut q);
        (dynamics, q)
    }
}

/// Where a node is, of which some coordinates may be held at their rest.
pub(crate) fn place(dynamics: &Dynamics, mesh: &Mesh, q: &[f64], node: usize) -> [f64; 3] {
    std::array::from_fn(|axis| {
        dynamics.system().place_of(3 * node + axis).map_or(mesh.nodes()[node][axis], |place| q[place])
    })
}

/// By how much it has moved.
pub(crate) fn displacement(dynamics: &Dynamics, mesh: &Mesh, q: &[f64], node: usize) -> [f64; 3] {
    let (now, then) = (place(dynamics, mesh, q, node), mesh.nodes()[node]);
    std::array::from_fn(|axis| now[axis] - then[axis])
}

/// A third of the area of each surface triangle whose nodes all satisfy a condition, to each of its nodes.
pub(crate) fn shares_of_area(mesh: &Mesh, on: impl Fn([f64; 3]) -> bool) -> Vec<(usize, f64)> {
    let mut shares = vec![0.0; mesh.nodes().len()];
    for triangle in mesh.surface() {
        let [a, b, c] = triangle.map(|node| mesh.nodes()[node as usize]);
        if on(a) && on(b) && on(c) {
            let area = area_vector(a, b, c).iter().map(|x| x * x).sum::<f64>().sqrt();
            triangle.iter().for_each(|&node| shares[node as usize] += area / 3.0);
        }
    }
    shares.into_iter().enumerate().filter(|(_, share)| *share > 0.0).collect()
}

/// Half the cross product of two sides.
pub(crate) fn area_vector(a: [f64; 3], b: [f64; 3], c: [f64; 3]) -> [f64; 3] {
    let [u, v] = [b, c].map(|x| [0, 1, 2].map(|i| x[i] - a[i]));
    [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]].map(|x| 0.5 * x)
}

/// The order of convergence that two errors show, of meshes of which the second is twice as fine.
pub(crate) fn order(coarse: f64, fine: f64) -> f64 {
    (coarse.abs() / fine.abs()).log2()
}

#[track_caller]
pub(crate) fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance * expected.abs().max(1e-3), "{found} for {expected}");
}
