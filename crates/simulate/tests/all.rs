//! All tests of this crate in one program, so that they are built and linked once.
#![allow(clippy::unwrap_used)] // a test may panic

mod answers;
mod errors;
mod global_error;
mod knots;
mod meshes;
mod names;
mod orbits;
mod runs;
mod sampled;
mod sizes;
mod tolerances;
mod valid;
