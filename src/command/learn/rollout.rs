//! `leastaction learn rollout`: how the errors of predictions grow.

use super::super::Failure;
use super::super::pictures::plot_file;
use super::super::table;
use super::judged::compared;
use super::{curve, threads};
use clap::Args;
use leastaction::integrate::number;
use leastaction::learn::evaluate::{Band, Comparison, ComparisonPlan, Judgement};
use leastaction::output::{About, Format, check, check_apart, write};
use leastaction::plot::{CurveChart, Curves};
use std::path::PathBuf;

/// How many times are in the table.
const TOLD: usize = 8;

#[derive(Args)]
#[command(
    after_help = "Predictions begin where the trajectories for tests do. Errors are relative, |ẑ - z|/(|ẑ| + |z|) over all positions and velocities; the energy is that of the true\n\
    system, along predictions beside along the truth; the violation is the largest of the constraints of positions. All are geometric means over the\n\
    trajectories, and 95 % says between which values the mean lies with that confidence.\n\n\
    With --times 10, trajectories are ten times as long as those of the dataset: the truth is then computed anew from the model that data came from. Chaos ends every\n\
    prediction: see how soon it ends that of the truth itself, from starts that are moved a little.\n\n\
    Exit codes: 0 success, 1 a file is damaged or a trajectory failed, 2 wrong usage.\n\n\
    Examples:\n  \
    leastaction learn rollout three.safetensors --data three.npz\n  \
    leastaction learn rollout chnn.safetensors hnn.safetensors --data three.npz --plot errors.svg --out errors.csv\n  \
    leastaction learn rollout three.safetensors --data three.npz --times 100 --starts 20"
)]
pub(crate) struct Rollout {
    /// What `leastaction learn train` wrote
    #[arg(required = true)]
    learned: Vec<PathBuf>,
    /// The dataset with the trajectories for tests
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// Predict N times as long as the trajectories of the dataset
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    times: u64,
    /// Use at most this number of trajectories
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    starts: Option<u64>,
    /// Take this number of steps from sample to sample [default: as many as it was trained with]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    substeps: Option<u64>,
    /// Move starts by this much for the true motion that is compared
    #[arg(long, value_name = "SIZE", default_value_t = 1e-4, allow_hyphen_values = true)]
    perturbed: f64,
    /// Write errors over time to a file, in the format of its ending: .csv, .npz, .parquet or .json
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Plot them to a file that ends in .svg or .png
    #[arg(long, value_name = "FILE", value_parser = plot_file)]
    plot: Option<PathBuf>,
    /// Use this number of threads [default: as many as the machine can run at once]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

impl Rollout {
    pub(crate) fn execute(self) -> Result<String, Failure> {
        if let Some(out) = &self.out {
            Format::of(out).map_err(Failure::usage)?;
        }
        let read = || std::iter::once(&self.data).chain(&self.learned);
        for written in self.out.iter().chain(&self.plot) {
            read().try_for_each(|read| check_apart(written, read)).map_err(Failure::usage)?;
        }
        self.out.iter().chain(&self.plot).try_for_each(|path| check(path)).map_err(Failure::usage)?;
        let plan = ComparisonPlan {
            times: self.times as usize,
            starts: self.starts.map_or(usize::MAX, |starts| starts as usize),
            substeps: self.substeps.map(|substeps| substeps as usize),
            perturbed: self.perturbed,
            eigenvalues: None,
            threads: threads(self.threads),
        };
        let judged = compared(&self.learned, &self.data, &plan)?;
        let dataset = &judged.dataset;
        let mut text = format!(
            "{}, {} trajectories, {} samples {:?} apart\n",
            dataset.origin.system,
            dataset.split[2],
            judged.times.len(),
            dataset.dt,
        );
        for (name, judgement) in &judged.all {
            text += &format!("\n{name}\n{}", error_table(&judged.times, judgement));
            let late = |value| match judgement.error.reaches(value, dataset.dt) {
                Some(t) => format!("from t = {} on", number(&rounded(t))),
                None => "never".to_owned(),
            };
            text += &format!("an error of 1 %: {}; of 10 %: {}\n", late(0.01), late(0.1));
        }
        judged.notes.iter().for_each(|note| text += &format!("note: {note}\n"));
        if let Some(out) = &self.out {
            let about = About {
                system: dataset.origin.system.clone(),
                method: "learn rollout".to_owned(),
                ended: "complete".to_owned(),
                warnings: judged.notes.clone(),
                parameters: dataset.origin.parameters.clone(),
                ..About::default()
            };
            write(out, &judged, &about).map_err(Failure::run)?;
            text += &format!("written to {}\n", out.display());
        }
        if let Some(plot) = &self.plot {
            picture(&judged).save(plot).map_err(Failure::run)?;
            text += &format!("plotted to {}\n", plot.display());
        }
        Ok(text)
    }
}

/// A time without what rounding makes of products.
fn rounded(t: f64) -> f64 {
    format!("{t:.9e}").parse().unwrap_or(t)
}

/// Errors at some times.
fn error_table(times: &[f64], judgement: &Judgement) -> String {
    let mut head = vec!["t", "error", "95 %", "energy"];
    head.extend(judgement.violation.as_ref().map(|_| "violation"));
    let mut rows = vec![head.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    let last = times.len() - 1;
    let count = TOLD.min(last);
    for place in 1..=count {
        let sample = (place * last).div_ceil(count).min(last);
        let error = &judgement.error;
        let between = match error.low[sample].is_finite() {
            true => format!("{:.2e} to {:.2e}", error.low[sample], error.high[sample]),
            false => "–".to_owned(),
        };
        let mut row = vec![
            number(&rounded(times[sample])),
            format!("{:.2e}", error.middle[sample]),
            between,
            format!("{:.1e}", judgement.energy.middle[sample]),
        ];
        row.extend(judgement.violation.as_ref().map(|band| format!("{:.1e}", band.middle[sample])));
        rows.push(row);
    }
    table(&rows)
}

/// Errors over time as charts.
#[must_use]
pub fn picture(judged: &Comparison) -> Curves {
    let chart = |title: &str, band: fn(&Judgement) -> Option<&Band>| {
        let of = |(index, (name, judgement)): (usize, &(String, Judgement))| {
            Some(curve(name, &judged.times, band(judgement)?, index))
        };
        CurveChart {
            title: title.to_owned(),
            labels: ["t".to_owned(), title.to_lowercase()],
            log: [false, true],
            curves: judged.all.iter().enumerate().filter_map(of).collect(),
            ..CurveChart::default()
        }
    };
    let charts = [
        chart("Relative error", |judgement| Some(&judgement.error)),
        chart("Error of the energy", |judgement| Some(&judgement.energy)),
        chart("Violation of constraints", |judgement| judgement.violation.as_ref()),
    ];
    let dataset = &judged.dataset;
    Curves {
        title: format!("{}: predictions beside the truth", dataset.origin.system),
        subtitle: format!(
            "geometric means over {} trajectories, and where they lie with a confidence of 95 %",
            dataset.split[2]
        ),
        columns: charts
            .into_iter()
            .filter(|chart| !chart.curves.is_empty())
            .map(|chart| vec![chart])
            .collect(),
    }
}
