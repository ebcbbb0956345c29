//! Ensembles: many motions of one system.

use crate::asked::Asked;
use crate::error::{exception, failed, unprepared, usage};
use crate::system::System;
use crate::tables;
use crate::watch::Watcher;
use leastaction::ensemble::Finding;
use leastaction::output::Column;
use leastaction::simulate::{Method, Overrides, PrepareError, Problem};
use leastaction::{Progress, Reduction, Results, Shard, Study, StudyError, ensemble_pictures};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// What is asked for besides: the dictionary that `python/leastaction/ensembles.py` makes.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Wanted {
    sample: Vec<String>,
    reduce: Vec<String>,
    count: Option<u64>,
    seed: u64,
    threads: Option<usize>,
    chunk: Option<u64>,
    from: Option<f64>,
    keep: Option<PathBuf>,
    shard: Option<(u64, u64)>,
}

/// Runs an ensemble, and tells what was found.
#[pyfunction]
#[pyo3(signature = (system, asked, wanted, progress = None))]
pub(crate) fn ensemble<'py>(
    py: Python<'py>,
    system: &Bound<'py, System>,
    asked: Asked,
    wanted: &Bound<'py, PyDict>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let this = system.get();
    let (overrides, wanted): (Overrides, Wanted) = (asked.into(), wanted.extract()?);
    let mut watcher = Watcher::new(progress);
    let results = py.detach(|| {
        this.with_problem(&overrides, |problem| this.study(problem, &overrides, wanted, &mut watcher))
    })?;
    let (interrupted, done, total) = (results.interrupted, results.done, results.total);
    let dictionary = dictionary(py, results)?;
    if !interrupted {
        return Ok(dictionary);
    }
    Err(match watcher.raised() {
        Some(error) if !error.is_instance_of::<PyKeyboardInterrupt>(py) => error,
        _ => {
            let message = format!(
                "the ensemble was interrupted after {done} of {total} trajectories: what was found in these is in .results of this exception"
            );
            exception(py, "Interrupted", message, &[("results", dictionary.into_any())])
        }
    })
}
/// Puts the shards of an ensemble together that were kept in these directories.
#[pyfunction]
pub(crate) fn merge(py: Python<'_>, directories: Vec<PathBuf>) -> PyResult<Bound<'_, PyDict>> {
    let results = py.detach(|| Results::merge(&directories)).map_err(usage)?;
    dictionary(py, results)
}

/// What was found, for pictures of it.
#[pyclass(frozen, module = "leastaction._native")]
pub(crate) struct Found(Mutex<Results>);

#[pymethods]
impl Found {
    /// Writes the pictures of all that has one, of orbits perhaps as these texts say, to files that end in .svg or .png, and gives their names.
    fn plot(&self, py: Python<'_>, path: PathBuf, what: Vec<String>) -> PyResult<Vec<PathBuf>> {
        py.detach(|| {
            let results = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            ensemble_pictures(&results, &what, &path).map_err(usage)
        })
    }
}

impl System {
    fn study(
        &self,
        mut problem: Problem<'_>,
        overrides: &Overrides,
        wanted: Wanted,
        watcher: &mut Watcher,
    ) -> PyResult<Results> {
        let wrong = |error: PrepareError| unprepared(&self.source, &error);
        let names = wanted.sample.iter().filter_map(|text| Some(text.split_once('=')?.0.trim()));
        problem.check_sampled(names, overrides).map_err(wrong)?;
        let method = match wanted.sample.is_empty() {
            true => problem.method(overrides),
            false => problem.method_for_all(overrides),
        };
        let Method { integrator, .. } = method.map_err(wrong)?;
        let rest = problem.rest(overrides).map_err(usage)?;
        let integrator = problem.with_events(integrator).map_err(wrong)?;
        let mut events = problem.events();
        let integrator =
            problem.with_asked_events(integrator, &overrides.events, &mut events).map_err(wrong)?;
        let reduce = match wanted.reduce.is_empty() {
            true => vec![format!("stats({})", problem.dynamics.system().coordinates().join(", "))],
            false => wanted.reduce,
        };
        let keeps = |text: &String| text.parse().is_ok_and(|kept: Reduction| kept.keeps_samples());
        let integrator = match reduce.iter().any(keeps) {
            true => problem.with_common_samples(integrator, overrides).map_err(wrong)?,
            false => integrator,
        };
        let model = self
            .source
            .whole()
            .map_err(|errors| crate::error::wrong_text(&self.source.title, &self.source.text, &errors))?;
        let mut study = Study::new(integrator, problem.until)
            .beginning_at(problem.start.t)
            .sampling(&wanted.sample)
            .map_err(usage)?
            .starting(rest)
            .reducing(&reduce)
            .map_err(usage)?
            .events(events)
            .seed(wanted.seed)
            .note("system", &self.source.name)
            .note("model", &model)
            .stopped_by(watcher.interrupted());
        for event in &overrides.events {
            study = study.note("expression", &format!("{}={}", event.name, event.expression));
        }
        if let Some(from) = wanted.from {
            let [low, high] = [problem.start.t.min(problem.until), problem.start.t.max(problem.until)];
            if !(low..=high).contains(&from) {
                let (begin, end) = (problem.start.t, problem.until);
                let nothing =
                    format!("nothing is left from t = {from} on: trajectories go from t = {begin} to {end}");
                return Err(usage(nothing));
            }
            study = study.counting_from(from);
        }
        if let Some((part, of)) = wanted.shard {
            let shard = format!("{part}/{of}").parse::<Shard>().map_err(usage)?;
            study = study.shard(shard);
        }
        study = wanted.count.into_iter().fold(study, Study::count);
        study = wanted.chunk.into_iter().fold(study, Study::chunk);
        study = wanted.threads.into_iter().fold(study, Study::threads);
        study = wanted.keep.iter().fold(study, |study, directory| study.kept_in(directory));
        study.total().map_err(usage)?;
        let ran = watcher.run(|tell| {
            study.run(&problem.dynamics, |Progress { done, total, .. }| {
                // Nobody listens any more once it was interrupted.
                _ = tell.send((*done as f64 / (*total).max(1) as f64, format!("{done} of {total}")));
            })
        });
        ran.map_err(|error| match error {
            StudyError::Run(error) => failed(error),
            StudyError::Store(error) => failed(error),
            error => usage(error),
        })
    }
}

/// What was found, as dictionaries of arrays.
fn dictionary(py: Python<'_>, results: Results) -> PyResult<Bound<'_, PyDict>> {
    let (overview, manifest) = (results.overview(), results.manifest());
    let dictionary = PyDict::new(py);
    dictionary.set_item("done", results.done)?;
    dictionary.set_item("total", results.total)?;
    dictionary.set_item("complete", overview.complete)?;
    dictionary.set_item("failed", overview.failed)?;
    dictionary.set_item("steps", overview.steps)?;
    dictionary.set_item("failures", overview.failures.clone())?;
    dictionary.set_item("damaged", &results.damaged)?;
    let ended = PyDict::new(py);
    for (name, count) in manifest.get("event").zip(&overview.ended) {
        ended.set_item(name, count)?;
    }
    dictionary.set_item("ended", ended)?;
    dictionary.set_item("method", manifest.get("method").next())?;
    let findings = PyList::empty(py);
    for (reduction, finding) in results.findings() {
        let columns = match finding {
            Finding::Rows(sheet) => tables::columns(py, sheet)?,
            Finding::Summary(summary) => {
                let columns = PyDict::new(py);
                for (place, Column { name, values }) in summary.columns().into_iter().enumerate() {
                    columns.set_item(name, tables::column(py, &summary.kind(place), values)?)?;
                }
                columns
            }
        };
        findings.append((reduction.to_string(), reduction.word(), columns))?;
    }
    dictionary.set_item("findings", findings)?;
    dictionary.set_item("found", Py::new(py, Found(Mutex::new(results)))?)?;
    Ok(dictionary)
}
