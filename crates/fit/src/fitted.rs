//! What came of a fit.

use crate::chances::{fisher, student};
use crate::judge::{Doubt, Hint, Undetermined};
use leastaction_output::Table;
use std::io;
use std::ops::Range;

/// The chance with which an interval holds the truth.
const CHANCE: f64 = 0.95;

/// An unknown number that was estimated.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The parameter, or the number of the start.
    pub name: String,
    /// Which recording begins with it; none for a parameter.
    pub recording: Option<usize>,
    /// Where the search began.
    pub guess: f64,
    /// The estimate.
    pub value: f64,
    /// Its standard error; none if the data do not determine it, or if it is at a limit.
    pub error: Option<f64>,
    /// Between which values it is, with a chance of 95 %.
    pub interval: Option<[f64; 2]>,
    /// Whether it stands at a limit.
    pub at_limit: bool,
}

/// How well one channel is fitted, over all recordings.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedChannel {
    /// What was measured.
    pub what: String,
    /// How many numbers.
    pub rows: usize,
    /// The root of the mean square of residuals.
    pub rms: f64,
    /// The same as a part of the spread of the values.
    pub relative: f64,
    /// The noise: as it was given, on average, or as it was estimated.
    pub sigma: f64,
    /// Whether it was given.
    pub given: bool,
    /// How many times residuals are as large as the noise.
    pub ratio: f64,
    /// The correlation of residuals with the next ones.
    pub correlation: f64,
    /// How many residuals are too large for noise, and when the first was.
    pub outliers: usize,
    /// When the first of these was.
    pub outlier_at: Option<f64>,
}

/// A recording with the motion that was fitted to it.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedRecording {
    /// What it is called.
    pub name: String,
    /// When the motion begins.
    pub begin: f64,
    /// The times at which something was measured.
    pub times: Vec<f64>,
    /// For each channel of the fit, the measured values and those of the motion at these times; NaN where nothing was measured.
    pub channels: Vec<[Vec<f64>; 2]>,
    /// Times for a smooth curve, and the values of each channel there, measured or not.
    pub curve: (Vec<f64>, Vec<Vec<f64>>),
}

/// How derivatives were found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Derivatives {
    /// By the way back over each run, exactly.
    Adjoint,
    /// By differences of runs.
    Differences {
        /// Why.
        why: String,
    },
}

/// What came of a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The name of the system.
    pub system: String,
    /// What it is, in a line.
    pub about: String,
    /// The method that integrated it, and its pace.
    pub method: String,
    /// How derivatives were found.
    pub derivatives: Derivatives,
    /// All unknowns: parameters, then the start of each recording.
    pub estimates: Vec<Estimate>,
    /// Their covariance, row by row; 0 where something is undetermined.
    pub covariance: Vec<f64>,
    /// All parameters of the model with their values now.
    pub parameters: Vec<(String, f64)>,
    /// How well each channel is fitted.
    pub channels: Vec<FittedChannel>,
    /// Each recording with the fitted motion.
    pub recordings: Vec<FittedRecording>,
    /// How many numbers were measured.
    pub measured: usize,
    /// How many of them are left when unknowns are found.
    pub freedom: usize,
    /// How often the motion was linearised.
    pub iterations: usize,
    /// How many runs it took.
    pub runs: usize,
    /// What these data do not tell.
    pub undetermined: Option<Undetermined>,
    /// What is doubtful.
    pub doubts: Vec<Doubt>,
    /// What would explain data that the model does not explain.
    pub hints: Vec<Hint>,
}

impl Fit {
    /// Whether the estimates mean what they say: the data are explained, and tell all unknowns.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.undetermined.is_none() && !self.doubts.iter().any(Doubt::is_grave)
    }

    /// Why the estimates are not to be used; nothing if they are sound.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        let undetermined = self.undetermined.iter().map(ToString::to_string);
        let grave = self.doubts.iter().filter(|doubt| doubt.is_grave()).map(|doubt| {
            let hints: Vec<String> = self.hints.iter().map(|hint| format!("\nhint: {hint}")).collect();
            format!("{doubt}{}", hints.concat())
        });
        undetermined.chain(grave).collect()
    }

    /// The estimate of a parameter.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&Estimate> {
        self.estimates.iter().find(|estimate| estimate.name == name && estimate.recording.is_none())
    }

    /// How two estimates go together, by their places; `None` if the data do not determine one of them.
    #[must_use]
    pub fn correlation(&self, i: usize, j: usize) -> Option<f64> {
        let n = self.estimates.len();
        let [a, b, c] = [(i, i), (j, j), (i, j)].map(|(i, j)| self.covariance.get(i * n + j).copied());
        let (a, b, c) = (a?, b?, c?);
        let both_known = self.estimates[i].error.is_some() && self.estimates[j].error.is_some();
        (both_known && a > 0.0 && b > 0.0).then(|| c / (a.sqrt() * b.sqrt()))
    }

    /// How many standard errors make an interval of 95 %.
    pub(crate) fn width(freedom: usize) -> f64 {
        student(CHANCE, freedom.max(1) as f64)
    }

    /// Whether some values of the parameters, all in the order of the estimates, are among those that these data allow with a chance of 95 %: together, by the ellipsoid of their covariance.
    /// Intervals of single ones hold the truth all at once less often.
    ///
    /// `None` if something is undetermined or at a limit.
    #[must_use]
    pub fn allows(&self, parameters: &[f64]) -> Option<bool> {
        let estimates: Vec<&Estimate> = self.estimates.iter().filter(|e| e.recording.is_none()).collect();
        let (n, k) = (self.estimates.len(), estimates.len());
        if parameters.len() != k || k == 0 || estimates.iter().any(|estimate| estimate.error.is_none()) {
            return None;
        }
        let mut part: Vec<f64> = (0..k * k).map(|place| self.covariance[place / k * n + place % k]).collect();
        // Scales of parameters should not matter.
        let scales: Vec<f64> = (0..k).map(|i| part[i * k + i].sqrt()).collect();
        (0..k * k).for_each(|place| part[place] /= scales[place / k] * scales[place % k]);
        let offset: Vec<f64> = (0..k).map(|i| (parameters[i] - estimates[i].value) / scales[i]).collect();
        let mut solved = offset.clone();
        leastaction_linear::dense::solve_once(&mut part, &mut solved, k).ok()?;
        let distance: f64 = offset.iter().zip(&solved).map(|(a, b)| a * b).sum();
        Some(distance / k as f64 <= fisher(CHANCE, k as f64, self.freedom.max(1) as f64))
    }

    /// The numbers of the start of a recording, by name; those that are known are not among them.
    #[must_use]
    pub fn start(&self, recording: usize) -> Vec<(String, f64)> {
        let own = self.estimates.iter().filter(|estimate| estimate.recording == Some(recording));
        own.map(|estimate| (estimate.name.clone(), estimate.value)).collect()
    }

    /// Data, fit and residuals, as a table.
    #[must_use]
    pub fn table(&self) -> FittedTable<'_> {
        FittedTable { fit: self }
    }
}

/// Data, fit and residuals of all recordings: which recording, the time, and three columns for each channel.
#[derive(Clone, Copy, Debug)]
pub struct FittedTable<'a> {
    fit: &'a Fit,
}

impl Table for FittedTable<'_> {
    fn columns(&self) -> Vec<(&'static str, String)> {
        let mut all = vec![("recording", "recording".to_owned()), ("time", "t".to_owned())];
        for FittedChannel { what, .. } in &self.fit.channels {
            all.push(("data", what.clone()));
            all.push(("fit", format!("{what} fit")));
            all.push(("residual", format!("{what} residual")));
        }
        all
    }

    fn kind(&self, column: usize) -> leastaction_output::ColumnKind {
        if column == 0 {
            leastaction_output::ColumnKind::Whole
        } else {
            leastaction_output::ColumnKind::Number
        }
    }

    fn rows(&self) -> u64 {
        self.fit.recordings.iter().map(|recording| recording.times.len() as u64).sum()
    }

    fn read(&self, column: usize, rows: Range<u64>, into: &mut Vec<f64>) -> io::Result<()> {
        let all = self.fit.recordings.iter().enumerate().flat_map(|(nth, recording)| {
            (0..recording.times.len()).map(move |i| match column {
                0 => (nth + 1) as f64,
                1 => recording.times[i],
                _ => {
                    let [data, fit] = &recording.channels[(column - 2) / 3];
                    match (column - 2) % 3 {
                        0 => data[i],
                        1 => fit[i],
                        _ => data[i] - fit[i],
                    }
                }
            })
        });
        into.extend(all.skip(rows.start as usize).take((rows.end - rows.start) as usize));
        Ok(())
    }
}
