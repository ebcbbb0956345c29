//! Who runs which trajectories: chunks, handed out to threads in order.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// So many chunks per thread may be under way, or wait for one before them.
const AHEAD: u64 = 8;

/// Threads look this often whether they should stop.
const PATIENCE: Duration = Duration::from_millis(50);

/// Hands chunks to threads, not too far ahead of what was shown.
pub(super) struct WorkQueue<'a> {
    indices: Range<u64>,
    chunk: u64,
    ahead: u64,
    stop: &'a AtomicBool,
    stopped: AtomicBool,
    state: Mutex<State>,
    moved: Condvar,
}

struct State {
    handed_out: u64,
    shown: u64,
}

impl<'a> WorkQueue<'a> {
    pub(super) fn new(
        indices: Range<u64>,
        chunk: u64,
        threads: usize,
        stop: &'a AtomicBool,
    ) -> WorkQueue<'a> {
        let state = Mutex::new(State { handed_out: 0, shown: 0 });
        let (ahead, stopped) = (AHEAD * threads as u64, AtomicBool::new(false));
        WorkQueue { indices, chunk, ahead, stop, stopped, state, moved: Condvar::new() }
    }

    /// The number of the first trajectory.
    pub(super) fn first(&self) -> u64 {
        self.indices.start
    }

    /// The trajectories of the next chunk. If there may be one later, who has nothing else to do waits for it.
    pub(super) fn next(&self, idle: bool) -> Option<Range<u64>> {
        let mut state = self.lock();
        loop {
            let first = self.indices.start.saturating_add(state.handed_out.saturating_mul(self.chunk));
            if first >= self.indices.end || self.is_stopped() {
                return None;
            }
            if state.handed_out < state.shown + self.ahead {
                state.handed_out += 1;
                return Some(first..first.saturating_add(self.chunk).min(self.indices.end));
            }
            if !idle {
                return None;
            }
            let waited = self.moved.wait_timeout(state, PATIENCE);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// A chunk was shown.
    pub(super) fn shown(&self) {
        self.lock().shown += 1;
        self.moved.notify_all();
    }

    /// All should stop.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        self.moved.notify_all();
    }

    /// Whether all should stop.
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.stopped.load(Ordering::Relaxed)
    }

    /// Stops all if the thread panics.
    pub(super) fn stop_on_panic(&self) -> StopOnPanic<'_, 'a> {
        StopOnPanic(self)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stops all when it is dropped by a panic.
pub(super) struct StopOnPanic<'c, 'a>(&'c WorkQueue<'a>);

impl Drop for StopOnPanic<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_the_indices_and_wait_for_the_sink() {
        let stop = AtomicBool::new(false);
        let queue = WorkQueue::new(5..30, 2, 1, &stop);
        let mut chunks: Vec<_> = (0..AHEAD).map_while(|_| queue.next(false)).collect();
        assert_eq!(chunks.len() as u64, AHEAD);
        assert_eq!(queue.next(false), None, "the sink has seen none");
        while let Some(chunk) = {
            queue.shown();
            queue.next(false)
        } {
            chunks.push(chunk);
        }
        assert_eq!(chunks.len(), 13);
        assert!(chunks.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert_eq!((chunks[0].start, chunks[12].clone()), (5, 29..30));
    }

    #[test]
    fn a_stop_is_heard() {
        let stop = AtomicBool::new(false);
        let queue = WorkQueue::new(0..u64::MAX, 1024, 1, &stop);
        assert_eq!(queue.next(true), Some(0..1024));
        stop.store(true, Ordering::Relaxed);
        assert!(queue.next(true).is_none() && queue.is_stopped());
    }
}
