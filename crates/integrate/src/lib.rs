//! Equations of motion to trajectories.

mod block;
mod card;
mod error;
mod grid;
mod implicit;
mod integrator;
mod method;
mod step;
mod trajectory;

pub use block::Block;
pub use card::{Card, Keeps, Kind, Needs};
pub use error::RunError;
pub use integrator::{End, Integrator, Sample};
pub use method::{ALL, UnknownMethod};
pub use step::{Interval, Motion, Step, StepError, Work};
pub use trajectory::{Trajectory, energy_scale};
