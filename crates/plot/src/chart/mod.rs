//! Charts: axes, curves, panels, and figures made of panels.

mod axis;
mod figure;
mod panel;
mod thin;

pub(crate) use axis::{Axis, short};
pub(crate) use figure::{Figure, ending};
pub(crate) use panel::{Over, Panel, Series, Style};
pub(crate) use thin::{thin_curve, thin_series};
