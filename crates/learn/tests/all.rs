//! All tests of this crate in one program, so that they are built and linked once.
#![allow(clippy::unwrap_used)] // a test may panic

mod chnn_case;
mod gradients;
mod judging;
mod known;
mod measured;
mod motion;
mod reproduce;
mod training;
