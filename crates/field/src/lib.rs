//! Meshes, and energies of their elements.

#![forbid(unsafe_code)]

mod check;
pub mod format;
mod geometry;
mod mesh;
mod shape;
mod topology;

pub use check::{Meeting, MeshError};
pub use format::{FormatError, ReadError};
pub use mesh::{CellKind, Group, Mesh, Vector};
pub use shape::{Lattice, MOST_CELLS, ShapeError};
