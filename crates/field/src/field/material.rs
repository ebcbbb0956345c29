//! Constants of materials, and masses of nodes.

use super::FieldError;
use crate::geometry::{length, minus, tetrahedron_volume, triangle_area};
use crate::mesh::{CellKind, Mesh};
use leastaction_expr::Expr;
use leastaction_mechanics::MassMatrix;

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
    let mut masses = vec![0.0; mesh.nodes().len()];
    each_cell(mesh, density, |nodes, mass| {
        let each = mass / nodes.len() as f64;
        nodes.iter().for_each(|&node| masses[node as usize] += each);
    })?;
    match masses.iter().position(|&mass| mass <= 0.0) {
        Some(node) => Err(FieldError::NoMass { node, mass: masses[node] }),
        None => Ok(masses),
    }
}

/// The consistent mass matrix of a mesh: ∫ρ Nᵢ Nⱼ of the linear functions Nᵢ that are 1 at a node and 0 at the others, for cells as in [`lumped_masses`]. The kinetic
/// energy of velocities that are linear in space is exact. Frequencies of vibrations are too high on coarse meshes, where lumped masses mostly make them too low.
///
/// ```
/// use leastaction_field::{Mesh, consistent_masses};
/// let masses = consistent_masses(&Mesh::cuboid([1.0, 2.0, 3.0], [2, 2, 2])?, 10.0)?;
/// assert!((masses.row_sums().iter().sum::<f64>() - 60.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`lumped_masses`].
pub fn consistent_masses(mesh: &Mesh, density: f64) -> Result<MassMatrix, FieldError> {
    let count = mesh.nodes().len();
    let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); count];
    each_cell(mesh, density, |nodes, mass| {
        // Of d dimensions, an entry is m/((d + 1)(d + 2)), and twice that on the diagonal.
        let each = mass / (nodes.len() * (nodes.len() + 1)) as f64;
        for &i in nodes {
            for &j in nodes {
                let value = if i == j { 2.0 * each } else { each };
                let row = &mut rows[i as usize];
                match row.iter_mut().find(|(column, _)| *column == j) {
                    Some((_, sum)) => *sum += value,
                    None => row.push((j, value)),
                }
            }
        }
    })?;
    if let Some(node) = rows.iter().position(|row| row.iter().all(|(_, mass)| *mass <= 0.0)) {
        return Err(FieldError::NoMass { node, mass: 0.0 });
    }
    Ok(MassMatrix::from_rows(rows))
}

/// Shows the cells that have mass, and how much.
fn each_cell(mesh: &Mesh, density: f64, mut show: impl FnMut(&[u32], f64)) -> Result<(), FieldError> {
    if !(density.is_finite() && density > 0.0) {
        return Err(FieldError::Density { density });
    }
    let kinds = [CellKind::Tetrahedron, CellKind::Triangle, CellKind::Segment];
    match kinds.into_iter().find(|&kind| mesh.count(kind) > 0) {
        Some(CellKind::Tetrahedron) => {
            mesh.tetrahedra()
                .iter()
                .for_each(|&cell| show(&cell, density * tetrahedron_volume(mesh.at(cell))));
        }
        Some(CellKind::Triangle) => {
            mesh.triangles().iter().for_each(|&cell| show(&cell, density * triangle_area(mesh.at(cell))));
        }
        Some(_) => mesh.segments().iter().for_each(|&cell| {
            let [a, b] = mesh.at(cell);
            show(&cell, density * length(minus(b, a)));
        }),
        None => return Err(FieldError::NoCells),
    }
    Ok(())
}
