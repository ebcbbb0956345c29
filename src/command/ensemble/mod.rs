//! `leastaction ensemble`: many trajectories of a system from initial conditions that are sampled, and what is kept of them.

mod findings;
mod pictures;
mod report;

pub(super) use findings::Findings;
pub use findings::ensemble_pictures;
pub(super) use report::{Report, about, notes};

use super::Failure;
use super::progress::Watcher;
use super::run::several;
use super::setting::{Setting, asked_events, event};
use super::source::{refused, shown, unprepared};
use clap::Args;
use leastaction::ensemble::{ReduceError, Reduction, SampleError};
use leastaction::output::About;
use leastaction::simulate::{Method, Overrides, PrepareError, Problem, describe};
use leastaction::{Graph, Shard, Study, StudyError};
use std::path::PathBuf;
use std::time::Instant;

#[derive(Args)]
#[command(after_help = "How to sample coordinates, velocities (x'), momenta (p_x) and parameters:\n  \
                  uniform(LOW,HIGH), normal(MEAN,DEVIATION), grid(LOW,HIGH,POINTS), latin(LOW,HIGH), sobol(LOW,HIGH),\n  \
                  file(FILE) or file(FILE,COLUMN) with a .csv or .npz, or a number\n\
                  What to keep of expressions at the end of trajectories, of start(EXPR), first(EVENT) and crossings(EVENT),\n\
                  and of min(EXPR), max(EXPR), range(EXPR) and mean(EXPR) over the samples of a trajectory:\n  \
                  stats(EXPR,…), quantiles(EXPR,PART,…), histogram(EXPR,LOW,HIGH,BINS), histogram2(EXPR,LOW,HIGH,BINS,EXPR,LOW,HIGH,BINS),\n  \
                  map(EXPR) over grids, ends(EXPR,…), samples(EXPR,…), events(EVENT,…) and section(EVENT,EXPR,…) as rows of a table\n\
                  Expressions may contain all names of the model: coordinates (x), velocities (x'), momenta (p_x), parameters, points (bob.y), bodies (arm.angle),\n\
                  definitions, outputs, invariants and energies (energy, kinetic, potential, potential.spring)\n\n\
                  Results are the same for any number of threads, and for merged shards. Ctrl-C interrupts the run; with --keep, the same\n\
                  command continues it.\n\n\
                  Exit codes: 0 success, 1 the run failed, 2 wrong usage, 130 interrupted.\n\n\
                  Examples:\n  \
                  leastaction ensemble pendulum --count 100000 --sample \"th=uniform(-1,1)\" --reduce \"histogram(th,-1,1,50)\" --plot th.svg\n  \
                  leastaction ensemble double-pendulum --sample \"th1=grid(-3,3,400)\" --sample \"th2=grid(-3,3,400)\" --until 20 \\\n    \
                  --stop \"flip=cos(th1/2)*cos(th2/2)\" --reduce \"map(first(flip))\" --plot flips.png\n  \
                  leastaction ensemble pendulum --sample \"th=grid(0.5,2.5,5)\" --every 0.1 --reduce \"samples(th')\" --out swings.csv\n  \
                  leastaction ensemble pendulum --sample \"th'=grid(-8,8,33)\" --until 4 --plot \"th' over th\" --plot portrait.svg\n  \
                  leastaction ensemble henon-heiles --count 1000000 --sample \"y'=normal(0,0.1)\" --reduce ends --keep study-1 --shard 1/4\n  \
                  leastaction merge study-1 study-2 study-3 study-4 --out ends.npz")]
pub(crate) struct Ensemble {
    #[command(flatten)]
    setting: Setting,
    /// Run this number of trajectories [default: the number of points of grids, or of rows of files]
    #[arg(long, value_name = "N", value_parser = whole, allow_hyphen_values = true)]
    count: Option<u64>,
    /// Sample a coordinate, a velocity, a momentum or a parameter; may be repeated
    #[arg(long, value_name = "NAME=HOW", allow_hyphen_values = true)]
    sample: Vec<String>,
    /// The seed: the same number gives the same samples
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Keep this result of the trajectories; may be repeated [default: stats of all coordinates]
    #[arg(long, value_name = "WHAT", allow_hyphen_values = true)]
    reduce: Vec<String>,
    /// With samples that are kept or plotted, take one every DT units of time [default: about 1000 samples]
    #[arg(long, value_name = "DT", allow_hyphen_values = true, conflicts_with = "samples")]
    every: Option<f64>,
    /// With samples that are kept or plotted, take this number of them, besides the initial state
    #[arg(long, value_name = "N", value_parser = number_of_samples, allow_hyphen_values = true)]
    samples: Option<u64>,
    /// Leave out samples and events before this time: what is transient
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    from: Option<f64>,
    /// Look for an event: where an expression passes 0; may be repeated
    #[arg(long, value_name = "NAME=EXPR", value_parser = event, allow_hyphen_values = true)]
    event: Vec<(String, String)>,
    /// End a trajectory where an expression passes 0; may be repeated
    #[arg(long, value_name = "NAME=EXPR", value_parser = event, allow_hyphen_values = true)]
    stop: Vec<(String, String)>,
    #[command(flatten)]
    findings: Findings,
    /// Keep finished trajectories in a directory, and continue from those that are there
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Run only part I of N, in a directory of its own, for `leastaction merge`
    #[arg(long, value_name = "I/N", requires = "keep")]
    shard: Option<Shard>,
    /// Use this number of threads [default: as many as the machine can run at once]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4096))]
    threads: Option<u64>,
    /// Write results to the directory after every N trajectories [default: 8 to 8192, by their number and length]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    chunk: Option<u64>,
}
/// Reads a whole number, also as 1e6.
fn whole(text: &str) -> Result<u64, String> {
    // Larger ones are not all whole numbers of floating point.
    const MOST: f64 = (1_u64 << 53) as f64;
    let written = |number: &f64| (0.0..=MOST).contains(number) && number.fract() == 0.0;
    let short = || text.parse().ok().filter(written).map(|number| number as u64);
    text.parse().ok().or_else(short).ok_or_else(|| "write a whole number, such as 1000 or 1e6".to_owned())
}

/// Reads a number of samples.
fn number_of_samples(text: &str) -> Result<u64, String> {
    let wrong =
        || "write a whole number of samples, 1 at least (what is sampled is said by --sample)".to_owned();
    whole(text).ok().filter(|&samples| samples > 0).ok_or_else(wrong)
}

impl Ensemble {
    pub(crate) fn execute(self) -> Result<String, Failure> {
        self.findings.check(&self.setting.beginning.what.system)?;
        self.check_draws()?;
        let (graph, source) = (Graph::new(), self.setting.beginning.what.source()?);
        let overrides =
            Overrides { every: self.every, samples: self.samples, ..self.setting.overrides(None) };
        let wrong = |error: PrepareError| unprepared(&source, &error);
        let mut problem = source.problem(&graph, &overrides).map_err(wrong)?;
        problem.check_sampled(self.sampled(), &overrides).map_err(wrong)?;
        let method = match self.sample.is_empty() {
            true => problem.method(&overrides),
            false => problem.method_for_all(&overrides),
        };
        let Method { integrator, why } = method.map_err(wrong)?;
        let rest = problem.rest(&overrides).map_err(Failure::usage)?;
        let integrator = problem.with_events(integrator).map_err(wrong)?;
        let mut events = problem.events();
        let asked = asked_events(&self.event, &self.stop);
        let integrator = problem.with_asked_events(integrator, &asked, &mut events).map_err(wrong)?;
        let mut reduce = match self.reduce.is_empty() {
            true => vec![format!("stats({})", problem.dynamics.system().coordinates().join(", "))],
            false => self.reduce.clone(),
        };
        reduce.extend(self.findings.samples().filter(|samples| !reduce.contains(samples)));
        let integrator = match self.keeps_samples(&reduce)? {
            true => problem.with_common_samples(integrator, &overrides).map_err(wrong)?,
            false => integrator,
        };
        let Problem { dynamics, start, until, .. } = problem;
        let mut watcher = Watcher::new(!self.findings.quiet)?;
        let mut study = Study::new(integrator.clone(), until)
            .beginning_at(start.t)
            .sampling(&self.sample)
            .map_err(Failure::usage)?
            .starting(rest)
            .reducing(&reduce)
            .map_err(Failure::usage)?
            .events(events)
            .seed(self.seed)
            .note("system", &source.name)
            .note("model", &source.whole().map_err(|errors| shown(&source, &errors))?)
            .shard(self.shard.unwrap_or(Shard::WHOLE))
            .stopped_by(watcher.interrupted());
        for (name, expression) in self.event.iter().chain(&self.stop) {
            study = study.note("expression", &format!("{name}={expression}"));
        }
        if let Some(from) = self.from {
            let [low, high] = [start.t.min(until), start.t.max(until)];
            if !(low..=high).contains(&from) {
                return Err(Failure::usage(format!(
                    "nothing is left from t = {from} on: trajectories go from t = {} to {until} (--from, --until)",
                    start.t
                )));
            }
            study = study.counting_from(from);
        }
        study = self.count.into_iter().fold(study, Study::count);
        study = self.chunk.into_iter().fold(study, Study::chunk);
        study = self.threads.into_iter().fold(study, |study, threads| study.threads(threads as usize));
        study = self.keep.iter().fold(study, |study, directory| study.kept_in(directory));
        let total = study.total().map_err(|error| match error {
            SampleError::NoCount => Failure::usage(format!("{error} (--count)")),
            error => Failure::usage(error),
        })?;
        self.findings.check_for(&reduce)?;

        let before = Instant::now();
        let results = study.run(&dynamics, |progress| {
            let fraction = progress.done as f64 / progress.total.max(1) as f64;
            // An interruption is heard by the study itself.
            let _ = watcher.tell(fraction, || report::progress(progress));
        });
        let wall = before.elapsed();
        watcher.finish();
        let by = watcher.interruption();
        let results = results.map_err(failure)?;
        let ended = match results.interrupted {
            true => format!("stopped by {by} after {} of {total} trajectories", results.done),
            false => "complete".to_owned(),
        };
        let about = describe(&source.name, &integrator, &dynamics, ended);
        let about = About { notes: notes(&results), ..about };
        let (written, errors) = self.findings.write(&results, &about);
        let report = Report { results: &results, about: &about, why, wall: Some(wall), written };
        let text = report.shown(&self.findings);
        let mut errors = errors;
        if results.interrupted {
            let kept = self.keep.as_ref().map(|directory| {
                format!("; what is done is kept in {}: the same command goes on", directory.display())
            });
            errors.insert(0, format!("{}{}", about.ended, kept.unwrap_or_default()));
            return Err(Failure::interrupted(by, several(&errors)).saying(text));
        }
        let overview = results.overview();
        if overview.failed == overview.count() && overview.failed > 0 {
            errors.insert(0, report::failures(overview, 1).unwrap_or_default());
        }
        match errors.is_empty() {
            true => Ok(text),
            false => Err(Failure::run(several(&errors)).saying(text)),
        }
    }

    /// The names that are sampled.
    fn sampled(&self) -> impl Iterator<Item = &str> {
        self.sample.iter().filter_map(|text| Some(text.split_once('=')?.0.trim()))
    }

    /// Refuses values that what is sampled would replace.
    fn check_draws(&self) -> Result<(), Failure> {
        for name in self.sampled() {
            let option =
                match (self.setting.beginning.what.asks(name), self.setting.beginning.what.sets(name)) {
                    (true, _) => "--start",
                    (_, true) => "--set",
                    _ => continue,
                };
            let error =
                format!("`{name}` is sampled (--sample), and given a value ({option}): leave one out");
            return Err(Failure::usage(error));
        }
        Ok(())
    }

    /// Whether samples along the way are kept.
    fn keeps_samples(&self, reduce: &[String]) -> Result<bool, Failure> {
        let keeps = |text: &String| text.parse().is_ok_and(|kept: Reduction| kept.keeps_samples());
        let kept = reduce.iter().any(keeps);
        let option = match (self.every, self.samples) {
            (Some(_), _) => "--every",
            (_, Some(_)) => "--samples",
            (None, None) => return Ok(kept),
        };
        let unused = "says when samples are taken, but nothing keeps them: add --reduce samples, or a mean or an extreme of them, such as \"stats(max(x))\"";
        if kept { Ok(true) } else { Err(Failure::usage(format!("{option} {unused}"))) }
    }
}

/// Why a study cannot be run: mostly because of wrong arguments.
fn failure(error: StudyError) -> Failure {
    match error {
        StudyError::Run(error) => refused(&error),
        StudyError::Store(error) => Failure::run(error),
        StudyError::Reduce(error @ ReduceError::Memory { .. }) => Failure::usage(format!("{error} (--keep)")),
        StudyError::Sample(error @ SampleError::Same { .. }) => Failure::usage(format!("{error} (--sample)")),
        other => Failure::usage(other),
    }
}
