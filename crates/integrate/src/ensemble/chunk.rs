//! What is reported of trajectories: a chunk of them at a time.

use crate::run::event::Crossing;

/// How a trajectory ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It came to the end.
    Complete,
    /// A terminal event happened: this one, by its place.
    Event(usize),
    /// It could not go on: [`Chunk::failures`] tells why.
    Failed,
}

/// Some trajectories of an ensemble, in order: numbers `first`, `first + 1`, …
///
/// What is reported of each stands in rows, one after the other. A trajectory that could not begin has NaN in all of them; one that failed on
/// its way has the values after its last good step.
#[derive(Clone, Debug, PartialEq)]
pub struct Chunk {
    /// The number of the first trajectory.
    pub first: u64,
    /// The length of a state.
    pub dimension: usize,
    /// How each trajectory ended.
    pub fates: Vec<Fate>,
    /// When it ended.
    pub times: Vec<f64>,
    /// How many steps it took.
    pub steps: Vec<u64>,
    /// The states at the starts.
    pub starts: Vec<f64>,
    /// The states at the ends.
    pub ends: Vec<f64>,
    /// The observables at the starts.
    pub before: Vec<f64>,
    /// The observables at the ends.
    pub after: Vec<f64>,
    /// The samples: for each trajectory the states at all sample times. Those that it did not come to are NaN.
    pub samples: Vec<f64>,
    /// What happened on the way, terminal events too, with the number of the trajectory.
    pub crossings: Vec<(u64, Crossing)>,
    /// Which trajectories failed, and why.
    pub failures: Vec<(u64, String)>,
    /// How many observables there are.
    pub observed: usize,
    /// How many samples there are.
    pub sampled: usize,
}

impl Chunk {
    /// So many trajectories of which nothing is known yet.
    pub(super) fn blank(first: u64, len: usize, dimension: usize, observed: usize, sampled: usize) -> Chunk {
        let rows = |width: usize| vec![f64::NAN; len * width];
        Chunk {
            first,
            dimension,
            fates: vec![Fate::Failed; len],
            times: rows(1),
            steps: vec![0; len],
            starts: rows(dimension),
            ends: rows(dimension),
            before: rows(observed),
            after: rows(observed),
            samples: rows(sampled * dimension),
            crossings: Vec::new(),
            failures: Vec::new(),
            observed,
            sampled,
        }
    }

    /// The number of trajectories.
    #[must_use]
    pub fn len(&self) -> usize {
        self.fates.len()
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fates.is_empty()
    }

    /// The states at the ends, one by one.
    pub fn ends(&self) -> impl Iterator<Item = &[f64]> {
        self.ends.chunks_exact(self.dimension.max(1))
    }

    pub(super) fn start_row(&mut self, row: usize) -> &mut [f64] {
        part(&mut self.starts, row, self.dimension)
    }

    pub(super) fn end_row(&mut self, row: usize) -> &mut [f64] {
        part(&mut self.ends, row, self.dimension)
    }

    pub(super) fn before_row(&mut self, row: usize) -> &mut [f64] {
        part(&mut self.before, row, self.observed)
    }

    pub(super) fn after_row(&mut self, row: usize) -> &mut [f64] {
        part(&mut self.after, row, self.observed)
    }

    pub(super) fn sample_row(&mut self, row: usize, sample: usize) -> &mut [f64] {
        part(&mut self.samples, row * self.sampled + sample, self.dimension)
    }

    /// Forgets a trajectory that will be run again.
    pub(super) fn forget(&mut self, row: usize) {
        let (index, samples) = (self.first + row as u64, self.sampled * self.dimension);
        self.crossings.retain(|(trajectory, _)| *trajectory != index);
        part(&mut self.samples, row, samples).fill(f64::NAN);
    }

    /// Puts what came as trajectories ended into their order.
    pub(super) fn complete(mut self) -> Chunk {
        // Each trajectory's crossings are in order, and stay so.
        self.crossings.sort_by_key(|(trajectory, _)| *trajectory);
        self.failures.sort_by_key(|(trajectory, _)| *trajectory);
        self
    }
}

fn part(rows: &mut [f64], row: usize, width: usize) -> &mut [f64] {
    &mut rows[row * width..][..width]
}
