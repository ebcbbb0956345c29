//! Many motions of one system.
//!
//! ```text
//! Sampling ─► Launcher ─► Ensemble ─────────────► Chunk ─► Reduction ─► Results
//! sample/     starts      (crates/integrate)               reduce/      results.rs
//!                         lanes and threads                   │
//!                                                           Store: files of chunks, shards   store/
//! ```
//!
//! - A [`Sampling`] says what is drawn for each trajectory: coordinates, velocities, momenta or parameters, from distributions, grids, sequences or a file. The
//!   samples of trajectory number i depend only on i and on the seed.
//! - A [`Reduction`] is a result that is kept: statistics, quantiles, histograms, maps over a grid, or rows for tables.
//! - A [`Study`] is both, with an integrator. It runs in bounded memory, and may keep its chunks in a directory, to continue after an interruption, or to
//!   run shards on many machines, whose results are [merged](Results::merge) to those of the whole, bit for bit.

#![forbid(unsafe_code)]

mod bytes;
mod exact;
mod random;
pub mod reduce;
mod results;
mod run;
pub mod sample;
pub mod store;
mod text;

pub use bytes::{Reader, Writer};
pub use reduce::{
    ALL as REDUCTIONS, Bins, Histogram, Histogram2, Map, Moments, Overview, Quantiles, ReduceError,
    Reduction, Stats, Summary, Values,
};
pub use results::{Finding, Results};
pub use run::{Progress, Study, StudyError};
pub use sample::{ALL as DISTRIBUTIONS, Launcher, Rest, SampleError, SampleFileError, Sampling};
pub use store::{Manifest, ManifestError, Shard, ShardError, Sheet, Store, StoreError};
