//! Plots of what was chosen: curves of runs side by side, and points.

use crate::error::usage;
use crate::trajectory::Trajectory;
use leastaction::plot::{Choice, Orbit, Section, Several};
use pyo3::prelude::*;
use std::path::PathBuf;

/// Plots columns of runs, which have names, against time, or over another column; to a file, if there is one. Gives the plot as SVG.
#[pyfunction]
#[pyo3(signature = (runs, choices, title, subtitle, path = None))]
pub(crate) fn curves(
    py: Python<'_>,
    runs: Vec<(String, Bound<'_, Trajectory>)>,
    choices: Vec<(Vec<String>, Option<String>)>,
    title: &str,
    subtitle: &str,
    path: Option<PathBuf>,
) -> PyResult<String> {
    let runs: Vec<(String, &Trajectory)> = runs.iter().map(|(name, run)| (name.clone(), run.get())).collect();
    let choices = choices.into_iter().map(|(what, over)| Choice { what, over }).collect();
    py.detach(|| {
        let records = runs.into_iter().map(|(name, run)| Ok((name, run.record()?)));
        let runs = records.collect::<PyResult<Vec<_>>>()?;
        let plot = Several { runs, choices, title, subtitle };
        path.map_or(Ok(()), |path| plot.save(&path)).and_then(|()| plot.svg()).map_err(usage)
    })
}

/// Plots points of orbits, which have names, to a file that ends in .svg or .png.
#[pyfunction]
pub(crate) fn plot_points(
    py: Python<'_>,
    title: String,
    subtitle: String,
    labels: [String; 2],
    orbits: Vec<(String, Vec<[f64; 2]>)>,
    path: PathBuf,
) -> PyResult<()> {
    let orbits = orbits.into_iter().map(|(name, points)| Orbit { name, points }).collect();
    py.detach(|| Section { title, subtitle, labels, orbits }.save(&path)).map_err(usage)
}
