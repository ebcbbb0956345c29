//! Meshes of simple shapes, one file each.

mod ball;
mod cuboid;
mod lattice;
mod plate;
mod rope;
mod sphere;

pub use lattice::Lattice;

use crate::check::MeshError;
use crate::mesh::{CellKind, Group, Mesh};

/// Why a shape cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ShapeError {
    /// A size is not positive and finite.
    #[error("the {what} of a {shape} is {value}: it must be positive and finite")]
    Size {
        /// The shape.
        shape: &'static str,
        /// The size.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A direction has no cells.
    #[error("a {shape} needs at least one of its {what}")]
    NoCells {
        /// The shape.
        shape: &'static str,
        /// What there are none of.
        what: &'static str,
    },
    /// There would be too many cells.
    #[error("a {shape} of {cells} cells is more than {MOST_CELLS}: make it coarser")]
    TooFine {
        /// The shape.
        shape: &'static str,
        /// How many cells there would be, at least.
        cells: u64,
    },
    /// The mesh is wrong.
    #[error(transparent)]
    Mesh(#[from] MeshError),
}

/// The most cells that a shape may have: some gigabytes of them.
pub const MOST_CELLS: u64 = 100_000_000;

fn positive(shape: &'static str, what: &'static str, value: f64) -> Result<(), ShapeError> {
    if value.is_finite() && value > 0.0 { Ok(()) } else { Err(ShapeError::Size { shape, what, value }) }
}

/// Checks numbers of cells, of which there are so many for each place of a grid.
fn bounded(shape: &'static str, what: &'static str, counts: &[u32], each: u64) -> Result<(), ShapeError> {
    if counts.contains(&0) {
        return Err(ShapeError::NoCells { shape, what });
    }
    let cells = counts.iter().fold(each, |cells, &count| cells.saturating_mul(u64::from(count)));
    if cells > MOST_CELLS { Err(ShapeError::TooFine { shape, cells }) } else { Ok(()) }
}

/// Adds the nodes that fulfil a condition as a group.
fn with_nodes(mesh: Mesh, name: &str, condition: impl Fn([f64; 3]) -> bool) -> Result<Mesh, MeshError> {
    let members = mesh.nodes_where(condition);
    mesh.with_group(Group { name: name.to_owned(), kind: CellKind::Node, members })
}

/// The names of the ends of an axis: `x0` and `x1`, and so on.
const ENDS: [[&str; 2]; 3] = [["x0", "x1"], ["y0", "y1"], ["z0", "z1"]];
