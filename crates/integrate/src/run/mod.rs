//! What a run is made of beside its loop: where steps end, what is written down, what is looked out for, and how to go on later.

pub(crate) mod balance;
pub(crate) mod checkpoint;
pub(crate) mod checksum;
pub(crate) mod density;
pub(crate) mod event;
mod fictitious;
pub(crate) mod grid;
pub(crate) mod reset;
pub(crate) mod roots;
pub(crate) mod schedule;

use crate::integrator::Reason;
use crate::step::Work;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct End {
    /// The time that was reached.
    pub t: f64,
    /// Why it ended there.
    pub reason: Reason,
    /// The work it took.
    pub work: Work,
}
