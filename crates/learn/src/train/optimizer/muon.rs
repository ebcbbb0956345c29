//! Muon (K. Jordan and others, *Muon: an optimizer for hidden layers in neural networks*, 2024; with the size of steps of J. Liu and others, arXiv:2502.16982): a matrix of weights is changed
//! along its momentum with all singular values made equal, as Newton and Schulz's iteration does it with products alone,
//!
//! $$X\leftarrow aX+b\,(XX^{\mathsf T})X+c\,(XX^{\mathsf T})^2X.$$

use super::Matrix;
use super::adamw::AdamW;
use leastaction_linear::{Onto, Rows, multiply};

/// How much of the momentum is kept from step to step.
const KEPT: f64 = 0.95;

/// Entries of a step are as large in the mean as those of AdamW are.
const SIZE: f64 = 0.2;

/// a, b and c: singular values come near 1 in few iterations, and nothing is gained by coming nearer.
const COEFFICIENTS: [f64; 3] = [3.4445, -4.7750, 2.0315];

const ITERATIONS: usize = 5;

pub(super) fn change(
    adamw: &mut AdamW,
    matrix: &Matrix,
    rate: f64,
    gradient: &[f64],
    parameters: &mut [f64],
) {
    let means = &mut adamw.means[matrix.range.clone()];
    let mut ahead = Vec::with_capacity(gradient.len());
    for (mean, &g) in means.iter_mut().zip(gradient) {
        *mean = KEPT * *mean + g;
        ahead.push(KEPT * *mean + g);
    }
    orthogonalize(&mut ahead, matrix.rows, matrix.columns);
    let (kept, size) =
        (1.0 - rate * adamw.options.decay, rate * SIZE * (matrix.rows.max(matrix.columns) as f64).sqrt());
    for (weight, x) in parameters[matrix.range.clone()].iter_mut().zip(&ahead) {
        *weight = *weight * kept - size * x;
    }
}

/// Makes singular values about 1.
fn orthogonalize(x: &mut [f64], rows: usize, columns: usize) {
    let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
    if length == 0.0 {
        return;
    }
    x.iter_mut().for_each(|x| *x /= length);
    let [a, b, c] = COEFFICIENTS;
    // The smaller one of X Xᵀ and Xᵀ X.
    let wide = rows <= columns;
    let n = rows.min(columns);
    let (mut gram, mut sum, mut next) = (vec![0.0; n * n], vec![0.0; n * n], vec![0.0; x.len()]);
    for _ in 0..ITERATIONS {
        let own = Rows::new(x, rows, columns);
        let [left, right] = if wide { [own, own.transposed()] } else { [own.transposed(), own] };
        multiply(&mut gram, Onto::Replaced, left, right);
        multiply(&mut sum, Onto::Replaced, Rows::new(&gram, n, n), Rows::new(&gram, n, n));
        sum.iter_mut().zip(&gram).for_each(|(square, gram)| *square = b * gram + c * *square);
        let factor = Rows::new(&sum, n, n);
        let [left, right] = if wide { [factor, own] } else { [own, factor] };
        multiply(&mut next, Onto::Replaced, left, right);
        x.iter_mut().zip(&next).for_each(|(x, next)| *x = a * *x + next);
    }
}

#[cfg(test)]
mod tests {
    use super::orthogonalize;
    use leastaction_expr::Random;

    #[test]
    fn singular_values_come_near_one() {
        let mut random = Random::new(3);
        for (rows, columns) in [(6, 4), (4, 6), (5, 5)] {
            let mut x: Vec<f64> = (0..rows * columns).map(|_| random.normal()).collect();
            orthogonalize(&mut x, rows, columns);
            let n = rows.min(columns);
            let entry = |i: usize, j: usize| -> f64 {
                match rows <= columns {
                    true => (0..columns).map(|k| x[i * columns + k] * x[j * columns + k]).sum(),
                    false => (0..rows).map(|k| x[k * columns + i] * x[k * columns + j]).sum(),
                }
            };
            let gram: Vec<f64> = (0..n * n).map(|place| entry(place / n, place % n)).collect();
            let (squares, _) = leastaction_linear::eigen::symmetric(&gram, n).unwrap();
            assert!(squares.iter().all(|square| (0.3..1.6).contains(square)), "{squares:?}");
        }
    }
}
