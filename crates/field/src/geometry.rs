//! Lengths, areas and volumes.

use crate::mesh::{Mesh, Vector};

pub(crate) fn minus(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|i| a[i] - b[i])
}

pub(crate) fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(crate) fn length(a: Vector) -> f64 {
    dot(a, a).sqrt()
}

pub(crate) fn segment_length([a, b]: [Vector; 2]) -> f64 {
    length(minus(b, a))
}

/// The volume of a tetrahedron, negative if it is inverted.
pub(crate) fn tetrahedron_volume([a, b, c, d]: [Vector; 4]) -> f64 {
    dot(minus(b, a), cross(minus(c, a), minus(d, a))) / 6.0
}

pub(crate) fn triangle_area([a, b, c]: [Vector; 3]) -> f64 {
    length(cross(minus(b, a), minus(c, a))) / 2.0
}

impl Mesh {
    /// The volume of each tetrahedron, negative if it is inverted.
    #[must_use]
    pub fn volumes(&self) -> Vec<f64> {
        self.tetrahedra().iter().map(|&nodes| tetrahedron_volume(self.at(nodes))).collect()
    }

    /// The volume: of the tetrahedra, or, if there are none, that which the triangles enclose (V = ⅙ Σ a · (b × c), of a closed
    /// surface only).
    #[must_use]
    pub fn volume(&self) -> f64 {
        if !self.tetrahedra().is_empty() {
            return self.volumes().iter().sum();
        }
        // From a node of the surface, so that a surface far from the origin loses no digits.
        let Some(&origin) = self.nodes().first() else { return 0.0 };
        let cone = |&nodes: &[u32; 3]| {
            let [a, b, c] = self.at(nodes).map(|x| minus(x, origin));
            dot(a, cross(b, c)) / 6.0
        };
        self.triangles().iter().map(cone).sum()
    }

    /// The area of all triangles.
    #[must_use]
    pub fn area(&self) -> f64 {
        self.triangles().iter().map(|&nodes| triangle_area(self.at(nodes))).sum()
    }
}
