//! A motion as shots at even times, which a thread computes ahead of what is shown. Memory is bounded on both sides.

use leastaction::mechanics::Form;
use leastaction::{Dynamics, EvalError, Integrator, Reason, RunError, Sample, State, energy_scale};
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How many shots are kept of what was shown, and computed ahead.
const PAST: usize = 8192;
const AHEAD: usize = 1200;
/// How many shots may wait for the one who shows them.
const WAITING: usize = 256;

/// The system at a time.
#[derive(Clone, Debug, PartialEq, Default)]
pub(super) struct Shot {
    pub(super) t: f64,
    pub(super) coordinates: Vec<f64>,
    pub(super) velocities: Vec<f64>,
    /// Where particles and points are, one after the other.
    pub(super) places: Vec<f64>,
    pub(super) energy: f64,
    /// The kinetic and the potential energy, if the energy is a sum of both.
    pub(super) shares: Option<[f64; 2]>,
}

/// What a film is made of: a system, where it starts, and how it is run.
#[derive(Clone)]
pub(super) struct Script {
    pub(super) integrator: Integrator,
    pub(super) dynamics: Dynamics,
    pub(super) start: State,
    /// Where it ends.
    pub(super) end: f64,
    /// The time between shots.
    pub(super) spacing: f64,
}

/// What the thread tells.
enum News {
    Shot(Shot),
    Event { t: f64, event: usize },
    End(Result<Reason, RunError>),
}

/// The shots from some time ago to some time ahead.
pub(super) struct Film {
    news: Receiver<News>,
    thread: Option<JoinHandle<()>>,
    shots: VecDeque<Shot>,
    /// The events in the shots, by time.
    events: VecDeque<(f64, usize)>,
    /// How the run ended, if it did.
    pub(super) end: Option<Result<Reason, RunError>>,
    /// What the energy is measured by, and its value at the start.
    pub(super) energy: [f64; 2],
    way: f64,
}

impl Script {
    /// The run, as told to a sender; it breaks off when nobody listens any more.
    fn run(mut self, send: &SyncSender<News>) {
        let moving = self.dynamics.system().facts().form != Form::Ports;
        let places = self.dynamics.system().places().iter().map(|place| place.dimensions).sum();
        let degrees = self.dynamics.system().degrees();
        let shoot = |sample: Sample<'_>| -> Result<ControlFlow<()>, EvalError> {
            let (t, y, dynamics) = (sample.t, sample.block.values(), sample.dynamics);
            let told = match sample.event {
                Some(hit) => send.send(News::Event { t, event: hit.event }),
                None => Ok(()),
            };
            if told.is_err() {
                return Ok(ControlFlow::Break(()));
            }
            if sample.event.is_some_and(|hit| !hit.terminal) {
                return Ok(ControlFlow::Continue(()));
            }
            let shot = Shot::new(dynamics, t, y, [degrees, if moving { degrees } else { 0 }, places])?;
            let heard = send.send(News::Shot(shot)).is_ok();
            Ok(if heard { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        };
        let integrator = self.integrator.spaced(self.spacing);
        let ended = integrator.observe(&mut self.dynamics, &self.start, self.end, shoot);
        // Nobody listens to the end of a film that was broken off.
        let _ = send.send(News::End(ended.map(|end| end.reason)));
    }
}

impl Shot {
    fn new(dynamics: &mut Dynamics, t: f64, y: &[f64], counts: [usize; 3]) -> Result<Shot, EvalError> {
        let [degrees, rates, places] = counts;
        let mut shot = Shot {
            t,
            coordinates: y[..degrees].to_vec(),
            velocities: vec![0.0; rates],
            places: vec![0.0; places],
            ..Shot::default()
        };
        if rates > 0 {
            dynamics.velocities(&[t], y, &mut shot.velocities)?;
        }
        if places > 0 {
            dynamics.positions(&[t], y, &mut shot.places)?;
        }
        let (mut energy, mut kinetic, mut potential) = ([0.0], [0.0], [0.0]);
        dynamics.energy(&[t], y, &mut energy)?;
        shot.energy = energy[0];
        let shares = dynamics
            .kinetic_energy(&[t], y, &mut kinetic)
            .and_then(|()| dynamics.potential_energy(&[t], y, &mut potential));
        shot.shares = shares.is_ok().then_some([kinetic[0], potential[0]]);
        Ok(shot)
    }

    /// Between two shots, with the shots around them: by cubics with the slopes of the chords.
    fn between(around: [&Shot; 4], t: f64) -> Shot {
        let [before, from, to, after] = around;
        let span = to.t - from.t;
        let s = if span == 0.0 { 0.0 } else { (t - from.t) / span };
        let slope = |a: f64, b: f64, time: f64| if time == 0.0 { 0.0 } else { (b - a) / time * span };
        let cubic = |pick: &dyn Fn(&Shot) -> f64| {
            let [y0, y1, y2, y3] = [pick(before), pick(from), pick(to), pick(after)];
            let (m1, m2) = (slope(y0, y2, to.t - before.t), slope(y1, y3, after.t - from.t));
            let d = y2 - y1;
            y1 + s * (m1 + s * (3.0 * d - 2.0 * m1 - m2 + s * (m1 + m2 - 2.0 * d)))
        };
        let all = |pick: &dyn Fn(&Shot) -> &[f64]| {
            (0..pick(from).len()).map(|i| cubic(&|shot| pick(shot)[i])).collect()
        };
        let near = if s < 0.5 { from } else { to };
        Shot {
            t,
            coordinates: all(&|shot| &shot.coordinates),
            velocities: all(&|shot| &shot.velocities),
            places: all(&|shot| &shot.places),
            energy: near.energy,
            shares: near.shares,
        }
    }
}

impl Film {
    /// Begins to run in a thread, and waits for the first shot.
    pub(super) fn new(script: &Script) -> Result<Film, RunError> {
        let mut script = script.clone();
        let scale = energy_scale(&mut script.dynamics, &script.start)?;
        let way = if script.end < script.start.t { -1.0 } else { 1.0 };
        let (send, news) = sync_channel(WAITING);
        let thread = std::thread::spawn(move || script.run(&send));
        let mut film = Film {
            news,
            thread: Some(thread),
            shots: VecDeque::with_capacity(PAST + AHEAD),
            events: VecDeque::new(),
            end: None,
            energy: [scale, 0.0],
            way,
        };
        let first = film.news.recv();
        film.hear(first.map_err(|_| TryRecvError::Disconnected));
        match film.end.take() {
            Some(Err(error)) => return Err(error),
            end => film.end = end,
        }
        film.energy[1] = film.shots.front().map_or(f64::NAN, |shot| shot.energy);
        Ok(film)
    }

    /// Takes in what the thread has told. Returns whether there was something.
    fn hear(&mut self, news: Result<News, TryRecvError>) -> bool {
        match news {
            Ok(News::Shot(shot)) => {
                self.shots.push_back(shot);
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
    pub(super) fn wind(&mut self, now: f64) {
        while self.ahead(now) < AHEAD {
            let news = self.news.try_recv();
            if !self.hear(news) {
                break;
            }
        }
        while self.shots.len() > PAST + AHEAD && self.shots.get(2).is_some_and(|s| self.is_before(s.t, now)) {
            self.shots.pop_front();
        }
        let first = self.first();
        while self.events.front().is_some_and(|(t, _)| self.way * t < self.way * first) {
            self.events.pop_front();
        }
    }

    /// Winds until enough lies ahead, for some time at most.
    pub(super) fn wind_ahead(&mut self, now: f64, patience: Duration) {
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
        self.shots.len() - self.shots.partition_point(|shot| self.is_before(shot.t, now))
    }

    /// The times of the first and the last shot.
    pub(super) fn first(&self) -> f64 {
        self.shots.front().map_or(0.0, |shot| shot.t)
    }

    pub(super) fn last(&self) -> f64 {
        self.shots.back().map_or(0.0, |shot| shot.t)
    }

    /// All shots there are.
    pub(super) fn shots(&self) -> impl DoubleEndedIterator<Item = &Shot> + ExactSizeIterator {
        self.shots.iter()
    }

    /// The shots of the time before another, oldest first.
    pub(super) fn past(&self, now: f64, time: f64) -> impl DoubleEndedIterator<Item = &Shot> {
        let since = now - self.way * time;
        let from = self.shots.partition_point(|shot| self.is_before(shot.t, since));
        let to = self.shots.partition_point(|shot| self.is_before(shot.t, now));
        self.shots.range(from.min(to)..to)
    }

    /// The system at a time.
    pub(super) fn at(&self, t: f64) -> Shot {
        let last = self.shots.len().saturating_sub(1);
        let to = self.shots.partition_point(|shot| self.is_before(shot.t, t)).clamp(1.min(last), last);
        let from = to.saturating_sub(1);
        let around = [from.saturating_sub(1), from, to, (to + 1).min(last)].map(|i| self.shots.get(i));
        match around {
            [Some(before), Some(from), Some(to), Some(after)] => Shot::between([before, from, to, after], t),
            _ => Shot::default(),
        }
    }

    /// The last event until a time, with its own.
    pub(super) fn event(&self, now: f64) -> Option<(f64, usize)> {
        self.events.iter().rev().find(|(t, _)| !self.is_before(now, *t)).copied()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may panic
mod tests {
    use super::*;
    use leastaction::{Event, Graph, Model};

    /// x = cos t, for so long.
    fn script(end: f64, spacing: f64) -> Script {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let x = model.coordinate("x");
        model.particle("bead", 1.0, [x]);
        model.potential("spring", x * x / 2.0);
        let mut dynamics = model.system().unwrap().dynamics().unwrap();
        let start = dynamics.start(&[("x", 1.0)]).unwrap();
        let integrator = Integrator::named("gauss6", end.signum() * 0.05).unwrap();
        Script { integrator, dynamics, start, end, spacing }
    }

    #[test]
    fn shots_tell_where_things_are() {
        for end in [4.0, -4.0] {
            let mut film = Film::new(&script(end, 0.02)).unwrap();
            film.wind_ahead(0.0, Duration::from_secs(10));
            assert_eq!((film.first(), film.last(), film.end.clone()), (0.0, end, Some(Ok(Reason::Complete))));
            for t in [0.0, 0.01, 1.234, 2.0, 3.9999, 4.0].map(|t: f64| t * end.signum()) {
                let shot = film.at(t);
                assert!((shot.coordinates[0] - t.cos()).abs() < 2e-4, "t = {t}: {shot:?}");
                assert!((shot.velocities[0] + t.sin()).abs() < 2e-4 && shot.places == shot.coordinates);
                assert!((shot.energy - 0.5).abs() < 1e-9);
                let [kinetic, potential] = shot.shares.unwrap();
                assert!((kinetic + potential - 0.5).abs() < 1e-9);
            }
            let past: Vec<f64> = film.past(end / 2.0, 0.1).map(|shot| shot.t).collect();
            assert!(past.len() >= 4 && past.iter().all(|t| (t - end / 2.0).abs() < 0.11), "{past:?}");
        }
    }

    #[test]
    fn memory_is_bounded() {
        let mut film = Film::new(&script(1e6, 0.01)).unwrap();
        let mut now = 0.0;
        while now < 300.0 {
            film.wind_ahead(now, Duration::from_secs(10));
            assert!(film.shots.len() <= PAST + AHEAD + 1);
            now = film.last().min(now + 20.0);
        }
        assert!(film.first() > 100.0 && film.first() < now);
        assert!((film.at(now).coordinates[0] - now.cos()).abs() < 1e-4);
    }

    #[test]
    fn events_are_told_when_their_time_has_come() {
        let mut script = script(10.0, 0.02);
        let speed = script.dynamics.observable("x'").unwrap();
        let half = script.dynamics.observable("x - t + 3").unwrap();
        script.integrator =
            script.integrator.event(Event::new(speed).rising()).event(Event::new(half).terminal());
        let mut film = Film::new(&script).unwrap();
        film.wind_ahead(0.0, Duration::from_secs(10));
        assert_eq!(film.event(1.0), None);
        let turn = film.event(3.15).unwrap();
        assert!((turn.0 - std::f64::consts::PI).abs() < 1e-6 || turn.1 == 1, "{turn:?}");
        assert_eq!(film.end, Some(Ok(Reason::Event(1))));
        assert!((film.at(film.last()).coordinates[0] - film.last() + 3.0).abs() < 1e-6);
    }

    #[test]
    fn what_cannot_begin_is_refused() {
        let mut script = script(1.0, 0.1);
        script.integrator = Integrator::named("gauss6", -0.05).unwrap();
        assert!(matches!(Film::new(&script), Err(RunError::WrongWay { .. })));
    }
}
