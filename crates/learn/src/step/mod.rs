//! Steps that predictions are made of, written around the rates of an architecture: one file each.

mod midpoint;
mod rattle;
mod three_eighths;

pub use midpoint::midpoint;
pub use rattle::rattle;
pub use three_eighths::three_eighths;

use crate::predictor::StepWriter;

/// What a step says of itself.
#[derive(Debug)]
pub struct StepCard {
    /// The name.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// Writes it.
    pub write: StepWriter,
}

impl PartialEq for StepCard {
    fn eq(&self, other: &StepCard) -> bool {
        self.name == other.name
    }
}

/// All of them, the usual one first.
pub const ALL: &[StepCard] = &[three_eighths::CARD, midpoint::CARD, rattle::CARD];
