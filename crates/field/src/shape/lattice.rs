//! Lattices of atoms.

use super::{ShapeError, bounded, positive};
use crate::mesh::{Mesh, Vector};

/// A cubic Bravais lattice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lattice {
    /// Simple cubic: one atom in each cell.
    Simple,
    /// Body-centred cubic: two.
    BodyCentred,
    /// Face-centred cubic: four.
    FaceCentred,
}

impl Lattice {
    /// Every lattice.
    pub const ALL: [Lattice; 3] = [Lattice::Simple, Lattice::BodyCentred, Lattice::FaceCentred];

    /// Its short name: `sc`, `bcc` or `fcc`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Lattice::Simple => "sc",
            Lattice::BodyCentred => "bcc",
            Lattice::FaceCentred => "fcc",
        }
    }

    /// The atoms of a cell, in units of its edge.
    fn basis(self) -> &'static [Vector] {
        match self {
            Lattice::Simple => &[[0.0; 3]],
            Lattice::BodyCentred => &[[0.0; 3], [0.5; 3]],
            Lattice::FaceCentred => &[[0.0; 3], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5], [0.0, 0.5, 0.5]],
        }
    }
}

impl Mesh {
    /// The atoms of so many cells of a cubic lattice along each axis, from the origin on, with this edge of a cell: nodes without cells.
    /// The cell along x is the fastest to change.
    ///
    /// ```
    /// use leastaction_field::{Lattice, Mesh};
    /// let copper = Mesh::lattice(Lattice::FaceCentred, 3.61, [3, 3, 3])?;
    /// assert_eq!(copper.nodes().len(), 4 * 27);
    /// # Ok::<(), leastaction_field::ShapeError>(())
    /// ```
    ///
    /// # Errors
    /// [`ShapeError`] if the edge is not positive, or there are no cells or too many.
    pub fn lattice(lattice: Lattice, edge: f64, cells: [u32; 3]) -> Result<Mesh, ShapeError> {
        positive("lattice", "edge", edge)?;
        let basis = lattice.basis();
        bounded("lattice", "cells", &cells, basis.len() as u64)?;
        let mut nodes =
            Vec::with_capacity(basis.len() * cells.iter().map(|&n| n as usize).product::<usize>());
        for (k, j) in (0..cells[2]).flat_map(|k| (0..cells[1]).map(move |j| (k, j))) {
            for i in 0..cells[0] {
                let corner = [i, j, k].map(f64::from);
                nodes.extend(basis.iter().map(|atom| -> Vector {
                    std::array::from_fn(|axis| (corner[axis] + atom[axis]) * edge)
                }));
            }
        }
        Ok(Mesh::new(nodes)?)
    }
}
