//! Where a system comes from: the catalog, a file, or standard input.

use super::Failure;
use leastaction::catalog::{self, Entry, SampleError};
use leastaction::language::{self, Errors, Locate, Setup};
use leastaction::{Dynamics, Equations, Graph, SettingError, State};
use std::fmt::Display;
use std::io::{IsTerminal, Read};
use std::path::Path;

/// More than this is not read: no text is so long.
const LONGEST: u64 = 16 << 20;

/// Why a file cannot be built with a number of pieces.
pub(super) const SIZELESS: &str = "only systems of the catalog have a size (--size)";

/// A text that says what moves.
pub(super) struct Text {
    /// What it is called in messages: the file's path, or `standard input`.
    pub(super) title: String,
    /// Its name: that of the file without its ending.
    pub(super) name: String,
    pub(super) text: String,
}

impl Text {
    /// Reads a file, or standard input for `-`.
    pub(super) fn read(path: &str) -> Result<Text, Failure> {
        let title = if path == "-" { "standard input".to_owned() } else { path.to_owned() };
        let cannot = |error: std::io::Error| Failure::usage(format!("cannot read {title}: {error}"));
        let mut bytes = Vec::new();
        if path == "-" {
            std::io::stdin().take(LONGEST + 1).read_to_end(&mut bytes).map_err(cannot)?;
        } else {
            let file = std::fs::File::open(path).map_err(cannot)?;
            file.take(LONGEST + 1).read_to_end(&mut bytes).map_err(cannot)?;
        }
        let stem = Path::new(path).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let name = stem.filter(|_| path != "-").unwrap_or_else(|| "model".to_owned());
        let read = language::text(&bytes).map(str::to_owned);
        let nothing = Text { title, name, text: String::new() };
        match read {
            Ok(text) => Ok(Text { text, ..nothing }),
            Err(errors) => Err(nothing.wrong(&errors)),
        }
    }

    /// The text of a system of the catalog.
    pub(super) fn of_catalog(system: &str, size: Option<usize>) -> Result<(Text, &'static Entry), Failure> {
        let entry = Entry::named(system).map_err(|error| no_system(system, &error))?;
        let text = entry.source(size).map_err(Failure::usage)?.into_owned();
        Ok((Text { title: entry.name.to_owned(), name: entry.name.to_owned(), text }, entry))
    }

    /// Whether a word on the command line is a file rather than a system of the catalog.
    pub(super) fn is_path(system: &str) -> bool {
        system == "-" || system.ends_with(".motion") || system.contains(std::path::is_separator)
    }

    /// What the text says, with values of parameters in place of those in it.
    pub(super) fn setup<'g>(&self, graph: &'g Graph, set: &[(String, f64)]) -> Result<Setup<'g>, Failure> {
        let values: Vec<(&str, f64)> = set.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        language::read(graph, &self.text, &values).map_err(|errors| self.wrong(&errors))
    }

    /// What is wrong with the text, shown in it.
    pub(super) fn wrong(&self, errors: &Errors) -> Failure {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let colour = std::io::stderr().is_terminal() && !plain;
        Failure::report(errors.render(&self.title, &self.text, colour))
    }
}

/// A system that was asked for.
pub(super) struct Source<'g> {
    /// Its name: that of the catalog, or of the file.
    pub(super) name: String,
    /// What it is, in a line.
    pub(super) about: String,
    /// What it says.
    pub(super) setup: Setup<'g>,
    text: Text,
    /// The entry of the catalog, and the size that was asked for.
    catalog: Option<(&'static Entry, Option<usize>)>,
}

impl<'g> Source<'g> {
    /// Its name, and what it is if it says so.
    pub(super) fn told(&self) -> String {
        if self.about.is_empty() { self.name.clone() } else { format!("{}: {}", self.name, self.about) }
    }

    /// Its text.
    pub(super) fn text(&self) -> &str {
        &self.text.text
    }

    /// Finds a system, with values of parameters in place of its own.
    pub(super) fn open(
        graph: &'g Graph,
        system: &str,
        size: Option<usize>,
        set: &[(String, f64)],
    ) -> Result<Source<'g>, Failure> {
        if Text::is_path(system) {
            if size.is_some() {
                return Err(Failure::usage(SIZELESS));
            }
            return Source::open_file(graph, system, set);
        }
        let (text, entry) = Text::of_catalog(system, size)?;
        Source::of(graph, text, set, Some((entry, size)))
    }

    /// Reads a file, or standard input for `-`.
    pub(super) fn open_file(
        graph: &'g Graph,
        path: &str,
        set: &[(String, f64)],
    ) -> Result<Source<'g>, Failure> {
        Source::of(graph, Text::read(path)?, set, None)
    }

    fn of(
        graph: &'g Graph,
        text: Text,
        set: &[(String, f64)],
        catalog: Option<(&'static Entry, Option<usize>)>,
    ) -> Result<Source<'g>, Failure> {
        let setup = text.setup(graph, set)?;
        let (name, about) = (text.name.clone(), setup.about.clone());
        Ok(Source { name, about, setup, text, catalog })
    }

    /// The equations of motion.
    pub(super) fn equations(&self) -> Result<Equations<'g>, Failure> {
        self.setup.model.equations().map_err(|error| self.wrong(&error))
    }

    /// The equations of motion, compiled, with parameters and inputs.
    pub(super) fn dynamics(
        &self,
        equations: &Equations<'g>,
        set: &[(String, f64)],
    ) -> Result<Dynamics, Failure> {
        let system = equations.system().map_err(|error| self.wrong(&error))?;
        let mut dynamics = system.dynamics().map_err(|error| self.wrong(&error))?;
        // Inputs were held at their values when the text was read.
        let parameters = set.iter().filter(|(name, _)| !system.stated_inputs().contains(name));
        for (name, value) in parameters {
            dynamics.set_parameter(name, *value).map_err(|error| match error {
                SettingError::Unknown { nearest: None, .. } => {
                    let names: Vec<&str> =
                        system.parameters().iter().map(|(name, _)| name.as_str()).collect();
                    let has = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                    Failure::usage(format!("{error} (parameters: {has})"))
                }
                error => Failure::usage(error),
            })?;
        }
        Ok(dynamics)
    }

    /// An error that the text leads to, shown in it.
    pub(super) fn wrong(&self, error: &impl Locate) -> Failure {
        self.text.wrong(&self.setup.explain(error))
    }

    /// What is wrong with the text.
    pub(super) fn report(&self, errors: &Errors) -> Failure {
        self.text.wrong(errors)
    }

    /// An error that a clause of the text's `run` leads to, such as "method".
    pub(super) fn wrong_clause(&self, clause: &str, error: &dyn Display) -> Failure {
        self.text.wrong(&self.setup.explain_clause(clause, error.to_string()))
    }

    /// A start drawn at random.
    pub(super) fn sample(&self, dynamics: &mut Dynamics, seed: u64) -> Result<State, Failure> {
        let Some((entry, size)) = self.catalog else {
            return Err(Failure::usage("only systems of the catalog have random starts (--seed)"));
        };
        entry.sample(size, dynamics, seed).map_err(|error| match error {
            SampleError::NoSampling => {
                let drawn: Vec<&str> =
                    catalog::ALL.iter().filter(|e| e.has_samples()).map(|e| e.name).collect();
                let (name, drawn) = (entry.name, drawn.join(", "));
                Failure::usage(format!(
                    "{name} has no random starts: give one (--start); {drawn} have some (--seed)"
                ))
            }
            error => Failure::usage(error),
        })
    }
}

/// A name that is not in the catalog may be that of a file.
fn no_system(system: &str, error: &catalog::EntryError) -> Failure {
    let file = format!("{system}.motion");
    match [system, &file].into_iter().find(|path| Path::new(path).is_file()) {
        Some(path) => Failure::usage(format!("{error}\nthere is a file of that name: write `./{path}`")),
        None => Failure::usage(error),
    }
}
