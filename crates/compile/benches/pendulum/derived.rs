//! The chain of pendulums, from its energies: what leastaction makes of it.

use leastaction_expr::{Expr, Graph, jacobian, jvp, vjp};

/// Inputs (angles, then rates) and outputs (rates, then accelerations) of a chain of `n` unit pendulums.
///
/// With positions x(q), velocities are v = J q̇ and accelerations J q̈ + J̇ q̇, all by forward sweeps. The equations
/// of motion JᵀJ q̈ = −∇V − Jᵀ J̇ q̇ need one reverse sweep.
pub(crate) fn field(graph: &Graph, n: usize) -> (Vec<Expr<'_>>, Vec<Expr<'_>>) {
    let angles: Vec<_> = (0..n).map(|i| graph.symbol(&format!("th{i}"))).collect();
    let rates: Vec<_> = angles.iter().filter_map(|q| q.dot()).collect();
    let along: Vec<_> = angles.iter().copied().zip(rates.iter().copied()).collect();
    let positions = positions(graph, &angles);
    let bias = jvp(&jvp(&positions, &along), &along);
    let gravity = [graph.number(0.0), graph.number(-9.81)];
    let loads: Vec<_> = bias.iter().zip(gravity.iter().cycle()).map(|(&a, &g)| g - a).collect();
    let forces = vjp(&positions, &angles, &loads);

    let mut slopes = vec![vec![graph.number(0.0); n]; 2 * n];
    for entry in jacobian(&positions, &angles) {
        slopes[entry.row][entry.column] = entry.value;
    }
    let mut mass = vec![vec![graph.number(0.0); n]; n];
    for particle in slopes.chunks_exact(2) {
        for i in 0..n {
            for j in 0..=i {
                mass[i][j] += particle[0][i] * particle[0][j] + particle[1][i] * particle[1][j];
            }
        }
    }
    let accelerations = solve(mass, forces);
    let inputs = angles.into_iter().chain(rates.iter().copied()).collect();
    (inputs, rates.into_iter().chain(accelerations).collect())
}

/// Horizontal and vertical positions of the masses, in turn.
fn positions<'g>(graph: &'g Graph, angles: &[Expr<'g>]) -> Vec<Expr<'g>> {
    let (mut x, mut y) = (graph.number(0.0), graph.number(0.0));
    let mut positions = Vec::new();
    for &angle in angles {
        x += angle.sin();
        y -= angle.cos();
        positions.extend([x, y]);
    }
    positions
}

/// The solution of a symmetric system by LDLᵀ, written out. Only the lower triangle is read.
fn solve<'g>(mut a: Vec<Vec<Expr<'g>>>, mut b: Vec<Expr<'g>>) -> Vec<Expr<'g>> {
    let n = b.len();
    let mut inverse_pivots = Vec::with_capacity(n);
    for j in 0..n {
        inverse_pivots.push(1.0 / a[j][j]);
        for i in j + 1..n {
            let factor = a[i][j] * inverse_pivots[j];
            for k in j + 1..=i {
                a[i][k] = a[i][k] - factor * a[k][j];
            }
            b[i] = b[i] - factor * b[j];
        }
    }
    for i in (0..n).rev() {
        for j in i + 1..n {
            b[i] = b[i] - a[j][i] * b[j];
        }
        b[i] *= inverse_pivots[i];
    }
    b
}
