//! Methods beside each other on one system, and texts on their own.

use crate::asked::Asked;
use crate::error::{exception, failed, unprepared, usage, wrong_text};
use crate::system::System;
use crate::watch::Watcher;
use leastaction::language;
use leastaction::simulate::{Overrides, applies};
use leastaction::{Card, Integrator, METHODS, Pace, Tolerance};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Compares methods at steps or tolerances; without methods, all that apply, and without paces, that of the text, or of the choice.
#[pyfunction]
#[pyo3(signature = (system, asked, methods, steps, tolerances, progress = None))]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    system: &Bound<'py, System>,
    asked: Asked,
    methods: Option<Vec<String>>,
    steps: Vec<f64>,
    tolerances: Vec<f64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (this, overrides): (&System, Overrides) = (system.get(), asked.into());
    let cards =
        methods.map(|names| names.iter().map(|name| Card::named(name)).collect::<Result<Vec<_>, _>>());
    let cards = cards.transpose().map_err(usage)?;
    let mut watcher = Watcher::new(progress);
    let compared = py.detach(|| {
        this.with_problem(&overrides, |mut problem| {
            let wrong = |error| unprepared(&this.source, &error);
            let mut paces: Vec<Pace> = steps.into_iter().map(Pace::Step).collect();
            paces.extend(tolerances.into_iter().map(|tol| Pace::Tolerance(Tolerance::relative(tol))));
            if paces.is_empty() {
                paces.push(match problem.planned_pace().map_err(wrong)? {
                    Some(pace) => pace,
                    None => problem.choice(None).map_err(wrong)?.integrator.pace().clone(),
                });
            }
            let facts = problem.dynamics.system().facts();
            let apply = |card: &&&Card| paces.iter().any(|pace| applies(card, pace, facts));
            let cards = cards.unwrap_or_else(|| METHODS.iter().collect());
            let all = cards.len() == METHODS.len();
            let cards: Vec<&Card> = cards.iter().filter(|card| !all || apply(card)).copied().collect();
            let most = overrides.max_steps.unwrap_or(1_000_000_000);
            let reference = problem
                .reference(most, |part| watcher.tell(0.0, || format!("reference, {:.0} %", 100.0 * part)));
            let count = cards.len() * paces.len();
            let mut rows = Vec::new();
            for (card, pace) in cards.iter().flat_map(|card| paces.iter().map(move |pace| (*card, pace))) {
                let integrator = Integrator::new(card, pace.clone()).at_most(most);
                let place = rows.len() as f64;
                let trial = problem.trial(&integrator, |part| {
                    watcher.tell((place + part) / count as f64, || card.name.to_owned())
                });
                let Some(trial) = trial.transpose() else { break };
                let near = reference.as_ref().ok().and_then(Option::as_ref).zip(trial.as_ref().ok());
                let error = near.map(|(reference, trial)| reference.error(trial));
                rows.push((card.name, pace.clone(), trial.map_err(|error| error.to_string()), error));
            }
            let reference = match reference {
                Ok(reference) => Ok(reference.map(|found| (found.method, found.tolerance, found.doubt))),
                Err(error) => Err(error.to_string()),
            };
            Ok((rows, reference, problem.dynamics.system().conserves_hamiltonian()))
        })
    });
    let (rows, reference, conserved) = compared?;
    let list = PyList::empty(py);
    for (name, pace, trial, error) in rows {
        let row = PyDict::new(py);
        row.set_item("method", name)?;
        let (kind, value) = match &pace {
            Pace::Step(step) => ("step", *step),
            Pace::Tolerance(tolerance) => ("tolerance", tolerance.relative),
            Pace::Density(_) => ("density", f64::NAN),
        };
        row.set_item("pace", kind)?;
        row.set_item("value", value)?;
        row.set_item("error", error)?;
        row.set_item("failure", trial.as_ref().err())?;
        if let Ok(trial) = &trial {
            row.set_item("steps", trial.work.steps)?;
            row.set_item("rejected", trial.work.rejected)?;
            row.set_item("evaluations", trial.work.evaluations)?;
            row.set_item("wall_s", trial.wall.as_secs_f64())?;
            row.set_item("drift", conserved.then(|| trial.drift()))?;
            row.set_item("violation", trial.violations.0.max(trial.violations.1))?;
        }
        list.append(row)?;
    }
    let facts = PyDict::new(py);
    facts.set_item("rows", list)?;
    facts.set_item("reference", reference.as_ref().ok().copied().flatten())?;
    facts.set_item("no_reference", reference.err())?;
    match watcher.raised() {
        None => Ok(facts),
        Some(error) if !error.is_instance_of::<PyKeyboardInterrupt>(py) => Err(error),
        Some(_) => {
            let message =
                "the comparison was interrupted: what ran until then is in .results of this exception";
            Err(exception(py, "Interrupted", message.to_owned(), &[("results", facts.into_any())]))
        }
    }
}

/// Looks at everything that can be wrong before a run: the text, the equations of motion, the start, the method, the outputs.
#[pyfunction]
pub(crate) fn check(py: Python<'_>, system: &Bound<'_, System>, asked: Asked) -> PyResult<()> {
    let (this, overrides): (&System, Overrides) = (system.get(), asked.into());
    py.detach(|| {
        this.with_problem(&overrides, |mut problem| {
            let planned = problem.planned_method().map(drop).and_then(|()| problem.outputs().map(drop));
            planned.map_err(|error| unprepared(&this.source, &error))
        })
    })
}

/// A text in its usual form.
#[pyfunction]
pub(crate) fn format(py: Python<'_>, text: &str) -> PyResult<String> {
    py.detach(|| language::format(text)).map_err(|errors| match errors.diagnostics.is_empty() {
        true => failed("the text has no usual form"),
        false => wrong_text("text", text, &errors),
    })
}
