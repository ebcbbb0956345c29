//! Dense output: the motion within a step, as a polynomial.
//!
//! Methods that have a polynomial of their own give that. For all others one is made from the vector field: the cubic that has
//! the values and rates of both ends is in error by O(h⁴), and each sweep
//!
//! $$y(\tau)\leftarrow y_0+h\int_0^\tau\! P_m\bigl[f(y)\bigr]\,d\tau'$$
//!
//! with the interpolant P of degree m at Chebyshev points raises that by one order. Sweeps are made until the error is O(hᵖ⁻¹)
//! for a method of order p; what then differs at the end of the step is spread over it, so that pieces join.

use crate::block::{Block, after, scale};
use crate::compiled_step::StepBuilder;
use crate::run::roots::weight;
use crate::step::{Interval, Motion, StepError};
use leastaction_compile::{Arithmetic, AssemblyError, LANES, Lanes, Operand};
use leastaction_mechanics::Quantity;
use std::f64::consts::PI;

/// The motion within a step: the states at the fractions τ of the step, 0 ≤ τ ≤ 1.
#[derive(Clone, Debug)]
pub struct Polynomial {
    width: usize,
    basis: Basis,
    values: Vec<f64>,
    carry: Vec<f64>,
    /// Rows as long as the block, one per term.
    terms: Vec<f64>,
    count: usize,
}

/// What the coefficients of a polynomial belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// τ, τ², …
    Powers,
    /// Chebyshev polynomials T₀, T₁, … of 2τ − 1.
    Chebyshev,
}

impl Polynomial {
    /// A polynomial that does not move, for blocks like this one.
    #[must_use]
    pub fn new(block: &Block) -> Polynomial {
        Polynomial {
            width: block.width(),
            basis: Basis::Powers,
            values: block.values().to_vec(),
            carry: block.carry().to_vec(),
            terms: Vec::new(),
            count: 0,
        }
    }

    /// Begins anew at a block, and returns rows for the coefficients of its change, one as long as the block per term.
    pub fn begin(&mut self, block: &Block, basis: Basis, terms: usize) -> &mut [f64] {
        let len = block.values().len();
        self.values.copy_from_slice(block.values());
        self.carry.copy_from_slice(block.carry());
        (self.basis, self.count) = (basis, terms);
        if self.terms.len() < terms * len {
            self.terms.resize(terms * len, 0.0);
        }
        &mut self.terms[..terms * len]
    }

    /// Spreads over the step what its end is short of this change.
    pub(crate) fn lead_to(&mut self, change: &[f64]) {
        let len = change.len();
        for (i, change) in change.iter().enumerate() {
            // All powers, and all Chebyshev polynomials, are 1 at the end.
            let miss = change - (0..self.count).map(|k| self.terms[k * len + i]).sum::<f64>();
            match self.basis {
                Basis::Powers if self.count > 0 => self.terms[i] += miss,
                Basis::Chebyshev if self.count > 1 => {
                    self.terms[i] += 0.5 * miss;
                    self.terms[len + i] += 0.5 * miss;
                }
                Basis::Powers | Basis::Chebyshev => {}
            }
        }
    }

    /// Puts another motion into a lane: a polynomial of this degree, which `change` tells at fractions of the step, one number per component.
    pub(crate) fn replace(&mut self, lane: usize, degree: usize, change: impl Fn(f64, &mut [f64])) {
        let (len, width, rows) = (self.values.len(), self.width, self.values.len() / self.width);
        let needed = if self.basis == Basis::Powers { degree } else { degree + 1 };
        if self.count < needed {
            self.terms.resize(self.terms.len().max(needed * len), 0.0);
            self.terms[self.count * len..needed * len].fill(0.0);
            self.count = needed;
        }
        let mut values = vec![0.0; (degree + 1) * rows];
        for (k, values) in values.chunks_exact_mut(rows).enumerate() {
            change(0.5 - 0.5 * (PI * k as f64 / degree as f64).cos(), values);
        }
        // The powers of τ in Chebyshev polynomials of 2τ − 1.
        let (mut before, mut powers) = (vec![0.0; degree + 1], vec![0.0; degree + 1]);
        powers[0] = 1.0;
        (0..self.count).for_each(|k| (0..rows).for_each(|i| self.terms[k * len + i * width + lane] = 0.0));
        for n in 0..=degree {
            for i in 0..rows {
                let term: f64 = (0..=degree).map(|k| weight(n, k, degree) * values[k * rows + i]).sum();
                let place = |k: usize| k * len + i * width + lane;
                match self.basis {
                    Basis::Chebyshev => self.terms[place(n)] = term,
                    // The motion begins at nothing, so that the power 0 is rounding.
                    Basis::Powers => {
                        (1..=n).for_each(|power| self.terms[place(power - 1)] += term * powers[power])
                    }
                }
            }
            let next = (0..=degree).map(|power| {
                let raised = if power > 0 { 4.0 * powers[power - 1] } else { 0.0 } - 2.0 * powers[power];
                if n == 0 { 0.5 * raised } else { raised - before[power] }
            });
            let next: Vec<f64> = next.collect();
            (before, powers) = (powers, next);
        }
    }

    /// The states at a fraction of the step, one fraction per lane.
    pub fn at(&self, tau: &[f64], out: &mut [f64]) {
        match self.width {
            1 => self.at_in::<1>(tau, out),
            _ => self.at_in::<LANES>(tau, out),
        }
    }

    fn at_in<const W: usize>(&self, tau: &[f64], out: &mut [f64]) {
        let Some(tau) = tau.first_chunk::<W>() else {
            unreachable!("there is a fraction for each of {W} lanes")
        };
        let rows = self.values.len() / W;
        let terms = self.terms.as_chunks::<W>().0;
        let (values, carry) = (self.values.as_chunks::<W>().0, self.carry.as_chunks::<W>().0);
        for (i, out) in out.as_chunks_mut::<W>().0.iter_mut().enumerate() {
            let sum = sum(&mut Lanes, self.basis, *tau, self.count, |k| terms[k * rows + i]);
            *out = after(&mut Lanes, values[i], carry[i], sum);
        }
    }
}

/// The sum of so many terms at a fraction of the step: Σ cₖ τᵏ⁺¹, or Σ cₖ Tₖ(2τ − 1).
#[inline(always)]
pub(crate) fn sum<A: Arithmetic>(
    a: &mut A,
    basis: Basis,
    tau: A::Value,
    count: usize,
    term: impl Fn(usize) -> A::Value,
) -> A::Value {
    let mut sum = a.constant(0.0);
    match basis {
        Basis::Powers => {
            for k in (0..count).rev() {
                let more = a.add(sum, term(k));
                sum = a.mul(more, tau);
            }
        }
        // Clenshaw's recurrence.
        Basis::Chebyshev => {
            let double = a.mul(2.0, tau);
            let x = a.sub(double, 1.0);
            let twice = a.mul(2.0, x);
            let mut later = sum;
            for k in (1..count).rev() {
                let product = a.mul(twice, sum);
                let more = a.add(term(k), product);
                let next = a.sub(more, later);
                later = std::mem::replace(&mut sum, next);
            }
            if count > 0 {
                let product = a.mul(x, sum);
                let more = a.add(term(0), product);
                sum = a.sub(more, later);
            }
        }
    }
    sum
}

/// Makes polynomials of steps from the vector field.
pub(crate) struct DenseOutput {
    /// The degree m of the interpolant, and how many sweeps are made.
    degree: usize,
    sweeps: usize,
    /// h·f at the points, one row each.
    rates: Vec<f64>,
    at: Vec<f64>,
}

impl DenseOutput {
    /// For a method of this order, and blocks of this length, all lanes counted.
    pub(crate) fn new(order: u32, len: usize) -> DenseOutput {
        let (degree, sweeps) = shape(order);
        DenseOutput { degree, sweeps, rates: vec![0.0; (degree + 1) * len], at: vec![0.0; len] }
    }

    /// The polynomial of a step from its ends and the vector field.
    pub(crate) fn interpolate(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        change: &[f64],
        polynomial: &mut Polynomial,
    ) -> Result<(), StepError> {
        let (m, len) = (self.degree, change.len());
        self.look_at_ends(motion, interval, block, change)?;
        let terms = polynomial.begin(block, Basis::Powers, 3);
        for i in 0..len {
            let coefficients = cubic(&mut Lanes, [change[i]], [[self.rates[i]], [self.rates[m * len + i]]]);
            (0..3).for_each(|k| [terms[k * len + i]] = coefficients[k]);
        }
        for _ in 0..self.sweeps {
            self.sweep(motion, interval, block, change, polynomial)?;
        }
        Ok(())
    }

    /// Makes a polynomial better, by one order with each sweep.
    pub(crate) fn refine(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        change: &[f64],
        polynomial: &mut Polynomial,
        sweeps: usize,
    ) -> Result<(), StepError> {
        self.look_at_ends(motion, interval, block, change)?;
        (0..sweeps).try_for_each(|_| self.sweep(motion, interval, block, change, polynomial))
    }

    /// Finds the rates at both ends.
    fn look_at_ends(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        change: &[f64],
    ) -> Result<(), StepError> {
        let (m, len) = (self.degree, change.len());
        motion.rates(interval, 0.0, block.values(), &mut self.rates[..len])?;
        block.after(0, change, &mut self.at);
        motion.rates(interval, 1.0, &self.at, &mut self.rates[m * len..])?;
        scale(&mut self.rates[..len], interval.h);
        scale(&mut self.rates[m * len..], interval.h);
        Ok(())
    }

    /// Integrates the field along the polynomial.
    fn sweep(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        change: &[f64],
        polynomial: &mut Polynomial,
    ) -> Result<(), StepError> {
        let (m, len) = (self.degree, change.len());
        for k in 1..m {
            let tau = 0.5 - 0.5 * (PI * k as f64 / m as f64).cos();
            polynomial.at(&[tau; LANES][..interval.t.len()], &mut self.at);
            let rate = &mut self.rates[k * len..][..len];
            motion.rates(interval, tau, &self.at, rate)?;
            scale(rate, interval.h);
        }
        let terms = polynomial.begin(block, Basis::Chebyshev, m + 2);
        for i in 0..len {
            let coefficients = integrated(&mut Lanes, m, [change[i]], |k| [self.rates[k * len + i]]);
            (0..m + 2).for_each(|n| [terms[n * len + i]] = coefficients[n]);
        }
        Ok(())
    }
}

/// The most terms of a polynomial that is made from the vector field.
const MOST_TERMS: usize = 16;

/// The cubic with this change and these rates at both ends, in powers.
#[inline(always)]
fn cubic<A: Arithmetic>(a: &mut A, d: A::Value, [s0, s1]: [A::Value; 2]) -> [A::Value; 3] {
    let (thrice, twice) = (a.mul(3.0, d), a.mul(2.0, s0));
    let less = a.sub(thrice, twice);
    let square = a.sub(less, s1);
    let (both, twice) = (a.add(s0, s1), a.mul(2.0, d));
    [s0, square, a.sub(both, twice)]
}

/// The integral of the interpolant of rates at m + 1 Chebyshev points, in Chebyshev polynomials, led to this change.
#[inline(always)]
fn integrated<A: Arithmetic>(
    a: &mut A,
    m: usize,
    change: A::Value,
    rate: impl Fn(usize) -> A::Value,
) -> [A::Value; MOST_TERMS] {
    let zero = a.constant(0.0);
    let mut terms = [zero; MOST_TERMS];
    for n in 0..=m {
        for k in 0..=m {
            let part = a.mul(weight(n, k, m), rate(k));
            // ∫ Tₙ dτ, with dτ = dx/2, is a sum of Tₙ₊₁ and Tₙ₋₁.
            let above = a.div(part, if n == 0 { 2.0 } else { 4.0 * (n as f64 + 1.0) });
            terms[n + 1] = a.add(terms[n + 1], above);
            if n > 1 {
                let below = a.div(part, 4.0 * (n as f64 - 1.0));
                terms[n - 1] = a.sub(terms[n - 1], below);
            }
        }
    }
    // Tₙ(1) = 1 and Tₙ(−1) = (−1)ⁿ: begin at nothing, end at the change.
    let (mut start, mut end) = (zero, zero);
    for n in (1..m + 2).rev() {
        start = if n % 2 == 0 { a.add(start, terms[n]) } else { a.sub(start, terms[n]) };
        end = a.add(end, terms[n]);
    }
    let way = a.sub(end, start);
    let miss = a.sub(change, way);
    let half = a.mul(0.5, miss);
    terms[0] = a.sub(half, start);
    terms[1] = a.add(terms[1], half);
    terms
}

/// Writes the states at a fraction of a step into a kernel, as [`DenseOutput::interpolate`] has them, for a method of this order.
pub(crate) fn write_inside(
    builder: &mut StepBuilder,
    order: u32,
    [y, e, change]: [&[Operand]; 3],
    tau: Operand,
) -> Result<Vec<Operand>, AssemblyError> {
    let (m, sweeps) = shape(order);
    let h = builder.h();
    let after_step: Vec<Operand> =
        (0..y.len()).map(|i| after(builder.assembly(), y[i], e[i], change[i])).collect();
    let mut rates: Vec<Vec<Operand>> = vec![Vec::new(); m + 1];
    let rate = |builder: &mut StepBuilder, c: f64, at: Vec<Operand>| {
        let rate = builder.quantity(Quantity::Rates, c, at)?;
        Ok::<_, AssemblyError>(rate.into_iter().map(|r| builder.assembly().mul(r, h)).collect::<Vec<_>>())
    };
    rates[0] = rate(builder, 0.0, y.to_vec())?;
    rates[m] = rate(builder, 1.0, after_step)?;
    let ends = |rates: &[Vec<Operand>], i: usize| [rates[0][i], rates[m][i]];
    let mut terms: Vec<Vec<Operand>> =
        (0..y.len()).map(|i| cubic(builder.assembly(), change[i], ends(&rates, i)).to_vec()).collect();
    let mut basis = Basis::Powers;
    let place = |builder: &mut StepBuilder, basis: Basis, terms: &[Vec<Operand>], tau: Operand| {
        let a = builder.assembly();
        let inside = (0..y.len()).map(|i| {
            let change = sum(a, basis, tau, terms[i].len(), |k| terms[i][k]);
            after(a, y[i], e[i], change)
        });
        inside.collect::<Vec<_>>()
    };
    for _ in 0..sweeps {
        for k in 1..m {
            let c = 0.5 - 0.5 * (PI * k as f64 / m as f64).cos();
            let node = builder.assembly().constant(c);
            let at = place(builder, basis, &terms, node);
            rates[k] = rate(builder, c, at)?;
        }
        let a = builder.assembly();
        let next = (0..y.len()).map(|i| integrated(a, m, change[i], |k| rates[k][i])[..m + 2].to_vec());
        terms = next.collect();
        basis = Basis::Chebyshev;
    }
    Ok(place(builder, basis, &terms, tau))
}

/// The degree of the interpolant of rates for a method of this order, and how many sweeps are made.
fn shape(order: u32) -> (usize, usize) {
    match order as usize {
        0..=5 => (1, 0),
        p => (p - 3, p - 5),
    }
}

/// How often [`write_inside`] evaluates the vector field.
pub(crate) fn evaluations(order: u32) -> usize {
    let (m, sweeps) = shape(order);
    2 + sweeps * m.saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_are_what_their_coefficients_say() {
        let block = Block::one(&[1.0, 2.0]);
        let mut polynomial = Polynomial::new(&block);
        polynomial.begin(&block, Basis::Powers, 2).copy_from_slice(&[3.0, 5.0, 0.5, 0.25]);
        let mut out = [0.0; 2];
        polynomial.at(&[0.5], &mut out);
        assert_eq!(out, [1.0 + 1.5 + 0.125, 2.0 + 2.5 + 0.0625]);
        // T₀ + 2 T₁ + 3 T₂ at x = 2τ − 1 = 1/2: 1 + 1 − 3/2.
        polynomial.begin(&block, Basis::Chebyshev, 3).copy_from_slice(&[1.0, 0.0, 2.0, 0.0, 3.0, 0.0]);
        polynomial.at(&[0.75], &mut out);
        assert_eq!(out, [1.0 + 0.5, 2.0]);
    }

    #[test]
    fn polynomials_are_led_to_the_end() {
        let block = Block::one(&[1.0, 2.0]);
        let mut polynomial = Polynomial::new(&block);
        for (basis, terms) in
            [(Basis::Powers, [1.0, 2.0, 3.0, 4.0]), (Basis::Chebyshev, [1.0, 2.0, 1.0, 2.0])]
        {
            polynomial.begin(&block, basis, 2).copy_from_slice(&terms);
            polynomial.lead_to(&[0.5, -0.25]);
            for (tau, expected) in [(0.0, [1.0, 2.0]), (1.0, [1.5, 1.75])] {
                let mut out = [0.0; 2];
                polynomial.at(&[tau], &mut out);
                assert_eq!(out, expected, "{basis:?} at {tau}");
            }
        }
    }

    #[test]
    fn weights_find_chebyshev_coefficients() {
        // x³ = (3 T₁ + T₃)/4.
        let m = 5;
        for n in 0..=m {
            let value = |k: usize| (-(PI * k as f64 / m as f64).cos()).powi(3);
            let found: f64 = (0..=m).map(|k| weight(n, k, m) * value(k)).sum();
            let expected = [0.0, 0.75, 0.0, 0.25, 0.0, 0.0][n];
            assert!((found - expected).abs() < 1e-15, "T{n}: {found}");
        }
    }
}
