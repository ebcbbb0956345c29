//! How a run begins: what is checked and made ready, and what lanes forget that start again.

use super::passage::Passage;
use super::switching::Switching;
use super::{Limits, Milestone, Pacing, RunLoop};
use crate::block::Block;
use crate::card::{Card, Kind, Sizing};
use crate::clock;
use crate::controller::Controller;
use crate::dense::{DenseOutput, Polynomial};
use crate::error::RunError;
use crate::natural;
use crate::pace::{Pace, first_steps};
use crate::run::checkpoint::Kept;
use crate::run::density::Control;
use crate::run::grid::Grid;
use crate::step::Motion;
use leastaction_compile::{LANES, Lanes};
use leastaction_mechanics::{Dynamics, Quantity, SwitchKind, System};

/// Steps are not compiled as a whole for a run of fewer: that would take longer than the run.
const FEW_STEPS: u64 = 500;

impl<'d> RunLoop<'d> {
    pub(crate) fn new(
        card: &'static Card,
        pace: &Pace,
        limits: Limits,
        dynamics: &'d mut Dynamics,
        start: f64,
        block: Block,
        end: f64,
    ) -> Result<RunLoop<'d>, RunError> {
        let (width, len) = (block.width(), block.values().len());
        let pacing = match pace {
            &Pace::Step(step) => {
                Pacing::Fixed { grid: Grid::new(start, end, step, limits.steps)?, done: [0; LANES] }
            }
            Pace::Density(density) => {
                Grid::check_times(start, end)?;
                Pacing::Density(Control::new(density, card, dynamics, (start, end))?)
            }
            Pace::Tolerance(tolerance) => {
                tolerance.check(dynamics.system().dimension())?;
                if limits.longest.is_nan() || limits.longest <= 0.0 {
                    return Err(RunError::BadLongest { step: limits.longest });
                }
                Grid::check_times(start, end)?;
                let least = (end - start).abs() / limits.longest;
                if least > limits.steps as f64 {
                    return Err(RunError::TooManySteps { steps: least.ceil(), limit: limits.steps });
                }
                let controller = match card.sizing {
                    Sizing::Given => {
                        return Err(RunError::NotAdaptive { method: card.name, instead: "dop853" });
                    }
                    Sizing::Estimated { order } => Some(Controller::new(order, card.kind == Kind::Implicit)),
                    Sizing::Foreseen => None,
                };
                Pacing::Adaptive { tolerance: tolerance.clone(), controller }
            }
        };
        check(card, pace, dynamics.system(), &block)?;
        let switches = dynamics.system().switches().to_vec();
        // Where a vector vanishes, steps land by what its polynomial says of short ones.
        let direction = switches.iter().find(|switch| switch.kind == SwitchKind::Direction);
        if let (Some(direction), false) = (direction, matches!(pacing, Pacing::Adaptive { .. })) {
            return Err(RunError::Directed { what: direction.what.clone() });
        }
        let mut fixed = dynamics.on_branches()?.map(Box::new);
        let switching = fixed.as_ref().map(|fixed| Switching::new(fixed, &switches, width));
        let seen = fixed.as_deref_mut().unwrap_or(dynamics);
        if seen.system().facts().explicit {
            seen.prepare(&[Quantity::Rates])?;
        }
        let projected = card.is_projected_in(seen.system().facts());
        let mut method = (card.stepper)(seen, width, pace)?;
        let many = match &pacing {
            Pacing::Fixed { grid, .. } => grid.steps > FEW_STEPS,
            Pacing::Adaptive { .. } | Pacing::Density(_) => true,
        };
        // Of an error that is restricted to constraints, all stages are needed.
        if limits.compiled.unwrap_or(many)
            && !projected
            && let Some(compiled) = method.compiled()
        {
            compiled.compile(seen, width)?;
        }
        let side = if matches!(pacing, Pacing::Adaptive { .. }) { len } else { 0 };
        let mut blank = Vec::new();
        method.memory(&mut |part| blank.push(Blank::of(&part)));
        let motion = Motion::on_branches(dynamics, fixed);
        let passes = projected && matches!(pacing, Pacing::Adaptive { .. });
        Ok(RunLoop {
            card,
            method,
            passage: passes.then(|| Box::new(Passage::new(&motion, &block))),
            motion,
            polynomial: Polynomial::new(&block),
            interpolated: false,
            dense: DenseOutput::new(card.order, len),
            change: vec![0.0; len],
            target: if projected { vec![0.0; len] } else { Vec::new() },
            correction: if projected { vec![0.0; len] } else { Vec::new() },
            unmet: None,
            pacing,
            switching,
            resets: super::reset::Resets::default(),
            ticks: super::ticks::Ticks::default(),
            t: [start; LANES],
            late: [0.0; LANES],
            h: [0.0; LANES],
            taken: [false; LANES],
            next: [0.0; LANES],
            start,
            end,
            crossed: [f64::MAX; LANES],
            sides: std::array::from_fn(|_| vec![0.0; side]),
            tried: [0; LANES],
            milestones: Default::default(),
            rough: [0.0; LANES],
            accepted: [0; LANES],
            failures: [const { None }; LANES],
            failed: false,
            blank,
            limits,
            block,
        })
    }

    /// Begins in some lanes, with the states that the block has there: nothing of what came before holds for them.
    pub(crate) fn begin(&mut self, lanes: &[bool]) -> Result<(), RunError> {
        let (width, fresh) = (self.block.width(), |place: &usize| lanes[place % lanes.len()]);
        self.forget(lanes);
        for j in (0..width).filter(|&j| lanes[j]) {
            (self.t[j], self.late[j], self.crossed[j]) = (self.start, 0.0, f64::MAX);
            (self.tried[j], self.accepted[j], self.failures[j]) = (0, 0, None);
            (self.milestones[j], self.rough[j]) = (Milestone::default(), 0.0);
            if let Some(passage) = &mut self.passage {
                passage.forget(j);
            }
            self.resets.forget(j);
        }
        self.begin_ticks(lanes)?;
        self.begin_branches(lanes)?;
        match &mut self.pacing {
            Pacing::Fixed { done, .. } => {
                (0..width).filter(|&j| lanes[j]).for_each(|j| done[j] = 0);
                Ok(())
            }
            Pacing::Density(control) => {
                (0..LANES).filter(fresh).for_each(|lane| control.forget(lane));
                Ok(())
            }
            Pacing::Adaptive { tolerance, controller } => {
                if let Some(controller) = controller {
                    (0..LANES).filter(fresh).for_each(|j| controller.before()[j] = 0.0);
                }
                let sizes = natural::largest(self.block.values(), width);
                // Passages of singular configurations go by the state alone.
                let remembers = self.target.is_empty();
                for (natural, sizes) in self.motion.natural_mut().iter_mut().zip(sizes).filter(|_| remembers)
                {
                    (0..width).filter(|&j| lanes[j]).for_each(|j| natural[j] = sizes[j]);
                }
                let span = self.end - self.start;
                self.motion.span = span.abs();
                let mut first = [span; LANES];
                if controller.is_none() && span != 0.0 && remembers {
                    let RunLoop { motion, block, sides: [rates, at, ..], t, .. } = self;
                    natural::foresee(motion, (&t[..width], block.values()), span, lanes, [rates, at]);
                } else if controller.is_some() && span != 0.0 {
                    let (here, order) = ((&self.t[..width], self.block.values()), self.card.order);
                    let RunLoop { motion, sides, .. } = self;
                    first = first_steps(motion, tolerance, order, here, span, (lanes, remembers), sides)?;
                }
                // The first step is a guess: it should move the time.
                let least = if remembers { 4.0 * clock::shortest(&mut Lanes, [self.start])[0] } else { 0.0 };
                let longer = |step: f64| step.abs().max(least).copysign(span);
                for j in (0..width).filter(|&j| lanes[j]) {
                    // What begins to slip at once begins slowly.
                    let slips = self.switching.as_ref().map_or(0.0, |switching| switching.planned(j).abs());
                    let most = if slips > 0.0 { slips } else { f64::INFINITY };
                    self.next[j] = longer(first[j].abs().min(most));
                }
                Ok(())
            }
        }
    }

    /// The method forgets what it remembers of some lanes.
    pub(super) fn forget(&mut self, lanes: &[bool]) {
        let mut blank = self.blank.iter();
        self.method.memory(&mut |part| {
            // What is remembered has the lanes innermost; what is remembered only sometimes comes last, and has a lane that says whether it holds.
            let Some(blank) = blank.next() else { return };
            match (part, blank) {
                (Kept::Numbers(part), Blank::Numbers(blank)) => renew(part, blank, lanes),
                (Kept::Flags(part), Blank::Flags(blank)) => renew(part, blank, lanes),
                (Kept::Counts(part), Blank::Counts(blank)) => renew(part, blank, lanes),
                (part, blank) => unreachable!("a method remembers {blank:?} as {part:?}"),
            }
        });
    }
}

/// What a method remembers before its first step.
#[derive(Debug)]
pub(super) enum Blank {
    Numbers(Vec<f64>),
    Flags(Vec<bool>),
    Counts(Vec<u64>),
}

impl Blank {
    fn of(part: &Kept<'_>) -> Blank {
        match part {
            Kept::Numbers(numbers) => Blank::Numbers(numbers.to_vec()),
            Kept::Flags(flags) => Blank::Flags(flags.to_vec()),
            Kept::Counts(counts) => Blank::Counts(counts.to_vec()),
        }
    }
}

/// Puts some lanes back to what they were before the first step, as far as that goes.
fn renew<T: Copy>(part: &mut [T], blank: &[T], lanes: &[bool]) {
    let places = part.iter_mut().zip(blank).zip(lanes.iter().cycle());
    places.filter(|(_, fresh)| **fresh).for_each(|((part, blank), _)| *part = *blank);
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
            Err(RunError::BadStart { name: system.state_name(component), value })
        }
    }
}
