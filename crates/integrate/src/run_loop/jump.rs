//! Jumps of the field, as a switch makes them: no step across is short enough for an estimate that has nothing to be relative to.

use super::RunLoop;
use crate::block::shift;
use crate::error::RunError;
use crate::step::Interval;
use leastaction_compile::LANES;

/// How a jump of the field is crossed: by a step of this part of the run, if over so long the field hardly changes on either side, and the
/// last jump is so many such steps ago.
const CROSSING: f64 = 1e-12;
const HARDLY: f64 = 1e-3;
const APART: f64 = 1e3;

impl RunLoop<'_> {
    /// The step that crosses a jump.
    pub(super) fn crossing(&self) -> f64 {
        let (span, late) = (self.end - self.start, self.start.abs().max(self.end.abs()));
        (CROSSING * span.abs().max(late)).copysign(span)
    }

    /// Whether a lane that no step is short enough for is at a jump of the field, and not at a singularity: whether the field hardly changes over a short
    /// time before, and over as short a time after. What is lost by a step across it is as small as the step.
    pub(super) fn is_jump(&mut self, lane: usize) -> Result<bool, RunError> {
        let (width, h) = (self.block.width(), self.crossing());
        let near = (self.t[lane] - self.crossed[lane]).abs() < APART * h.abs();
        if near || self.left(lane).abs() < 2.0 * h.abs() || self.sides[0].is_empty() {
            return Ok(false);
        }
        let RunLoop { motion, sides: [from, first, second, _], block, .. } = self;
        let (t, steps) = (&self.t[..width], [h; LANES]);
        // Before: from here back, by the field from here.
        motion.rates(Interval { t, h: &steps[..width] }, 0.0, block.values(), first)?;
        shift(from, block.values(), -1.0, &steps[..width], first);
        motion.rates(Interval { t, h: &steps[..width] }, -1.0, from, second)?;
        if !hardly_changes(first, second, lane, width) {
            return Ok(false);
        }
        // After: beyond the step, and on by the field from there.
        shift(from, block.values(), 1.0, &steps[..width], first);
        motion.rates(Interval { t, h: &steps[..width] }, 1.0, from, first)?;
        for (place, y) in from.iter_mut().enumerate() {
            *y += h * first[place];
        }
        motion.rates(Interval { t, h: &steps[..width] }, 2.0, from, second)?;
        Ok(hardly_changes(first, second, lane, width))
    }
}

/// Whether two values of the field are about the same in a lane, measured by the largest component.
fn hardly_changes(one: &[f64], other: &[f64], lane: usize, width: usize) -> bool {
    let (mut size, mut change) = (0.0_f64, 0.0_f64);
    for (a, b) in one.iter().zip(other).skip(lane).step_by(width) {
        if !(a.is_finite() && b.is_finite()) {
            return false;
        }
        size = size.max(a.abs()).max(b.abs());
        change = change.max((a - b).abs());
    }
    change <= HARDLY * size
}
