//! Fields: the energy of one element, over many of them.

mod constrain;
mod dissipate;
pub(crate) mod element;
mod enclosed;
mod error;
mod hoist;
mod material;
mod nodes;
mod pairs;
mod places;
mod shipped;
pub(crate) mod vector;

pub use constrain::{Keep, Movable, enclosed_elements, keep_elements};
pub use element::{Element, Point};
pub use enclosed::enclosed_volume;
pub use error::FieldError;
pub use material::{consistent_masses, lame, lumped_masses};
pub use nodes::{Nodes, NodesError, add_coupled_nodes, add_nodes};
pub use places::at_places;
pub use shipped::{ALL, Card, Inversion, Parameter, Per, shipped};
pub use vector::ExprVector;

use crate::geometry::{segment_length, tetrahedron_volume, triangle_area};
use crate::mesh::{Mesh, Vector};
use crate::topology::is_closed;
use hoist::hoisted;
use leastaction_expr::{Expr, Graph, IntoExpr};
use leastaction_mechanics::{Elements, Energy, Implicit};

/// What a field has an energy for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// Each node.
    Nodes,
    /// Each edge of a cell.
    Edges,
    /// Each pair of nodes.
    Pairs,
    /// Two segments that meet at a node: the nodes before, between and after.
    Bends,
    /// Each triangle.
    Triangles,
    /// Two triangles with a common edge: the nodes of the edge, and the two others.
    Hinges,
    /// Each tetrahedron.
    Tetrahedra,
    /// Each triangle of the surface.
    Surface,
    /// Each triangle of the surface, which must be closed.
    ClosedSurface,
}

impl Over {
    /// Everything that a field can have an energy for.
    pub const ALL: [Over; 9] = [
        Over::Nodes,
        Over::Edges,
        Over::Pairs,
        Over::Bends,
        Over::Triangles,
        Over::Hinges,
        Over::Tetrahedra,
        Over::Surface,
        Over::ClosedSurface,
    ];

    /// How many nodes an element has.
    #[must_use]
    pub fn arity(self) -> usize {
        match self {
            Over::Nodes => 1,
            Over::Edges | Over::Pairs => 2,
            Over::Bends | Over::Triangles | Over::Surface | Over::ClosedSurface => 3,
            Over::Hinges | Over::Tetrahedra => 4,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Over::Nodes => "nodes",
            Over::Edges => "edges",
            Over::Pairs => "pairs",
            Over::Bends => "bends",
            Over::Triangles => "triangles",
            Over::Hinges => "hinges",
            Over::Tetrahedra => "tetrahedra",
            Over::Surface => "surface",
            Over::ClosedSurface => "closed surface",
        }
    }

    /// What has this name; `closed surface` is asked for by fields alone.
    #[must_use]
    pub fn named(name: &str) -> Option<Over> {
        Over::ALL.into_iter().find(|over| over.name() == name && *over != Over::ClosedSurface)
    }

    /// How many elements a mesh has, where that is more than it has cells: of pairs there are many.
    #[must_use]
    pub fn most_elements(self, mesh: &Mesh) -> u64 {
        let nodes = mesh.nodes().len() as u64;
        if self == Over::Pairs { nodes * nodes.saturating_sub(1) / 2 } else { 0 }
    }

    /// The nodes of each element of a mesh of which all nodes are among these, for a field of this name.
    ///
    /// # Errors
    /// [`FieldError`] if there are none, or a surface is open that should not be.
    pub fn among(self, mesh: &Mesh, field: &str, among: Option<&[bool]>) -> Result<Vec<u32>, FieldError> {
        let mut nodes = self.of(mesh);
        if let Some(among) = among {
            let inside = |element: &&[u32]| element.iter().all(|&node| among[node as usize]);
            nodes = nodes.chunks_exact(self.arity()).filter(inside).flatten().copied().collect();
        }
        if nodes.is_empty() {
            return Err(FieldError::Nothing { field: field.to_owned(), over: self.name() });
        }
        if self == Over::ClosedSurface && !is_closed(nodes.as_chunks().0) {
            return Err(FieldError::NotClosed);
        }
        Ok(nodes)
    }

    /// The length, area or volume of elements at rest, by their nodes, if such elements have one.
    #[must_use]
    pub fn sizes(self, nodes: &[u32], mesh: &Mesh) -> Option<Vec<f64>> {
        match self {
            Over::Edges => Some(each(nodes, |edge| segment_length(mesh.at(edge)))),
            Over::Triangles | Over::Surface | Over::ClosedSurface => {
                Some(each(nodes, |triangle| triangle_area(mesh.at(triangle))))
            }
            Over::Tetrahedra => Some(each(nodes, |cell| tetrahedron_volume(mesh.at(cell)))),
            Over::Nodes | Over::Pairs | Over::Bends | Over::Hinges => None,
        }
    }

    /// The nodes of each element of a mesh.
    #[must_use]
    pub fn of(self, mesh: &Mesh) -> Vec<u32> {
        match self {
            Over::Nodes => (0..mesh.nodes().len() as u32).collect(),
            Over::Edges => mesh.edges().into_flattened(),
            Over::Pairs => mesh.pairs().into_flattened(),
            Over::Bends => mesh.bends().into_flattened(),
            Over::Triangles => mesh.triangles().as_flattened().to_vec(),
            Over::Hinges => mesh.hinges().into_flattened(),
            Over::Tetrahedra => mesh.tetrahedra().as_flattened().to_vec(),
            Over::Surface | Over::ClosedSurface => mesh.surface().into_flattened(),
        }
    }
}

/// What a parameter of a field is.
#[derive(Clone, Debug)]
pub enum Value<'g> {
    /// The same for all elements: a number, a parameter of a model, or an expression of them.
    Uniform(Expr<'g>),
    /// A number for each node of the mesh.
    Nodes(Vec<f64>),
    /// A number for each element.
    Elements(Vec<f64>),
}

/// The energy of one element as an expression, over a connectivity.
///
/// ```
/// use leastaction_expr::Graph;
/// use leastaction_field::{Field, Mesh, Over};
/// use leastaction_mechanics::Model;
///
/// // A rope of springs that is held above a soft floor.
/// let graph = Graph::new();
/// let mut model = Model::new(&graph);
/// let k = model.parameter("k", 1e4);
/// let rope = Mesh::rope([0.0, 0.0, 1.0], [1.0, 0.0, 1.0], 20)?;
/// let nodes = leastaction_field::Nodes::new(&mut model, "rope", &rope, &vec![0.01; 21])?;
/// let floor = Field::new(&graph, "floor", Over::Nodes, |e| {
///     let depth = (-e.at(0)[2]).max(0.0);
///     0.5 * k * depth * depth
/// });
/// let stretch = leastaction_field::shipped("springs")?.field(&graph, &[("stiffness", k.into())])?;
/// nodes.add(&mut model, &floor)?;
/// nodes.add(&mut model, &stretch)?;
/// let mut dynamics = model.system()?.dynamics()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Field<'g> {
    name: String,
    over: Over,
    element: Element<'g>,
    energy: Expr<'g>,
    /// The distance from which on the energy of a pair is zero.
    cutoff: Option<Expr<'g>>,
}

impl<'g> Field<'g> {
    /// A field of one's own: its energy for an element, by the places of its nodes.
    pub fn new(
        graph: &'g Graph,
        name: &str,
        over: Over,
        energy: impl FnOnce(&mut Element<'g>) -> Expr<'g>,
    ) -> Field<'g> {
        let mut element = Element::new(graph, over.arity());
        let energy = energy(&mut element);
        Field { name: name.to_owned(), over, element, energy, cutoff: None }
    }

    /// The field on pairs that are nearer than a cut-off, a number or an expression of parameters; others have no energy. Where it jumps to zero, so do
    /// forces: energies drift if they do not end at zero there.
    ///
    /// ```
    /// use leastaction_expr::Graph;
    /// use leastaction_field::{Field, Over};
    ///
    /// // Soft balls of diameter 1.
    /// let graph = Graph::new();
    /// let balls = Field::new(&graph, "balls", Over::Pairs, |e| {
    ///     let [x, y, z] = [0, 1, 2].map(|i| e.at(1)[i] - e.at(0)[i]);
    ///     50.0 * (1.0 - (x * x + y * y + z * z).sqrt()).pow(2)
    /// });
    /// let balls = balls.within(1.0);
    /// ```
    ///
    /// # Panics
    /// If it is not a field of pairs.
    #[must_use]
    pub fn within(mut self, cutoff: impl IntoExpr<'g>) -> Field<'g> {
        assert_eq!(self.over, Over::Pairs, "a cut-off is one of pairs");
        let cutoff = cutoff.into_expr(self.energy.graph());
        let apart = vector::minus(self.element.at(1), self.element.at(0));
        self.energy = vector::dot(apart, apart).lt(cutoff.pow(2)).select(self.energy, 0.0);
        self.cutoff = Some(cutoff);
        self
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same field by another name.
    #[must_use]
    pub fn renamed(self, name: &str) -> Field<'g> {
        Field { name: name.to_owned(), ..self }
    }

    /// Whether the energy of an element depends on a symbol.
    #[must_use]
    pub fn depends_on(&self, symbol: Expr<'g>) -> bool {
        let graph = self.energy.graph();
        graph.order(&[self.energy.id()]).iter().any(|(id, _)| *id == symbol.id())
    }

    /// What it has an energy for.
    #[must_use]
    pub fn over(&self) -> Over {
        self.over
    }

    /// The energy of the field on a mesh, whose node i has the coordinates first + 3i, first + 3i + 1 and first + 3i + 2: of pairs within its cut-off, which are
    /// found anew as they move, of all pairs, without a list of them where they are many, or of [all elements](Field::on).
    ///
    /// # Errors
    /// As [`Field::on`].
    pub fn potential(&self, mesh: &Mesh, first: u32) -> Result<Energy<'g>, FieldError> {
        match self.pairs(mesh.nodes().len(), first)? {
            Some(_) if mesh.nodes().len() < 2 => {
                Err(FieldError::Nothing { field: self.name.clone(), over: self.over.name() })
            }
            Some(pairs) => Ok(Energy::Opaque(pairs)),
            None => self.on(mesh, first).map(Energy::Elements),
        }
    }

    /// The field on all elements of a mesh, whose node i has the coordinates first + 3i, first + 3i + 1 and first + 3i + 2.
    ///
    /// What follows from rest positions and from numbers of nodes and elements alone becomes a constant of each element.
    ///
    /// # Errors
    /// [`FieldError`] if the mesh has nothing of the kind, or numbers do not fit.
    pub fn on(&self, mesh: &Mesh, first: u32) -> Result<Elements<'g>, FieldError> {
        self.on_elements(&self.over.among(mesh, &self.name, None)?, mesh.nodes(), first)
    }

    /// The field on elements of one's own, by the nodes of each, one after the other, with the nodes at rest here.
    ///
    /// # Errors
    /// [`FieldError`] if nodes or numbers do not fit.
    pub fn on_elements(
        &self,
        nodes: &[u32],
        rest: &[Vector],
        first: u32,
    ) -> Result<Elements<'g>, FieldError> {
        let arity = self.element.arity();
        if !nodes.len().is_multiple_of(arity) {
            return Err(FieldError::Partial { arity, found: nodes.len() });
        }
        if let Some(place) = nodes.iter().position(|&node| node as usize >= rest.len()) {
            let (element, node, count) = (place / arity, nodes[place], rest.len());
            return Err(FieldError::NoNode { element, node, count });
        }
        let table = self.element.table(nodes, rest)?;
        let implicit = self.element.implicit.iter().flat_map(|i| [i.equation, i.solution]);
        let expressions: Vec<_> = std::iter::once(self.energy).chain(implicit).collect();
        let hoisted = hoisted(&expressions, &table)?;
        if let Some(place) = hoisted.values.iter().position(|value| !value.is_finite()) {
            let element = place / hoisted.constants.len();
            return Err(FieldError::AtRest { field: self.name.clone(), element });
        }
        let (&energy, implicit) = hoisted.expressions.split_first().unwrap_or((&self.energy, &[]));
        let implicit = self
            .element
            .implicit
            .iter()
            .zip(implicit.chunks_exact(2))
            .map(|(known, pair)| Implicit { symbol: known.symbol, equation: pair[0], solution: pair[1] });
        Ok(Elements {
            energy,
            slots: self.element.slots(),
            coordinates: nodes
                .iter()
                .flat_map(|&node| (0..3).map(move |axis| first + 3 * node + axis))
                .collect(),
            constants: hoisted.constants,
            values: hoisted.values.into(),
            implicit: implicit.collect(),
        })
    }
}

/// What each of these elements is.
fn each<const N: usize>(nodes: &[u32], size: impl Fn([u32; N]) -> f64) -> Vec<f64> {
    nodes.as_chunks().0.iter().map(|&element| size(element)).collect()
}

impl<'g> From<Expr<'g>> for Value<'g> {
    fn from(expression: Expr<'g>) -> Value<'g> {
        Value::Uniform(expression)
    }
}

impl<'g> Value<'g> {
    /// The same number, or expression, for all elements.
    pub fn uniform(graph: &'g Graph, value: impl IntoExpr<'g>) -> Value<'g> {
        Value::Uniform(value.into_expr(graph))
    }
}
