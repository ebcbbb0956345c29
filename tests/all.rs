//! All tests of this crate in one program, so that they are built and linked once.
#![allow(clippy::unwrap_used)] // a test may panic

mod choosing;
mod command_line;
mod compare;
mod ensemble;
mod equations;
mod fit;
mod front_page;
mod golden;
mod learn;
mod library;
mod motion;
mod pages;
mod pictures;
mod rest;
mod section;
