//! The `.motion` language: a text that says what moves, how it starts, and how it is run and drawn.

#![forbid(unsafe_code)]

mod density;
mod diagnostic;
mod doubts;
mod drawing;
mod explain;
mod format;
mod include;
mod lines;
mod meshes;
mod part;
mod picture;
mod rates;
mod reader;
mod render;
mod repeat;
mod restate;
mod role;
mod setup;
mod sheet;
mod source_map;
mod statement;
mod text;

pub use density::Density;
pub use diagnostic::{Diagnostic, Errors, File};
pub use doubts::{Doubt, DoubtKind};
pub use drawing::{BodyPart, BodyShape, Drawing, MeshPart, Part, PlacedShape, Spot, Tint};
pub use format::format;
pub use include::whole;
pub use meshes::{MeshField, MovingMesh};
pub use reader::{about, read, read_in};
pub use restate::{RestateError, restate};
pub use setup::{Direction, Event, Limit, NetworkTerm, NetworkWeights, Plan, Setup};
pub use source_map::Locate;
pub use statement::words;
pub use text::text;
