//! What was measured: recordings, the files they come from, and what columns of those mean.

mod reading;
mod recording;
mod sheet;

pub use reading::{Measure, Reading, ReadingError, UnreadError, recordings};
pub use recording::{Channel, Recording, RecordingError};
pub use sheet::{Sheet, SheetError};
