//! What would explain data that a model does not explain: other units, and times that are shifted. Each is tried by a fit of its own.

use crate::data::Recording;
use crate::error::FitError;
use crate::fitted::Fit;
use crate::fitting::Fitting;
use crate::judge::{Doubt, Hint};
use crate::search::SearchResult;

/// Factors by which values are off where units are mixed up, and what that would mean.
const UNITS: &[(f64, &str)] = &[
    (std::f64::consts::PI / 180.0, "they look like degrees where the model has radians"),
    (180.0 / std::f64::consts::PI, "they look like radians where the model has degrees"),
    (1e-3, "they look like thousandths of the model's unit, such as millimetres"),
    (1e-2, "they look like hundredths of the model's unit, such as centimetres"),
    (1e3, "they look like thousands of the model's unit, such as kilometres"),
    (1e2, "they look like hundreds of the model's unit"),
    (2.0 * std::f64::consts::PI, "they look like turns where the model has radians"),
    (0.0254, "they look like inches"),
    (0.3048, "they look like feet"),
    (-1.0, "they have the other sign"),
];

/// The same of time.
const CLOCKS: &[(f64, &str)] = &[
    (1e-3, "they look like milliseconds"),
    (1e-6, "they look like microseconds"),
    (60.0, "they look like minutes"),
    (1e3, "they look like thousands of seconds"),
];

/// All times are shifted by such parts of the record, in turn and finer.
const SHIFTS: &[f64] = &[0.01, 0.02, 0.05, 0.1, 0.2, 0.4];
const FINER: usize = 4;

/// The largest numbers of steps for all hints together, and for one run.
const MOST_STEPS: u64 = 2_000_000;
const MOST_STEPS_OF_A_RUN: u64 = 50_000;

/// Another reading explains the data if it leaves no more than this part of the variance, and a tenth of what was left.
const EXPLAINED: f64 = 0.02;
const BETTER: f64 = 0.1;

/// Residuals are those of a clock that is late if the rates of the motion explain so much of their squares.
const LATE: f64 = 0.5;

pub(crate) fn find(
    fitting: &mut Fitting<'_, '_>,
    recordings: &[Recording],
    fit: &Fit,
    result: &SearchResult,
) -> Result<Vec<Hint>, FitError> {
    let mut hints = late(fitting, fit, result);
    if !fit.doubts.iter().any(Doubt::is_grave) {
        return Ok(hints);
    }
    let left = fitting.unexplained(&result.x).unwrap_or(1.0);
    let most = fitting.shooting.steps + MOST_STEPS;
    fitting.shooting.most_steps = MOST_STEPS_OF_A_RUN;
    let mut best: Option<(f64, Hint)> = None;
    let mut tried =
        |fitting: &mut Fitting<'_, '_>, other: &[Recording], hint: Hint| -> Result<f64, FitError> {
            if fitting.shooting.steps > most {
                return Ok(f64::INFINITY);
            }
            let result = match fitting.search(other, false) {
                Ok(result) => result,
                Err(FitError::Interrupted) => return Err(FitError::Interrupted),
                Err(_) => return Ok(f64::INFINITY),
            };
            let left_now = fitting.unexplained(&result.x).unwrap_or(f64::INFINITY);
            let explains = left_now < EXPLAINED && left_now < BETTER * left;
            if explains && best.as_ref().is_none_or(|(least, _)| left_now < 0.5 * least) {
                best = Some((left_now, hint));
            }
            Ok(left_now)
        };
    let names: Vec<String> = fit.channels.iter().map(|channel| channel.what.clone()).collect();
    let mut groups = vec![names.clone()];
    if names.len() > 1 {
        groups.extend(names.iter().map(|name| vec![name.clone()]));
    }
    for group in groups {
        for &(factor, meaning) in UNITS {
            let hint = Hint::Unit { channels: group.clone(), factor, meaning };
            tried(fitting, &scaled(recordings, &group, factor), hint)?;
        }
    }
    for &(factor, meaning) in CLOCKS {
        tried(fitting, &in_time(recordings, |t| t * factor), Hint::Time { factor, meaning })?;
    }
    // Where nothing depends on time, a shift changes nothing; nor where the start is free and nothing else tells the time.
    if !fitting.shooting.dynamics().system().facts().autonomous {
        let span = fit
            .recordings
            .iter()
            .filter_map(|r| Some(r.times.last()? - r.times.first()?))
            .fold(0.0, f64::max);
        let mut shift = |fitting: &mut Fitting<'_, '_>, by: f64| {
            tried(fitting, &in_time(recordings, |t| t + by), Hint::Shifted { by })
        };
        let mut nearest = (f64::INFINITY, 0.0);
        for by in SHIFTS.iter().flat_map(|part| [part * span, -part * span]) {
            let left = shift(fitting, by)?;
            nearest = if left < nearest.0 { (left, by) } else { nearest };
        }
        let mut width = nearest.1.abs() / 2.0;
        for _ in 0..FINER {
            for by in [nearest.1 - width, nearest.1 + width] {
                let left = shift(fitting, by)?;
                nearest = if left < nearest.0 { (left, by) } else { nearest };
            }
            width /= 2.0;
        }
    }
    hints.extend(best.map(|(_, hint)| hint));
    Ok(hints)
}

/// The recordings with other values of some channels.
fn scaled(recordings: &[Recording], group: &[String], factor: f64) -> Vec<Recording> {
    let mut all = recordings.to_vec();
    for channel in all.iter_mut().flat_map(|recording| &mut recording.channels) {
        if group.contains(&channel.what) {
            channel.values.iter_mut().for_each(|x| *x *= factor);
            channel.sigma.iter_mut().flatten().for_each(|x| *x *= factor.abs());
        }
    }
    all
}

/// The recordings with other times.
fn in_time(recordings: &[Recording], time: impl Fn(f64) -> f64) -> Vec<Recording> {
    let mut all = recordings.to_vec();
    all.iter_mut().flat_map(|recording| &mut recording.times).for_each(|t| *t = time(*t));
    all
}

/// Channels whose residuals look like those of values that come late: r(t) = x(t − τ) − x(t) ≈ −τ x′(t).
fn late(fitting: &mut Fitting<'_, '_>, fit: &Fit, result: &SearchResult) -> Vec<Hint> {
    let count = fit.channels.len();
    let (mut along, mut rates_squared, mut squares) = (vec![0.0; count], vec![0.0; count], vec![0.0; count]);
    for target in 0..fitting.shooting.targets.len() {
        let samples = fitting.shooting.targets[target].times.len();
        let Ok(shot) = fitting.shooting.shoot(target, &result.x, samples) else { return Vec::new() };
        let Ok(rates) = fitting.shooting.rates(target, &shot) else { return Vec::new() };
        let rows = fitting.shooting.targets[target].rows.iter();
        for ((row, predicted), rate) in rows.zip(&shot.predicted).zip(rates) {
            let residual = row.value - predicted;
            along[row.channel] += residual * rate;
            rates_squared[row.channel] += rate * rate;
            squares[row.channel] += residual * residual;
        }
    }
    let hint = |c: usize| {
        let part = along[c] * along[c] / (rates_squared[c] * squares[c]);
        (part > LATE)
            .then(|| Hint::Late { what: fit.channels[c].what.clone(), by: -along[c] / rates_squared[c] })
    };
    (0..count).filter_map(hint).collect()
}
