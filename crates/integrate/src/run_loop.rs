//! The run loop: one step after the other, of one length, as long as a tolerance allows, or from a density.
//!
//! A step is first proposed, and then taken: in between, the run loop may look into it by its polynomial.

mod adaptive;
mod begin;
mod compiled;
mod constrained;
mod jump;
mod passage;
pub(crate) mod reset;
pub(crate) mod switching;
pub(crate) mod ticks;

use crate::block::{Block, all_finite};
use crate::card::Card;
use crate::clock::{self, first};
use crate::controller::Controller;
use crate::dense::{DenseOutput, Polynomial};
use crate::error::RunError;
use crate::pace::Tolerance;
use crate::run::checkpoint::Kept;
use crate::run::density::Control;
use crate::run::grid::Grid;
use crate::step::{Interval, Motion, Step, StepError, Work};
use begin::Blank;
use leastaction_compile::{LANES, Lanes, Loops, vectorized};
use leastaction_mechanics::EvalError;
use passage::Passage;
use reset::Resets;
use switching::Switching;
use ticks::Ticks;

/// A block on its way from one time to another.
pub(crate) struct RunLoop<'d> {
    pub(crate) card: &'static Card,
    method: Box<dyn Step>,
    pub(crate) motion: Motion<'d>,
    pub(crate) block: Block,
    pub(crate) polynomial: Polynomial,
    /// Whether the polynomial is that of the proposed step.
    interpolated: bool,
    dense: DenseOutput,
    change: Vec<f64>,
    /// Where the step leads, and by how much it is moved from there onto constraints; empty if it is not.
    target: Vec<f64>,
    correction: Vec<f64>,
    /// How configurations are passed in which constraints depend on each other, where steps are moved and a tolerance sets them.
    passage: Option<Box<Passage>>,
    /// Why the end of the last step that was tried cannot be moved there.
    unmet: Option<StepError>,
    pacing: Pacing,
    /// The switches of the system, if it has some.
    switching: Option<Switching>,
    /// What is remembered of events.
    pub(crate) resets: Resets,
    pub(crate) ticks: Ticks,
    /// Where each lane is, and what rounding left of that.
    pub(crate) t: [f64; LANES],
    late: [f64; LANES],
    /// The step that is proposed, in which lanes it will be taken, and the step to try next.
    h: [f64; LANES],
    taken: [bool; LANES],
    next: [f64; LANES],
    pub(crate) start: f64,
    pub(crate) end: f64,
    /// Where each lane last crossed a jump of the field; far away if it has not.
    crossed: [f64; LANES],
    /// Memory for looks at the field, as on both sides of a jump; empty if no tolerance sets the steps.
    sides: [Vec<f64>; 4],
    /// How many steps each lane has tried, and taken.
    tried: [u64; LANES],
    milestones: [Milestone; LANES],
    /// How large momenta count at least in each lane, for a coordinate of 1.
    rough: [f64; LANES],
    accepted: [u64; LANES],
    /// Why a lane cannot go on, until somebody asks; and whether there is such a lane.
    failures: [Option<RunError>; LANES],
    failed: bool,
    /// What the method remembers before its first step.
    blank: Vec<Blank>,
    limits: Limits,
}

/// Where a lane was when it had tried half of so many steps, and all of them.
#[derive(Clone, Copy, Debug, Default)]
struct Milestone {
    tried: u64,
    half: f64,
    t: f64,
}

/// What a run must not exceed, and how it is compiled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) steps: u64,
    /// The longest step that a tolerance may find.
    pub(crate) longest: f64,
    /// By so many roundings a step ends beyond a border that it lands on.
    pub(crate) beyond: f64,
    pub(crate) compiled: Option<bool>,
}

/// What sets the steps.
enum Pacing {
    /// Steps of one length, and how many of them each lane has behind it.
    Fixed {
        grid: Grid,
        done: [u64; LANES],
    },
    Adaptive {
        tolerance: Tolerance,
        controller: Option<Controller>,
    },
    Density(Control),
}

impl RunLoop<'_> {
    /// A lane rests from now on.
    pub(crate) fn rest(&mut self, lane: usize) {
        (self.t[lane], self.late[lane], self.failures[lane]) = (self.end, 0.0, None);
        if let Pacing::Fixed { grid, done } = &mut self.pacing {
            done[lane] = grid.steps;
        }
    }

    /// Whether a lane is at the end, or rests.
    #[inline]
    pub(crate) fn is_over(&self, lane: usize) -> bool {
        match &self.pacing {
            Pacing::Fixed { grid, done } => done[lane] == grid.steps,
            _ => self.t[lane] == self.end,
        }
    }

    /// How many steps a lane has taken.
    pub(crate) fn accepted(&self, lane: usize) -> u64 {
        self.accepted[lane]
    }

    /// Whether a lane cannot go on.
    #[inline]
    pub(crate) fn has_failed(&self) -> bool {
        self.failed
    }

    /// Whether a lane is at the end, or rests.
    #[inline]
    pub(crate) fn any_over(&self) -> bool {
        (0..self.block.width()).fold(false, |any, lane| any | self.is_over(lane))
    }

    /// Why a lane cannot go on.
    pub(crate) fn failure(&mut self, lane: usize) -> Option<RunError> {
        if self.failed { self.failures[lane].take() } else { None }
    }

    /// The proposed step will not be taken in a lane.
    pub(crate) fn decline(&mut self, lane: usize) {
        self.taken[lane] = false;
    }

    /// Whether the proposed step will be taken in a lane.
    pub(crate) fn is_taken(&self, lane: usize) -> bool {
        self.taken[lane]
    }

    /// The time of each lane.
    pub(crate) fn times(&self) -> &[f64] {
        &self.t[..self.block.width()]
    }

    /// The time at which the proposed step of the first lane begins, and its length.
    pub(crate) fn proposed(&self) -> (f64, f64) {
        (self.t[0], self.h[0])
    }

    /// Whether the proposed step of the first lane ends on a switch of the system.
    pub(crate) fn ends_on_switch(&self) -> bool {
        self.switching.as_ref().is_some_and(|switching| switching.ends_on_switch(0, self.h[0]))
    }

    /// Whether the proposed step of the first lane passes a configuration in which constraints depend on each other.
    pub(crate) fn is_passage(&self) -> bool {
        self.passage.as_ref().is_some_and(|passage| passage.is_passing(0))
    }

    /// Whether the first lane is on a switch of the system.
    pub(crate) fn is_on_switch(&mut self) -> Result<bool, EvalError> {
        let RunLoop { switching: Some(switching), motion, block, t, .. } = self else { return Ok(false) };
        switching.is_on_switch(motion.dynamics(), &t[..block.width()], block.values())
    }

    /// The method at work.
    pub(crate) fn method(&mut self) -> &mut dyn Step {
        &mut *self.method
    }

    /// How many steps were taken.
    pub(crate) fn count(&self) -> u64 {
        match &self.pacing {
            // Those to a switch, or to a reset, and on to the next time of the grid are one.
            Pacing::Fixed { done, .. } if self.switching.is_some() || self.resets.any() => done[0],
            _ => self.motion.work().steps,
        }
    }

    /// Whether the first lane is not at a switch between two times of a grid.
    pub(crate) fn is_on_grid(&self) -> bool {
        !self.is_within(0) || self.is_adaptive()
    }

    /// Whether a lane is between two times of a grid.
    #[inline(always)]
    fn is_within(&self, lane: usize) -> bool {
        self.resets.is_within(lane)
            || self.switching.as_ref().is_some_and(|switching| switching.is_within(lane))
    }

    /// Whether the system has switches.
    pub(crate) fn has_switches(&self) -> bool {
        self.switching.is_some()
    }

    pub(crate) fn is_adaptive(&self) -> bool {
        !matches!(self.pacing, Pacing::Fixed { .. })
    }

    /// Whether the proposed step of a lane ends before the next time of a grid.
    #[inline(always)]
    fn is_part(&self, lane: usize) -> bool {
        self.ticks.landing(lane, self.h[lane]).is_some()
            || self.switching.as_ref().is_some_and(|switching| switching.is_part(lane))
    }

    /// The time at which the proposed step of a lane ends.
    #[inline(always)]
    pub(crate) fn end_of(&self, lane: usize) -> f64 {
        match &self.pacing {
            Pacing::Fixed { grid, done } if !self.is_part(lane) => grid.time(done[lane] + 1),
            Pacing::Fixed { .. } => {
                let by_length = self.t[lane] + self.h[lane];
                self.ticks.landing(lane, self.h[lane]).unwrap_or(by_length)
            }
            _ => {
                let (now, left) = ([[self.t[lane]], [self.late[lane]]], [self.left(lane)]);
                clock::reach(&mut Lanes, now, [self.h[lane]], left, [self.end])[0][0]
            }
        }
    }

    /// What a component of the first lane will be after the proposed step.
    pub(crate) fn after(&self, component: usize) -> f64 {
        let (mut after, place) = ([0.0], component * self.block.width());
        self.block.after(component, &self.change[place..], &mut after);
        after[0]
    }

    /// Whether every lane has come to the end.
    pub(crate) fn is_done(&self) -> bool {
        (0..self.block.width()).all(|lane| self.is_over(lane))
    }

    /// Finds a step that can be taken in at least one lane, and that fails in none.
    pub(crate) fn propose(&mut self) -> Result<(), RunError> {
        self.propose_each()?;
        if self.failed
            && let Some(error) = self.failures.iter_mut().find_map(Option::take)
        {
            return Err(error);
        }
        Ok(())
    }

    /// Finds a step that can be taken in at least one lane, if there is one that can go on. Lanes in which it fails are left where they are, and
    /// [`RunLoop::failure`] tells why. An error is one that may have left its marks in the others.
    pub(crate) fn propose_each(&mut self) -> Result<(), RunError> {
        self.failed = false;
        self.change_branches()?;
        loop {
            self.propose_next()?;
            if self.land()? {
                return Ok(());
            }
        }
    }

    /// Finds a step that can be taken in at least one lane, whatever switches it passes.
    fn propose_next(&mut self) -> Result<(), RunError> {
        match &self.pacing {
            Pacing::Fixed { .. } => {
                self.fit_to_grid();
                self.limit_steps()?;
                self.try_surely()
            }
            Pacing::Density(_) => {
                self.check_limit::<LANES>();
                let left = std::array::from_fn(|j| self.left(j));
                let width = self.block.width();
                let Pacing::Density(control) = &mut self.pacing else {
                    unreachable!("the pace does not change")
                };
                control.propose(&mut self.motion, &self.t[..width], &left, &self.block, &mut self.h)?;
                self.limit_steps()?;
                if let Some(lane) = (0..width).find(|&lane| self.is_too_short(lane)) {
                    return Err(RunError::StepTooShort { t: self.t[lane], step: self.h[lane], lane });
                }
                for j in 0..width {
                    self.taken[j] = self.h[j] != 0.0 && self.goes_on(j);
                    self.tried[j] += u64::from(self.taken[j]);
                }
                self.try_surely()
            }
            Pacing::Adaptive { tolerance, .. } => {
                let tolerance = tolerance.clone();
                loop {
                    let proposed = match self.block.width() {
                        1 => self.try_adaptive::<1>(&tolerance)?,
                        _ => self.try_adaptive::<LANES>(&tolerance)?,
                    };
                    if proposed {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// The polynomial of the proposed step.
    pub(crate) fn interpolate(&mut self) -> Result<(), RunError> {
        if std::mem::replace(&mut self.interpolated, true) {
            return Ok(());
        }
        let RunLoop { motion, block, change, polynomial, .. } = self;
        let interval = interval(&self.t, &self.h, block.width());
        let Some(method) = self.method.interpolated() else {
            self.dense.interpolate(motion, interval, block, change, polynomial)?;
            self.interpolate_passage();
            return Ok(());
        };
        method.polynomial(motion, interval, block, change, polynomial)?;
        if !self.target.is_empty() {
            // A method's own polynomial does not know that its end was moved.
            polynomial.lead_to(change);
            self.interpolate_passage();
        }
        Ok(())
    }

    /// The states at a fraction of the proposed step of a lane and the time there: on the constraints, if there are any. What other lanes get
    /// means nothing.
    pub(crate) fn inside(
        &mut self,
        lane: usize,
        tau: f64,
        time: f64,
        out: &mut [f64],
    ) -> Result<(), StepError> {
        let width = self.block.width();
        self.polynomial.at(&[tau; LANES][..width], out);
        if self.motion.system().facts().constrained {
            let placed = self.motion.dynamics().project(&[time; LANES][..width], out);
            // An error tells of the first lane that it is about.
            if let Err(error) = placed
                && !all_finite(out.iter().skip(lane).step_by(width).copied())
            {
                return Err(error.into());
            }
        }
        Ok(())
    }

    /// Takes the proposed step.
    pub(crate) fn take(&mut self) {
        match self.block.width() {
            1 => self.take_in::<1>(),
            _ => vectorized(Take(self)),
        }
    }

    #[inline(always)]
    fn take_in<const W: usize>(&mut self) {
        self.unmet = None;
        self.block.add_in(&self.taken[..W], &self.change);
        if self.passage.is_none() {
            self.method.accept(&self.taken[..W]);
        } else {
            self.accept_passage::<W>();
        }
        if !self.target.is_empty() {
            self.method.displaced();
        }
        match &mut self.pacing {
            Pacing::Fixed { grid, done } => {
                for j in 0..W {
                    let tick = self.ticks.landing(j, self.h[j]);
                    let part = self.switching.as_ref().is_some_and(|switching| switching.is_part(j));
                    let (whole, to) = match tick {
                        Some(tick) => (0, tick),
                        None if part => (0, self.t[j] + self.h[j]),
                        None => (1, grid.time(done[j] + 1)),
                    };
                    done[j] += if self.taken[j] { whole } else { 0 };
                    self.t[j] = if self.taken[j] { to } else { self.t[j] };
                }
            }
            Pacing::Density(control) => (0..W).filter(|&j| self.taken[j]).for_each(|j| control.accept(j)),
            Pacing::Adaptive { .. } => {}
        }
        if !matches!(self.pacing, Pacing::Fixed { .. }) {
            let (a, t, late, end) = (&mut Lanes, first::<W>(&self.t), first::<W>(&self.late), [self.end; W]);
            let left = clock::left(a, t, late, end);
            let [to, lost] = clock::reach(a, [t, late], first(&self.h), left, end);
            for j in 0..W {
                self.late[j] = if self.taken[j] { lost[j] } else { late[j] };
                self.t[j] = if self.taken[j] { to[j] } else { t[j] };
            }
        }
        if let Some(switching) = &mut self.switching {
            (0..W).filter(|&j| self.taken[j]).for_each(|j| switching.accept(j, self.h[j]));
        }
        for j in (0..W).filter(|&j| self.taken[j]) {
            let part = self.ticks.landing(j, self.h[j]).is_some();
            self.resets.accept(j, part);
        }
        (0..W).for_each(|j| self.accepted[j] += u64::from(self.taken[j]));
        self.motion.work_mut().steps += 1;
    }

    /// Shows every number that the rest of the run depends on.
    pub(crate) fn memory(&mut self, visit: &mut dyn FnMut(Kept<'_>)) {
        let width = self.block.width();
        self.block.memory(visit);
        for lanes in [&mut self.t, &mut self.late, &mut self.h, &mut self.next, &mut self.crossed] {
            visit(Kept::Numbers(lanes));
        }
        match &mut self.pacing {
            Pacing::Fixed { done, .. } => {
                visit(Kept::Counts(&mut done[..width]));
            }
            Pacing::Adaptive { controller, .. } => {
                if let Some(controller) = controller {
                    visit(Kept::Numbers(controller.before()));
                }
                self.motion.natural_mut().iter_mut().for_each(|sizes| visit(Kept::Numbers(sizes)));
                visit(Kept::Numbers(&mut self.rough));
            }
            Pacing::Density(control) => control.memory(visit),
        }
        visit(Kept::Counts(&mut self.tried[..width]));
        if let Some(passage) = &mut self.passage {
            passage.memory(visit);
        }
        let Work { steps, rejected, evaluations, jacobians, iterations } = self.motion.work_mut();
        for count in [steps, rejected, evaluations, jacobians, iterations] {
            visit(Kept::Counts(std::slice::from_mut(count)));
        }
        if let Some(switching) = &mut self.switching {
            switching.memory(visit);
        }
        self.resets.memory(visit);
        self.ticks.memory(visit);
        self.method.memory(visit);
    }

    fn try_step(&mut self) -> Result<(), StepError> {
        self.interpolated = false;
        let interval = interval(&self.t, &self.h, self.block.width());
        self.method.step(&mut self.motion, interval, &self.block, &mut self.change)
    }

    /// The next steps of a grid.
    #[inline]
    fn fit_to_grid(&mut self) {
        let Pacing::Fixed { grid, done } = &self.pacing else {
            unreachable!("only steps of one length are on a grid")
        };
        for (j, done) in done.iter().enumerate().take(self.block.width()) {
            let over = *done == grid.steps;
            let within = self.resets.is_within(j)
                || self.switching.as_ref().is_some_and(|switching| switching.is_within(j));
            (self.t[j], self.h[j]) = match () {
                () if over => (grid.time(*done), 0.0),
                () if within => (self.t[j], grid.time(*done + 1) - self.t[j]),
                () => (grid.time(*done), grid.step(*done)),
            };
            self.taken[j] = !over;
        }
    }

    /// A step that must be good, as no other will be tried.
    fn try_surely(&mut self) -> Result<(), RunError> {
        let stepped = self.try_step();
        self.settle_surely(stepped)
    }

    fn settle_surely(&mut self, stepped: Result<(), StepError>) -> Result<(), RunError> {
        stepped.map_err(|error| self.explained(error))?;
        self.project()?;
        self.check_changes();
        Ok(())
    }

    /// Fails in lanes in which the proposed step leads to an infinity or a NaN.
    #[inline]
    fn check_changes(&mut self) {
        let moved = self.block.values().iter().zip(&self.change).map(|(y, change)| y + change);
        if all_finite(moved) {
            return;
        }
        for lane in 0..self.block.width() {
            if self.taken[lane]
                && let Some(error) = self.broken(lane)
            {
                self.fail(lane, error);
            }
        }
    }

    /// A lane cannot go on.
    #[cold]
    fn fail(&mut self, lane: usize, error: RunError) {
        (self.failures[lane], self.taken[lane], self.failed) = (Some(error), false, true);
    }

    /// Whether a lane still has somewhere to go.
    fn goes_on(&self, lane: usize) -> bool {
        !(self.is_over(lane) || self.failed && self.failures[lane].is_some())
    }

    /// The density of steps where the first lane is, if a density sets them.
    pub(crate) fn density(&mut self) -> Option<f64> {
        let Pacing::Density(control) = &self.pacing else { return None };
        let t = &self.t[..self.block.width()];
        control.density(self.motion.plain(), t, &self.block).ok()
    }

    /// What is left to go in a lane.
    #[inline(always)]
    fn left(&self, lane: usize) -> f64 {
        clock::left(&mut Lanes, [self.t[lane]], [self.late[lane]], [self.end])[0]
    }

    /// That the proposed step of a lane leads to an infinity or a NaN, if it does.
    fn broken(&mut self, lane: usize) -> Option<RunError> {
        let width = self.block.width();
        let moved = |component: usize| {
            self.block.values()[component * width + lane] + self.change[component * width + lane]
        };
        let component = (0..self.block.dimension()).find(|&i| !moved(i).is_finite())?;
        let (t, value) = (self.end_of(lane), moved(component));
        // Positions may be finite still: they tell which element it was.
        let y: Vec<f64> = (0..self.block.dimension()).map(moved).collect();
        let positions = &y[..self.motion.system().degrees()];
        let finite = positions.iter().all(|x| x.is_finite());
        let element = if finite { self.motion.plain().broken_element(t, &y).ok().flatten() } else { None };
        let name = self.motion.system().state_name(component);
        Some(RunError::NotFinite { t, name, lane, value, element })
    }
}

struct Take<'c, 'd>(&'c mut RunLoop<'d>);

impl Loops for Take<'_, '_> {
    type Result = ();

    #[inline(always)]
    fn run(self) {
        self.0.take_in::<LANES>();
    }
}

fn interval<'a>(t: &'a [f64; LANES], h: &'a [f64; LANES], width: usize) -> Interval<'a> {
    Interval { t: &t[..width], h: &h[..width] }
}
