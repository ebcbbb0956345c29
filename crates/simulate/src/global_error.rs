//! How far the end of a run may be off: its global error, by a [companion](Integrator::companion) that is run beside it.
//!
//! The companion has a thread of its own, and its samples are some of the run's. So there is something to compare wherever the run ends: at its end, at
//! the event that stopped it, or, if it was interrupted or failed, at the last sample that both have.

use crate::error::FailedRun;
use crate::run::Run;
use crate::simulation::Simulation;
use leastaction_integrate::{Crossing, Failed, Integrator, Moment, Pace, Reason, Trajectory, number};
use leastaction_mechanics::Form;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// The companion waits so long, so that a run that is over at once has the machine for itself.
const HEAD_START: Duration = Duration::from_millis(50);
/// A companion has about so many samples, evenly, and so many at the end.
const SAMPLES: usize = 100;
const LAST: usize = 10;
/// The companion may take so many times the steps of the run, and so many more, to be of use.
const MOST: u64 = 2;
const SPARE: u64 = 1000;
/// A run of so few steps has those of the shortest kind that a run looks at, whatever its tolerance.
const FEW: u64 = 250;
/// After an event that ends the run, the companion looks for it for this part of the run.
const BEYOND: f64 = 0.05;
/// Numbers that were off by more than this, relatively, just before the end are not known at the end either, even if the difference there is small by chance.
const CHAOS: f64 = 0.3;
/// A companion with longer steps that is as far off as this may be off by itself: by steps that are too long to be stable.
const LOST: f64 = 0.03;
/// It is not if it keeps the energy to this.
const UNSTABLE: f64 = 0.1;
/// The difference from a coarser companion is so many times the error at least, or the error is noise and the estimate this much too small. In the middle of
/// what theory promises, a difference of 9 times the error, and of noise, in which there is no difference.
const COARSER: f64 = 3.0;
/// And the error so many times the difference from a finer one.
const FINER: f64 = 2.0;
/// More than this, relatively, is no longer proportional to what caused it, and not divided.
const SATURATED: f64 = 0.01;
/// A number smaller than this, relative to the largest of its kind, is measured by that one.
const SMALL: f64 = 0.01;
/// Rounding of a number that nothing else is known of.
const ROUNDING: f64 = 2.0 * f64::EPSILON;

/// By how much the numbers at the end of a run may be off, as far as another run at a different pace can tell.
#[derive(Clone, Debug, PartialEq)]
pub struct GlobalError {
    /// The time at which both runs were compared: the end, unless the run was interrupted, or one of them failed.
    pub t: f64,
    /// The errors of the coordinates.
    pub coordinates: Vec<f64>,
    /// The errors of the velocities; none of a port-Hamiltonian system.
    pub velocities: Vec<f64>,
    /// The errors of the momenta; none of a port-Hamiltonian system.
    pub momenta: Vec<f64>,
    /// The error of the time at the end: none, unless an event ended the run.
    pub time: f64,
    /// The errors of the times of events, in the order of [`Trajectory::crossings`]; infinite where the companion has no such event.
    pub crossings: Vec<f64>,
    /// The largest error of a coordinate or a momentum, relative to the largest size that it had along the run, or to a hundredth of the largest of
    /// its kind.
    pub relative: f64,
    /// The pace of the companion.
    pub companion: Pace,
    /// Whether they were compared where the run ended.
    pub at_end: bool,
    /// By how much what should not change did in a coarser companion, in the order of [`Measurements::conserved`](crate::Measurements); nothing of
    /// a finer one.
    pub drifts: Option<Vec<f64>>,
}

impl GlobalError {
    /// How many digits of the end survive: of the coordinate or momentum that is worst, as large as it is at its largest.
    #[must_use]
    pub fn digits(&self) -> u32 {
        digits(1.0, self.relative)
    }
}

impl fmt::Display for GlobalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.digits() {
            0 => f.write_str("no digit is certain")?,
            1 => f.write_str("1 digit is certain")?,
            digits => write!(f, "{digits} digits are certain")?,
        }
        if !self.at_end && self.relative.is_finite() {
            write!(f, " at t = {}", number(&self.t))?;
        }
        write!(f, ", as far as a second run with {} can tell", self.companion)
    }
}

/// How many digits of a value survive an error.
#[must_use]
pub fn digits(value: f64, error: f64) -> u32 {
    let ratio = (value / error).abs();
    // What is not known has no digits.
    if ratio > 1.0 { ratio.log10().min(16.0) as u32 } else { 0 }
}

/// A run by which another one is judged.
struct Companion {
    pace: Pace,
    /// Whether its errors are the larger ones.
    coarse: bool,
    trajectory: Trajectory,
}

/// What the companion is told of the run.
#[derive(Default)]
struct Progress {
    ended: Mutex<Option<Ended>>,
    changed: Condvar,
}

/// How a run ended, and what is therefore asked of its companion.
#[derive(Clone, Copy)]
struct Ended {
    steps: u64,
    /// The companion need not go beyond this.
    until: f64,
}

impl Progress {
    fn tell(&self, ended: Ended) {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(ended);
        self.changed.notify_all();
    }

    fn ended(&self) -> Option<Ended> {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the run has ended, or has had its head start.
    fn wait(&self) {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.changed.wait_timeout_while(ended, HEAD_START, |ended| ended.is_none()));
    }
}

impl Simulation {
    /// Runs as [`Simulation::run_watched`] does, with the same bits, and has a companion run beside it by which the error of the end is judged. Both stop when
    /// `interrupted` becomes true.
    ///
    /// # Errors
    /// As [`Simulation::run`].
    pub fn run_judged(
        &self,
        interrupted: &AtomicBool,
        watch: impl FnMut(&mut Moment<'_, '_>) -> ControlFlow<()>,
    ) -> Result<Run, FailedRun> {
        let progress = Progress::default();
        let (ran, companion) = std::thread::scope(|scope| {
            let companion = scope.spawn(|| {
                progress.wait();
                self.companion(self.integrator.companion(), interrupted, &progress)
            });
            let ran = self.run_watched(watch);
            progress.tell(match &ran {
                Ok(run) => self.ended(run),
                Err(FailedRun { run: Some(run), .. }) => self.ended(run),
                Err(FailedRun { run: None, .. }) => Ended { steps: 0, until: self.start.t },
            });
            (ran, companion.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        let judged = |mut run: Run| {
            run.error = self.judge(&run, companion, interrupted, &progress);
            run
        };
        match ran {
            Ok(run) => Ok(judged(run)),
            Err(FailedRun { error, run }) => {
                Err(FailedRun { error, run: run.map(|run| Box::new(judged(*run))) })
            }
        }
    }

    fn ended(&self, run: &Run) -> Ended {
        let (trajectory, way) = (&run.trajectory, self.until - self.start.t);
        let t = trajectory.end().t;
        let until = match trajectory.reason() {
            Reason::Event(_) | Reason::Accumulated(_) => {
                t + BEYOND * (t - self.start.t) + 1e-3 * BEYOND * way
            }
            Reason::Complete | Reason::Interrupted => t,
        };
        Ended { steps: trajectory.work().steps, until }
    }

    /// A run by another integrator, for as long as it is of use; nothing if it cannot begin.
    fn companion(
        &self,
        (integrator, coarse): (Integrator, bool),
        interrupted: &AtomicBool,
        progress: &Progress,
    ) -> Option<Companion> {
        let integrator = integrator.at(&self.common_times());
        let (mut dynamics, way) = (self.dynamics.clone(), self.until - self.start.t);
        let ran = integrator.run_watched(&mut dynamics, &self.start, self.until, |moment| {
            let over = progress.ended().is_some_and(|ended| {
                moment.work().steps > MOST * ended.steps + SPARE || (moment.t() - ended.until) * way > 0.0
            });
            match over || interrupted.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        let trajectory = match ran {
            Ok(trajectory) => Some(trajectory),
            Err(Failed { trajectory, .. }) => trajectory.map(|kept| *kept),
        };
        trajectory.map(|trajectory| Companion { pace: integrator.pace().clone(), coarse, trajectory })
    }

    /// By how much what should not change did along a trajectory.
    pub(crate) fn drifts(&self, trajectory: &Trajectory) -> Option<Vec<f64>> {
        let mut dynamics = self.dynamics.clone();
        let energy = dynamics.system().conserves_energy().then(|| trajectory.energy_drift(&mut dynamics));
        let others: Vec<_> =
            self.conserved.iter().map(|(_, what)| trajectory.drift(&mut dynamics, *what)).collect();
        energy.into_iter().chain(others).collect::<Result<_, _>>().ok()
    }

    /// Whether longer steps were not too long for a companion, as far as its energy can tell.
    fn is_stable(&self, companion: &Companion) -> bool {
        let mut dynamics = self.dynamics.clone();
        let drift = companion.trajectory.energy_drift(&mut dynamics);
        dynamics.system().conserves_energy() && drift.is_ok_and(|drift| drift < UNSTABLE)
    }

    /// Some of the times at which the run is sampled, if they are known beforehand, and the end.
    fn common_times(&self) -> Vec<f64> {
        let (start, end) = (self.start.t, self.until);
        let timed = self.integrator.clone().timed(start, end);
        let times = timed.and_then(|timed| timed.sample_times(self.dynamics.system(), start, end));
        // Too many samples for memory: the end will do.
        let times = times.unwrap_or_default();
        let apart = times.len().div_ceil(SAMPLES).max(1);
        let chosen = |&(i, _): &(usize, &f64)| i % apart == 0 || i + LAST >= times.len();
        let mut some: Vec<f64> = times.iter().enumerate().filter(chosen).map(|(_, t)| *t).collect();
        if some.last() != Some(&end) {
            some.push(end);
        }
        some
    }

    /// The error of a run, by a companion, or by more of them where one cannot tell.
    fn judge(
        &self,
        run: &Run,
        companion: Option<Companion>,
        interrupted: &AtomicBool,
        progress: &Progress,
    ) -> Option<GlobalError> {
        // A method that took over is judged by itself.
        let integrator = &run.simulation.integrator;
        let end = run.trajectory.end().t;
        let error = companion.as_ref().and_then(|companion| run.compare(companion));
        let longer = matches!(integrator.pace(), Pace::Step(_) | Pace::Density(_));
        let unstable = || companion.as_ref().is_none_or(|companion| !self.is_stable(companion));
        let unsure = match &error {
            Some(error) => {
                !error.at_end && !run.is_interrupted() || longer && error.relative > LOST && unstable()
            }
            None => true,
        };
        let again = |integrator: Integrator| {
            run.compare(&self.companion((integrator, false), interrupted, progress)?)
        };
        if unsure {
            let finer = again(integrator.finer());
            return match (error, finer) {
                (Some(coarse), Some(fine)) => Some(if coarse.at_end && !fine.at_end { coarse } else { fine }),
                (coarse, fine) => fine.or(coarse),
            };
        }
        // Steps that no tolerance but the length of the run has made as short as they are: the companion has the same ones.
        let steps = run.trajectory.work().steps;
        let same = companion.is_some_and(|companion| companion.trajectory.work().steps == steps);
        if !longer && same && steps <= FEW && steps > 0 {
            let shorter = (end - self.start.t).abs() / (1.5 * steps as f64);
            let second = again(integrator.finer().longest_step(shorter));
            return match (error, second) {
                (Some(one), Some(other)) => Some(if other.relative > one.relative { other } else { one }),
                (one, other) => one.or(other),
            };
        }
        error
    }
}

impl Run {
    /// How far the run is from another one.
    fn compare(&self, companion: &Companion) -> Option<GlobalError> {
        let (simulation, own, other) = (&self.simulation, &self.trajectory, &companion.trajectory);
        let system = simulation.dynamics.system();
        let event = matches!(own.reason(), Reason::Event(_) | Reason::Accumulated(_));
        let mut same_end = event && own.reason() == other.reason();
        if let Reason::Accumulated(_) = own.reason() {
            // One may end a bounce sooner.
            same_end &= own.crossings().len() == other.crossings().len();
        }
        // Pairs of samples at the same times, the last ones first; and of the events that ended both runs.
        let mut common = Vec::new();
        let (mut ours, mut theirs) = (own.samples().rev().peekable(), other.samples().rev().peekable());
        if same_end {
            common.extend(ours.next().zip(theirs.next()));
        }
        let way = (simulation.until - simulation.start.t).signum();
        while let (Some(one), Some(two)) = (ours.peek(), theirs.peek()) {
            match ((one.0 - two.0) * way).partial_cmp(&0.0) {
                Some(std::cmp::Ordering::Equal) => common.extend(ours.next().zip(theirs.next())),
                Some(std::cmp::Ordering::Greater) => drop(ours.next()),
                _ => drop(theirs.next()),
            }
            if common.len() >= LAST {
                break;
            }
        }
        let &((t, one), (other_t, two)) = common.first()?;
        let mut errors: Vec<f64> = one.iter().zip(two).map(|(a, b)| (a - b).abs()).collect();
        let mut sizes = vec![0.0_f64; one.len()];
        for (_, block) in own.samples() {
            sizes.iter_mut().zip(block).for_each(|(size, x)| *size = size.max(x.abs()));
        }
        // As tolerances do: what is small is measured by a hundredth of the largest of its kind.
        for kind in [0..system.degrees(), system.degrees()..one.len()] {
            let largest = sizes[kind.clone()].iter().fold(0.0, |m: f64, x| m.max(*x));
            sizes[kind].iter_mut().for_each(|size| *size = size.max(SMALL * largest));
        }
        // Momenta of what rests are the rounding errors of forces.
        if system.facts().form != Form::Ports {
            let mut pushes = vec![0.0; system.degrees()];
            let start = &simulation.start;
            if simulation.dynamics.clone().kick(&[start.t], &start.block(), &mut pushes).is_ok() {
                let push = pushes.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
                let rounding = ROUNDING * push * (simulation.until - start.t).abs();
                let momenta = &mut sizes[system.degrees()..];
                momenta.iter_mut().filter(|_| rounding.is_finite()).for_each(|p| *p = p.max(rounding));
            }
        }
        for ((_, one), (_, two)) in &common {
            for (i, error) in errors.iter_mut().enumerate() {
                let before = (one[i] - two[i]).abs();
                if before > CHAOS * sizes[i] {
                    *error = error.max(CHAOS * before);
                }
            }
        }
        let share = |error: f64, size: f64| match (error < SATURATED * size, companion.coarse) {
            (true, true) => error / COARSER,
            (true, false) => error * FINER,
            (false, _) => error,
        };
        errors.iter_mut().zip(&sizes).for_each(|(error, size)| *error = share(*error, *size));
        let larger = |a: f64, b: f64| if a > b || a.is_nan() { a } else { b };
        for (error, x) in errors.iter_mut().zip(one) {
            *error = larger(*error, ROUNDING * x.abs());
        }
        let mut velocities = Vec::new();
        if system.facts().form != Form::Ports {
            let mut dynamics = simulation.dynamics.clone();
            let mut at = |t: f64, block: &[f64]| {
                let mut v = vec![0.0; system.degrees()];
                dynamics.velocities(&[t], block, &mut v).ok().map(|()| v)
            };
            let (ours, theirs) = (at(t, one)?, at(other_t, two)?);
            let mut largest = vec![0.0_f64; ours.len()];
            for (t, block) in own.samples().step_by(own.len().div_ceil(SAMPLES)) {
                largest.iter_mut().zip(at(t, block)?).for_each(|(m, v)| *m = m.max(v.abs()));
            }
            let off =
                |((a, b), size): ((&f64, &f64), &f64)| share((a - b).abs(), *size).max(ROUNDING * a.abs());
            velocities = ours.iter().zip(&theirs).zip(&largest).map(off).collect();
            // A velocity is off by as much of itself as the momentum that it belongs to, if that is by chance less. The noise of a momentum that is none says nothing:
            // coordinates of bodies share their masses, so that one may move without it.
            let momenta = errors.iter().zip(&sizes).zip(one).skip(system.degrees());
            for (velocity, (((error, size), p), v)) in velocities.iter_mut().zip(momenta.zip(&ours)) {
                if *error > SATURATED * size && *p != 0.0 {
                    *velocity = velocity.max((error / p * v).abs());
                }
            }
        }
        // Momenta of a motion that would not move anything by a rounding in all of the run are noise, and have no digits to lose.
        let largest = |numbers: &[f64]| numbers.iter().fold(0.0, |m: f64, x| larger(m, x.abs()));
        let span = (t - simulation.start.t).abs();
        let noise = !velocities.is_empty()
            && span * largest(&velocities) <= ROUNDING * largest(&sizes[..system.degrees()]);
        let judged = if noise { system.degrees() } else { errors.len() };
        let relative =
            errors.iter().zip(&sizes).map(|(error, size)| if *size > 0.0 { error / size } else { 0.0 });
        let relative = relative.take(judged).fold(0.0, larger);
        let momenta = errors.split_off(system.degrees().min(errors.len()));
        let at_end = if event { same_end } else { t == own.end().t };
        Some(GlobalError {
            t,
            coordinates: errors,
            velocities,
            momenta,
            time: if same_end { (t - other_t).abs().max(ROUNDING * t.abs()) } else { 0.0 },
            crossings: crossings(own, other),
            relative: if event && !same_end { f64::INFINITY } else { relative },
            companion: companion.pace.clone(),
            at_end,
            drifts: companion.coarse.then(|| simulation.drifts(other)).flatten(),
        })
    }
}

/// By how much the times of a run's events differ from those of another one: the n-th of a kind from the n-th.
fn crossings(own: &Trajectory, other: &Trajectory) -> Vec<f64> {
    let mut others: HashMap<(usize, bool), VecDeque<f64>> = HashMap::new();
    for crossing in other.crossings() {
        others.entry((crossing.event, crossing.rising)).or_default().push_back(crossing.t);
    }
    let mut twin = |crossing: &Crossing| others.get_mut(&(crossing.event, crossing.rising))?.pop_front();
    let error = |crossing: &Crossing| {
        let rounding = ROUNDING * crossing.t.abs();
        twin(crossing).map_or(f64::INFINITY, |t| (t - crossing.t).abs().max(rounding))
    };
    own.crossings().iter().map(error).collect()
}
