//! All tests of this crate in one program, so that they are built and linked once.
#![allow(clippy::unwrap_used)] // a test may panic

mod blocks;
mod code;
mod derivatives;
mod differentiation;
mod graph;
mod parse;
mod support;
mod text;
