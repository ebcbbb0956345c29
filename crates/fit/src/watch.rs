//! Who watches a fit while it is sought.

use std::sync::atomic::AtomicBool;

/// What ends a fit before its time, and what hears how far it is.
pub struct Watch<'a> {
    /// Ends it once it is true.
    pub interrupted: &'a AtomicBool,
    /// Is called before each run of the model.
    pub progress: &'a dyn Fn(Progress),
}

/// How far a fit is. Nobody knows how many runs it takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The number of the next run, counted from 1.
    pub run: usize,
    /// The part of the data that it goes over, up to 1.
    pub part: f64,
}

impl std::fmt::Display for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.part {
            1.0.. => write!(f, "run {} over all data", self.run),
            part => write!(f, "run {} over {:.1} % of the data", self.run, 100.0 * part),
        }
    }
}
