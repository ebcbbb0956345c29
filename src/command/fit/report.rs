//! What a fit found, for people.

use super::super::source::title;
use super::super::summary::counted;
use super::super::table;
use leastaction::fit::{Derivatives, Estimate, Fit};
use leastaction::integrate::{number, rounded};
use std::time::Duration;

/// Pairs of parameters with a larger correlation are printed, and at most this number of them.
const STRONG: f64 = 0.8;
const PAIRS: usize = 4;

/// If there are more recordings, their starts are not printed one by one.
const RECORDINGS: usize = 4;

/// What there is to say besides the fit itself.
pub(super) struct Besides<'a> {
    pub(super) wall: Duration,
    pub(super) unused: &'a [String],
    pub(super) written: &'a [String],
}

/// The summary.
pub(super) fn report(fit: &Fit, besides: &Besides<'_>) -> String {
    let row = |name: &str, text: String| vec![name.to_owned(), text];
    let mut rows = vec![row("system", title(&fit.system, &fit.about))];
    for (i, recording) in fit.recordings.iter().enumerate() {
        let span = [recording.times.first(), recording.times.last()].map(|t| t.map_or(String::new(), number));
        let rows_text = counted(recording.times.len() as u64, "time");
        let text = format!("{}: {rows_text}, t = {} to {}", recording.name, span[0], span[1]);
        rows.push(row(if i == 0 { "data" } else { "" }, text));
    }
    let measured = fit.channels.iter().map(|channel| format!("{} ({})", channel.what, channel.rows));
    rows.push(row("measured", measured.collect::<Vec<_>>().join(", ")));
    if !besides.unused.is_empty() {
        rows.push(row("not used", besides.unused.join(", ")));
    }
    rows.push(row("method", fit.method.clone()));
    if let Derivatives::Differences { why } = &fit.derivatives {
        rows.push(row("derivatives", format!("by differences of runs: {why}")));
    }
    let work = format!(
        "{} from {} numbers ({} left), {}, {}",
        counted(fit.estimates.len() as u64, "unknown"),
        fit.measured,
        fit.freedom,
        counted(fit.iterations as u64, "iteration"),
        counted(fit.runs as u64, "run"),
    );
    rows.push(row("fit", work));
    rows.push(row("time", format!("{:.3} s", besides.wall.as_secs_f64())));
    let mut text = table(&rows);
    text.push('\n');
    text.push_str(&estimates(fit));
    text.push('\n');
    let mut rows = Vec::new();
    for (i, channel) in fit.channels.iter().enumerate() {
        let residuals = format!(
            "{} is off by {} ({} % of its spread); {}",
            channel.what,
            rounded(channel.rms, 3),
            rounded(100.0 * channel.relative, 2),
            match channel.given {
                true => {
                    let sigma = rounded(channel.sigma, 3);
                    format!("its sigma is {sigma}, residuals are {} times that", rounded(channel.ratio, 2))
                }
                false => format!("noise of {} is estimated", rounded(channel.sigma, 3)),
            }
        );
        rows.push(row(if i == 0 { "residuals" } else { "" }, residuals));
    }
    rows.extend(correlations(fit).map(|pair| row("together", pair)));
    rows.extend(fit.undetermined.iter().map(|undetermined| row("undetermined", undetermined.to_string())));
    rows.extend(fit.doubts.iter().map(|doubt| row("warning", doubt.to_string())));
    rows.extend(fit.hints.iter().map(|hint| row("hint", hint.to_string())));
    if !besides.written.is_empty() {
        rows.push(row("files", besides.written.join(", ")));
    }
    text.push_str(&table(&rows));
    text
}

/// All estimates with their errors and intervals.
fn estimates(fit: &Fit) -> String {
    let head = ["", "estimate", "± error", "95 %: from", "to", "guess"].map(str::to_owned).to_vec();
    let mut rows = vec![head];
    let several_recordings = fit.recordings.len() > 1;
    for estimate in &fit.estimates {
        let name = match estimate.recording {
            None => estimate.name.clone(),
            Some(nth) if nth >= RECORDINGS => continue,
            Some(_) if !several_recordings => format!("{} at the start", estimate.name),
            Some(nth) => format!("{} at the start of {}", estimate.name, nth + 1),
        };
        let digits = digits(estimate);
        let [error, low, high] = match (estimate.error, estimate.interval) {
            (Some(error), Some([low, high])) => {
                [format!("± {}", rounded(error, 2)), rounded(low, digits), rounded(high, digits)]
            }
            _ if estimate.at_limit => ["at its limit", "", ""].map(str::to_owned),
            _ => ["undetermined", "", ""].map(str::to_owned),
        };
        // What is undetermined could be any number.
        let is_determined = estimate.error.is_some() || estimate.at_limit;
        let value = if is_determined { rounded(estimate.value, digits) } else { "–".to_owned() };
        rows.push(vec![name, value, error, low, high, rounded(estimate.guess, 6)]);
    }
    let mut text = table(&rows);
    if fit.recordings.len() > RECORDINGS && fit.estimates.iter().any(|estimate| estimate.recording.is_some())
    {
        let more = fit.recordings.len() - RECORDINGS;
        text.push_str(&format!("and the starts of {more} more (--json tells all)\n"));
    }
    text
}

/// How many digits of an estimate are printed: two more than its error leaves certain.
fn digits(estimate: &Estimate) -> usize {
    let Some(error) = estimate.error.filter(|error| *error > 0.0 && estimate.value != 0.0) else { return 6 };
    let certain = (estimate.value.abs() / error).log10().floor() + 2.0;
    certain.clamp(2.0, 12.0) as usize
}

/// An estimate with its error.
pub(super) fn with_error(estimate: &Estimate) -> String {
    let value = rounded(estimate.value, digits(estimate));
    match estimate.error {
        Some(error) => format!("{value} ± {}", rounded(error, 2)),
        None => value,
    }
}

/// Parameters whose estimates go together.
fn correlations(fit: &Fit) -> Option<String> {
    let parameters: Vec<usize> =
        (0..fit.estimates.len()).filter(|&i| fit.estimates[i].recording.is_none()).collect();
    let mut pairs = Vec::new();
    for (nth, &i) in parameters.iter().enumerate() {
        pairs.extend(parameters[..nth].iter().filter_map(|&j| {
            let correlation = fit.correlation(j, i)?;
            (correlation.abs() > STRONG).then_some((j, i, correlation))
        }));
    }
    pairs.sort_by(|a, b| b.2.abs().total_cmp(&a.2.abs()));
    let pairs_shown = pairs.iter().take(PAIRS).map(|(i, j, correlation)| {
        format!("{} and {} ({})", fit.estimates[*i].name, fit.estimates[*j].name, rounded(*correlation, 3))
    });
    let pairs_shown: Vec<String> = pairs_shown.collect();
    (!pairs_shown.is_empty()).then(|| pairs_shown.join(", "))
}
