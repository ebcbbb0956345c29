//! All tests of this crate in one program, so that they are built and linked once.
#![allow(clippy::unwrap_used)] // a test may panic

mod accuracy;
mod assembly;
mod common;
mod fuzz;
mod kernel;
mod lean;
mod reverse;
