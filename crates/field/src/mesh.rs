//! Meshes: nodes in space, and the cells between them.

use crate::check::MeshError;

/// A point or a vector in space.
pub type Vector = [f64; 3];

/// What a cell is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CellKind {
    /// One node.
    Node,
    /// Two nodes.
    Segment,
    /// Three nodes.
    Triangle,
    /// Four nodes.
    Tetrahedron,
}

impl CellKind {
    /// Its name in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            CellKind::Node => "node",
            CellKind::Segment => "segment",
            CellKind::Triangle => "triangle",
            CellKind::Tetrahedron => "tetrahedron",
        }
    }
}

impl std::fmt::Display for CellKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Some cells of one kind under a name, such as a physical group of Gmsh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The name.
    pub name: String,
    /// What its members are.
    pub kind: CellKind,
    /// The members by their numbers.
    pub members: Vec<u32>,
}

/// Nodes in space, and the cells between them: segments, triangles and tetrahedra. Everything is counted from 0.
///
/// The nodes of a triangle run counterclockwise seen from outside; those of a tetrahedron (a, b, c, d) have det(b − a, c − a, d − a) > 0.
///
/// ```
/// use leastaction_field::Mesh;
///
/// let nodes = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
/// let mesh = Mesh::new(nodes)?.with_tetrahedra(vec![[0, 1, 2, 3]])?;
/// mesh.check()?;
/// assert_eq!((mesh.surface().len(), mesh.edges().len()), (4, 6));
/// assert!((mesh.volume() - 1.0 / 6.0).abs() < 1e-15);
/// # Ok::<(), leastaction_field::MeshError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    nodes: Vec<Vector>,
    segments: Vec<[u32; 2]>,
    triangles: Vec<[u32; 3]>,
    tetrahedra: Vec<[u32; 4]>,
    groups: Vec<Group>,
}

impl Mesh {
    /// Nodes without cells.
    ///
    /// # Errors
    /// [`MeshError`] if a coordinate is not finite, or there are more nodes than 32 bits count.
    pub fn new(nodes: Vec<Vector>) -> Result<Mesh, MeshError> {
        if u32::try_from(nodes.len()).is_err() {
            return Err(MeshError::TooMany { count: nodes.len() });
        }
        match nodes.iter().position(|x| x.iter().any(|x| !x.is_finite())) {
            Some(node) => Err(MeshError::NotFinite { node, at: nodes[node] }),
            None => Ok(Mesh { nodes, ..Mesh::default() }),
        }
    }

    /// Adds segments.
    ///
    /// # Errors
    /// [`MeshError`] if one names a node that is not there, or names a node twice.
    pub fn with_segments(mut self, segments: Vec<[u32; 2]>) -> Result<Mesh, MeshError> {
        self.check_cells(CellKind::Segment, self.segments.len(), &segments)?;
        self.segments.extend(segments);
        Ok(self)
    }

    /// Adds triangles.
    ///
    /// # Errors
    /// As [`Mesh::with_segments`].
    pub fn with_triangles(mut self, triangles: Vec<[u32; 3]>) -> Result<Mesh, MeshError> {
        self.check_cells(CellKind::Triangle, self.triangles.len(), &triangles)?;
        self.triangles.extend(triangles);
        Ok(self)
    }

    /// Adds tetrahedra.
    ///
    /// # Errors
    /// As [`Mesh::with_segments`].
    pub fn with_tetrahedra(mut self, tetrahedra: Vec<[u32; 4]>) -> Result<Mesh, MeshError> {
        self.check_cells(CellKind::Tetrahedron, self.tetrahedra.len(), &tetrahedra)?;
        self.tetrahedra.extend(tetrahedra);
        Ok(self)
    }

    /// Adds a group. Groups of one name and kind become one.
    ///
    /// # Errors
    /// [`MeshError::NoMember`] if there is no such cell.
    pub fn with_group(mut self, group: Group) -> Result<Mesh, MeshError> {
        let count = self.count(group.kind);
        if let Some(&member) = group.members.iter().find(|&&member| member as usize >= count) {
            let Group { name, kind, .. } = group;
            return Err(MeshError::NoMember { group: name, kind, member, count });
        }
        match self.groups.iter_mut().find(|known| known.name == group.name && known.kind == group.kind) {
            Some(known) => known.members.extend(group.members),
            None => self.groups.push(group),
        }
        Ok(self)
    }

    fn check_cells<const N: usize>(
        &self,
        kind: CellKind,
        first: usize,
        cells: &[[u32; N]],
    ) -> Result<(), MeshError> {
        let count = self.nodes.len();
        for (nodes, cell) in cells.iter().zip(first..) {
            if let Some(&node) = nodes.iter().find(|&&node| node as usize >= count) {
                return Err(MeshError::NoNode { kind, cell, node, count });
            }
            for (i, &node) in nodes.iter().enumerate() {
                if nodes[..i].contains(&node) {
                    return Err(MeshError::Repeated { kind, cell, node });
                }
            }
        }
        Ok(())
    }

    /// The positions of the nodes.
    #[must_use]
    pub fn nodes(&self) -> &[Vector] {
        &self.nodes
    }

    /// The segments.
    #[must_use]
    pub fn segments(&self) -> &[[u32; 2]] {
        &self.segments
    }

    /// The triangles.
    #[must_use]
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The tetrahedra.
    #[must_use]
    pub fn tetrahedra(&self) -> &[[u32; 4]] {
        &self.tetrahedra
    }

    /// The groups.
    #[must_use]
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// How many cells of a kind there are.
    #[must_use]
    pub fn count(&self, kind: CellKind) -> usize {
        match kind {
            CellKind::Node => self.nodes.len(),
            CellKind::Segment => self.segments.len(),
            CellKind::Triangle => self.triangles.len(),
            CellKind::Tetrahedron => self.tetrahedra.len(),
        }
    }

    /// The nodes that a cell of a kind has, as a slice.
    pub(crate) fn cell(&self, kind: CellKind, cell: usize) -> &[u32] {
        match kind {
            CellKind::Node => &[],
            CellKind::Segment => &self.segments[cell],
            CellKind::Triangle => &self.triangles[cell],
            CellKind::Tetrahedron => &self.tetrahedra[cell],
        }
    }

    /// The nodes of a group, each once, in ascending order; `None` if there is no such group.
    #[must_use]
    pub fn group_nodes(&self, name: &str) -> Option<Vec<u32>> {
        let mut groups = self.groups.iter().filter(|group| group.name == name).peekable();
        groups.peek()?;
        let mut nodes: Vec<u32> = groups
            .flat_map(|group| {
                group.members.iter().flat_map(|&member| match group.kind {
                    CellKind::Node => vec![member],
                    kind => self.cell(kind, member as usize).to_vec(),
                })
            })
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        Some(nodes)
    }

    /// The nodes whose position fulfils a condition, in ascending order.
    #[must_use]
    pub fn nodes_where(&self, condition: impl Fn(Vector) -> bool) -> Vec<u32> {
        (0..).zip(&self.nodes).filter(|(_, at)| condition(**at)).map(|(node, _)| node).collect()
    }

    /// The same cells with their nodes elsewhere.
    ///
    /// # Errors
    /// [`MeshError::NotFinite`] if a position is not finite.
    pub fn mapped(mut self, map: impl Fn(Vector) -> Vector) -> Result<Mesh, MeshError> {
        self.nodes.iter_mut().for_each(|at| *at = map(*at));
        match self.nodes.iter().position(|x| x.iter().any(|x| !x.is_finite())) {
            Some(node) => Err(MeshError::NotFinite { node, at: self.nodes[node] }),
            None => Ok(self),
        }
    }

    /// Without the nodes that no cell and no group of nodes has, such as the centres of circles that a mesher leaves in its file. A
    /// mesh without cells keeps all.
    #[must_use]
    pub fn without_loose_nodes(mut self) -> Mesh {
        let mut used = self.used_nodes();
        for group in self.groups.iter().filter(|group| group.kind == CellKind::Node) {
            group.members.iter().for_each(|&node| used[node as usize] = true);
        }
        let cells = self.segments.len() + self.triangles.len() + self.tetrahedra.len();
        if cells == 0 || used.iter().all(|&used| used) {
            return self;
        }
        let mut next = 0;
        let number: Vec<u32> = used
            .iter()
            .map(|&used| {
                next += u32::from(used);
                next.wrapping_sub(1)
            })
            .collect();
        let renumber = |node: &mut u32| *node = number[*node as usize];
        self.segments.as_flattened_mut().iter_mut().for_each(renumber);
        self.triangles.as_flattened_mut().iter_mut().for_each(renumber);
        self.tetrahedra.as_flattened_mut().iter_mut().for_each(renumber);
        for group in self.groups.iter_mut().filter(|group| group.kind == CellKind::Node) {
            group.members.iter_mut().for_each(renumber);
        }
        let mut kept = used.iter();
        self.nodes.retain(|_| kept.next().is_some_and(|&used| used));
        self
    }

    /// Whether each node belongs to a cell.
    pub(crate) fn used_nodes(&self) -> Vec<bool> {
        let mut used = vec![false; self.nodes.len()];
        let cells = self.segments.as_flattened().iter().chain(self.triangles.as_flattened());
        cells.chain(self.tetrahedra.as_flattened()).for_each(|&node| used[node as usize] = true);
        used
    }

    /// The positions of nodes.
    pub(crate) fn at<const N: usize>(&self, nodes: [u32; N]) -> [Vector; N] {
        nodes.map(|node| self.nodes[node as usize])
    }
}
