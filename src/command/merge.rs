//! `leastaction merge`: the shards of an ensemble put together.

use super::Failure;
use super::ensemble::{Findings, Report, about};
use super::run::several;
use clap::Args;
use leastaction::Results;
use std::path::PathBuf;

#[derive(Args)]
#[command(
    after_help = "The results have the same bits as those of the ensemble in one run. Directories of other ensembles and missing shards are refused.\n\n\
                  Examples:\n  \
                  leastaction ensemble pendulum --count 1000 --sample \"th=uniform(-1,1)\" --keep part-1 --shard 1/2\n  \
                  leastaction ensemble pendulum --count 1000 --sample \"th=uniform(-1,1)\" --keep part-2 --shard 2/2\n  \
                  leastaction merge part-1 part-2"
)]
pub(crate) struct Merge {
    /// The directories that `leastaction ensemble --keep` wrote
    #[arg(value_name = "DIR", required = true)]
    directories: Vec<PathBuf>,
    #[command(flatten)]
    findings: Findings,
}

impl Merge {
    pub(crate) fn execute(self) -> Result<String, Failure> {
        self.findings.check("")?; // no model is read
        let results = Results::merge(&self.directories).map_err(Failure::run)?;
        let about = about(&results).map_err(Failure::run)?;
        let reduce: Vec<String> = results.manifest().get("reduce").map(str::to_owned).collect();
        self.findings.check_for(&reduce)?;
        let (written, errors) = self.findings.write(&results, &about);
        let text =
            Report { results: &results, about: &about, why: None, wall: None, written }.shown(&self.findings);
        match errors.is_empty() {
            true => Ok(text),
            false => Err(Failure::run(several(&errors)).saying(text)),
        }
    }
}
