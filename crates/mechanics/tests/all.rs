//! All tests of this crate in one program, so that they are built and linked once.
#![allow(clippy::unwrap_used)] // a test may panic

mod allocation;
mod blocks;
mod bodies;
mod common;
mod consistency;
mod constraints;
mod contradictions;
mod directions;
mod energies;
mod errors;
mod flow;
mod forms;
mod held;
mod inertia;
mod lumped;
mod owned;
mod ports;
mod power;
mod rank;
mod rated;
mod reference;
mod reverse;
mod scale;
mod series;
mod start_errors;
mod states;
mod symmetry;
