//! `leastaction learn`: energies from data.

mod data;
mod evaluate;
mod train;

use super::Failure;
use clap::Subcommand;

#[derive(Subcommand)]
#[allow(clippy::large_enum_variant)] // there is one command
pub(crate) enum Learn {
    /// Make a dataset: trajectories of a system, from starts drawn at random
    Data(data::Data),
    /// Train a network on a dataset
    Train(train::Train),
    /// Judge what was learned on trajectories that were not learned from
    Evaluate(evaluate::Evaluate),
}

impl Learn {
    pub(crate) fn execute(self) -> Result<String, Failure> {
        match self {
            Learn::Data(data) => data.execute(),
            Learn::Train(train) => train.execute(),
            Learn::Evaluate(evaluate) => evaluate.execute(),
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

/// As many threads as the machine can run at once, or so many.
fn threads(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)).max(1)
}
