//! Energies to equations of motion.

mod blueprint;
mod check;
mod definitions;
mod dynamics;
mod engine;
mod equations;
mod error;
mod input;
mod inverse;
mod lagrangian;
mod matrices;
mod matrix;
mod model;
mod ports;
mod print;
mod probe;
mod solve;
mod state;
mod symmetry;
mod system;

pub use dynamics::Dynamics;
pub use equations::{Equations, Statement};
pub use error::{EvalError, ModelError, SettingError, StartError, TableError};
pub use input::{Input, Table};
pub use lagrangian::Lagrangian;
pub use matrix::Symmetric;
pub use model::{Model, Particle, Term};
pub use ports::Ports;
pub use state::State;
pub use symmetry::Conserved;
pub use system::{Facts, Form, Place, Quantity, Share, ShareKind, System};
