//! All tests of this crate in one program, so that they are built and linked once.
#![allow(clippy::unwrap_used)] // a test may panic

mod answers;
mod balance;
mod doubts;
mod errors;
mod global_error;
mod kept;
mod knots;
mod meshes;
mod names;
mod networks;
mod orbits;
mod runs;
mod sampled;
mod sensitivity;
mod settable;
mod sizes;
mod starts;
mod tables;
mod tolerances;
mod valid;
