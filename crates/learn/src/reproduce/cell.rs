//! One training of the comparison, and what it came to, in a file: what is done is not done again.

use super::{Case, PERTURBED, Reproduction};
use crate::architecture::Card;
use crate::data::{DataError, Dataset, GenerateError, Split};
use crate::evaluate::{Band, Judge, JudgeError, Judgement, perturbed, rollout};
use crate::recipe::{Recipe, RecipeError};
use crate::train::{Ending, TrainError, Trainer, TrainingFiles, TrainingPlan};
use leastaction_output::npz::{Arrays, ColumnError};
use leastaction_output::{FileError, replace};
use leastaction_simulate::SourceError;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

const FORMAT: &str = "leastaction comparison 2";

/// A checkpoint is kept every so often.
const EVERY: Duration = Duration::from_secs(30);

/// What an architecture, or the true motion from starts that are moved, came to on a system.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The system.
    pub case: String,
    /// The architecture by its name here, or `truth`,
    pub name: String,
    /// and by that in the literature.
    pub title: String,
    /// The seed of weights and chunks.
    pub seed: u64,
    /// How many steps the optimizer made: fewer than were asked for if predictions ran away.
    pub steps: u64,
    /// The mean of the geometric means of errors over time, and their geometric mean.
    pub mean: f64,
    /// See there.
    pub geometric_mean: f64,
    /// How many predictions ran away,
    pub lost: usize,
    /// of so many.
    pub trajectories: usize,
    /// The error of the energy, both means geometric.
    pub energy_mean: f64,
    /// The largest violation of a constraint.
    pub violation_most: f64,
    /// Seconds of training.
    pub seconds: f64,
    /// The time from sample to sample.
    pub dt: f64,
    /// The relative error over time.
    pub error: Band,
    /// The error of the energy over time.
    pub energy: Band,
    /// The violation of constraints over time.
    pub violation: Band,
}

/// Why a comparison cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    /// There is no folder for results.
    #[error("cannot make the folder `{}`: {source}", .path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// Something in the folder is of another comparison.
    #[error("`{}` is of another comparison: {what}; choose another folder, or ask for what it has", .path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// What differs.
        what: String,
    },
    /// A result is damaged.
    #[error("`{}` is damaged: {what}; remove it, and it is made again", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// The catalog lacks a system.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// There are no data.
    #[error(transparent)]
    Generate(#[from] GenerateError),
    /// Data cannot be used.
    #[error(transparent)]
    Data(#[from] DataError),
    /// An architecture does not go with a system.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// Nothing is learned.
    #[error("{case}, {name}: {source}")]
    Train {
        /// The system.
        case: String,
        /// The architecture.
        name: String,
        /// Why not.
        source: TrainError,
    },
    /// Predictions cannot be judged.
    #[error(transparent)]
    Judge(#[from] JudgeError),
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] FileError),
}

impl Reproduction {
    /// The true motion from starts that are moved a little.
    pub(super) fn truth(&self, case: &Case, dataset: &Dataset) -> Result<Outcome, ReproduceError> {
        let path = self.path("results", case, "truth", "npz");
        let key = self.key(case, "truth", 0);
        if path.exists() {
            return Outcome::read(&path, &key);
        }
        let moved = perturbed(dataset, dataset.samples, PERTURBED, 0, self.threads)?;
        let judgement = judge(dataset)?.judge(&moved)?;
        let outcome = outcome((case, dataset), ("truth", "truth"), (0, 0, 0.0), &judgement);
        outcome.write(&path, &key)?;
        Ok(outcome)
    }

    /// One training, and its rollouts; nothing if it was broken off.
    pub(super) fn cell(
        &self,
        case: &Case,
        architecture: &'static Card,
        seed: u64,
        dataset: &Dataset,
        mut watch: impl FnMut(f64, &str) -> ControlFlow<()>,
    ) -> Result<Option<Outcome>, ReproduceError> {
        let name = architecture.name;
        let of = format!("{name}-{seed}");
        let path = self.path("results", case, &of, "npz");
        let key = self.key(case, name, seed);
        if path.exists() {
            return Ok(Some(Outcome::read(&path, &key)?));
        }
        let budget = &self.budget;
        let mut recipe = Recipe::named(name)?;
        recipe.hidden.clone_from(&budget.hidden);
        let plan = TrainingPlan {
            optimizer: budget.optimizer,
            rate: budget.optimizer.rate(),
            steps: budget.steps,
            batch: budget.batch,
            seed,
            ..TrainingPlan::default()
        };
        let wrong =
            |source| ReproduceError::Train { case: case.name.to_owned(), name: name.to_owned(), source };
        let mut trainer = Trainer::new(&recipe, dataset, &plan, self.threads).map_err(wrong)?;
        let checkpoint = self.path("learned", case, &of, "checkpoint.npz");
        let files = TrainingFiles { checkpoint: Some(checkpoint.clone()), log: None, every: EVERY };
        files.resume(&mut trainer).map_err(wrong)?;
        let ending = files.run(&mut trainer, |trainer| {
            let loss = trainer.rows().last().map_or(String::new(), |row| format!(", loss {:.2e}", row.loss));
            watch(0.9 * trainer.fraction(), &format!("{name}, step {}{loss}", trainer.step()))
        });
        let interrupted = match ending {
            // What had predicted best until then is judged, and the number of steps tells of it.
            Err(TrainError::NotFinite { .. }) => false,
            ending => ending.map_err(wrong)? == Ending::Interrupted,
        };
        if interrupted || watch(0.9, name).is_break() {
            trainer.save(&checkpoint).map_err(wrong)?;
            return Ok(None);
        }
        let learned = trainer.learned();
        let weights = self.path("learned", case, &of, "safetensors");
        learned.write(&weights, trainer.layout())?;
        recipe.substeps = budget.substeps;
        let predictor = recipe.predictor(&dataset.origin)?;
        let title = recipe.with(&dataset.origin, |model| Ok(model.name()))?;
        let mut judge = judge(dataset)?;
        let starts = predictor.states(&judge.starts(), 1);
        let found =
            rollout(&predictor, &learned.parameters, dataset.dt, &starts, dataset.samples, self.threads);
        let judgement = judge.judge(&predictor.states_of_system(&found))?;
        let trained = (seed, trainer.step(), trainer.seconds());
        let outcome = outcome((case, dataset), (name, title), trained, &judgement);
        outcome.write(&path, &key)?;
        // What it learned is kept, and how it came to it is not needed any longer. If it stays, it is in nobody's way.
        let _ = std::fs::remove_file(checkpoint);
        Ok(Some(outcome))
    }

    /// What a result goes with.
    fn key(&self, case: &Case, name: &str, seed: u64) -> String {
        format!("{FORMAT}\nsystem {}\nmodel {name}\nseed {seed}\n{}", case.name, self.budget.lines())
    }
}

fn judge(dataset: &Dataset) -> Result<Judge, JudgeError> {
    Judge::new(&dataset.origin, dataset.dt, dataset.samples, dataset.part(Split::Test).to_vec())
}

fn outcome(
    (case, dataset): (&Case, &Dataset),
    (name, title): (&str, &str),
    (seed, steps, seconds): (u64, u64, f64),
    judgement: &Judgement,
) -> Outcome {
    Outcome {
        case: case.name.to_owned(),
        name: name.to_owned(),
        title: title.to_owned(),
        seed,
        steps,
        mean: judgement.summary.mean,
        geometric_mean: judgement.summary.geometric_mean,
        lost: judgement.summary.lost,
        trajectories: judgement.summary.trajectories,
        energy_mean: judgement.energy_mean,
        violation_most: judgement.violation_most,
        seconds,
        dt: dataset.dt,
        error: judgement.error.clone(),
        energy: judgement.energy.clone(),
        violation: judgement.violation.clone().unwrap_or_default(),
    }
}

impl Outcome {
    /// The time of each sample.
    #[must_use]
    pub fn times(&self) -> Vec<f64> {
        (0..self.error.middle.len()).map(|sample| sample as f64 * self.dt).collect()
    }

    fn write(&self, path: &Path, key: &str) -> Result<(), FileError> {
        let mut arrays = Arrays::default();
        arrays.push_text("key", key);
        arrays.push_text("title", &self.title);
        let numbers = vec![
            self.mean,
            self.geometric_mean,
            self.lost as f64,
            self.trajectories as f64,
            self.energy_mean,
            self.violation_most,
            self.steps as f64,
            self.seconds,
            self.dt,
        ];
        arrays.push("numbers", &[numbers.len()], numbers);
        for (name, band) in [("error", &self.error), ("energy", &self.energy), ("violation", &self.violation)]
        {
            let all = [&band.middle[..], &band.low, &band.high].concat();
            arrays.push(name, &[3, band.middle.len()], all);
        }
        replace(path, |writer| arrays.write(writer))
    }

    fn read(path: &Path, key: &str) -> Result<Outcome, ReproduceError> {
        let damaged = |what: &str| ReproduceError::Damaged { path: path.to_owned(), what: what.to_owned() };
        let arrays = Arrays::read(path).map_err(|error: ColumnError| damaged(&error.to_string()))?;
        let text = |name: &str| arrays.text(name).ok_or_else(|| damaged(&format!("it has no `{name}`")));
        let numbers =
            |name: &str| arrays.numbers(name).ok_or_else(|| damaged(&format!("it has no `{name}`")));
        let theirs = text("key")?;
        if let Some((theirs, own)) = theirs.lines().zip(key.lines()).find(|(theirs, own)| theirs != own) {
            let what = format!("it has `{theirs}`, and `{own}` is asked for");
            return Err(ReproduceError::Other { path: path.to_owned(), what });
        }
        let band = |name: &str| -> Result<Band, ReproduceError> {
            let (shape, values) = numbers(name)?;
            let &[3, samples] = shape else { return Err(damaged(&format!("`{name}` is no band"))) };
            let part = |place: usize| values[place * samples..(place + 1) * samples].to_vec();
            Ok(Band { middle: part(0), low: part(1), high: part(2) })
        };
        let &[mean, geometric_mean, lost, trajectories, energy_mean, violation_most, steps, seconds, dt] =
            numbers("numbers")?.1
        else {
            return Err(damaged("it lacks numbers"));
        };
        let word = |name: &str| {
            let line = theirs.lines().find_map(|line| line.strip_prefix(name));
            line.map(|rest| rest.trim().to_owned())
                .ok_or_else(|| damaged(&format!("it does not say its{name}")))
        };
        Ok(Outcome {
            case: word("system")?,
            name: word("model")?,
            title: text("title")?.to_owned(),
            seed: word("seed")?.parse().map_err(|_| damaged("its seed is no number"))?,
            steps: steps as u64,
            mean,
            geometric_mean,
            lost: lost as usize,
            trajectories: trajectories as usize,
            energy_mean,
            violation_most,
            seconds,
            dt,
            error: band("error")?,
            energy: band("energy")?,
            violation: band("violation")?,
        })
    }
}
