//! What weights are before anything is learned.

use crate::real::Real;
use leastaction_expr::Random;

/// How weights are drawn. Biases begin as zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Initial {
    /// Rows, or columns where these are fewer, are orthonormal (A. M. Saxe, J. L. McClelland, S. Ganguli, arXiv:1312.6120).
    Orthogonal,
    /// Normal, with the variance 2/(inputs + outputs) (X. Glorot, Y. Bengio, AISTATS 2010).
    Glorot,
}

impl Initial {
    /// The weights of a layer, row by row.
    pub(crate) fn draw<T: Real>(self, rows: usize, columns: usize, random: &mut Random, weights: &mut [T]) {
        match self {
            Initial::Glorot => {
                let deviation = (2.0 / (rows + columns) as f64).sqrt();
                weights.iter_mut().for_each(|weight| *weight = T::of(deviation * random.normal()));
            }
            Initial::Orthogonal => {
                let (count, length) = (rows.min(columns), rows.max(columns));
                for (i, vector) in orthonormal(count, length, random).iter().enumerate() {
                    for (k, &value) in vector.iter().enumerate() {
                        let place = if rows <= columns { i * columns + k } else { k * columns + i };
                        weights[place] = T::of(value);
                    }
                }
            }
        }
    }
}

/// So many vectors of a length, in directions without preference: normal numbers, made orthogonal one after the other, twice, as once would leave
/// rounding errors.
fn orthonormal(count: usize, length: usize, random: &mut Random) -> Vec<Vec<f64>> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut vectors: Vec<Vec<f64>> = Vec::with_capacity(count);
    while vectors.len() < count {
        let mut vector: Vec<f64> = (0..length).map(|_| random.normal()).collect();
        for _ in 0..2 {
            for other in &vectors {
                let along = dot(&vector, other);
                vector.iter_mut().zip(other).for_each(|(x, y)| *x -= along * y);
            }
            let size = dot(&vector, &vector).sqrt();
            vector.iter_mut().for_each(|x| *x /= size);
        }
        vectors.push(vector);
    }
    vectors
}
