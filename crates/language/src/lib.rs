//! The `.motion` language: a text that says what moves, how it starts, and how it is run and drawn.

#![forbid(unsafe_code)]

mod bind;
mod diagnostic;
mod drawing;
mod format;
mod lines;
mod picture;
mod reader;
mod setup;
mod statement;

pub use bind::BindError;
pub use diagnostic::{Diagnostic, Errors};
pub use drawing::{Drawing, Part, Spot};
pub use format::format;
pub use reader::{about, read};
pub use setup::{Alarm, Plan, Sense, Setup};
