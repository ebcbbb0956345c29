//! The implicit midpoint rule, the Gauss method of one stage.
//!
//! $$y_1=y_0+\Delta,\qquad \Delta=h\,f\bigl(t+\tfrac h2,\;y_0+\tfrac12\Delta\bigr)$$
//!
//! It is symplectic, symmetric, and keeps quadratic invariants, because its equation is symmetric in y₀ and y₁.

use crate::block::{Block, scale};
use crate::card::{Card, Keeps, Kind, Needs};
use crate::implicit::{Equation, Solver};
use crate::step::{Interval, Motion, Step, StepError};
use leastaction_mechanics::EvalError;

pub(super) const CARD: Card = Card {
    name: "implicit-midpoint",
    about: "implicit midpoint rule (Gauss, one stage)",
    order: 2,
    keeps: &[Keeps::Symplectic, Keeps::Reversible, Keeps::Quadratic],
    needs: Needs::Field,
    kind: Kind::Implicit,
    cite: "doi:10.1007/3-540-30666-8, sections II.1.3, V.2, VI.4",
    stepper: |block| Box::new(ImplicitMidpoint::new(block)),
};

struct ImplicitMidpoint {
    solver: Solver,
    /// The increment Δ.
    change: Vec<f64>,
    at: Vec<f64>,
    /// Δ/h of the last step and of the one before it, from which the next is guessed.
    slope: Vec<f64>,
    slope_before: Vec<f64>,
    steps: u32,
}

impl ImplicitMidpoint {
    fn new(block: &Block) -> ImplicitMidpoint {
        let memory = || vec![0.0; block.values().len()];
        ImplicitMidpoint {
            solver: Solver::new(block.values().len()),
            change: memory(),
            at: memory(),
            slope: memory(),
            slope_before: memory(),
            steps: 0,
        }
    }

    /// Guesses the increment: along the field at first, later by the line through the last two slopes.
    fn guess(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
    ) -> Result<(), StepError> {
        match self.steps {
            0 => motion.rates(interval, 0.5, block.values(), &mut self.change)?,
            1 => self.change.copy_from_slice(&self.slope),
            _ => {
                let slopes = self.slope.iter().zip(&self.slope_before);
                self.change.iter_mut().zip(slopes).for_each(|(guess, (s, before))| *guess = 2.0 * s - before);
            }
        }
        scale(&mut self.change, interval.h);
        Ok(())
    }

    fn remember(&mut self, interval: Interval<'_>) {
        std::mem::swap(&mut self.slope, &mut self.slope_before);
        let mut lanes = interval.h.iter().cycle();
        for (slope, change) in self.slope.iter_mut().zip(&self.change) {
            *slope = change / lanes.next().unwrap_or(&1.0);
        }
        self.steps = self.steps.saturating_add(1);
    }
}

impl Step for ImplicitMidpoint {
    fn advance(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &mut Block,
    ) -> Result<(), StepError> {
        self.guess(motion, interval, block)?;
        let ImplicitMidpoint { solver, change, at, .. } = self;
        let y = block.values();
        let mut equation = Midpoint { motion, interval, y, at };
        let iterations = solver.solve(interval.t, y, change, &mut equation)?;
        motion.count_iterations(iterations);
        block.add(0, &self.change);
        self.remember(interval);
        Ok(())
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
