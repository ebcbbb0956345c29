//! Pictures of runs: plots and animations.
//!
//! A [`Plot`] is a figure of a record, a [`Section`] one of points where orbits pass a surface, a [`Comparison`] one of methods, [`Several`] one of what was chosen of several runs, a [`Portrait`] one of many orbits, a [`FittedPlot`] one of measurements, a [`Map`] one of
//! values over a plane, [`Histograms`] of how often values occur, and [`Curves`] of errors and losses; each is written as SVG or PNG. A [`Scene`] turns a drawing and the positions of a moment into shapes of a plane, whatever they are painted on.

#![forbid(unsafe_code)]

mod animation;
mod chart;
mod chosen;
mod comparison;
mod curves;
mod error;
mod fitted;
mod histogram;
mod map;
mod modes;
mod moment;
mod motion;
mod paper;
mod portrait;
mod scene;
mod section;
mod several;
mod solid;
mod view;

pub use animation::{Animation, Film, Tempo, ffmpeg};
pub use comparison::{Comparison, Contender};
pub use curves::{Curve, CurveChart, Curves};
pub use error::PictureError;
pub use fitted::{FittedCurve, FittedPlot};
pub use histogram::{Bars, Histograms};
pub use map::Map;
pub use modes::{MOST_MODES, ModePicture, ModesPlot};
pub use moment::{Moment, positions_at};
pub use motion::{Energy, Plot};
pub use portrait::{Portrait, PortraitChart};
pub use scene::{Scene, SceneError, Shape, Solid};
pub use section::{Orbit, Section};
pub use several::{Choice, Several};
pub use solid::{Pigment, Relief, Speck};
pub use view::{Bounds, Fit, View};
