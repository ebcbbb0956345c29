//! Constraint fields: a value of every element, patch or whole body that stays what it is at rest, and nodes that are attached to bodies.

use super::vector::{determinant, dot, length, minus};
use super::{Field, FieldError, Nodes, Over};
use crate::topology::is_closed;
use leastaction_expr::{Expr, Graph, substitute};
use leastaction_mechanics::{BodyError, Model, Point};
use std::collections::BTreeMap;

/// Which values of a field a constraint keeps as they are at rest.
#[derive(Clone, Copy, Debug)]
pub enum Keep<'a> {
    /// That of each element.
    Each,
    /// The sum over all elements.
    Total,
    /// The sums over patches of elements, by the number of the patch of each element.
    Patches(&'a [u32]),
}

/// A free body has so many rigid motions, which a constraint must leave.
const RIGID: usize = 6;

impl<'g> Field<'g> {
    /// The lengths of edges, to be [kept](Nodes::constrain): half the square of each over its rest length. Where it is kept its slope is the
    /// direction of the edge, so that the multiplier is the tension.
    #[must_use]
    pub fn lengths(graph: &'g Graph) -> Field<'g> {
        Field::new(graph, "lengths", Over::Edges, |e| {
            let (now, rest) = (minus(e.at(1), e.at(0)), minus(e.rest(1), e.rest(0)));
            0.5 * dot(now, now) / length(rest)
        })
    }

    /// The volumes of tetrahedra, to be [kept](Nodes::constrain) over patches or in all: multipliers are pressures, with the other sign.
    #[must_use]
    pub fn volumes(graph: &'g Graph) -> Field<'g> {
        Field::new(graph, "volumes", Over::Tetrahedra, |e| {
            determinant([1, 2, 3].map(|node| minus(e.at(node), e.at(0)))) / 6.0
        })
    }
}

impl<'g> Nodes<'_, 'g> {
    /// Keeps values of a field as they are at rest, by constraints with the field's name: an inextensible rope by [`Field::lengths`], an
    /// incompressible body by [`Field::volumes`] of patches of tetrahedra.
    ///
    /// ```
    /// # use leastaction_expr::Graph;
    /// # use leastaction_field::{Field, Keep, Mesh, Nodes, lumped_masses};
    /// # use leastaction_mechanics::Model;
    /// let graph = Graph::new();
    /// let mut model = Model::new(&graph);
    /// let block = Mesh::cuboid([1.0, 1.0, 2.0], [4, 4, 8])?;
    /// let nodes = Nodes::new(&mut model, "block", &block, &lumped_masses(&block, 1.0)?)?;
    /// // Six tetrahedra make a cell.
    /// let cells: Vec<u32> = (0..block.tetrahedra().len() as u32).map(|tetrahedron| tetrahedron / 6).collect();
    /// nodes.constrain(&mut model, &Field::volumes(&graph), Keep::Patches(&cells))?;
    /// assert_eq!(model.system()?.constraints().len(), 128);
    /// // Each of the 768 volumes would be too much for 225 nodes.
    /// assert!(nodes.constrain(&mut model, &Field::volumes(&graph), Keep::Each).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`FieldError`] as [`Field::on`], if there is not a patch for each element, if the field has implicit numbers, or if there are so many
    /// constraints that nothing could move.
    pub fn constrain(
        &self,
        model: &mut Model<'g>,
        field: &Field<'g>,
        keep: Keep<'_>,
    ) -> Result<(), FieldError> {
        let nodes = field.over().of(self.mesh());
        if nodes.is_empty() {
            return Err(FieldError::Nothing { field: field.name().to_owned(), over: field.over().name() });
        }
        self.constrain_elements(model, field, &nodes, keep)
    }

    /// As [`Nodes::constrain`], of elements of one's own, by the nodes of each, one after the other.
    ///
    /// # Errors
    /// As [`Nodes::constrain`].
    pub fn constrain_elements(
        &self,
        model: &mut Model<'g>,
        field: &Field<'g>,
        nodes: &[u32],
        keep: Keep<'_>,
    ) -> Result<(), FieldError> {
        let (name, arity, rest) = (field.name(), field.over().arity(), self.mesh().nodes());
        let elements = field.on_elements(nodes, rest, 0)?;
        if !elements.implicit.is_empty() {
            return Err(FieldError::Implicit { field: name.to_owned(), role: "be a constraint" });
        }
        let count = nodes.len() / arity;
        let patch: Box<dyn Fn(usize) -> u32> = match keep {
            Keep::Each => Box::new(|element| element as u32),
            Keep::Total => Box::new(|_| 0),
            Keep::Patches(patches) if patches.len() == count => Box::new(|element| patches[element]),
            Keep::Patches(patches) => {
                let (parameter, found) = ("patch".to_owned(), patches.len());
                return Err(FieldError::Count { parameter, found, expected: count, of: "elements" });
            }
        };
        let graph = model.graph();
        let mut sums: BTreeMap<u32, Vec<Expr<'g>>> = BTreeMap::new();
        for (element, own) in nodes.chunks_exact(arity).enumerate() {
            let constants = elements.constants.len();
            let values = &elements.values[element * constants..][..constants];
            let constants =
                elements.constants.iter().zip(values).map(|(&c, &value)| (c, graph.number(value)));
            let constants: Vec<_> = constants.collect();
            let at = |place: &dyn Fn(usize, usize) -> Expr<'g>| {
                let places = own.iter().flat_map(|&node| (0..3).map(move |axis| (node as usize, axis)));
                let places = places.map(|(node, axis)| place(node, axis));
                let known = elements.slots.iter().copied().zip(places).chain(constants.iter().copied());
                substitute(&[elements.energy], &known.collect::<Vec<_>>())[0]
            };
            let now = at(&|node, axis| self.at(node)[axis]);
            let before = at(&|node, axis| graph.number(rest[node][axis]));
            sums.entry(patch(element)).or_default().extend([now, -before]);
        }
        let mut touched = nodes.to_vec();
        touched.sort_unstable();
        touched.dedup();
        let (constraints, coordinates) = (sums.len(), 3 * touched.len());
        if constraints > 1 && constraints + RIGID > coordinates {
            return Err(FieldError::Locked { field: name.to_owned(), constraints, coordinates });
        }
        for (patch, terms) in sums {
            let name = if let Keep::Total = keep { name.to_owned() } else { format!("{name}[{patch}]") };
            model.constraint(&name, graph.sum(terms), 0.0);
        }
        Ok(())
    }

    /// Keeps the volume that the surface of the mesh encloses, by one constraint `name`: its multiplier is the pressure inside, with the other
    /// sign.
    ///
    /// # Errors
    /// [`FieldError::NotClosed`] if the surface is not closed.
    pub fn keep_volume(&self, model: &mut Model<'g>, name: &str) -> Result<(), FieldError> {
        let surface = self.mesh().surface();
        let Some(&[top, ..]) = surface.first().filter(|_| is_closed(&surface)) else {
            return Err(FieldError::NotClosed);
        };
        // Tetrahedra from one node: the volume does not depend on where the body is, not even by rounding.
        let others = surface.iter().filter(|triangle| !triangle.contains(&top));
        let nodes: Vec<u32> = others.flat_map(|&[a, b, c]| [top, a, b, c]).collect();
        let volume = Field::volumes(model.graph()).renamed(name);
        self.constrain_elements(model, &volume, &nodes, Keep::Total)
    }

    /// A node as a point to join bodies to.
    ///
    /// # Panics
    /// If there is no such node.
    #[must_use]
    pub fn point(&self, model: &Model<'g>, node: usize) -> Point<'g> {
        model.anchor(self.at(node))
    }

    /// Attaches nodes to points of rigid bodies, by ball joints with a name and the node's number. Soft and rigid bodies so are one model, with
    /// joints between the latter.
    ///
    /// # Errors
    /// [`BodyError`] as [`Model::ball`].
    ///
    /// # Panics
    /// If there is no such node.
    pub fn attach(
        &self,
        model: &mut Model<'g>,
        name: &str,
        nodes: impl IntoIterator<Item = (usize, Point<'g>)>,
    ) -> Result<(), BodyError> {
        nodes.into_iter().try_for_each(|(node, to)| {
            let point = self.point(model, node);
            model.ball(&format!("{name}[{node}]"), &point, &to)
        })
    }
}
