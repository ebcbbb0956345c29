//! Small motions with forces that depend on velocities: damping, which takes energy out, and gyroscopic forces, which turn.
//!
//! In the normal modes as coordinates, M is 1 and K is diagonal: u̇ = w, ẇ = −Ku − (ΦᵀDΦ)w, whose motions are e^{λt} with the eigenvalues λ of that
//! matrix (F. Tisseur and K. Meerbergen, SIAM Rev. 43 (2001) 235, doi:10.1137/S0036144500381988).

use crate::error::AnalyzeError;
use crate::modes::Mode;
use crate::rest::{Rest, dot};
use leastaction_linear::eigen;

/// The largest number of coordinates that is solved for with such forces.
pub(crate) const MOST_COUPLED: usize = 256;

/// A motion e^{λt} about an equilibrium. A pair of conjugate λ is one motion.
#[derive(Clone, Debug, PartialEq)]
pub struct Spiral {
    /// The angular frequency: the imaginary part of λ, not negative.
    pub frequency: f64,
    /// The rate of growth: the real part of λ, below 0 for what decays.
    pub growth: f64,
    /// How coordinates move: u = Re (shape + i·quadrature) e^{λt}.
    pub shape: Vec<f64>,
    /// A quarter of a period before.
    pub quadrature: Vec<f64>,
}

/// The slowest motions with such forces, if they act at q.
pub(crate) fn spirals(
    rest: &mut Rest<'_>,
    q: &[f64],
    modes: &[Mode],
    count: usize,
) -> Result<Option<Vec<Spiral>>, AnalyzeError> {
    let (n, m, t) = (rest.n, modes.len(), rest.t);
    let mut acts = false;
    let mut matrix = vec![0.0; 4 * m * m];
    let mut image = vec![0.0; n];
    for (j, mode) in modes.iter().enumerate() {
        rest.linear.damping(rest.dynamics, t, q, &mode.shape, &mut image)?;
        acts |= image.iter().any(|force| *force != 0.0);
        matrix[j * 2 * m + m + j] = 1.0;
        matrix[(m + j) * 2 * m + j] = -mode.square;
        for (i, other) in modes.iter().enumerate() {
            matrix[(m + i) * 2 * m + m + j] = -dot(&other.shape, &image);
        }
    }
    if !acts {
        return Ok(None);
    }
    let Some((values, vectors)) = eigen::general(&matrix, 2 * m) else {
        return Err(AnalyzeError::Modes { count, products: 0, residual: f64::NAN });
    };
    let size = values.iter().fold(0.0f64, |most, z| most.max(z.re.hypot(z.im)));
    let mut spirals = Vec::new();
    for (k, value) in values.iter().enumerate() {
        if value.im < -1e-9 * size || (value.im < 0.0 && spirals.len() == 2 * m) {
            continue;
        }
        let u = &vectors[k * 2 * m..][..m];
        let (mut shape, mut quadrature) = (vec![0.0; n], vec![0.0; n]);
        for (mode, u) in modes.iter().zip(u) {
            shape.iter_mut().zip(&mode.shape).for_each(|(x, phi)| *x += u.re * phi);
            quadrature.iter_mut().zip(&mode.shape).for_each(|(x, phi)| *x += u.im * phi);
        }
        spirals.push(Spiral { frequency: value.im.max(0.0), growth: value.re, shape, quadrature });
    }
    let order =
        |a: &Spiral, b: &Spiral| a.frequency.total_cmp(&b.frequency).then(b.growth.total_cmp(&a.growth));
    spirals.sort_by(order);
    spirals.truncate(count.max(1) * 2);
    Ok(Some(spirals))
}
