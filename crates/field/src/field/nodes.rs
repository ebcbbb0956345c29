//! The kinetic energy of a mesh: its nodes as points of a model, with masses.

use super::{Field, FieldError};
use crate::mesh::Mesh;
use leastaction_expr::{BlockError, Expr, SymbolBlock};
use leastaction_mechanics::{Energy, MassMatrix, Model, System};

/// The nodes of a mesh as points of a model: a block of coordinates `name[i].x`, `name[i].y`, `name[i].z`, with a mass for each node.
#[derive(Clone, Debug)]
pub struct Nodes<'m, 'g> {
    mesh: &'m Mesh,
    name: String,
    first: usize,
    block: SymbolBlock<'g>,
    masses: Vec<f64>,
}

/// Why a mesh cannot become a part of a model.
#[derive(Debug, thiserror::Error)]
pub enum NodesError {
    /// Its name, or that of a coordinate, is of something else.
    #[error(transparent)]
    Block(#[from] BlockError),
    /// Masses do not fit.
    #[error(transparent)]
    Field(#[from] FieldError),
}

/// Makes the members of a block of coordinates x, y and z points of these masses ([`Model::lumped`]), or of masses in proportion to these numbers: so many units, which
/// parameters may change.
///
/// # Errors
/// [`FieldError`] if there is not a positive mass for each.
pub fn add_nodes<'g>(
    model: &mut Model<'g>,
    name: &str,
    block: SymbolBlock<'g>,
    masses: &[f64],
    unit: Option<Expr<'g>>,
) -> Result<(), FieldError> {
    let (expected, found) = (block.count(), masses.len());
    if found != expected {
        return Err(FieldError::Count { parameter: "mass".to_owned(), found, expected, of: "nodes" });
    }
    if let Some(node) = masses.iter().position(|mass| !(mass.is_finite() && *mass > 0.0)) {
        return Err(FieldError::NoMass { node, mass: masses[node] });
    }
    model.lumped(name, block, masses, unit);
    Ok(())
}

/// As [`add_nodes`], with masses that are coupled ([`Model::consistent`]): [`consistent_masses`](super::consistent_masses).
///
/// # Errors
/// [`FieldError`] if there is not a row for each.
pub fn add_coupled_nodes<'g>(
    model: &mut Model<'g>,
    name: &str,
    block: SymbolBlock<'g>,
    masses: MassMatrix,
    unit: Option<Expr<'g>>,
) -> Result<(), FieldError> {
    let (expected, found) = (block.count(), masses.rows());
    if found != expected {
        return Err(FieldError::Count { parameter: "mass".to_owned(), found, expected, of: "nodes" });
    }
    model.consistent(name, block, masses, unit);
    Ok(())
}

impl<'m, 'g> Nodes<'m, 'g> {
    /// Declares the coordinates of the nodes, and their masses.
    ///
    /// # Errors
    /// [`NodesError`] if the name is of something else already, or there is not a positive mass for each node.
    pub fn new(
        model: &mut Model<'g>,
        name: &str,
        mesh: &'m Mesh,
        masses: &[f64],
    ) -> Result<Nodes<'m, 'g>, NodesError> {
        let first = model.coordinate_count();
        let block = model.coordinate_block(name, mesh.nodes().len(), &["x", "y", "z"])?;
        add_nodes(model, name, block, masses, None)?;
        Ok(Nodes { mesh, name: name.to_owned(), first, block, masses: masses.to_vec() })
    }

    /// As [`Nodes::new`], with masses that are coupled, such as [`consistent_masses`](super::consistent_masses). [`Nodes::masses`] are the sums of its rows.
    ///
    /// # Errors
    /// [`NodesError`] if the name is of something else already, or the matrix has not a row for each node.
    pub fn coupled(
        model: &mut Model<'g>,
        name: &str,
        mesh: &'m Mesh,
        masses: MassMatrix,
    ) -> Result<Nodes<'m, 'g>, NodesError> {
        let first = model.coordinate_count();
        let block = model.coordinate_block(name, mesh.nodes().len(), &["x", "y", "z"])?;
        let sums = masses.row_sums();
        add_coupled_nodes(model, name, block, masses, None)?;
        Ok(Nodes { mesh, name: name.to_owned(), first, block, masses: sums })
    }

    /// Adds a field on the mesh to the potential energies of the model, under its name.
    ///
    /// # Errors
    /// As [`Field::on`].
    pub fn add(&self, model: &mut Model<'g>, field: &Field<'g>) -> Result<(), FieldError> {
        match field.potential(self.mesh, self.first as u32)? {
            Energy::Formula(energy) => model.potential(field.name(), energy),
            Energy::Elements(elements) => model.potential(field.name(), elements),
            Energy::Opaque(opaque) => model.potential(field.name(), opaque),
        };
        Ok(())
    }

    /// The mesh.
    pub(super) fn mesh(&self) -> &'m Mesh {
        self.mesh
    }

    /// The name of all.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The masses of the nodes.
    #[must_use]
    pub fn masses(&self) -> &[f64] {
        &self.masses
    }

    /// The number of the first coordinate.
    #[must_use]
    pub fn first(&self) -> usize {
        self.first
    }

    /// The coordinates of a node.
    ///
    /// # Panics
    /// If there is no such node.
    #[must_use]
    pub fn at(&self, node: usize) -> [Expr<'g>; 3] {
        [0, 1, 2].map(|axis| self.block.symbol(node, axis))
    }

    /// Holds nodes at positions: where they are at rest ([`Mesh::nodes`] as numbers), or expressions of time and parameters. They are no unknowns
    /// then ([`Model::hold`]): nothing is solved for, however many they are, and fields read where they are. The sum of the forces that hold
    /// them is observed as `reaction_clamp.x`, `reaction_clamp.y` and `reaction_clamp.z` if `name` is `clamp`.
    ///
    /// ```
    /// # use leastaction_expr::Graph;
    /// # use leastaction_field::{Mesh, Nodes, lumped_masses, shipped, Value};
    /// # use leastaction_mechanics::Model;
    /// // A jelly block whose lower face is shaken sideways.
    /// let graph = Graph::new();
    /// let mut model = Model::new(&graph);
    /// let block = Mesh::cuboid([1.0, 1.0, 2.0], [2, 2, 4])?;
    /// let nodes = Nodes::new(&mut model, "block", &block, &lumped_masses(&block, 1000.0)?)?;
    /// let given = [("young", Value::uniform(&graph, 5e4)), ("poisson", Value::uniform(&graph, 0.3))];
    /// nodes.add(&mut model, &shipped("neo-hookean")?.field(&graph, &given)?)?;
    /// model.gravity([0.0, 0.0, -9.81]);
    /// let shake = 0.1 * (5.0 * model.time()).sin();
    /// let floor = (0..block.nodes().len()).filter(|&node| block.nodes()[node][2] == 0.0);
    /// nodes.hold(&mut model, "floor", floor.map(|node| {
    ///     let [x, y, z] = block.nodes()[node].map(|x| graph.number(x));
    ///     (node, [x + shake, y, z])
    /// }))?;
    /// let mut dynamics = model.system()?.dynamics()?;
    /// let mut state = vec![0.0; dynamics.system().dimension()];
    /// nodes.place(dynamics.system(), block.nodes(), &mut state);
    /// let push = dynamics.observable("reaction_floor.x")?;
    /// # let mut found = [0.0];
    /// # dynamics.observe(push, &[0.0], &state, &mut found)?;
    /// # assert!(found[0].abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`FieldError::NoSuchNode`] if there is no such node.
    pub fn hold(
        &self,
        model: &mut Model<'g>,
        name: &str,
        nodes: impl IntoIterator<Item = (usize, [Expr<'g>; 3])>,
    ) -> Result<(), FieldError> {
        let nodes: Vec<_> = nodes.into_iter().collect();
        let count = self.mesh.nodes().len();
        if let Some(&(node, _)) = nodes.iter().find(|(node, _)| *node >= count) {
            return Err(FieldError::NoSuchNode { node, count });
        }
        for (axis, letter) in ["x", "y", "z"].into_iter().enumerate() {
            let along = nodes.iter().map(|(node, to)| (self.block.symbol(*node, axis), to[axis]));
            model.hold(&format!("{name}.{letter}"), along);
        }
        Ok(())
    }

    /// Puts the nodes where these positions are, in the coordinates of a state of the model's system. Nodes that are held stay where they are.
    ///
    /// # Panics
    /// If there are more or fewer positions than nodes, or the state is shorter than the coordinates.
    pub fn place(&self, system: &System, positions: &[[f64; 3]], q: &mut [f64]) {
        assert_eq!(positions.len(), self.mesh.nodes().len(), "a position for each node");
        for (&x, declared) in positions.as_flattened().iter().zip(self.first..) {
            system.place_of(declared).into_iter().for_each(|place| q[place] = x);
        }
    }
}
