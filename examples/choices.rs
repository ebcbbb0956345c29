//! How good the choice of a method is: over the catalog and models with known answers, the time of the chosen method against the best of all methods that
//! find their steps, at an error that is no larger. `cargo run --release --example choices`; some names choose models.

use leastaction::{Graph, METHODS, Overrides, Sizing, Source, catalog};
use std::path::Path;
use std::time::Instant;

/// A run of more steps is given up.
const PATIENCE: u64 = 200_000;
/// Errors below this are as good as none.
const RIGHT: f64 = 1e-9;
/// A run shorter than this, in seconds, nobody waits for: all such are alike.
const AT_ONCE: f64 = 2e-3;

/// How long a run takes, with all that is compiled for it, and where it ends.
fn time(source: &Source, overrides: &Overrides) -> Option<(f64, Vec<f64>, &'static str)> {
    let begun = Instant::now();
    let run = source.simulation(&Graph::new(), overrides).ok()?.run().ok()?;
    let end = run.trajectory.end().block();
    Some((begun.elapsed().as_secs_f64(), end, run.simulation.integrator.card().name))
}

/// The largest difference, relative to the largest coordinate or momentum.
fn distance(one: &[f64], other: &[f64]) -> f64 {
    let half = one.len().div_ceil(2);
    let differ = |range: std::ops::Range<usize>| {
        let size = other[range.clone()].iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
        range.map(|i| (one[i] - other[i]).abs() / size).fold(0.0, f64::max)
    };
    differ(0..half).max(differ(half..one.len()))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let mut sources: Vec<(String, Source)> = Vec::new();
    for entry in catalog::ALL {
        sources.push((entry.name.to_owned(), Source::catalog(entry.name, None)?));
    }
    let answers = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/simulate/tests/answers");
    for entry in std::fs::read_dir(answers)? {
        let path = entry?.path();
        let (Some(name), text) =
            (path.file_stem().and_then(|name| name.to_str()), std::fs::read_to_string(&path)?)
        else {
            continue;
        };
        if !text.contains("#: long") {
            sources.push((name.to_owned(), Source::text(name, &text)));
        }
    }
    sources.retain(|(name, _)| wanted.is_empty() || wanted.contains(name));
    sources.sort_by(|one, other| one.0.cmp(&other.0));
    let patient = Overrides { max_steps: Some(PATIENCE), samples: Some(1), ..Overrides::default() };
    let mut ratios = Vec::new();
    println!(
        "{:28} {:>14} {:>9} {:>8}   {:>20} {:>9} {:>6}",
        "model", "chosen", "seconds", "error", "best", "seconds", "ratio"
    );
    for (name, source) in &sources {
        let Some((seconds, end, method)) = time(source, &patient) else { continue };
        let tight = |method: &str, tolerance| Overrides {
            method: Some(method.to_owned()),
            tolerance: Some(tolerance),
            ..patient.clone()
        };
        let reference = ["vern9", "taylor", "dop853", "radau5"]
            .into_iter()
            .find_map(|method| time(source, &tight(method, 1e-13)));
        let Some((_, reference, _)) = reference else { continue };
        let error = distance(&end, &reference);
        let mut best = (seconds, method.to_owned());
        for card in METHODS.iter().filter(|card| card.sizing != Sizing::Given) {
            for tolerance in [1e-6, 1e-8, 1e-10, 1e-12] {
                let Some((seconds, end, _)) = time(source, &tight(card.name, tolerance)) else { break };
                if distance(&end, &reference) <= error.max(RIGHT) {
                    if seconds < best.0 {
                        best = (seconds, format!("{} {tolerance:e}", card.name));
                    }
                    break;
                }
            }
        }
        let ratio = seconds.max(AT_ONCE) / best.0.max(AT_ONCE);
        println!(
            "{name:28} {method:>14} {seconds:9.4} {error:8.0e}   {:>20} {:9.4} {ratio:6.1}",
            best.1, best.0
        );
        ratios.push(ratio);
    }
    ratios.sort_by(f64::total_cmp);
    let within = |most: f64| ratios.iter().filter(|ratio| **ratio <= most).count();
    println!(
        "{} models: within 2× {}, within 5× {}, within 10× {}",
        ratios.len(),
        within(2.0),
        within(5.0),
        within(10.0)
    );
    Ok(())
}
