//! All tests of this crate in one program, so that they are built and linked once.
#![allow(clippy::unwrap_used)] // a test may panic

mod classics;
mod common;
mod constrained;
mod lanes;
mod methods;
mod oscillations;
mod planets;
mod rigid;
mod samples;
mod sweep;
mod texts;
mod values;
