//! Texts that say what moves: of the catalog, of a file, or any other.

use crate::error::{Cause, Fault, PrepareError, SourceError};
use crate::overrides::Overrides;
use crate::problem::Problem;
use crate::simulation::Simulation;
use leastaction_catalog::Entry;
use leastaction_expr::Graph;
use leastaction_language::{self as language, Errors, Setup};
use leastaction_mechanics::{Dynamics, State};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// More than this is not read: no text is so long.
const LONGEST: u64 = 16 << 20;

/// A text that says what moves.
#[derive(Clone, Debug)]
pub struct Source {
    /// The name of the system: that of the catalog, or of the file without its ending.
    pub name: String,
    /// What it is called in messages: the name of the system, or the path of the file.
    pub title: String,
    /// What it says, in the `.motion` language.
    pub text: String,
    /// The entry of the catalog, and the size that was asked for.
    entry: Option<(&'static Entry, Option<usize>)>,
    /// The folder that paths in the text are taken from, if it has one.
    folder: Option<PathBuf>,
}

impl Source {
    /// A file if the word is a path, and a system of the catalog otherwise, with a number of pieces where that can be chosen.
    ///
    /// # Errors
    /// [`SourceError`] if there is none, or not of such a size.
    pub fn open(system: &str, size: Option<usize>) -> Result<Source, SourceError> {
        match (Source::is_path(system), size) {
            (true, None) => Source::file(system),
            (true, Some(_)) => Err(SourceError::Size),
            (false, size) => Source::catalog(system, size),
        }
    }

    /// Whether a word is the path of a file rather than the name of a system.
    #[must_use]
    pub fn is_path(system: &str) -> bool {
        system.ends_with(".motion") || system.contains(std::path::is_separator)
    }

    /// A system of the catalog, with a number of pieces where that can be chosen.
    ///
    /// # Errors
    /// [`SourceError::Entry`] if there is none, or not of such a size.
    pub fn catalog(system: &str, size: Option<usize>) -> Result<Source, SourceError> {
        let entry = Entry::named(system)?;
        let text = entry.source(size)?.into_owned();
        let name = entry.name.to_owned();
        Ok(Source { title: name.clone(), name, text, entry: Some((entry, size)), folder: None })
    }

    /// A file.
    ///
    /// # Errors
    /// [`SourceError`] if it cannot be read, or is no text.
    pub fn file(path: &str) -> Result<Source, SourceError> {
        let stem = Path::new(path).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let name = stem.unwrap_or_else(|| "model".to_owned());
        let file = std::fs::File::open(path)
            .map_err(|source| SourceError::Read { title: path.to_owned(), source })?;
        let folder = Path::new(path).parent().unwrap_or(Path::new(""));
        Ok(Source::read(&name, path, file)?.in_folder(folder))
    }

    /// What a reader has, with a name for the system, and one for messages.
    ///
    /// # Errors
    /// As [`Source::file`].
    pub fn read(name: &str, title: &str, from: impl Read) -> Result<Source, SourceError> {
        let mut bytes = Vec::new();
        from.take(LONGEST + 1)
            .read_to_end(&mut bytes)
            .map_err(|source| SourceError::Read { title: title.to_owned(), source })?;
        let text =
            language::text(&bytes).map_err(|source| SourceError::Text { title: title.to_owned(), source })?;
        Ok(Source { title: title.to_owned(), ..Source::text(name, text) })
    }

    /// A text, with a name for the system.
    #[must_use]
    pub fn text(name: &str, text: &str) -> Source {
        Source {
            name: name.to_owned(),
            title: name.to_owned(),
            text: text.to_owned(),
            entry: None,
            folder: None,
        }
    }

    /// The same with a folder from which paths in the text are taken.
    #[must_use]
    pub fn in_folder(self, folder: &Path) -> Source {
        Source { folder: Some(folder.to_owned()), ..self }
    }

    /// The folder from which paths in the text are taken, if it has one.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The text with everything that it includes: it says the same by itself.
    ///
    /// # Errors
    /// [`Errors`] for what cannot be included.
    pub fn whole(&self) -> Result<String, Errors> {
        language::whole(&self.text, self.folder())
    }

    /// The entry of the catalog, if it is of one.
    #[must_use]
    pub fn entry(&self) -> Option<&'static Entry> {
        self.entry.map(|(entry, _)| entry)
    }

    /// What the text says, with values of parameters in place of those in it.
    ///
    /// # Errors
    /// [`Errors`] with everything that is wrong, each at its place.
    pub fn setup<'g>(&self, graph: &'g Graph, parameters: &[(String, f64)]) -> Result<Setup<'g>, Errors> {
        let values: Vec<(&str, f64)> =
            parameters.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        language::read_in(graph, &self.text, &values, self.folder.as_deref(), &[])
    }

    /// The same, with what is asked for besides in expressions.
    fn asked_setup<'g>(&self, graph: &'g Graph, overrides: &Overrides) -> Result<Setup<'g>, Errors> {
        let values: Vec<(&str, f64)> =
            overrides.parameters.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let outputs = overrides.outputs.iter().map(|(_, expression)| expression.as_str());
        let events = overrides.events.iter().map(|event| event.expression.as_str());
        let asked: Vec<&str> = outputs.chain(events).collect();
        language::read_in(graph, &self.text, &values, self.folder.as_deref(), &asked)
    }

    /// The initial value problem, with what is asked for in place of what the text says.
    ///
    /// # Errors
    /// [`PrepareError`] says what is wrong, and whether with the text or with what is asked for.
    pub fn problem<'g>(&self, graph: &'g Graph, overrides: &Overrides) -> Result<Problem<'g>, PrepareError> {
        let mut problem = self.build(graph, overrides)?;
        self.begin(&mut problem, overrides)?;
        Ok(problem)
    }

    /// The problem before it has an initial state, to [begin](Source::begin) as often as one likes: what takes time is done, which depends on parameters, and on expressions that
    /// are asked for.
    ///
    /// ```
    /// use leastaction_expr::Graph;
    /// use leastaction_simulate::{Overrides, Simulation, Source};
    ///
    /// let (pendulum, graph) = (Source::open("pendulum", None)?, Graph::new());
    /// let built = pendulum.build(&graph, &Overrides::default())?;
    /// for th in [1.0, 2.0] {
    ///     let asked = Overrides { start: vec![("th".to_owned(), th)], until: Some(5.0), ..Overrides::default() };
    ///     let mut problem = built.clone();
    ///     pendulum.begin(&mut problem, &asked)?;
    ///     println!("{:?}", Simulation::new(problem, &asked)?.run()?.trajectory.end());
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Source::problem`].
    pub fn build<'g>(&self, graph: &'g Graph, overrides: &Overrides) -> Result<Problem<'g>, PrepareError> {
        overrides.check().map_err(PrepareError::usage)?;
        let before = Instant::now();
        let built = self
            .asked_setup(graph, overrides)
            .map_err(PrepareError::from)
            .and_then(|setup| Problem::build(setup, overrides));
        let mut problem = built.map_err(|error| match error.fault {
            Fault::Usage => error,
            // What is right without values from outside is not the text's fault.
            _ if !overrides.parameters.is_empty() && self.is_right() => {
                PrepareError { fault: Fault::Usage, ..error }
            }
            _ => error,
        })?;
        problem.name.clone_from(&self.name);
        problem.compile = before.elapsed();
        Ok(problem)
    }

    /// Begins a problem that was [built](Source::build) of this text with the same parameters.
    ///
    /// # Errors
    /// As [`Source::problem`].
    pub fn begin(&self, problem: &mut Problem<'_>, overrides: &Overrides) -> Result<(), PrepareError> {
        overrides.check().map_err(PrepareError::usage)?;
        problem.until = overrides.until.unwrap_or(problem.setup.plan.until);
        match overrides.seed {
            Some(seed) => {
                let start = self.draw(&mut problem.dynamics, seed)?;
                problem.begin_at(start);
                Ok(())
            }
            None => problem.begin(overrides),
        }
    }

    /// The run that the text says, with what is asked for in its place.
    ///
    /// # Errors
    /// As [`Source::problem`].
    pub fn simulation(&self, graph: &Graph, overrides: &Overrides) -> Result<Simulation, PrepareError> {
        Simulation::new(self.problem(graph, overrides)?, overrides)
    }

    /// An initial state drawn at random: the same for the same seed.
    ///
    /// # Errors
    /// [`PrepareError`] if the catalog does not say how.
    pub fn draw(&self, dynamics: &mut Dynamics, seed: u64) -> Result<State, PrepareError> {
        let (entry, size) = self.entry.ok_or_else(|| PrepareError::usage(Cause::NoCatalog))?;
        entry.sample(size, dynamics, seed).map_err(PrepareError::usage)
    }

    /// Whether the text is right as it is.
    fn is_right(&self) -> bool {
        let graph = Graph::new();
        self.setup(&graph, &[]).is_ok_and(|setup| Problem::build(setup, &Overrides::default()).is_ok())
    }
}
