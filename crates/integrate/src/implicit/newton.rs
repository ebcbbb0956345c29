//! Newton's method for lanes that iteration does not solve: (1 − g′(x)) δ = g(x) − x, from x = 0.

use super::{Equation, Front, Lane};
use leastaction_linear::{Factors, NoFactors};
use leastaction_mechanics::EvalError;

const MAX_ITERATIONS: u32 = 50;

/// The memory of the iteration.
pub(super) struct Newton {
    /// g′ of all lanes, by rows.
    jacobian: Vec<f64>,
    /// 1 − g′ of one lane.
    factors: Factors<f64>,
    side: Vec<f64>,
}

impl Newton {
    pub(super) fn new(dimension: usize, width: usize) -> Newton {
        Newton {
            jacobian: vec![0.0; dimension * dimension * width],
            factors: Factors::dense(dimension),
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
                equation.jacobian(x, &mut self.jacobian)?;
            }
            for j in 0..W {
                match front.progress[j].state {
                    Lane::Open | Lane::Settling => self.correct::<W>(j, x, front.image),
                    Lane::Closing => (j..x.len()).step_by(W).for_each(|i| x[i] = front.image[i]),
                    Lane::Resting | Lane::Waiting => {}
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
        for (i, side) in self.side.iter_mut().enumerate() {
            *side = image[i * W + lane] - x[i * W + lane];
        }
        let jacobian = &self.jacobian;
        let value =
            |row: usize, column: usize, place: usize| f64::from(row == column) - jacobian[place * W + lane];
        match self.factors.factor(value) {
            Ok(()) => self.factors.solve(&mut self.side),
            // There is no such place, and residuals will say so.
            Err(NoFactors) => self.side.fill(f64::NAN),
        }
        for (i, step) in self.side.iter().enumerate() {
            x[i * W + lane] += step;
        }
    }
}
