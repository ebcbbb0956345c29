//! The `.motion` language: a text that says what moves, how it starts, and how it is run and drawn.

#![forbid(unsafe_code)]

mod atlas;
mod bind;
mod diagnostic;
mod drawing;
mod explain;
mod format;
mod lines;
mod picture;
mod reader;
mod render;
mod setup;
mod statement;
mod text;

pub use atlas::Locate;
pub use bind::BindError;
pub use diagnostic::{Diagnostic, Errors};
pub use drawing::{Drawing, Part, Spot};
pub use format::format;
pub use reader::{about, read};
pub use setup::{Alarm, Plan, Sense, Setup};
pub use text::text;
