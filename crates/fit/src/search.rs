//! From a first guess to the least squares.
//!
//! Over a long record, a motion that is guessed badly runs out of step with the one that was measured, and least squares have minima everywhere. Over the first part of the
//! record they have not. So a fit begins with a part, and goes on with twice as much of it from where it came to, until it has all (a *progressive horizon*). A descent over
//! all of it from the guess is tried too; and where neither explains the data, others are begun at random within the limits.

use crate::error::FitError;
use crate::judge::Normal;
use crate::levenberg::{Descent, Limits, Misfit, descend};
use crate::misfit::{Horizon, Noise};
use crate::shooting::{Miss, Shooting};
use leastaction_expr::Random;

/// A first part has this number of values for each unknown, and is at least this part of the record.
const ROWS_FOR_EACH: usize = 3;
const SMALLEST_PART: f64 = 1.0 / 128.0;

/// Iterations over a part, and how far they go.
const PART_ITERATIONS: usize = 15;
const PART_ENOUGH: f64 = 1e-3;
const ENOUGH: f64 = 1e-9;

/// How strongly a part pulls parameters to where they were: a change by their own size counts as residuals of this many times the spread of the data.
const ANCHOR: f64 = 0.03;

/// A fit that leaves no more than this part of the variance is not looked for elsewhere.
const EXPLAINED: f64 = 0.02;
/// If a part leaves more of the variance than this, the search does not continue from it.
const HOPELESS: f64 = 0.2;
/// The number of other guesses, and the largest factor by which they differ.
const GUESSES: u64 = 10;
const FACTOR: f64 = 3.0;

/// No guess is started after this number of steps in all: a long record is not searched as widely as a short one.
const MOST_STEPS: u64 = 1_000_000;

/// The noise is estimated again at most this number of times, until it changes by less than this part.
const NOISE_ROUNDS: usize = 8;
const SAME_NOISE: f64 = 1e-3;
/// Noise below this part of the spread of the data is ignored: runs are not more exact.
const LEAST_NOISE: f64 = 1e-9;

/// Where a search ended.
pub(crate) struct SearchResult {
    pub(crate) x: Vec<f64>,
    pub(crate) noise: Noise,
    pub(crate) iterations: usize,
    pub(crate) converged: bool,
}

/// What is searched, and where it begins.
pub(crate) struct Search {
    pub(crate) guess: Vec<f64>,
    pub(crate) limits: Limits,
    /// The spread of the values of each channel.
    pub(crate) spreads: Vec<f64>,
    pub(crate) iterations: usize,
    /// Whether other guesses are tried, and the noise is estimated.
    pub(crate) widely: bool,
}

impl Search {
    /// The best that is found.
    pub(crate) fn run(&self, shooting: &mut Shooting<'_, '_>) -> Result<SearchResult, FitError> {
        let part = self.first_part(shooting);
        let first = Horizon::new(shooting, &self.spreads, part).shoot(&self.guess);
        if let Err((target, miss)) = first {
            return Err(miss.first(shooting, target));
        }
        let rows: usize = shooting.targets.iter().map(|target| target.rows.len()).sum();
        let enough = EXPLAINED * rows as f64;
        let mut best = self.progressive(shooting, &self.guess, part)?;
        let mut iterations = best.as_ref().map_or(0, |descent| descent.iterations);
        let mut consider = |descent: Option<Descent>, best: &mut Option<Descent>| {
            iterations += descent.as_ref().map_or(0, |descent| descent.iterations);
            if descent
                .as_ref()
                .is_some_and(|descent| best.as_ref().is_none_or(|best| descent.cost < best.cost))
            {
                *best = descent;
            }
        };
        let is_explained = |best: &Option<Descent>| best.as_ref().is_some_and(|best| best.cost <= enough);
        let is_hopeless = best.as_ref().is_some_and(|best| best.cost > HOPELESS * rows as f64);
        if !is_explained(&best) && !is_hopeless {
            let direct = self.descent(shooting, &self.guess, 1.0)?;
            consider(direct, &mut best);
        }
        let others = if self.widely { GUESSES } else { 0 };
        for seed in 0..others {
            if is_explained(&best) || shooting.steps > MOST_STEPS {
                break;
            }
            let guess = self.other_guess(shooting, seed);
            let descent = self.progressive(shooting, &guess, part)?;
            consider(descent, &mut best);
        }
        let Some(best) = best else {
            // It cannot be run over all the data from anywhere: say what happens from the guess.
            let failed = Horizon::new(shooting, &self.spreads, 1.0).shoot(&self.guess);
            return Err(match failed {
                Err((target, miss)) => miss.first(shooting, target),
                Ok(_) => FitError::Overflow,
            });
        };
        match self.widely {
            true => self.with_noise(shooting, best, iterations, enough),
            false => Ok(SearchResult {
                x: best.x,
                noise: self.spreads.clone(),
                iterations,
                converged: best.converged,
            }),
        }
    }

    /// The part of the record to begin with.
    fn first_part(&self, shooting: &Shooting<'_, '_>) -> f64 {
        let is_enough = |part: f64| {
            let rows = |target: &crate::shooting::Target| target.rows_of(target.samples_in(part)).len();
            let all: usize = shooting.targets.iter().map(rows).sum();
            let each =
                shooting.targets.iter().all(|target| target.samples_in(part) >= target.times.len().min(4));
            all >= ROWS_FOR_EACH * shooting.count() && each
        };
        let mut part = 1.0;
        while part > SMALLEST_PART && is_enough(part / 2.0) {
            part /= 2.0;
        }
        part
    }

    /// A descent over a part of the time.
    fn descent(
        &self,
        shooting: &mut Shooting<'_, '_>,
        from: &[f64],
        part: f64,
    ) -> Result<Option<Descent>, FitError> {
        let mut horizon = Horizon::new(shooting, &self.spreads, part);
        match part < 1.0 {
            true => {
                descend(&mut horizon.anchored(from, ANCHOR), from, &self.limits, PART_ITERATIONS, PART_ENOUGH)
            }
            false => descend(&mut horizon, from, &self.limits, self.iterations, ENOUGH),
        }
    }

    /// Part by part: first of all, where the motion begins.
    fn progressive(
        &self,
        shooting: &mut Shooting<'_, '_>,
        guess: &[f64],
        part: f64,
    ) -> Result<Option<Descent>, FitError> {
        let (mut x, mut part, mut iterations) = (guess.to_vec(), part, 0);
        if !shooting.starting.is_empty() {
            let k = shooting.free.len();
            let mut held = self.limits.clone();
            held.low[..k].copy_from_slice(&x[..k]);
            held.high[..k].copy_from_slice(&x[..k]);
            let mut horizon = Horizon::new(shooting, &self.spreads, part);
            let descent = descend(&mut horizon, &x, &held, PART_ITERATIONS, PART_ENOUGH)?;
            iterations += descent.as_ref().map_or(0, |descent| descent.iterations);
            x = descent.map_or(x, |descent| descent.x);
        }
        loop {
            let Some(descent) = self.descent(shooting, &x, part)? else { return Ok(None) };
            iterations += descent.iterations;
            x.clone_from(&descent.x);
            if part >= 1.0 {
                return Ok(Some(Descent { iterations, ..descent }));
            }
            let rows: usize = shooting.targets.iter().map(|t| t.rows_of(t.samples_in(part)).len()).sum();
            if descent.cost > HOPELESS * rows as f64 {
                // What does not explain a part does not explain the whole, which may be very long.
                let whole = Horizon::new(shooting, &self.spreads, 1.0).try_at(&x)?;
                return Ok(whole.map(|cost| Descent { x, cost, iterations, converged: true }));
            }
            part = (2.0 * part).min(1.0);
        }
    }

    /// Another guess: parameters within their limits, or some factor away.
    fn other_guess(&self, shooting: &Shooting<'_, '_>, seed: u64) -> Vec<f64> {
        let (mut random, mut guess) = (Random::new(seed), self.guess.clone());
        for (j, x) in guess.iter_mut().enumerate().take(shooting.free.len()) {
            let (low, high) = (self.limits.low[j], self.limits.high[j]);
            *x = match low.is_finite() && high.is_finite() {
                true => random.between(low, high),
                false => (*x * FACTOR.powf(random.between(-1.0, 1.0))).clamp(low, high),
            };
        }
        guess
    }

    /// The end of a descent with the noise that residuals have.
    fn with_noise(
        &self,
        shooting: &mut Shooting<'_, '_>,
        best: Descent,
        iterations: usize,
        enough: f64,
    ) -> Result<SearchResult, FitError> {
        // What is not explained has no noise to be weighed by.
        let rounds = if best.cost > HOPELESS / EXPLAINED * enough { 1 } else { NOISE_ROUNDS };
        let mut result =
            SearchResult { x: best.x, noise: self.spreads.clone(), iterations, converged: best.converged };
        for _ in 0..rounds {
            let noise = self.noise(shooting, &result)?;
            let changes = noise.iter().zip(&result.noise).map(|(new, old)| (new / old - 1.0).abs());
            let change = changes.fold(0.0, f64::max);
            result.noise = noise;
            if rounds == 1 {
                break;
            }
            let mut horizon = Horizon::new(shooting, &result.noise, 1.0).with_given();
            let again = descend(&mut horizon, &result.x, &self.limits, self.iterations, ENOUGH)?;
            let Some(again) = again else { break };
            result.iterations += again.iterations;
            result.converged = again.converged;
            result.x = again.x;
            if change < SAME_NOISE {
                break;
            }
        }
        Ok(result)
    }

    /// The noise of each channel, as residuals have it: what of them is left, for each number that is not used up by an unknown.
    fn noise(&self, shooting: &mut Shooting<'_, '_>, result: &SearchResult) -> Result<Noise, FitError> {
        let mut horizon = Horizon::new(shooting, &result.noise, 1.0).with_given();
        let shots = match horizon.shoot(&result.x) {
            Ok(shots) => shots,
            Err((_, Miss::Interrupted)) => return Err(FitError::Interrupted),
            Err(_) => return Ok(result.noise.clone()),
        };
        horizon.current = Some((result.x.clone(), shots));
        let Some(rows) = horizon.linear()? else { return Ok(result.noise.clone()) };
        let normal = Normal::new(&rows, &result.x, &self.limits, horizon.shooting.differences.is_some());
        let used = normal.used(&horizon);
        let count = result.noise.len();
        let (mut squares, mut numbers, mut freedom) = (vec![0.0; count], vec![0.0; count], vec![0.0; count]);
        if let Some((_, shots)) = &horizon.current {
            for ((target, shot), used) in horizon.shooting.targets.iter().zip(shots).zip(&used) {
                for ((row, predicted), used) in target.rows.iter().zip(&shot.predicted).zip(used) {
                    if row.sigma.is_none() {
                        squares[row.channel] += (row.value - predicted).powi(2);
                        numbers[row.channel] += 1.0;
                        freedom[row.channel] += 1.0 - used;
                    }
                }
            }
        }
        let of = |c: usize| match numbers[c] > 0.0 {
            // A channel that all unknowns go to says nothing of its noise.
            true => (squares[c] / freedom[c].max(0.1 * numbers[c])).sqrt().max(LEAST_NOISE * self.spreads[c]),
            false => result.noise[c],
        };
        Ok((0..count).map(of).collect())
    }
}
