//! The times of a run with a fixed step.

use crate::error::RunError;
use leastaction_compile::{Arithmetic, Lanes, Test};

/// How many numbers say where a grid's times are.
pub(crate) const GRID: usize = 5;

/// Times start + i·h, never accumulated, and the end itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Grid {
    start: f64,
    end: f64,
    step: f64,
    last_step: f64,
    pub(crate) steps: u64,
}

impl Grid {
    /// Whole steps, and a shorter last one if they do not end where they should.
    pub(crate) fn new(start: f64, end: f64, step: f64, limit: u64) -> Result<Grid, RunError> {
        if !step.is_finite() || step == 0.0 {
            return Err(RunError::BadStep { step });
        }
        Grid::check_times(start, end)?;
        if start == end {
            return Ok(Grid { start, end, step, last_step: step, steps: 0 });
        }
        let ratio = (end - start) / step;
        if ratio < 0.0 {
            return Err(RunError::WrongWay { step, start, end });
        }
        if ratio.ceil() > limit as f64 {
            return Err(RunError::TooManySteps { steps: ratio.ceil(), limit });
        }
        // Where a number of whole steps ends but for rounding, the last step is a whole one.
        let whole = ratio.round();
        let rounding = 4.0 * f64::EPSILON * (start.abs() + end.abs());
        let even = whole > 0.0 && (start + whole * step - end).abs() <= rounding;
        let steps = if even { whole } else { ratio.ceil() };
        let last_step = if even { step } else { end - (start + (steps - 1.0) * step) };
        Ok(Grid { start, end, step, last_step, steps: steps as u64 })
    }

    pub(crate) fn check_times(start: f64, end: f64) -> Result<(), RunError> {
        let bad = [("start", start), ("end", end)].into_iter().find(|(_, value)| !value.is_finite());
        bad.map_or(Ok(()), |(what, value)| Err(RunError::BadTime { what, value }))
    }

    /// The time after so many steps.
    #[inline]
    pub(crate) fn time(&self, i: u64) -> f64 {
        Grid::after(&mut Lanes, self.settings().map(|x| [x]), [i as f64])[1][0]
    }

    /// The length of the step from `time(i)`.
    #[inline]
    pub(crate) fn step(&self, i: u64) -> f64 {
        Grid::after(&mut Lanes, self.settings().map(|x| [x]), [(i + 1) as f64])[0][0]
    }

    /// The numbers from which it follows. Counts stay below 2⁵³, where every whole number is a float.
    #[inline]
    pub(crate) fn settings(&self) -> [f64; GRID] {
        [self.start, self.step, self.last_step, self.end, self.steps as f64]
    }

    /// The length of the last of so many steps, and the time after it: for numbers and for kernels.
    #[inline(always)]
    pub(crate) fn after<A: Arithmetic>(
        a: &mut A,
        [start, step, last, end, steps]: [A::Value; GRID],
        count: A::Value,
    ) -> [A::Value; 2] {
        let by = a.mul(count, step);
        let to = a.add(start, by);
        [a.select(Test::Equal, count, steps, last, step), a.select(Test::Equal, count, steps, end, to)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(start: f64, end: f64, step: f64) -> Grid {
        Grid::new(start, end, step, 1 << 40).unwrap()
    }

    #[test]
    fn ends_exactly_where_it_should() {
        // 0.1 is not a binary fraction: ten of them are not 1, and neither is a sum of ten.
        for (start, end, step, steps) in [
            (0.0, 1.0, 0.1, 10),
            (0.0, 60.0, 0.005, 12_000),
            (0.0, 300.0, 0.01, 30_000),
            (5.0, -5.0, -0.1, 100),
            (0.3, 0.9, 0.1, 6),
            (1e6, 1e6 + 1.0, 0.1, 10),
        ] {
            let grid = grid(start, end, step);
            assert_eq!((grid.steps, grid.step(steps - 1), grid.time(steps)), (steps, step, end));
        }
    }

    #[test]
    fn ends_with_a_partial_step() {
        let forward = grid(0.0, 1.0, 0.3);
        assert_eq!(forward.steps, 4);
        assert!((forward.step(3) - 0.1).abs() < 1e-15 && forward.step(2) == 0.3 && forward.time(4) == 1.0);
        let back = grid(0.0, -1.0, -0.75);
        assert_eq!((back.steps, back.step(0), back.step(1), back.time(1)), (2, -0.75, -0.25, -0.75));
        let long = grid(0.0, 1.0, 5.0);
        assert_eq!((long.steps, long.step(0)), (1, 1.0));
        let barely = grid(0.0, 1.0 + 1e-9, 0.5);
        assert_eq!(barely.steps, 3);
        assert!((barely.step(2) - 1e-9).abs() < 1e-15);
    }

    #[test]
    fn times_are_products_not_sums() {
        let grid = grid(0.0, 1e6, 0.1);
        assert_eq!((grid.steps, grid.time(3_333_333)), (10_000_000, 3_333_333.0 * 0.1));
    }

    #[test]
    fn refuses_what_leads_nowhere() {
        let refused = |start, end, step| Grid::new(start, end, step, 1000).unwrap_err();
        assert!(matches!(refused(0.0, 1.0, 0.0), RunError::BadStep { step: 0.0 }));
        assert!(matches!(refused(0.0, 1.0, f64::NAN), RunError::BadStep { .. }));
        assert!(matches!(refused(0.0, 1.0, f64::INFINITY), RunError::BadStep { .. }));
        assert!(matches!(refused(0.0, f64::INFINITY, 0.1), RunError::BadTime { what: "end", .. }));
        assert!(matches!(refused(f64::NAN, 1.0, 0.1), RunError::BadTime { what: "start", .. }));
        assert!(matches!(refused(0.0, 1.0, -0.1), RunError::WrongWay { .. }));
        assert!(matches!(refused(0.0, 1.0, 1e-4), RunError::TooManySteps { limit: 1000, .. }));
        assert!(matches!(refused(0.0, 1.0, 1e-320), RunError::TooManySteps { .. }));
        assert_eq!(Grid::new(2.0, 2.0, 0.1, 10).unwrap().steps, 0);
    }
}
