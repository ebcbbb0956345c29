//! `leastaction learn`: energies from data.

mod data;
mod evaluate;
mod judged;
mod reproduce;
mod rollout;
mod train;

pub use evaluate::summary;
pub use rollout::picture;
pub use train::losses;

use super::Failure;
use clap::Subcommand;
use leastaction::learn::evaluate::Band;
use leastaction::plot::Curve;

#[derive(Subcommand)]
#[allow(clippy::large_enum_variant)] // there is one command
pub(crate) enum Learn {
    /// Make a dataset: trajectories of a system, from starts drawn at random
    Data(data::Data),
    /// Train a network on a dataset
    Train(train::Train),
    /// Judge what was learned on trajectories that were not learned from
    Evaluate(evaluate::Evaluate),
    /// Show how the errors of predictions grow
    Rollout(rollout::Rollout),
    /// Compare all architectures on the systems of a publication, with its numbers
    Reproduce(reproduce::Reproduce),
}

impl Learn {
    pub(crate) fn execute(self) -> Result<String, Failure> {
        match self {
            Learn::Data(data) => data.execute(),
            Learn::Train(train) => train.execute(),
            Learn::Evaluate(evaluate) => evaluate.execute(),
            Learn::Rollout(rollout) => rollout.execute(),
            Learn::Reproduce(reproduce) => reproduce.execute(),
        }
    }
}

/// Numbers between commas.
#[derive(Clone, Debug, Default)]
struct Places(Vec<usize>);

fn list(text: &str) -> Result<Places, String> {
    let numbers: Result<Vec<usize>, _> = text.split(',').map(|word| word.trim().parse()).collect();
    numbers.map(Places).map_err(|_| "write whole numbers between commas, such as 256,256,256".to_owned())
}

/// The number of threads: as many as the machine can run at once, unless it is given.
fn threads(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)).max(1)
}

/// A band over time as a curve, without the start, at which predictions have no error.
fn curve(name: &str, times: &[f64], band: &Band, index: usize) -> Curve {
    Curve {
        name: name.to_owned(),
        points: times.iter().zip(&band.middle).skip(1).map(|(t, middle)| [*t, *middle]).collect(),
        band: band.low.iter().zip(&band.high).skip(1).map(|(low, high)| [*low, *high]).collect(),
        index,
    }
}
