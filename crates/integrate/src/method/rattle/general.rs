//! A leg for any H(q, p, t), and forces that depend on velocities.
//!
//! The changes x = (q₁ − q₀, p½ − p₀) solve x = g(x), where g moves by the rates at x, then onto the constraints in the direction that their
//! forces have at q₀, and takes from p½ what is of those forces: with r = ½h S − (p½ − p₀) and A = G M⁻¹Gᵀ at q₀,
//!
//! $$A\,\xi=\Phi(q_0+\tfrac h2(v_0+v_1)),\quad A\,\Lambda=G M^{-1}r+A\,\xi/h,\quad
//! g=\bigl(\tfrac h2(v_0+v_1)-M^{-1}G^{\mathsf T}\xi,\;\tfrac h2S-G^{\mathsf T}\Lambda\bigr).$$
//!
//! Where x = g(x), GᵀΛ = r, so that ξ = 0.

use super::{Rattle, Shape, ends};
use crate::block::Block;
use crate::step::{Interval, Motion, StepError};

impl Rattle {
    /// From q₀ and p₀ in `at`, and what belongs to them in `change`, to q₁ and p₁ but for μ.
    pub(super) fn go<const W: usize>(
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
        let ends = ends::<W>(interval);
        self.factor_constraints(motion, interval.t)?;
        self.measure::<W>(motion, interval.t)?;
        self.weigh::<W>(h);
        let Rattle { solver, unknowns, start, at, rates, values, factors, moved, correction, .. } = self;
        let (lambda, scale) = (&mut self.aside, &self.scale);
        start.copy_from_slice(at);
        let x = &mut unknowns[leg];
        x.fill(0.0);
        self.past_unknowns[leg].guess(h, x);
        let iterations = solver.accelerate::<W>(interval.t, scale, x, |x, image| {
            let (q0, (dq, dp)) = (&start[..half], x.split_at(half));
            block.after(half / W, sum(&change[half..], dp, moved), &mut at[half..]);
            at[..half].copy_from_slice(q0);
            let (va, vb) = rates.split_at_mut(half);
            let (image_q, image_p) = image.split_at_mut(half);
            motion.kick(interval, 0.0, at, image_p)?;
            motion.drift(interval, 0.0, at, va)?;
            block.after(0, sum(&change[..half], dq, moved), &mut at[..half]);
            motion.drift(interval, 1.0, at, vb)?;
            for i in 0..half {
                image_q[i] = 0.5 * h[i % W] * (va[i] + vb[i]);
                image_p[i] *= 0.5 * h[i % W];
            }
            if rows == 0 {
                return Ok(());
            }
            block.after(0, sum(&change[..half], image_q, moved), &mut at[..half]);
            motion.dynamics().constraint_values(&ends, at, values)?;
            factors.solve(values);
            factors.add_accelerations(values, image_q);
            lambda.fill(0.0);
            correction.iter_mut().zip(image_p.iter().zip(dp)).for_each(|(r, (image, dp))| *r = image - dp);
            factors.add_rates_of_momenta(correction, lambda);
            factors.solve(lambda);
            for (i, (lambda, xi)) in lambda.iter_mut().zip(&*values).enumerate() {
                *lambda += if h[i % W] == 0.0 { 0.0 } else { xi / h[i % W] };
            }
            factors.add_forces(lambda, image_p);
            Ok(())
        })?;
        motion.work_mut().iterations += u64::from(iterations);
        change.iter_mut().zip(&*x).for_each(|(change, x)| *change += x);
        block.after(0, change, &mut self.at);
        self.middle.copy_from_slice(&self.at[half..]);
        self.check_redundant::<W>(motion, interval)?;
        motion.kick(interval, 1.0, &self.at, &mut self.push)?;
        self.half_kick::<W>(h, change);
        block.after(half / W, &change[half..], &mut self.at[half..]);
        self.factor_constraints(motion, &ends)?;
        Ok(())
    }

    /// What changes are measured by: coordinates no finer than the length over which constraints turn, and momenta no finer than what moves
    /// a mass by that much in a step. Rounding of Φ is rounding of that.
    fn weigh<const W: usize>(&mut self, h: &[f64; W]) {
        let half = self.shape.half;
        let (sizes, lengths) = (self.extent::<W>(&self.at[..half]), self.lengths);
        self.scale.copy_from_slice(&self.at);
        if self.shape.rows == 0 {
            return;
        }
        let (pulled, deflected) = self.rates.split_at_mut(half);
        self.aside.fill(1.0);
        pulled.fill(0.0);
        deflected.fill(0.0);
        self.factors.add_forces(&self.aside, pulled);
        self.factors.add_accelerations(&self.aside, deflected);
        let (pulled, deflected) = (super::sizes::<W>(pulled), super::sizes::<W>(deflected));
        let (q, p) = self.scale.split_at_mut(half);
        q.as_chunks_mut::<W>().0.iter_mut().for_each(|q| *q = sizes);
        for p in p.as_chunks_mut::<W>().0 {
            for j in 0..W {
                let impulse = pulled[j] / deflected[j] * lengths[j] / h[j];
                p[j] = p[j].abs() + if impulse.is_finite() { impulse.abs() } else { 0.0 };
            }
        }
    }
}

/// A sum, put into `out`.
fn sum<'o>(a: &[f64], b: &[f64], out: &'o mut [f64]) -> &'o [f64] {
    out.iter_mut().zip(a.iter().zip(b)).for_each(|(out, (a, b))| *out = a + b);
    out
}
