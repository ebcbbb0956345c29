//! All tests of this crate in one program, so that they are built and linked once.
#![allow(clippy::unwrap_used)] // a test may panic

mod body;
mod clusters;
mod consistent;
mod small;
mod solids;
