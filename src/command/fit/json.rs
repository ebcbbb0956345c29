//! What a fit found, for machines.

use leastaction::fit::{Derivatives, Fit};
use leastaction::output::json::{list, number, object, text};
use std::time::Duration;

/// One document. What is not known is null.
pub(super) fn json(fit: &Fit, unused: &[String], wall: Duration) -> String {
    let null = || "null".to_owned();
    let estimates = fit.estimates.iter().map(|estimate| {
        object([
            ("name", text(&estimate.name)),
            ("recording", estimate.recording.map_or_else(null, |nth| text(&fit.recordings[nth].name))),
            ("value", number(estimate.value)),
            ("error", estimate.error.map_or_else(null, number)),
            ("interval", estimate.interval.map_or_else(null, |ends| list(ends.map(number)))),
            ("guess", number(estimate.guess)),
            ("at_limit", estimate.at_limit.to_string()),
        ])
    });
    let n = fit.estimates.len();
    let correlations = (0..n).map(|i| list((0..n).map(|j| fit.correlation(i, j).map_or_else(null, number))));
    let channels = fit.channels.iter().map(|channel| {
        object([
            ("what", text(&channel.what)),
            ("rows", channel.rows.to_string()),
            ("rms", number(channel.rms)),
            ("relative", number(channel.relative)),
            ("sigma", number(channel.sigma)),
            ("sigma_given", channel.given.to_string()),
            ("ratio", number(channel.ratio)),
            ("correlation", number(channel.correlation)),
            ("outliers", channel.outliers.to_string()),
        ])
    });
    let recordings = fit.recordings.iter().map(|recording| {
        object([
            ("name", text(&recording.name)),
            ("begin", number(recording.begin)),
            ("times", recording.times.len().to_string()),
        ])
    });
    let undetermined = fit.undetermined.as_ref().map_or_else(null, |undetermined| {
        object([
            ("names", list(undetermined.names.iter().map(|name| text(name)))),
            (
                "combination",
                undetermined.combination.as_ref().map_or_else(null, |combination| text(combination)),
            ),
            ("message", text(&undetermined.to_string())),
        ])
    });
    let doubts = fit
        .doubts
        .iter()
        .map(|doubt| object([("code", text(doubt.code())), ("message", text(&doubt.to_string()))]));
    let hints = fit.hints.iter().map(|hint| {
        object([
            ("code", text(hint.code())),
            ("value", number(hint.value())),
            ("message", text(&hint.to_string())),
        ])
    });
    let derivatives = match &fit.derivatives {
        Derivatives::Adjoint => text("adjoint"),
        Derivatives::Differences { .. } => text("differences"),
    };
    let parameters = fit.parameters.iter().map(|(name, value)| (name, number(*value)));
    let members = [
        ("system", text(&fit.system)),
        ("sound", fit.is_sound().to_string()),
        ("estimates", list(estimates)),
        ("correlations", list(correlations)),
        ("parameters", object(parameters)),
        ("measured", fit.measured.to_string()),
        ("degrees_of_freedom", fit.freedom.to_string()),
        ("channels", list(channels)),
        ("recordings", list(recordings)),
        ("not_used", list(unused.iter().map(|name| text(name)))),
        ("undetermined", undetermined),
        ("warnings", list(doubts)),
        ("hints", list(hints)),
        ("method", text(&fit.method)),
        ("derivatives", derivatives),
        ("iterations", fit.iterations.to_string()),
        ("runs", fit.runs.to_string()),
        ("wall_s", number(wall.as_secs_f64())),
    ];
    let lines = members.map(|(name, value)| format!("  {}: {value}", text(name)));
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}
