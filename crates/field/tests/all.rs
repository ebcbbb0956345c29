//! All tests of this crate in one program, so that they are built and linked once.
#![allow(clippy::unwrap_used)] // a test may panic

mod bodies;
mod common;
mod damped;
mod fields;
mod formats;
mod held;
mod hostile;
mod meshes;
mod page;
mod pairs;
mod reference;
