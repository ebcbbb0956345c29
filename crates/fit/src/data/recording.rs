//! What was measured in one run.

use leastaction_integrate::number;

/// What was measured in one run: values of expressions of a model at some times.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// What it is called.
    pub name: String,
    /// The times, none before the one that stands ahead of it.
    pub times: Vec<f64>,
    /// What was measured.
    pub channels: Vec<Channel>,
}

/// Measured values of one expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    /// The expression, in any names of the model.
    pub what: String,
    /// A value for each time; NaN where nothing was measured.
    pub values: Vec<f64>,
    /// How far each may be off: its standard deviation. Left out, it is estimated for the whole channel.
    pub sigma: Option<Vec<f64>>,
}

/// Why data cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RecordingError {
    /// There are no rows.
    #[error("`{recording}` has no rows")]
    Empty {
        /// Which recording.
        recording: String,
    },
    /// Nothing is measured.
    #[error("`{recording}` has no measured values")]
    Nothing {
        /// Which recording.
        recording: String,
    },
    /// A list has another length than the times.
    #[error("`{recording}`: {found} values of `{what}` for {expected} times")]
    Length {
        /// Which recording.
        recording: String,
        /// Which channel.
        what: String,
        /// How many times there are.
        expected: usize,
        /// How many values.
        found: usize,
    },
    /// A time is missing or infinite.
    #[error("`{recording}`: row {row} has no time: times must be finite numbers")]
    NoTime {
        /// Which recording.
        recording: String,
        /// Which row, counted from 1.
        row: usize,
    },
    /// Time goes back.
    #[error(
        "`{recording}`: time goes back from {} to {} in row {row}: sort the rows, and put runs into files of their own",
        number(.before),
        number(.after)
    )]
    Backwards {
        /// Which recording.
        recording: String,
        /// Which row, counted from 1.
        row: usize,
        /// The time before.
        before: f64,
        /// The time there.
        after: f64,
    },
    /// All rows are of one time.
    #[error("`{recording}`: all rows have the time {}: nothing moves", number(.t))]
    Instant {
        /// Which recording.
        recording: String,
        /// The time.
        t: f64,
    },
    /// A value is infinite.
    #[error("`{recording}`: `{what}` is infinite in row {row}; leave the value out if there is none")]
    Infinite {
        /// Which recording.
        recording: String,
        /// Which channel.
        what: String,
        /// Which row, counted from 1.
        row: usize,
    },
    /// A value is so large that its square is not.
    #[error(
        "`{recording}`: `{what}` is {value:e} in row {row}: such numbers cannot be squared; measure in another unit"
    )]
    Huge {
        /// Which recording.
        recording: String,
        /// Which channel.
        what: String,
        /// Which row, counted from 1.
        row: usize,
        /// The value.
        value: f64,
    },
    /// A standard deviation is not positive and finite.
    #[error("`{recording}`: the sigma of `{what}` is {value} in row {row}: it must be above 0 and finite")]
    Sigma {
        /// Which recording.
        recording: String,
        /// Which channel.
        what: String,
        /// Which row, counted from 1.
        row: usize,
        /// What stands there.
        value: f64,
    },
    /// Two channels are of one expression.
    #[error("`{recording}`: `{what}` is measured twice: leave one out")]
    Twice {
        /// Which recording.
        recording: String,
        /// Which channel.
        what: String,
    },
    /// All values of a channel are one.
    #[error(
        "`{what}` is {} in all {rows} rows: a quantity that never changes says nothing about the motion; leave it out, or give it a sigma",
        number(.value)
    )]
    Constant {
        /// Which channel.
        what: String,
        /// How many rows there are.
        rows: usize,
        /// The value.
        value: f64,
    },
}

/// Larger values are refused: sums of their squares must stay finite.
const LARGEST: f64 = 1e100;

impl Recording {
    /// Times at which something is measured.
    #[must_use]
    pub fn new(name: &str, times: impl Into<Vec<f64>>) -> Recording {
        Recording { name: name.to_owned(), times: times.into(), channels: Vec::new() }
    }

    /// With values of an expression of the model, one for each time; NaN is a gap.
    #[must_use]
    pub fn with(mut self, what: &str, values: impl Into<Vec<f64>>) -> Recording {
        self.channels.push(Channel { what: what.to_owned(), values: values.into(), sigma: None });
        self
    }

    /// With the standard deviation of all values of the channel that was added last.
    #[must_use]
    pub fn sigma(mut self, sigma: f64) -> Recording {
        if let Some(channel) = self.channels.last_mut() {
            channel.sigma = Some(vec![sigma; channel.values.len()]);
        }
        self
    }

    /// With standard deviations of the values of the channel that was added last, one for each.
    #[must_use]
    pub fn sigmas(mut self, sigmas: impl Into<Vec<f64>>) -> Recording {
        if let Some(channel) = self.channels.last_mut() {
            channel.sigma = Some(sigmas.into());
        }
        self
    }

    /// Only the rows from one time to another.
    #[must_use]
    pub fn between(&self, from: f64, until: f64) -> Recording {
        let kept = |list: &[f64]| -> Vec<f64> {
            let both = list.iter().zip(&self.times).filter(|(_, t)| **t >= from && **t <= until);
            both.map(|(x, _)| *x).collect()
        };
        let channels = self.channels.iter().map(|channel| Channel {
            what: channel.what.clone(),
            values: kept(&channel.values),
            sigma: channel.sigma.as_deref().map(kept),
        });
        Recording { name: self.name.clone(), times: kept(&self.times), channels: channels.collect() }
    }

    /// Refuses what cannot be fitted to.
    pub(crate) fn check(&self) -> Result<(), RecordingError> {
        let recording = || self.name.clone();
        if self.times.is_empty() {
            return Err(RecordingError::Empty { recording: recording() });
        }
        if let Some(i) = self.times.iter().position(|t| !t.is_finite()) {
            return Err(RecordingError::NoTime { recording: recording(), row: i + 1 });
        }
        if let Some(i) = self.times.windows(2).position(|pair| pair[1] < pair[0]) {
            let (before, after) = (self.times[i], self.times[i + 1]);
            return Err(RecordingError::Backwards { recording: recording(), row: i + 2, before, after });
        }
        for (i, Channel { what, values, sigma }) in self.channels.iter().enumerate() {
            let what = || what.clone();
            if self.channels[..i].iter().any(|other| other.what == what()) {
                return Err(RecordingError::Twice { recording: recording(), what: what() });
            }
            for list in [Some(values), sigma.as_ref()].into_iter().flatten() {
                if list.len() != self.times.len() {
                    let (expected, found) = (self.times.len(), list.len());
                    return Err(RecordingError::Length {
                        recording: recording(),
                        what: what(),
                        expected,
                        found,
                    });
                }
            }
            if let Some(i) = values.iter().position(|x| x.is_infinite()) {
                return Err(RecordingError::Infinite { recording: recording(), what: what(), row: i + 1 });
            }
            if let Some(i) = values.iter().position(|x| x.abs() > LARGEST) {
                let value = values[i];
                return Err(RecordingError::Huge { recording: recording(), what: what(), row: i + 1, value });
            }
            let sigmas = sigma.iter().flatten().zip(values).enumerate();
            let mut wrong = sigmas.filter(|(_, (s, x))| !(x.is_nan() || **s > 0.0 && s.is_finite()));
            if let Some((i, (&value, _))) = wrong.next() {
                return Err(RecordingError::Sigma {
                    recording: recording(),
                    what: what(),
                    row: i + 1,
                    value,
                });
            }
        }
        let measured = self.measured_times();
        match (measured.first(), measured.last()) {
            (None, _) | (_, None) => Err(RecordingError::Nothing { recording: recording() }),
            (Some(first), Some(last)) if first == last => {
                Err(RecordingError::Instant { recording: recording(), t: *first })
            }
            _ => Ok(()),
        }
    }

    /// The times of rows with a value.
    pub(crate) fn measured_times(&self) -> Vec<f64> {
        let has =
            |i: usize| self.channels.iter().any(|channel| channel.values.get(i).is_some_and(|x| !x.is_nan()));
        let times = self.times.iter().enumerate().filter(|(i, _)| has(*i)).map(|(_, t)| *t);
        times.collect()
    }
}
