//! `leastaction learn evaluate`: what was learned, judged on trajectories that were not learned from.

use super::super::Failure;
use super::super::table;
use super::data::trajectories;
use super::judged::compared;
use super::threads;
use clap::Args;
use leastaction::learn::evaluate::{Comparison, ComparisonPlan};
use std::path::PathBuf;

#[derive(Args)]
#[command(
    after_help = "The relative error of a prediction is |ẑ - z|/(|ẑ| + |z|) over all positions and velocities; of each trajectory the geometric mean over time is taken,\n\
    and of these the mean and the geometric mean. The error of the energy is that of the true energy along predictions, by the same means; the violation is the\n\
    largest of the constraints of positions at any sample. What ran away is lost, with an error of 1. Predictions are made in double precision.\n\
    `leastaction learn rollout` shows how errors grow. With --eigenvalues, the effective dimension is the sum of λ/(λ + 0.001) over eigenvalues λ of the Hessian of the\n\
    mean squared deviation of chunks of five samples for training, as parts of the largest: how many parameters the data tell of.\n\n\
    Exit codes: 0 success, 1 a file is damaged or a trajectory failed, 2 wrong usage.\n\n\
    Examples:\n  \
    leastaction learn evaluate three.safetensors --data three.npz\n  \
    leastaction learn evaluate chnn.safetensors hnn.safetensors --data three.npz"
)]
pub(crate) struct Evaluate {
    /// What `leastaction learn train` wrote
    #[arg(required = true)]
    learned: Vec<PathBuf>,
    /// The dataset with the trajectories for tests
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// Take this number of steps from sample to sample
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    substeps: u64,
    /// Move starts by this much for the true motion that is compared
    #[arg(long, value_name = "SIZE", default_value_t = 1e-4, allow_hyphen_values = true)]
    perturbed: f64,
    /// Print the effective dimension, too, from this number of the largest eigenvalues of the Hessian of the training loss
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    eigenvalues: Option<u64>,
    /// Use this number of threads [default: as many as the machine can run at once]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

impl Evaluate {
    pub(crate) fn execute(self) -> Result<String, Failure> {
        let plan = ComparisonPlan {
            times: 1,
            starts: usize::MAX,
            substeps: Some(self.substeps as usize),
            perturbed: self.perturbed,
            eigenvalues: self.eigenvalues.map(|count| count as usize),
            threads: threads(self.threads),
        };
        let judged = compared(&self.learned, &self.data, &plan)?;
        let mut text = summary(&judged);
        judged.notes.iter().for_each(|note| text += &format!("note: {note}\n"));
        Ok(text)
    }
}

/// What each came to, as a table for people.
#[must_use]
pub fn summary(judged: &Comparison) -> String {
    let head = ["learned", "mean error", "geometric mean", "energy", "violation", "lost"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let has_dimensions = !judged.dimensions.is_empty();
    rows[0].extend(has_dimensions.then(|| "dimension".to_owned()));
    // Nothing is learned of the true motion, which comes first if it is there.
    let mut dimensions = std::iter::once("–".to_owned())
        .filter(|_| judged.all.len() > judged.dimensions.len())
        .chain(judged.dimensions.iter().map(|dimension| format!("{dimension:.1}")));
    for (name, judgement) in &judged.all {
        let summary = judgement.summary;
        let mut row = vec![
            name.clone(),
            format!("{:.3e}", summary.mean),
            format!("{:.3e}", summary.geometric_mean),
            format!("{:.1e}", judgement.energy_mean),
            judgement
                .violation
                .as_ref()
                .map_or_else(|| "–".to_owned(), |_| format!("{:.1e}", judgement.violation_most)),
            summary.lost.to_string(),
        ];
        row.extend(dimensions.next().filter(|_| has_dimensions));
        rows.push(row);
    }
    let dataset = &judged.dataset;
    format!(
        "{}, {}, {} samples {:?} apart\n\n{}",
        dataset.origin.system,
        trajectories(dataset.split[2]),
        judged.times.len(),
        dataset.dt,
        table(&rows)
    )
}
