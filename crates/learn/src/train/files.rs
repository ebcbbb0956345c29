//! The files of a training: what it goes on from, and what it says on its way.

use super::error::TrainError;
use super::log::write_log;
use super::trainer::{Ending, Trainer};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Files that a training keeps while it runs.
#[derive(Clone, Debug)]
pub struct TrainingFiles {
    /// A checkpoint, from which the same training goes on.
    pub checkpoint: Option<PathBuf>,
    /// The log.
    pub log: Option<PathBuf>,
    /// How long it may be since they were written.
    pub every: Duration,
}

impl TrainingFiles {
    /// Lets a training go on from the checkpoint, if there is one.
    ///
    /// # Errors
    /// [`TrainError`] if it cannot be read, or is of another training.
    pub fn resume(&self, trainer: &mut Trainer) -> Result<(), TrainError> {
        match self.checkpoint.as_ref().filter(|path| path.exists()) {
            Some(path) => trainer.resume(path),
            None => Ok(()),
        }
    }

    /// Trains to the end, or until whoever watches breaks it off, and writes the files every so often and at the end.
    ///
    /// # Errors
    /// [`TrainError`] if predictions run away, or a file cannot be written.
    pub fn run(
        &self,
        trainer: &mut Trainer,
        mut watch: impl FnMut(&Trainer) -> ControlFlow<()>,
    ) -> Result<Ending, TrainError> {
        let mut written = Instant::now();
        let ending = trainer.run(|trainer| {
            let go_on = watch(trainer);
            if written.elapsed() > self.every {
                self.write(trainer)?;
                written = Instant::now();
            }
            Ok(go_on)
        })?;
        self.write(trainer)?;
        Ok(ending)
    }

    fn write(&self, trainer: &Trainer) -> Result<(), TrainError> {
        if let Some(path) = &self.checkpoint {
            trainer.save(path)?;
        }
        match &self.log {
            Some(path) => Ok(write_log(path, trainer.rows())?),
            None => Ok(()),
        }
    }
}
