//! Inertias of simple shapes, homogeneous and centred at the origin.
//!
//! Second moments per unit mass; moments of inertia follow (W. D. MacMillan, *Dynamics of Rigid Bodies*, 1936, ch. 1).

use super::inertia::{Inertia, InertiaError, Matter, positive};
use std::f64::consts::PI;

impl Inertia {
    /// A thin rod along x: l²/12.
    ///
    /// # Errors
    /// [`InertiaError`] if matter or length are not positive.
    pub fn rod(matter: impl Into<Matter>, length: f64) -> Result<Inertia, InertiaError> {
        positive("rod", "length", length)?;
        Inertia::new(matter.into(), length, [length * length / 12.0, 0.0, 0.0])
    }

    /// A thin disk in the xy plane: r²/4 along x and y.
    ///
    /// # Errors
    /// [`InertiaError`] if matter or radius are not positive.
    pub fn disk(matter: impl Into<Matter>, radius: f64) -> Result<Inertia, InertiaError> {
        positive("disk", "radius", radius)?;
        let square = radius * radius;
        Inertia::new(matter.into(), PI * square, [square / 4.0, square / 4.0, 0.0])
    }

    /// A thin rectangular plate in the xy plane, by its edges: a²/12 and b²/12.
    ///
    /// # Errors
    /// [`InertiaError`] if matter or an edge is not positive.
    pub fn plate(matter: impl Into<Matter>, [a, b]: [f64; 2]) -> Result<Inertia, InertiaError> {
        positive("plate", "edge along x", a)?;
        positive("plate", "edge along y", b)?;
        Inertia::new(matter.into(), a * b, [a * a / 12.0, b * b / 12.0, 0.0])
    }

    /// A box, by its edges along x, y and z: a²/12, b²/12 and c²/12.
    ///
    /// # Errors
    /// [`InertiaError`] if matter or an edge is not positive.
    pub fn cuboid(matter: impl Into<Matter>, edges: [f64; 3]) -> Result<Inertia, InertiaError> {
        for (what, edge) in ["edge along x", "edge along y", "edge along z"].into_iter().zip(edges) {
            positive("cuboid", what, edge)?;
        }
        Inertia::new(matter.into(), edges.iter().product(), edges.map(|a| a * a / 12.0))
    }

    /// A solid sphere: r²/5 each way.
    ///
    /// # Errors
    /// [`InertiaError`] if matter or radius are not positive.
    pub fn sphere(matter: impl Into<Matter>, radius: f64) -> Result<Inertia, InertiaError> {
        positive("sphere", "radius", radius)?;
        let square = radius * radius;
        Inertia::new(matter.into(), 4.0 / 3.0 * PI * square * radius, [square / 5.0; 3])
    }

    /// A solid cylinder with its axis along z: r²/4 along x and y, h²/12 along z.
    ///
    /// # Errors
    /// [`InertiaError`] if matter, radius or height are not positive.
    pub fn cylinder(matter: impl Into<Matter>, radius: f64, height: f64) -> Result<Inertia, InertiaError> {
        positive("cylinder", "radius", radius)?;
        positive("cylinder", "height", height)?;
        let square = radius * radius;
        let moments = [square / 4.0, square / 4.0, height * height / 12.0];
        Inertia::new(matter.into(), PI * square * height, moments)
    }

    /// A solid cone with its axis along z and its centre of mass at the origin: 3r²/20 along x and y, 3h²/80 along z. The base is at
    /// z = −h/4, the tip at z = 3h/4.
    ///
    /// # Errors
    /// [`InertiaError`] if matter, radius or height are not positive.
    pub fn cone(matter: impl Into<Matter>, radius: f64, height: f64) -> Result<Inertia, InertiaError> {
        positive("cone", "radius", radius)?;
        positive("cone", "height", height)?;
        let square = radius * radius;
        let moments = [0.15 * square, 0.15 * square, 0.0375 * height * height];
        Inertia::new(matter.into(), PI / 3.0 * square * height, moments)
    }
}
