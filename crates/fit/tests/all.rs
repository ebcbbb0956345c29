//! All tests of this crate in one program, so that they are built and linked once.
#![allow(clippy::unwrap_used)] // a test may panic

mod closed;
mod coverage;
mod double_pendulum;
mod hostile;
mod undetermined;
