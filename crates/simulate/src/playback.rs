//! A motion as snapshots at even times, which a thread computes ahead of what is shown. Memory is bounded on both sides.

use crate::meshes::densities;
use crate::problem::Problem;
use leastaction_integrate::{Integrator, Pace, Reason, RunError, Sample, energy_scale};
use leastaction_language::Density;
use leastaction_mechanics::{Dynamics, EvalError, Form, Observable, State};
use leastaction_output::Held;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How many snapshots are kept of what was shown, and computed ahead.
const PAST: usize = 8192;
const AHEAD: usize = 1200;
/// How many snapshots may wait for the one who shows them.
const WAITING: usize = 256;
/// A motion without end has so many snapshots.
const ENDLESS: f64 = 1e9;
/// And no more steps than this, which are still told apart.
const STEPS: u64 = 1 << 52;

/// The system at a time.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Snapshot {
    /// The time.
    pub t: f64,
    /// The coordinates, those last that constraints hold.
    pub coordinates: Vec<f64>,
    /// The velocities; none for a port-Hamiltonian system.
    pub velocities: Vec<f64>,
    /// Where particles and points are, one after the other.
    pub places: Vec<f64>,
    /// The energy.
    pub energy: f64,
    /// The kinetic and the potential energy, if the energy is a sum of both.
    pub shares: Option<[f64; 2]>,
    /// The energies that meshes are coloured by, at their nodes.
    pub densities: Vec<Vec<f64>>,
}

/// What a playback is made of: a system, where it starts, and how it is run.
#[derive(Clone)]
pub struct PlaybackPlan {
    /// The method with its pace, and the events.
    pub integrator: Integrator,
    /// The system with its parameters and inputs.
    pub dynamics: Dynamics,
    /// The initial state.
    pub start: State,
    /// The time at the end.
    pub end: f64,
    /// The time between snapshots.
    pub spacing: f64,
    /// The energies that meshes are coloured by.
    pub densities: Vec<Arc<Density>>,
}

/// What the thread tells.
enum News {
    Snapshot(Snapshot),
    Event { t: f64, event: usize },
    End(Result<Reason, RunError>),
}

/// The snapshots from some time ago to some time ahead.
pub struct Playback {
    news: Receiver<News>,
    thread: Option<JoinHandle<()>>,
    snapshots: VecDeque<Snapshot>,
    /// The events in the snapshots, by time.
    events: VecDeque<(f64, usize)>,
    /// How the run ended, if it did.
    pub end: Option<Result<Reason, RunError>>,
    /// What the energy is measured by, and its value at the start.
    pub energy: [f64; 2],
    way: f64,
}

impl PlaybackPlan {
    /// A problem that is run by an integrator until a time, or for so long that nobody sees the end, with so much time between snapshots.
    #[must_use]
    pub fn new(
        problem: &Problem<'_>,
        integrator: Integrator,
        until: Option<f64>,
        spacing: f64,
    ) -> PlaybackPlan {
        let (dynamics, start) = (problem.dynamics.clone(), problem.start.clone());
        let way = if problem.until < start.t { -1.0 } else { 1.0 };
        let far = match *integrator.pace() {
            Pace::Step(step) => (ENDLESS * spacing).min(0.5 * STEPS as f64 * step.abs()),
            _ => ENDLESS * spacing,
        };
        let (integrator, end) = match until {
            Some(until) => (integrator, until),
            None => (integrator.at_most(STEPS), start.t + way * far),
        };
        let densities = problem.setup.drawing.densities().cloned().collect();
        PlaybackPlan { integrator, dynamics, start, end, spacing, densities }
    }

    /// The run, as told to a sender; it is interrupted when nobody listens any more.
    fn run(mut self, send: &SyncSender<News>) {
        let moving = self.dynamics.system().facts().form != Form::Ports;
        let places = self.dynamics.system().places().iter().map(|place| place.dimensions).sum();
        let (degrees, drawn) = (self.dynamics.system().degrees(), self.densities);
        // What cannot be observed is not shown.
        let held = Held::names(self.dynamics.system()).observables(&mut self.dynamics);
        let held = held.map_or_else(|_| Vec::new(), |held| held.coordinates);
        let shoot = |sample: Sample<'_>| -> Result<ControlFlow<()>, EvalError> {
            let (t, y, dynamics) = (sample.t, sample.block.values(), sample.dynamics);
            let sent = match sample.event {
                Some(hit) => send.send(News::Event { t, event: hit.event }),
                None => Ok(()),
            };
            if sent.is_err() {
                return Ok(ControlFlow::Break(()));
            }
            if sample.event.is_some_and(|hit| !hit.terminal) {
                return Ok(ControlFlow::Continue(()));
            }
            let mut snapshot =
                Snapshot::new(dynamics, t, y, [degrees, if moving { degrees } else { 0 }, places], &held)?;
            snapshot.densities = densities(&drawn, dynamics, t, y)?;
            let heard = send.send(News::Snapshot(snapshot)).is_ok();
            Ok(if heard { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        };
        let integrator = self.integrator.spaced(self.spacing);
        let ended = integrator.observe(&mut self.dynamics, &self.start, self.end, shoot);
        // Nobody listens to the end of a playback that was interrupted.
        let _ = send.send(News::End(ended.map(|end| end.reason)));
    }
}

impl Snapshot {
    fn new(
        dynamics: &mut Dynamics,
        t: f64,
        y: &[f64],
        counts: [usize; 3],
        held: &[Observable],
    ) -> Result<Snapshot, EvalError> {
        let [degrees, rates, places] = counts;
        let mut snapshot = Snapshot {
            t,
            coordinates: y[..degrees].to_vec(),
            velocities: vec![0.0; rates],
            places: vec![0.0; places],
            ..Snapshot::default()
        };
        for what in held {
            let mut value = [0.0];
            dynamics.observe(*what, &[t], y, &mut value)?;
            snapshot.coordinates.push(value[0]);
        }
        if rates > 0 {
            dynamics.velocities(&[t], y, &mut snapshot.velocities)?;
        }
        if places > 0 {
            dynamics.positions(&[t], y, &mut snapshot.places)?;
        }
        let (mut energy, mut kinetic, mut potential) = ([0.0], [0.0], [0.0]);
        dynamics.energy(&[t], y, &mut energy)?;
        snapshot.energy = energy[0];
        let shares = dynamics
            .kinetic_energy(&[t], y, &mut kinetic)
            .and_then(|()| dynamics.potential_energy(&[t], y, &mut potential));
        snapshot.shares = shares.is_ok().then_some([kinetic[0], potential[0]]);
        Ok(snapshot)
    }

    /// Between two snapshots, with the snapshots around them: by cubics with the slopes of the chords.
    fn between(around: [&Snapshot; 4], t: f64) -> Snapshot {
        let [before, from, to, after] = around;
        let span = to.t - from.t;
        let s = if span == 0.0 { 0.0 } else { (t - from.t) / span };
        let slope = |a: f64, b: f64, time: f64| if time == 0.0 { 0.0 } else { (b - a) / time * span };
        let cubic = |pick: &dyn Fn(&Snapshot) -> f64| {
            let [y0, y1, y2, y3] = [pick(before), pick(from), pick(to), pick(after)];
            let (m1, m2) = (slope(y0, y2, to.t - before.t), slope(y1, y3, after.t - from.t));
            let d = y2 - y1;
            y1 + s * (m1 + s * (3.0 * d - 2.0 * m1 - m2 + s * (m1 + m2 - 2.0 * d)))
        };
        let all = |pick: &dyn Fn(&Snapshot) -> &[f64]| {
            (0..pick(from).len()).map(|i| cubic(&|snapshot| pick(snapshot)[i])).collect()
        };
        let near = if s < 0.5 { from } else { to };
        Snapshot {
            t,
            coordinates: all(&|snapshot| &snapshot.coordinates),
            velocities: all(&|snapshot| &snapshot.velocities),
            places: all(&|snapshot| &snapshot.places),
            energy: near.energy,
            shares: near.shares,
            densities: near.densities.clone(),
        }
    }
}

impl Playback {
    /// Begins to run in a thread, and waits for the first snapshot.
    ///
    /// # Errors
    /// [`RunError`] if it cannot begin.
    pub fn new(plan: &PlaybackPlan) -> Result<Playback, RunError> {
        let mut plan = plan.clone();
        let scale = energy_scale(&mut plan.dynamics, &plan.start)?;
        let way = if plan.end < plan.start.t { -1.0 } else { 1.0 };
        let (send, news) = sync_channel(WAITING);
        let thread = std::thread::spawn(move || plan.run(&send));
        let mut playback = Playback {
            news,
            thread: Some(thread),
            snapshots: VecDeque::with_capacity(PAST + AHEAD),
            events: VecDeque::new(),
            end: None,
            energy: [scale, 0.0],
            way,
        };
        let first = playback.news.recv();
        playback.hear(first.map_err(|_| TryRecvError::Disconnected));
        match playback.end.take() {
            Some(Err(error)) => return Err(error),
            end => playback.end = end,
        }
        playback.energy[1] = playback.snapshots.front().map_or(f64::NAN, |snapshot| snapshot.energy);
        Ok(playback)
    }

    /// Takes in what the thread has told. Returns whether there was something.
    fn hear(&mut self, news: Result<News, TryRecvError>) -> bool {
        match news {
            Ok(News::Snapshot(snapshot)) => {
                self.snapshots.push_back(snapshot);
                true
            }
            Ok(News::Event { t, event }) => {
                self.events.push_back((t, event));
                true
            }
            Ok(News::End(end)) => {
                self.end = Some(end);
                false
            }
            Err(TryRecvError::Empty) => false,
            Err(TryRecvError::Disconnected) => {
                // A thread that leaves without a word has panicked.
                if self.end.is_none()
                    && let Some(Err(panic)) = self.thread.take().map(JoinHandle::join)
                {
                    std::panic::resume_unwind(panic);
                }
                false
            }
        }
    }

    /// Takes in what was computed, as much as may lie ahead of a time, and forgets what was long ago.
    pub fn wind(&mut self, now: f64) {
        while self.ahead(now) < AHEAD {
            let news = self.news.try_recv();
            if !self.hear(news) {
                break;
            }
        }
        while self.snapshots.len() > PAST + AHEAD
            && self.snapshots.get(2).is_some_and(|s| self.is_before(s.t, now))
        {
            self.snapshots.pop_front();
        }
        let first = self.first();
        while self.events.front().is_some_and(|(t, _)| self.way * t < self.way * first) {
            self.events.pop_front();
        }
    }

    /// Winds until enough lies ahead, for some time at most.
    pub fn wind_ahead(&mut self, now: f64, patience: Duration) {
        let before = Instant::now();
        self.wind(now);
        while self.end.is_none() && self.ahead(now) < AHEAD && before.elapsed() < patience {
            std::thread::sleep(Duration::from_millis(2));
            self.wind(now);
        }
    }

    fn is_before(&self, t: f64, now: f64) -> bool {
        self.way * t < self.way * now
    }

    fn ahead(&self, now: f64) -> usize {
        self.snapshots.len() - self.snapshots.partition_point(|snapshot| self.is_before(snapshot.t, now))
    }

    /// The time of the first snapshot.
    #[must_use]
    pub fn first(&self) -> f64 {
        self.snapshots.front().map_or(0.0, |snapshot| snapshot.t)
    }

    /// The time of the last one.
    #[must_use]
    pub fn last(&self) -> f64 {
        self.snapshots.back().map_or(0.0, |snapshot| snapshot.t)
    }

    /// All snapshots there are.
    pub fn snapshots(&self) -> impl DoubleEndedIterator<Item = &Snapshot> + ExactSizeIterator {
        self.snapshots.iter()
    }

    /// The snapshots of the time before another, oldest first.
    pub fn past(&self, now: f64, time: f64) -> impl DoubleEndedIterator<Item = &Snapshot> {
        let since = now - self.way * time;
        let from = self.snapshots.partition_point(|snapshot| self.is_before(snapshot.t, since));
        let to = self.snapshots.partition_point(|snapshot| self.is_before(snapshot.t, now));
        self.snapshots.range(from.min(to)..to)
    }

    /// The system at a time.
    #[must_use]
    pub fn at(&self, t: f64) -> Snapshot {
        let last = self.snapshots.len().saturating_sub(1);
        let to =
            self.snapshots.partition_point(|snapshot| self.is_before(snapshot.t, t)).clamp(1.min(last), last);
        let from = to.saturating_sub(1);
        let around = [from.saturating_sub(1), from, to, (to + 1).min(last)].map(|i| self.snapshots.get(i));
        match around {
            [Some(before), Some(from), Some(to), Some(after)] => {
                Snapshot::between([before, from, to, after], t)
            }
            _ => Snapshot::default(),
        }
    }

    /// The last event until a time, with its own.
    #[must_use]
    pub fn event(&self, now: f64) -> Option<(f64, usize)> {
        self.events.iter().rev().find(|(t, _)| !self.is_before(now, *t)).copied()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may panic
mod tests {
    use super::*;
    use leastaction_expr::Graph;
    use leastaction_integrate::Event;
    use leastaction_mechanics::Model;

    /// x = cos t, for so long.
    fn plan(end: f64, spacing: f64) -> PlaybackPlan {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let x = model.coordinate("x");
        model.particle("bead", 1.0, [x]);
        model.potential("spring", x * x / 2.0);
        let mut dynamics = model.system().unwrap().dynamics().unwrap();
        let start = dynamics.start(&[("x", 1.0)]).unwrap();
        let integrator = Integrator::named("gauss6", end.signum() * 0.05).unwrap();
        PlaybackPlan { integrator, dynamics, start, end, spacing, densities: Vec::new() }
    }

    #[test]
    fn snapshots_tell_where_things_are() {
        for end in [4.0, -4.0] {
            let mut playback = Playback::new(&plan(end, 0.02)).unwrap();
            playback.wind_ahead(0.0, Duration::from_secs(10));
            assert_eq!(
                (playback.first(), playback.last(), playback.end.clone()),
                (0.0, end, Some(Ok(Reason::Complete)))
            );
            for t in [0.0, 0.01, 1.234, 2.0, 3.9999, 4.0].map(|t: f64| t * end.signum()) {
                let snapshot = playback.at(t);
                assert!((snapshot.coordinates[0] - t.cos()).abs() < 2e-4, "t = {t}: {snapshot:?}");
                assert!(
                    (snapshot.velocities[0] + t.sin()).abs() < 2e-4
                        && snapshot.places == snapshot.coordinates
                );
                assert!((snapshot.energy - 0.5).abs() < 1e-9);
                let [kinetic, potential] = snapshot.shares.unwrap();
                assert!((kinetic + potential - 0.5).abs() < 1e-9);
            }
            let past: Vec<f64> = playback.past(end / 2.0, 0.1).map(|snapshot| snapshot.t).collect();
            assert!(past.len() >= 4 && past.iter().all(|t| (t - end / 2.0).abs() < 0.11), "{past:?}");
        }
    }

    #[test]
    fn memory_is_bounded() {
        let mut playback = Playback::new(&plan(1e6, 0.01)).unwrap();
        let mut now = 0.0;
        while now < 300.0 {
            playback.wind_ahead(now, Duration::from_secs(10));
            assert!(playback.snapshots.len() <= PAST + AHEAD + 1);
            now = playback.last().min(now + 20.0);
        }
        assert!(playback.first() > 100.0 && playback.first() < now);
        assert!((playback.at(now).coordinates[0] - now.cos()).abs() < 1e-4);
    }

    #[test]
    fn events_are_told_when_their_time_has_come() {
        let mut plan = plan(10.0, 0.02);
        let speed = plan.dynamics.observable("x'").unwrap();
        let half = plan.dynamics.observable("x - t + 3").unwrap();
        plan.integrator =
            plan.integrator.event(Event::new(speed).rising()).event(Event::new(half).terminal());
        let mut playback = Playback::new(&plan).unwrap();
        playback.wind_ahead(0.0, Duration::from_secs(10));
        assert_eq!(playback.event(1.0), None);
        let turn = playback.event(3.15).unwrap();
        assert!((turn.0 - std::f64::consts::PI).abs() < 1e-6 || turn.1 == 1, "{turn:?}");
        assert_eq!(playback.end, Some(Ok(Reason::Event(1))));
        assert!((playback.at(playback.last()).coordinates[0] - playback.last() + 3.0).abs() < 1e-6);
    }

    #[test]
    fn what_cannot_begin_is_refused() {
        let mut plan = plan(1.0, 0.1);
        plan.integrator = Integrator::named("gauss6", -0.05).unwrap();
        assert!(matches!(Playback::new(&plan), Err(RunError::WrongWay { .. })));
    }
}
