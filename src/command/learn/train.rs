//! `leastaction learn train`: a network that is trained on a dataset.

use super::super::Failure;
use super::super::pictures::plot_file;
use super::super::progress::Watcher;
use super::super::source::{open_file, shown};
use super::{Places, list, threads};
use clap::Args;
use leastaction::Graph;
use leastaction::learn::data::Origin;
use leastaction::learn::train::{
    Ending, LogRow, OptimizerKind, TrainError, Trainer, TrainingFiles, TrainingPlan,
};
use leastaction::learn::{Dataset, Recipe, architecture_named, step_named};
use leastaction::output::{check, check_apart, replace};
use leastaction::plot::{Curve, CurveChart, Curves};
use leastaction::simulate::Overrides;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Args)]
#[command(
    after_help = "The training keeps a checkpoint, and the same command goes on from it, with the same bits as if it had never been broken off.\n\n\
    Exit codes: 0 success, 1 predictions ran away or a file is damaged, 2 wrong usage, 130 interrupted.\n\n\
    Examples:\n  \
    leastaction learn train three.npz --architecture chnn --out three.safetensors\n  \
    leastaction learn train three.npz --architecture clnn --hidden 64,64 --steps 1000 --log three.csv --out three.safetensors\n  \
    leastaction learn train swing.npz --model mine.motion --out extra.safetensors"
)]
pub(crate) struct Train {
    /// A dataset that `leastaction learn data` wrote
    data: PathBuf,
    /// What is assumed, and what is learned: chnn, clnn, hnn, delan, lnn or neural-ode
    #[arg(long, value_name = "NAME", default_value = "chnn")]
    architecture: String,
    /// Train the networks among the energies of a .motion file of your own, and take all else as it says
    #[arg(long, value_name = "FILE", conflicts_with_all = ["architecture", "hidden", "activation", "damping", "without"])]
    model: Option<String>,
    /// The numbers of units in the hidden layers of each network
    #[arg(long, value_name = "N,N,…", default_value = "256,256,256", value_parser = list)]
    hidden: Places,
    /// What units are: tanh, softplus, sin or silu
    #[arg(long, value_name = "NAME", default_value = "tanh")]
    activation: String,
    /// The step of predictions: rk38; midpoint, which keeps the symplectic form; or rattle, which keeps constraints, too (chnn, clnn)
    #[arg(long, value_name = "NAME", default_value = "rk38")]
    step: String,
    /// Take this number of steps from sample to sample
    #[arg(long, value_name = "N", default_value_t = 1)]
    substeps: usize,
    /// Learn friction, too: a Rayleigh function of the velocities
    #[arg(long)]
    damping: bool,
    /// Leave out constraints, by their place from 0 on
    #[arg(long, value_name = "N,N,…", value_parser = list)]
    without: Option<Places>,
    /// Write what is learned to a file that ends in .safetensors
    #[arg(long, value_name = "FILE", value_parser = safetensors)]
    out: PathBuf,
    /// Keep a checkpoint in a file that ends in .npz, and continue from it if it exists [default: next to the result]
    #[arg(long, value_name = "FILE", value_parser = super::data::npz)]
    checkpoint: Option<PathBuf>,
    /// Write the checkpoint every S seconds
    #[arg(long, value_name = "S", default_value_t = 60)]
    every: u64,
    /// Write losses to a file: .csv or .jsonl
    #[arg(long, value_name = "FILE", value_parser = log_file)]
    log: Option<PathBuf>,
    /// Plot losses to a file that ends in .svg or .png
    #[arg(long, value_name = "FILE", value_parser = plot_file)]
    plot: Option<PathBuf>,
    /// Change weights by: soap, which needs the fewest steps; muon; or adamw, as the reference networks
    #[arg(long, value_name = "NAME", default_value = "soap")]
    optimizer: String,
    /// Make this number of optimizer steps
    #[arg(long, value_name = "N", default_value_t = 8000)]
    steps: u64,
    /// Use this number of chunks for each step
    #[arg(long, value_name = "N", default_value_t = 200)]
    batch: usize,
    /// The number of samples of a chunk, including the first
    #[arg(long, value_name = "N", default_value_t = 5)]
    chunk: usize,
    /// The rate at its highest [default: 0.005 for soap, 0.003 for the others]
    #[arg(long, value_name = "R")]
    rate: Option<f64>,
    /// Learn numbers such as the logarithms of masses this many times as fast as weights
    #[arg(long, value_name = "FACTOR", default_value_t = 10.0)]
    numbers: f64,
    /// Increase the rate during this number of steps
    #[arg(long, value_name = "N", default_value_t = 0)]
    warmup: u64,
    /// Let weights decay by so much for each unit of the rate
    #[arg(long, value_name = "D", default_value_t = 1e-4)]
    decay: f64,
    /// Shorten gradients that are longer
    #[arg(long, value_name = "LENGTH")]
    clip: Option<f64>,
    /// Stop when this number of validations in a row do not improve
    #[arg(long, value_name = "N")]
    patience: Option<u64>,
    /// Validate after every N steps [default: a fortieth of all, at most 100]
    #[arg(long, value_name = "N")]
    validate_every: Option<u64>,
    /// Draw other weights and chunks: the same for the same number
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Let networks compute in double precision
    #[arg(long)]
    double: bool,
    /// Use this number of threads [default: as many as the machine can run at once]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Say nothing but errors
    #[arg(long)]
    quiet: bool,
}

/// Reads the name of a file of weights.
fn safetensors(name: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(name);
    match path.extension() {
        Some(end) if end.eq_ignore_ascii_case("safetensors") => Ok(path),
        _ => Err("the name should end in .safetensors".to_owned()),
    }
}

/// Reads the name of a log.
fn log_file(name: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(name);
    match path.extension() {
        Some(end) if ["csv", "jsonl"].iter().any(|known| end.eq_ignore_ascii_case(known)) => Ok(path),
        _ => Err("the name should end in .csv or .jsonl".to_owned()),
    }
}

/// Whose fault an error is.
pub(super) fn failure(error: &TrainError) -> Failure {
    if error.is_usage() { Failure::usage(error) } else { Failure::run(error) }
}

impl Train {
    pub(crate) fn execute(self) -> Result<String, Failure> {
        let default = || self.out.with_extension("checkpoint.npz");
        let checkpoint = self.checkpoint.clone().unwrap_or_else(default);
        let motion = self.out.with_extension("motion");
        let files =
            [Some(&self.out), Some(&motion), Some(&checkpoint), self.log.as_ref(), self.plot.as_ref()];
        files.into_iter().flatten().try_for_each(|path| check(path)).map_err(Failure::usage)?;
        let known = self.model.as_deref().map(open_file).transpose()?;
        let named = if known.is_some() { "known" } else { &self.architecture };
        let recipe = Recipe {
            architecture: architecture_named(named).map_err(Failure::usage)?,
            hidden: self.hidden.0.clone(),
            activation: self.activation.parse().map_err(Failure::usage)?,
            step: step_named(&self.step).map_err(Failure::usage)?,
            substeps: self.substeps,
            damping: self.damping,
            removed: self.without.clone().unwrap_or_default().0,
        };
        let optimizer: OptimizerKind = self.optimizer.parse().map_err(Failure::usage)?;
        let usual = TrainingPlan::of(optimizer, self.steps);
        let plan = TrainingPlan {
            batch: self.batch,
            chunk: self.chunk,
            rate: self.rate.unwrap_or(usual.rate),
            numbers: self.numbers,
            warmup: self.warmup,
            decay: self.decay,
            clip: self.clip,
            seed: self.seed,
            single: !self.double,
            validate_every: self.validate_every.unwrap_or(usual.validate_every),
            patience: self.patience,
            ..usual
        };
        let dataset = Dataset::read(&self.data).map_err(|error| failure(&error.into()))?;
        if let (Some(model), Some(file)) = (&known, &self.model) {
            // Written in its place, the model could not be trained again.
            check_apart(&motion, Path::new(file)).map_err(Failure::usage)?;
            let graph = Graph::new();
            model.setup(&graph, &[]).map_err(|errors| shown(model, &errors))?;
        }
        let origin = match &known {
            Some(model) => Origin::new(model, &Overrides::default()),
            None => dataset.origin.clone(),
        };
        let trained = Trainer::of(&recipe, &origin, &dataset, &plan, threads(self.threads));
        let mut trainer = trained.map_err(|error| failure(&error))?;
        let files = TrainingFiles {
            checkpoint: Some(checkpoint),
            log: self.log.clone(),
            every: Duration::from_secs(self.every),
        };
        files.resume(&mut trainer).map_err(|error| failure(&error))?;
        let begun = trainer.step();
        let mut watcher = Watcher::new(!self.quiet)?;
        let ended = files.run(&mut trainer, |trainer| watcher.tell(trainer.fraction(), || trainer.status()));
        watcher.finish();
        let ending = ended.map_err(|error| failure(&error))?;
        if ending == Ending::Interrupted {
            let message = format!("interrupted after step {}: the same command goes on", trainer.step());
            return Err(Failure::interrupted(watcher.interruption(), message));
        }
        trainer.learned().write(&self.out, trainer.layout()).map_err(Failure::run)?;
        let text = self.write_motion(&trainer)?;
        if let Some(plot) = &self.plot {
            let title = format!("{} of {}", recipe.architecture.name, dataset.origin.system);
            losses(trainer.rows(), &title, trainer.seconds()).save(plot).map_err(Failure::run)?;
        }
        if self.quiet {
            return Ok(String::new());
        }
        let done = trainer.step() - begun;
        let (best, _) = trainer.best();
        let last = trainer.rows().last();
        let loss = last.map_or(String::new(), |row| {
            format!(", loss {:.3e}, validation {:.3e}", row.loss, row.validated)
        });
        Ok(format!(
            "{} of {}: {} steps in {:.0} s ({done} of them now){loss}\nbest on validation at step {best}; written to {}\n",
            recipe.architecture.name,
            dataset.origin.system,
            trainer.step(),
            trainer.seconds(),
            self.out.display()
        ) + &text)
    }

    /// What was learned as a model, beside its weights, where the language can say it; what there is to say of it.
    fn write_motion(&self, trainer: &Trainer) -> Result<String, Failure> {
        let bytes = std::fs::read(&self.out).map_err(Failure::run)?;
        let text = trainer.learned().motion(&self.out, &bytes).map_err(Failure::run)?;
        let Some(text) = text else { return Ok(String::new()) };
        let path = self.out.with_extension("motion");
        replace(&path, |writer| writer.write_all(text.as_bytes())).map_err(Failure::run)?;
        Ok(format!("as a model: leastaction run {}\n", path.display()))
    }
}

/// The losses of a training as a picture, and the seconds that it took.
#[must_use]
pub fn losses(rows: &[LogRow], title: &str, seconds: f64) -> Curves {
    let curve = |name: &str, index, value: fn(&LogRow) -> f64| Curve {
        name: name.to_owned(),
        points: rows.iter().map(|row| [row.step as f64, value(row)]).collect(),
        band: Vec::new(),
        index,
    };
    let chart = CurveChart {
        labels: ["step".to_owned(), "mean loss".to_owned()],
        log: [false, true],
        curves: vec![curve("training", 0, |row| row.loss), curve("validation", 1, |row| row.validated)],
        ..CurveChart::default()
    };
    let steps = rows.last().map_or(0, |row| row.step);
    Curves {
        title: title.to_owned(),
        subtitle: format!("{steps} steps in {seconds:.0} s"),
        columns: vec![vec![chart]],
    }
}
