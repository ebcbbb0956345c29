//! A leg where H = ½pᵀM⁻¹p + V(q, t) with M constant, and forces do not depend on velocities.
//!
//! Then p½ and q₁ are known but for Λ, on which they depend linearly: q₁ = q₀ + h M⁻¹(p₀ + ½h S(q₀, t₀) − G(q₀)ᵀΛ). Corrections
//! Λ ← Λ + (h G M⁻¹Gᵀ)⁻¹ Φ(q₁, t₁) need nothing but Φ, with G M⁻¹Gᵀ at q₀ as it is known; where they converge slowly, as constraints turn
//! far in a step, they go on by Newton's method with G(q₁) M⁻¹G(q₀)ᵀ. The forces and the constraints at q₁ serve the next leg.

use super::progress::{MOST, Progress};
use super::{Rattle, Shape, ends, keep_in, sizes};
use crate::block::{Block, copy_in};
use crate::step::{Interval, Motion, StepError};

impl Rattle {
    /// From q₀ and p₀ in `at`, and what belongs to them in `change`, to q₁ and p₁ but for μ.
    pub(super) fn go_directly<const W: usize>(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        leg: usize,
        block: &Block,
        change: &mut [f64],
    ) -> Result<(), StepError> {
        let Shape { half, rows, .. } = self.shape;
        let Some(h) = interval.h.first_chunk::<W>() else {
            unreachable!("there is a step for each of {W} lanes")
        };
        if !self.holds(interval.t) {
            motion.kick(interval, 0.0, &self.at, &mut self.push)?;
            self.factor_constraints(motion, interval.t)?;
        } else if !self.held.factored {
            self.factor_constraints(motion, interval.t)?;
        }
        self.measure::<W>(motion, interval.t)?;
        self.half_kick::<W>(h, change);
        block.after(half / W, &change[half..], &mut self.at[half..]);
        motion.drift(interval, 0.0, &self.at, &mut self.rates[..half])?;
        self.drift::<W>(h, change);
        if rows > 0 {
            self.moved.copy_from_slice(&change[..half]);
            self.unknowns[leg].fill(0.0);
            self.past_unknowns[leg].guess(h, &mut self.unknowns[leg]);
            self.factors.project_multipliers(&mut self.unknowns[leg], &mut self.correction);
            self.rates[..half].fill(0.0);
            self.factors.add_accelerations(&self.unknowns[leg], &mut self.rates[..half]);
            self.drift::<W>(h, change);
        }
        block.after(0, &change[..half], &mut self.at[..half]);
        if rows > 0 {
            self.meet::<W>(motion, interval, leg, block, change)?;
            self.factors.add_forces(&self.unknowns[leg], &mut change[half..]);
        }
        block.after(half / W, &change[half..], &mut self.middle);
        motion.kick(interval, 1.0, &self.at, &mut self.push)?;
        self.half_kick::<W>(h, change);
        self.factor_constraints(motion, &ends::<W>(interval))?;
        Ok(())
    }

    /// Corrects Λ until q₁, in `at`, meets the constraints.
    fn meet<const W: usize>(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        leg: usize,
        block: &Block,
        change: &mut [f64],
    ) -> Result<(), StepError> {
        let half = self.shape.half;
        let (h, ends) = (interval.h, ends::<W>(interval));
        let inverse: [f64; W] = std::array::from_fn(|j| if h[j] == 0.0 { 0.0 } else { 1.0 / h[j] });
        let expected = self.shrinking[leg];
        let mut progress: [_; W] =
            { std::array::from_fn(|j| Progress::new(h[j], expected[j], !self.factors.is_clear(j))) };
        let mut again = [false; W];
        for _ in 0..2 * MOST {
            motion.dynamics().constraint_values(&ends, &self.at, &mut self.values)?;
            motion.work_mut().iterations += 1;
            self.solve(&progress);
            self.correction.fill(0.0);
            self.factors.add_accelerations(&self.values, &mut self.correction);
            let (sizes, changes) = (self.extent::<W>(&self.at[..half]), sizes::<W>(&self.correction));
            let takes: [bool; W] = std::array::from_fn(|j| progress[j].takes(changes[j], sizes[j]));
            keep_in(&takes, &mut self.values);
            keep_in(&takes, &mut self.correction);
            let rows = self.unknowns[leg].as_chunks_mut::<W>().0.iter_mut();
            for (unknown, x) in rows.zip(self.values.as_chunks::<W>().0) {
                (0..W).for_each(|j| unknown[j] += inverse[j] * x[j]);
            }
            change.iter_mut().zip(&self.correction).for_each(|(change, x)| *change += x);
            block.after(0, &change[..half], &mut self.at[..half]);
            if !progress.iter().any(|lane| lane.open) {
                (0..W).for_each(|j| self.shrinking[leg][j] = progress[j].expected);
                return self.check_redundant::<W>(motion, interval);
            }
            let astray: [bool; W] = std::array::from_fn(|j| progress[j].is_astray(sizes[j]));
            if astray.contains(&true) {
                if (0..W).any(|j| astray[j] && again[j]) {
                    break;
                }
                // A guess that continues a motion which changes quickly may be worse than none.
                (0..W).filter(|&j| astray[j]).for_each(|j| {
                    (progress[j], again[j]) = (Progress::new(h[j], 1.0, !self.factors.is_clear(j)), true)
                });
                copy_in(&astray, &self.moved, &mut change[..half]);
                keep_in(&astray.map(|astray| !astray), &mut self.unknowns[leg]);
                block.after(0, &change[..half], &mut self.at[..half]);
            }
            let is_slow = |j: usize| progress[j].is_slow(sizes[j]) && self.factors.is_clear(j);
            let slow: [bool; W] = std::array::from_fn(is_slow);
            if slow.contains(&true) {
                motion.work_mut().jacobians += 1;
                self.shake.factor(&self.factors, &slow, motion.dynamics(), &ends, &self.at)?;
                (0..W).for_each(|j| progress[j].newton |= slow[j]);
            }
        }
        self.stalled(interval, &progress, &self.extent::<W>(&self.at[..half]))
    }

    /// Solves for corrections, in some lanes with the gradients that constraints have where the step leads.
    fn solve<const W: usize>(&mut self, progress: &[Progress; W]) {
        let shake: [bool; W] = std::array::from_fn(|j| progress[j].newton && self.factors.is_clear(j));
        if !shake.contains(&true) {
            return self.factors.solve(&mut self.values);
        }
        self.aside.copy_from_slice(&self.values);
        self.factors.solve(&mut self.values);
        self.shake.solve(&mut self.aside);
        copy_in(&shake, &self.aside, &mut self.values);
    }

    /// q += h q̇.
    fn drift<const W: usize>(&self, h: &[f64; W], change: &mut [f64]) {
        let half = self.shape.half;
        let rates = self.rates[..half].as_chunks::<W>().0.iter();
        for (change, rate) in change[..half].as_chunks_mut::<W>().0.iter_mut().zip(rates) {
            (0..W).for_each(|j| change[j] += h[j] * rate[j]);
        }
    }

    /// p += ½h S.
    pub(super) fn half_kick<const W: usize>(&self, h: &[f64; W], change: &mut [f64]) {
        let half = self.shape.half;
        let pushes = self.push.as_chunks::<W>().0.iter();
        for (change, push) in change[half..].as_chunks_mut::<W>().0.iter_mut().zip(pushes) {
            (0..W).for_each(|j| change[j] += 0.5 * h[j] * push[j]);
        }
    }
}
