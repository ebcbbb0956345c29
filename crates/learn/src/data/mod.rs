//! Trajectories to learn from.

mod error;
mod file;
mod generate;
mod measured;
mod origin;
mod table;

pub use error::DataError;
pub use generate::{DatasetPlan, GenerateError, Starts};
pub(crate) use generate::{momenta, velocities};
pub use measured::{Findings, MeasuredError, MeasuredPlan};
pub use origin::Origin;

use leastaction_expr::Random;

/// How data came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// They are the motion of the model.
    Computed,
    /// They were measured, or come from elsewhere: the model only says what their numbers are, and what is known.
    Measured,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::Computed => "computed",
            Kind::Measured => "measured",
        }
    }
}

/// Trajectories of one system, sampled at even times, with the text of the system.
///
/// The first ones are to learn from, the next ones tell when to stop, and the last ones judge what was learned.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// The system, as it was when the data were made.
    pub origin: Origin,
    /// How they came about.
    pub kind: Kind,
    /// The names of the numbers of a state: coordinates, then velocities.
    pub names: Vec<String>,
    /// The time from sample to sample.
    pub dt: f64,
    /// How many samples each trajectory has, its start included.
    pub samples: usize,
    /// How many trajectories are for training, for validation and for tests.
    pub split: [usize; 3],
    /// The seed that starts, and noise, were drawn with.
    pub seed: u64,
    /// The standard deviation of the noise that was added to what is for training and validation.
    pub noise: f64,
    /// All states: of each trajectory one sample after the other, all numbers of a state together.
    pub states: Vec<f64>,
}

/// Which trajectories of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// Those to learn from.
    Training,
    /// Those that tell when to stop.
    Validation,
    /// Those that judge.
    Test,
}

impl Dataset {
    /// How many numbers a state has.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.names.len()
    }

    /// The states of the trajectories of a part.
    #[must_use]
    pub fn part(&self, split: Split) -> &[f64] {
        let place = split as usize;
        let begin: usize = self.split[..place].iter().sum();
        let each = self.samples * self.dimension();
        &self.states[begin * each..(begin + self.split[place]) * each]
    }

    /// Keeps so many trajectories for tests at most.
    pub fn keep_tests(&mut self, most: usize) {
        let each = self.samples * self.dimension();
        let removed = self.split[2].saturating_sub(most);
        self.states.truncate(self.states.len() - removed * each);
        self.split[2] -= removed;
    }

    /// One chunk of so many samples in a row of each trajectory of a part, drawn by a seed among those that begin at multiples of its length.
    ///
    /// # Errors
    /// [`DataError::Short`] if trajectories are shorter.
    pub fn chunks(&self, split: Split, length: usize, seed: u64) -> Result<Vec<f64>, DataError> {
        if length < 2 || length > self.samples {
            return Err(DataError::Short { samples: self.samples, length });
        }
        let (dimension, places) = (self.dimension(), self.samples / length);
        let mut chunks = Vec::new();
        for (number, trajectory) in self.part(split).chunks_exact(self.samples * dimension).enumerate() {
            let place = Random::at(seed, number as u64).below(places);
            chunks.extend_from_slice(&trajectory[place * length * dimension..][..length * dimension]);
        }
        Ok(chunks)
    }
}
