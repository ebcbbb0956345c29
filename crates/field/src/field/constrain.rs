//! Constraint fields: a value of every element, patch or whole body that stays what it is at rest, and nodes that are attached to bodies.

use super::element::Table;
use super::hoist::evaluated;
use super::vector::{determinant, dot, length, minus};
use super::{ExprVector, Field, FieldError, Nodes, Over};
use crate::mesh::{Mesh, Vector};
use crate::topology::is_closed;
use leastaction_expr::{Expr, Graph, substitute};
use leastaction_mechanics::{BodyError, Elements, Model, Point};
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

/// Of so many constraints it is found out whether they depend on each other at rest,
const MOST_JUDGED: usize = 600;
/// which a direction does that has less than this left of its square besides the others.
const DEPENDENT: f64 = 1e-10;

/// The coordinates of a node, and which of them can move.
pub type Movable<'g> = (ExprVector<'g>, [bool; 3]);

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

/// Keeps values of elements as they are at rest, as [`Nodes::constrain_elements`] does, where nodes are said by their coordinates and by how many of these can
/// move. Gives the names of the constraints.
///
/// # Errors
/// As [`Nodes::constrain`].
pub fn keep_elements<'g>(
    model: &mut Model<'g>,
    mesh: &Mesh,
    field: &Field<'g>,
    nodes: &[u32],
    keep: Keep<'_>,
    at: &dyn Fn(usize) -> Movable<'g>,
) -> Result<Vec<String>, FieldError> {
    let (name, arity, rest) = (field.name(), field.over().arity(), mesh.nodes());
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
        let constants = elements.constants.iter().zip(values).map(|(&c, &value)| (c, graph.number(value)));
        let constants: Vec<_> = constants.collect();
        let valued = |place: &dyn Fn(usize) -> ExprVector<'g>| {
            let places = own.iter().flat_map(|&node| place(node as usize));
            let known = elements.slots.iter().copied().zip(places).chain(constants.iter().copied());
            substitute(&[elements.energy], &known.collect::<Vec<_>>())[0]
        };
        let now = valued(&|node| at(node).0);
        let before = valued(&|node| rest[node].map(|x| graph.number(x)));
        sums.entry(patch(element)).or_default().extend([now, -before]);
    }
    let mut touched = nodes.to_vec();
    touched.sort_unstable();
    touched.dedup();
    let free = touched.iter().flat_map(|&node| at(node as usize).1).filter(|free| *free).count();
    // Where nothing holds them, elements must be able to move as one.
    let rigid = if free == 3 * touched.len() { RIGID } else { 0 };
    let constraints = sums.len();
    if constraints > 1 && constraints + rigid > free {
        return Err(FieldError::Locked { field: name.to_owned(), constraints, coordinates: free });
    }
    let patches: Vec<u32> = (0..count).map(patch).collect();
    match (constraints <= MOST_JUDGED).then(|| independent(&elements, nodes, rest, &patches, at)).flatten() {
        Some(independent) if independent < constraints => {
            return Err(FieldError::Dependent { field: name.to_owned(), constraints, independent });
        }
        _ => {}
    }
    let named = sums.into_iter().map(|(patch, terms)| {
        let name = if let Keep::Total = keep { name.to_owned() } else { format!("{name}[{patch}]") };
        model.constraint(&name, graph.sum(terms), 0.0);
        name
    });
    Ok(named.collect())
}

/// How many of the sums over patches are independent where the mesh is at rest; nothing if that depends on parameters or time.
fn independent<'g>(
    elements: &Elements<'g>,
    nodes: &[u32],
    rest: &[Vector],
    patches: &[u32],
    at: &dyn Fn(usize) -> Movable<'g>,
) -> Option<usize> {
    let (slots, constants) = (elements.slots.len(), elements.constants.len());
    let slopes = elements.energy.gradient(&elements.slots);
    let symbols = elements.slots.iter().chain(&elements.constants).copied().collect();
    let mut values = Vec::with_capacity(patches.len() * (slots + constants));
    for (element, own) in nodes.chunks_exact(slots / 3).enumerate() {
        values.extend(own.iter().flat_map(|&node| rest[node as usize]));
        values.extend_from_slice(&elements.values[element * constants..][..constants]);
    }
    let gradients = evaluated(&slopes, &Table { symbols, values, elements: patches.len() }).ok()?;
    let mut rows: BTreeMap<u32, BTreeMap<u32, f64>> = BTreeMap::new();
    for ((own, slopes), patch) in
        nodes.chunks_exact(slots / 3).zip(gradients.chunks_exact(slots)).zip(patches)
    {
        let row = rows.entry(*patch).or_default();
        for (&node, slopes) in own.iter().zip(slopes.as_chunks::<3>().0) {
            for axis in (0..3).filter(|&axis| at(node as usize).1[axis]) {
                *row.entry(3 * node + axis as u32).or_insert(0.0) += slopes[axis];
            }
        }
    }
    let rows: Vec<_> = rows.into_values().collect();
    Some(rank(&rows))
}

/// How many rows are independent, by Cholesky's factors of their products with the largest pivot first.
fn rank(rows: &[BTreeMap<u32, f64>]) -> usize {
    let n = rows.len();
    let product = |a: &BTreeMap<u32, f64>, b: &BTreeMap<u32, f64>| -> f64 {
        a.iter().filter_map(|(column, x)| Some(x * b.get(column)?)).sum()
    };
    let lengths: Vec<f64> = rows.iter().map(|row| product(row, row).sqrt()).collect();
    let longest = lengths.iter().fold(0.0f64, |most, x| most.max(*x));
    // A row that is nothing against the others stays nothing.
    let scaled = |i: usize| if lengths[i] > 1e-9 * longest { 1.0 / lengths[i] } else { 0.0 };
    let mut a: Vec<f64> = (0..n * n)
        .map(|k| {
            if k % n <= k / n {
                product(&rows[k / n], &rows[k % n]) * scaled(k / n) * scaled(k % n)
            } else {
                0.0
            }
        })
        .collect();
    let mut left: Vec<usize> = (0..n).collect();
    while let Some(place) =
        (0..left.len()).max_by(|&x, &y| a[left[x] * (n + 1)].total_cmp(&a[left[y] * (n + 1)]))
    {
        let k = left[place];
        let pivot = a[k * (n + 1)];
        if pivot <= DEPENDENT {
            break;
        }
        left.swap_remove(place);
        let column: Vec<f64> = left.iter().map(|&i| a[i.max(k) * n + i.min(k)]).collect();
        for (x, &i) in column.iter().zip(&left).filter(|(x, _)| **x != 0.0) {
            for (y, &j) in column.iter().zip(&left).filter(|(_, j)| **j <= i) {
                a[i * n + j] -= x * y / pivot;
            }
        }
    }
    n - left.len()
}

/// Tetrahedra of which the volumes add up to what the surface of a mesh encloses, by the nodes of each, one after the other.
///
/// # Errors
/// [`FieldError::NotClosed`] if the surface is not closed.
pub fn enclosed_elements(mesh: &Mesh) -> Result<Vec<u32>, FieldError> {
    let surface = mesh.surface();
    let Some(&[top, ..]) = surface.first().filter(|_| is_closed(&surface)) else {
        return Err(FieldError::NotClosed);
    };
    // Tetrahedra from one node: the volume does not depend on where the body is, not even by rounding.
    let others = surface.iter().filter(|triangle| !triangle.contains(&top));
    Ok(others.flat_map(|&[a, b, c]| [top, a, b, c]).collect())
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
    /// [`FieldError`] as [`Field::on`], if there is not a patch for each element, if the field has implicit numbers, if there are so many
    /// constraints that nothing could move, or if some depend on others at rest, as far as these are few enough to find out.
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
        keep_elements(model, self.mesh(), field, nodes, keep, &|node| (self.at(node), [true; 3])).map(drop)
    }

    /// Keeps the volume that the surface of the mesh encloses, by one constraint `name`: its multiplier is the pressure inside, with the other
    /// sign.
    ///
    /// # Errors
    /// [`FieldError::NotClosed`] if the surface is not closed.
    pub fn keep_volume(&self, model: &mut Model<'g>, name: &str) -> Result<(), FieldError> {
        let nodes = enclosed_elements(self.mesh())?;
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
