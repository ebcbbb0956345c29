//! Poincaré sections.

use crate::arrays;
use crate::asked::Asked;
use crate::error::{exception, failed, unprepared, usage};
use crate::system::System;
use crate::tables;
use crate::watch::Watcher;
use leastaction::language::Direction;
use leastaction::simulate::{Fan, Level, Overrides, Section, SectionPlan, SectionRun};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What is asked for besides: the dictionary that `python/leastaction/sections.py` makes.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Wanted {
    through: String,
    direction: String,
    show: Option<(String, String)>,
    orbits: usize,
    vary: Option<(String, f64, f64)>,
    energy: Option<(f64, String)>,
    count: usize,
    threads: Option<usize>,
}

impl From<Wanted> for SectionPlan {
    fn from(wanted: Wanted) -> SectionPlan {
        SectionPlan {
            through: wanted.through,
            direction: match wanted.direction.as_str() {
                "rising" => Direction::Rising,
                "falling" => Direction::Falling,
                _ => Direction::Both,
            },
            shown: wanted.show.map(|(a, b)| [a, b]),
            orbits: wanted.orbits,
            vary: wanted.vary.map(|(name, from, to)| Fan { name, from, to }),
            level: wanted.energy.map(|(energy, solve)| Level { energy, solve }),
            count: wanted.count,
            threads: wanted.threads,
        }
    }
}

/// Finds where orbits pass a surface.
#[pyfunction]
#[pyo3(signature = (system, asked, wanted, progress = None))]
pub(crate) fn section<'py>(
    py: Python<'py>,
    system: &Bound<'py, System>,
    asked: Asked,
    wanted: &Bound<'py, PyDict>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let this = system.get();
    let (overrides, wanted): (Overrides, Wanted) = (asked.into(), wanted.extract()?);
    let plan = SectionPlan::from(wanted);
    let mut watcher = Watcher::new(progress);
    let (section, run) = py.detach(|| {
        this.with_problem(&overrides, |mut problem| {
            let wrong = |error| unprepared(&this.source, &error);
            let section = Section::new(&this.source, &mut problem, &plan, &overrides).map_err(wrong)?;
            if section.starts.is_empty() {
                let lost = section.lost.iter().map(ToString::to_string).collect::<Vec<_>>();
                return Err(usage(lost.join("\n")));
            }
            let total = section.starts.len();
            let run = section.run(|progress| {
                let place = || format!("{} of {total} orbits, {} points", progress.orbits, progress.points);
                watcher.tell(progress.fraction, place)
            });
            Ok((section, run.map_err(failed)?))
        })
    })?;
    let dictionary = dictionary(py, &section, &run)?;
    match (run.interrupted, watcher.raised()) {
        (None, _) => Ok(dictionary),
        (Some(_), Some(error)) if !error.is_instance_of::<PyKeyboardInterrupt>(py) => Err(error),
        (Some(done), _) => {
            let total = section.starts.len();
            let message = format!(
                "the section was interrupted after {done} of {total} orbits: its points are in .results of this exception"
            );
            Err(exception(py, "Interrupted", message, &[("results", dictionary.into_any())]))
        }
    }
}
fn dictionary<'py>(py: Python<'py>, section: &Section, run: &SectionRun) -> PyResult<Bound<'py, PyDict>> {
    let dictionary = PyDict::new(py);
    let points = run.points.shown.iter().flat_map(|(_, point)| *point).collect();
    dictionary.set_item("points", arrays::rows(py, points, 2)?)?;
    let orbits = run.points.shown.iter().map(|(orbit, _)| *orbit as f64).collect();
    dictionary.set_item("orbit", arrays::list(py, orbits).call_method1("astype", ("int64",))?)?;
    dictionary.set_item("names", section.names.clone())?;
    dictionary.set_item("surface", section.surface.to_string())?;
    dictionary.set_item("columns", tables::columns(py, &run.points.table())?)?;
    dictionary.set_item(
        "lost",
        run.lost.iter().chain(&section.lost).map(ToString::to_string).collect::<Vec<_>>(),
    )?;
    dictionary.set_item("drift", run.drift)?;
    dictionary.set_item("method", section.integrator.card().name)?;
    Ok(dictionary)
}
