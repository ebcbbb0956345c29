//! Boxes and beams of tetrahedra by Kuhn's rule: each cell is cut into the six tetrahedra along the paths from its lowest to its highest
//! corner, so that neighbours fit (H. W. Kuhn, doi:10.1147/rd.45.0518).

use super::{ENDS, ShapeError, bounded, positive, with_nodes};
use crate::mesh::Mesh;

/// The orders of axes in which paths go, and whether the order is odd: then the last two nodes are swapped, so that volumes are positive.
const PATHS: [([usize; 3], bool); 6] = [
    ([0, 1, 2], false),
    ([0, 2, 1], true),
    ([1, 0, 2], true),
    ([1, 2, 0], false),
    ([2, 0, 1], false),
    ([2, 1, 0], true),
];

impl Mesh {
    /// The box \[0, size\] of so many cells along each axis, six tetrahedra each. Node (i, j, k) has the number
    /// i + (n₁ + 1)(j + (n₂ + 1) k). Its faces are groups of nodes: `x0` and `x1`, `y0` and `y1`, `z0` and `z1`.
    ///
    /// ```
    /// let block = leastaction_field::Mesh::cuboid([1.0, 1.0, 2.0], [4, 4, 8])?;
    /// assert_eq!((block.nodes().len(), block.tetrahedra().len()), (225, 768));
    /// assert_eq!(block.group_nodes("z0").map(|nodes| nodes.len()), Some(25));
    /// # Ok::<(), leastaction_field::ShapeError>(())
    /// ```
    ///
    /// # Errors
    /// [`ShapeError`] if a size is not positive, or there are no cells or too many.
    pub fn cuboid(size: [f64; 3], cells: [u32; 3]) -> Result<Mesh, ShapeError> {
        size.into_iter().try_for_each(|size| positive("box", "size", size))?;
        bounded("box", "cells", &cells, PATHS.len() as u64)?;
        let [columns, rows, _] = cells.map(|cells| cells + 1);
        let number = |[i, j, k]: [u32; 3]| i + columns * (j + rows * k);
        let along = |axis: usize, i: u32| f64::from(i) / f64::from(cells[axis]) * size[axis];
        let mut nodes = Vec::with_capacity(cells.iter().map(|&cells| cells as usize + 1).product());
        for (k, j) in (0..=cells[2]).flat_map(|k| (0..=cells[1]).map(move |j| (k, j))) {
            nodes.extend((0..=cells[0]).map(|i| [along(0, i), along(1, j), along(2, k)]));
        }
        let mut tetrahedra =
            Vec::with_capacity(6 * cells.iter().map(|&cells| cells as usize).product::<usize>());
        for (k, j) in (0..cells[2]).flat_map(|k| (0..cells[1]).map(move |j| (k, j))) {
            for i in 0..cells[0] {
                for (path, odd) in PATHS {
                    let mut corner = [i, j, k];
                    let mut nodes = [number(corner); 4];
                    for (node, axis) in nodes[1..].iter_mut().zip(path) {
                        corner[axis] += 1;
                        *node = number(corner);
                    }
                    if odd {
                        nodes.swap(2, 3);
                    }
                    tetrahedra.push(nodes);
                }
            }
        }
        let mut mesh = Mesh::new(nodes)?.with_tetrahedra(tetrahedra)?;
        for axis in 0..3 {
            for (name, end) in ENDS[axis].into_iter().zip([0.0, size[axis]]) {
                mesh = with_nodes(mesh, name, |at| at[axis] == end)?;
            }
        }
        Ok(mesh)
    }

    /// A beam along z, from the origin: a box with this cross-section. Its ends are the groups of nodes `z0` and `z1`.
    ///
    /// # Errors
    /// As [`Mesh::cuboid`].
    pub fn beam(section: [f64; 2], length: f64, across: [u32; 2], along: u32) -> Result<Mesh, ShapeError> {
        Mesh::cuboid([section[0], section[1], length], [across[0], across[1], along])
    }
}
