//! `leastaction learn evaluate`: what was learned, judged on trajectories that were not learned from.

use super::super::Failure;
use super::super::table;
use super::threads;
use super::train::failure;
use clap::Args;
use leastaction::learn::evaluate::{ErrorSummary, perturbed, rollout, summarize};
use leastaction::learn::{Dataset, Learned, Split};
use std::path::PathBuf;

#[derive(Args)]
#[command(
    after_help = "The relative error of a prediction is |ẑ - z|/(|ẑ| + |z|) over all positions and velocities; of each trajectory the geometric mean over time is taken,\n\
    and of these the mean and the geometric mean. Predictions are made in double precision.\n\n\
    Examples:\n  \
    leastaction learn evaluate three.safetensors --data three.npz"
)]
pub(crate) struct Evaluate {
    /// What `leastaction learn train` wrote
    #[arg(required = true)]
    learned: Vec<PathBuf>,
    /// The dataset with the trajectories for tests
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// Take so many steps from sample to sample
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    substeps: u64,
    /// Move starts by so much for the true motion beside
    #[arg(long, value_name = "SIZE", default_value_t = 1e-4)]
    perturbed: f64,
    /// Run in so many threads [default: as many as the machine can run at once]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

impl Evaluate {
    pub(crate) fn execute(self) -> Result<String, Failure> {
        let dataset = Dataset::read(&self.data).map_err(|error| failure(&error.into()))?;
        let (truth, d, samples) = (dataset.part(Split::Test), dataset.dimension(), dataset.samples);
        if truth.is_empty() {
            return Err(Failure::usage(format!("`{}` has no trajectories for tests", self.data.display())));
        }
        let mut rows = vec![["learned", "mean error", "geometric mean", "lost"].map(str::to_owned).to_vec()];
        let row = |name: String, ErrorSummary { mean, geometric_mean, lost, .. }: ErrorSummary| {
            vec![name, format!("{mean:.3e}"), format!("{geometric_mean:.3e}"), lost.to_string()]
        };
        let moved =
            perturbed(&dataset, self.perturbed, dataset.seed, threads(self.threads)).map_err(Failure::run)?;
        rows.push(row(
            format!("the truth, moved by {:?}", self.perturbed),
            summarize(&moved, truth, d, samples).0,
        ));
        let starts: Vec<f64> =
            truth.chunks_exact(samples * d).flat_map(|trajectory| trajectory[..d].to_vec()).collect();
        for path in &self.learned {
            let (learned, _) = Learned::read(path).map_err(Failure::run)?;
            if learned.origin != dataset.origin {
                let told = format!(
                    "`{}` learned of another system than `{}` is of",
                    path.display(),
                    self.data.display()
                );
                return Err(Failure::usage(told));
            }
            let mut recipe = learned.recipe.clone();
            recipe.substeps = self.substeps as usize;
            let predictor = recipe.predictor(&learned.origin).map_err(Failure::run)?;
            let found =
                rollout(&predictor, &learned.parameters, dataset.dt, &predictor.states(&starts, 1), samples);
            let found = predictor.states_of_system(&found);
            rows.push(row(path.display().to_string(), summarize(&found, truth, d, samples).0));
        }
        Ok(format!(
            "{}, {} trajectories, {samples} samples {:?} apart\n\n{}",
            dataset.origin.system,
            dataset.split[2],
            dataset.dt,
            table(&rows)
        ))
    }
}
