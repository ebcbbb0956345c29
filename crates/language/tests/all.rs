//! All tests of this crate in one program, so that they are built and linked once.
#![allow(clippy::unwrap_used)] // a test may panic

mod bodies;
mod bodies_wrong;
mod docs;
mod doubtful;
mod drawings;
mod friction;
mod functions;
mod fuzz;
mod parts;
mod read;
mod repeat;
mod wrong;
