//! Where a system comes from: the catalog, a file, or standard input.

use super::Failure;
use leastaction::catalog::{self, Entry};
use leastaction::language::{Plan, Setup};
use leastaction::{Dynamics, Graph, State, Term};

/// A system that was asked for.
pub(super) struct Source<'g> {
    /// Its name: that of the catalog, or of the file.
    pub(super) name: String,
    /// What it is, in a line.
    pub(super) about: String,
    /// What it says.
    pub(super) setup: Setup<'g>,
    catalog: catalog::Setup<'g>,
}

impl<'g> Source<'g> {
    /// Finds a system.
    pub(super) fn open(graph: &'g Graph, system: &str, size: Option<usize>) -> Result<Source<'g>, Failure> {
        let entry = Entry::named(system).map_err(Failure::usage)?;
        let catalog = match size {
            Some(size) => entry.setup_sized(graph, size).map_err(Failure::usage)?,
            None => entry.setup(graph),
        };
        let mut setup = Setup::new(catalog.model.clone());
        let start = catalog.start.iter();
        setup.start =
            start.map(|(name, value)| Term { name: name.clone(), value: graph.number(*value) }).collect();
        setup.plan = Plan { step: Some(catalog.plan.step), until: catalog.plan.until, ..Plan::default() };
        setup.invariants.clone_from(&catalog.invariants);
        setup.drawing = catalog.drawing.clone();
        Ok(Source { name: entry.name.to_owned(), about: entry.about.to_owned(), setup, catalog })
    }

    /// A start drawn at random.
    pub(super) fn sample(&self, dynamics: &mut Dynamics, seed: u64) -> Result<State, Failure> {
        self.catalog.sample(dynamics, seed).map_err(Failure::usage)
    }
}
