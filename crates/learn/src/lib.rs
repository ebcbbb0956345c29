//! Energies that are learned from data.
//!
//! ```text
//! Dataset ─► Trainer ──────────────────────────► Learned ─► rollouts, errors
//! data/      train/                              a file      evaluate/
//!            Objective: shares of a batch, on threads
//!            Predictor: architecture/ + step/, compiled to chain/
//! ```
//!
//! - A [`Dataset`] has trajectories of one system, and its text.
//! - A [`Recipe`] says what is assumed and what is learned: an [`Architecture`], one file each, writes expressions and says where networks stand; a step is written around its rates, and both
//!   become a [`Predictor`], made of [`chain`]s of programs and networks. Their derivatives follow; none is written by hand.
//! - An [`Objective`] is the mean loss of predictions over a batch, with its gradient by all parameters.
//! - A [`Trainer`](train::Trainer) makes it small, and [`Learned`] is what it leaves behind, which [`evaluate`] judges; [`reproduce`] compares all of them.
//!
//! *Invariant:* the same data, recipe and plan lead to the same bits, whatever the number of threads, and however often a training is broken off. Nothing allocates in a step but what a batch
//! of another size needs.

#![forbid(unsafe_code)]

pub mod architecture;
pub mod chain;
pub mod data;
pub mod evaluate;
mod learned;
mod motion;
mod objective;
mod parameters;
mod predictor;
mod recipe;
pub mod reproduce;
mod share;
pub mod step;
pub mod train;

pub use architecture::Architecture;
pub use chain::ChainError;
pub use data::{DataError, Dataset, DatasetPlan, GenerateError, Split};
pub use learned::{Learned, LearnedError};
pub use objective::{Chunks, Objective};
pub use parameters::{Layout, NetworkId, NetworkLayout, NumberId, NumberLayout};
pub use predictor::{Predictor, StepWriter};
pub use recipe::{Recipe, RecipeError, architecture_named, step_named};
pub use share::Loss;
