//! Events: zero crossings of observables, found on the polynomial of each step.

use crate::error::RunError;
use crate::run::reset::{Reset, lane_of};
use crate::run::roots::{COARSE, Root, coarse_point, is_quiet, sign_changes};
use crate::run_loop::RunLoop;
use crate::run_loop::reset::Restart;
use crate::step::StepError;
use leastaction_compile::LANES;
use leastaction_mechanics::{EvalError, Observable, State};

/// A zero crossing to look for: of any expression of time, coordinates, velocities, momenta and parameters.
///
/// It happens where the sign changes, but not where an expression jumps against the way that it moves on both sides: at a pole, or where an angle is wrapped. One that touches zero and turns back does not cross it; one that is
/// zero at the start has no sign there, and crosses zero when it next changes the sign that it first takes. Many crossings in a step are told apart, up to some ten
/// thousand. One that nothing but resets changes, as a count does, crosses zero where a reset brings it there, or beyond.
///
/// ```
/// # use leastaction_expr::Graph;
/// # use leastaction_mechanics::Model;
/// use leastaction_integrate::{Event, Integrator};
///
/// # let graph = Graph::new();
/// # let mut model = Model::new(&graph);
/// # let x = model.coordinate("x");
/// # model.particle("ball", 1.0, [x]);
/// # model.gravity([-9.81]);
/// let mut dynamics = model.system()?.dynamics()?;
/// let start = dynamics.start(&[("x'", 5.0)])?;
/// let top = Event::new(dynamics.observable("x'")?).falling();
/// let ground = Event::new(dynamics.observable("x")?).falling().terminal();
/// let flight = Integrator::named("implicit-midpoint", 0.1)?.event(top).event(ground).run(&mut dynamics, &start, 10.0)?;
/// let times: Vec<f64> = flight.crossings().iter().map(|crossing| crossing.t).collect();
/// assert!((times[0] - 5.0 / 9.81).abs() < 1e-15 && (times[1] - 10.0 / 9.81).abs() < 1e-15);
/// assert_eq!(flight.end().t, times[1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    what: Observable,
    rising: bool,
    falling: bool,
    terminal: bool,
    reset: Option<Reset>,
    finally: Option<Reset>,
    ticks: bool,
}

impl Event {
    /// Crossings of an observable in both directions; the run goes on.
    #[must_use]
    pub fn new(what: Observable) -> Event {
        Event { what, rising: true, falling: true, terminal: false, reset: None, finally: None, ticks: false }
    }

    /// What happens at the start of a run and then again and again after a time: the value that an observable of parameters has at the start. It sets numbers of the
    /// state anew, which then hold until the next time, as a sampled controller does.
    ///
    /// ```
    /// # use leastaction_expr::Graph;
    /// # use leastaction_mechanics::Model;
    /// use leastaction_integrate::{Event, Integrator, Reset};
    ///
    /// // A cart without friction is pushed such that it stands still at 0 after two ticks.
    /// # let graph = Graph::new();
    /// # let mut model = Model::new(&graph);
    /// # let x = model.coordinate("x");
    /// # model.particle("cart", 1.0, [x]);
    /// # let u = model.state("u");
    /// # model.force(x, u);
    /// let mut dynamics = model.system()?.dynamics()?;
    /// let start = dynamics.start(&[("x", 1.0)])?;
    /// let (push, period) = (dynamics.observable("-x/0.25 - 1.5*x'/0.5")?, dynamics.observable("1/2")?);
    /// let control = Reset::new("control", dynamics.system(), &[("u", push)])?;
    /// let integrator = Integrator::named("rk4", 0.1)?.event(Event::every(period, control));
    /// let run = integrator.run(&mut dynamics, &start, 3.0)?;
    /// assert_eq!(run.crossings().iter().map(|tick| tick.t).collect::<Vec<_>>(), [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0]);
    /// assert!(run.crossings()[2].state.q[0].abs() < 1e-14 && run.end().q[0].abs() < 1e-14);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn every(period: Observable, reset: Reset) -> Event {
        Event { ticks: true, ..Event::new(period).resetting(reset) }
    }

    /// Whether it happens again and again after a time, and not where an observable crosses zero.
    #[must_use]
    pub fn ticks(&self) -> bool {
        self.ticks
    }

    /// Only crossings from below, as the run goes.
    #[must_use]
    pub fn rising(self) -> Event {
        Event { rising: true, falling: false, ..self }
    }

    /// Only crossings from above, as the run goes.
    #[must_use]
    pub fn falling(self) -> Event {
        Event { rising: false, falling: true, ..self }
    }

    /// The run ends where it happens.
    #[must_use]
    pub fn terminal(self) -> Event {
        Event { terminal: true, ..self }
    }

    /// Sets numbers of the state anew where it happens. Where this makes it happen again and again in ever shorter times, the run ends.
    #[must_use]
    pub fn resetting(self, reset: Reset) -> Event {
        Event { reset: Some(reset), ..self }
    }

    /// Sets numbers of the state where the resets of this event would make it happen again and again in ever shorter times, or leave the motion where it is: the run then goes on from there,
    /// as a ball does that bounced and now lies still. If it happens without end all the same, the run ends.
    #[must_use]
    pub fn finally(self, reset: Reset) -> Event {
        Event { finally: Some(reset), ..self }
    }

    /// What it sets.
    #[must_use]
    pub fn reset(&self) -> Option<&Reset> {
        self.reset.as_ref()
    }

    pub(crate) fn observable(&self) -> Observable {
        self.what
    }

    /// The way in which a reset happens, 1 for rising and −1 for falling, if it happens in one way only.
    pub(crate) fn way(&self) -> Option<f64> {
        let way = if self.rising { 1.0 } else { -1.0 };
        (self.reset.is_some() && self.rising != self.falling).then_some(way)
    }

    fn admits(&self, rising: bool) -> bool {
        if rising { self.rising } else { self.falling }
    }
}

/// An event that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossing {
    /// Which of the events, by its place.
    pub event: usize,
    /// The time.
    pub t: f64,
    /// Whether the observable grew.
    pub rising: bool,
    /// The state.
    pub state: State,
    /// The state after it, if it set numbers anew.
    pub after: Option<State>,
    /// Whether it set them [finally](Event::finally), where it would have happened without end.
    pub finally: bool,
}

/// An event as an observer sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Which of the events, by its place.
    pub event: usize,
    /// Whether the observable grew.
    pub rising: bool,
    /// Whether the run ends here.
    pub terminal: bool,
    /// Whether it sets numbers [finally](Event::finally).
    pub finally: bool,
}

/// When a run is looked at within a step: at this fraction of it, for a sample or an event.
#[derive(Clone, Copy)]
pub(crate) struct Instant {
    pub(crate) tau: f64,
    pub(crate) t: f64,
    pub(crate) event: Option<Hit>,
}

/// Secants towards an event on constraints begin with one over this part of the step, and are so many at most.
const ASIDE: f64 = 1e-4;
const SECANTS: u32 = 6;

/// An observable that is no larger than so many roundings of the state make it, all along a step, vanishes there.
const ROUNDINGS: f64 = 16.0;

/// One that is larger than this part of the state is not looked at that closely.
const SMALL: f64 = 1e-9;

/// Events that are so many roundings of their times apart happen together.
const TOGETHER: f64 = 16.0;

/// The events of a run at work.
pub(crate) struct EventDetector<'a> {
    events: &'a [Event],
    /// The sign of each observable before the proposed step of a lane, and all its zeros in it, by fraction of the step.
    before: Vec<f64>,
    zeros: Vec<(usize, Root)>,
    /// What happens in the proposed step of a lane, in order, by fraction of the step.
    hits: Vec<(f64, Hit)>,
    passed: usize,
    at: Vec<f64>,
}

impl<'a> EventDetector<'a> {
    pub(crate) fn new(events: &'a [Event], run: &RunLoop<'_>) -> EventDetector<'a> {
        let (before, at) = (vec![0.0; events.len()], run.block.values().to_vec());
        EventDetector { events, before, zeros: Vec::new(), hits: Vec::with_capacity(16), passed: 0, at }
    }

    /// Begins in some lanes, where they are.
    pub(crate) fn begin(&mut self, run: &mut RunLoop<'_>, lanes: &[bool]) -> Result<(), RunError> {
        for (i, event) in self.crossing() {
            let (mut values, RunLoop { t, block, motion, resets, .. }) = ([0.0; LANES], &mut *run);
            let signs = &mut resets.signs[i];
            let width = block.width();
            motion.plain().observe(event.what, &t[..width], block.values(), &mut values[..width])?;
            for j in (0..width).filter(|&j| lanes[j]) {
                signs[j] = if values[j] == 0.0 { 0.0 } else { values[j].signum() };
            }
        }
        // What begins where it is reset, and moves on, has come from the other side.
        for (i, event) in self.crossing() {
            let Some(way) = event.way() else { continue };
            for lane in (0..lanes.len()).filter(|&lane| lanes[lane]) {
                if run.resets.signs[i][lane] == 0.0 && run.tendency_of(event.what, lane)? * way > 0.0 {
                    run.resets.signs[i][lane] = -way;
                }
            }
        }
        Ok(())
    }

    /// In which lanes something may happen in the proposed step: a first look, the same as [`EventDetector::detect`] has, in all of them at once.
    pub(crate) fn suspects(&mut self, run: &mut RunLoop<'_>) -> Result<[bool; LANES], StepError> {
        let width = run.block.width();
        let (mut suspects, mut values) = ([false; LANES], [[0.0; LANES]; COARSE + 1]);
        let (starts, ends): ([f64; LANES], [f64; LANES]) =
            (run.t, std::array::from_fn(|j| if j < width { run.end_of(j) } else { 0.0 }));
        for (i, event) in self.crossing() {
            for (k, values) in values.iter_mut().enumerate() {
                let tau = coarse_point(k);
                run.polynomial.at(&[tau; LANES][..width], &mut self.at);
                let times: [f64; LANES] = std::array::from_fn(|j| starts[j] + tau * (ends[j] - starts[j]));
                let dynamics = run.motion.plain();
                dynamics.observe(event.what, &times[..width], &self.at, &mut values[..width])?;
            }
            for j in (0..width).filter(|&j| run.is_taken(j)) {
                suspects[j] |= !is_quiet(values.map(|values| values[j]), run.resets.signs[i][j]);
            }
        }
        Ok(suspects)
    }

    /// Whether the proposed step has to be looked into.
    pub(crate) fn is_on(&self) -> bool {
        self.crossing().next().is_some()
    }

    /// The events that are zeros of something.
    fn crossing(&self) -> impl Iterator<Item = (usize, &'a Event)> + use<'a> {
        self.events.iter().enumerate().filter(|(_, event)| !event.ticks())
    }

    /// Finds what happens in the proposed step of a lane.
    pub(crate) fn detect(&mut self, run: &mut RunLoop<'_>, lane: usize) -> Result<(), RunError> {
        let (start, end, width) = (run.times()[lane], run.end_of(lane), run.block.width());
        self.clear();
        for (i, event) in self.crossing() {
            self.before[i] = run.resets.signs[i][lane];
            if self.is_noise(run, lane, event.what)? {
                continue;
            }
            let (polynomial, dynamics) = (&run.polynomial, run.motion.plain());
            let mut value = |tau: f64| {
                let (time, mut out) = ([start + tau * (end - start); LANES], [0.0; LANES]);
                polynomial.at(&[tau; LANES][..width], &mut self.at);
                dynamics.observe(event.what, &time[..width], &self.at, &mut out[..width])?;
                Ok::<f64, EvalError>(out[lane])
            };
            let (hits, zeros, sign) = (&mut self.hits, &mut self.zeros, &mut run.resets.signs[i][lane]);
            sign_changes(&mut value, sign, |root| {
                zeros.push((i, root));
                if event.admits(root.rising) && !root.jumps_back {
                    let hit = Hit { event: i, rising: root.rising, terminal: event.terminal, finally: false };
                    hits.push((root.at, hit));
                }
                Ok(())
            })?;
        }
        if run.motion.system().facts().constrained {
            for k in 0..self.hits.len() {
                let (tau, hit) = self.hits[k];
                self.hits[k].0 = self.close_in(run, lane, hit.event, tau)?;
            }
        }
        self.hits.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(())
    }

    /// Whether an observable vanishes all along the proposed step of a lane, but for rounding: it passes through nothing then, however often its sign changes.
    fn is_noise(&mut self, run: &mut RunLoop<'_>, lane: usize, what: Observable) -> Result<bool, RunError> {
        let (start, end, width) = (run.times()[lane], run.end_of(lane), run.block.width());
        let mut largest = 0.0_f64;
        for tau in (0..=COARSE).map(coarse_point) {
            let (time, mut out) = ([start + tau * (end - start); LANES], [0.0; LANES]);
            run.polynomial.at(&[tau; LANES][..width], &mut self.at);
            run.motion.plain().observe(what, &time[..width], &self.at, &mut out[..width])?;
            largest = largest.max(out[lane].abs());
            let size = self.at.iter().skip(lane).step_by(width).fold(0.0_f64, |m, y| m.max(y.abs()));
            if largest.is_nan() || largest > SMALL * size {
                return Ok(false);
            }
        }
        let state = run.block.lane(lane);
        Ok(largest > 0.0 && largest <= ROUNDINGS * run.noise(what, lane, start, &state)?)
    }

    /// Where an observable vanishes on the constraints: near the zero on the step's polynomial, which is off them by its error.
    fn close_in(
        &mut self,
        run: &mut RunLoop<'_>,
        lane: usize,
        event: usize,
        tau: f64,
    ) -> Result<f64, StepError> {
        let (start, end, width) = (run.times()[lane], run.end_of(lane), run.block.width());
        let mut value = |tau: f64| {
            let (time, mut out) = (start + tau * (end - start), [0.0; LANES]);
            run.inside(lane, tau, time, &mut self.at)?;
            let (times, what) = ([time; LANES], self.events[event].what);
            run.motion.plain().observe(what, &times[..width], &self.at, &mut out[..width])?;
            Ok::<f64, StepError>(out[lane])
        };
        // Secants, while they lead nearer.
        let aside = if tau < 0.5 { tau + ASIDE } else { tau - ASIDE };
        let (mut before, mut best) = ((aside, value(aside)?), (tau, value(tau)?));
        for _ in 0..SECANTS {
            let next = best.0 - best.1 * (best.0 - before.0) / (best.1 - before.1);
            if best.1 == 0.0 || !(0.0..=1.0).contains(&next) || next == best.0 {
                break;
            }
            let here = (next, value(next)?);
            if here.1.abs() >= best.1.abs() || here.1.is_nan() {
                break;
            }
            (before, best) = (best, here);
        }
        Ok(best.0)
    }

    /// Nothing happens, as far as is known.
    pub(crate) fn clear(&mut self) {
        self.hits.clear();
        self.zeros.clear();
        self.passed = 0;
    }

    /// What happens at the time of the event that comes next, which resets the state of a lane, all of it: what is set, and what to tell of it. `inside` is the
    /// block there.
    pub(crate) fn reset(
        &self,
        run: &mut RunLoop<'_>,
        lane: usize,
        inside: &[f64],
    ) -> Result<(Restart, Vec<Crossing>), RunError> {
        let (start, end, width) = (run.times()[lane], run.end_of(lane), run.block.width());
        let first = self.hits[self.passed].0;
        let t = start + first * (end - start);
        // Events at one time come in the order of rounding: those that reset nothing should not get lost behind one that does.
        let apart = TOGETHER * f64::EPSILON * start.abs().max(end.abs());
        let together = self.hits[self.passed..]
            .iter()
            .take_while(|(tau, _)| ((tau - first) * (end - start)).abs() <= apart);
        let mut hits: Vec<Hit> = together.map(|(_, hit)| *hit).collect();
        hits.sort_by_key(|hit| hit.event);
        let before = lane_of(inside, width, lane);
        let mut signs = self.before.clone();
        for (event, root) in self.zeros.iter().filter(|(_, root)| root.at < first) {
            signs[*event] = if root.rising { 1.0 } else { -1.0 };
        }
        self.happen(run, (lane, t), (before, signs), hits, false)
    }

    /// What ticks where a lane is, at the end of a step that was taken or at the start: what is set, and what to tell of it.
    pub(crate) fn tick(
        &self,
        run: &mut RunLoop<'_>,
        lane: usize,
    ) -> Result<Option<(Restart, Vec<Crossing>)>, RunError> {
        let Some((t, due)) = run.pass_ticks(lane) else { return Ok(None) };
        let hits = due
            .into_iter()
            .map(|event| Hit { event, rising: true, terminal: false, finally: false })
            .collect();
        let signs = run.resets.signs.iter().map(|signs| signs[lane]).collect();
        let before = run.block.lane(lane);
        self.happen(run, (lane, t), (before, signs), hits, true).map(Some)
    }

    /// Lets a lane go on behind a reset. If the event that happens there would do so without end, it sets what it sets finally, of which this tells; returns that event if the motion comes no
    /// further all the same.
    pub(crate) fn begin_anew(
        &self,
        run: &mut RunLoop<'_>,
        lane: usize,
        restart: &Restart,
    ) -> Result<(Option<usize>, Option<Crossing>), RunError> {
        let stuck = run.restart(lane, self.events, restart)?;
        let Some(event) = stuck.filter(|&event| !run.is_final(event, lane)) else { return Ok((stuck, None)) };
        let Some(reset) = &self.events[event].finally else { return Ok((stuck, None)) };
        let (t, width, degrees) = (run.times()[lane], run.block.width(), run.motion.system().degrees());
        let before = run.block.lane(lane);
        let after = reset.apply(&mut run.motion, (width, lane), t, &before)?;
        let rising = restart.hits.iter().any(|hit| hit.event == event && hit.rising);
        let hit = Hit { event, rising, terminal: false, finally: true };
        let [state, then] = [&before, &after].map(|y| State::from_block(t, y, degrees));
        let crossing = Crossing { event, t, rising, state, after: Some(then), finally: true };
        let signs = run.resets.signs.iter().map(|signs| signs[lane]).collect();
        let own = vec![after.clone()];
        let at_rest = Restart { t, before, after, hits: vec![hit], own, signs, ticks: true };
        Ok((run.restart(lane, self.events, &at_rest)?, Some(crossing)))
    }

    /// What happens at one time, each event on the result of the one before, with all that these bring about.
    fn happen(
        &self,
        run: &mut RunLoop<'_>,
        (lane, t): (usize, f64),
        (before, signs): (Vec<f64>, Vec<f64>),
        mut hits: Vec<Hit>,
        ticks: bool,
    ) -> Result<(Restart, Vec<Crossing>), RunError> {
        let (width, degrees) = (run.block.width(), run.motion.system().degrees());
        let (mut state, mut crossings, mut own, mut done) = (before.clone(), Vec::new(), Vec::new(), 0);
        while done < hits.len() {
            let from = state.clone();
            for hit in &hits[done..] {
                let reset = self.events[hit.event].reset();
                let after =
                    reset.map(|reset| reset.apply(&mut run.motion, (width, lane), t, &state)).transpose()?;
                crossings.push(Crossing {
                    event: hit.event,
                    t,
                    rising: hit.rising,
                    state: State::from_block(t, &state, degrees),
                    after: after.as_ref().map(|after| State::from_block(t, after, degrees)),
                    finally: false,
                });
                state = after.unwrap_or(state);
                own.push(state.clone());
            }
            done = hits.len();
            self.brought(run, (lane, t), [&from, &state], &mut hits)?;
        }
        Ok((Restart { t, before, after: state, hits, own, signs, ticks }, crossings))
    }

    /// Adds the events that a change of the state brings about by itself: those of expressions that do not move along the motion, as counts do not. Each happens
    /// once at a time.
    fn brought(
        &self,
        run: &mut RunLoop<'_>,
        (lane, t): (usize, f64),
        [from, to]: [&[f64]; 2],
        hits: &mut Vec<Hit>,
    ) -> Result<(), RunError> {
        for (i, event) in self.crossing() {
            if hits.iter().any(|hit| hit.event == i) {
                continue;
            }
            let [before, after] =
                [run.value(event.what, lane, t, from)?, run.value(event.what, lane, t, to)?];
            let crosses = before > 0.0 && after <= 0.0 || before < 0.0 && after >= 0.0;
            let rising = before < 0.0;
            if crosses && event.admits(rising) && !run.moves(event.what, (lane, t), [from, to])? {
                hits.push(Hit { event: i, rising, terminal: event.terminal, finally: false });
            }
        }
        Ok(())
    }

    /// What comes next in the proposed step between two times: its next sample, or an event. Of both at once the event comes first.
    pub(crate) fn next(&self, sample: Option<f64>, [t, end]: [f64; 2]) -> Option<Instant> {
        let sample = sample.map(|time| Instant { tau: (time - t) / (end - t), t: time, event: None });
        let hit = self.hits.get(self.passed);
        let event = hit.map(|&(tau, hit)| Instant { tau, t: t + tau * (end - t), event: Some(hit) });
        match (&sample, &event) {
            (Some(sample), Some(event)) if (sample.t - t).abs() >= (event.t - t).abs() => Some(*event),
            (None, _) => event,
            (Some(_), _) => sample,
        }
    }

    pub(crate) fn pass(&mut self) {
        self.passed += 1;
    }
}
