//! Spheres of triangles: an icosahedron, refined again and again.

use super::{ShapeError, bounded, positive};
use crate::geometry::{cross, dot, length, minus};
use crate::mesh::{Mesh, Vector};
use crate::topology::sorted;
use rustc_hash::FxHashMap;

/// More levels than any machine has memory for.
const MOST_LEVELS: u32 = 16;

/// The corners of an icosahedron of circumradius 1 and its faces, counterclockwise from outside.
pub(super) fn icosahedron() -> (Vec<Vector>, Vec<[u32; 3]>) {
    let golden = (1.0 + 5f64.sqrt()) / 2.0;
    let mut nodes = Vec::with_capacity(12);
    for turn in 0..3 {
        for (a, b) in [(1.0, golden), (1.0, -golden), (-1.0, golden), (-1.0, -golden)] {
            let mut node = [0.0; 3];
            (node[(turn + 1) % 3], node[(turn + 2) % 3]) = (a, b);
            nodes.push(node);
        }
    }
    // Corners have a face between them if they are neighbours of each other: at the distance 2.
    let near = |a: usize, b: usize| (length(minus(nodes[a], nodes[b])) - 2.0).abs() < 1e-9;
    let mut faces = Vec::with_capacity(20);
    for a in 0..nodes.len() {
        for b in a + 1..nodes.len() {
            for c in b + 1..nodes.len() {
                if near(a, b) && near(b, c) && near(c, a) {
                    let outward = dot(nodes[a], cross(nodes[b], nodes[c])) > 0.0;
                    let face = if outward { [a, b, c] } else { [a, c, b] };
                    faces.push(face.map(|node| node as u32));
                }
            }
        }
    }
    let radius = length(nodes[0]);
    nodes.iter_mut().for_each(|node| *node = node.map(|x| x / radius));
    (nodes, faces)
}

/// The nodes in the middle of edges, each made once.
pub(super) struct Middles<'a> {
    pub(super) nodes: &'a mut Vec<Vector>,
    known: FxHashMap<[u32; 2], u32>,
}

impl<'a> Middles<'a> {
    pub(super) fn new(nodes: &'a mut Vec<Vector>) -> Middles<'a> {
        Middles { nodes, known: FxHashMap::default() }
    }

    /// The node in the middle of an edge, moved out or in to the mean of the radii of its ends.
    pub(super) fn between(&mut self, a: u32, b: u32) -> u32 {
        let nodes = &mut *self.nodes;
        *self.known.entry(sorted([a, b])).or_insert_with(|| {
            let [a, b] = [a, b].map(|node| nodes[node as usize]);
            let middle: Vector = std::array::from_fn(|i| (a[i] + b[i]) / 2.0);
            let scale = (length(a) + length(b)) / 2.0 / length(middle);
            nodes.push(middle.map(|x| x * scale));
            (nodes.len() - 1) as u32
        })
    }
}

/// Checks a radius, and how many cells a level has.
pub(super) fn check(shape: &'static str, radius: f64, level: u32, split: u32) -> Result<(), ShapeError> {
    positive(shape, "radius", radius)?;
    bounded(shape, "faces", &vec![split; level.min(MOST_LEVELS) as usize], 20)
}

impl Mesh {
    /// A sphere round the origin: an icosahedron whose faces are cut into four so many times, with the new nodes pushed out to the radius.
    /// It has 20·4ˡ triangles.
    ///
    /// ```
    /// let ball = leastaction_field::Mesh::sphere(1.0, 3)?;
    /// assert!(ball.is_closed() && (ball.volume() - 4.1527408170931).abs() < 1e-12);
    /// # Ok::<(), leastaction_field::ShapeError>(())
    /// ```
    ///
    /// # Errors
    /// [`ShapeError`] if the radius is not positive, or the level too fine.
    pub fn sphere(radius: f64, level: u32) -> Result<Mesh, ShapeError> {
        check("sphere", radius, level, 4)?;
        let (mut nodes, mut faces) = icosahedron();
        for _ in 0..level {
            let mut middles = Middles::new(&mut nodes);
            faces = faces
                .iter()
                .flat_map(|&[a, b, c]| {
                    let [ab, bc, ca] = [(a, b), (b, c), (c, a)].map(|(a, b)| middles.between(a, b));
                    [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
                })
                .collect();
        }
        nodes.iter_mut().for_each(|node| *node = node.map(|x| x * radius));
        Ok(Mesh::new(nodes)?.with_triangles(faces)?)
    }
}
