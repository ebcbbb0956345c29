//! When samples are taken.

use crate::error::RunError;

/// When samples are taken.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Output {
    /// Every so many steps, besides start and end.
    Every(u64),
    /// At these times.
    Times(Vec<f64>),
    /// At start + k·spacing, and at the end.
    Spaced(f64),
}

/// The samples that are still to be taken.
pub(crate) struct Schedule<'a> {
    output: &'a Output,
    start: f64,
    end: f64,
    /// 1 forward in time, −1 back.
    way: f64,
    /// How many of the times have passed.
    passed: u64,
    /// The sample that an earlier part of the run has shown.
    seen: Option<f64>,
}

impl<'a> Schedule<'a> {
    pub(crate) fn new(
        output: &'a Output,
        start: f64,
        end: f64,
        seen: Option<f64>,
    ) -> Result<Schedule<'a>, RunError> {
        let way = if end < start { -1.0 } else { 1.0 };
        let mut schedule = Schedule { output, start, end, way, passed: 0, seen };
        match output {
            Output::Every(_) => {}
            Output::Times(times) => {
                let mut after = start;
                for (i, &t) in times.iter().enumerate() {
                    let later = if i == 0 { way * t >= way * after } else { way * t > way * after };
                    if !(later && way * t <= way * end) {
                        return Err(RunError::BadSample { t, after, end });
                    }
                    after = t;
                }
            }
            Output::Spaced(spacing) => {
                // A spacing that rounding swallows would never lead to the end.
                let samples = (end - start).abs() / spacing;
                if !(*spacing > 0.0 && spacing.is_finite() && samples < 1.0 / f64::EPSILON) {
                    return Err(RunError::BadSpacing { spacing: *spacing });
                }
            }
        }
        if let Some(seen) = seen {
            while schedule.next().is_some_and(|t| way * t <= way * seen) {
                schedule.passed += 1;
            }
        }
        Ok(schedule)
    }

    /// The next time, if samples are taken at times.
    pub(crate) fn next(&self) -> Option<f64> {
        match self.output {
            Output::Every(_) => None,
            Output::Times(times) => times.get(usize::try_from(self.passed).ok()?).copied(),
            Output::Spaced(spacing) => {
                // Nothing follows the end.
                let over = self.passed > 0 && self.spaced(self.passed - 1, *spacing) == self.end;
                (!over).then(|| self.spaced(self.passed, *spacing))
            }
        }
    }

    /// The k-th of spaced times, which stay at the end.
    fn spaced(&self, k: u64, spacing: f64) -> f64 {
        let t = self.start + self.way * k as f64 * spacing;
        // What is nearer to the end than rounding is the end.
        let near = (t - self.end).abs() <= 4.0 * f64::EPSILON * (self.start.abs() + self.end.abs());
        if near || self.way * t >= self.way * self.end { self.end } else { t }
    }

    /// The time of the sample that is due at the end of a step, or at the start, if there is one: that of the end, but for some slack.
    pub(crate) fn due(&mut self, step: u64, t: f64, slack: f64, done: bool) -> Option<f64> {
        if self.seen == Some(t) {
            return None;
        }
        match self.output {
            Output::Every(k) => (done || step.is_multiple_of(*k)).then_some(t),
            Output::Times(_) | Output::Spaced(_) => {
                let due = self.next().filter(|time| (time - t).abs() <= slack);
                self.passed += u64::from(due.is_some());
                due
            }
        }
    }

    /// The next sample before a step ends.
    pub(crate) fn next_before(&self, end: f64) -> Option<f64> {
        self.next().filter(|t| self.way * t < self.way * end)
    }

    pub(crate) fn pass(&mut self) {
        self.passed += 1;
    }
}
