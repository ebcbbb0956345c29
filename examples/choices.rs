//! How good the choice of a method is: over the catalog and models with known answers, the time of the chosen method against the best of all methods that
//! find their steps, at an error that is no larger. What texts say of methods, steps and tolerances is left out: nobody asks for anything.
//!
//! `cargo run --release --example choices`; some names choose models. `--write` puts the table into `book/src/choices.md`.

use leastaction::{Graph, METHODS, Moment, Overrides, Simulation, Sizing, Source, catalog};
use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::Path;

/// A run of more steps is given up.
const PATIENCE: u64 = 200_000;
/// Errors below this, the tolerance of who asks for none, are as good as none.
const RIGHT: f64 = 1e-10;
/// A run shorter than this, in seconds, nobody waits for: all such are alike.
const AT_ONCE: f64 = 2e-3;
/// A run that takes so many times as long as the choice is given up, as no better, and a reference that takes so many seconds.
const HOPELESS: f64 = 3.0;
const LONGEST: f64 = 60.0;
/// Each run is timed so often, and the shortest time counts.
const TIMES: usize = 2;

/// Between these lines of the page is the table.
const BEGIN: &str = "<!-- made by: cargo run --release --example choices -- --write -->\n";
const END: &str = "<!-- end -->";

/// Seconds for which this thread has been busy, where that is told; else the time.
#[cfg(unix)]
fn busy() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    now.tv_sec as f64 + 1e-9 * now.tv_nsec as f64
}

#[cfg(not(unix))]
fn busy() -> f64 {
    static BEGUN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    BEGUN.get_or_init(std::time::Instant::now).elapsed().as_secs_f64()
}

/// A run: how long it takes with all that is compiled for it, where it ends, and by which method.
struct Timed {
    seconds: f64,
    end: Vec<f64>,
    method: &'static str,
}

/// Times a run, if it takes no more than so many seconds.
fn time(source: &Source, overrides: &Overrides, most: f64) -> Option<Timed> {
    let once = || {
        let (before, graph) = (busy(), Graph::new());
        let mut setup = source.setup(&graph, &[]).ok()?;
        let plan = &mut setup.plan;
        (plan.method, plan.step, plan.tolerance, plan.absolute) = (None, None, None, None);
        plan.absolutes.clear();
        let mut steps = 0_u32;
        let mut patient = |_: &mut Moment<'_, '_>| {
            steps += 1;
            if steps.is_multiple_of(16) && busy() - before > most {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let run = Simulation::of(setup, overrides).ok()?.run_watched(&mut patient).ok()?;
        if run.is_interrupted() {
            return None;
        }
        let method = run.simulation.integrator.card().name;
        Some(Timed { end: run.trajectory.end().block(), seconds: busy() - before, method })
    };
    let mut best: Option<Timed> = None;
    for _ in 0..TIMES {
        let run = once()?;
        let longer = best.as_ref().is_none_or(|best| run.seconds < best.seconds);
        if longer {
            best = Some(run);
        }
    }
    best
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

/// The chosen method against the best, of one model.
struct Row {
    model: String,
    chosen: Timed,
    error: f64,
    best: String,
    seconds: f64,
    ratio: f64,
}

fn judge(model: &str, source: &Source) -> Option<Row> {
    let patient = Overrides { max_steps: Some(PATIENCE), samples: Some(1), ..Overrides::default() };
    let chosen = time(source, &patient, LONGEST)?;
    let by = |method: &str, tolerance| Overrides {
        method: Some(method.to_owned()),
        tolerance: Some(tolerance),
        ..patient.clone()
    };
    let reference = ["vern9", "taylor", "dop853", "radau5"]
        .into_iter()
        .find_map(|method| time(source, &by(method, 1e-13), LONGEST))?
        .end;
    let error = distance(&chosen.end, &reference);
    let mut best = (chosen.seconds, chosen.method.to_owned());
    let most = HOPELESS * chosen.seconds.max(AT_ONCE);
    for card in METHODS.iter().filter(|card| card.sizing != Sizing::Given) {
        for tolerance in [1e-6, 1e-8, 1e-10, 1e-12] {
            let Some(run) = time(source, &by(card.name, tolerance), most) else { break };
            if distance(&run.end, &reference) <= error.max(RIGHT) {
                if run.seconds < best.0 {
                    best = (run.seconds, format!("{} {tolerance:e}", card.name));
                }
                break;
            }
        }
    }
    let ratio = chosen.seconds.max(AT_ONCE) / best.0.max(AT_ONCE);
    Some(Row { model: model.to_owned(), chosen, error, best: best.1, seconds: best.0, ratio })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (options, wanted): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let mut sources: Vec<(String, Source)> = Vec::new();
    for entry in catalog::ALL {
        sources.push((entry.name.to_owned(), Source::catalog(entry.name, None)?));
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for entry in std::fs::read_dir(root.join("crates/simulate/tests/answers"))? {
        let path = entry?.path();
        let (Some(name), text) =
            (path.file_stem().and_then(|name| name.to_str()), std::fs::read_to_string(&path)?)
        else {
            continue;
        };
        if !text.contains("#: long") {
            sources.push((format!("answers/{name}"), Source::text(name, &text)));
        }
    }
    sources.retain(|(name, _)| wanted.is_empty() || wanted.contains(name));
    sources.sort_by(|one, other| one.0.cmp(&other.0));
    let count = sources.len();
    let mut table =
        "| model | chosen | ms | error | best | ms | ratio |\n|---|---|---|---|---|---|---|\n".to_owned();
    let mut rows = Vec::new();
    for (name, source) in &sources {
        let Some(Row { model, chosen, error, best, seconds, ratio }) = judge(name, source) else { continue };
        println!(
            "{model:36} {:>14} {:9.4} {error:8.0e}   {best:>20} {seconds:9.4} {ratio:6.1}",
            chosen.method, chosen.seconds
        );
        rows.push(ratio);
        if chosen.seconds > AT_ONCE {
            writeln!(
                table,
                "| `{model}` | `{}` | {:.1} | {error:.0e} | `{best}` | {:.1} | {ratio:.1} |",
                chosen.method,
                1e3 * chosen.seconds,
                1e3 * seconds
            )?;
        }
    }
    let within = |most: f64| rows.iter().filter(|ratio| **ratio <= most).count();
    let summary = format!(
        "{} models of {count} ran within {PATIENCE} steps, by the choice and by a reference. Within 2 × the best: {}; within 5 ×: {}; within 10 ×: {}.",
        rows.len(),
        within(2.0),
        within(5.0),
        within(10.0)
    );
    println!("{summary}");
    if options.iter().any(|option| option == "--write") {
        let page = root.join("book/src/choices.md");
        let text = std::fs::read_to_string(&page)?;
        let parts = text.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
        let (before, after) = parts.ok_or("the page has no place for the table")?;
        std::fs::write(page, format!("{before}{BEGIN}\n{summary}\n\n{table}\n{END}{after}"))?;
    }
    Ok(())
}
