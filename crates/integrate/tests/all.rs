//! All tests of this crate in one program, so that they are built and linked once.
#![allow(clippy::unwrap_used)] // a test may panic

#[macro_use]
mod common;

mod adaptive;
mod adjoint;
mod adjoint_systems;
mod allocations;
mod bodies;
mod brouwer;
mod brouwer_gauss;
mod chain;
mod choice;
mod claims;
mod constrained;
mod damping;
mod density;
mod drift;
mod energies;
mod energy;
mod ensemble;
mod events;
mod fictitious;
mod fields;
mod friction;
mod knots;
mod lanes;
mod large;
mod loops;
mod natural;
mod nonholonomic;
mod odd;
mod orders;
mod projected;
mod published;
mod rattle;
mod resets;
mod resume;
mod runs;
mod singular;
mod spark;
mod stiff;
mod stiff_fields;
mod taylor;
mod thin;
mod ticks;
mod unseen;
mod work;
