//! From a model and its settings to its motion. All front ends use this crate: the command line, Python, the examples, the tests.
//!
//! ```text
//! Source ─► Setup ─┐
//!      Overrides ──┴─► Problem ──────────► Simulation ────────► Run
//!                      system, parameters,  method, step size,   trajectory, record, events,
//!                      inputs, initial      samples, events,     measurements, warnings
//!                      state, end           outputs
//! ```
//!
//! - A [`Source`] is a text: of the catalog, of a file, or any other. It is read into a `Setup`, which can also be built by calls.
//! - [`Overrides`] replace what the text says. By default they replace nothing.
//! - A [`Problem`] is an initial value problem: a compiled system with its parameters and inputs, its start and its end. It keeps the
//!   expressions from which it was compiled, so it can compute more quantities.
//! - A [`Simulation`] is a problem with a method, and with the samples, outputs and events of the text. It borrows nothing, and can be run any number of times.
//! - A [`Run`] is the result, even if the run was interrupted or failed.
//!
//! A problem also has an [equilibrium](Problem::equilibrium) and [modes](Problem::modes).
//!
//! There are other ways to run a problem: by several methods, as [trials](Trial) against a [`Reference`]; as a [`Section`] of many orbits; as a [`Playback`] that is
//! computed ahead of its display; as the ensemble of a study, for which it provides [what is not sampled](Problem::rest).
//!
//! ```
//! use leastaction_expr::Graph;
//! use leastaction_simulate::{Overrides, Source};
//!
//! let pendulum = Source::open("pendulum", None)?;
//! let asked = Overrides { start: vec![("th".to_owned(), 1.0)], until: Some(5.0), ..Overrides::default() };
//! let run = pendulum.simulation(&Graph::new(), &asked)?.run()?;
//! assert!(run.measure()?.energy.drift.relative() < 1e-4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod compare;
mod diagnosis;
mod error;
mod events;
mod global_error;
mod many;
mod measure;
mod meshes;
mod method;
mod overrides;
mod playback;
mod problem;
mod rest;
mod run;
mod sampling;
mod section;
mod sensitivity;
mod simulation;
mod source;
mod takeover;
mod warning;

pub use compare::{Reference, Trial, applies};
pub use diagnosis::{Diagnosis, Others};
pub use error::{Cause, FailedRun, Fault, MeasureError, PrepareError, SourceError, fault_of};
pub use events::EventTable;
pub use global_error::{GlobalError, digits};
pub use measure::{Balanced, Conserved, Energy, Measurements};
pub use meshes::{FieldShare, MeshFileError, MeshSize};
pub use method::Method;
pub use overrides::{AskedEvent, Overrides};
pub use playback::{Playback, PlaybackPlan, Snapshot};
pub use problem::{Named, Problem};
pub use rest::ModesTable;
pub use run::{Reduced, Run};
pub use sampling::SAMPLES;
pub use section::{
    Fan, Level, LevelError, Lost, LostOrbit, Orbit, Points, PointsTable, Section, SectionError, SectionPlan,
    SectionProgress, SectionRun, Surface,
};
pub use sensitivity::{Sensitivity, SensitivityError};
pub use simulation::{Simulation, describe};
pub use source::Source;
pub use warning::Warning;
