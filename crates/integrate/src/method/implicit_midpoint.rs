//! The implicit midpoint rule, the Gauss method of one stage.
//!
//! $$y_1=y_0+\Delta,\qquad \Delta=h\,f\bigl(t+\tfrac h2,\;y_0+\tfrac12\Delta\bigr)$$
//!
//! It is symplectic, symmetric, and keeps quadratic invariants, because its equation is symmetric in y₀ and y₁.

use crate::block::{Block, scale};
use crate::card::{Card, Keeps, Kind, Needs, Sizing};
use crate::implicit::{Equation, Solver};
use crate::step::{Interval, Motion, Step, StepError};
use leastaction_compile::LANES;
use leastaction_mechanics::EvalError;

pub(super) const CARD: Card = Card {
    name: "implicit-midpoint",
    about: "implicit midpoint rule (Gauss, one stage)",
    order: 2,
    keeps: &[Keeps::Symplectic, Keeps::Reversible, Keeps::Quadratic],
    needs: Needs::Field,
    kind: Kind::Implicit,
    sizing: Sizing::Given,
    cite: "doi:10.1007/3-540-30666-8, sections II.1.3, V.2, VI.4",
    stepper: |dynamics, width, _| Ok(Box::new(ImplicitMidpoint::new(dynamics.system().dimension() * width))),
};

struct ImplicitMidpoint {
    solver: Solver,
    at: Vec<f64>,
    /// Δ/h of the last try, of the last step, and of the one before it, from which the next is guessed.
    slope: Vec<f64>,
    before: Vec<f64>,
    earlier: Vec<f64>,
    /// How many steps each lane has behind it, up to two.
    steps: [f64; LANES],
}

impl ImplicitMidpoint {
    fn new(len: usize) -> ImplicitMidpoint {
        let memory = || vec![0.0; len];
        ImplicitMidpoint {
            solver: Solver::new(len),
            at: memory(),
            slope: memory(),
            before: memory(),
            earlier: memory(),
            steps: [0.0; LANES],
        }
    }

    /// Guesses the increment: along the field at first, later by the line through the last two slopes.
    fn guess(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        change: &mut [f64],
    ) -> Result<(), StepError> {
        let width = interval.h.len();
        if self.steps[..width].contains(&0.0) {
            motion.rates(interval, 0.5, block.values(), change)?;
        }
        let rows = self.before.chunks_exact(width).zip(self.earlier.chunks_exact(width));
        for (guess, (before, earlier)) in change.chunks_exact_mut(width).zip(rows) {
            for j in 0..width {
                guess[j] = match self.steps[j] {
                    0.0 => guess[j],
                    1.0 => before[j],
                    _ => 2.0 * before[j] - earlier[j],
                };
            }
        }
        scale(change, interval.h);
        Ok(())
    }
}

impl Step for ImplicitMidpoint {
    fn step(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        change: &mut [f64],
    ) -> Result<(), StepError> {
        self.guess(motion, interval, block, change)?;
        let ImplicitMidpoint { solver, at, slope, .. } = self;
        let y = block.values();
        let iterations = solver.solve(interval.t, y, change, &mut Midpoint { motion, interval, y, at })?;
        motion.work_mut().iterations += u64::from(iterations);
        let mut lanes = interval.h.iter().cycle();
        for (slope, change) in slope.iter_mut().zip(change.iter()) {
            *slope = change / lanes.next().unwrap_or(&1.0);
        }
        Ok(())
    }

    fn accept(&mut self, lanes: &[bool]) {
        let width = lanes.len();
        for i in 0..self.slope.len() {
            if lanes[i % width] {
                self.earlier[i] = self.before[i];
                self.before[i] = self.slope[i];
            }
        }
        let taken = self.steps.iter_mut().zip(lanes).filter(|(_, taken)| **taken);
        taken.for_each(|(steps, _)| *steps = (*steps + 1.0).min(2.0));
    }

    fn memory(&mut self, visit: &mut dyn FnMut(&mut [f64])) {
        visit(&mut self.before);
        visit(&mut self.earlier);
        visit(&mut self.steps);
    }
}

/// Δ = h f(t + h/2, y + Δ/2).
struct Midpoint<'a, 'd> {
    motion: &'a mut Motion<'d>,
    interval: Interval<'a>,
    y: &'a [f64],
    at: &'a mut [f64],
}

impl Midpoint<'_, '_> {
    fn go(&mut self, change: &[f64]) {
        let halves = self.y.iter().zip(change).map(|(y, change)| y + 0.5 * change);
        self.at.iter_mut().zip(halves).for_each(|(at, y)| *at = y);
    }
}

impl Equation for Midpoint<'_, '_> {
    fn image(&mut self, change: &[f64], image: &mut [f64]) -> Result<(), EvalError> {
        self.go(change);
        self.motion.rates(self.interval, 0.5, self.at, image)?;
        scale(image, self.interval.h);
        Ok(())
    }

    fn slope(&mut self, change: &[f64], matrix: &mut [f64]) -> Result<(), EvalError> {
        self.go(change);
        self.motion.slopes(self.interval, 0.5, self.at, matrix)?;
        scale(matrix, self.interval.h);
        matrix.iter_mut().for_each(|entry| *entry *= 0.5);
        Ok(())
    }
}
