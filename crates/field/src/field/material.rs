//! Constants of materials, and masses of nodes.

use super::FieldError;
use crate::geometry::{length, minus, tetrahedron_volume, triangle_area};
use crate::mesh::{CellKind, Mesh};
use leastaction_expr::Expr;

/// Lamé's parameters λ and μ, from Young's modulus and Poisson's ratio: λ = E ν/((1 + ν)(1 − 2ν)), μ = E/(2(1 + ν)).
///
/// ```
/// let (lambda, mu) = leastaction_field::lame(1000.0, 0.3);
/// assert!((lambda - 576.923076923077).abs() < 1e-11 && (mu - 384.615384615385).abs() < 1e-11);
/// ```
#[must_use]
pub fn lame(young: f64, poisson: f64) -> (f64, f64) {
    (young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)), young / (2.0 * (1.0 + poisson)))
}

/// The same of expressions.
pub(super) fn lame_of<'g>(young: Expr<'g>, poisson: Expr<'g>) -> (Expr<'g>, Expr<'g>) {
    (young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)), young / (2.0 * (1.0 + poisson)))
}

/// The mass of each node: equal shares of its cells, which have this density. It is a mass for each unit of volume of tetrahedra, of area of
/// triangles, or of length of segments, of whichever a mesh has in this order.
///
/// ```
/// use leastaction_field::{Mesh, lumped_masses};
/// let masses = lumped_masses(&Mesh::cuboid([1.0, 2.0, 3.0], [2, 2, 2])?, 10.0)?;
/// assert!((masses.iter().sum::<f64>() - 60.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`FieldError`] if the density is not positive, the mesh has no cells, or a node has no mass because it belongs to none of them.
pub fn lumped_masses(mesh: &Mesh, density: f64) -> Result<Vec<f64>, FieldError> {
    if !(density.is_finite() && density > 0.0) {
        return Err(FieldError::Density { density });
    }
    let mut masses = vec![0.0; mesh.nodes().len()];
    let mut share = |nodes: &[u32], extent: f64| {
        let each = density * extent / nodes.len() as f64;
        nodes.iter().for_each(|&node| masses[node as usize] += each);
    };
    let kinds = [CellKind::Tetrahedron, CellKind::Triangle, CellKind::Segment];
    match kinds.into_iter().find(|&kind| mesh.count(kind) > 0) {
        Some(CellKind::Tetrahedron) => {
            mesh.tetrahedra().iter().for_each(|&cell| share(&cell, tetrahedron_volume(mesh.at(cell))));
        }
        Some(CellKind::Triangle) => {
            mesh.triangles().iter().for_each(|&cell| share(&cell, triangle_area(mesh.at(cell))));
        }
        Some(_) => mesh.segments().iter().for_each(|&cell| {
            let [a, b] = mesh.at(cell);
            share(&cell, length(minus(b, a)));
        }),
        None => return Err(FieldError::NoCells),
    }
    match masses.iter().position(|&mass| mass <= 0.0) {
        Some(node) => Err(FieldError::NoMass { node, mass: masses[node] }),
        None => Ok(masses),
    }
}
