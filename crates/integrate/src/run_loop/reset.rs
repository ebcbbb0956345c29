//! Resets on the way: a lane stops within its proposed step, goes on from another state, and knows on which side of each event it is.
//!
//! An observable that has just vanished has the sign of rounding. Whether a reset has turned the motion back is therefore read from how fast the
//! observable changes along it, before and after; a bounce is then never taken for a passage, however small it is.

use super::{Pacing, RunLoop};
use crate::clock;
use crate::error::RunError;
use crate::run::checkpoint::Kept;
use crate::run::event::{Event, Hit};
use crate::run::reset::widened;
use leastaction_compile::{LANES, Lanes};
use leastaction_mechanics::Observable;

/// An observable this small after a reset, relative to what it changes by along the run, still vanishes.
const VANISHES: f64 = 1e-9;
/// It no longer changes if it does so more slowly than before by this factor, and begins to if before it was slower by that one.
const STILL: f64 = 1e-12;
const BEGINS: f64 = 1e-6;
/// Slopes along the motion are differences over this part of a step; over wider ones, by this factor, until they are so many times as large as what
/// rounding makes of them, or reach this part of the time since the last reset. Those that are no larger than so many times that are nothing.
const ASIDE: f64 = 1e-6;
const WIDER: f64 = 8.0;
const RESOLVED: f64 = 1e4;
const LOST: f64 = 4.0;
const FARTHEST: f64 = 1e-2;
/// Times between resets that have become shorter so often in a row, and whose sum is this part of the run until then, add up to an end.
const SHRINKING: f64 = 3.0;
const NOTHING: f64 = 1e-7;
/// An event happens so many times in a row at one time, where others turn the motion on again, before that is taken to have no end.
const AT_ONCE: f64 = 64.0;
/// What rounding makes of an observable and of times, times this, tells no two resets apart.
const ROUNDINGS: f64 = 64.0;
/// The step behind a reset is at most so many times as long as the time since the one before: in a longer one, what comes next would be lost in
/// the rounding of its polynomial.
const AHEAD: f64 = 7.3;

/// What is remembered of events where some of them reset the state.
#[derive(Debug, Default)]
pub(crate) struct Resets {
    /// Whether there are any.
    on: bool,
    /// The sign of the observable of each event where each lane is: 0 until it has one.
    pub(crate) signs: Vec<[f64; LANES]>,
    /// When each event last reset a lane (NaN: never), how long that was after the time before, how often that had become shorter, and how often it has
    /// happened again at one time.
    tracks: Vec<[[f64; LANES]; 4]>,
    /// When each event last set what it sets finally (NaN: never).
    finals: Vec<[f64; LANES]>,
    /// Whether a lane is between two times of a grid.
    within: [bool; LANES],
}

/// A reset, as it is to be made when the proposed step is over.
#[derive(Clone, Debug)]
pub(crate) struct Restart {
    pub(crate) t: f64,
    pub(crate) before: Vec<f64>,
    pub(crate) after: Vec<f64>,
    /// What happened there, and the state right behind each.
    pub(crate) hits: Vec<Hit>,
    pub(crate) own: Vec<Vec<f64>>,
    /// The signs of all observables just before.
    pub(crate) signs: Vec<f64>,
    /// Whether it is made where the lane is: by a tick, at the end of a step that was taken, or finally.
    pub(crate) ticks: bool,
}

impl Resets {
    pub(crate) fn new(events: &[Event]) -> Resets {
        Resets {
            on: events.iter().any(|event| event.reset().is_some()),
            signs: vec![[0.0; LANES]; events.len()],
            tracks: vec![[[f64::NAN; LANES], [f64::NAN; LANES], [0.0; LANES], [0.0; LANES]]; events.len()],
            finals: vec![[f64::NAN; LANES]; events.len()],
            within: [false; LANES],
        }
    }

    /// Whether some events reset the state.
    pub(crate) fn any(&self) -> bool {
        self.on
    }

    /// Whether a lane is between two times of a grid.
    pub(super) fn is_within(&self, lane: usize) -> bool {
        self.within[lane]
    }

    /// The proposed step was taken in a lane: to a time of the grid, or only a part of the way there.
    #[inline(always)]
    pub(super) fn accept(&mut self, lane: usize, part: bool) {
        self.within[lane] = part;
    }

    /// Nothing of what was before holds for a lane.
    pub(super) fn forget(&mut self, lane: usize) {
        self.within[lane] = false;
        for [last, interval, shrinking, at_once] in &mut self.tracks {
            (last[lane], interval[lane], shrinking[lane], at_once[lane]) = (f64::NAN, f64::NAN, 0.0, 0.0);
        }
        self.finals.iter_mut().for_each(|finals| finals[lane] = f64::NAN);
    }

    /// Whether some event has set what it sets finally in a lane.
    pub(super) fn any_final(&self, lane: usize) -> bool {
        self.finals.iter().any(|finals| !finals[lane].is_nan())
    }

    /// Shows all that the rest of a run depends on.
    pub(super) fn memory(&mut self, visit: &mut dyn FnMut(Kept<'_>)) {
        if self.on {
            visit(Kept::Flags(&mut self.within));
            self.signs.iter_mut().for_each(|signs| visit(Kept::Numbers(signs)));
            self.tracks.iter_mut().flatten().for_each(|lanes| visit(Kept::Numbers(lanes)));
            self.finals.iter_mut().for_each(|lanes| visit(Kept::Numbers(lanes)));
        }
    }
}

impl RunLoop<'_> {
    /// A lane goes on from another state at a time within the proposed step, which is not taken. Returns the event that happens again and again
    /// there, if there is one: the motion comes no further.
    pub(crate) fn restart(
        &mut self,
        lane: usize,
        events: &[Event],
        restart: &Restart,
    ) -> Result<Option<usize>, RunError> {
        let Restart { t, before, after, hits, own, signs, ticks } = restart;
        let (mut stuck, span) = (None, (self.end - self.start).abs());
        for (i, event) in events.iter().enumerate() {
            if event.ticks() {
                continue;
            }
            let what = event.observable();
            let [value, moved] = [self.value(what, lane, *t, before)?, self.value(what, lane, *t, after)?];
            let Some((hit, own)) = hits.iter().zip(own).find(|(hit, _)| hit.event == i) else {
                // One that began at zero has had no sign before, but has one here.
                let unchanged = moved == value && signs[i] != 0.0;
                let kept = if unchanged || moved == 0.0 { signs[i] } else { moved.signum() };
                let begins = self.begins(event, lane, *t, [before, after])?;
                self.resets.signs[i][lane] = begins.unwrap_or(kept);
                continue;
            };
            let way = if hit.rising { 1.0 } else { -1.0 };
            if hit.finally {
                // It stays where it is, and happens again when it has come from the other side.
                let tracks = &mut self.resets.tracks[i];
                (tracks[0][lane], tracks[1][lane], tracks[2][lane], tracks[3][lane]) =
                    (f64::NAN, f64::NAN, 0.0, 0.0);
                self.resets.finals[i][lane] = *t;
                self.resets.signs[i][lane] = way;
                continue;
            }
            let since = (*t - self.resets.tracks[i][0][lane]).abs();
            let farthest = FARTHEST * if since.is_nan() { self.h[lane].abs() } else { since };
            let (slope, _) = self.slopes(what, lane, *t, before, farthest)?;
            let (turned, bend) = self.slopes(what, lane, *t, after, farthest)?;
            if moved != value && [slope, turned, bend] == [0.0; 3] {
                // Nothing but resets moves it.
                self.resets.signs[i][lane] = if moved == 0.0 { way } else { moved.signum() };
                continue;
            }
            let vanishes = moved.abs() <= (4.0 * value.abs()).max(VANISHES * slope.abs() * span);
            let still = turned.abs() <= STILL * slope.abs();
            let (turns, moves) = self.turns(what, lane, *t, [before, after])?;
            let back = turns && if still { way * bend <= 0.0 } else { way * turned < 0.0 };
            // Turned back by its own reset, and on again by that of another event: it happens once more.
            let again =
                !back && event.reset().is_some() && way * self.slopes(what, lane, *t, own, farthest)?.0 < 0.0;
            self.resets.signs[i][lane] = match vanishes {
                false => moved.signum(),
                true if back || again => -way,
                true => way,
            };
            if event.reset().is_none() || !turns && moves && !again {
                continue;
            }
            let rests = vanishes && still && way * bend > 0.0;
            let noise = self.noise(what, lane, *t, before)?;
            let endless = self.track(i, lane, *t, (slope, noise), vanishes && back);
            if rests || endless {
                stuck = stuck.or(Some(i));
            }
        }
        if *ticks {
            self.put_on_tick(lane, *t, after)?;
            return Ok(stuck);
        }
        self.put(lane, *t, after)?;
        if let Pacing::Adaptive { .. } = self.pacing {
            let since = hits.iter().map(|hit| self.resets.tracks[hit.event][1][lane]);
            let most = AHEAD * since.filter(|since| *since > 0.0).fold(f64::INFINITY, f64::min);
            self.next[lane] = self.next[lane].abs().min(most).copysign(self.next[lane]);
        }
        Ok(stuck)
    }

    /// Whether an event has just set what it sets finally in a lane.
    pub(crate) fn is_final(&self, event: usize, lane: usize) -> bool {
        let t = self.t[lane];
        (t - self.resets.finals[event][lane]).abs() <= NOTHING * (t - self.start).abs()
    }

    /// The sign of an observable just after a lane's time, where it vanishes at it.
    pub(crate) fn tendency_of(&mut self, what: Observable, lane: usize) -> Result<f64, RunError> {
        let state = self.block.lane(lane);
        let farthest = FARTHEST * self.h[lane].abs();
        let (slope, bend) = self.slopes(what, lane, self.t[lane], &state, farthest)?;
        Ok(if slope == 0.0 { bend } else { slope })
    }

    /// Remembers when an event has reset a lane; returns whether it will do so again and again.
    fn track(&mut self, event: usize, lane: usize, t: f64, (slope, noise): (f64, f64), back: bool) -> bool {
        let [last, before, shrinking, at_once] = &mut self.resets.tracks[event];
        let interval = (t - last[lane]).abs();
        if interval <= ROUNDINGS * f64::EPSILON * t.abs() {
            at_once[lane] += 1.0;
            return at_once[lane] >= AT_ONCE;
        }
        at_once[lane] = 0.0;
        let ratio = interval / before[lane];
        // Without a time before, this is NaN, and not less than anything.
        shrinking[lane] = if ratio < 1.0 { shrinking[lane] + 1.0 } else { 0.0 };
        (last[lane], before[lane]) = (t, interval);
        let rest = interval * ratio / (1.0 - ratio);
        let ends = shrinking[lane] >= SHRINKING && rest <= NOTHING * (t - self.start).abs();
        let is_noise = slope.abs() * interval <= ROUNDINGS * noise;
        back && (ends || is_noise)
    }

    /// Puts a lane at the end of a step that was taken somewhere else, where it begins anew.
    fn put_on_tick(&mut self, lane: usize, t: f64, state: &[f64]) -> Result<(), RunError> {
        let mut lanes = [false; LANES];
        lanes[lane] = true;
        let lanes = &lanes[..self.block.width()];
        let (within, next) = (self.is_within(lane), self.planned_beyond_tick(lane));
        self.block.set_lane(lane, state);
        (self.t[lane], self.late[lane], self.crossed[lane]) = (t, 0.0, f64::MAX);
        self.forget(lanes);
        if let Some(passage) = &mut self.passage {
            passage.forget(lane);
        }
        self.begin_branches(lanes)?;
        self.resets.within[lane] = within;
        match &mut self.pacing {
            Pacing::Fixed { .. } => {}
            Pacing::Density(control) => control.forget(lane),
            Pacing::Adaptive { controller, .. } => {
                if let Some(controller) = controller {
                    controller.before()[lane] = 0.0;
                }
                self.next[lane] = next;
            }
        }
        Ok(())
    }

    /// Puts a lane somewhere else, where it begins anew.
    fn put(&mut self, lane: usize, t: f64, state: &[f64]) -> Result<(), RunError> {
        let mut lanes = [false; LANES];
        lanes[lane] = true;
        let lanes = &lanes[..self.block.width()];
        let end = self.end_of(lane);
        self.block.set_lane(lane, state);
        (self.t[lane], self.late[lane], self.crossed[lane]) = (t, 0.0, f64::MAX);
        self.forget(lanes);
        if let Some(passage) = &mut self.passage {
            passage.forget(lane);
        }
        self.begin_branches(lanes)?;
        let part = self.is_part(lane);
        match &mut self.pacing {
            Pacing::Fixed { grid, done } => {
                // What is left of a step may be no more than rounding.
                let left = (grid.time(done[lane] + 1) - t).abs();
                let whole = !part && end == t || left <= 4.0 * f64::EPSILON * t.abs();
                if whole {
                    done[lane] += 1;
                    self.t[lane] = grid.time(done[lane]);
                }
                self.resets.within[lane] = !whole;
            }
            Pacing::Density(control) => control.forget(lane),
            Pacing::Adaptive { controller, .. } => {
                if let Some(controller) = controller {
                    controller.before()[lane] = 0.0;
                }
                // What is left of the run may be no more than rounding.
                if (self.end - t).abs() <= clock::shortest(&mut Lanes, [t])[0] {
                    self.t[lane] = self.end;
                }
            }
        }
        self.taken[lane] = true;
        self.accepted[lane] += 1;
        self.motion.work_mut().steps += 1;
        Ok(())
    }

    /// Whether an observable changes along the motion from one of these states.
    pub(crate) fn moves(
        &mut self,
        what: Observable,
        (lane, t): (usize, f64),
        states: [&[f64]; 2],
    ) -> Result<bool, RunError> {
        for state in states {
            let (slope, bend) = self.slopes(what, lane, t, state, 0.0)?;
            if slope != 0.0 || bend != 0.0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// An observable at a state of a lane.
    pub(crate) fn value(
        &mut self,
        what: Observable,
        lane: usize,
        t: f64,
        state: &[f64],
    ) -> Result<f64, RunError> {
        let (width, mut values) = (self.block.width(), [0.0; LANES]);
        let states = widened(state, width);
        self.motion.plain().observe(what, &[t; LANES][..width], &states, &mut values[..width])?;
        Ok(values[lane])
    }

    /// How fast an observable changes along the motion from a state, and how fast that changes.
    fn slopes(
        &mut self,
        what: Observable,
        lane: usize,
        t: f64,
        state: &[f64],
        farthest: f64,
    ) -> Result<(f64, f64), RunError> {
        let span = (self.end - self.start).abs();
        let mut delta = (ASIDE * self.h[lane].abs().max(1e-6 * span)).copysign(self.end - self.start);
        let noise = self.noise(what, lane, t, state)?;
        loop {
            let slope = self.slope(what, lane, t, state, delta)?;
            let ahead = self.along(lane, t, state, delta)?;
            let change = self.slope(what, lane, t + delta, &ahead, delta)? - slope;
            let [first, second] = [slope * delta, change * delta].map(f64::abs);
            // Not so in a run of no length, in which all of these are 0.
            let goes_on = (WIDER * delta).abs() < farthest;
            if first.max(second) >= RESOLVED * noise || !goes_on {
                let seen = |value: f64, size: f64| if size > LOST * noise { value } else { 0.0 };
                return Ok((seen(slope, first), seen(change / delta, second)));
            }
            delta *= WIDER;
        }
    }

    fn slope(
        &mut self,
        what: Observable,
        lane: usize,
        t: f64,
        state: &[f64],
        delta: f64,
    ) -> Result<f64, RunError> {
        let (later, earlier) = (self.along(lane, t, state, delta)?, self.along(lane, t, state, -delta)?);
        let difference =
            self.value(what, lane, t + delta, &later)? - self.value(what, lane, t - delta, &earlier)?;
        Ok(difference / (2.0 * delta))
    }

    /// The sign of an observable that a reset of others sets in motion from where it vanishes, if an event happens at once by that: the one that it has come from.
    fn begins(
        &mut self,
        event: &Event,
        lane: usize,
        t: f64,
        [before, after]: [&[f64]; 2],
    ) -> Result<Option<f64>, RunError> {
        let (what, Some(way)) = (event.observable(), event.way()) else { return Ok(None) };
        let value = self.value(what, lane, t, after)?;
        if value.abs() > 4.0 * self.noise(what, lane, t, after)? {
            return Ok(None);
        }
        let [(old, _), (new, _)] =
            [self.slopes(what, lane, t, before, 0.0)?, self.slopes(what, lane, t, after, 0.0)?];
        Ok((way * new > 0.0 && old.abs() <= BEGINS * new.abs()).then_some(-way))
    }

    /// Whether a change of the state changes at once how an observable moves: it reads a number whose rate is another one. And whether it moves behind it.
    fn turns(
        &mut self,
        what: Observable,
        lane: usize,
        t: f64,
        [from, to]: [&[f64]; 2],
    ) -> Result<(bool, bool), RunError> {
        let [before, after] = [self.rates_at(lane, t, from)?, self.rates_at(lane, t, to)?];
        let (here, mut moved) = (self.value(what, lane, t, to)?, to.to_vec());
        let (mut turns, mut moves) = (false, false);
        for i in (0..to.len()).filter(|&i| before[i] != 0.0 || after[i] != 0.0) {
            let rate = before[i].abs().max(after[i].abs());
            moved[i] += (ASIDE * to[i].abs()).max(ASIDE * rate * self.h[lane].abs());
            if self.value(what, lane, t, &moved)? != here {
                turns |= before[i] != after[i];
                moves |= after[i] != 0.0;
            }
            moved[i] = to[i];
        }
        Ok((turns, moves))
    }

    /// A state moved along its rates.
    fn along(&mut self, lane: usize, t: f64, state: &[f64], delta: f64) -> Result<Vec<f64>, RunError> {
        let rates = self.rates_at(lane, t, state)?;
        Ok(state.iter().zip(rates).map(|(y, rate)| y + delta * rate).collect())
    }

    fn rates_at(&mut self, lane: usize, t: f64, state: &[f64]) -> Result<Vec<f64>, RunError> {
        let width = self.block.width();
        let states = widened(state, width);
        let mut rates = vec![0.0; states.len()];
        self.motion.plain().rates(&[t; LANES][..width], &states, &mut rates)?;
        Ok(rates.into_iter().skip(lane).step_by(width).collect())
    }

    /// What roundings of the state make of an observable.
    pub(crate) fn noise(
        &mut self,
        what: Observable,
        lane: usize,
        t: f64,
        state: &[f64],
    ) -> Result<f64, RunError> {
        const APART: f64 = 1e-6;
        let (here, mut sum) = (self.value(what, lane, t, state)?, 0.0);
        let mut moved = state.to_vec();
        for i in (0..state.len()).filter(|&i| state[i] != 0.0) {
            moved[i] = state[i] * (1.0 + APART);
            sum += (self.value(what, lane, t, &moved)? - here).abs();
            moved[i] = state[i];
        }
        Ok(f64::EPSILON * sum / APART)
    }
}
