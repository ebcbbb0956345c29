//! The course of a run: one step after the other, of one length, as long as a tolerance allows, or from a density.
//!
//! A step is first proposed, and then taken: in between, the run loop may look into it by its polynomial.

mod jump;

use crate::block::{Block, all_finite};
use crate::card::{Card, Kind, Sizing};
use crate::dense::{Polynomial, Weaver};
use crate::error::RunError;
use crate::pace::{Controller, Pace, Tolerance, first_steps};
use crate::run::density::Control;
use crate::run::grid::Grid;
use crate::step::{Interval, Motion, Step, StepError, Work};
use leastaction_compile::LANES;
use leastaction_mechanics::{Dynamics, Grip, ProjectionError, Quantity, System};

/// A block on its way from one time to another.
pub(crate) struct Course<'d> {
    pub(crate) card: &'static Card,
    method: Box<dyn Step>,
    pub(crate) motion: Motion<'d>,
    pub(crate) block: Block,
    pub(crate) polynomial: Polynomial,
    weaver: Weaver,
    change: Vec<f64>,
    /// Where the step leads, and by how much it is moved from there onto constraints; empty if it is not.
    target: Vec<f64>,
    correction: Vec<f64>,
    /// Why the end of the last step that was tried cannot be moved there.
    unmet: Option<StepError>,
    pacing: Pacing,
    /// Where each lane is, and what rounding left of that.
    t: [f64; LANES],
    late: [f64; LANES],
    /// The step that is proposed, in which lanes it will be taken, and the step to try next.
    h: [f64; LANES],
    taken: [bool; LANES],
    next: [f64; LANES],
    pub(crate) start: f64,
    pub(crate) end: f64,
    /// Where each lane last crossed a jump of the field; far away if it has not.
    crossed: [f64; LANES],
    /// The field on both sides of one; empty if no tolerance sets the steps.
    sides: [Vec<f64>; 3],
    limits: Limits,
}

/// What a run must not exceed, and how it is compiled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) steps: u64,
    /// The longest step that a tolerance may find.
    pub(crate) longest: f64,
    pub(crate) compiled: Option<bool>,
}

/// What sets the steps.
enum Pacing {
    Fixed { grid: Grid, done: u64 },
    Adaptive { tolerance: Tolerance, controller: Option<Controller> },
    Density(Control),
}

/// Steps are not compiled as a whole for a run of fewer: that would take longer than the run.
const FEW_STEPS: u64 = 500;

/// Implicit methods keep their step where it could grow by less than this.
const KEPT: std::ops::RangeInclusive<f64> = 1.0..=1.2;
/// Errors across constraints are not made smaller than this, relative to the state.
const ACROSS: f64 = 1e-6;
/// A step this short, relative to the time, no longer moves the time.
const SHORTEST: f64 = 4.0 * f64::EPSILON;
/// A run looks at the field so often at least, unless all is known without a look: less would not show a hill or a pulse on the way. Estimates
/// have about as many looks in a step as their order is.
const LOOKS: f64 = 100.0;
/// An estimate smaller than this, relative to the tolerance, is no reason for a longer step.
const GROUNDLESS: f64 = 1e-4;

impl<'d> Course<'d> {
    pub(crate) fn new(
        card: &'static Card,
        pace: &Pace,
        limits: Limits,
        dynamics: &'d mut Dynamics,
        start: f64,
        block: Block,
        end: f64,
    ) -> Result<Course<'d>, RunError> {
        let (width, len) = (block.width(), block.values().len());
        let pacing = match pace {
            &Pace::Step(step) => Pacing::Fixed { grid: Grid::new(start, end, step, limits.steps)?, done: 0 },
            Pace::Density(density) => {
                Grid::check_times(start, end)?;
                Pacing::Density(Control::new(density, card, dynamics, (start, end))?)
            }
            &Pace::Tolerance(tolerance) => {
                tolerance.check()?;
                if limits.longest.is_nan() || limits.longest <= 0.0 {
                    return Err(RunError::BadLongest { step: limits.longest });
                }
                Grid::check_times(start, end)?;
                let controller = match card.sizing {
                    Sizing::Given => {
                        return Err(RunError::NotAdaptive { method: card.name, instead: "dop853" });
                    }
                    Sizing::Estimated { order } => Some(Controller::new(order)),
                    Sizing::Foreseen => None,
                };
                Pacing::Adaptive { tolerance, controller }
            }
        };
        check(card, pace, dynamics.system(), &block)?;
        if dynamics.system().facts().closed {
            dynamics.prepare(&[Quantity::Field])?;
        }
        let projected = card.is_projected_in(dynamics.system().facts());
        let mut method = (card.stepper)(dynamics, width, pace)?;
        let many = match &pacing {
            Pacing::Fixed { grid, .. } => grid.steps > FEW_STEPS,
            Pacing::Adaptive { .. } | Pacing::Density(_) => true,
        };
        if limits.compiled.unwrap_or(many) {
            method.compile(dynamics, width)?;
        }
        let side = if matches!(pacing, Pacing::Adaptive { .. }) { len } else { 0 };
        let mut course = Course {
            card,
            method,
            motion: Motion::new(dynamics),
            polynomial: Polynomial::new(&block),
            weaver: Weaver::new(card.order, len),
            change: vec![0.0; len],
            target: if projected { vec![0.0; len] } else { Vec::new() },
            correction: if projected { vec![0.0; len] } else { Vec::new() },
            unmet: None,
            pacing,
            t: [start; LANES],
            late: [0.0; LANES],
            h: [0.0; LANES],
            taken: [false; LANES],
            next: [0.0; LANES],
            start,
            end,
            crossed: [f64::MAX; LANES],
            sides: std::array::from_fn(|_| vec![0.0; side]),
            limits,
            block,
        };
        if let Pacing::Adaptive { tolerance, controller } = &course.pacing
            && start != end
        {
            let (t, y, span) = (&course.t[..width], course.block.values(), end - start);
            course.next = match controller {
                Some(_) => first_steps(&mut course.motion, *tolerance, card.order, t, y, span)?,
                None => [span; LANES],
            };
        }
        Ok(course)
    }

    /// The time of each lane.
    pub(crate) fn times(&self) -> &[f64] {
        &self.t[..self.block.width()]
    }

    /// How many steps were taken.
    pub(crate) fn count(&self) -> u64 {
        self.motion.work().steps
    }

    /// The time at which the proposed step of a lane ends.
    #[inline]
    pub(crate) fn end_of(&self, lane: usize) -> f64 {
        match &self.pacing {
            Pacing::Fixed { grid, done } => grid.time(*done + 1),
            _ if self.reaches_end(lane) => self.end,
            _ => self.t[lane] + (self.late[lane] + self.h[lane]),
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
        match &self.pacing {
            Pacing::Fixed { grid, done } => *done == grid.steps,
            _ => self.times().iter().all(|t| *t == self.end),
        }
    }

    /// Finds a step that can be taken, in at least one lane.
    pub(crate) fn propose(&mut self) -> Result<(), RunError> {
        match &self.pacing {
            Pacing::Fixed { grid, done } => {
                self.t.fill(grid.time(*done));
                self.h.fill(grid.step(*done));
                self.taken.fill(true);
                self.try_surely()
            }
            Pacing::Density(_) => {
                self.check_limit()?;
                let left = std::array::from_fn(|j| self.left(j));
                let width = self.block.width();
                let Pacing::Density(control) = &mut self.pacing else { return Ok(()) };
                control.propose(&mut self.motion, &self.t[..width], &left, &self.block, &mut self.h)?;
                self.check_lengths()?;
                self.taken = self.h.map(|h| h != 0.0);
                self.try_surely()
            }
            &Pacing::Adaptive { tolerance, .. } => loop {
                self.check_limit()?;
                if self.try_adaptive(tolerance)? {
                    return Ok(());
                }
            },
        }
    }

    /// The polynomial of the proposed step.
    pub(crate) fn weave(&mut self) -> Result<(), RunError> {
        let Course { motion, block, change, polynomial, .. } = self;
        let interval = interval(&self.t, &self.h, block.width());
        if !self.method.polynomial(motion, interval, block, change, polynomial)? {
            self.weaver.weave(motion, interval, block, change, polynomial)?;
        } else if !self.target.is_empty() {
            // A method's own polynomial does not know that its end was moved.
            polynomial.lead_to(change);
        }
        Ok(())
    }

    /// The states at a fraction of the proposed step and the time there, the same in all lanes: on the constraints, if there are any.
    pub(crate) fn inside(&mut self, tau: f64, time: f64, out: &mut [f64]) -> Result<(), StepError> {
        let width = self.block.width();
        self.polynomial.at(&[tau; LANES][..width], out);
        if self.motion.system().facts().constrained {
            self.motion.dynamics().project(&[time; LANES][..width], out)?;
        }
        Ok(())
    }

    /// Takes the proposed step.
    pub(crate) fn take(&mut self) {
        let width = self.block.width();
        self.unmet = None;
        self.block.add_in(&self.taken[..width], &self.change);
        self.method.accept(&self.taken[..width]);
        if !self.target.is_empty() {
            self.method.displaced();
        }
        for j in (0..width).filter(|&j| self.taken[j]) {
            let end = self.end_of(j);
            if let Pacing::Density(control) = &mut self.pacing {
                control.accept(j);
            }
            if !matches!(self.pacing, Pacing::Fixed { .. }) {
                let moved = self.late[j] + self.h[j];
                self.late[j] = if end == self.end { 0.0 } else { moved - (end - self.t[j]) };
            }
            self.t[j] = end;
        }
        if let Pacing::Fixed { done, .. } = &mut self.pacing {
            *done += 1;
        }
        self.motion.work_mut().steps += 1;
    }

    /// Shows every number that the rest of the run depends on.
    pub(crate) fn memory(&mut self, visit: &mut dyn FnMut(&mut [f64])) {
        self.block.memory(visit);
        for lanes in [&mut self.t, &mut self.late, &mut self.h, &mut self.next, &mut self.crossed] {
            visit(lanes);
        }
        match &mut self.pacing {
            Pacing::Fixed { done, .. } => visit_count(done, visit),
            Pacing::Adaptive { controller: Some(controller), .. } => controller.memory(visit),
            Pacing::Adaptive { controller: None, .. } => {}
            Pacing::Density(control) => control.memory(visit),
        }
        let Work { steps, rejected, evaluations, jacobians, iterations } = self.motion.work_mut();
        for count in [steps, rejected, evaluations, jacobians, iterations] {
            visit_count(count, visit);
        }
        self.method.memory(visit);
    }

    fn try_step(&mut self) -> Result<(), StepError> {
        let interval = interval(&self.t, &self.h, self.block.width());
        self.method.step(&mut self.motion, interval, &self.block, &mut self.change)
    }

    /// Moves the end of the step onto the constraints, where the method does not.
    fn project(&mut self) -> Result<(), StepError> {
        if self.target.is_empty() {
            return Ok(());
        }
        let width = self.block.width();
        let mut ends = [0.0; LANES];
        ends.iter_mut().enumerate().take(width).for_each(|(j, end)| *end = self.end_of(j));
        self.block.after(0, &self.change, &mut self.target);
        if !all_finite(self.target.iter().copied()) {
            return Ok(()); // the step has failed already
        }
        let found = self.motion.dynamics().project_by(&ends[..width], &mut self.target, &mut self.correction);
        self.change.iter_mut().zip(&self.correction).for_each(|(change, correction)| *change += correction);
        Ok(found.map(|_| ())?)
    }

    /// A step that must be good, as no other will be tried.
    fn try_surely(&mut self) -> Result<(), RunError> {
        self.try_step().map_err(|error| self.explained(error))?;
        self.project()?;
        match self.not_finite() {
            None => Ok(()),
            Some((component, lane)) => Err(self.broken(component, lane)),
        }
    }

    /// Why a step was not solved, if the constraints are the reason: they cannot be met when it ends, or are singular about there.
    fn explained(&mut self, error: StepError) -> StepError {
        let StepError::NoConvergence { t, lane, .. } = error else { return error };
        let system = self.motion.system().clone();
        if !system.facts().constrained {
            return error;
        }
        let (begin, end, dynamics) = ([self.t[lane]], [self.end_of(lane)], self.motion.dynamics());
        let (y, mut grip) = (self.block.lane(lane), Grip::new(&system, 1));
        if let Err(ProjectionError::Unmet { t, constraints, .. }) = dynamics.project(&end, &mut y.clone()) {
            return ProjectionError::Unmet { t, lane, constraints }.into();
        }
        let mut ahead = y.clone();
        let mut v = vec![0.0; system.degrees()];
        let known = dynamics.velocities(&begin, &y, &mut v);
        ahead.iter_mut().zip(&v).for_each(|(q, v)| *q += self.h[lane] * v);
        let ahead_is_known = known.is_ok() && dynamics.project(&end, &mut ahead).is_ok();
        let mut singular = |t, y: &[f64]| grip.take(dynamics, t, y).is_ok() && !grip.is_clear(0);
        if singular(&begin, &y) || ahead_is_known && singular(&end, &ahead) {
            return StepError::Singular { t, lane };
        }
        error
    }

    /// Whether another step is allowed.
    fn check_limit(&self) -> Result<(), RunError> {
        let work = self.motion.work();
        let limit = self.limits.steps;
        if work.steps + work.rejected >= limit {
            return Err(RunError::OutOfSteps { t: self.t[0], limit });
        }
        Ok(())
    }

    /// Whether the steps to try move the time.
    fn check_lengths(&self) -> Result<(), RunError> {
        let short = |&j: &usize| self.t[j] != self.end && self.h[j].abs() <= SHORTEST * self.t[j].abs();
        match (0..self.block.width()).find(short) {
            Some(lane) => Err(RunError::StepTooShort { t: self.t[lane], step: self.h[lane], lane }),
            None => Ok(()),
        }
    }

    /// The density of steps where the first lane is, if a density sets them.
    pub(crate) fn density(&mut self) -> Option<f64> {
        let Pacing::Density(control) = &self.pacing else { return None };
        let t = &self.t[..self.block.width()];
        control.density(self.motion.dynamics(), t, &self.block).ok()
    }

    /// Tries a step of a length of its own in every lane; returns whether one can be taken.
    fn try_adaptive(&mut self, tolerance: Tolerance) -> Result<bool, RunError> {
        let width = self.block.width();
        (0..width).for_each(|j| self.h[j] = self.fitted(j));
        let foreseen = self.card.sizing == Sizing::Foreseen;
        if foreseen {
            let (t, h) = (&self.t[..width], &mut self.h[..width]);
            let look = (self.end - self.start).abs() / LOOKS;
            self.method.foresee(&mut self.motion, t, &self.block, look, h)?;
        }
        let mut crossing = [false; LANES];
        while let Err(error) = self.check_lengths() {
            // If constraints cannot be met however short the step is, that is the reason.
            let unmet = self.unmet.take().map(RunError::from);
            let RunError::StepTooShort { lane, .. } = error else { return Err(error) };
            if unmet.is_some() || !self.is_jump(lane)? {
                return Err(unmet.unwrap_or(error));
            }
            self.h[lane] = self.crossing();
            crossing[lane] = true;
        }
        let mut ratios = [0.0; LANES];
        if let Err(error) = self.try_step() {
            // A step that cannot be solved is too long, unless it cannot be shorter.
            let Some(lane) = error.lane().filter(|&lane| self.h[lane] != 0.0 && !foreseen) else {
                return Err(error.into());
            };
            self.next[lane] = 0.25 * self.h[lane];
            self.motion.work_mut().rejected += 1;
            return Ok(false);
        }
        if let Err(error) = self.project() {
            // Where the end could not be moved the change is NaN, and the step was too long.
            if foreseen || error.lane().is_none_or(|lane| self.h[lane] == 0.0) {
                return Err(error.into());
            }
            self.unmet = Some(error);
        }
        if !foreseen {
            self.estimate(tolerance, &mut ratios[..width]);
        }
        for (j, ratio) in ratios.iter_mut().enumerate().take(width) {
            let finite = (j..self.change.len()).step_by(width).all(|i| self.change[i].is_finite());
            *ratio = match () {
                () if !finite => f64::NAN,
                () if crossing[j] => 1.0,
                () => *ratio,
            };
            self.judge(j, *ratio)?;
            if crossing[j] && self.taken[j] {
                (self.crossed[j], self.next[j]) =
                    (self.t[j], if foreseen { self.next[j] } else { self.h[j] });
            }
        }
        let taken = self.taken[..width].iter().any(|&taken| taken);
        if !taken {
            self.motion.work_mut().rejected += 1;
        }
        Ok(taken)
    }

    /// The error of the step as a multiple of what is tolerated. If its end is moved onto constraints, errors along them remain, and of
    /// errors across them what their square is: the energy that goes with them. Where constraints are nearly singular, rounding is as large
    /// across them as [`ACROSS`]: judged by that, no step would be short enough to leave such a place.
    fn estimate(&mut self, tolerance: Tolerance, ratios: &mut [f64]) {
        let width = self.block.width();
        let mut ends = [0.0; LANES];
        ends.iter_mut().enumerate().take(width).for_each(|(j, end)| *end = self.end_of(j));
        let Course { method, motion, block, change, target, .. } = self;
        method.error(tolerance, block, change, ratios);
        if target.is_empty() {
            return;
        }
        let mut along = [0.0; LANES];
        method.error_within(tolerance, block, change, &mut along[..width], &mut |errors| {
            // What cannot be restricted stays as it is.
            let _ = motion.dynamics().restrict(&ends[..width], target, errors);
        });
        for (j, ratio) in ratios.iter_mut().enumerate() {
            let size = target.iter().skip(j).step_by(width).fold(0.0f64, |size, y| size.max(y.abs()));
            let tolerated = tolerance.relative + tolerance.absolute / size.max(f64::MIN_POSITIVE);
            let across = (*ratio * tolerated).powi(2) / tolerated.max(ACROSS * ACROSS);
            *ratio = ratio.min(along[j].max(across));
        }
    }

    /// Whether a lane takes its step, and which it tries next.
    fn judge(&mut self, lane: usize, ratio: f64) -> Result<(), RunError> {
        let resting = self.h[lane] == 0.0;
        self.taken[lane] = !resting && ratio <= 1.0;
        if resting {
            return Ok(());
        }
        let Pacing::Adaptive { controller, .. } = &mut self.pacing else { return Ok(()) };
        match controller {
            Some(controller) => {
                let factor = controller.factor(lane, ratio);
                // What an implicit method has factored serves while its step stays.
                let stays = self.card.kind == Kind::Implicit && KEPT.contains(&factor);
                self.next[lane] = if stays { self.h[lane] } else { self.h[lane] * factor };
                let leap = (self.end - self.start).abs() * f64::from(self.card.order) / (2.0 * LOOKS);
                if ratio < GROUNDLESS && self.next[lane].abs() > leap {
                    self.next[lane] = self.h[lane].abs().max(leap).copysign(self.h[lane]);
                }
            }
            None if ratio.is_nan() => {
                let component = self.not_finite().map_or(0, |(component, _)| component);
                return Err(self.broken(component, lane));
            }
            None => {}
        }
        Ok(())
    }

    /// What is left to go in a lane.
    fn left(&self, lane: usize) -> f64 {
        if self.t[lane] == self.end { 0.0 } else { (self.end - self.t[lane]) - self.late[lane] }
    }

    fn reaches_end(&self, lane: usize) -> bool {
        self.h[lane].abs() >= self.left(lane).abs()
    }

    /// The next step of a lane, such that none much shorter remains for the end.
    fn fitted(&self, lane: usize) -> f64 {
        let left = self.left(lane);
        let next = self.next[lane].abs().min(self.limits.longest).copysign(self.next[lane]);
        match left.abs() / next.abs() {
            ratio if ratio > 2.0 => next,
            ratio if ratio > 1.0 => 0.5 * left,
            _ => left,
        }
    }

    /// The component and lane in which the proposed step leads to an infinity or a NaN.
    fn not_finite(&self) -> Option<(usize, usize)> {
        let moved = self.block.values().iter().zip(&self.change).map(|(y, change)| y + change);
        if all_finite(moved.clone()) {
            return None;
        }
        let place = moved.clone().position(|y| !y.is_finite())?;
        Some((place / self.block.width(), place % self.block.width()))
    }

    fn broken(&self, component: usize, lane: usize) -> RunError {
        let place = component * self.block.width() + lane;
        let value = self.block.values()[place] + self.change[place];
        let name = component_name(self.motion.system(), component);
        RunError::NotFinite { t: self.end_of(lane), name, lane, value }
    }
}

/// Counts stay below 2⁵³, where every whole number is a float.
fn visit_count(count: &mut u64, visit: &mut dyn FnMut(&mut [f64])) {
    let mut number = [*count as f64];
    visit(&mut number);
    *count = number[0] as u64;
}

fn interval<'a>(t: &'a [f64; LANES], h: &'a [f64; LANES], width: usize) -> Interval<'a> {
    Interval { t: &t[..width], h: &h[..width] }
}

/// Whether a method applies to a system, and the start to both.
fn check(card: &'static Card, pace: &Pace, system: &System, block: &Block) -> Result<(), RunError> {
    let facts = system.facts();
    if facts.constrained && !card.needs.met_by(facts) {
        let steps = facts.holonomic && !matches!(pace, Pace::Tolerance(_));
        let instead = if steps { "rattle" } else { "dop853" };
        return Err(RunError::Constrained { method: card.name, instead });
    }
    if !card.needs.met_by(facts) {
        let Card { name: method, needs, .. } = *card;
        let instead = if matches!(pace, Pace::Tolerance(_)) { "dop853" } else { "gauss4" };
        return Err(RunError::NotApplicable { method, needs, instead });
    }
    if block.dimension() != system.dimension() {
        return Err(RunError::WrongLength { expected: system.dimension(), found: block.dimension() });
    }
    match block.not_finite() {
        None => Ok(()),
        Some((component, lane)) => {
            let value = block.lane(lane)[component];
            Err(RunError::BadStart { name: component_name(system, component), value })
        }
    }
}

/// The name of a component of the state.
fn component_name(system: &System, component: usize) -> String {
    let names = system.coordinates().iter().chain(system.momenta());
    names.skip(component).take(1).cloned().collect()
}
