//! Steps on constraints: their ends moved there, and why that cannot be done.

use super::RunLoop;
use crate::block::all_finite;
use crate::step::StepError;
use leastaction_compile::LANES;
use leastaction_mechanics::{ConstraintFactors, ProjectionError};

impl RunLoop<'_> {
    /// Moves the end of the step onto the constraints, where the method does not.
    pub(super) fn project(&mut self) -> Result<(), StepError> {
        if self.target.is_empty() {
            return Ok(());
        }
        let width = self.block.width();
        let mut ends = [0.0; LANES];
        ends.iter_mut().enumerate().take(width).for_each(|(j, end)| *end = self.end_of(j));
        self.block.after(0, &self.change, &mut self.target);
        for j in 0..width {
            // Where the step has failed already, something that can be moved stands in.
            if !all_finite(self.target.iter().skip(j).step_by(width).copied()) {
                if width == 1 {
                    return Ok(());
                }
                let places = (j..self.target.len()).step_by(width);
                places.for_each(|i| self.target[i] = self.block.values()[i]);
            }
        }
        let projected =
            self.motion.dynamics().project_by(&ends[..width], &mut self.target, &mut self.correction);
        self.change.iter_mut().zip(&self.correction).for_each(|(change, correction)| *change += correction);
        if let (Some(passage), Ok(projections)) = (&mut self.passage, &projected) {
            (0..width).for_each(|j| passage.leads_to(j, projections[j].shortest));
        }
        Ok(projected.map(|_| ())?)
    }

    /// Why a step was not solved, if the constraints are the reason: they cannot be met when it ends, or are singular about there.
    pub(super) fn explained(&mut self, error: StepError) -> StepError {
        let StepError::NoConvergence { t, lane, .. } = error else { return error };
        let system = self.motion.system().clone();
        if !system.facts().constrained {
            return error;
        }
        let (begin, end, dynamics) = ([self.t[lane]], [self.end_of(lane)], self.motion.dynamics());
        let (y, mut factors) = (self.block.lane(lane), ConstraintFactors::new(&system, 1));
        if let Err(ProjectionError::Unmet { t, constraints, .. }) = dynamics.project(&end, &mut y.clone()) {
            return ProjectionError::Unmet { t, lane, constraints }.into();
        }
        let mut ahead = y.clone();
        let mut v = vec![0.0; system.degrees()];
        let known = dynamics.velocities(&begin, &y, &mut v);
        ahead.iter_mut().zip(&v).for_each(|(q, v)| *q += self.h[lane] * v);
        let ahead_is_known = known.is_ok() && dynamics.project(&end, &mut ahead).is_ok();
        let mut singular = |t, y: &[f64]| factors.factor(dynamics, t, y).is_ok() && !factors.is_clear(0);
        if singular(&begin, &y) || ahead_is_known && singular(&end, &ahead) {
            return StepError::Singular { t, lane };
        }
        error
    }
}
