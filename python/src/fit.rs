//! Fits: parameters and starts with which a system moves as was measured.

use crate::asked::Asked;
use crate::error::{exception, failed, unprepared, usage};
use crate::system::System;
use crate::tables;
use crate::watch::Watcher;
use leastaction::fit::{
    Derivatives, Estimate, Fit as Fitted, FitError, FittedChannel, Free, Measure, Plan, Progress, Reading,
    Restated, Sheet, SheetError, UnreadError, Watch, fit_watched, recordings,
};
use leastaction::output::{About, write};
use leastaction::simulate::{Overrides, Source};
use leastaction::{fit_picture, fit_summary};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What is asked for besides: the dictionary that `python/leastaction/fits.py` makes.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Wanted {
    free: Vec<(String, Option<(f64, f64)>)>,
    known: Vec<String>,
    known_start: bool,
    column: Vec<(String, String)>,
    sigma: Vec<(String, String)>,
    time: Option<String>,
    since: Option<f64>,
    until: Option<f64>,
    iterations: usize,
    hints: bool,
}

/// What was measured in one run: the path of a file, or columns under a name.
#[derive(FromPyObject)]
pub(crate) enum Measured<'py> {
    /// With the first word in each column that has words: its column, its row and itself.
    Columns(String, Vec<(String, PyReadonlyArray1<'py, f64>)>, Vec<(String, usize, String)>),
    File(PathBuf),
}

impl Measured<'_> {
    fn sheet(&self) -> PyResult<Sheet> {
        match self {
            Measured::File(path) => Sheet::read(path).map_err(|error| match error {
                SheetError::System { .. } => usage(error),
                error => failed(error),
            }),
            Measured::Columns(name, columns, words) => {
                let column = |(name, values): &(String, PyReadonlyArray1<'_, f64>)| {
                    Ok::<_, PyErr>((name.clone(), values.as_slice()?.to_vec()))
                };
                let columns = columns.iter().map(column).collect::<PyResult<_>>()?;
                Ok(Sheet { name: name.clone(), columns, words: words.clone() })
            }
        }
    }
}

/// What came of a fit.
#[pyclass(frozen, module = "leastaction._native")]
pub(crate) struct Fit {
    fit: Fitted,
    source: Source,
    overrides: Overrides,
    unused: Vec<String>,
    wall: Duration,
}

/// Finds parameters and starts with which a system moves as was measured.
#[pyfunction]
#[pyo3(signature = (system, asked, data, wanted, progress = None))]
pub(crate) fn fit(
    py: Python<'_>,
    system: &Bound<'_, System>,
    asked: Asked,
    data: Vec<Measured<'_>>,
    wanted: &Bound<'_, PyDict>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Fit> {
    let source = system.get().source.clone();
    let (overrides, wanted): (Overrides, Wanted) = (asked.into(), wanted.extract()?);
    let overrides = Overrides { until: None, ..overrides };
    let sheets = data.iter().map(Measured::sheet).collect::<PyResult<Vec<_>>>()?;
    let measures = |list: Vec<(String, String)>| {
        list.into_iter().map(|(what, formula)| Measure { what, formula }).collect::<Vec<_>>()
    };
    let reading =
        Reading { time: wanted.time, measures: measures(wanted.column), sigmas: measures(wanted.sigma) };
    let span = [wanted.since.unwrap_or(f64::NEG_INFINITY), wanted.until.unwrap_or(f64::INFINITY)];
    let free = wanted.free.into_iter();
    let plan = Plan {
        free: free
            .map(|(name, limits)| Free { name, limits: limits.map(|(low, high)| [low, high]) })
            .collect(),
        known: wanted.known,
        known_start: wanted.known_start,
        iterations: wanted.iterations,
        hints: wanted.hints,
    };
    let mut watcher = Watcher::new(progress);
    let before = Instant::now();
    let found = py.detach(|| {
        let read = recordings(&source, &sheets, &reading, &overrides, span);
        let (recordings, unused) = read.map_err(|error| match error {
            UnreadError::Fit(error) => wrong(&source, error),
            UnreadError::Reading(error) => usage(error),
        })?;
        let stop = watcher.interrupted();
        let found = watcher.run(|tell| {
            let progress = |progress: Progress| {
                // Nobody listens any more once it was interrupted.
                _ = tell.send((f64::NAN, progress.to_string()));
            };
            let watch = Watch { interrupted: &stop, progress: &progress };
            fit_watched(&source, &recordings, &plan, &overrides, &watch)
        });
        Ok::<_, PyErr>((found, unused))
    })?;
    match found {
        (Ok(fit), unused) => Ok(Fit { fit, source, overrides, unused, wall: before.elapsed() }),
        (Err(FitError::Interrupted), _) => Err(match watcher.raised() {
            Some(error) if !error.is_instance_of::<PyKeyboardInterrupt>(py) => error,
            _ => exception(py, "Interrupted", FitError::Interrupted.to_string(), &[]),
        }),
        (Err(error), _) => Err(wrong(&source, error)),
    }
}

/// Why there is no fit.
fn wrong(source: &Source, error: FitError) -> PyErr {
    match &error {
        FitError::Prepare(error) => unprepared(source, error),
        FitError::Run { .. } | FitError::Overflow | FitError::Stops { .. } | FitError::Eval(_) => {
            failed(error)
        }
        error => usage(error),
    }
}

#[pymethods]
impl Fit {
    /// All that was found.
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (fit, facts) = (&self.fit, PyDict::new(py));
        let named = |nth: usize| fit.recordings[nth].name.as_str();
        let estimates = fit.estimates.iter().map(|estimate| {
            let Estimate { name, recording, guess, value, error, interval, at_limit } = estimate;
            (name, *recording, value, *error, interval.map(|[low, high]| (low, high)), guess, *at_limit)
        });
        facts.set_item("estimates", PyList::new(py, estimates.collect::<Vec<_>>())?)?;
        let n = fit.estimates.len();
        let correlation = |place| fit.correlation(place / n, place % n).unwrap_or(f64::NAN);
        let correlations = (0..n * n).map(correlation).collect();
        facts.set_item("correlations", crate::arrays::rows(py, correlations, n)?)?;
        facts.set_item("parameters", fit.parameters.clone())?;
        facts.set_item("measured", fit.measured)?;
        facts.set_item("freedom", fit.freedom)?;
        let channels = fit.channels.iter().map(|channel| {
            let FittedChannel {
                what, rows, rms, relative, sigma, given, ratio, correlation, outliers, ..
            } = channel;
            (what, rows, rms, relative, sigma, ratio, correlation, given, outliers)
        });
        facts.set_item("channels", PyList::new(py, channels.collect::<Vec<_>>())?)?;
        let recordings = (0..fit.recordings.len()).map(|nth| (named(nth), fit.recordings[nth].begin));
        facts.set_item("recordings", recordings.collect::<Vec<_>>())?;
        facts.set_item("unused", &self.unused)?;
        let undetermined = fit.undetermined.as_ref();
        let undetermined = undetermined.map(|one| (&one.names, &one.combination, one.to_string()));
        facts.set_item("undetermined", undetermined)?;
        let doubts = fit.doubts.iter().map(|doubt| (doubt.code(), doubt.to_string()));
        facts.set_item("doubts", doubts.collect::<Vec<_>>())?;
        let hints = fit.hints.iter().map(|hint| (hint.code(), hint.value(), hint.to_string()));
        facts.set_item("hints", hints.collect::<Vec<_>>())?;
        facts.set_item("faults", fit.faults())?;
        facts.set_item("method", &fit.method)?;
        facts.set_item(
            "derivatives",
            match &fit.derivatives {
                Derivatives::Adjoint => "adjoint",
                Derivatives::Differences { .. } => "differences",
            },
        )?;
        facts.set_item("iterations", fit.iterations)?;
        facts.set_item("runs", fit.runs)?;
        facts.set_item("wall_s", self.wall.as_secs_f64())?;
        facts.set_item("columns", tables::columns(py, &fit.table())?)?;
        facts.set_item("summary", fit_summary(fit, &self.unused, self.wall))?;
        Ok(facts)
    }

    /// The model with fitted values as a text, and what there is to say of its start.
    fn restated(&self, py: Python<'_>) -> PyResult<(String, Option<String>)> {
        let (text, start) = py.detach(|| self.fit.restated(&self.source, &self.overrides)).map_err(usage)?;
        Ok((text, (start != Restated::Whole).then(|| start.to_string())))
    }

    /// Data beside the fit as SVG.
    fn svg(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| fit_picture(&self.fit).svg()).map_err(usage)
    }

    /// Writes the plot to a file that ends in .svg or .png.
    fn save_plot(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| fit_picture(&self.fit).save(&path)).map_err(usage)
    }

    /// Writes data, fit and residuals to a file, by its ending.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let about = About {
            system: self.fit.system.clone(),
            method: self.fit.method.clone(),
            parameters: self.fit.parameters.clone(),
            ended: "complete".to_owned(),
            warnings: self.fit.doubts.iter().map(ToString::to_string).collect(),
            ..About::default()
        };
        py.detach(|| write(&path, &self.fit.table(), &about)).map_err(usage)
    }

    /// The folder that paths in the model are taken from.
    #[getter]
    fn folder(&self) -> Option<&Path> {
        self.source.folder()
    }
}
