//! Equilibria of a system, and its motion about them.
//!
//! - [`equilibrium`] finds where all forces balance, by minimising the energy from a configuration on.
//! - [`modes`] finds the slowest motions about an equilibrium: normal modes with their frequencies, motions that cost no energy, and those that
//!   grow.
//! - [`largest_frequency`] finds the fastest, which limits the steps of explicit methods.
//!
//! All of them work on a [`Dynamics`](leastaction_mechanics::Dynamics) of energies or of a Hamiltonian, with constraints of positions or without, from a pendulum to a mesh:
//! the [`Linearisation`](leastaction_mechanics::Linearisation) of mechanics says whether its stiffness is kept whole, by its nonzeros, or by its products.
//!
//! ```
//! use leastaction_analyze::{equilibrium, modes};
//! use leastaction_expr::Graph;
//! use leastaction_mechanics::Model;
//!
//! // A pendulum, found hanging.
//! let graph = Graph::new();
//! let mut model = Model::new(&graph);
//! let th = model.coordinate("th");
//! model.particle("bob", 1.0, [2.0 * th.sin(), -2.0 * th.cos()]);
//! model.gravity([0.0, -9.81]);
//! let mut dynamics = model.system()?.dynamics()?;
//! let found = equilibrium(&mut dynamics, 0.0, &[1.0])?;
//! assert!(found.q[0].abs() < 1e-12 && found.is_stable());
//! let modes = modes(&mut dynamics, 0.0, &found.q, 1)?;
//! assert!((modes.modes[0].frequency() - (9.81f64 / 2.0).sqrt()).abs() < 1e-10);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! *Invariant:* what is returned was checked: forces do balance, residuals of modes are small. Otherwise there is an error that says how far it
//! came.

#![forbid(unsafe_code)]

mod equilibrium;
mod error;
mod mass;
mod modes;
mod rest;
mod rigid;
mod shifted;
mod spiral;

pub use equilibrium::{Equilibrium, equilibrium};
pub use error::AnalyzeError;
pub use modes::{Mode, ModeKind, Modes, largest_frequency, largest_growth, modes};
pub use rigid::Rigid;
pub use spiral::Spiral;
