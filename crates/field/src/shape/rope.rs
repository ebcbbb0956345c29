//! Ropes and rods: segments in a line.

use super::{ShapeError, bounded, positive};
use crate::geometry::{length, minus};
use crate::mesh::{CellKind, Group, Mesh, Vector};

impl Mesh {
    /// So many equal segments from one point to another. The ends are the groups of nodes `start` and `end`.
    ///
    /// ```
    /// let rope = leastaction_field::Mesh::rope([0.0, 0.0, 0.0], [1.0, 0.0, 0.0], 10)?;
    /// assert_eq!((rope.nodes().len(), rope.bends().len()), (11, 9));
    /// # Ok::<(), leastaction_field::ShapeError>(())
    /// ```
    ///
    /// # Errors
    /// [`ShapeError`] if the points are at one place, or there are no segments or too many.
    pub fn rope(from: Vector, to: Vector, segments: u32) -> Result<Mesh, ShapeError> {
        positive("rope", "length", length(minus(to, from)))?;
        bounded("rope", "segments", &[segments], 1)?;
        let place = |i: u32| {
            let s = f64::from(i) / f64::from(segments);
            // Both ends are exact.
            std::array::from_fn(|axis| from[axis] * (1.0 - s) + to[axis] * s)
        };
        let nodes = (0..=segments).map(place).collect();
        let mesh = Mesh::new(nodes)?.with_segments((0..segments).map(|i| [i, i + 1]).collect())?;
        let end =
            |name: &str, node| Group { name: name.to_owned(), kind: CellKind::Node, members: vec![node] };
        Ok(mesh.with_group(end("start", 0))?.with_group(end("end", segments))?)
    }
}
