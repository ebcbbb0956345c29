//! What pictures are painted with: marks on a sheet, which becomes an SVG or a PNG.

pub(crate) mod color;
pub(crate) mod font;
pub(crate) mod raster;
mod sheet;

pub(crate) use sheet::{Horizontal, Image, Mark, Sheet, Vertical};
