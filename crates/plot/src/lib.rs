//! Pictures of runs: plots and animations.
//!
//! A [`Scene`] turns a drawing and the positions of a moment into shapes of a plane, whatever they are painted on.

#![forbid(unsafe_code)]

mod scene;
mod view;

pub use scene::{Scene, SceneError, Shape, positions_at};
pub use view::{Bounds, Fit, View};
