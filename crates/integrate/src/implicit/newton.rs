//! Newton's method for lanes that iteration does not solve: (1 − g′(x)) δ = g(x) − x, from x = 0.

use super::{Equation, Front, Lane};
use leastaction_mechanics::EvalError;

const MAX_ITERATIONS: u32 = 50;

/// The memory of the iteration.
pub(super) struct Newton {
    dimension: usize,
    /// g′ of all lanes, by rows.
    slopes: Vec<f64>,
    /// 1 − g′ of one lane.
    matrix: Vec<f64>,
    side: Vec<f64>,
}

impl Newton {
    pub(super) fn new(dimension: usize, width: usize) -> Newton {
        let square = dimension * dimension;
        Newton {
            dimension,
            slopes: vec![0.0; square * width],
            matrix: vec![0.0; square],
            side: vec![0.0; dimension],
        }
    }

    /// Iterates until all lanes are done, or for a while. Returns how many iterations were made.
    pub(super) fn iterate<const W: usize>(
        &mut self,
        x: &mut [f64],
        front: &mut Front<'_, W>,
        equation: &mut impl Equation,
    ) -> Result<u32, EvalError> {
        front.restart();
        for (j, lane) in front.progress.iter().enumerate() {
            if lane.state == Lane::Open {
                x.iter_mut().skip(j).step_by(W).for_each(|x| *x = 0.0);
            }
        }
        for k in 0..MAX_ITERATIONS {
            equation.image(x, front.image)?;
            front.compare(x);
            if !front.is_done() {
                equation.slope(x, &mut self.slopes)?;
            }
            for j in 0..W {
                match front.progress[j].state {
                    Lane::Open => self.correct::<W>(j, x, front.image),
                    Lane::Closing => (j..x.len()).step_by(W).for_each(|i| x[i] = front.image[i]),
                    Lane::Resting => {}
                }
            }
            if front.is_done() || front.is_lost() {
                return Ok(k + 1);
            }
        }
        Ok(MAX_ITERATIONS)
    }

    /// Moves a lane to where its equation would be solved if it were linear.
    fn correct<const W: usize>(&mut self, lane: usize, x: &mut [f64], image: &[f64]) {
        let d = self.dimension;
        for (place, entry) in self.matrix.iter_mut().enumerate() {
            *entry = f64::from(place / d == place % d) - self.slopes[place * W + lane];
        }
        for (i, side) in self.side.iter_mut().enumerate() {
            *side = image[i * W + lane] - x[i * W + lane];
        }
        eliminate(&mut self.matrix, &mut self.side);
        for (i, step) in self.side.iter().enumerate() {
            x[i * W + lane] += step;
        }
    }
}

/// Solves a system of linear equations by elimination with partial pivoting. A singular matrix leaves numbers that are not finite,
/// which the next comparison finds.
fn eliminate(matrix: &mut [f64], side: &mut [f64]) {
    let d = side.len();
    for c in 0..d {
        let size = |r: &usize| matrix[r * d + c].abs();
        let pivot = (c..d).max_by(|a, b| size(a).total_cmp(&size(b))).unwrap_or(c);
        if pivot != c {
            (0..d).for_each(|k| matrix.swap(c * d + k, pivot * d + k));
            side.swap(c, pivot);
        }
        for r in c + 1..d {
            let factor = matrix[r * d + c] / matrix[c * d + c];
            if factor != 0.0 {
                (c..d).for_each(|k| matrix[r * d + k] -= factor * matrix[c * d + k]);
                side[r] -= factor * side[c];
            }
        }
    }
    for r in (0..d).rev() {
        let later: f64 = (r + 1..d).map(|k| matrix[r * d + k] * side[k]).sum();
        side[r] = (side[r] - later) / matrix[r * d + r];
    }
}

#[cfg(test)]
mod tests {
    use super::eliminate;

    #[test]
    fn elimination_pivots() {
        let mut matrix = [0.0, 2.0, 1.0, 1.0, 1.0, 0.0, 4.0, 0.0, -1.0];
        let mut side = [2.0 * 2.0 + 3.0, 1.0 + 2.0, 4.0 - 3.0];
        eliminate(&mut matrix, &mut side);
        assert_eq!(side, [1.0, 2.0, 3.0]);
    }

    #[test]
    fn a_singular_matrix_is_not_solved() {
        let mut side = [1.0, 2.0];
        eliminate(&mut [1.0, 1.0, 1.0, 1.0], &mut side);
        assert!(side.iter().any(|x| !x.is_finite()));
    }
}
