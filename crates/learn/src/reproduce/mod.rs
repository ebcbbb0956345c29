//! The comparison of M. Finzi, K. A. Wang and A. G. Wilson, *Simplifying Hamiltonian and Lagrangian Neural Networks via Explicit Constraints* (NeurIPS 2020, arXiv:2010.13581), done again:
//! every architecture on every system, judged by rollouts, beside the numbers that were published.

mod cell;
mod paper;
mod report;

pub use cell::{Outcome, ReproduceError};
pub use paper::{Published, published};
pub use report::{curves_csv, efficiency_markdown, markdown, results_csv};

use crate::architecture::Card;
use crate::data::{Dataset, DatasetPlan, Origin, Starts};
use crate::train::OptimizerKind;
use leastaction_simulate::{Overrides, Source};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// A system of the comparison.
#[derive(Debug)]
pub struct Case {
    /// What it is called there.
    pub name: &'static str,
    /// The system of the catalog,
    pub system: &'static str,
    /// and its size.
    pub size: Option<usize>,
    /// The time from sample to sample.
    pub dt: f64,
    /// Values of parameters in place of those of the catalog.
    pub parameters: &'static [(&'static str, f64)],
}

/// The published energy of dipoles has another sign before one of its terms, and its pendulum is less chaotic.
const PUBLISHED_MAGNETS: &[(&str, f64)] = &[("s", -1.0)];

/// Every system, in the order of the tables.
pub const CASES: &[Case] = &[
    Case { name: "1-Pendulum", system: "n-pendulum", size: Some(1), dt: 0.03, parameters: &[] },
    Case { name: "2-Pendulum", system: "n-pendulum", size: Some(2), dt: 0.03, parameters: &[] },
    Case { name: "3-Pendulum", system: "n-pendulum", size: Some(3), dt: 0.03, parameters: &[] },
    Case { name: "5-Pendulum", system: "n-pendulum", size: Some(5), dt: 0.03, parameters: &[] },
    Case { name: "3-CoupledPendulum", system: "coupled-pendulums", size: Some(3), dt: 0.05, parameters: &[] },
    Case {
        name: "MagnetPendulum",
        system: "magnet-pendulum",
        size: None,
        dt: 0.05,
        parameters: PUBLISHED_MAGNETS,
    },
    Case { name: "Gyroscope", system: "gyroscope", size: None, dt: 0.02, parameters: &[] },
    Case { name: "Rotor", system: "rigid-rotor", size: None, dt: 0.05, parameters: &[] },
];

/// By how much starts are moved for the true motion beside predictions.
pub const PERTURBED: f64 = 1e-4;

/// Each trajectory has so many samples.
const SAMPLES: usize = 100;

/// How much is spent.
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    /// How many trajectories are for training, for validation and for tests.
    pub split: [usize; 3],
    /// The units between the layers of each network.
    pub hidden: Vec<usize>,
    /// How weights are changed: at the rate that goes with it.
    pub optimizer: OptimizerKind,
    /// How many steps the optimizer makes.
    pub steps: u64,
    /// How many chunks are in a batch.
    pub batch: usize,
    /// How many seeds each training is done with: 0 and the next ones.
    pub seeds: u64,
    /// How many steps rollouts take from sample to sample.
    pub substeps: usize,
}

impl Budget {
    /// Minutes for all of it: smaller networks, and fewer steps of an optimizer that needs fewer.
    #[must_use]
    pub fn quick() -> Budget {
        Budget {
            split: [800, 100, 50],
            hidden: vec![64; 3],
            optimizer: OptimizerKind::Soap,
            steps: 1000,
            batch: 200,
            seeds: 1,
            substeps: 2,
        }
    }

    /// That of the publication: hours.
    #[must_use]
    pub fn full() -> Budget {
        Budget {
            split: [800, 100, 100],
            hidden: vec![256; 3],
            optimizer: OptimizerKind::AdamW,
            steps: 8000,
            batch: 200,
            seeds: 1,
            substeps: 10,
        }
    }

    /// What it says, line by line: what results go with.
    #[must_use]
    pub fn lines(&self) -> String {
        let Budget {
            split: [training, validation, test],
            hidden,
            optimizer,
            steps,
            batch,
            seeds: _,
            substeps,
        } = self;
        let hidden = hidden.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        format!(
            "trajectories {training}+{validation}+{test}\nhidden {hidden}\noptimizer {optimizer}\nsteps {steps}\nbatch {batch}\nsubsteps {substeps}\n"
        )
    }
}

/// What is to be done, and where results are kept.
#[derive(Clone, Debug)]
pub struct Reproduction {
    /// Datasets, what is learned, and results are kept here, and what is here already is not done again.
    pub folder: PathBuf,
    /// How much is spent.
    pub budget: Budget,
    /// On which systems.
    pub cases: Vec<&'static Case>,
    /// With which architectures.
    pub architectures: Vec<&'static Card>,
    /// In so many threads.
    pub threads: usize,
}

/// What goes on.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// How much of all is done, from 0 to 1.
    pub fraction: f64,
    /// The system.
    pub case: &'a Case,
    /// What is done.
    pub what: &'a str,
}

impl Reproduction {
    /// Does it: of every system, first the true motion from starts that are moved, then each architecture with each seed. Nothing if whoever watches broke it off.
    ///
    /// # Errors
    /// [`ReproduceError`] if something cannot be computed, or what is in the folder is of another comparison.
    pub fn run(
        &self,
        mut watch: impl FnMut(Place<'_>) -> ControlFlow<()>,
    ) -> Result<Option<Vec<Outcome>>, ReproduceError> {
        for folder in ["data", "results", "learned"].map(|name| self.folder.join(name)) {
            std::fs::create_dir_all(&folder)
                .map_err(|source| ReproduceError::Folder { path: folder.clone(), source })?;
        }
        let each = 1 + self.architectures.len() * self.budget.seeds as usize;
        let count = (self.cases.len() * each).max(1) as f64;
        let mut outcomes = Vec::new();
        for &case in &self.cases {
            let done = outcomes.len() as f64;
            let Some(dataset) = self.dataset(case, |part| {
                watch(Place { fraction: (done + 0.5 * part) / count, case, what: "trajectories" })
            })?
            else {
                return Ok(None);
            };
            outcomes.push(self.truth(case, &dataset)?);
            for &architecture in &self.architectures {
                for seed in 0..self.budget.seeds {
                    let done = outcomes.len() as f64;
                    let outcome = self.cell(case, architecture, seed, &dataset, |part, what| {
                        watch(Place { fraction: (done + part) / count, case, what })
                    })?;
                    let Some(outcome) = outcome else { return Ok(None) };
                    outcomes.push(outcome);
                }
            }
        }
        Ok(Some(outcomes))
    }

    /// The data of a system: those in the folder, or new ones; nothing if it was broken off.
    fn dataset(
        &self,
        case: &Case,
        mut watch: impl FnMut(f64) -> ControlFlow<()>,
    ) -> Result<Option<Dataset>, ReproduceError> {
        let path = self.folder.join("data").join(format!("{}.npz", case.name));
        let source = Source::catalog(case.system, case.size)?;
        let plan = DatasetPlan {
            split: self.budget.split,
            samples: SAMPLES,
            dt: Some(case.dt),
            starts: Starts::Catalog,
            seed: 0,
            noise: 0.0,
            tolerance: 1e-11,
            threads: self.threads,
        };
        let parameters = case.parameters.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let overrides = Overrides { parameters, ..Overrides::default() };
        if path.exists() {
            let dataset = Dataset::read(&path)?;
            let same = dataset.origin == Origin::new(&source, &overrides)
                && (dataset.split, dataset.samples, dataset.dt, dataset.seed)
                    == (plan.split, plan.samples, case.dt, plan.seed);
            return match same {
                true => Ok(Some(dataset)),
                false => Err(ReproduceError::Other { path, what: "it has other trajectories".to_owned() }),
            };
        }
        let mut broken = false;
        let dataset = Dataset::generate(&source, &overrides, &plan, |part| {
            let go_on = watch(part);
            broken = go_on.is_break();
            go_on
        });
        if broken {
            return Ok(None);
        }
        let dataset = dataset?;
        dataset.write(&path)?;
        Ok(Some(dataset))
    }

    /// The file of a kind, of a cell.
    fn path(&self, kind: &str, case: &Case, of: &str, ending: &str) -> PathBuf {
        self.folder.join(kind).join(format!("{}-{of}.{ending}", case.name))
    }
}
