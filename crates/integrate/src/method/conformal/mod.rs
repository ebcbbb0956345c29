//! Kicks, drifts and damping: conformal symplectic methods for linear friction, ṗ = −∂V/∂q − Γp with constant Γ.
//!
//! $$\varphi_h=E_{h/2}\circ K_{h/2}\circ D_h\circ K_{h/2}\circ E_{h/2},\qquad E_s\colon\;p\mapsto e^{-\Gamma s}p$$
//!
//! Kicks K and drifts D keep the symplectic form, and damping E contracts it where Γ = γ·1. So does the exact motion, by the same
//! factor: MᵀΩM = e^{−γh}Ω, whatever the step, and angular momenta decay as they should. Negative steps in compositions expand, and
//! their factors multiply to e^{−γh} all the same.
//! (R. McLachlan and M. Perlmutter, J. Geom. Phys. 39 (2001) 276, doi:10.1016/S0393-0440(01)00020-1;
//! A. Bhatt, D. Floyd and B. Moore, J. Sci. Comput. 66 (2016) 1234, doi:10.1007/s10915-015-0062-z.)
//!
//! A kick is the force at p = 0, where there is no friction. Between a drift and the next, damping does not move q, so one force
//! serves both kicks, also from one step to the next.

pub(super) mod conformal2;
pub(super) mod conformal4;
mod damper;

use crate::block::Block;
use crate::card::Keeps;
use crate::error::RunError;
use crate::method::composition::mirror;
use crate::step::{Interval, Motion, Step, StepError};
use damper::Damper;
use leastaction_compile::LANES;
use leastaction_mechanics::{Dynamics, EvalError, Quantity};

const CITE: &str = "doi:10.1016/S0393-0440(01)00020-1, doi:10.1007/s10915-015-0062-z";
const KEEPS: &[Keeps] = &[Keeps::Conformal, Keeps::Reversible];

/// A step of order two within a composition.
#[derive(Clone, Copy, Debug)]
struct Stage {
    /// Its length, as a part of the step.
    weight: f64,
    /// When it ends, as a part of the step.
    end: f64,
}

/// Kicks, drifts and damping, at work.
struct Conformal {
    stages: Vec<Stage>,
    /// All lanes of coordinates: where momenta begin.
    half: usize,
    at: Vec<f64>,
    /// (q, 0).
    still: Vec<f64>,
    rate: Vec<f64>,
    damper: Damper,
    /// The force where the last step ended, the coordinates there, and the lanes in which it is known: 1, or 0.
    force: Vec<f64>,
    place: Vec<f64>,
    known: [f64; LANES],
    now: Vec<f64>,
}

impl Conformal {
    /// A composition, a palindrome by its first half.
    fn boxed(dynamics: &mut Dynamics, width: usize, half: &[f64]) -> Result<Box<dyn Step>, RunError> {
        if dynamics.system().facts().explicit {
            dynamics.prepare(&[Quantity::Drift, Quantity::Kick])?;
        }
        let steps = mirror(half);
        let ends = steps.iter().scan(0.0, |end, weight| {
            *end += weight;
            Some(*end)
        });
        let mut stages: Vec<Stage> =
            steps.iter().zip(ends).map(|(&weight, end)| Stage { weight, end }).collect();
        stages.last_mut().into_iter().for_each(|last| last.end = 1.0);
        // Where steps meet, their damping is one.
        let inner = steps.windows(2).map(|pair| 0.5 * (pair[0] + pair[1]));
        let outer = 0.5 * steps[0];
        let weights: Vec<f64> = [outer].into_iter().chain(inner).chain([outer]).collect();
        let len = dynamics.system().degrees() * width;
        let memory = || vec![0.0; len];
        Ok(Box::new(Conformal {
            stages,
            half: len,
            at: vec![0.0; 2 * len],
            still: vec![0.0; 2 * len],
            rate: memory(),
            damper: Damper::new(dynamics, width, weights)?,
            force: memory(),
            place: memory(),
            known: [0.0; LANES],
            now: memory(),
        }))
    }

    /// The force at the start of a step: that at the end of the last, where there is one.
    fn begin(&mut self, motion: &mut Motion<'_>, interval: Interval<'_>) -> Result<(), EvalError> {
        let width = interval.h.len();
        let mut known = [false; LANES];
        for (j, known) in known.iter_mut().enumerate().take(width) {
            let mut pairs = self.at[..self.half].iter().zip(&self.place).skip(j).step_by(width);
            *known = self.known[j] == 1.0 && pairs.all(|(a, b)| a.to_bits() == b.to_bits());
        }
        if known[..width].contains(&false) {
            self.push(motion, interval, 0.0)?;
        }
        for i in (0..self.half).filter(|i| known[i % width]) {
            self.now[i] = self.force[i];
        }
        Ok(())
    }

    /// The force at q, without friction.
    fn push(&mut self, motion: &mut Motion<'_>, interval: Interval<'_>, c: f64) -> Result<(), EvalError> {
        self.still[..self.half].copy_from_slice(&self.at[..self.half]);
        motion.kick(interval, c, &self.still, &mut self.now)
    }
}

impl Step for Conformal {
    fn step(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        change: &mut [f64],
    ) -> Result<(), StepError> {
        let (h, half) = (interval.h, self.half);
        change.fill(0.0);
        self.at.copy_from_slice(block.values());
        self.damper.set(motion.dynamics(), h)?;
        self.begin(motion, interval)?;
        self.damper.damp(0, &self.at[half..], &mut change[half..]);
        for i in 0..self.stages.len() {
            let Stage { weight, end } = self.stages[i];
            add(0.5 * weight, h, &self.now, &mut change[half..]);
            block.after(0, change, &mut self.at);
            motion.drift(interval, 0.0, &self.at, &mut self.rate)?;
            add(weight, h, &self.rate, &mut change[..half]);
            block.after(0, change, &mut self.at);
            self.push(motion, interval, end)?;
            add(0.5 * weight, h, &self.now, &mut change[half..]);
            block.after(0, change, &mut self.at);
            self.damper.damp(i + 1, &self.at[half..], &mut change[half..]);
        }
        Ok(())
    }

    fn accept(&mut self, lanes: &[bool]) {
        let width = lanes.len();
        for i in (0..self.half).filter(|i| lanes[i % width]) {
            (self.force[i], self.place[i]) = (self.now[i], self.at[i]);
        }
        self.known.iter_mut().zip(lanes).filter(|(_, taken)| **taken).for_each(|(known, _)| *known = 1.0);
    }

    fn memory(&mut self, visit: &mut dyn FnMut(&mut [f64])) {
        visit(&mut self.force);
        visit(&mut self.place);
        visit(&mut self.known);
    }
}

/// change += c·h·rate in each lane.
fn add(c: f64, h: &[f64], rate: &[f64], change: &mut [f64]) {
    let width = h.len();
    for (change, rate) in change.chunks_exact_mut(width).zip(rate.chunks_exact(width)) {
        (0..width).for_each(|j| change[j] += c * (h[j] * rate[j]));
    }
}
