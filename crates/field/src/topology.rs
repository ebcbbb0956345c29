//! What touches what: edges, surfaces, hinges, parts.

use crate::mesh::{CellKind, Mesh};
use rustc_hash::{FxHashMap, FxHashSet};

/// The faces of a tetrahedron, seen from outside counterclockwise; each is opposite to the node of its number.
pub(crate) const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// Nodes in ascending order: the same cell by whatever order its nodes are in.
pub(crate) fn sorted<const N: usize>(mut nodes: [u32; N]) -> [u32; N] {
    nodes.sort_unstable();
    nodes
}

/// The edges of a triangle, in its sense, each with the node opposite to it.
pub(crate) fn sides([a, b, c]: [u32; 3]) -> [([u32; 2], u32); 3] {
    [([a, b], c), ([b, c], a), ([c, a], b)]
}

/// Whether every edge belongs to two triangles, in opposite senses.
pub(crate) fn is_closed(triangles: &[[u32; 3]]) -> bool {
    let mut open: FxHashSet<[u32; 2]> = FxHashSet::default();
    for ([a, b], _) in triangles.iter().flat_map(|&triangle| sides(triangle)) {
        if !open.remove(&[b, a]) && !open.insert([a, b]) {
            return false; // twice in one sense
        }
    }
    !triangles.is_empty() && open.is_empty()
}

impl Mesh {
    /// Every edge of a cell once, the smaller node first, in the order in which segments, triangles and tetrahedra have them.
    #[must_use]
    pub fn edges(&self) -> Vec<[u32; 2]> {
        let mut known = FxHashSet::default();
        let mut edges = Vec::new();
        let mut add = |cell: &[u32]| {
            for (i, &a) in cell.iter().enumerate() {
                for &b in &cell[i + 1..] {
                    let edge = sorted([a, b]);
                    if known.insert(edge) {
                        edges.push(edge);
                    }
                }
            }
        };
        self.segments().iter().for_each(|cell| add(cell));
        self.triangles().iter().for_each(|cell| add(cell));
        self.tetrahedra().iter().for_each(|cell| add(cell));
        edges
    }

    /// The surface: the faces that belong to one tetrahedron only, counterclockwise from outside, or, without tetrahedra, the triangles.
    #[must_use]
    pub fn surface(&self) -> Vec<[u32; 3]> {
        if self.tetrahedra().is_empty() { self.triangles().to_vec() } else { self.outer_faces().0 }
    }

    /// The faces that belong to one tetrahedron only, and that tetrahedron.
    pub(crate) fn outer_faces(&self) -> (Vec<[u32; 3]>, Vec<usize>) {
        let faces = || {
            let each = |(nodes, cell): (&[u32; 4], usize)| {
                let nodes = *nodes;
                FACES.map(|face| (face.map(|i| nodes[i]), cell))
            };
            self.tetrahedra().iter().zip(0..).flat_map(each)
        };
        let mut counts: FxHashMap<[u32; 3], u32> = FxHashMap::default();
        faces().for_each(|(face, _)| *counts.entry(sorted(face)).or_default() += 1);
        faces().filter(|(face, _)| counts[&sorted(*face)] == 1).unzip()
    }

    /// The pairs of triangles with a common edge: the nodes a, b of the edge, the node c of the triangle (a, b, c), and the node d of
    /// the triangle (b, a, d). Triangles are turned alike, as [`Mesh::check`] makes sure.
    #[must_use]
    pub fn hinges(&self) -> Vec<[u32; 4]> {
        let mut waiting: FxHashMap<[u32; 2], u32> = FxHashMap::default();
        let mut hinges = Vec::new();
        for ([a, b], opposite) in self.triangles().iter().flat_map(|&triangle| sides(triangle)) {
            match waiting.remove(&[b, a]) {
                // The first triangle has the edge as (b, a).
                Some(first) => hinges.push([b, a, first, opposite]),
                None => {
                    waiting.insert([a, b], opposite);
                }
            }
        }
        hinges
    }

    /// The edges that belong to one triangle only, in its sense.
    #[must_use]
    pub fn rim(&self) -> Vec<[u32; 2]> {
        let sides = || self.triangles().iter().flat_map(|&triangle| sides(triangle));
        let mut counts: FxHashMap<[u32; 2], u32> = FxHashMap::default();
        sides().for_each(|(edge, _)| *counts.entry(sorted(edge)).or_default() += 1);
        sides().map(|(edge, _)| edge).filter(|edge| counts[&sorted(*edge)] == 1).collect()
    }

    /// Whether the triangles enclose something: every edge belongs to two of them, in opposite senses.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        is_closed(self.triangles())
    }

    /// The chains of two segments that meet at a node where no third one does: the nodes (before, between, after), for bending of rods.
    #[must_use]
    pub fn bends(&self) -> Vec<[u32; 3]> {
        let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); self.nodes().len()];
        for &[a, b] in self.segments() {
            neighbours[a as usize].push(b);
            neighbours[b as usize].push(a);
        }
        let bend = |(neighbours, node): (&Vec<u32>, u32)| match neighbours[..] {
            [before, after] => Some([before, node, after]),
            _ => None,
        };
        neighbours.iter().zip(0..).filter_map(bend).collect()
    }

    /// Every pair of nodes once, the smaller first.
    #[must_use]
    pub fn pairs(&self) -> Vec<[u32; 2]> {
        let count = self.nodes().len() as u32;
        (0..count).flat_map(|a| (a + 1..count).map(move |b| [a, b])).collect()
    }

    /// For each node the number of the part it belongs to, and how many parts there are. Nodes of one cell belong to one part; a node
    /// without cells is a part by itself.
    #[must_use]
    pub fn parts(&self) -> (Vec<u32>, usize) {
        let mut parent: Vec<u32> = (0..self.nodes().len() as u32).collect();
        fn root(parent: &mut [u32], mut node: u32) -> u32 {
            while parent[node as usize] != node {
                parent[node as usize] = parent[parent[node as usize] as usize];
                node = parent[node as usize];
            }
            node
        }
        for kind in [CellKind::Segment, CellKind::Triangle, CellKind::Tetrahedron] {
            for cell in 0..self.count(kind) {
                let nodes = self.cell(kind, cell);
                let mut first = root(&mut parent, nodes[0]);
                for &node in &nodes[1..] {
                    let other = root(&mut parent, node);
                    let low = first.min(other);
                    parent[first as usize] = low;
                    parent[other as usize] = low;
                    first = low;
                }
            }
        }
        let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
        let part = |node: u32| {
            let root = root(&mut parent, node);
            let next = numbers.len() as u32;
            *numbers.entry(root).or_insert(next)
        };
        let parts: Vec<u32> = (0..self.nodes().len() as u32).map(part).collect();
        (parts, numbers.len())
    }
}
