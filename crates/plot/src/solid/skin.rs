//! What is seen of a mesh: its surface, its segments, and nodes that belong to nothing.

use crate::moment::Moment;
use leastaction_language::{MeshPart, Tint};

/// What is seen of a mesh.
#[derive(Clone, Debug)]
pub(crate) struct Skin {
    name: String,
    /// Where the position of its first node stands among those of all places.
    first: usize,
    nodes: usize,
    /// Where the velocities of its nodes stand, if they have some of their own.
    rates: Vec<[Option<u32>; 3]>,
    pub(super) faces: Vec<[u32; 3]>,
    /// The faces at node i are those from `starts[i]` to `starts[i + 1]` of this list.
    around: Vec<u32>,
    starts: Vec<u32>,
    /// Whether one sees the back of a face.
    pub(super) open: bool,
    pub(super) segments: Vec<[u32; 2]>,
    pub(super) loose: Vec<u32>,
    /// The radius of the balls that loose nodes are.
    pub(super) radius: f64,
    /// The mean length of the sides of faces at rest.
    pub(super) side: f64,
    pub(crate) tint: Tint,
    /// Which of the energies it is coloured by, if by any.
    density: Option<usize>,
    /// What turns products of edges into Green's strain, for each face and then each segment; only where that is shown.
    rest: Vec<Rest>,
}

/// Edges at rest, as the inverse of the triangle R with u = R₁₁ e₁ and v = R₁₂ e₁ + R₂₂ e₂ for orthonormal e; of a segment 1 / R₁₁ alone.
#[derive(Clone, Copy, Debug)]
struct Rest([f64; 3]);

fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| a[i] - b[i])
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    let c = minus(a, b);
    dot(c, c).sqrt()
}

impl Rest {
    fn new(u: [f64; 3], v: Option<[f64; 3]>) -> Rest {
        let long = dot(u, u).sqrt();
        let Some(v) = v else { return Rest([1.0 / long, 0.0, 0.0]) };
        let along = dot(u, v) / long;
        let aside = (dot(v, v) - along * along).max(0.0).sqrt();
        Rest([1.0 / long, -along / (long * aside), 1.0 / aside])
    }

    /// The norm of ½ (FᵀF − 1).
    fn strain(self, u: [f64; 3], v: Option<[f64; 3]>) -> f64 {
        let [a, b, c] = self.0;
        let xx = a * a * dot(u, u);
        let Some(v) = v else { return (xx - 1.0).abs() / 2.0 };
        let (uv, vv) = (dot(u, v), dot(v, v));
        let xy = a * (b * dot(u, u) + c * uv);
        let yy = b * (b * dot(u, u) + c * uv) + c * (b * uv + c * vv);
        ((xx - 1.0).powi(2) + 2.0 * xy * xy + (yy - 1.0).powi(2)).sqrt() / 2.0
    }
}

impl Skin {
    /// What is seen of a mesh, whose positions begin here among those of all places, and whose energy, if it is coloured by one, has this number.
    pub(crate) fn new(part: &MeshPart, first: usize, density: usize) -> Skin {
        let mesh = &*part.mesh;
        let (faces, segments) = (mesh.surface(), mesh.segments().to_vec());
        let nodes = mesh.nodes().len();
        let mut starts = vec![0; nodes + 1];
        faces.as_flattened().iter().for_each(|&node| starts[node as usize + 1] += 1);
        (0..nodes).for_each(|i| starts[i + 1] += starts[i]);
        let (mut next, mut around) = (starts.clone(), vec![0; 3 * faces.len()]);
        for (face, number) in faces.iter().zip(0..) {
            for &node in face {
                around[next[node as usize] as usize] = number;
                next[node as usize] += 1;
            }
        }
        let mut used = vec![false; nodes];
        let cells = mesh.tetrahedra().as_flattened().iter().chain(faces.as_flattened());
        cells.chain(segments.as_flattened()).for_each(|&node| used[node as usize] = true);
        let loose: Vec<u32> = (0..nodes as u32).filter(|&node| !used[node as usize]).collect();
        let at = |node: u32| mesh.nodes()[node as usize];
        let sides = faces.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
        let sum: f64 = sides.map(|[a, b]| distance(at(a), at(b))).sum();
        let face = |&[a, b, c]: &[u32; 3]| Rest::new(minus(at(b), at(a)), Some(minus(at(c), at(a))));
        let segment = |&[a, b]: &[u32; 2]| Rest::new(minus(at(b), at(a)), None);
        let rest = match part.tint {
            Tint::Strain => faces.iter().map(face).chain(segments.iter().map(segment)).collect(),
            Tint::Plain | Tint::Speed | Tint::Energy(_) => Vec::new(),
        };
        Skin {
            name: part.name.clone(),
            first,
            nodes,
            rates: Vec::new(),
            open: mesh.tetrahedra().is_empty() && !mesh.is_closed(),
            radius: 0.5 * spacing(&loose.iter().map(|&node| at(node)).collect::<Vec<_>>()),
            side: sum / (3 * faces.len()).max(1) as f64,
            tint: part.tint.clone(),
            density: part.density.as_ref().map(|_| density),
            faces,
            around,
            starts,
            segments,
            loose,
            rest,
        }
    }

    /// The faces at a node.
    pub(super) fn around(&self, node: u32) -> &[u32] {
        let [from, to] = [0, 1].map(|i| self.starts[node as usize + i] as usize);
        &self.around[from..to]
    }

    /// Finds the velocities of the nodes among those of all coordinates, by their names. Nodes that are held have none.
    pub(crate) fn find_rates(&mut self, position: impl Fn(&str) -> Option<usize>) {
        let rate = |node, axis| position(&format!("{}[{node}].{axis}'", self.name)).map(|place| place as u32);
        self.rates = match &self.tint {
            Tint::Speed => (0..self.nodes).map(|node| ["x", "y", "z"].map(|axis| rate(node, axis))).collect(),
            Tint::Plain | Tint::Strain | Tint::Energy(_) => Vec::new(),
        };
    }

    /// Where the nodes are.
    pub(crate) fn positions<'a>(&self, moment: &Moment<'a>) -> &'a [[f64; 3]] {
        moment.places.get(self.first..self.first + 3 * self.nodes).map_or(&[], |values| values.as_chunks().0)
    }

    /// The quantity that colours stand for, at each node.
    pub(crate) fn values(&self, moment: &Moment<'_>) -> Vec<f64> {
        match &self.tint {
            Tint::Plain => Vec::new(),
            Tint::Speed => {
                let rate = |place: Option<u32>| {
                    place.map_or(0.0, |place| {
                        moment.velocities.get(place as usize).copied().unwrap_or(f64::NAN)
                    })
                };
                let velocities = self.rates.iter().map(|places| places.map(rate));
                velocities.map(|v| dot(v, v).sqrt()).collect()
            }
            Tint::Strain => self.strains(self.positions(moment)),
            Tint::Energy(_) => {
                let values = self.density.and_then(|place| moment.densities.get(place));
                values.cloned().unwrap_or_else(|| vec![f64::NAN; self.nodes])
            }
        }
    }

    fn strains(&self, positions: &[[f64; 3]]) -> Vec<f64> {
        if positions.is_empty() {
            return Vec::new();
        }
        let at = |node: u32| positions[node as usize];
        let mut sums = vec![(0.0, 0.0); self.nodes];
        let mut add = |nodes: &[u32], strain: f64| {
            for &node in nodes {
                let (sum, count) = &mut sums[node as usize];
                *sum += strain;
                *count += 1.0;
            }
        };
        let (faces, segments) = self.rest.split_at(self.faces.len());
        for (nodes, rest) in self.faces.iter().zip(faces) {
            let [a, b, c] = nodes.map(at);
            add(nodes, rest.strain(minus(b, a), Some(minus(c, a))));
        }
        for (nodes, rest) in self.segments.iter().zip(segments) {
            let [a, b] = nodes.map(at);
            add(nodes, rest.strain(minus(b, a), None));
        }
        sums.into_iter().map(|(sum, count)| if count > 0.0 { sum / count } else { 0.0 }).collect()
    }
}

/// How far points are from their nearest neighbours: the median.
fn spacing(points: &[[f64; 3]]) -> f64 {
    // As many points as are looked at all against all without notice.
    const LOOKS: usize = 400;
    let stride = points.len().div_ceil(LOOKS).max(1);
    let mut nearest: Vec<f64> = points
        .iter()
        .enumerate()
        .step_by(stride)
        .map(|(i, a)| {
            let others = points.iter().enumerate().filter(|(j, _)| *j != i);
            others.map(|(_, b)| distance(*a, *b)).fold(f64::INFINITY, f64::min)
        })
        .filter(|distance| distance.is_finite())
        .collect();
    nearest.sort_unstable_by(f64::total_cmp);
    nearest.get(nearest.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::{Moment, Skin, spacing};
    use leastaction_field::Mesh;
    use leastaction_language::{MeshPart, Tint};

    fn skin(mesh: &Mesh, tint: Tint) -> Skin {
        Skin::new(
            &MeshPart { name: "m".into(), mesh: mesh.clone().into(), first: 1, tint, density: None },
            1,
            0,
        )
    }

    #[test]
    fn strain_is_that_of_the_deformation_and_none_of_a_turn() {
        let plate = Mesh::new(vec![[0.0; 3], [2.0, 0.0, 0.0], [0.3, 1.0, 0.0], [2.0, 1.0, 0.0]])
            .and_then(|mesh| mesh.with_triangles(vec![[0, 1, 2], [1, 3, 2]]))
            .and_then(|mesh| mesh.with_segments(vec![[0, 1]]))
            .expect("a plate");
        let skin = skin(&plate, Tint::Strain);
        let strained = |map: fn([f64; 3]) -> [f64; 3]| {
            let mut coordinates = vec![9.0];
            plate.nodes().iter().for_each(|at| coordinates.extend(map(*at)));
            skin.values(&Moment { places: &coordinates, ..Moment::default() })
        };
        let (s, c) = 0.7_f64.sin_cos();
        assert!(s.hypot(c) - 1.0 < 1e-15);
        let turned = strained(|[x, y, z]| {
            let (s, c) = 0.7_f64.sin_cos();
            [c * x - s * z, y + 3.0, s * x + c * z]
        });
        assert!(turned.iter().all(|strain| *strain < 1e-14), "{turned:?}");
        // Stretched by 1.2 along x: E = (1.44 − 1) / 2, of the rope too. Sheared by 0.4: E₁₂ = 0.2 and E₂₂ = 0.08.
        let stretched = strained(|[x, y, z]| [1.2 * x, y, z]);
        assert!(stretched.iter().all(|strain| (strain - 0.22).abs() < 1e-14), "{stretched:?}");
        let sheared = strained(|[x, y, z]| [x + 0.4 * y, y, z]);
        let expected = (2.0 * 0.2_f64.powi(2) + 0.08_f64.powi(2)).sqrt();
        assert!((sheared[3] - expected).abs() < 1e-14, "{sheared:?} {expected}");
    }

    #[test]
    fn speeds_are_those_of_the_nodes() {
        let rope = Mesh::rope([0.0; 3], [1.0, 0.0, 0.0], 2).expect("a rope");
        let mut skin = skin(&rope, Tint::Speed);
        let moment = Moment { places: &[0.0; 10], velocities: &[7.0, 3.0, 4.0, 2.0], ..Moment::default() };
        assert!(skin.values(&moment).is_empty() && skin.loose.is_empty());
        // The last node is held, and so is the y of the one in the middle.
        let names = ["th'", "m[0].x'", "m[0].z'", "m[1].z'"];
        skin.find_rates(|name| names.iter().position(|known| *known == name));
        assert_eq!(skin.values(&moment), [5.0, 2.0, 0.0]);
    }

    #[test]
    fn nodes_without_cells_are_as_large_as_their_distance_allows() {
        let points: Vec<[f64; 3]> =
            (0..1000).map(|i| [f64::from(i % 10), f64::from(i / 10 % 10), f64::from(i / 100)]).collect();
        assert_eq!(spacing(&points), 1.0);
        assert_eq!((spacing(&[]), spacing(&points[..1])), (0.0, 0.0));
        let skin = skin(&Mesh::new(points).expect("atoms"), Tint::Plain);
        assert_eq!((skin.loose.len(), skin.radius), (1000, 0.5));
    }

    #[test]
    fn a_block_is_closed_and_a_cloth_is_open() {
        let block = skin(&Mesh::cuboid([1.0; 3], [2; 3]).expect("a block"), Tint::Plain);
        assert!(!block.open && block.faces.len() == 48 && block.loose.is_empty());
        let every = (0..27).map(|node| block.around(node).len()).sum::<usize>();
        assert_eq!(every, 3 * 48);
    }
}
