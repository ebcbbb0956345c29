//! The unknowns of implicit steps: found again where a step was made, and solutions with the transposed matrix there.

use super::error::AdjointError;
use super::program::{Runner, Shape};
use super::reverse_step::Site;
use leastaction_compile::LANES;
use leastaction_linear::dense;
use leastaction_mechanics::Dynamics;

/// So many corrections lead from a guess to the unknowns.
const MOST: usize = 30;
/// Corrections this small, relative to the unknowns and the change of the state, are rounding; and those that are no larger and do not halve.
const ROUNDING: f64 = 1e-13;
const NOISE: f64 = 1e-9;
/// The unknowns are those of the step if the state changes by the same, but for this part of its size.
const SAME: f64 = 1e-7;
/// The same where the end was moved onto constraints.
const MOVED: f64 = 1e-2;

/// The unknowns of a step, in lanes, and the matrix ∂R/∂x there.
pub(super) struct Unknowns {
    forward: Runner,
    shape: Shape,
    values: Vec<f64>,
    /// By rows, lane by lane.
    matrices: Vec<Vec<f64>>,
}

impl Unknowns {
    pub(super) fn new(forward: Runner, shape: Shape) -> Unknowns {
        let Shape { width, unknowns, .. } = shape;
        let matrices = vec![vec![0.0; unknowns * unknowns]; width];
        Unknowns { forward, shape, values: vec![0.0; unknowns * width], matrices }
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    /// Finds the unknowns of a step by Newton's method, which may have been moved after it was made.
    pub(super) fn find(
        &mut self,
        dynamics: &Dynamics,
        reverse: &mut Runner,
        site: Site<'_>,
        moved: bool,
        guess: impl Fn(&[f64], &mut [f64]),
    ) -> Result<(), AdjointError> {
        let Shape { width, dimension, unknowns: n, .. } = self.shape;
        let lane_of = |values: &[f64], lane: usize| -> Vec<f64> {
            values.iter().skip(lane).step_by(width).copied().collect()
        };
        let (mut x, mut scale) = (vec![0.0; n], [0.0_f64; LANES]);
        for lane in 0..width {
            let change: Vec<f64> =
                lane_of(site.after, lane).iter().zip(lane_of(site.y, lane)).map(|(a, y)| a - y).collect();
            guess(&change, &mut x);
            x.iter().enumerate().for_each(|(i, x)| self.values[i * width + lane] = *x);
            scale[lane] = x.iter().chain(&change).fold(0.0_f64, |m, x| m.max(x.abs()));
        }
        let mut before = [f64::INFINITY; LANES];
        let mut done = [false; LANES];
        for _ in 0..MOST {
            self.forward.eval(dynamics, site, [&self.values, &[], &[]], [&[], &[]])?;
            let residuals = self.forward.results()[dimension * width..].to_vec();
            self.differentiate(dynamics, reverse, site)?;
            for lane in 0..width {
                if done[lane] {
                    continue;
                }
                let (mut matrix, mut step) = (self.matrices[lane].clone(), lane_of(&residuals, lane));
                let t = site.interval.t[lane];
                dense::solve_once(&mut matrix, &mut step, n).map_err(|_| AdjointError::Unsolved { t })?;
                let size = step.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
                if !size.is_finite() {
                    return Err(AdjointError::Unsolved { t });
                }
                step.iter().enumerate().for_each(|(i, step)| self.values[i * width + lane] -= step);
                let is_noise = size <= NOISE * scale[lane] && size > 0.5 * before[lane];
                done[lane] = size <= ROUNDING * scale[lane] || is_noise;
                before[lane] = size;
            }
            if done[..width] == [true; LANES][..width] {
                break;
            }
        }
        self.forward.eval(dynamics, site, [&self.values, &[], &[]], [&[], &[]])?;
        let increments = &self.forward.results()[..dimension * width];
        for lane in 0..width {
            let largest = |values: Vec<f64>| values.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            let size = largest(lane_of(site.y, lane)).max(largest(lane_of(site.after, lane)));
            let misses =
                (lane..increments.len()).step_by(width).map(|i| site.after[i] - site.y[i] - increments[i]);
            let miss = misses.fold(0.0_f64, |m, x| m.max(x.abs()));
            // A lane that rests has no step.
            let same = miss <= if moved { MOVED } else { SAME } * size;
            if !(done[lane] && (same || site.interval.h[lane] == 0.0)) {
                return Err(AdjointError::Unsolved { t: site.interval.t[lane] });
            }
        }
        Ok(())
    }

    /// Finds ∂R/∂x, row by row.
    fn differentiate(
        &mut self,
        dynamics: &Dynamics,
        reverse: &mut Runner,
        site: Site<'_>,
    ) -> Result<(), AdjointError> {
        let Shape { width, dimension, unknowns: n, .. } = self.shape;
        let (nothing, mut unit) = (vec![0.0; dimension * width], vec![0.0; n * width]);
        for row in 0..n {
            unit[row * width..][..width].fill(1.0);
            reverse.eval(dynamics, site, [&self.values, &[], &[]], [&nothing, &unit])?;
            unit[row * width..][..width].fill(0.0);
            let found = reverse.by_unknowns(self.shape);
            for (lane, matrix) in self.matrices.iter_mut().enumerate() {
                (0..n).for_each(|column| matrix[row * n + column] = found[column * width + lane]);
            }
        }
        Ok(())
    }

    /// −μ, where (∂R/∂x)ᵀ μ is this, lane by lane.
    pub(super) fn transposed(&self, sides: &[f64]) -> Result<Vec<f64>, AdjointError> {
        let Shape { width, unknowns: n, .. } = self.shape;
        let mut multipliers = vec![0.0; n * width];
        for (lane, matrix) in self.matrices.iter().enumerate() {
            let mut transposed: Vec<f64> = (0..n * n).map(|k| matrix[k % n * n + k / n]).collect();
            let mut side: Vec<f64> = sides.iter().skip(lane).step_by(width).copied().collect();
            dense::solve_once(&mut transposed, &mut side, n)
                .map_err(|_| AdjointError::Unsolved { t: f64::NAN })?;
            side.iter().enumerate().for_each(|(i, value)| multipliers[i * width + lane] = -value);
        }
        Ok(multipliers)
    }
}
