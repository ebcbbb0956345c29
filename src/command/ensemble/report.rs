//! What a study found, in words or as JSON.

use super::super::table;
use super::findings::Findings;
use leastaction::ensemble::{Finding, ManifestError, Overview};
use leastaction::output::About;
use leastaction::output::json::{cell, list, number, object, text};
use leastaction::{Progress, Results};
use std::path::PathBuf;
use std::time::Duration;

/// At most this number of failures is printed, one by one.
const MOST_FAILURES: usize = 3;

/// What there is to say.
pub(crate) struct Report<'a> {
    pub(crate) results: &'a Results,
    pub(crate) about: &'a About,
    /// Why the method was chosen, if it was.
    pub(crate) why: Option<String>,
    pub(crate) wall: Option<Duration>,
    pub(crate) written: Vec<(&'static str, String)>,
}

impl Report<'_> {
    /// The report as the options ask for it.
    pub(crate) fn shown(&self, findings: &Findings) -> String {
        match (findings.quiet, findings.json) {
            (true, _) => String::new(),
            (false, true) => self.json(),
            (false, false) => self.text(),
        }
    }

    fn text(&self) -> String {
        let Report { results, about, .. } = self;
        let (overview, manifest) = (results.overview(), results.manifest());
        let mut rows = vec![row("system", about.system.clone())];
        rows.push(row("trajectories", self.fates()));
        let sampled: Vec<&str> = manifest.get("sample").collect();
        let seed = manifest.get("seed").next().unwrap_or("0");
        if !sampled.is_empty() {
            rows.push(row("sampled", format!("{} (seed {seed})", sampled.join(", "))));
        }
        let why = self.why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
        rows.push(row("method", format!("{} with {}{why}", about.method, about.pace)));
        rows.push(row("steps", grouped(overview.steps)));
        if let Some(wall) = self.wall {
            rows.push(row("time", format!("{:.3} s to run", wall.as_secs_f64())));
        }
        if overview.failed > 0 {
            let kept = grouped(overview.count() - overview.failed);
            rows.push(row("counted", format!("the {kept} that did not fail")));
        }
        for (reduction, finding) in results.findings() {
            match finding {
                Finding::Summary(summary) => {
                    let lines = summary.lines().into_iter();
                    let word = reduction.word();
                    rows.extend(lines.map(|(subject, said)| row(format!("{word} {subject}").trim(), said)));
                }
                Finding::Rows(sheet) => {
                    use leastaction::output::Table;
                    rows.push(row(reduction.word(), format!("{} rows", grouped(sheet.rows()))));
                }
            }
        }
        rows.extend(failures(overview, MOST_FAILURES).map(|why| row("failed", why)));
        let again = |path: &PathBuf| {
            row("warning", format!("`{}` was damaged: its trajectories were run again", path.display()))
        };
        rows.extend(results.damaged.iter().map(again));
        rows.extend(self.written.iter().map(|(word, names)| row(word, names.clone())));
        table(&rows)
    }

    /// How many trajectories there are, and how they ended.
    fn fates(&self) -> String {
        let (overview, events) = (self.results.overview(), self.results.manifest().get("event"));
        let by_events = overview.ended.iter().zip(events).filter(|(count, _)| **count > 0);
        let mut parts = Vec::new();
        if overview.complete > 0 && overview.complete < overview.count() {
            parts.push(format!("{} complete", grouped(overview.complete)));
        }
        parts.extend(by_events.map(|(count, name)| format!("{} ended by `{name}`", grouped(*count))));
        if overview.failed > 0 {
            parts.push(format!("{} failed", grouped(overview.failed)));
        }
        let (shard, whole) = (self.results.manifest().shard(), self.results.manifest().get("count").next());
        let shard = match (shard.of() > 1, whole.and_then(|count| count.parse().ok())) {
            (true, Some(count)) => format!(" (shard {shard} of {})", grouped(count)),
            _ => String::new(),
        };
        let all = format!("{}{shard}", grouped(overview.count()));
        if parts.is_empty() { all } else { format!("{all}: {}", parts.join(", ")) }
    }

    fn json(&self) -> String {
        let Report { results, about, .. } = self;
        let (overview, manifest) = (results.overview(), results.manifest());
        let ended = manifest.get("event").zip(&overview.ended).map(|(name, count)| (name, count.to_string()));
        let found = results.findings().map(|(reduction, finding)| {
            let columns = match finding {
                Finding::Summary(summary) => {
                    let columns = summary.columns().into_iter();
                    object(columns.enumerate().map(|(k, column)| {
                        let kind = summary.kind(k);
                        let written = |value: &f64| cell(&kind, *value).unwrap_or_else(|_| number(*value));
                        (column.name.clone(), list(column.values.iter().map(written)))
                    }))
                }
                Finding::Rows(sheet) => {
                    use leastaction::output::Table;
                    object([("rows", sheet.rows().to_string())])
                }
            };
            object([("reduce", text(&reduction.to_string())), ("found", columns)])
        });
        let failures = overview
            .failures
            .iter()
            .map(|(index, why)| object([("trajectory", index.to_string()), ("why", text(why))]));
        let members = [
            ("system", text(&about.system)),
            ("method", text(&about.method)),
            ("trajectories", overview.count().to_string()),
            ("complete", overview.complete.to_string()),
            ("failed", overview.failed.to_string()),
            ("ended", object(ended)),
            ("steps", overview.steps.to_string()),
            ("wall_s", self.wall.map_or_else(|| "null".to_owned(), |wall| number(wall.as_secs_f64()))),
            ("findings", list(found)),
            ("failures", list(failures)),
            ("damaged", list(results.damaged.iter().map(|path| text(&path.display().to_string())))),
        ];
        let lines = members.map(|(name, value)| format!("  {}: {value}", text(name)));
        format!("{{\n{}\n}}\n", lines.join(",\n"))
    }
}

/// What files say besides: how trajectories were sampled.
pub(crate) fn notes(results: &Results) -> Vec<(String, String)> {
    let manifest = results.manifest();
    let joined = |key: &str| manifest.get(key).collect::<Vec<_>>().join(", ");
    [("sampled", "sample"), ("seed", "seed"), ("trajectories", "count")]
        .map(|(name, key)| (name.to_owned(), joined(key)))
        .into()
}

/// What files say of results that were kept.
///
/// # Errors
/// [`ManifestError`] if they do not say what their parameters were.
pub(crate) fn about(results: &Results) -> Result<About, ManifestError> {
    let manifest = results.manifest();
    let said = |key: &str| manifest.get(key).next().unwrap_or_default().to_owned();
    Ok(About {
        system: said("system"),
        method: said("method"),
        pace: said("pace"),
        parameters: manifest.parameters()?,
        ended: "complete".to_owned(),
        warnings: Vec::new(),
        notes: notes(results),
    })
}

/// Why some trajectories failed, if any did.
pub(super) fn failures(overview: &Overview, most: usize) -> Option<String> {
    let failures =
        overview.failures.iter().take(most).map(|(index, why)| format!("trajectory {index}: {why}"));
    let failures: Vec<String> = failures.collect();
    let more = overview.failed.saturating_sub(failures.len() as u64);
    let more = if more > 0 { format!("; and {} more", grouped(more)) } else { String::new() };
    (!failures.is_empty()).then(|| format!("{}{more}", failures.join("; ")))
}

/// How far a study has come.
pub(super) fn progress(progress: &Progress) -> String {
    let failed =
        if progress.failed > 0 { format!(", {} failed", grouped(progress.failed)) } else { String::new() };
    format!(
        "{} of {}{failed}, {} per s",
        grouped(progress.done),
        grouped(progress.total),
        grouped(progress.rate as u64)
    )
}

fn row(word: &str, said: impl Into<String>) -> Vec<String> {
    vec![word.to_owned(), said.into()]
}

/// A whole number with its thousands apart.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(" ")
}

#[cfg(test)]
mod tests {
    #[test]
    fn thousands_stand_apart() {
        let texts = [0, 999, 1000, 1_234_567].map(super::grouped);
        assert_eq!(texts, ["0", "999", "1 000", "1 234 567"]);
    }
}
