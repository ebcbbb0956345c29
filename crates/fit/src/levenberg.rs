//! Least squares by the method of Levenberg and Marquardt, within limits.
//!
//! About x, the residuals of x + δ are r − Jδ. A step makes |r − Jδ|² + λ|Dδ|² small, with D the lengths of the columns of J, so that the scales of unknowns do not matter; λ
//! falls where the residuals do as that says, and grows where they do not (H. B. Nielsen, IMM-REP-1999-05), or where the motion cannot be computed at all. J is taken apart into
//! singular values once for all λ: the search does not move along directions on which residuals do not depend.
//!
//! An unknown that stands at a limit and would be pushed beyond is held there for the step, and the others are found without it (an active set).

use leastaction_linear::singular_values;

/// What is made small.
pub(crate) trait Misfit {
    /// What ends everything.
    type Error;
    /// The sum of squares of residuals at some unknowns; `None` if they cannot be computed there.
    fn try_at(&mut self, x: &[f64]) -> Result<Option<f64>, Self::Error>;
    /// Goes where was tried last. Gives the unknowns there: some may have been moved to where they are allowed, which changes no residual.
    fn accept(&mut self) -> Vec<f64>;
    /// Rows with the same squares as those of \[J r\] where it stands: a column for each unknown, and the residuals. `None` if there are no derivatives there.
    fn linear(&mut self) -> Result<Option<Vec<f64>>, Self::Error>;
}

/// The least and largest values of unknowns.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    pub(crate) low: Vec<f64>,
    pub(crate) high: Vec<f64>,
}

impl Limits {
    fn clip(&self, x: &mut [f64]) {
        for (x, (low, high)) in x.iter_mut().zip(self.low.iter().zip(&self.high)) {
            *x = x.clamp(*low, *high);
        }
    }

    /// Whether an unknown would be pushed beyond a limit at which it stands.
    fn holds(&self, i: usize, x: f64, step: f64) -> bool {
        step > 0.0 && x >= self.high[i] || step < 0.0 && x <= self.low[i]
    }
}

/// Where a descent ended.
#[derive(Clone, Debug)]
pub(crate) struct Descent {
    pub(crate) x: Vec<f64>,
    pub(crate) cost: f64,
    pub(crate) iterations: usize,
    /// Whether nothing near is better.
    pub(crate) converged: bool,
}

/// Where the damping begins, and where it ends.
const DAMPING: f64 = 1e-3;
const LEAST: f64 = 1e-13;
const MOST: f64 = 1e14;

/// What is left of a step is noise if the cost falls by less than this part of it.
const NOTHING: f64 = 1e-14;

/// Descends from a place, in at most this number of iterations, until the cost decreases by less than this part of it. `None` if it cannot be computed at the place.
pub(crate) fn descend<M: Misfit>(
    misfit: &mut M,
    from: &[f64],
    limits: &Limits,
    iterations: usize,
    enough: f64,
) -> Result<Option<Descent>, M::Error> {
    let mut x = from.to_vec();
    limits.clip(&mut x);
    let Some(mut cost) = misfit.try_at(&x)? else { return Ok(None) };
    x = misfit.accept();
    let (mut lambda, mut growth) = (DAMPING, 2.0);
    for iteration in 0..iterations {
        let ended = |x: Vec<f64>, cost: f64, converged: bool| {
            Ok(Some(Descent { x, cost, iterations: iteration, converged }))
        };
        let Some(rows) = misfit.linear()? else { return ended(x, cost, false) };
        let Some(model) = Linear::new(rows, &x) else { return ended(x, cost, false) };
        if cost == 0.0 {
            return ended(x, cost, true);
        }
        loop {
            let (candidate, predicted) = model.step(&x, limits, lambda);
            let gain = cost - predicted;
            if gain <= NOTHING * cost || gain.is_nan() {
                // Where even long steps promise nothing, this is the end; where short ones do, they are too short to be seen.
                return ended(x, cost, true);
            }
            let cost_there = misfit.try_at(&candidate)?;
            if let Some(lower) = cost_there.filter(|there| *there < cost) {
                let ratio = (cost - lower) / gain;
                let small = cost - lower <= enough * cost && gain <= enough * cost;
                x = misfit.accept();
                cost = lower;
                lambda = (lambda * (1.0f64 / 3.0).max(1.0 - (2.0 * ratio - 1.0).powi(3))).max(LEAST);
                growth = 2.0;
                if small {
                    return Ok(Some(Descent { x, cost, iterations: iteration + 1, converged: true }));
                }
                break;
            }
            lambda *= growth;
            growth *= 2.0;
            if lambda > MOST || gain <= enough * cost * 1e-3 {
                return ended(x, cost, gain <= enough * cost);
            }
        }
    }
    Ok(Some(Descent { x, cost, iterations, converged: false }))
}

/// What an unknown does to residuals is rounding if, by all of its value, it is less than this part of what another one does.
const ROUNDING: f64 = 1e-9;

/// How much residuals change by each unknown: the lengths of the columns of J, for rows \[J r\] at x; 0 where that is rounding.
pub(crate) fn scales(rows: &[f64], x: &[f64]) -> Vec<f64> {
    let width = x.len() + 1;
    let length = |j: usize| rows.iter().skip(j).step_by(width).copied().fold(0.0, f64::hypot);
    let mut scales: Vec<f64> = (0..x.len()).map(length).collect();
    let largest = scales.iter().zip(x).map(|(scale, x)| scale * x.abs()).fold(0.0, f64::max);
    for (scale, x) in scales.iter_mut().zip(x) {
        if *x != 0.0 && *scale * x.abs() <= ROUNDING * largest {
            *scale = 0.0;
        }
    }
    scales
}

/// Residuals as they are about a place.
struct Linear {
    rows: Vec<f64>,
    count: usize,
    scales: Vec<f64>,
}

impl Linear {
    fn new(rows: Vec<f64>, x: &[f64]) -> Option<Linear> {
        let (count, scales) = (x.len(), scales(&rows, x));
        let finite = scales.iter().all(|scale| scale.is_finite()) && rows.iter().all(|x| x.is_finite());
        finite.then_some(Linear { rows, count, scales })
    }

    /// Where a damped step leads within limits, and which cost that promises.
    fn step(&self, x: &[f64], limits: &Limits, lambda: f64) -> (Vec<f64>, f64) {
        let is_free = |j: &usize| self.scales[*j] > 0.0 && limits.low[*j] < limits.high[*j];
        let mut free: Vec<usize> = (0..self.count).filter(is_free).collect();
        let mut candidate = x.to_vec();
        while !free.is_empty() {
            let Some(step) = self.solve(&free, lambda) else { break };
            let held: Vec<usize> = free
                .iter()
                .zip(&step)
                .filter(|(i, step)| limits.holds(**i, x[**i], **step))
                .map(|(i, _)| *i)
                .collect();
            if held.is_empty() {
                free.iter().zip(&step).for_each(|(&i, step)| candidate[i] = x[i] + step);
                limits.clip(&mut candidate);
                break;
            }
            free.retain(|i| !held.contains(i));
        }
        let width = self.count + 1;
        let left = self.rows.chunks_exact(width).map(|row| {
            let moved: f64 = (0..self.count).map(|j| row[j] * (candidate[j] - x[j])).sum();
            (row[self.count] - moved).powi(2)
        });
        let promised = left.sum();
        (candidate, promised)
    }

    fn solve(&self, free: &[usize], lambda: f64) -> Option<Vec<f64>> {
        let width = self.count + 1;
        let scaled =
            self.rows.chunks_exact(width).flat_map(|row| free.iter().map(|&j| row[j] / self.scales[j]));
        let parts = singular_values(&scaled.collect::<Vec<_>>(), free.len())?;
        let height = self.rows.len() / width;
        let mut step = vec![0.0; free.len()];
        for (k, sigma) in parts.values.iter().enumerate().filter(|(_, sigma)| **sigma > 0.0) {
            let left = &parts.left[k * height..][..height];
            let along: f64 =
                left.iter().zip(self.rows.chunks_exact(width)).map(|(u, row)| u * row[self.count]).sum();
            let factor = sigma * along / (sigma * sigma + lambda);
            let right = &parts.right[k * free.len()..][..free.len()];
            step.iter_mut().zip(right).for_each(|(step, v)| *step += factor * v);
        }
        step.iter_mut().zip(free).for_each(|(step, &j)| *step /= self.scales[j]);
        step.iter().all(|x| x.is_finite()).then_some(step)
    }
}

#[cfg(test)]
mod tests {
    use super::{Descent, Limits, Misfit, descend};
    use std::convert::Infallible;

    /// Residuals and their derivatives as functions.
    struct Given<F> {
        residuals: F,
        tried: Vec<f64>,
        at: Vec<f64>,
    }

    impl<F: Fn(&[f64]) -> (Vec<f64>, Vec<Vec<f64>>)> Misfit for Given<F> {
        type Error = Infallible;
        fn try_at(&mut self, x: &[f64]) -> Result<Option<f64>, Infallible> {
            self.tried = x.to_vec();
            let cost = (self.residuals)(x).0.iter().map(|r| r * r).sum::<f64>();
            Ok(cost.is_finite().then_some(cost))
        }
        fn accept(&mut self) -> Vec<f64> {
            self.at.clone_from(&self.tried);
            self.at.clone()
        }
        fn linear(&mut self) -> Result<Option<Vec<f64>>, Infallible> {
            let (residuals, rows) = (self.residuals)(&self.at);
            Ok(Some(
                rows.iter().zip(&residuals).flat_map(|(row, r)| row.iter().copied().chain([*r])).collect(),
            ))
        }
    }

    fn minimum(
        residuals: impl Fn(&[f64]) -> (Vec<f64>, Vec<Vec<f64>>),
        from: &[f64],
        limits: [&[f64]; 2],
    ) -> Descent {
        let mut misfit = Given { residuals, tried: Vec::new(), at: Vec::new() };
        let limits = Limits { low: limits[0].to_vec(), high: limits[1].to_vec() };
        descend(&mut misfit, from, &limits, 200, 1e-12).unwrap().unwrap()
    }

    const ANY: [&[f64]; 2] = [&[f64::NEG_INFINITY; 2], &[f64::INFINITY; 2]];

    /// Rosenbrock's valley, as residuals.
    fn valley(x: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
        let residuals = vec![-10.0 * (x[1] - x[0] * x[0]), x[0] - 1.0];
        (residuals, vec![vec![-20.0 * x[0], 10.0], vec![-1.0, 0.0]])
    }

    #[test]
    fn a_valley_is_gone_down_and_scales_do_not_matter() {
        let plain = minimum(valley, &[-1.2, 1.0], ANY);
        assert!(
            plain.converged && (plain.x[0] - 1.0).abs() < 1e-9 && (plain.x[1] - 1.0).abs() < 1e-9,
            "{plain:?}"
        );
        let scaled = |x: &[f64]| {
            let (r, mut rows) = valley(&[x[0] * 1e6, x[1] * 1e-6]);
            rows.iter_mut().for_each(|row| (row[0], row[1]) = (row[0] * 1e6, row[1] * 1e-6));
            (r, rows)
        };
        let rescaled = minimum(scaled, &[-1.2e-6, 1e6], ANY);
        assert_eq!(rescaled.iterations, plain.iterations);
        assert!((rescaled.x[0] * 1e6 - 1.0).abs() < 1e-9);
    }

    /// A linear problem: the bounded minimum of (x−3)² + (x+y−4)², y ≤ 0.5, is where the derivative by x vanishes: x = 3.25.
    #[test]
    fn limits_hold_and_the_others_are_found_without_them() {
        let line = |x: &[f64]| (vec![3.0 - x[0], 4.0 - x[0] - x[1]], vec![vec![1.0, 0.0], vec![1.0, 1.0]]);
        let free = minimum(line, &[0.0, 0.0], ANY);
        assert!((free.x[0] - 3.0).abs() < 1e-12 && (free.x[1] - 1.0).abs() < 1e-12);
        let bound = minimum(line, &[0.0, 0.0], [&[f64::NEG_INFINITY; 2], &[f64::INFINITY, 0.5]]);
        assert!((bound.x[0] - 3.25).abs() < 1e-6 && bound.x[1] == 0.5, "{bound:?}");
        let held = minimum(line, &[0.0, 0.2], [&[f64::NEG_INFINITY, 0.2], &[f64::INFINITY, 0.2]]);
        assert!((held.x[0] - 3.4).abs() < 1e-6 && held.x[1] == 0.2);
    }

    /// Only x + y is determined: the other direction stays where it was. And beyond 2 nothing can be computed.
    #[test]
    fn what_is_not_told_stays_and_what_cannot_be_computed_is_not_entered() {
        let sum = |x: &[f64]| (vec![1.0 - x[0] - x[1]; 3], vec![vec![1.0, 1.0]; 3]);
        let of_sum = minimum(sum, &[0.4, 0.2], ANY);
        assert!((of_sum.x[0] - 0.6).abs() < 1e-9 && (of_sum.x[1] - 0.4).abs() < 1e-9);
        let wall = |x: &[f64]| {
            let root = (2.0 - x[0]).sqrt();
            (vec![root - 0.01, x[1]], vec![vec![0.5 / root, 0.0], vec![0.0, -1.0]])
        };
        let of_wall = minimum(wall, &[-50.0, 1.0], ANY);
        assert!((of_wall.x[0] - 1.9999).abs() < 1e-9, "{of_wall:?}");
    }
}
