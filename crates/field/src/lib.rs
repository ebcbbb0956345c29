//! Meshes, and energies of their elements.

#![forbid(unsafe_code)]

mod check;
mod field;
pub mod format;
mod geometry;
mod mesh;
mod shape;
mod topology;

pub use check::{Meeting, MeshError};
pub use field::{
    ALL as FIELDS, Card, Element, ExprVector, Field, FieldError, Inversion, Keep, Movable, Nodes, NodesError,
    Over, Parameter, Per, Point, Value, add_coupled_nodes, add_nodes, at_places, consistent_masses,
    enclosed_elements, enclosed_volume, keep_elements, lame, lumped_masses, shipped,
};
pub use format::{FormatError, ReadError};
pub use mesh::{CellKind, Group, Mesh, Vector};
pub use shape::{Lattice, MOST_CELLS, ShapeError};
