//! Reference systems, ready to run: texts in the `.motion` language.
//!
//! ```
//! use leastaction_catalog::Entry;
//! use leastaction_expr::Graph;
//!
//! let graph = Graph::new();
//! let setup = Entry::named("double-pendulum")?.setup(&graph);
//! let mut dynamics = setup.model.system()?.dynamics()?;
//! let start = dynamics.start(&setup.start(&dynamics)?)?;
//! let mut energy = [0.0];
//! dynamics.energy(&[start.t], &start.block(), &mut energy)?;
//! assert!((energy[0] - 1.5 * 9.81).abs() < 1e-13);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod entry;
mod sample;
mod spherical;
mod system;

pub use entry::{Entry, EntryError};
pub use sample::SampleError;
pub use system::ALL;
