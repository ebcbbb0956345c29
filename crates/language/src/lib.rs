//! The `.motion` language: a text that says what moves, how it starts, and how it is run and drawn.

#![forbid(unsafe_code)]

mod drawing;
mod setup;

pub use drawing::{Drawing, Part, Spot};
pub use setup::{Alarm, Plan, Sense, Setup};
