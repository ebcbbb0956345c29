//! A system: a text, and what was made of it.

use crate::arrays;
use crate::asked::Asked;
use crate::error::{exception, failed, unprepared, unreadable, usage};
use crate::trajectory::Trajectory;
use crate::watch::Watcher;
use leastaction::expr::Owned;
use leastaction::simulate::{
    Diagnosis, FailedRun, Others, Overrides, Problem, Run, SensitivityError, Simulation, Source,
};
use leastaction::{
    AdjointError, Dynamics, EquationForm, Graph, METHODS, PrintError, ShareKind, c_function, julia_function,
    python_function, rust_function,
};
use numpy::PyArray1;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// A method for any system, of whose runs there are gradients.
const BACKWARDS: &str = "dop853";

/// So many things are kept of those that were made last.
const KEPT: usize = 4;

/// What was made last, with what it was made for.
struct Recent<K, V>(Mutex<VecDeque<(K, Arc<V>)>>);

impl<K: PartialEq, V> Recent<K, V> {
    fn new() -> Recent<K, V> {
        Recent(Mutex::new(VecDeque::new()))
    }

    fn find(&self, key: &K) -> Option<Arc<V>> {
        let list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        list.iter().find(|(other, _)| other == key).map(|(_, value)| Arc::clone(value))
    }

    fn keep(&self, key: K, value: V) -> Arc<V> {
        let value = Arc::new(value);
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        list.truncate(KEPT - 1);
        list.push_front((key, Arc::clone(&value)));
        value
    }
}

/// What a problem is built from, before it begins anywhere.
fn built_from(overrides: &Overrides) -> Overrides {
    Overrides {
        parameters: overrides.parameters.clone(),
        outputs: overrides.outputs.clone(),
        events: overrides.events.clone(),
        ..Overrides::default()
    }
}

/// A text that says what moves. Threads may share it.
#[pyclass(frozen, module = "leastaction._native")]
pub(crate) struct System {
    pub(crate) source: Source,
    problems: Recent<Overrides, Owned<Problem<'static>>>,
    simulations: Recent<Overrides, Simulation>,
    dynamics: Recent<Overrides, Mutex<Vec<Dynamics>>>,
}

impl System {
    fn of(source: Source) -> System {
        let (problems, simulations, dynamics) = (Recent::new(), Recent::new(), Recent::new());
        System { source, problems, simulations, dynamics }
    }

    /// The problem with its equations, derived and compiled, before it begins anywhere. Outside of the interpreter.
    fn built(&self, overrides: &Overrides) -> PyResult<Arc<Owned<Problem<'static>>>> {
        let key = built_from(overrides);
        if let Some(found) = self.problems.find(&key) {
            return Ok(found);
        }
        let graph = Arc::new(Graph::new());
        let problem = self.source.build(&graph, &key).map_err(|error| unprepared(&self.source, &error))?;
        let kept = Owned::new(Arc::clone(&graph), &problem);
        Ok(self.problems.keep(key, kept))
    }

    /// Does something with the problem that is asked for. Outside of the interpreter.
    pub(crate) fn with_problem<T>(
        &self,
        overrides: &Overrides,
        then: impl FnOnce(Problem<'_>) -> PyResult<T>,
    ) -> PyResult<T> {
        let built = self.built(overrides)?;
        let mut problem = built.get();
        self.source.begin(&mut problem, overrides).map_err(|error| unprepared(&self.source, &error))?;
        then(problem)
    }

    /// The run that is asked for. Outside of the interpreter.
    pub(crate) fn simulation(&self, overrides: &Overrides) -> PyResult<Arc<Simulation>> {
        if let Some(found) = self.simulations.find(overrides) {
            return Ok(found);
        }
        let simulation = self.with_problem(overrides, |problem| {
            Simulation::new(problem, overrides).map_err(|error| unprepared(&self.source, &error))
        })?;
        Ok(self.simulations.keep(overrides.clone(), simulation))
    }

    /// Does something with dynamics that nobody else uses meanwhile. Outside of the interpreter.
    pub(crate) fn with_dynamics<T>(
        &self,
        overrides: &Overrides,
        then: impl FnOnce(&mut Dynamics) -> PyResult<T>,
    ) -> PyResult<T> {
        let key = built_from(overrides);
        let pool = match self.dynamics.find(&key) {
            Some(pool) => pool,
            None => self.dynamics.keep(key, Mutex::new(Vec::new())),
        };
        let idle = pool.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut dynamics = match idle {
            Some(dynamics) => dynamics,
            None => self.built(overrides)?.get().dynamics,
        };
        let result = then(&mut dynamics);
        pool.lock().unwrap_or_else(PoisonError::into_inner).push(dynamics);
        result
    }
}

#[pymethods]
impl System {
    /// A system of the catalog, with a number of pieces where that can be chosen.
    #[staticmethod]
    #[pyo3(signature = (name, size = None))]
    fn catalog(name: &str, size: Option<usize>) -> PyResult<System> {
        Ok(System::of(Source::catalog(name, size).map_err(|error| unreadable(&error))?))
    }

    /// What a file says.
    #[staticmethod]
    fn file(path: &str) -> PyResult<System> {
        Ok(System::of(Source::file(path).map_err(|error| unreadable(&error))?))
    }

    /// A text with a name for the system, and the folder that paths in it are taken from.
    #[staticmethod]
    #[pyo3(signature = (name, text, folder = None))]
    fn text(name: &str, text: &str, folder: Option<PathBuf>) -> System {
        let source = Source::text(name, text);
        System::of(match folder {
            Some(folder) => source.in_folder(&folder),
            None => source,
        })
    }

    /// The name of the system.
    #[getter]
    fn name(&self) -> &str {
        &self.source.name
    }

    /// What it says, in the `.motion` language.
    #[getter]
    fn source(&self) -> &str {
        &self.source.text
    }

    /// What is known of the system before it moves: names, values, and facts.
    fn facts<'py>(&self, py: Python<'py>, asked: Asked) -> PyResult<Bound<'py, PyDict>> {
        let overrides: Overrides = asked.into();
        let description =
            py.detach(|| self.with_problem(&overrides, |mut problem| Ok(Description::of(&mut problem))))?;
        description.dictionary(py)
    }

    /// The equations of motion in a form (`stated`, `solved` or `hamilton`), perhaps with energies: as `text`, `latex` or `markdown`; or, in no form, a function in `c`, `rust`,
    /// `python` or `julia`.
    fn equations(
        &self,
        py: Python<'_>,
        asked: Asked,
        language: &str,
        form: &str,
        energies: bool,
    ) -> PyResult<String> {
        let overrides: Overrides = asked.into();
        py.detach(|| {
            let built = self.built(&overrides)?;
            let problem = built.get();
            let equations = &problem.equations;
            let code = |comment: &str, language: Language| {
                let function = equations.function().map_err(failed)?;
                let code = language(function.name, &function.inputs, &function.outputs).map_err(failed)?;
                Ok(format!("{comment} {}\n{code}", function.about))
            };
            let page = || {
                let form = match form {
                    "stated" => EquationForm::Stated,
                    "solved" => EquationForm::Solved,
                    "hamilton" => EquationForm::Hamilton,
                    other => {
                        return Err(usage(format!(
                            "`{other}` is no form: choose stated, solved or hamilton"
                        )));
                    }
                };
                let page = equations.page(form, &[]).map_err(usage)?;
                Ok(if energies { page } else { page.motion_only() })
            };
            match language {
                "text" => Ok(page()?.to_string()),
                "latex" => Ok(page()?.latex()),
                "markdown" => Ok(page()?.markdown()),
                "c" => code("//", c_function),
                "rust" => code("//", rust_function),
                "python" => code("#", python_function),
                "julia" => code("#", julia_function),
                other => Err(usage(format!("`{other}` is no language of equations"))),
            }
        })
    }

    /// The function that an integrator needs, as texts: its name, its arguments and its results.
    fn function(&self, py: Python<'_>, asked: Asked) -> PyResult<(String, Vec<String>, Vec<String>)> {
        let overrides: Overrides = asked.into();
        py.detach(|| {
            let built = self.built(&overrides)?;
            let problem = built.get();
            let function = problem.equations.function().map_err(failed)?;
            let texts = |list: &[leastaction::Expr<'_>]| list.iter().map(ToString::to_string).collect();
            Ok((function.name.to_owned(), texts(&function.inputs), texts(&function.outputs)))
        })
    }

    /// The state at the start: coordinates, then momenta.
    fn initial<'py>(&self, py: Python<'py>, asked: Asked) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let overrides: Overrides = asked.into();
        let block = py.detach(|| self.with_problem(&overrides, |problem| Ok(problem.start.block())))?;
        Ok(arrays::list(py, block))
    }

    /// Runs. The function is told of progress; with `accuracy`, a second run beside it judges the end.
    #[pyo3(signature = (asked, accuracy = false, progress = None))]
    fn run(
        &self,
        py: Python<'_>,
        asked: Asked,
        accuracy: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Trajectory> {
        let overrides: Overrides = asked.into();
        let mut watcher = Watcher::new(progress);
        let ran = py.detach(|| {
            let simulation = self.simulation(&overrides)?;
            Ok::<_, PyErr>(match accuracy {
                true => simulation.run_judged(&watcher.interrupted(), |moment| watcher.watch(moment)),
                false => simulation.run_watched(|moment| watcher.watch(moment)),
            })
        })?;
        match ran {
            Ok(run) if run.is_interrupted() => Err(interrupted(py, run, watcher.raised())),
            Ok(run) => Ok(Trajectory::of(run)),
            Err(FailedRun { error, run: Some(run) }) => {
                let diagnosis =
                    py.detach(|| run.diagnosis(&error)).map(|diagnosis| diagnosed(py, &diagnosis));
                let trajectory = Py::new(py, Trajectory::of(*run))?.into_bound(py).into_any();
                let known =
                    [("trajectory", trajectory), ("diagnosis", diagnosis.transpose()?.into_pyobject(py)?)];
                Err(exception(py, "RunError", error.to_string(), &known))
            }
            Err(failure) => Err(match failure.fault() {
                leastaction::simulate::Fault::Run => failed(failure),
                _ => usage(failure),
            }),
        }
    }

    /// An observable at the end of a run, and its derivatives by numbers of the start and by parameters.
    fn sensitivity(&self, py: Python<'_>, asked: Asked, what: &str) -> PyResult<Derivatives> {
        let overrides: Overrides = asked.into();
        py.detach(|| {
            let mut found = self.simulation(&overrides)?.sensitivity(what);
            if let (Err(SensitivityError::Adjoint(AdjointError::Method { .. })), None) =
                (&found, &overrides.method)
            {
                // Of methods that nobody asked for, another one will do.
                let method = Some(BACKWARDS.to_owned());
                found = self.simulation(&Overrides { method, ..overrides })?.sensitivity(what);
            }
            let found = found.map_err(usage)?;
            Ok((found.value, found.start, found.parameters))
        })
    }
}

/// Writes a function in some language.
type Language = fn(&str, &[leastaction::Expr<'_>], &[leastaction::Expr<'_>]) -> Result<String, PrintError>;

/// A value, and its derivatives by name.
type Derivatives = (f64, Vec<(String, f64)>, Vec<(String, f64)>);

/// A run that was interrupted: what raised that, or that there was a Ctrl-C, with what was computed.
fn interrupted(py: Python<'_>, run: Run, raised: Option<PyErr>) -> PyErr {
    let t = run.trajectory.end().t;
    match raised {
        Some(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => {
            let message = format!(
                "the run was interrupted at t = {t}: what was computed until then is in .trajectory of this exception"
            );
            match Py::new(py, Trajectory::of(run)) {
                Ok(kept) => {
                    exception(py, "Interrupted", message, &[("trajectory", kept.into_bound(py).into_any())])
                }
                Err(error) => error,
            }
        }
        Some(error) => error,
        None => failed(format!("the run was interrupted at t = {t}")),
    }
}

/// What is known of where a run failed.
fn diagnosed<'py>(py: Python<'py>, diagnosis: &Diagnosis) -> PyResult<Bound<'py, PyDict>> {
    let Diagnosis { t, name, value, rate, tried, pole, unstable, others } = diagnosis;
    let dictionary = PyDict::new(py);
    dictionary.set_item("t", t)?;
    dictionary.set_item("name", name)?;
    dictionary.set_item("value", value)?;
    dictionary.set_item("rate", rate)?;
    dictionary.set_item("tried", tried)?;
    dictionary.set_item("pole", pole)?;
    dictionary.set_item("stable_up_to", unstable.map(|[_, limit]| limit))?;
    let passes = match others {
        Some(Others::Passes { method, tolerance, .. }) => Some((*method, *tolerance)),
        Some(Others::Fail { .. }) | None => None,
    };
    dictionary.set_item("passed_by", passes)?;
    Ok(dictionary)
}

/// What is known of a problem.
struct Description {
    about: String,
    form: String,
    names: [(&'static str, Vec<String>); 6],
    values: [(&'static str, Vec<(String, f64)>); 2],
    places: Vec<(String, usize)>,
    shares: Vec<(String, String)>,
    until: f64,
    conserves_energy: bool,
    separable: bool,
}

impl Description {
    fn of(problem: &mut Problem<'_>) -> Description {
        let system = problem.dynamics.system();
        let parameters = system.parameters().iter().zip(problem.dynamics.parameters());
        Description {
            about: problem.setup.about.clone(),
            form: system.facts().form.to_string(),
            names: [
                ("coordinates", system.coordinates().iter().collect()),
                ("velocities", system.velocities().iter().collect()),
                ("momenta", system.momenta().iter().collect()),
                ("constraints", system.constraints().iter().map(|(name, _)| name.clone()).collect()),
                ("conserved", system.conserved()),
                ("events", problem.events()),
            ],
            values: [
                ("parameters", parameters.map(|((name, _), value)| (name.clone(), *value)).collect()),
                ("start", problem.values.clone()),
            ],
            places: system.places().iter().map(|place| (place.name.clone(), place.dimensions)).collect(),
            shares: system
                .shares()
                .iter()
                .map(|share| (share.name.clone(), word(share.kind).to_owned()))
                .collect(),
            until: problem.until,
            conserves_energy: system.conserves_energy(),
            separable: system.facts().separable,
        }
    }

    fn dictionary(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let dictionary = PyDict::new(py);
        dictionary.set_item("about", self.about)?;
        dictionary.set_item("form", self.form)?;
        for (what, names) in self.names {
            dictionary.set_item(what, names)?;
        }
        for (what, values) in self.values {
            let by_name = PyDict::new(py);
            values.into_iter().try_for_each(|(name, value)| by_name.set_item(name, value))?;
            dictionary.set_item(what, by_name)?;
        }
        dictionary.set_item("places", self.places)?;
        dictionary.set_item("shares", self.shares)?;
        dictionary.set_item("until", self.until)?;
        dictionary.set_item("conserves_energy", self.conserves_energy)?;
        dictionary.set_item("separable", self.separable)?;
        Ok(dictionary)
    }
}

fn word(kind: ShareKind) -> &'static str {
    match kind {
        ShareKind::Kinetic => "kinetic",
        ShareKind::Potential => "potential",
        ShareKind::Lagrangian => "lagrangian",
        ShareKind::Hamiltonian => "hamiltonian",
    }
}

/// The systems of the catalog: their names, what they are, their usual size where one can be chosen, and whether starts can be drawn.
#[pyfunction]
pub(crate) fn catalog() -> Vec<(&'static str, String, Option<usize>, bool)> {
    let entries = leastaction::catalog::ALL.iter();
    entries.map(|entry| (entry.name, entry.about(), entry.size, entry.has_samples())).collect()
}

/// A method, in words: name, order, what it is, kind, step, needs, what it keeps, where it is described.
type Words = (&'static str, u32, &'static str, String, String, String, Vec<String>, &'static str);

/// The integration methods.
#[pyfunction]
pub(crate) fn methods() -> Vec<Words> {
    let words = |card: &leastaction::Card| {
        let (kind, sizing, needs) = (card.kind.to_string(), card.sizing.to_string(), card.needs.to_string());
        let keeps = card.keeps.iter().map(ToString::to_string).collect();
        (card.name, card.order, card.about, kind, sizing, needs, keeps, card.cite)
    };
    METHODS.iter().map(words).collect()
}
