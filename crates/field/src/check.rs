//! What can be wrong with a mesh.

use crate::geometry::{tetrahedron_volume, triangle_area};
use crate::mesh::{CellKind, Mesh};
use crate::topology::{FACES, sides, sorted};
use rustc_hash::FxHashMap;

/// What is wrong with a mesh. Nodes and cells are counted from 0.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeshError {
    /// A coordinate is infinite or NaN.
    #[error("node {node} is at ({}, {}, {}): coordinates must be finite", .at[0], .at[1], .at[2])]
    NotFinite {
        /// The node.
        node: usize,
        /// Where it is.
        at: [f64; 3],
    },
    /// There are more nodes than can be counted.
    #[error("{count} nodes are more than 32 bits count: make the mesh coarser")]
    TooMany {
        /// How many there are.
        count: usize,
    },
    /// A cell names a node that is not there.
    #[error("{kind} {cell} has node {node}, and there are {count}, which are counted from 0")]
    NoNode {
        /// What the cell is.
        kind: CellKind,
        /// The cell.
        cell: usize,
        /// The node.
        node: u32,
        /// How many nodes there are.
        count: usize,
    },
    /// A cell has a node twice.
    #[error("{kind} {cell} has node {node} twice: remove the {kind}, or name another node")]
    Repeated {
        /// What the cell is.
        kind: CellKind,
        /// The cell.
        cell: usize,
        /// The node.
        node: u32,
    },
    /// A group names a cell that is not there.
    #[error("the group `{group}` has {kind} {member}, and there are {count}, which are counted from 0")]
    NoMember {
        /// The group.
        group: String,
        /// What its members are.
        kind: CellKind,
        /// The member.
        member: u32,
        /// How many such cells there are.
        count: usize,
    },
    /// A tetrahedron is inside out, or flat.
    #[error("tetrahedron {tetrahedron} has the volume {volume:e}, which must be positive: {}", inverted(*.volume))]
    Inverted {
        /// The tetrahedron.
        tetrahedron: usize,
        /// Its volume.
        volume: f64,
    },
    /// A segment or a triangle has no extent.
    #[error(
        "{kind} {cell} has no extent: its nodes are at one place or in a line; remove it, or move them apart"
    )]
    Degenerate {
        /// What the cell is.
        kind: CellKind,
        /// The cell.
        cell: usize,
    },
    /// Two cells are the same.
    #[error("{kind} {cell} has the nodes of {kind} {other}: remove one of them")]
    Doubled {
        /// What the cells are.
        kind: CellKind,
        /// The later cell.
        cell: usize,
        /// The earlier one.
        other: usize,
    },
    /// A face belongs to more than two tetrahedra, or an edge to more than two triangles, or a surface touches itself.
    #[error("the mesh is not a manifold at {kind} {cell}: {reason}; separate the parts that meet there")]
    NotManifold {
        /// What the cell is.
        kind: CellKind,
        /// One of the cells that meet there.
        cell: usize,
        /// What is found there.
        reason: Meeting,
    },
    /// Two triangles run the same way along their common edge.
    #[error("triangles {other} and {triangle} are turned opposite ways: swap two nodes of one of them")]
    Inconsistent {
        /// The later triangle.
        triangle: usize,
        /// The earlier one.
        other: usize,
    },
    /// The mesh has several parts.
    #[error(
        "{kind} {cell} is not connected with what was before it: the mesh has {parts} parts; make a mesh of each"
    )]
    Disconnected {
        /// What the first cell of the second part is.
        kind: CellKind,
        /// That cell.
        cell: usize,
        /// How many parts there are.
        parts: usize,
    },
    /// A node belongs to no cell.
    #[error("node {node} belongs to no cell: remove it")]
    Loose {
        /// The node.
        node: usize,
    },
}

/// Where a mesh is not a manifold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// A face of more than two tetrahedra.
    Face([u32; 3]),
    /// An edge of more than two triangles of a surface.
    Edge([u32; 2]),
    /// A node at which a surface touches itself.
    Node(u32),
}

impl std::fmt::Display for Meeting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Meeting::Face([a, b, c]) => {
                write!(f, "the face of nodes {a}, {b}, {c} belongs to more than two tetrahedra")
            }
            Meeting::Edge([a, b]) => {
                write!(f, "the edge of nodes {a}, {b} belongs to more than two triangles")
            }
            Meeting::Node(a) => write!(f, "the surface touches itself at node {a}"),
        }
    }
}

fn inverted(volume: f64) -> &'static str {
    if volume < 0.0 {
        "it is inside out; swap two of its nodes"
    } else {
        "it is flat; move its nodes, or remove it"
    }
}

impl Mesh {
    /// Checks that the mesh is one body: its cells have an extent and the right sense, surfaces are manifolds that are turned alike, and
    /// everything is connected. Triangles that accompany tetrahedra, such as groups of their faces, may meet in any way.
    ///
    /// # Errors
    /// [`MeshError`] says what is wrong, with the number of the element.
    pub fn check(&self) -> Result<(), MeshError> {
        self.check_extent()?;
        if self.tetrahedra().is_empty() {
            self.check_surface(self.triangles(), CellKind::Triangle, |triangle| triangle)?;
        } else {
            self.check_solid()?;
        }
        self.check_connected()
    }

    /// Checks that lengths, areas and volumes are positive beyond rounding.
    fn check_extent(&self) -> Result<(), MeshError> {
        for (&nodes, cell) in self.segments().iter().zip(0..) {
            let [a, b] = self.at(nodes);
            if a == b {
                return Err(MeshError::Degenerate { kind: CellKind::Segment, cell });
            }
        }
        for (&nodes, cell) in self.triangles().iter().zip(0..) {
            let at = self.at(nodes);
            if triangle_area(at) <= f64::EPSILON * extent(&at).powi(2) {
                return Err(MeshError::Degenerate { kind: CellKind::Triangle, cell });
            }
        }
        for (&nodes, tetrahedron) in self.tetrahedra().iter().zip(0..) {
            let at = self.at(nodes);
            let volume = tetrahedron_volume(at);
            if volume <= f64::EPSILON * extent(&at).powi(3) {
                return Err(MeshError::Inverted { tetrahedron, volume });
            }
        }
        Ok(())
    }

    fn check_solid(&self) -> Result<(), MeshError> {
        let mut faces: FxHashMap<[u32; 3], u32> = FxHashMap::default();
        let mut known: FxHashMap<[u32; 4], usize> = FxHashMap::default();
        for (&nodes, cell) in self.tetrahedra().iter().zip(0..) {
            let kind = CellKind::Tetrahedron;
            if let Some(other) = known.insert(sorted(nodes), cell) {
                return Err(MeshError::Doubled { kind, cell, other });
            }
            for face in FACES.map(|face| sorted(face.map(|i| nodes[i]))) {
                let count = faces.entry(face).or_default();
                *count += 1;
                if *count > 2 {
                    return Err(MeshError::NotManifold { kind, cell, reason: Meeting::Face(face) });
                }
            }
        }
        let (surface, owners) = self.outer_faces();
        self.check_surface(&surface, CellKind::Tetrahedron, |face| owners[face])
    }

    /// Checks that triangles are a manifold and turned alike; `owner` is the cell to name for each.
    fn check_surface(
        &self,
        triangles: &[[u32; 3]],
        kind: CellKind,
        owner: impl Fn(usize) -> usize,
    ) -> Result<(), MeshError> {
        let mut known: FxHashMap<[u32; 3], usize> = FxHashMap::default();
        // For each edge in each sense, its triangle; and for each edge, how many there are.
        let mut edges: FxHashMap<[u32; 2], usize> = FxHashMap::default();
        let mut counts: FxHashMap<[u32; 2], u32> = FxHashMap::default();
        for (&nodes, triangle) in triangles.iter().zip(0..) {
            if let Some(other) = known.insert(sorted(nodes), triangle) {
                return Err(MeshError::Doubled { kind, cell: owner(triangle), other: owner(other) });
            }
            for (edge, _) in sides(nodes) {
                let count = counts.entry(sorted(edge)).or_default();
                *count += 1;
                if *count > 2 {
                    let reason = Meeting::Edge(sorted(edge));
                    return Err(MeshError::NotManifold { kind, cell: owner(triangle), reason });
                }
                if let Some(other) = edges.insert(edge, triangle) {
                    return Err(MeshError::Inconsistent { triangle, other });
                }
            }
        }
        self.check_fans(triangles, kind, owner)
    }

    /// Checks that the triangles at each node are one fan: going from one to the next over common edges reaches all.
    fn check_fans(
        &self,
        triangles: &[[u32; 3]],
        kind: CellKind,
        owner: impl Fn(usize) -> usize,
    ) -> Result<(), MeshError> {
        // Of each triangle at a node, the next node and the one before it; a fan follows from one to the other.
        let mut corners: Vec<Vec<(u32, u32, usize)>> = vec![Vec::new(); self.nodes().len()];
        for (&[a, b, c], triangle) in triangles.iter().zip(0..) {
            for (node, next, last) in [(a, b, c), (b, c, a), (c, a, b)] {
                corners[node as usize].push((next, last, triangle));
            }
        }
        for (corners, node) in corners.iter().zip(0..) {
            let Some(&(first, _, _)) = corners.first() else { continue };
            let followed: FxHashMap<u32, u32> = corners.iter().map(|&(next, last, _)| (next, last)).collect();
            // An open fan begins where nothing leads to.
            let starts = |from: &u32| !corners.iter().any(|(_, last, _)| last == from);
            let begin = corners.iter().map(|(next, _, _)| *next).find(starts).unwrap_or(first);
            let (mut at, mut reached) = (begin, 0);
            while let Some(&next) = followed.get(&at) {
                (at, reached) = (next, reached + 1);
                if at == begin || reached > corners.len() {
                    break;
                }
            }
            if reached != corners.len() {
                let cell = owner(corners[corners.len() - 1].2);
                return Err(MeshError::NotManifold { kind, cell, reason: Meeting::Node(node) });
            }
        }
        Ok(())
    }

    fn check_connected(&self) -> Result<(), MeshError> {
        let (part, parts) = self.parts();
        let kinds = [CellKind::Segment, CellKind::Triangle, CellKind::Tetrahedron];
        if kinds.iter().all(|&kind| self.count(kind) == 0) {
            return Ok(()); // nodes by themselves, such as atoms
        }
        if let Some(node) = self.used_nodes().iter().position(|used| !used) {
            return Err(MeshError::Loose { node });
        }
        let cells = kinds.into_iter().flat_map(|kind| (0..self.count(kind)).map(move |cell| (kind, cell)));
        let mut cells = cells.map(|(kind, cell)| (kind, cell, part[self.cell(kind, cell)[0] as usize]));
        let Some((_, _, first)) = cells.next() else { return Ok(()) };
        match cells.find(|(_, _, part)| *part != first) {
            Some((kind, cell, _)) => Err(MeshError::Disconnected { kind, cell, parts }),
            None => Ok(()),
        }
    }
}

/// The largest extent of some points along an axis.
fn extent<const N: usize>(at: &[[f64; 3]; N]) -> f64 {
    let along = |axis: usize| {
        let axis = at.iter().map(|x| x[axis]);
        axis.clone().fold(f64::MIN, f64::max) - axis.fold(f64::MAX, f64::min)
    };
    along(0).max(along(1)).max(along(2))
}
