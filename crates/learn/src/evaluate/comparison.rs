//! What several models learned, on the trajectories for tests of one dataset.

use super::band::Band;
use super::curvature::curvature;
use super::judge::{Judge, JudgeError, Judgement};
use super::perturbed::perturbed;
use super::rollout::rollout;
use crate::data::{DataError, Dataset, GenerateError, Kind, Split};
use crate::learned::Learned;
use crate::objective::Chunks;
use crate::predictor::Predictor;
use crate::recipe::RecipeError;
use leastaction_output::{ColumnKind, Table};
use std::io;
use std::ops::Range;

/// So many numbers are compared at most: they are in memory a few times over.
const MOST: usize = 100_000_000;

/// The Hessian is that of the loss of chunks of so many samples,
const CHUNK: usize = 5;
/// and its eigenvalues that are this part of the largest one count as half a parameter.
const HALF: f64 = 1e-3;

/// What is compared, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComparisonPlan {
    /// So many times the length of the trajectories of the dataset.
    pub times: usize,
    /// So many trajectories at most.
    pub starts: usize,
    /// So many steps from sample to sample, if not as many as each was trained with.
    pub substeps: Option<usize>,
    /// By how much starts are moved for the motion of the model itself.
    pub perturbed: f64,
    /// How many eigenvalues of the Hessian of the training loss are computed, if the effective dimension is wanted.
    pub eigenvalues: Option<usize>,
    /// In so many threads.
    pub threads: usize,
}

/// Something that was learned, and what it is called.
#[derive(Clone, Debug)]
pub struct Contender {
    /// Its name.
    pub name: String,
    /// What was learned,
    pub learned: Learned,
    /// compiled.
    pub predictor: Predictor,
}

/// Learned models beside the truth.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The data, with the trajectories that were compared.
    pub dataset: Dataset,
    /// The time of each sample.
    pub times: Vec<f64>,
    /// A name, and what predictions came to; first the motion of the model itself from other starts.
    pub all: Vec<(String, Judgement)>,
    /// The effective dimension of each contender, if it was asked for.
    pub dimensions: Vec<f64>,
    /// Warnings.
    pub notes: Vec<String>,
}

/// Why nothing is compared.
#[derive(Debug, thiserror::Error)]
pub enum ComparisonError {
    /// Starts cannot be moved so.
    #[error("starts cannot be moved by {size:?}: give 0 or more")]
    Perturbed {
        /// By so much.
        size: f64,
    },
    /// There is nothing to compare with.
    #[error("`{data}` has no trajectories for tests")]
    NoTests {
        /// The dataset.
        data: String,
    },
    /// There is nothing to compute the Hessian from.
    #[error("`{data}` has no trajectories for training, from whose loss the effective dimension is computed")]
    NoTraining {
        /// The dataset.
        data: String,
    },
    /// Something else was learned.
    #[error("`{name}` learned of another system than `{data}` is of")]
    Other {
        /// What was learned.
        name: String,
        /// The dataset.
        data: String,
    },
    /// Measured data end.
    #[error("the data were measured, and end after {samples} samples: there is no truth beyond")]
    Beyond {
        /// After so many.
        samples: usize,
    },
    /// It would take too much memory.
    #[error(
        "{numbers} numbers would be compared, which takes too much memory: take fewer starts, or a shorter time"
    )]
    Large {
        /// So many.
        numbers: usize,
    },
    /// Trajectories are too short.
    #[error(transparent)]
    Data(#[from] DataError),
    /// What was learned does not go with its system.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// The truth cannot be computed.
    #[error(transparent)]
    Generate(#[from] GenerateError),
    /// The truth cannot be judged by.
    #[error(transparent)]
    Judge(#[from] JudgeError),
}

impl Comparison {
    /// Predicts from the starts of the trajectories for tests, and judges by these. The name of the data is for messages.
    ///
    /// # Errors
    /// [`ComparisonError`] says what does not go together.
    pub fn new(
        mut dataset: Dataset,
        data: &str,
        contenders: Vec<Contender>,
        plan: &ComparisonPlan,
    ) -> Result<Comparison, ComparisonError> {
        let ComparisonPlan { times, starts, substeps, perturbed: size, eigenvalues, threads } = *plan;
        if !(size >= 0.0 && size.is_finite()) {
            return Err(ComparisonError::Perturbed { size });
        }
        dataset.keep_tests(starts);
        let (d, own) = (dataset.dimension(), dataset.samples);
        if dataset.part(Split::Test).is_empty() {
            return Err(ComparisonError::NoTests { data: data.to_owned() });
        }
        // All are looked at before anything is computed.
        let mut models = Vec::new();
        for Contender { name, learned, predictor } in contenders {
            // What was learned for a text of its own has the same coordinates, and may say other things.
            let known =
                learned.recipe.architecture.name == "known" && learned.origin.names()? == dataset.names;
            if learned.origin != dataset.origin && !known {
                return Err(ComparisonError::Other { name, data: data.to_owned() });
            }
            let mut recipe = learned.recipe.clone();
            recipe.substeps = substeps.unwrap_or(recipe.substeps);
            let predictor = match recipe.substeps == learned.recipe.substeps {
                true => predictor,
                false => recipe.predictor(&learned.origin)?,
            };
            models.push((name, learned, predictor));
        }
        let measured = dataset.kind == Kind::Measured;
        if measured && times > 1 {
            return Err(ComparisonError::Beyond { samples: own });
        }
        let samples = (own - 1) * times + 1;
        let numbers = samples.saturating_mul(d).saturating_mul(dataset.split[Split::Test as usize]);
        if numbers > MOST {
            return Err(ComparisonError::Large { numbers });
        }
        let motion = |size| perturbed(&dataset, samples, size, dataset.seed, threads);
        let truth = match times {
            1 => dataset.part(Split::Test).to_vec(),
            _ => motion(0.0)?,
        };
        let mut judge = Judge::new(&dataset.origin, dataset.dt, samples, truth)?;
        let (mut all, mut notes, mut dimensions) = (Vec::new(), Vec::new(), Vec::new());
        match (measured, motion(if measured { 0.0 } else { size })) {
            (true, Ok(moved)) => all.push(("the model of the text".to_owned(), judge.judge(&moved)?)),
            (true, Err(error)) => {
                notes.push(format!("the model of the text itself cannot be run beside: {error}"));
            }
            (false, moved) => all.push((format!("the truth, moved by {size:?}"), judge.judge(&moved?)?)),
        }
        let starts = judge.starts();
        for (name, learned, predictor) in models {
            let starts = predictor.states(&starts, 1);
            let predicted = rollout(&predictor, &learned.parameters, dataset.dt, &starts, samples, threads);
            let judged = judge.judge(&predictor.states_of_system(&predicted))?;
            if let Some(count) = eigenvalues {
                let length = CHUNK.min(own);
                let states = predictor.states(&dataset.chunks(Split::Training, length, 0)?, length);
                let chunks = Chunks { states: &states, samples: length, dimension: predictor.dimension() };
                if chunks.is_empty() {
                    return Err(ComparisonError::NoTraining { data: data.to_owned() });
                }
                let parameters = &learned.parameters;
                let spectrum = curvature(&predictor, parameters, dataset.dt, chunks, count, threads);
                dimensions.push(spectrum.effective_dimension(HALF));
                if !spectrum.converged {
                    notes.push(format!(
                        "not all of the {count} eigenvalues for {name} are known to a thousandth"
                    ));
                }
                if !spectrum.complete(HALF, parameters.len()) {
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
        Ok(Comparison { times: judge.times(), dataset, all, dimensions, notes })
    }
}

/// Errors over time: a row for each model and sample.
impl Table for Comparison {
    fn columns(&self) -> Vec<(&'static str, String)> {
        let names = [
            "model",
            "t",
            "error",
            "error_low",
            "error_high",
            "energy_error",
            "energy_error_low",
            "energy_error_high",
            "violation",
            "violation_low",
            "violation_high",
        ];
        names.map(|name| ("errors", name.to_owned())).to_vec()
    }

    fn kind(&self, column: usize) -> ColumnKind {
        match column {
            0 => ColumnKind::Word(self.all.iter().map(|(name, _)| name.clone()).collect()),
            _ => ColumnKind::Number,
        }
    }

    fn rows(&self) -> u64 {
        (self.all.len() * self.times.len()) as u64
    }

    fn read(&self, column: usize, rows: Range<u64>, into: &mut Vec<f64>) -> io::Result<()> {
        let samples = self.times.len();
        for row in rows {
            let (place, sample) = (row as usize / samples, row as usize % samples);
            let (_, judgement) = self.all.get(place).ok_or_else(|| io::Error::other("no such row"))?;
            let of = |band: Option<&Band>| match (band, column % 3) {
                (None, _) => f64::NAN,
                (Some(band), 2) => band.middle[sample],
                (Some(band), 0) => band.low[sample],
                (Some(band), _) => band.high[sample],
            };
            into.push(match column {
                0 => place as f64,
                1 => self.times[sample],
                2..=4 => of(Some(&judgement.error)),
                5..=7 => of(Some(&judgement.energy)),
                _ => of(judgement.violation.as_ref()),
            });
        }
        Ok(())
    }
}
