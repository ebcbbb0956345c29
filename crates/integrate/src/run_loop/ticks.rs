//! Ticks: events that happen at the start of a run and then again and again after a time. Steps end on them, whatever sets their lengths.
//!
//! The k-th tick is at start + k·period, never at a sum: many ticks do not drift. What is nearer to a tick than rounding of times is on it, so that ticks, times of
//! a grid, samples and the end of a run meet where they should.

use super::RunLoop;
use crate::clock;
use crate::error::RunError;
use crate::run::checkpoint::Kept;
use crate::run::event::Event;
use leastaction_compile::{LANES, Lanes};
use leastaction_mechanics::Observable;

/// Two steps of half the way to a tick are tried in place of one that leads over half of it by this factor: by rounding alone it may, too.
const CLEARLY: f64 = 1.001;

/// The ticks of a run.
#[derive(Debug, Default)]
pub(crate) struct Ticks {
    clocks: Vec<Clock>,
    /// When the first ones were, and whether that was in a run that this one goes on with.
    origin: f64,
    goes_on: bool,
    /// How long the proposed step of each lane is, if it ends on a tick before it would otherwise; and how long it would be.
    landing: [Option<f64>; LANES],
    planned: [f64; LANES],
}

#[derive(Debug)]
struct Clock {
    event: usize,
    name: String,
    what: Observable,
    period: [f64; LANES],
    /// How many ticks each lane has behind it.
    passed: [f64; LANES],
}

impl Clock {
    fn next(&self, origin: f64, lane: usize) -> f64 {
        origin + self.passed[lane] * self.period[lane]
    }
}

/// Times that are no farther apart than this are the same to ticks.
fn near(t: f64) -> f64 {
    clock::shortest(&mut Lanes, [t])[0].max(f64::MIN_POSITIVE)
}

impl Ticks {
    /// The ticks among events, of a run from a time on that may go on with one from an earlier time on.
    pub(crate) fn new(events: &[Event], start: f64, since: Option<f64>) -> Ticks {
        let ticking = events.iter().enumerate().filter(|(_, event)| event.ticks());
        let clocks = ticking.map(|(event, of)| Clock {
            event,
            name: of.reset().map_or(String::new(), |reset| reset.event().to_owned()),
            what: of.observable(),
            period: [f64::NAN; LANES],
            passed: [0.0; LANES],
        });
        let (origin, goes_on) = (since.unwrap_or(start), since.is_some());
        Ticks { clocks: clocks.collect(), origin, goes_on, ..Ticks::default() }
    }

    /// Whether there are any.
    pub(crate) fn any(&self) -> bool {
        !self.clocks.is_empty()
    }

    /// The next tick of a lane.
    fn next(&self, lane: usize) -> Option<f64> {
        self.clocks.iter().map(|clock| clock.next(self.origin, lane)).reduce(f64::min)
    }

    /// The tick on which the proposed step of a lane ends, if that is of this length.
    #[inline(always)]
    pub(super) fn landing(&self, lane: usize, h: f64) -> Option<f64> {
        if self.landing[lane] == Some(h) { self.next(lane) } else { None }
    }

    /// Shows all that the rest of a run depends on.
    pub(super) fn memory(&mut self, visit: &mut dyn FnMut(Kept<'_>)) {
        if self.any() {
            visit(Kept::Numbers(std::slice::from_mut(&mut self.origin)));
            self.clocks.iter_mut().for_each(|clock| visit(Kept::Numbers(&mut clock.passed)));
        }
    }
}

impl RunLoop<'_> {
    /// Finds the periods of lanes that begin, and the first ticks that are not behind them.
    pub(super) fn begin_ticks(&mut self, lanes: &[bool]) -> Result<(), RunError> {
        let width = self.block.width();
        let RunLoop {
            ticks: Ticks { clocks, origin, goes_on, landing, planned },
            motion,
            block,
            t,
            start,
            end,
            limits,
            ..
        } = self;
        let (span, before) = (*end - *origin, *start - *origin);
        for clock in clocks {
            let mut periods = [0.0; LANES];
            motion.plain().observe(clock.what, &t[..width], block.values(), &mut periods[..width])?;
            for lane in (0..width).filter(|&lane| lanes[lane]) {
                let (period, event) = (periods[lane], &clock.name);
                if !(period > 0.0 && period.is_finite()) {
                    return Err(RunError::BadPeriod { event: event.clone(), period, lane });
                }
                let (ticks, limit) = (span / period, limits.steps);
                if ticks > limit as f64 {
                    return Err(RunError::TooManyTicks { event: event.clone(), period, ticks, limit, lane });
                }
                clock.period[lane] = period;
                // Those at a start that is not the first belong to the run before.
                let behind = ((before + near(*start)) / period).floor() + 1.0;
                clock.passed[lane] = if *goes_on { behind } else { 0.0 };
                (landing[lane], planned[lane]) = (None, 0.0);
            }
        }
        Ok(())
    }

    /// Shortens steps that would go beyond a tick.
    pub(super) fn limit_by_ticks(&mut self) {
        for lane in 0..self.block.width() {
            let (t, h) = (self.t[lane], self.h[lane]);
            self.ticks.landing[lane] = None;
            let Some(tick) = self.ticks.next(lane).filter(|_| h != 0.0) else { continue };
            let left = (tick - t) - self.late[lane];
            self.ticks.planned[lane] = h;
            // The end of a step that is as near as rounding is on the tick already.
            if h > left + near(tick) {
                self.h[lane] = left;
                self.ticks.landing[lane] = Some(left);
            } else if self.is_adaptive() && h < left - near(tick) && 2.0 * h > CLEARLY * left {
                // None much shorter remains for the tick; nor for what this one was to end on, such as the end of the run.
                self.h[lane] = 0.5 * left;
            }
        }
    }

    /// Which events tick where a lane is, in their order. They count as past.
    pub(crate) fn pass_ticks(&mut self, lane: usize) -> Option<(f64, Vec<usize>)> {
        let (mut t, tick) = (self.t[lane], self.ticks.next(lane)?);
        if tick - t > near(t) {
            return None;
        }
        // Times of a grid, and the end, stay what they are.
        if self.is_adaptive() && t != self.end {
            t = tick;
        }
        let Ticks { clocks, origin, .. } = &mut self.ticks;
        let mut due = Vec::new();
        for clock in clocks.iter_mut().filter(|clock| clock.next(*origin, lane) - t <= near(t)) {
            due.push(clock.event);
            clock.passed[lane] += 1.0;
        }
        Some((t, due))
    }

    /// The step to try behind a tick.
    pub(super) fn planned_beyond_tick(&self, lane: usize) -> f64 {
        self.next[lane].max(self.ticks.planned[lane])
    }

    /// How far from the end of a step a sample may be and is still taken there: not at all, unless there are ticks, which samples should follow and not precede.
    pub(crate) fn slack(&self, t: f64) -> f64 {
        if self.ticks.any() { near(t) } else { 0.0 }
    }
}
