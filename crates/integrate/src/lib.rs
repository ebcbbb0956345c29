//! Equations of motion to trajectories.
//!
//! ```text
//! Dynamics ──► Integrator ──► Trajectory, or an observer
//!              a Card (what the method is and keeps), a step
//!              one run loop over Blocks of 1 or 8 states
//! ```
//!
//! - A [`Card`] declares a method: its order, what it keeps, what it needs. [`ALL`] lists them, and every table and test sweep reads it.
//! - A [`Step`] is a method at work. It sees the system as a [`Motion`], which evaluates the field and counts, and advances a [`Block`] over an
//!   [`Interval`]. The same code serves one trajectory and eight lanes, and each lane gets the bits it would get alone.
//! - An [`Integrator`] is a method with a step. Times are start + i·h, never accumulated; changes of the state are summed with
//!   compensation; the last step ends exactly where the run should.
//!
//! To add a method, write one file in `method/` and one line in its list. This crate knows systems and states, never expressions,
//! and allocates nothing in a step; only the first step of a symplectic method that needs Newton's method compiles the field's slopes.

mod block;
mod card;
mod checkpoint;
mod choose;
mod course;
mod dense;
mod density;
mod error;
mod event;
mod fictitious;
mod grid;
mod implicit;
mod integrator;
mod linear;
mod method;
mod pace;
mod quadrature;
mod roots;
mod schedule;
mod step;
mod trajectory;
mod whole;

pub use block::Block;
pub use card::{Card, Keeps, Kind, Needs, Sizing, Stepper};
pub use checkpoint::Checkpoint;
pub use choose::Choice;
pub use dense::{Basis, Polynomial};
pub use density::Density;
pub use error::{CheckpointError, DriftError, Failed, RunError, number};
pub use event::{Crossing, Event, Hit};
pub use integrator::{End, Integrator, Moment, Reason, Sample};
pub use method::{ALL, UnknownMethod};
pub use pace::{Pace, Tolerance};
pub use step::{Interval, Motion, Step, StepError, Work};
pub use trajectory::{Trajectory, energy_scale};
