//! `leastaction learn evaluate`: what was learned, judged on trajectories that were not learned from.

use super::super::Failure;
use super::super::table;
use super::data::trajectories;
use super::judged::Asked;
use super::threads;
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
#[command(
    after_help = "The relative error of a prediction is |ẑ - z|/(|ẑ| + |z|) over all positions and velocities; of each trajectory the geometric mean over time is taken,\n\
    and of these the mean and the geometric mean. The error of the energy is that of the true energy along predictions, by the same means; the violation is the\n\
    largest of the constraints of positions at any sample. What ran away is lost, with an error of 1. Predictions are made in double precision.\n\
    `leastaction learn rollout` shows how errors grow.\n\n\
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
    /// Take so many steps from sample to sample
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    substeps: u64,
    /// Move starts by so much for the true motion beside
    #[arg(long, value_name = "SIZE", default_value_t = 1e-4, allow_hyphen_values = true)]
    perturbed: f64,
    /// Run in so many threads [default: as many as the machine can run at once]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

impl Evaluate {
    pub(crate) fn execute(self) -> Result<String, Failure> {
        let judged = Asked {
            learned: &self.learned,
            data: &self.data,
            times: 1,
            starts: usize::MAX,
            substeps: Some(self.substeps as usize),
            perturbed: self.perturbed,
            threads: threads(self.threads),
        }
        .judge()?;
        let head = ["learned", "mean error", "geometric mean", "energy", "violation", "lost"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for (name, judgement) in &judged.all {
            let summary = judgement.summary;
            rows.push(vec![
                name.clone(),
                format!("{:.3e}", summary.mean),
                format!("{:.3e}", summary.geometric_mean),
                format!("{:.1e}", judgement.energy_mean),
                judgement
                    .violation
                    .as_ref()
                    .map_or_else(|| "–".to_owned(), |_| format!("{:.1e}", judgement.violation_most)),
                summary.lost.to_string(),
            ]);
        }
        let dataset = &judged.dataset;
        let mut text = format!(
            "{}, {}, {} samples {:?} apart\n\n{}",
            dataset.origin.system,
            trajectories(dataset.split[2]),
            dataset.samples,
            dataset.dt,
            table(&rows)
        );
        judged.notes.iter().for_each(|note| text += &format!("note: {note}\n"));
        Ok(text)
    }
}
