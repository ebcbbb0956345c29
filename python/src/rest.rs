//! Where a system rests, and its modes there.

use crate::arrays;
use crate::asked::Asked;
use crate::error::{failed, usage};
use crate::system::System;
use leastaction::EvalError;
use leastaction::analyze::{AnalyzeError, Equilibrium, ModeKind, Modes};
use leastaction::simulate::{Overrides, Problem, Warning};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What a system cannot have is asked for wrongly; what is not found went wrong.
fn unfound(error: AnalyzeError) -> PyErr {
    match error {
        AnalyzeError::Velocity { .. }
        | AnalyzeError::NotConservative { .. }
        | AnalyzeError::Gyroscopic { .. }
        | AnalyzeError::NoMass { .. }
        | AnalyzeError::Eval(EvalError::Undefined { .. }) => usage(error),
        error => failed(error),
    }
}

/// The names of coordinates and constraints.
fn names(problem: &Problem<'_>) -> [Vec<String>; 2] {
    let system = problem.dynamics.system();
    [
        system.coordinates().iter().collect(),
        system.constraints().iter().map(|(name, _)| name.clone()).collect(),
    ]
}

/// Where it rests.
#[pyfunction]
pub(crate) fn equilibrium<'py>(
    py: Python<'py>,
    system: &Bound<'py, System>,
    asked: Asked,
) -> PyResult<Bound<'py, PyDict>> {
    let this = system.get();
    let overrides: Overrides = asked.into();
    let (equilibrium, names, warnings) = py.detach(|| {
        this.with_problem(&overrides, |mut problem| {
            let equilibrium = problem.equilibrium().map_err(unfound)?;
            let warnings = problem.inverted_at_rest(&equilibrium).map_err(failed)?;
            Ok((equilibrium, names(&problem), warnings))
        })
    })?;
    rest(py, &equilibrium, &names, &warnings)
}

/// Where it rests, and its lowest modes there.
#[pyfunction]
pub(crate) fn modes<'py>(
    py: Python<'py>,
    system: &Bound<'py, System>,
    asked: Asked,
    count: usize,
) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>)> {
    let this = system.get();
    let overrides: Overrides = asked.into();
    let (equilibrium, modes, names, warnings) = py.detach(|| {
        this.with_problem(&overrides, |mut problem| {
            let equilibrium = problem.equilibrium().map_err(unfound)?;
            let warnings = problem.inverted_at_rest(&equilibrium).map_err(failed)?;
            let modes = problem.modes(&equilibrium, count).map_err(unfound)?;
            Ok((equilibrium, modes, names(&problem), warnings))
        })
    })?;
    Ok((rest(py, &equilibrium, &names, &warnings)?, dictionary(py, &modes, equilibrium.q.len())?))
}

fn rest<'py>(
    py: Python<'py>,
    equilibrium: &Equilibrium,
    [q, constraints]: &[Vec<String>; 2],
    warnings: &[Warning],
) -> PyResult<Bound<'py, PyDict>> {
    let dictionary = PyDict::new(py);
    let by_name = |names: &[String], values: &[f64]| {
        let all = PyDict::new(py);
        names.iter().zip(values).try_for_each(|(name, value)| all.set_item(name, value)).map(|()| all)
    };
    dictionary.set_item("q", arrays::list(py, equilibrium.q.clone()))?;
    dictionary.set_item("coordinates", by_name(q, &equilibrium.q)?)?;
    dictionary.set_item("multipliers", by_name(constraints, &equilibrium.multipliers)?)?;
    dictionary.set_item("energy", equilibrium.energy)?;
    dictionary.set_item("residual", equilibrium.residual)?;
    dictionary.set_item("iterations", equilibrium.iterations)?;
    dictionary.set_item("negative_modes", equilibrium.negative_modes)?;
    let warnings = warnings.iter().map(|warning| (warning.code(), warning.to_string()));
    dictionary.set_item("warnings", warnings.collect::<Vec<_>>())?;
    Ok(dictionary)
}

fn dictionary<'py>(py: Python<'py>, modes: &Modes, degrees: usize) -> PyResult<Bound<'py, PyDict>> {
    let dictionary = PyDict::new(py);
    let kind = |kind| match kind {
        ModeKind::Vibration => "vibration",
        ModeKind::Free => "free",
        ModeKind::Growing => "growing",
    };
    let all = &modes.modes;
    dictionary.set_item("kind", all.iter().map(|mode| kind(mode.kind)).collect::<Vec<_>>())?;
    dictionary.set_item("frequency", arrays::list(py, all.iter().map(|mode| mode.frequency()).collect()))?;
    dictionary.set_item("growth", arrays::list(py, all.iter().map(|mode| mode.growth()).collect()))?;
    dictionary.set_item("steady", all.iter().map(|mode| mode.steady).collect::<Vec<_>>())?;
    let shapes = all.iter().flat_map(|mode| mode.shape.iter().copied()).collect();
    dictionary.set_item("shapes", arrays::rows(py, shapes, degrees)?)?;
    dictionary.set_item("freedom", modes.freedom)?;
    dictionary.set_item("undamped", modes.undamped)?;
    let spirals = modes
        .spirals
        .as_ref()
        .map(|spirals| spirals.iter().map(|spiral| (spiral.frequency, spiral.growth)).collect::<Vec<_>>());
    dictionary.set_item("with_velocities", spirals)?;
    Ok(dictionary)
}
