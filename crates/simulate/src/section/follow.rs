//! Orbits are followed by threads, each of which takes the next one; points are put together in the order of the orbits.

use super::{Lost, LostOrbit, Orbit, Points, Section, SectionProgress, SectionRun};
use leastaction_integrate::{Reason, RunError, energy_scale};
use leastaction_mechanics::Dynamics;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Progress is reported, and interruptions are noticed, this often.
const GLANCE: Duration = Duration::from_millis(20);

/// Points are those of another orbit where the energy is off by more than this, relative to the size of its terms at the start.
const ASTRAY: f64 = 1e-2;

/// What threads tell each other.
#[derive(Default)]
struct Shared {
    /// The next orbit.
    next: AtomicUsize,
    /// How many points there are.
    points: AtomicUsize,
    stopped: AtomicBool,
}

/// What was found of an orbit.
struct Followed {
    orbit: usize,
    /// Times, and states one after the other.
    times: Vec<f64>,
    states: Vec<f64>,
    why: Option<Lost>,
    /// Whether it came to its end.
    done: bool,
}

impl Section {
    /// Follows all orbits, and reports progress to a caller, who may interrupt. The points until then are kept.
    ///
    /// # Errors
    /// [`RunError`] if a run like this cannot begin.
    pub fn run(
        &self,
        mut watch: impl FnMut(SectionProgress) -> ControlFlow<()>,
    ) -> Result<SectionRun, RunError> {
        let (before, shared) = (Instant::now(), Shared::default());
        let (sender, receiver) = mpsc::channel();
        let mut all: Vec<Option<Followed>> = self.starts.iter().map(|_| None).collect();
        let (mut done, mut failed) = (0, None);
        thread::scope(|scope| {
            for _ in 0..self.threads.min(self.starts.len()) {
                let (sender, shared) = (sender.clone(), &shared);
                scope.spawn(move || self.follow_next(shared, &sender));
            }
            drop(sender);
            loop {
                match receiver.recv_timeout(GLANCE) {
                    Ok(Ok(followed)) => {
                        done += usize::from(followed.done);
                        let place = followed.orbit;
                        all[place] = Some(followed);
                    }
                    Ok(Err(error)) => {
                        shared.stopped.store(true, Ordering::Relaxed);
                        failed = Some(error);
                    }
                    Err(mpsc::RecvTimeoutError::Timeout) => {}
                    Err(mpsc::RecvTimeoutError::Disconnected) => break,
                }
                let points = shared.points.load(Ordering::Relaxed);
                let fraction = points as f64 / (self.count * self.starts.len()).max(1) as f64;
                if watch(SectionProgress { orbits: done, points, fraction }).is_break() {
                    shared.stopped.store(true, Ordering::Relaxed);
                }
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        let mut dynamics = self.dynamics.clone();
        let mut run = SectionRun {
            points: Points::new(dynamics.system(), &self.names),
            lost: self.lost.clone(),
            drift: 0.0,
            interrupted: (done < self.starts.len()).then_some(done),
            wall: Duration::ZERO,
        };
        for followed in all.into_iter().flatten() {
            self.take(followed, &mut dynamics, &mut run)?;
        }
        run.wall = before.elapsed();
        Ok(run)
    }

    /// Follows one orbit after the other, as long as there are any.
    fn follow_next(&self, shared: &Shared, sender: &mpsc::Sender<Result<Followed, RunError>>) {
        let mut dynamics = self.dynamics.clone();
        while !shared.stopped.load(Ordering::Relaxed) {
            let orbit = shared.next.fetch_add(1, Ordering::Relaxed);
            // Who listens no more has heard of an error.
            if orbit >= self.starts.len() || sender.send(self.follow(orbit, &mut dynamics, shared)).is_err() {
                return;
            }
        }
    }

    /// Follows an orbit to as many points as are asked for.
    fn follow(&self, orbit: usize, dynamics: &mut Dynamics, shared: &Shared) -> Result<Followed, RunError> {
        let start = &self.starts[orbit].state;
        let (mut times, mut states) = (Vec::new(), Vec::new());
        let (mut last, mut dry) = (start.t, false);
        let ended = self.integrator.observe(dynamics, start, self.end, |sample| {
            if sample.event.is_some() {
                times.push(sample.t);
                states.extend_from_slice(sample.block.values());
                last = sample.t;
                shared.points.fetch_add(1, Ordering::Relaxed);
            }
            dry = (sample.t - last).abs() > self.patience;
            let stopped = shared.stopped.load(Ordering::Relaxed);
            Ok(if times.len() >= self.count || dry || stopped {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            })
        });
        let (found, points) = (times.len(), [times.len(), self.count]);
        let mut done = true;
        let why = match ended {
            Ok(_) if found >= self.count => None,
            Ok(_) if dry => Some(Lost::Dry { points, patience: self.patience }),
            Ok(end) if end.reason == Reason::Complete => Some(Lost::Ended { points, t: end.t }),
            Ok(_) => {
                done = false;
                None
            }
            Err(
                error @ (RunError::Step(_)
                | RunError::Eval(_)
                | RunError::NotFinite { .. }
                | RunError::StepTooShort { .. }
                | RunError::OutOfSteps { .. }),
            ) => Some(Lost::Failed { points, error: Box::new(error) }),
            Err(error) => return Err(error),
        };
        Ok(Followed { orbit, times, states, why, done })
    }

    /// Takes down the points of an orbit.
    fn take(
        &self,
        followed: Followed,
        dynamics: &mut Dynamics,
        run: &mut SectionRun,
    ) -> Result<(), RunError> {
        let Followed { orbit, times, states, why, .. } = followed;
        let Orbit { name, state: start } = &self.starts[orbit];
        let scale = energy_scale(dynamics, start)?;
        let mut first = [0.0];
        dynamics.hamiltonian(&[start.t], &start.block(), &mut first)?;
        let (conserved, mut why) = (dynamics.system().conserves_hamiltonian(), why);
        for (found, (&t, y)) in
            times.iter().zip(states.chunks_exact(dynamics.system().dimension())).enumerate()
        {
            let mut energy = [0.0];
            dynamics.hamiltonian(&[t], y, &mut energy)?;
            let off = (energy[0] - first[0]).abs() / scale;
            if conserved && (off.is_nan() || off > ASTRAY) {
                why = Some(Lost::Astray { points: [found, self.count], t });
                break;
            }
            run.points.add(orbit, (t, energy[0]), y, dynamics, self.shown)?;
            run.drift = run.drift.max(off);
        }
        run.lost.extend(why.map(|why| LostOrbit { name: name.clone(), why }));
        Ok(())
    }
}
