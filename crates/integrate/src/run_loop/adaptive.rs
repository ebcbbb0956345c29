//! Steps as long as a tolerance allows.
//!
//! All lanes are treated alike, without branches where that can be: what is rare comes after a look whether any lane has it.

use super::compiled::leap;
use super::{Milestone, Pacing, RunLoop};
use crate::card::Sizing;
use crate::clock::{self, first};
use crate::controller::{self, Judged};
use crate::error::RunError;
use crate::natural;
use crate::pace::Tolerance;
use crate::step::StepError;
use leastaction_compile::{Arithmetic, LANES, Lanes, Loops, vectorized};

/// Errors across constraints are not made smaller than this, relative to the state.
const ACROSS: f64 = 1e-6;
/// A run looks at the field so often at least, unless all is known without a look: less would not show a hill or a pulse on the way. Estimates
/// have about as many looks in a step as their order is.
pub(super) const LOOKS: f64 = 100.0;

/// A lane is looked at when it has tried so many steps, and whenever it has tried twice as many.
const FIRST_MARK: u64 = 1 << 6;
/// Behind bounces that have added up to an end, a step that is foreseen may be so many times as long as the one before.
const LONGER: f64 = 8.0;

/// A run of so many steps is long, a power of two;
const LONG_RUN: u64 = 1 << 15;
/// it becomes faster if the last half of its steps leads so many times as far, each, as those before;
const FASTER: f64 = 1.5;
/// and if it does not, it has no hope to end with so many times the steps that are allowed.
const HOPELESS: f64 = 1e4;

/// How many steps a lane will have tried when it is looked at next.
pub(super) fn next_mark(tried: u64) -> u64 {
    (tried + 1).next_power_of_two().max(FIRST_MARK)
}

fn is_marked(tried: u64) -> bool {
    tried >= FIRST_MARK && tried.is_power_of_two()
}

/// Lanes that cross a jump of the field, if there are any.
pub(super) type Crossing = Option<[bool; LANES]>;

impl RunLoop<'_> {
    /// Tries a step of a length of its own in every lane; returns whether one can be taken, or none is left that goes on.
    pub(super) fn try_adaptive<const W: usize>(&mut self, tolerance: &Tolerance) -> Result<bool, RunError> {
        let Some(crossing) = self.ready::<W>()? else { return Ok(true) };
        self.pass::<W>(tolerance)?;
        let stepped = self.try_other_lanes();
        self.settle::<W>(tolerance, crossing, stepped)
    }

    /// The steps to try, and lanes that cross a jump with theirs; `None` if no lane goes on.
    #[inline]
    pub(super) fn ready<const W: usize>(&mut self) -> Result<Option<Crossing>, RunError> {
        self.check_limit::<W>();
        if !vectorized(Fit::<W>(self)) {
            self.taken.fill(false);
            return Ok(None);
        }
        self.limit_steps()?;
        if self.card.sizing == Sizing::Foreseen {
            let (t, h) = (&self.t[..W], &mut self.h[..W]);
            let look = (self.end - self.start).abs() / LOOKS;
            let Some(method) = self.method.foreseen() else {
                unreachable!("the card of {} says that it foresees its steps", self.card.name)
            };
            method.foresee(&mut self.motion, t, &self.block, look, h)?;
        }
        if self.any_too_short::<W>() { self.cross().map(Some) } else { Ok(Some(None)) }
    }

    /// What becomes of a step that was tried; returns whether it can be taken in a lane.
    #[inline]
    pub(super) fn settle<const W: usize>(
        &mut self,
        tolerance: &Tolerance,
        crossing: Crossing,
        stepped: Result<(), StepError>,
    ) -> Result<bool, RunError> {
        let foreseen = self.card.sizing == Sizing::Foreseen;
        if let Err(error) = stepped {
            // A step that cannot be solved is too long, unless it cannot be shorter.
            let Some(lane) = error.lane().filter(|&lane| self.h[lane] != 0.0 && !foreseen) else {
                return Err(error.into());
            };
            self.next[lane] = 0.25 * self.h[lane];
            if let Pacing::Adaptive { controller: Some(controller), .. } = &mut self.pacing {
                // Or the step would be taken for the first after one that was taken, and tried for ever.
                controller.before()[lane] = controller::REJECTED;
            }
            self.motion.work_mut().rejected += 1;
            self.taken.fill(false);
            return Ok(false);
        }
        if let Err(error) = self.project() {
            // Where the end could not be moved the change is NaN, and the step was too long.
            if foreseen || error.lane().is_none_or(|lane| self.h[lane] == 0.0) {
                return Err(error.into());
            }
            self.unmet = Some(error);
        }
        let mut ratios = [0.0; LANES];
        if !foreseen {
            self.estimate(tolerance, &mut ratios[..W]);
        }
        if let Some(crossing) = crossing {
            (0..W).filter(|&j| crossing[j]).for_each(|j| ratios[j] = 1.0);
        }
        let kept = self.judge_passage::<W>(&mut ratios);
        vectorized(Judge::<W>(self, &ratios));
        if let Some(kept) = kept {
            self.restore_pace(&kept);
        }
        if let Some(crossing) = crossing {
            for j in (0..W).filter(|&j| crossing[j] && self.taken[j]) {
                (self.crossed[j], self.next[j]) =
                    (self.t[j], if foreseen { self.next[j] } else { self.h[j] });
            }
        }
        let taken = self.taken[..W].contains(&true);
        self.motion.work_mut().rejected += u64::from(!taken);
        Ok(taken)
    }

    /// The next steps, such that none much shorter remains for the end; 0 in lanes that do not go on. Returns whether one goes on.
    #[inline(always)]
    fn fit<const W: usize>(&mut self) -> bool {
        let (t, end, a) = (first::<W>(&self.t), [self.end; W], &mut Lanes);
        let left = clock::left(a, t, first(&self.late), end);
        let fitted = clock::fit(a, left, first(&self.next), [self.limits.longest; W]);
        let mut going = false;
        for j in 0..W {
            let goes_on = t[j] != self.end;
            self.h[j] = if goes_on { fitted[j] } else { 0.0 };
            self.tried[j] += u64::from(goes_on);
            going |= goes_on;
        }
        if self.failed {
            going = false;
            for j in 0..W {
                if self.t[j] != self.end && self.failures[j].is_some() {
                    self.tried[j] -= 1;
                    self.h[j] = 0.0;
                }
                going |= self.h[j] != 0.0;
            }
        }
        going
    }

    #[inline]
    fn any_too_short<const W: usize>(&self) -> bool {
        let shortest = clock::shortest(&mut Lanes, first::<W>(&self.t));
        let short =
            |short: bool, j: usize| short | (self.h[j].abs() <= shortest[j]) & (self.t[j] != self.end);
        (0..W).fold(false, short)
    }

    /// Whether the step to try does not move the time of a lane.
    pub(super) fn is_too_short(&self, lane: usize) -> bool {
        self.h[lane].abs() <= clock::shortest(&mut Lanes, [self.t[lane]])[0] && self.goes_on(lane)
    }

    /// Finds steps for lanes that no step is short enough for: those that cross a jump. The others fail.
    #[cold]
    fn cross(&mut self) -> Result<Crossing, RunError> {
        let (mut crossing, width) = ([false; LANES], self.block.width());
        while let Some(lane) = (0..width).find(|&lane| self.is_too_short(lane)) {
            // If constraints cannot be met however short the step is, that is the reason.
            let unmet = self.unmet.take_if(|unmet| unmet.lane() == Some(lane)).map(RunError::from);
            if unmet.is_none() && self.has_just_stepped(lane) {
                self.h[lane] = 4.0 * clock::shortest(&mut Lanes, [self.t[lane]])[0].copysign(self.h[lane]);
                continue;
            }
            if unmet.is_none() && self.is_jump(lane)? {
                (self.h[lane], crossing[lane]) = (self.crossing(), true);
                continue;
            }
            let error = RunError::StepTooShort { t: self.t[lane], step: self.h[lane], lane };
            self.fail(lane, unmet.unwrap_or(error));
            self.h[lane] = 0.0;
        }
        Ok(crossing.contains(&true).then_some(crossing))
    }

    /// Whether the last step that a lane has tried was taken: then the next may be longer than what the one before it was allowed.
    fn has_just_stepped(&mut self, lane: usize) -> bool {
        match &mut self.pacing {
            Pacing::Adaptive { controller: Some(controller), .. } => {
                self.accepted[lane] > 0 && controller.before()[lane] <= 0.0
            }
            _ => false,
        }
    }

    /// The error of the step as a multiple of what is tolerated. If its end is moved onto constraints, errors along them remain, and of
    /// errors across them what their square is: the energy that goes with them. Where constraints are nearly singular, rounding is as large
    /// across them as [`ACROSS`]: judged by that, no step would be short enough to leave such a place.
    fn estimate(&mut self, tolerance: &Tolerance, ratios: &mut [f64]) {
        let width = self.block.width();
        let mut ends = [0.0; LANES];
        if !self.target.is_empty() {
            ends.iter_mut().enumerate().take(width).for_each(|(j, end)| *end = self.end_of(j));
        }
        let RunLoop { method, motion, block, change, target, .. } = self;
        let Some(method) = method.estimated() else {
            unreachable!("the card of {} says that it estimates its errors", self.card.name)
        };
        method.error(motion, tolerance, block, change, ratios);
        if target.is_empty() {
            return;
        }
        let mut along = [0.0; LANES];
        method.error_within(motion, tolerance, block, change, &mut along[..width], &mut |motion, errors| {
            // What cannot be restricted stays as it is.
            let _ = motion.dynamics().restrict(&ends[..width], target, errors);
        });
        for (j, ratio) in ratios.iter_mut().enumerate() {
            let size = target.iter().skip(j).step_by(width).fold(0.0f64, |size, y| size.max(y.abs()));
            let tolerated = tolerance.relative + tolerance.absolute.smallest() / size.max(f64::MIN_POSITIVE);
            let across = (*ratio * tolerated).powi(2) / tolerated.max(ACROSS * ACROSS);
            *ratio = ratio.min(along[j].max(across));
        }
    }

    /// Which lanes take their steps, and which they try next.
    #[inline(always)]
    fn judge<const W: usize>(&mut self, ratios: &[f64; LANES]) {
        let (a, h) = (&mut Lanes, first::<W>(&self.h));
        let spoiled = clock::spoiled(a, self.change.as_chunks::<W>().0);
        let ratio = a.add(first(ratios), spoiled);
        let taken = controller::taken(a, h, ratio);
        (0..W).for_each(|j| self.taken[j] = taken[j] < 0.0);
        let rests = |j: usize| self.switching.as_ref().is_some_and(|switching| switching.slides(j));
        let held: [bool; LANES] = std::array::from_fn(|j| j < W && rests(j));
        if self.target.is_empty() {
            let [before, change] = [self.block.values(), &self.change].map(|rows| rows.as_chunks::<W>().0);
            let sizes = natural::sizes(a, before, change);
            let known = self.motion.natural().each_ref().map(|size| first(size));
            let fading = [natural::fading(self.start, self.end); W];
            let after = natural::follow(a, known, sizes, [taken, h, fading, first(&self.rough)]);
            for (natural, after) in self.motion.natural_mut().iter_mut().zip(after) {
                // Nothing of what is held is small because it has died away.
                natural.iter_mut().zip(after).zip(held).for_each(|((natural, after), held)| {
                    *natural = if held { after.max(*natural) } else { after };
                });
            }
        } else {
            // Where ends are moved onto constraints, nothing is remembered: passages of singular configurations go by the state alone.
            let sizes = natural::largest(self.block.values(), W)[0];
            let momenta = &mut self.motion.natural_mut()[1];
            (0..W).for_each(|j| momenta[j] = self.rough[j].max(0.0) * sizes[j]);
        }
        let Pacing::Adaptive { controller, .. } = &mut self.pacing else {
            unreachable!("only steps that a tolerance sets are judged")
        };
        let Some(controller) = controller else {
            return (0..W).for_each(|j| self.judge_foreseen(j, ratio[j]));
        };
        let leap = leap(self.start, self.end, self.card.order);
        let memory = [first(&self.next), first(controller.before())];
        let Judged { next, before } = controller.judge(a, h, ratio, memory, [leap; W]);
        self.next[..W].copy_from_slice(&next);
        controller.before()[..W].copy_from_slice(&before);
    }

    /// A step that was foreseen is taken, or leads nowhere.
    fn judge_foreseen(&mut self, lane: usize, ratio: f64) {
        if self.resets.any_final(lane) && self.taken[lane] {
            // Bounces that added up to an end have left short steps behind.
            let longer = self.next[lane].max(LONGER * self.h[lane]);
            self.next[lane] = longer.min(self.end - self.start);
        }
        if ratio.is_nan()
            && self.h[lane] != 0.0
            && let Some(error) = self.broken(lane)
        {
            self.fail(lane, error);
        }
    }

    /// Fails in lanes to which no further step is allowed.
    #[inline]
    pub(super) fn check_limit<const W: usize>(&mut self) {
        let limit = self.limits.steps;
        if self.tried[..W].iter().fold(false, |any, tried| any | is_marked(*tried)) {
            let tried = self.tried;
            (0..W).filter(|&lane| is_marked(tried[lane])).for_each(|lane| self.look_ahead(lane));
        }
        if self.tried[..W].iter().fold(false, |any, tried| any | (*tried >= limit)) {
            for lane in 0..self.block.width() {
                if self.tried[lane] >= limit && self.goes_on(lane) {
                    self.fail(lane, RunError::OutOfSteps { t: self.t[lane], limit });
                }
            }
        }
    }
}

impl RunLoop<'_> {
    /// What roundings of coordinates make of momenta in a step, where a lane is.
    fn look_at_noise(&mut self, lane: usize) {
        let RunLoop { motion, block, sides: [rates, at, moved, _], t, next, rough, pacing, .. } = self;
        let Pacing::Adaptive { tolerance, .. } = pacing else { return };
        // Where nothing is lost, no momentum dies away.
        let facts = motion.system().facts();
        let dies_away = facts.dissipative || facts.forced;
        if dies_away && tolerance.relative > 0.0 {
            let here = (&t[..block.width()], block.values());
            rough[lane] =
                natural::rough(motion, here, (lane, next[lane], tolerance.relative), [rates, at, moved]);
        }
    }

    /// Gives a lane up that would take far more steps than it may, if it does not become faster. It is looked at whenever it has tried twice as many as before.
    fn look_ahead(&mut self, lane: usize) {
        let (t, tried, limit) = (self.t[lane], self.tried[lane], self.limits.steps);
        let Milestone { tried: before, half, t: then } = self.milestones[lane];
        if before == tried || !self.goes_on(lane) {
            return;
        }
        self.milestones[lane] = Milestone { tried, half: then, t };
        self.look_at_noise(lane);
        let known = before * 2 == tried && tried >= 4 * LONG_RUN;
        // The way of a step, in the last half of them and in the quarter before that.
        let (last, first) = ((t - then).abs() / before as f64, (then - half).abs() / (before / 2) as f64);
        let steps = tried as f64 + (self.end - t).abs() / last;
        if known && last < FASTER * first && steps > HOPELESS * limit as f64 {
            self.fail(lane, RunError::Endless { t, tried, steps, limit, lane });
        }
    }
}

struct Fit<'c, 'd, const W: usize>(&'c mut RunLoop<'d>);

impl<const W: usize> Loops for Fit<'_, '_, W> {
    type Result = bool;

    #[inline(always)]
    fn run(self) -> bool {
        self.0.fit::<W>()
    }
}

struct Judge<'c, 'd, const W: usize>(&'c mut RunLoop<'d>, &'c [f64; LANES]);

impl<const W: usize> Loops for Judge<'_, '_, W> {
    type Result = ();

    #[inline(always)]
    fn run(self) {
        self.0.judge::<W>(self.1);
    }
}
