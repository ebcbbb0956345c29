//! Residuals of all recordings, each divided by its noise, over a part of the time.

use crate::error::FitError;
use crate::levenberg::Misfit;
use crate::shooting::{Miss, Row, Shooting, Shot};
use leastaction_linear::triangle;

/// What residuals are divided by, where a recording does not say it: a number for each channel.
pub(crate) type Noise = Vec<f64>;

/// Residuals over the first part of each recording.
pub(crate) struct Horizon<'s, 'p, 'g> {
    pub(crate) shooting: &'s mut Shooting<'p, 'g>,
    noise: Noise,
    /// Whether noise counts that rows have of their own.
    given: bool,
    samples: Vec<usize>,
    /// What pulls parameters to where they were first: places, and how strongly. It is for parts of the time that do not tell them.
    anchor: Option<(Vec<f64>, Vec<f64>)>,
    tried: Option<(Vec<f64>, Vec<Shot>)>,
    pub(crate) current: Option<(Vec<f64>, Vec<Shot>)>,
    /// The rows of derivatives of each recording, where they were asked for last.
    pub(crate) slopes: Vec<Vec<f64>>,
}

impl<'s, 'p, 'g> Horizon<'s, 'p, 'g> {
    pub(crate) fn new(shooting: &'s mut Shooting<'p, 'g>, noise: &Noise, part: f64) -> Horizon<'s, 'p, 'g> {
        let samples = shooting.targets.iter().map(|target| target.samples_in(part)).collect();
        Horizon {
            shooting,
            noise: noise.clone(),
            given: false,
            samples,
            anchor: None,
            tried: None,
            current: None,
            slopes: Vec::new(),
        }
    }

    /// With the noise that rows have of their own.
    pub(crate) fn with_given(self) -> Horizon<'s, 'p, 'g> {
        Horizon { given: true, ..self }
    }

    /// What the residual of a row is divided by.
    pub(crate) fn noise_of(&self, row: &Row) -> f64 {
        row.sigma.filter(|_| self.given).unwrap_or(self.noise[row.channel])
    }

    /// With parameters pulled to where they are.
    pub(crate) fn anchored(self, at: &[f64], strength: f64) -> Horizon<'s, 'p, 'g> {
        let count: usize =
            self.shooting.targets.iter().zip(&self.samples).map(|(target, n)| target.rows_of(*n).len()).sum();
        let weight = strength * (count as f64).sqrt();
        let pull = |x: &f64| if *x == 0.0 { 0.0 } else { weight / x.abs() };
        let anchor = at[..self.shooting.free.len()].to_vec();
        let weights = anchor.iter().map(pull).collect();
        Horizon { anchor: Some((anchor, weights)), ..self }
    }

    /// Runs all recordings.
    pub(crate) fn shoot(&mut self, x: &[f64]) -> Result<Vec<Shot>, (usize, Miss)> {
        let shots = self.samples.iter().enumerate();
        shots.map(|(target, &n)| self.shooting.shoot(target, x, n).map_err(|miss| (target, miss))).collect()
    }

    /// The residuals of a recording, divided by their noise.
    pub(crate) fn residuals(&self, target: usize, shot: &Shot) -> Vec<f64> {
        let rows = self.shooting.targets[target].rows_of(self.samples[target]).iter();
        rows.zip(&shot.predicted)
            .map(|(row, predicted)| (row.value - predicted) / self.noise_of(row))
            .collect()
    }

    fn anchors(&self, x: &[f64]) -> Vec<f64> {
        let Some((at, weights)) = &self.anchor else { return Vec::new() };
        at.iter().zip(weights).zip(x).map(|((at, weight), x)| weight * (at - x)).collect()
    }
}

impl Misfit for Horizon<'_, '_, '_> {
    type Error = FitError;

    fn try_at(&mut self, x: &[f64]) -> Result<Option<f64>, FitError> {
        match self.shoot(x) {
            Ok(shots) => {
                let squares = |list: &[f64]| list.iter().map(|r| r * r).sum::<f64>();
                let all =
                    shots.iter().enumerate().map(|(target, shot)| squares(&self.residuals(target, shot)));
                let cost = all.sum::<f64>() + squares(&self.anchors(x));
                self.tried = Some((x.to_vec(), shots));
                Ok(cost.is_finite().then_some(cost))
            }
            Err((_, Miss::Interrupted)) => Err(FitError::Interrupted),
            Err(_) => Ok(None),
        }
    }

    fn accept(&mut self) -> Vec<f64> {
        let Some((mut x, shots)) = self.tried.take() else { unreachable!("something was tried") };
        let k = self.shooting.free.len();
        // Where constraints moved the start to.
        x[k..].iter_mut().zip(shots.iter().flat_map(|shot| &shot.numbers)).for_each(|(x, moved)| *x = *moved);
        self.current = Some((x.clone(), shots));
        x
    }

    fn linear(&mut self) -> Result<Option<Vec<f64>>, FitError> {
        let Some((x, shots)) = self.current.take() else { unreachable!("something was accepted") };
        let (k, s, count) = (self.shooting.free.len(), self.shooting.starting.len(), x.len());
        let mut stacked = Vec::new();
        self.slopes.clear();
        for (target, shot) in shots.iter().enumerate() {
            let slopes = match self.shooting.slopes(target, shot) {
                Ok(slopes) => slopes,
                Err(Miss::Interrupted) => return Err(FitError::Interrupted),
                Err(_) => {
                    self.current = Some((x, shots));
                    return Ok(None);
                }
            };
            let residuals = self.residuals(target, shot);
            let rows = self.shooting.targets[target].rows_of(self.samples[target]).iter();
            let mut own = Vec::with_capacity(residuals.len() * (k + s + 1));
            for ((row, slopes), residual) in rows.zip(slopes.chunks_exact((k + s).max(1))).zip(&residuals) {
                let noise = self.noise_of(row);
                own.extend(slopes.iter().map(|slope| slope / noise));
                own.push(*residual);
            }
            self.slopes.push(slopes);
            if !own.iter().all(|x| x.is_finite()) {
                return Err(FitError::Overflow);
            }
            // A triangle has the same squares, and few rows.
            for row in triangle(own, k + s + 1).chunks_exact(k + s + 1) {
                let mut wide = vec![0.0; count + 1];
                wide[..k].copy_from_slice(&row[..k]);
                wide[k + target * s..][..s].copy_from_slice(&row[k..k + s]);
                wide[count] = row[k + s];
                stacked.extend(wide);
            }
        }
        if let Some((_, weights)) = &self.anchor {
            for (j, (weight, residual)) in weights.iter().zip(self.anchors(&x)).enumerate() {
                let mut wide = vec![0.0; count + 1];
                (wide[j], wide[count]) = (*weight, residual);
                stacked.extend(wide);
            }
        }
        self.current = Some((x, shots));
        Ok(Some(stacked))
    }
}
