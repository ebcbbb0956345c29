//! Uniform rods by their ends.

use leastaction_expr::Expr;
use leastaction_mechanics::Model;

/// Adds a uniform rod of a mass and a length between two points of a plane, in gravity g:
///
/// $$T=\tfrac m6(|\dot a|^2+\dot a\cdot\dot b+|\dot b|^2),\qquad|a-b|=l$$
///
/// (J. García de Jalón and E. Bayo, *Kinematic and Dynamic Simulation of Multibody Systems*, 1994, section 4.2).
pub(crate) fn rod<'g>(
    model: &mut Model<'g>,
    name: &str,
    (mass, length, g): (f64, f64, Expr<'g>),
    [a, b]: [[Expr<'g>; 2]; 2],
) {
    let ([u, v], [w, z]) = (model.velocities(a), model.velocities(b));
    model.kinetic(name, mass / 6.0 * (u * u + v * v + u * w + v * z + w * w + z * z));
    model.potential(name, mass * g * (a[1] + b[1]) / 2.0);
    model.constraint(name, (a[0] - b[0]).pow(2.0) + (a[1] - b[1]).pow(2.0), length * length);
}
