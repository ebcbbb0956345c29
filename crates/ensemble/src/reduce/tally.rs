//! What is always known: how trajectories ended, and why some failed.

use super::{Summary, View};
use crate::bytes::{Reader, Writer};
use leastaction_integrate::Fate;
use leastaction_output::Column;
use std::any::Any;

/// How trajectories ended.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Overview {
    /// Those that came to their end.
    pub complete: u64,
    /// Those that failed.
    pub failed: u64,
    /// Those that each event ended.
    pub ended: Vec<u64>,
    /// The steps of all.
    pub steps: u64,
    /// The first ones that failed, and why.
    pub failures: Vec<(u64, String)>,
}

/// The largest number of failures that is kept with its reason.
const MOST_REASONS: usize = 16;
/// Reasons are cut at this length.
const LONGEST: usize = 1 << 12;

impl Overview {
    pub(crate) fn new(events: usize) -> Overview {
        Overview { ended: vec![0; events], ..Overview::default() }
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.complete + self.failed + self.ended.iter().sum::<u64>()
    }

    fn keep(&mut self, failure: (u64, String)) {
        let place = self.failures.partition_point(|(index, _)| *index < failure.0);
        self.failures.insert(place, failure);
        self.failures.truncate(MOST_REASONS);
    }
}

impl Summary for Overview {
    fn take(&mut self, view: &View<'_>) {
        for fate in &view.chunk.fates {
            match *fate {
                Fate::Complete => self.complete += 1,
                Fate::Failed => self.failed += 1,
                Fate::Event(place) => self.ended[place] += 1,
            }
        }
        self.steps += view.chunk.steps.iter().sum::<u64>();
        for (index, reason) in view.chunk.failures.iter().take(MOST_REASONS) {
            self.keep((*index, reason.chars().take(LONGEST / 4).collect()));
        }
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        [self.complete, self.failed, self.steps].into_iter().for_each(|whole| bytes.whole(whole));
        self.ended.iter().for_each(|&count| bytes.whole(count));
        bytes.whole(self.failures.len() as u64);
        for (index, reason) in &self.failures {
            bytes.whole(*index);
            bytes.whole(reason.len() as u64);
            bytes.extend(reason.as_bytes());
        }
    }

    fn absorb(&mut self, bytes: &mut Reader<'_>) -> Option<()> {
        self.complete += bytes.whole()?;
        self.failed += bytes.whole()?;
        self.steps += bytes.whole()?;
        for count in &mut self.ended {
            *count += bytes.whole()?;
        }
        for _ in 0..bytes.count(16)? {
            let (index, len) = (bytes.whole()?, bytes.count(1)?);
            let reason = String::from_utf8(bytes.bytes(len)?.to_vec()).ok()?;
            self.keep((index, reason));
        }
        Some(())
    }

    fn columns(&self) -> Vec<Column> {
        Vec::new()
    }

    fn lines(&self) -> Vec<(String, String)> {
        let mut rows = vec![("trajectories".to_owned(), self.count().to_string())];
        if self.failed > 0 {
            rows.push(("failed".to_owned(), self.failed.to_string()));
        }
        rows.extend(
            self.failures.iter().take(3).map(|(index, why)| (format!("trajectory {index}"), why.clone())),
        );
        rows
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
