//! `leastaction learn data`: trajectories to learn from.

use super::super::Failure;
use super::super::progress::Watcher;
use super::super::setting::What;
use super::super::source::unprepared;
use super::threads;
use clap::Args;
use leastaction::learn::data::{Findings, MeasuredError, MeasuredPlan, Starts};
use leastaction::learn::{Dataset, DatasetPlan, GenerateError};
use leastaction::output::{check, check_apart};
use leastaction::simulate::{Overrides, Source};
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = "Starts are drawn as the catalog says for the system, or as --sample says:\n  \
    uniform(LOW,HIGH), normal(MEAN,DEVIATION), grid(LOW,HIGH,POINTS), latin(LOW,HIGH), sobol(LOW,HIGH), file(FILE,COLUMN), or a number.\n\
    The dataset is an archive of NumPy: `z` of (trajectories, samples, numbers of a state), the model's text, and the seed.\n\n\
    --from reads trajectories of your own; the model says what their numbers are, and what is known, such as constraints. In a .csv, or an .npz of columns, there is\n\
    `t`, each coordinate and its velocity under its name (th, th'), and perhaps `trajectory`, which says whose sample a row is; files of `leastaction run --out` are\n\
    such. An .npz may have `z`, or `q` and `v`, of (trajectories, samples, numbers) instead, and `t` or `dt`. Times must be even. Trajectories are cut into pieces,\n\
    of which a tenth each is for validation and for tests, unless --train, --validation and --test say otherwise.\n\n\
    Exit codes: 0 success, 1 a trajectory failed or files are no data, 2 wrong usage, 130 interrupted.\n\n\
    Examples:\n  \
    leastaction learn data n-pendulum --size 3 --out three.npz\n  \
    leastaction learn data double-pendulum --sample \"th1=uniform(-2,2)\" --sample \"th2=uniform(-2,2)\" --train 400 --out double.npz\n  \
    leastaction learn data swing.motion --from monday.csv --from tuesday.csv --out swing.npz")]
pub(crate) struct Data {
    #[command(flatten)]
    what: What,
    /// Write the dataset to a file that ends in .npz
    #[arg(long, value_name = "FILE", value_parser = npz)]
    out: PathBuf,
    /// Read trajectories from a .csv or .npz file, in place of computing them; may be repeated
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sample", "noise", "tol"])]
    from: Vec<PathBuf>,
    /// Take velocities from differences of positions, where files have none
    #[arg(long, requires = "from")]
    differences: bool,
    /// Make this number of trajectories for training [default: 800]
    #[arg(long, value_name = "N")]
    train: Option<usize>,
    /// Make this number of trajectories for validation, which decides when to stop [default: 100]
    #[arg(long, value_name = "N")]
    validation: Option<usize>,
    /// Make this number of trajectories for tests [default: 100]
    #[arg(long, value_name = "N")]
    test: Option<usize>,
    /// Take this number of samples of each trajectory, including the start [default: 100]
    #[arg(long, value_name = "N")]
    samples: Option<usize>,
    /// Take a sample every DT units of time [default: the length of the run that the model states, divided by the number of samples]
    #[arg(long, value_name = "DT", allow_hyphen_values = true)]
    every: Option<f64>,
    /// Draw a coordinate or a velocity of the start; may be repeated [default: as the catalog says]
    #[arg(long, value_name = "NAME=HOW", allow_hyphen_values = true)]
    sample: Vec<String>,
    /// Draw other starts: the same for the same number
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Add normal noise of this standard deviation to what is for training and validation
    #[arg(long, value_name = "S", default_value_t = 0.0, allow_hyphen_values = true)]
    noise: f64,
    /// Integrate with this relative tolerance
    #[arg(long, value_name = "TOL", default_value_t = 1e-11)]
    tol: f64,
    /// Use this number of threads [default: as many as the machine can run at once]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Say nothing but errors
    #[arg(long)]
    quiet: bool,
}

/// A number of trajectories, in words.
pub(super) fn trajectories(count: usize) -> String {
    format!("{count} {}", if count == 1 { "trajectory" } else { "trajectories" })
}

/// Reads the name of an archive.
pub(super) fn npz(name: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(name);
    match path.extension() {
        Some(end) if end.eq_ignore_ascii_case("npz") => Ok(path),
        _ => Err("the name should end in .npz".to_owned()),
    }
}

impl Data {
    pub(crate) fn execute(self) -> Result<String, Failure> {
        let source = self.what.source()?;
        let overrides: Overrides = self.what.overrides();
        if !self.from.is_empty() {
            return self.read(&source, &overrides);
        }
        check(&self.out).map_err(Failure::usage)?;
        let plan = DatasetPlan {
            split: [self.train.unwrap_or(800), self.validation.unwrap_or(100), self.test.unwrap_or(100)],
            samples: self.samples.unwrap_or(100),
            dt: self.every,
            starts: if self.sample.is_empty() {
                Starts::Catalog
            } else {
                Starts::Sampled(self.sample.clone())
            },
            seed: self.seed,
            noise: self.noise,
            tolerance: self.tol,
            threads: threads(self.threads),
        };
        let mut watcher = Watcher::new(!self.quiet)?;
        let count: usize = plan.split.iter().sum();
        let progress =
            |fraction: f64| format!("{} of {count} trajectories", (fraction * count as f64).round());
        let dataset = Dataset::generate(&source, &overrides, &plan, |fraction| {
            watcher.tell(fraction, || progress(fraction))
        });
        watcher.finish();
        let dataset = dataset.map_err(|error| match error {
            GenerateError::Prepare(error) if error.has_no_draws() => Failure::usage(format!(
                "{} has no random starts of its own: say what to draw, as --sample \"x=uniform(-1,1)\"",
                source.name
            )),
            GenerateError::Prepare(error) => unprepared(&source, &error),
            GenerateError::Interrupted { .. } => Failure::interrupted(watcher.interruption(), error),
            GenerateError::Failed { .. } | GenerateError::Run(_) | GenerateError::Eval(_) => {
                Failure::run(error)
            }
            error => Failure::usage(error),
        })?;
        dataset.write(&self.out).map_err(Failure::run)?;
        if self.quiet {
            return Ok(String::new());
        }
        let [train, validation, test] = dataset.split;
        Ok(format!(
            "{}: {} of {} samples, {:?} apart, of {} numbers each\n\
             {train} for training, {validation} for validation, {test} for tests; seed {}, noise {:?}\nwritten to {}\n",
            dataset.origin.system,
            trajectories(count),
            dataset.samples,
            dataset.dt,
            dataset.dimension(),
            dataset.seed,
            dataset.noise,
            self.out.display()
        ))
    }

    /// A dataset of trajectories in files.
    fn read(&self, source: &Source, overrides: &Overrides) -> Result<String, Failure> {
        for file in &self.from {
            check_apart(&self.out, file).map_err(Failure::usage)?;
        }
        check(&self.out).map_err(Failure::usage)?;
        if let Some(dt) = self.every.filter(|dt| !(*dt > 0.0 && dt.is_finite())) {
            return Err(Failure::usage(format!(
                "the time from sample to sample is {dt:?}: it must be positive (--every)"
            )));
        }
        let plan = MeasuredPlan {
            files: self.from.clone(),
            samples: self.samples,
            dt: self.every,
            split: [self.train, self.validation, self.test],
            seed: self.seed,
            differences: self.differences,
        };
        let (dataset, findings) =
            Dataset::measured(source, overrides, &plan).map_err(|error| match error {
                MeasuredError::Prepare(error) => unprepared(source, &error),
                error @ (MeasuredError::Few { .. }
                | MeasuredError::Times { .. }
                | MeasuredError::NoTimes { .. }) => Failure::usage(error),
                error => Failure::run(error),
            })?;
        dataset.write(&self.out).map_err(Failure::run)?;
        if self.quiet {
            return Ok(String::new());
        }
        let [train, validation, test] = dataset.split;
        let Findings { trajectories, left_out, off } = findings;
        let mut text = format!(
            "{}: {} of data, in {} pieces of {} samples, {:?} apart, of {} numbers each\n\
             {train} for training, {validation} for validation, {test} for tests; seed {}\n",
            dataset.origin.system,
            self::trajectories(trajectories),
            train + validation + test,
            dataset.samples,
            dataset.dt,
            dataset.dimension(),
            dataset.seed,
        );
        if left_out > 0 {
            let samples = if left_out == 1 { "sample that fills" } else { "samples that fill" };
            text += &format!("left out: {left_out} {samples} no piece\n");
        }
        if let Some(off) = off {
            text += &format!("constraints hold to {off:.1e} of the size of positions\n");
        }
        Ok(text + &format!("written to {}\n", self.out.display()))
    }
}
