//! The kinetic energy of a mesh: its nodes as particles of a model.

use super::{Field, FieldError};
use crate::mesh::Mesh;
use leastaction_expr::BlockError;
use leastaction_mechanics::Model;

/// The nodes of a mesh as particles of a model: a block of coordinates `name[i].x`, `name[i].y`, `name[i].z`, with a mass for each node.
#[derive(Clone, Copy, Debug)]
pub struct Nodes<'m> {
    mesh: &'m Mesh,
    first: usize,
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

impl<'m> Nodes<'m> {
    /// Declares the coordinates of the nodes, and a particle for each.
    ///
    /// # Errors
    /// [`NodesError`] if the name is of something else already, or there is not a positive mass for each node.
    pub fn new(
        model: &mut Model<'_>,
        name: &str,
        mesh: &'m Mesh,
        masses: &[f64],
    ) -> Result<Nodes<'m>, NodesError> {
        let (expected, found) = (mesh.nodes().len(), masses.len());
        if found != expected {
            return Err(
                FieldError::Count { parameter: "mass".to_owned(), found, expected, of: "nodes" }.into()
            );
        }
        if let Some(node) = masses.iter().position(|mass| !(mass.is_finite() && *mass > 0.0)) {
            return Err(FieldError::NoMass { node, mass: masses[node] }.into());
        }
        let first = model.coordinate_count();
        let block = model.coordinate_block(name, expected, &["x", "y", "z"])?;
        for (node, &mass) in masses.iter().enumerate() {
            let position = [0, 1, 2].map(|axis| block.symbol(node, axis));
            model.particle(&format!("{name}[{node}]"), mass, position);
        }
        Ok(Nodes { mesh, first })
    }

    /// Adds a field on the mesh to the potential energies of the model, under its name.
    ///
    /// # Errors
    /// As [`Field::on`].
    pub fn add<'g>(&self, model: &mut Model<'g>, field: &Field<'g>) -> Result<(), FieldError> {
        model.potential(field.name(), field.on(self.mesh, self.first as u32)?);
        Ok(())
    }

    /// The number of the first coordinate.
    #[must_use]
    pub fn first(&self) -> usize {
        self.first
    }

    /// Puts the nodes where these positions are, in the coordinates of a state.
    ///
    /// # Panics
    /// If there are more or fewer positions than nodes.
    pub fn place(&self, positions: &[[f64; 3]], q: &mut [f64]) {
        assert_eq!(positions.len(), self.mesh.nodes().len(), "a position for each node");
        q[self.first..][..3 * positions.len()].copy_from_slice(positions.as_flattened());
    }
}
