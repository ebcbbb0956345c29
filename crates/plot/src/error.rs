//! Why there is no picture.

use crate::scene::SceneError;
use leastaction_output::FileError;
use std::path::PathBuf;

/// Why a picture cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// There are no samples.
    #[error("there is nothing to show: the run has no samples")]
    Empty,
    /// No number of what is shown is finite.
    #[error("there is nothing to show: no number of {what} is finite")]
    NotFinite {
        /// What.
        what: String,
    },
    /// Values over as many dimensions cannot be shown.
    #[error("values over {found} grids cannot be shown: a map has one or two")]
    Dimensions {
        /// How many there are.
        found: usize,
    },
    /// The drawing does not fit the model.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The name of the file does not say what kind of picture it is.
    #[error("`{}` should end in {endings}", path.display())]
    Ending {
        /// The file.
        path: PathBuf,
        /// What it can end in.
        endings: &'static str,
    },
    /// A picture cannot be as large as this.
    #[error("a picture cannot have {width} by {height} pixels")]
    Size {
        /// The width.
        width: u32,
        /// The height.
        height: u32,
    },
    /// A film would be too long.
    #[error(
        "a film at {speed} units of time in a second would have {frames} frames, and {most} is the most: let it be faster"
    )]
    Frames {
        /// The speed that was asked for.
        speed: f64,
        /// How many frames that makes.
        frames: f64,
        /// How many there may be.
        most: usize,
    },
    /// What is in a plane is seen from one side.
    #[error("the drawing is in a plane, which is seen as it is: only what is in space has a view")]
    Flat,
    /// The painter refused.
    #[error("the picture cannot be painted: {0}")]
    Painting(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// It cannot be made a PNG.
    #[error("the picture cannot be made a PNG: {0}")]
    Png(#[from] png::EncodingError),
    /// It cannot be made a GIF.
    #[error("the animation cannot be made a GIF: {0}")]
    Gif(#[from] gif::EncodingError),
    /// There is no ffmpeg.
    #[error("a video needs the program `ffmpeg`, which was not found: install it, or write a .gif")]
    NoFfmpeg,
    /// It refused.
    #[error("ffmpeg made no video ({status}): {message}")]
    Ffmpeg {
        /// How it ended.
        status: String,
        /// What it said.
        message: String,
    },
    /// A file cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
}
