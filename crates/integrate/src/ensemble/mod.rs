//! Ensembles: many trajectories of one system, in lanes and threads.
//!
//! ```text
//! indices ─► WorkQueue: chunks to threads ─► LaneGroup: lanes, filled again as they come to their ends ─► Chunk, in order, to the sink
//!                                          Starts: where trajectory number i begins
//! ```
//!
//! A trajectory has the bits that it has alone, whatever is beside it: results do not depend on the number of threads, the width of a
//! group or the length of chunks.

mod chunk;
mod lane_group;
mod open_chunks;
mod work_queue;

pub use chunk::{Chunk, Fate};

use crate::error::RunError;
use crate::integrator::Integrator;
use lane_group::LaneGroup;
use leastaction_compile::LANES;
use leastaction_mechanics::{Dynamics, Observable, StartError};
use open_chunks::OpenChunks;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use work_queue::WorkQueue;

/// Each thread gets so many chunks, if these are not too small, so that all have about as much to do; and so many trajectories are not too few.
const SHARES: u64 = 16;
const FEW: u64 = 64;

/// So many trajectories of a thread fill two groups.
const MANY: u64 = 2 * LANES as u64;

/// The samples of a chunk may have so many numbers: 2 GB.
const CHUNK_ROOM: u64 = 1 << 28;

/// Where a trajectory begins.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Launch {
    /// The state block \[q…, p…\].
    pub state: Vec<f64>,
    /// All parameters, in the system's order.
    pub parameters: Vec<f64>,
}

/// Where trajectories begin.
pub trait Starts: Sync {
    /// Where a trajectory begins, by its number: always the same. The dynamics is for computing with, and may be left with
    /// other parameters. The launch comes with the parameters that the ensemble was given, and a state of zeros.
    ///
    /// # Errors
    /// [`StartError`] if it cannot begin. The trajectory then counts as failed.
    fn launch(&self, index: u64, dynamics: &mut Dynamics, launch: &mut Launch) -> Result<(), StartError>;
}

impl<F> Starts for F
where
    F: Fn(u64, &mut Dynamics, &mut Launch) -> Result<(), StartError> + Sync,
{
    fn launch(&self, index: u64, dynamics: &mut Dynamics, launch: &mut Launch) -> Result<(), StartError> {
        self(index, dynamics, launch)
    }
}

/// Many trajectories of one system, over the same time.
///
/// ```
/// # use leastaction_expr::Graph;
/// # use leastaction_mechanics::Model;
/// use leastaction_integrate::{Ensemble, Integrator, Launch};
/// use std::ops::ControlFlow;
///
/// # let graph = Graph::new();
/// # let mut model = Model::new(&graph);
/// # let x = model.coordinate("x");
/// # model.particle("ball", 1.0, [x]);
/// # model.gravity([-9.81]);
/// let dynamics = model.system()?.dynamics()?;
/// // A thousand balls, thrown upwards with speeds from 0 to 10.
/// let throw = |index: u64, _: &mut _, launch: &mut Launch| {
///     launch.state.copy_from_slice(&[0.0, 0.01 * index as f64]);
///     Ok(())
/// };
/// let mut heights = Vec::new();
/// let throws = Ensemble::new(Integrator::named("verlet", 0.1)?, 0.0, 1.0);
/// throws.run(&dynamics, &throw, 0..1000, |chunk| {
///     heights.extend(chunk.ends().map(|state| state[0]));
///     ControlFlow::Continue(())
/// })?;
/// assert!((heights[500] - (5.0 - 9.81 / 2.0)).abs() < 1e-14);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Ensemble {
    integrator: Integrator,
    start: f64,
    end: f64,
    threads: usize,
    width: usize,
    chunk: Option<u64>,
    observed: Vec<Observable>,
    stop: Arc<AtomicBool>,
}

/// What a run of an ensemble came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Tally {
    /// Trajectories that the sink was shown.
    pub trajectories: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// The steps of all of them.
    pub steps: u64,
    /// Whether it was broken off.
    pub interrupted: bool,
}

impl Ensemble {
    /// At most so many trajectories are in a chunk, unless [`Ensemble::chunk`] says otherwise.
    pub const CHUNK: u64 = 1024;

    /// Trajectories from a time to another. Of what the integrator samples, times are respected: without any, a trajectory is known by its ends and
    /// its events.
    #[must_use]
    pub fn new(integrator: Integrator, start: f64, end: f64) -> Ensemble {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let stop = Arc::new(AtomicBool::new(false));
        Ensemble { integrator, start, end, threads, width: LANES, chunk: None, observed: Vec::new(), stop }
    }

    /// Runs in so many threads. Left alone, in as many as the machine can run at once.
    #[must_use]
    pub fn threads(self, threads: usize) -> Ensemble {
        Ensemble { threads: threads.max(1), ..self }
    }

    /// Runs trajectories one by one in each thread, or eight at a time.
    #[must_use]
    pub fn in_lanes(self, lanes: bool) -> Ensemble {
        Ensemble { width: if lanes { LANES } else { 1 }, ..self }
    }

    /// Shows so many trajectories at a time.
    #[must_use]
    pub fn chunk(self, trajectories: u64) -> Ensemble {
        Ensemble { chunk: Some(trajectories.max(1)), ..self }
    }

    /// Evaluates these observables where each trajectory begins, and where it ends.
    #[must_use]
    pub fn observing(self, observables: &[Observable]) -> Ensemble {
        Ensemble { observed: observables.to_vec(), ..self }
    }

    /// Breaks off soon after this becomes true. Chunks that are not complete then are lost.
    #[must_use]
    pub fn stopped_by(self, stop: Arc<AtomicBool>) -> Ensemble {
        Ensemble { stop, ..self }
    }

    /// Runs trajectories by their numbers, and shows chunks of them in order, in the calling thread. A break ends the run.
    ///
    /// Memory does not grow with the number of trajectories: threads wait for a sink that is slow, and for a chunk that is.
    ///
    /// # Errors
    /// [`RunError`] if no trajectory could be run like this. Its chunk reports what goes wrong in one of them, and the others go on.
    pub fn run(
        &self,
        dynamics: &Dynamics,
        starts: &dyn Starts,
        indices: Range<u64>,
        mut sink: impl FnMut(&Chunk) -> ControlFlow<()>,
    ) -> Result<Tally, RunError> {
        let system = dynamics.system();
        let times = self.integrator.sample_times(system, self.start, self.end)?;
        let count = indices.end.saturating_sub(indices.start);
        let shares = SHARES * self.threads as u64;
        let chunk = self.chunk.unwrap_or_else(|| (count / shares).clamp(FEW, Self::CHUNK));
        let samples = chunk.saturating_mul(times.len() as u64);
        if samples.saturating_mul(system.dimension() as u64) > CHUNK_ROOM {
            return Err(RunError::TooManySamples { samples, dimension: system.dimension() });
        }
        // What is wrong for all is said before any thread begins.
        LaneGroup::new(self, &mut dynamics.clone(), 1, &times)?;
        // With fewer, lanes of a second group would be empty.
        let many = count / self.threads as u64 >= MANY;
        let queue = WorkQueue::new(indices, chunk, self.threads, &self.stop);
        let (sender, chunks) = mpsc::channel();
        let mut tally = Tally::default();
        std::thread::scope(|scope| {
            for _ in 0..self.threads {
                let (sender, queue, times, dynamics) = (sender.clone(), &queue, &times, dynamics.clone());
                scope.spawn(move || {
                    // If this thread cannot go on, no other should wait for it.
                    let _guard = queue.stop_on_panic();
                    self.work(dynamics, queue, starts, times, &sender, many)
                });
            }
            drop(sender);
            let mut waiting = std::collections::BTreeMap::new();
            let mut next = queue.first();
            for chunk in chunks {
                let chunk: Chunk = chunk?;
                waiting.insert(chunk.first, chunk);
                while let Some(chunk) = waiting.remove(&next) {
                    next += chunk.len() as u64;
                    tally.add(&chunk);
                    let broken_off = sink(&chunk).is_break();
                    queue.shown();
                    if broken_off {
                        tally.interrupted = true;
                        queue.stop();
                        return Ok(tally);
                    }
                }
            }
            tally.interrupted |= self.stop.load(Ordering::Relaxed);
            Ok(tally)
        })
    }

    /// What one thread does.
    fn work(
        &self,
        mut dynamics: Dynamics,
        queue: &WorkQueue<'_>,
        starts: &dyn Starts,
        times: &[f64],
        sender: &mpsc::Sender<Result<Chunk, RunError>>,
        many: bool,
    ) {
        let mut open =
            OpenChunks::new(queue, sender, (dynamics.system().dimension(), self.observed.len(), times.len()));
        let mut second = dynamics.clone();
        let group = LaneGroup::new(self, &mut dynamics, self.width, times);
        let ran = group.and_then(|mut group| {
            if !group.can_compile_loop() {
                return group.run_stepwise(starts, &mut open, &mut OpenChunks::next);
            }
            let mut groups = vec![group];
            if many {
                groups.push(LaneGroup::new(self, &mut second, self.width, times)?);
            }
            LaneGroup::run_compiled(&mut groups, starts, &mut open, &mut OpenChunks::next)
        });
        if let Err(error) = ran {
            queue.stop();
            let _ = sender.send(Err(error));
        }
    }
}

impl Tally {
    fn add(&mut self, chunk: &Chunk) {
        self.trajectories += chunk.len() as u64;
        self.failed += chunk.failures.len() as u64;
        self.steps += chunk.steps.iter().sum::<u64>();
    }
}
