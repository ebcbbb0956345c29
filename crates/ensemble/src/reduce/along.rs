//! Numbers of a whole trajectory: means and extremes over its samples.

use super::samples::observe;
use super::value::View;
use leastaction_integrate::Chunk;
use leastaction_mechanics::{Dynamics, Observable};

/// What is made of the values of an expression at all samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    /// The least one.
    Least,
    /// The largest one.
    Largest,
    /// The largest less the least.
    Range,
    /// The mean over time.
    Mean,
}

impl Along {
    /// The words for it, in the order of this list.
    pub(crate) const ALL: [(&'static str, Along); 4] =
        [("min", Along::Least), ("max", Along::Largest), ("range", Along::Range), ("mean", Along::Mean)];

    /// What a word stands for.
    pub(crate) fn named(word: &str) -> Option<Along> {
        Along::ALL.into_iter().find(|(name, _)| *name == word).map(|(_, along)| along)
    }
}

/// What is known of an expression over the samples of a trajectory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Course {
    low: f64,
    high: f64,
    mean: f64,
}

impl Course {
    /// Nothing: there was no sample.
    const NONE: Course = Course { low: f64::NAN, high: f64::NAN, mean: f64::NAN };

    /// Of values at times; unknown if one of them is.
    pub(super) fn of(times: &[f64], values: &[f64]) -> Course {
        let (Some(first), Some(last)) = (times.first(), times.last()) else { return Course::NONE };
        if values.iter().any(|value| value.is_nan()) {
            return Course::NONE;
        }
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // By trapezia: samples need not be evenly spaced.
        let pieces = times.windows(2).zip(values.windows(2));
        let sum: f64 = pieces.map(|(t, v)| (t[1] - t[0]) * (v[0] + v[1]) / 2.0).sum();
        let span = last - first;
        Course { low, high, mean: if span == 0.0 { values[0] } else { sum / span } }
    }

    pub(super) fn value(&self, along: Along) -> f64 {
        match along {
            Along::Least => self.low,
            Along::Largest => self.high,
            Along::Range => self.high - self.low,
            Along::Mean => self.mean,
        }
    }
}

/// What looks at expressions over samples.
pub(crate) struct Follower {
    dynamics: Dynamics,
    observed: Vec<Observable>,
    times: Vec<f64>,
}

/// What was found of a chunk: for each trajectory all expressions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Courses {
    pub(super) all: Vec<Course>,
    pub(super) width: usize,
}

impl Follower {
    pub(crate) fn new(dynamics: &Dynamics, observed: Vec<Observable>, times: Vec<f64>) -> Follower {
        Follower { dynamics: dynamics.clone(), observed, times }
    }

    /// Follows the trajectories of a chunk.
    pub(crate) fn courses(&mut self, view: &View<'_>) -> Courses {
        let (chunk, width) = (view.chunk, self.observed.len());
        let mut all = Vec::with_capacity(width * chunk.len());
        if width == 0 {
            return Courses::default();
        }
        let (mut parameters, mut values) = (Vec::new(), Vec::new());
        for row in 0..chunk.len() {
            let (times, states) = self.samples(chunk, row, view);
            view.launcher.parameters(view.index(row), &mut parameters);
            let known = self.dynamics.set_parameters(&parameters).is_ok();
            for &what in &self.observed {
                values.clear();
                if known {
                    observe(&mut self.dynamics, what, &times, &states, &mut values);
                }
                all.push(if known { Course::of(&times, &values) } else { Course::NONE });
            }
        }
        Courses { all, width }
    }

    /// The samples of a trajectory that count, and where it ended if that was between them.
    fn samples(&self, chunk: &Chunk, row: usize, view: &View<'_>) -> (Vec<f64>, Vec<f64>) {
        let dimension = chunk.dimension;
        let (mut times, mut states) = (Vec::new(), Vec::new());
        let all = chunk.samples[row * chunk.sampled * dimension..].chunks_exact(dimension);
        for (state, &t) in all.zip(&self.times).take(chunk.sampled) {
            // It did not come to those that are NaN.
            if state[0].is_nan() {
                break;
            }
            if view.counts(t) {
                times.push(t);
                states.extend_from_slice(state);
            }
        }
        let end = chunk.times[row];
        if !end.is_nan() && times.last() != Some(&end) && view.counts(end) {
            times.push(end);
            states.extend_from_slice(&chunk.ends[row * dimension..][..dimension]);
        }
        (times, states)
    }
}

#[cfg(test)]
mod tests {
    use super::{Along, Course};

    #[test]
    fn means_are_over_time_and_not_over_samples() {
        let course = Course::of(&[0.0, 1.0, 3.0], &[0.0, 2.0, 2.0]);
        let found =
            [Along::Least, Along::Largest, Along::Range, Along::Mean].map(|along| course.value(along));
        assert_eq!(found, [0.0, 2.0, 2.0, 5.0 / 3.0]);
        assert_eq!(Course::of(&[4.0], &[7.0]).value(Along::Mean), 7.0);
        // A run backwards in time has the same mean.
        assert_eq!(Course::of(&[3.0, 1.0, 0.0], &[2.0, 2.0, 0.0]).value(Along::Mean), 5.0 / 3.0);
        assert!(Course::of(&[0.0, 1.0], &[1.0, f64::NAN]).value(Along::Largest).is_nan());
        assert!(Course::of(&[], &[]).value(Along::Mean).is_nan());
    }
}
