//! What is learned, as files name it, judged by the trajectories for tests of a dataset: what `evaluate` and `rollout` share.

use super::super::Failure;
use super::train::failure;
use leastaction::learn::data::Kind;
use leastaction::learn::evaluate::{Judge, Judgement, curvature, perturbed, rollout};
use leastaction::learn::{Chunks, Dataset, Learned, Split};
use std::path::{Path, PathBuf};

/// So many numbers are compared at most: they are in memory a few times over.
const MOST: usize = 100_000_000;

/// The Hessian is that of the loss of chunks of so many samples.
const CHUNK: usize = 5;

/// Learned models beside the truth.
pub(super) struct Judged {
    /// The data.
    pub(super) dataset: Dataset,
    /// The time of each sample.
    pub(super) times: Vec<f64>,
    /// A name, and what predictions came to; first the motion of the model itself from other starts.
    pub(super) all: Vec<(String, Judgement)>,
    /// The effective dimension of each, if it was asked for; not of the first, of which nothing is learned.
    pub(super) dimensions: Vec<f64>,
    /// Warnings.
    pub(super) notes: Vec<String>,
}

/// What is asked for.
pub(super) struct Asked<'a> {
    /// Files that `learn train` wrote.
    pub(super) learned: &'a [PathBuf],
    /// The dataset.
    pub(super) data: &'a Path,
    /// So many times the length of the trajectories of the dataset.
    pub(super) times: usize,
    /// So many trajectories at most.
    pub(super) starts: usize,
    /// So many steps from sample to sample, if not as many as it was trained with.
    pub(super) substeps: Option<usize>,
    /// By how much starts are moved for the motion beside.
    pub(super) perturbed: f64,
    /// How many eigenvalues of the Hessian are looked for, if they are.
    pub(super) eigenvalues: Option<usize>,
    /// In so many threads.
    pub(super) threads: usize,
}

/// Eigenvalues of the Hessian that are this part of the largest one count as half a parameter.
const HALF: f64 = 1e-3;

impl Asked<'_> {
    /// Reads the files, and predicts.
    pub(super) fn judge(&self) -> Result<Judged, Failure> {
        if !(self.perturbed >= 0.0 && self.perturbed.is_finite()) {
            return Err(Failure::usage(format!(
                "starts cannot be moved by {:?}: give 0 or more (--perturbed)",
                self.perturbed
            )));
        }
        let mut dataset = Dataset::read(self.data).map_err(|error| failure(&error.into()))?;
        dataset.keep_tests(self.starts);
        let (d, own) = (dataset.dimension(), dataset.samples);
        if dataset.part(Split::Test).is_empty() {
            return Err(Failure::usage(format!("`{}` has no trajectories for tests", self.data.display())));
        }
        // All files are looked at before anything is computed.
        let mut models = Vec::new();
        for path in self.learned {
            let (learned, trained) = Learned::read(path).map_err(Failure::run)?;
            // What was learned for a text of its own has the same coordinates, and may say other things.
            let own = learned.recipe.architecture.name == "known"
                && learned.origin.names().map_err(Failure::run)? == dataset.names;
            if learned.origin != dataset.origin && !own {
                let told = format!(
                    "`{}` learned of another system than `{}` is of",
                    path.display(),
                    self.data.display()
                );
                return Err(Failure::usage(told));
            }
            let mut recipe = learned.recipe.clone();
            recipe.substeps = self.substeps.unwrap_or(recipe.substeps);
            let predictor = match recipe.substeps == learned.recipe.substeps {
                true => trained,
                false => recipe.predictor(&learned.origin).map_err(Failure::run)?,
            };
            models.push((path.display().to_string(), learned, predictor));
        }
        let measured = dataset.kind == Kind::Measured;
        if measured && self.times > 1 {
            let told = format!(
                "the data were measured, and end after {own} samples: there is no truth beyond (--times 1)"
            );
            return Err(Failure::usage(told));
        }
        let samples = (own - 1) * self.times + 1;
        let numbers = samples.saturating_mul(d).saturating_mul(dataset.split[Split::Test as usize]);
        if numbers > MOST {
            return Err(Failure::usage(format!(
                "{numbers} numbers would be compared, which takes too much memory: take fewer starts (--starts), or a shorter time (--times)"
            )));
        }
        let motion =
            |size| perturbed(&dataset, samples, size, dataset.seed, self.threads).map_err(Failure::run);
        let truth = match self.times {
            1 => dataset.part(Split::Test).to_vec(),
            _ => motion(0.0)?,
        };
        let mut judge = Judge::new(&dataset.origin, dataset.dt, samples, truth).map_err(Failure::run)?;
        let (mut all, mut notes, mut dimensions) = (Vec::new(), Vec::new(), Vec::new());
        match (measured, motion(if measured { 0.0 } else { self.perturbed })) {
            (true, Ok(moved)) => {
                all.push(("the model of the text".to_owned(), judge.judge(&moved).map_err(Failure::run)?));
            }
            (true, Err(error)) => {
                notes.push(format!("the model of the text itself cannot be run beside: {}", error.message));
            }
            (false, moved) => {
                let name = format!("the truth, moved by {:?}", self.perturbed);
                all.push((name, judge.judge(&moved?).map_err(Failure::run)?));
            }
        }
        let starts = judge.starts();
        for (name, learned, predictor) in models {
            let starts = predictor.states(&starts, 1);
            let found = rollout(&predictor, &learned.parameters, dataset.dt, &starts, samples, self.threads);
            let judged = judge.judge(&predictor.states_of_system(&found)).map_err(Failure::run)?;
            if let Some(count) = self.eigenvalues {
                let chunks = dataset.chunks(Split::Training, CHUNK.min(own), 0);
                let chunks =
                    predictor.states(&chunks.map_err(|error| failure(&error.into()))?, CHUNK.min(own));
                let chunks =
                    Chunks { states: &chunks, samples: CHUNK.min(own), dimension: predictor.dimension() };
                if chunks.is_empty() {
                    let told = format!("`{}` has no trajectories for training", self.data.display());
                    return Err(Failure::usage(format!("{told}: the Hessian of their loss is asked for")));
                }
                let parameters = &learned.parameters;
                let found = curvature(&predictor, parameters, dataset.dt, chunks, count, self.threads);
                dimensions.push(found.effective_dimension(HALF));
                if !found.converged {
                    notes.push(format!(
                        "not all of the {count} eigenvalues for {name} are known to a thousandth"
                    ));
                }
                if !found.complete(HALF, parameters.len()) {
                    notes.push(format!(
                        "the effective dimension of {name} is larger: the smallest of {count} eigenvalues still counts (ask for more, --eigenvalues)"
                    ));
                }
            }
            if judged.summary.lost > 0 {
                notes.push(format!(
                    "{} of {} predictions by {name} ran away: their errors count as 1",
                    judged.summary.lost, judged.summary.trajectories
                ));
            }
            all.push((name, judged));
        }
        if measured {
            notes.push("energies and constraints are those of the model of the text".to_owned());
        }
        Ok(Judged { times: judge.times(), dataset, all, dimensions, notes })
    }
}
