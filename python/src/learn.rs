//! Learning: datasets, training, and what was learned.

use crate::arrays;
use crate::asked::Asked;
use crate::error::{exception, failed, unprepared, usage};
use crate::system::System;
use crate::tables;
use crate::watch::Watcher;
use leastaction::learn::architecture;
use leastaction::learn::data::{Findings, Kind, MeasuredError, MeasuredPlan, Origin, Starts};
use leastaction::learn::evaluate::{
    Comparison as Compared, ComparisonError, ComparisonPlan, Contender, rollout,
};
use leastaction::learn::train::{
    Ending, LogRow, OptimizerKind, TrainError, Trainer, TrainingFiles, TrainingPlan,
};
use leastaction::learn::{
    Dataset as Data, DatasetPlan, GenerateError, Learned as Trained, Predictor, Recipe, Split,
    architecture_named, step_named,
};
use leastaction::output::{About, replace, write};
use leastaction::simulate::Overrides;
use leastaction::{evaluation_summary, losses_picture, rollout_picture};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Trajectories to learn from.
#[pyclass(frozen, module = "leastaction._native")]
pub(crate) struct Dataset {
    data: Data,
}

/// What a dataset is to be: the dictionary that `python/leastaction/learn.py` makes.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Wanted {
    files: Vec<PathBuf>,
    differences: bool,
    split: (Option<usize>, Option<usize>, Option<usize>),
    samples: Option<usize>,
    every: Option<f64>,
    sample: Vec<String>,
    seed: u64,
    noise: f64,
    tol: f64,
    threads: Option<usize>,
}

/// As many threads as the machine can run at once, or so many.
fn threads(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)).max(1)
}

/// Of trajectories in files: how many there were, how many samples are left out, and how far data are off constraints.
type Found = (usize, usize, Option<f64>);

/// Makes a dataset: of the motion of a system, or of trajectories in files.
#[pyfunction]
#[pyo3(signature = (system, asked, wanted, progress = None))]
pub(crate) fn dataset(
    py: Python<'_>,
    system: &Bound<'_, System>,
    asked: Asked,
    wanted: &Bound<'_, PyDict>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Dataset, Option<Found>)> {
    let source = &system.get().source;
    let (overrides, wanted): (Overrides, Wanted) = (asked.into(), wanted.extract()?);
    let (training, validation, test) = wanted.split;
    if !wanted.files.is_empty() {
        let plan = MeasuredPlan {
            files: wanted.files,
            samples: wanted.samples,
            dt: wanted.every,
            split: [training, validation, test],
            seed: wanted.seed,
            differences: wanted.differences,
        };
        let read = py.detach(|| Data::measured(source, &overrides, &plan));
        let (data, Findings { trajectories, left_out, off }) = read.map_err(|error| match &error {
            MeasuredError::Prepare(error) => unprepared(source, error),
            MeasuredError::Eval(_) => failed(error),
            _ => usage(error),
        })?;
        return Ok((Dataset { data }, Some((trajectories, left_out, off))));
    }
    let plan = DatasetPlan {
        split: [training.unwrap_or(800), validation.unwrap_or(100), test.unwrap_or(100)],
        samples: wanted.samples.unwrap_or(100),
        dt: wanted.every,
        starts: if wanted.sample.is_empty() { Starts::Catalog } else { Starts::Sampled(wanted.sample) },
        seed: wanted.seed,
        noise: wanted.noise,
        tolerance: wanted.tol,
        threads: threads(wanted.threads),
    };
    let count: usize = plan.split.iter().sum();
    let mut watcher = Watcher::new(progress);
    let generated = py.detach(|| {
        Data::generate(source, &overrides, &plan, |fraction| {
            watcher
                .tell(fraction, || format!("{} of {count} trajectories", (fraction * count as f64).round()))
        })
    });
    match generated {
        Ok(data) => Ok((Dataset { data }, None)),
        Err(error @ GenerateError::Interrupted { .. }) => {
            Err(interrupted(py, watcher, error.to_string(), &[]))
        }
        Err(GenerateError::Prepare(error)) => Err(unprepared(source, &error)),
        Err(error @ (GenerateError::Failed { .. } | GenerateError::Run(_) | GenerateError::Eval(_))) => {
            Err(failed(error))
        }
        Err(error) => Err(usage(error)),
    }
}

/// What was raised, or that there was a Ctrl-C.
fn interrupted(
    py: Python<'_>,
    watcher: Watcher,
    message: String,
    attributes: &[(&str, Bound<'_, PyAny>)],
) -> PyErr {
    match watcher.raised() {
        Some(error) if !error.is_instance_of::<PyKeyboardInterrupt>(py) => error,
        _ => exception(py, "Interrupted", message, attributes),
    }
}

#[pymethods]
impl Dataset {
    /// Reads a file that `write` wrote.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Dataset> {
        Ok(Dataset { data: py.detach(|| Data::read(&path)).map_err(usage)? })
    }

    /// Writes it to a file.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.data.write(&path)).map_err(usage)
    }

    /// All states: a row for each sample of each trajectory.
    fn states<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        arrays::rows(py, self.data.states.clone(), self.data.dimension())
    }

    /// What it is.
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (data, facts) = (&self.data, PyDict::new(py));
        facts.set_item("system", &data.origin.system)?;
        facts.set_item("text", &data.origin.text)?;
        facts.set_item("parameters", data.origin.parameters.clone())?;
        facts.set_item("measured", data.kind == Kind::Measured)?;
        facts.set_item("names", &data.names)?;
        facts.set_item("dt", data.dt)?;
        facts.set_item("samples", data.samples)?;
        facts.set_item("split", data.split.to_vec())?;
        facts.set_item("seed", data.seed)?;
        facts.set_item("noise", data.noise)?;
        Ok(facts)
    }
}

/// What was learned of a system.
#[pyclass(frozen, module = "leastaction._native")]
pub(crate) struct Learned {
    learned: Trained,
    predictor: Predictor,
    /// The losses, and how long it took, if it was trained here.
    rows: Vec<LogRow>,
    seconds: f64,
    complete: bool,
}

/// How to train: the dictionary that `python/leastaction/learn.py` makes.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Training {
    architecture: String,
    hidden: Vec<usize>,
    activation: String,
    step: String,
    substeps: usize,
    damping: bool,
    without: Vec<usize>,
    steps: u64,
    batch: usize,
    chunk: usize,
    optimizer: String,
    rate: Option<f64>,
    numbers: f64,
    warmup: u64,
    decay: f64,
    clip: Option<f64>,
    patience: Option<u64>,
    validate_every: Option<u64>,
    seed: u64,
    double: bool,
    threads: Option<usize>,
    checkpoint: Option<PathBuf>,
    every: f64,
    log: Option<PathBuf>,
}

impl Training {
    fn recipe(&self) -> PyResult<Recipe> {
        Ok(Recipe {
            hidden: self.hidden.clone(),
            activation: self.activation.parse().map_err(usage)?,
            step: step_named(&self.step).map_err(usage)?,
            substeps: self.substeps,
            damping: self.damping,
            removed: self.without.clone(),
            ..Recipe::named(architecture_named(&self.architecture).map_err(usage)?.name).map_err(usage)?
        })
    }

    fn plan(&self) -> PyResult<TrainingPlan> {
        let optimizer: OptimizerKind = self.optimizer.parse().map_err(usage)?;
        let usual = TrainingPlan::of(optimizer, self.steps);
        Ok(TrainingPlan {
            numbers: self.numbers,
            batch: self.batch,
            chunk: self.chunk,
            rate: self.rate.unwrap_or(usual.rate),
            warmup: self.warmup,
            decay: self.decay,
            clip: self.clip,
            seed: self.seed,
            single: !self.double,
            validate_every: self.validate_every.unwrap_or(usual.validate_every),
            patience: self.patience,
            ..usual
        })
    }
}

/// Whose fault an error of a training is.
fn untrained(error: TrainError) -> PyErr {
    if error.is_usage() { usage(error) } else { failed(error) }
}

/// The architectures: their names, and what they are.
#[pyfunction]
pub(crate) fn architectures() -> Vec<(&'static str, &'static str)> {
    architecture::ALL.iter().map(|card| (card.name, card.about)).collect()
}

/// Trains on a dataset, for the system that it is of, or for another one.
#[pyfunction]
#[pyo3(signature = (dataset, wanted, model = None, asked = None, progress = None))]
pub(crate) fn train(
    py: Python<'_>,
    dataset: &Bound<'_, Dataset>,
    wanted: &Bound<'_, PyDict>,
    model: Option<&Bound<'_, System>>,
    asked: Option<Asked>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Learned> {
    let (data, training): (&Data, Training) = (&dataset.get().data, wanted.extract()?);
    let (recipe, plan) = (training.recipe()?, training.plan()?);
    let overrides: Overrides = asked.map(Overrides::from).unwrap_or_default();
    let origin = match model {
        Some(system) => Origin::new(&system.get().source, &overrides),
        None => data.origin.clone(),
    };
    let mut watcher = Watcher::new(progress);
    let (learned, ending) = py.detach(|| {
        let trained = Trainer::of(&recipe, &origin, data, &plan, threads(training.threads));
        let mut trainer = trained.map_err(untrained)?;
        let files = TrainingFiles {
            checkpoint: training.checkpoint.clone(),
            log: training.log.clone(),
            every: Duration::try_from_secs_f64(training.every).unwrap_or(Duration::MAX),
        };
        files.resume(&mut trainer).map_err(untrained)?;
        let watch = |trainer: &Trainer| watcher.tell(trainer.fraction(), || trainer.status());
        let ending = files.run(&mut trainer, watch).map_err(untrained)?;
        let learned = trainer.learned();
        let predictor = learned.predictor().map_err(usage)?;
        let (rows, seconds) = (trainer.rows().to_vec(), trainer.seconds());
        let complete = ending != Ending::Interrupted;
        Ok::<_, PyErr>((Learned { learned, predictor, rows, seconds, complete }, ending))
    })?;
    if ending != Ending::Interrupted {
        return Ok(learned);
    }
    let message =
        "the training was interrupted: what was learned until then is in .results of this exception"
            .to_owned();
    let learned = Py::new(py, learned)?.into_bound(py).into_any();
    Err(interrupted(py, watcher, message, &[("results", learned)]))
}

#[pymethods]
impl Learned {
    /// Reads a file that `write`, or the command line, wrote.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Learned> {
        let (learned, predictor) = py.detach(|| Trained::read(&path)).map_err(usage)?;
        Ok(Learned { learned, predictor, rows: Vec::new(), seconds: 0.0, complete: true })
    }

    /// Writes it to a file, and beside it, where the language can say it, a model that ends in .motion, whose path is given.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<Option<PathBuf>> {
        py.detach(|| {
            let bytes = self.learned.tensors(self.predictor.layout()).bytes();
            replace(&path, |writer| writer.write_all(&bytes)).map_err(usage)?;
            let Some(text) = self.learned.motion(&path, &bytes).map_err(usage)? else { return Ok(None) };
            let model = path.with_extension("motion");
            replace(&model, |writer| writer.write_all(text.as_bytes())).map_err(usage)?;
            Ok(Some(model))
        })
    }

    /// What it is.
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (learned, facts) = (&self.learned, PyDict::new(py));
        facts.set_item("architecture", learned.recipe.architecture.name)?;
        facts.set_item("hidden", &learned.recipe.hidden)?;
        facts.set_item("activation", learned.recipe.activation.to_string())?;
        facts.set_item("step", learned.recipe.step.name)?;
        facts.set_item("substeps", learned.recipe.substeps)?;
        facts.set_item("damping", learned.recipe.damping)?;
        facts.set_item("without", &learned.recipe.removed)?;
        facts.set_item("system", &learned.origin.system)?;
        facts.set_item("dt", learned.dt)?;
        facts.set_item("training", &learned.training)?;
        facts.set_item("complete", self.complete)?;
        facts.set_item("seconds", self.seconds)?;
        let rows: Vec<f64> = self.rows.iter().flat_map(LogRow::numbers).collect();
        facts.set_item("log", arrays::rows(py, rows, LogRow::NAMES.len())?)?;
        facts.set_item("log_names", LogRow::NAMES.to_vec())?;
        Ok(facts)
    }

    /// The parameters: weights of networks, and numbers.
    fn parameters<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        arrays::list(py, self.learned.parameters.clone())
    }

    /// Predicts so many samples, the start included, from states of the system.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        starts: PyReadonlyArray1<'py, f64>,
        samples: usize,
        dt: f64,
        threads_asked: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let names = self.learned.origin.names().map_err(usage)?;
        let starts = starts.as_slice()?;
        if starts.len() % names.len() != 0 || samples == 0 {
            return Err(usage(format!("a state has {} numbers: {}", names.len(), names.join(", "))));
        }
        let states = py.detach(|| {
            let starts = self.predictor.states(starts, 1);
            let (parameters, threads) = (&self.learned.parameters, threads(threads_asked));
            self.predictor.states_of_system(&rollout(
                &self.predictor,
                parameters,
                dt,
                &starts,
                samples,
                threads,
            ))
        });
        arrays::rows(py, states, names.len())
    }

    /// The names of the numbers of a state.
    fn names(&self) -> PyResult<Vec<String>> {
        self.learned.origin.names().map_err(usage)
    }

    /// The losses as SVG.
    fn svg(&self, py: Python<'_>) -> PyResult<String> {
        let title = format!("{} of {}", self.learned.recipe.architecture.name, self.learned.origin.system);
        py.detach(|| losses_picture(&self.rows, &title, self.seconds).svg()).map_err(usage)
    }
}

/// Learned models beside the truth.
#[pyclass(frozen, module = "leastaction._native")]
pub(crate) struct Comparison {
    compared: Compared,
}

/// Judges what was learned by the trajectories for tests of a dataset.
#[pyfunction]
#[pyo3(signature = (learned, dataset, times, starts, substeps, perturbed, threads_asked))]
#[allow(clippy::too_many_arguments)] // Python gives them by name
pub(crate) fn compare_learned(
    py: Python<'_>,
    learned: Vec<(String, Bound<'_, Learned>)>,
    dataset: &Bound<'_, Dataset>,
    times: usize,
    starts: Option<usize>,
    substeps: Option<usize>,
    perturbed: f64,
    threads_asked: Option<usize>,
) -> PyResult<Comparison> {
    let contenders: Vec<Contender> = learned
        .iter()
        .map(|(name, each)| {
            let Learned { learned, predictor, .. } = each.get();
            Contender { name: name.clone(), learned: learned.clone(), predictor: predictor.clone() }
        })
        .collect();
    let plan = ComparisonPlan {
        times,
        starts: starts.unwrap_or(usize::MAX),
        substeps,
        perturbed,
        eigenvalues: None,
        threads: threads(threads_asked),
    };
    let data = dataset.get().data.clone();
    let compared = py.detach(|| Compared::new(data, "data", contenders, &plan));
    let compared = compared.map_err(|error| match error {
        ComparisonError::Generate(_) | ComparisonError::Judge(_) => failed(error),
        error => usage(error),
    })?;
    Ok(Comparison { compared })
}

#[pymethods]
impl Comparison {
    /// What each came to.
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let facts = PyDict::new(py);
        let each = self.compared.all.iter().map(|(name, judgement)| {
            let summary = judgement.summary;
            let violation = judgement.violation.as_ref().map(|_| judgement.violation_most);
            (name, summary.mean, summary.geometric_mean, judgement.energy_mean, violation, summary.lost)
        });
        facts.set_item("each", each.collect::<Vec<_>>())?;
        facts.set_item("trajectories", self.compared.dataset.split[Split::Test as usize])?;
        facts.set_item("notes", &self.compared.notes)?;
        facts.set_item("summary", evaluation_summary(&self.compared))?;
        facts.set_item("columns", tables::columns(py, &self.compared)?)?;
        Ok(facts)
    }

    /// Writes errors over time to a file, by its ending.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let dataset = &self.compared.dataset;
        let about = About {
            system: dataset.origin.system.clone(),
            method: "learn rollout".to_owned(),
            ended: "complete".to_owned(),
            warnings: self.compared.notes.clone(),
            parameters: dataset.origin.parameters.clone(),
            ..About::default()
        };
        py.detach(|| write(&path, &self.compared, &about)).map_err(usage)
    }

    /// Errors over time as SVG.
    fn svg(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| rollout_picture(&self.compared).svg()).map_err(usage)
    }

    /// Writes the plot to a file that ends in .svg or .png.
    fn save_plot(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| rollout_picture(&self.compared).save(Path::new(&path))).map_err(usage)
    }
}
