//! Plates and cloths: rectangles of triangles.

use super::{ENDS, ShapeError, bounded, positive, with_nodes};
use crate::mesh::Mesh;

impl Mesh {
    /// The rectangle \[0, size\] in the plane z = 0, of so many cells, two triangles each, that are seen from above counterclockwise.
    /// Diagonals alternate, so that no direction is stiffer than the one across it. Node (i, j) has the number i + (n₁ + 1) j. Its sides
    /// are groups of nodes: `x0` and `x1`, `y0` and `y1`.
    ///
    /// ```
    /// let cloth = leastaction_field::Mesh::plate([2.0, 1.0], [20, 10])?;
    /// assert_eq!((cloth.triangles().len(), cloth.rim().len()), (400, 60));
    /// # Ok::<(), leastaction_field::ShapeError>(())
    /// ```
    ///
    /// # Errors
    /// [`ShapeError`] if a size is not positive, or there are no cells or too many.
    pub fn plate(size: [f64; 2], cells: [u32; 2]) -> Result<Mesh, ShapeError> {
        size.into_iter().try_for_each(|size| positive("plate", "size", size))?;
        bounded("plate", "cells", &cells, 2)?;
        let along = |axis: usize, i: u32| f64::from(i) / f64::from(cells[axis]) * size[axis];
        let places = (0..=cells[1]).flat_map(|j| (0..=cells[0]).map(move |i| (i, j)));
        let nodes = places.map(|(i, j)| [along(0, i), along(1, j), 0.0]).collect();
        let mut triangles = Vec::with_capacity(2 * cells[0] as usize * cells[1] as usize);
        for (j, i) in (0..cells[1]).flat_map(|j| (0..cells[0]).map(move |i| (j, i))) {
            let a = i + (cells[0] + 1) * j;
            let [b, c, d] = [a + 1, a + cells[0] + 2, a + cells[0] + 1];
            triangles.extend(if (i + j) % 2 == 0 { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] });
        }
        let mut mesh = Mesh::new(nodes)?.with_triangles(triangles)?;
        for axis in 0..2 {
            for (name, end) in ENDS[axis].into_iter().zip([0.0, size[axis]]) {
                mesh = with_nodes(mesh, name, |at| at[axis] == end)?;
            }
        }
        Ok(mesh)
    }
}
