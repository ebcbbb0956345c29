//! Meshes that move.

use leastaction_field::{Inversion, Mesh, Over, Vector};
use std::sync::Arc;

/// A mesh whose nodes are particles of a model, as a text declares it.
#[derive(Clone, Debug, PartialEq)]
pub struct MovingMesh {
    /// Its name.
    pub name: String,
    /// Its cells and groups, and where its nodes are at rest.
    pub mesh: Arc<Mesh>,
    /// The number of the coordinate x of its first node among the coordinates as they are declared; y and z follow, and then those of the other
    /// nodes. Coordinates that are held are not in the state, so positions are found by [`MovingMesh::first_place`].
    pub first_coordinate: usize,
    /// The number of its first node among the places of the system, whose positions `Dynamics::positions` gives: all nodes, those that are held too.
    pub first_place: usize,
    /// The fields on it.
    pub fields: Vec<MeshField>,
    /// Where its nodes start.
    pub start: Vec<Vector>,
    /// How fast they are then, if they are not at rest.
    pub velocities: Option<Vec<Vector>>,
}

/// A field on a mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshField {
    /// Its name, which is that of its share of the energy.
    pub name: String,
    /// What it has an energy for.
    pub over: Over,
    /// How many elements it has.
    pub elements: usize,
    /// What it makes of tetrahedra that are turned inside out.
    pub inversion: Inversion,
}
