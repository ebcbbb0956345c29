//! The chunks that a thread is at, and the trajectory that is next.

use super::chunk::{Chunk, Fate};
use super::work_queue::WorkQueue;
use crate::error::RunError;
use std::ops::Range;
use std::sync::mpsc;

/// Where a thread writes down what becomes of its trajectories.
pub(super) struct OpenChunks<'a> {
    queue: &'a WorkQueue<'a>,
    sender: &'a mpsc::Sender<Result<Chunk, RunError>>,
    /// The length of a state, the number of observables, and that of samples.
    widths: (usize, usize, usize),
    /// The trajectories of the last chunk that were not begun.
    pending: Range<u64>,
    /// Chunks that are not complete, and how many trajectories each lacks.
    open: Vec<(Chunk, usize)>,
}

impl<'a> OpenChunks<'a> {
    pub(super) fn new(
        queue: &'a WorkQueue<'a>,
        sender: &'a mpsc::Sender<Result<Chunk, RunError>>,
        widths: (usize, usize, usize),
    ) -> OpenChunks<'a> {
        OpenChunks { queue, sender, widths, pending: 0..0, open: Vec::new() }
    }

    /// The next trajectory. Who is idle waits for one.
    pub(super) fn next(&mut self, idle: bool) -> Option<u64> {
        if self.pending.is_empty() {
            self.pending = self.queue.next(idle)?;
            let len = (self.pending.end - self.pending.start) as usize;
            let (dimension, observed, sampled) = self.widths;
            self.open.push((Chunk::blank(self.pending.start, len, dimension, observed, sampled), len));
        }
        self.pending.next()
    }

    /// Whether all should stop.
    pub(super) fn is_stopped(&self) -> bool {
        self.queue.is_stopped()
    }

    /// The chunk of a trajectory, and its row there.
    pub(super) fn row(&mut self, index: u64) -> (&mut Chunk, usize) {
        let place = self.place(index);
        let chunk = &mut self.open[place].0;
        let row = (index - chunk.first) as usize;
        (chunk, row)
    }

    /// A trajectory has ended.
    pub(super) fn close(&mut self, index: u64, fate: Fate, why: Option<String>) {
        let place = self.place(index);
        let (chunk, left) = &mut self.open[place];
        let row = (index - chunk.first) as usize;
        chunk.fates[row] = fate;
        if let Some(why) = why {
            chunk.failures.push((index, why));
        }
        *left -= 1;
        if *left == 0 {
            let (chunk, _) = self.open.swap_remove(place);
            // Nobody listens after a break.
            let _ = self.sender.send(Ok(chunk.complete()));
        }
    }

    fn place(&self, index: u64) -> usize {
        let holds = |chunk: &Chunk| (chunk.first..chunk.first + chunk.len() as u64).contains(&index);
        let place = self.open.iter().rposition(|(chunk, _)| holds(chunk));
        place.unwrap_or_else(|| unreachable!("trajectory {index} runs, so its chunk is open"))
    }
}
