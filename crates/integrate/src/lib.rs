//! Equations of motion to trajectories.
//!
//! ```text
//! Dynamics ─► Integrator ─────► Trajectory, or an observer      integrator.rs, trajectory.rs
//!         └─► Ensemble ───────► Chunks of many trajectories     ensemble/
//!   method: a Card, by name or by choice                        card.rs, choose.rs, method/
//!   pace:   a step, a tolerance, or a density                   pace.rs, run/density.rs
//!      │
//!   RunLoop: propose a step ─► evaluate inside ─► take it        run_loop.rs, dense.rs, run/
//!      │    grid of times, samples, events, checkpoints
//!   Step:   Motion, Interval, Block ─► change of the Block      step.rs, block.rs
//!           by one text for numbers and for kernels             workspace.rs, clock.rs, controller.rs
//!           by formula, or compiled as a whole                  method/, compiled_step.rs
//!           or with everything between steps, in lanes          compiled_loop.rs
//!           or as the solution of x = g(x)                      implicit/
//!           coefficients from nodes and weights                 quadrature/
//!   Tape: a recorded run ─► Gradient, by reversed steps         adjoint/
//! ```
//!
//! - A [`Card`] declares a method: its order, what it keeps, what it needs. [`ALL`] lists them, and every table and test sweep reads it.
//! - A [`Step`] is a method at work. It sees the system as a [`Motion`], which evaluates the field and counts, and advances a [`Block`] over an
//!   [`Interval`]. The same code serves one trajectory and eight lanes, and each lane gets the bits it would get alone.
//! - An [`Integrator`] is a method with a step. Times are start + i·h, never accumulated; changes of the state are summed with
//!   compensation; the last step ends exactly where the run should.
//!
//! To add a method, write one file in `method/` and one line in its list. This crate knows systems and states, never expressions,
//! and allocates nothing in a step; only the first step of a symplectic method that needs Newton's method compiles the field's Jacobian.

mod adjoint;
mod block;
mod card;
mod choose;
mod clock;
mod companion;
mod compiled_loop;
mod compiled_step;
mod controller;
mod dense;
mod ensemble;
mod error;
mod implicit;
mod integrator;
mod method;
mod natural;
mod pace;
mod pulse;
mod quadrature;
mod run;
mod run_loop;
mod step;
mod stiff_field;
mod take_over;
mod trajectory;
mod workspace;

pub use adjoint::{AdjointError, Gradient, Seed, Tape};
pub use block::Block;
pub use card::{Card, Keeps, Kind, Needs, Sizing, Stepper};
pub use choose::Choice;
pub use compiled_loop::{StepCode, StepOutputs};
pub use compiled_step::StepBuilder;
pub use dense::{Basis, Polynomial};
pub use ensemble::{Chunk, Ensemble, Fate, Launch, Starts, Tally};
pub use error::{
    CheckpointError, CheckpointFileError, DriftError, Failed, ResetError, RunError, number, rounded,
};
pub use integrator::{Integrator, Moment, Reason, Sample};
pub use method::{ALL, UnknownMethod};
pub use pace::{Absolute, Pace, Tolerance};
pub use pulse::step_for_pulses;
pub use run::End;
pub use run::balance::Balance;
pub use run::checkpoint::{Checkpoint, Kept};
pub use run::checksum::checksum;
pub use run::density::Density;
pub use run::event::{Crossing, Event, Hit};
pub use run::reset::Reset;
pub use step::{
    Compiled, Estimated, Foreseen, Interpolated, Interval, Motion, Step, StepEquations, StepError, Work,
};
pub use stiff_field::longest_stable_step;
pub use trajectory::{Drift, Scale, Trajectory, energy_scale};
