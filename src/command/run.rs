//! `leastaction run`: runs a system, writes the requested files, and prints a summary.

use super::Failure;
use super::files::Files;
use super::json::{self, Ending};
use super::pictures::Pictures;
use super::progress::Watcher;
use super::setting::{Seed, Setting, asked_events, event, shown};
use super::source::{refused, unprepared};
use super::summary::{counted, summary};
use clap::Args;
use leastaction::integrate::{number, rounded};
use leastaction::output::About;
use leastaction::simulate::{Diagnosis, FailedRun, Overrides, Reduced, Run as Motion, Simulation};
use leastaction::{Graph, Reason, RunError};

#[derive(Args)]
#[command(
    after_help = "Ctrl-C interrupts the run and keeps what was computed; so do SIGTERM and SIGHUP.\n\n\
                  Exit codes: 0 success, 1 the run failed, 2 wrong usage, 130 interrupted (143 by SIGTERM, 129 by SIGHUP).\n\n\
                  Examples:\n  leastaction run two-body --start \"th'=0.7\" --set m1=1 --until 10\n  \
                  leastaction run coupled-chain --size 3 --method rk4 --step 1e-3\n  \
                  leastaction run double-pendulum --tol 1e-12 --every 0.01 --out motion.csv\n  \
                  leastaction run swing.motion --plot swing.svg --animate swing.gif\n  \
                  leastaction run pendulum --show height=bob.y --stop \"bottom=th\"\n  \
                  leastaction run double-pendulum --reduce \"max(th2'), mean(kinetic)\" --from 5\n  \
                  leastaction run pendulum --set l=0.5..2:4 --plot lengths.svg --plot \"th, th' over th\"\n  \
                  leastaction show pendulum | leastaction run - --json"
)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(super) setting: Setting,
    #[command(flatten)]
    seed: Seed,
    /// Record an expression, too, with all names of the model in it; may be repeated
    #[arg(long, value_name = "[NAME=]EXPR", value_parser = shown, allow_hyphen_values = true)]
    show: Vec<(String, String)>,
    /// Look for an event: where an expression passes 0; may be repeated
    #[arg(long, value_name = "NAME=EXPR", value_parser = event, allow_hyphen_values = true)]
    event: Vec<(String, String)>,
    /// End the run where an expression passes 0; may be repeated
    #[arg(long, value_name = "NAME=EXPR", value_parser = event, allow_hyphen_values = true)]
    stop: Vec<(String, String)>,
    /// Print a number of the whole run: max(EXPR), min(EXPR), range(EXPR) or mean(EXPR) over its samples, first(EVENT), crossings(EVENT), start(EXPR), or EXPR at the end; several with commas, and may be repeated
    #[arg(long, value_name = "WHAT", allow_hyphen_values = true)]
    pub(super) reduce: Vec<String>,
    /// With --reduce, leave out samples and events before this time: what is transient
    #[arg(long, value_name = "T", allow_hyphen_values = true, requires = "reduce")]
    pub(super) from: Option<f64>,
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    pub(super) pictures: Pictures,
    /// Print a summary for machines: one JSON document
    #[arg(long, conflicts_with = "quiet")]
    pub(super) json: bool,
    /// Print nothing but errors
    #[arg(long)]
    pub(super) quiet: bool,
}

/// What was written of a run, as rows of its summary, and what could not be.
#[derive(Default)]
struct Kept {
    rows: Vec<(&'static str, String)>,
    errors: Vec<String>,
}

/// How a run ended that came no further, and what to write about that.
fn accumulated(run: &Motion, event: &str, t: f64) -> String {
    let reached = number(&run.trajectory.end().t);
    let times = run.events().find(|(name, _)| *name == event).map_or(0, |(_, crossings)| crossings.len());
    let how = match times {
        1 => "what it sets leaves the motion where it happens".to_owned(),
        _ => format!(
            "it happens again and again in ever shorter times, {times} times until here, which add up to t = {}",
            rounded(t, 12)
        ),
    };
    format!(
        "at t = {reached}, before {}: event `{event}` comes to rest, as {how}, and nothing says what comes after: `finally set …` in the event does",
        number(&run.simulation.until)
    )
}

impl Run {
    pub(crate) fn execute(self) -> Result<String, Failure> {
        let read = &self.setting.beginning.what.system;
        self.files.check(read)?;
        self.pictures.check(read)?;
        if let Some((name, values)) = self.setting.beginning.what.swept()? {
            return self.sweep(name, values);
        }
        let source = self.setting.beginning.what.source()?;
        let overrides = self.asked();
        let simulation = source.simulation(&Graph::new(), &overrides);
        let simulation = simulation.map_err(|error| unprepared(&source, &error))?;
        self.files.check_meshes(&simulation)?;
        self.check_reduced(&simulation)?;

        let mut watcher = Watcher::new(!self.quiet)?;
        // Nobody asks how good the numbers are who does not look at them.
        let ran = match self.quiet && !self.files.are_wanted() {
            true => simulation.run_watched(|moment| watcher.watch(moment)),
            false => simulation.run_judged(&watcher.interrupted(), |moment| watcher.watch(moment)),
        };
        watcher.finish();
        let (run, failure) = match ran {
            Ok(run) => (run, None),
            Err(FailedRun { error, run: Some(run) }) => (*run, Some(error)),
            Err(FailedRun { error, run: None }) => return Err(refused(&error)),
        };

        let by = watcher.interruption();
        let (reached, end) = (number(&run.trajectory.end().t), number(&simulation.until));
        let stopped = match (run.trajectory.reason(), run.stopped_by()) {
            (Reason::Interrupted, _) => Some(format!("by {by} at t = {reached}, before {end}")),
            (Reason::Accumulated(_), _) => run.accumulated().map(|(event, t)| accumulated(&run, event, t)),
            (_, Some(event)) => Some(format!("by event `{event}` at t = {reached}, before {end}")),
            (_, None) => None,
        };
        let ended = match (&failure, &stopped) {
            (Some(error), _) => format!("failed: {error}"),
            (None, Some(stopped)) => format!("stopped {stopped}"),
            (None, None) => "complete".to_owned(),
        };
        let measured = run.measure();
        let warnings = measured.iter().flat_map(|measured| &measured.warnings).map(ToString::to_string);
        let error = run.error.iter();
        let notes =
            error.flat_map(|error| [("accuracy", error.to_string()), ("digits", error.digits().to_string())]);
        let notes = notes.map(|(name, text)| (name.to_owned(), text)).collect();
        let about = About { warnings: warnings.collect(), notes, ..simulation.describe(ended.clone()) };
        let mut kept = self.keep(&run, &about)?;
        if let Some(error) = failure {
            let diagnosis = run.diagnosis(&error);
            let known = Some((&error, diagnosis.as_ref()));
            let said = match self.json {
                true => json::json(
                    &run,
                    &Ending {
                        ended: &ended,
                        measured: measured.as_ref().ok(),
                        failure: known,
                        reduced: Reduced::default(),
                    },
                )?,
                false => String::new(),
            };
            return Err(failed(&error, diagnosis.as_ref(), &reached, kept).saying(said));
        }

        let measured = measured.map_err(Failure::run)?;
        let reduced = run.reduced(&self.reduce, self.from).map_err(Failure::run)?;
        let text = match (self.quiet, self.json) {
            (true, _) => String::new(),
            (false, true) => {
                let failure = None;
                json::json(&run, &Ending { ended: &ended, measured: Some(&measured), failure, reduced })?
            }
            (false, false) => {
                kept.rows.splice(0..0, self.said(&reduced).map(|said| ("reduced", said)));
                summary(&run, &measured, stopped.as_deref(), &kept.rows)?
            }
        };
        let interrupted = run.is_interrupted();
        if interrupted && (self.json || self.quiet) {
            kept.errors.push(format!("stopped {}", stopped.unwrap_or_default()));
        }
        match (interrupted, kept.errors.is_empty()) {
            (true, _) => Err(Failure::interrupted(by, several(&kept.errors)).saying(text)),
            (false, false) => Err(Failure::run(several(&kept.errors)).saying(text)),
            (false, true) => Ok(text),
        }
    }

    /// The overrides of what the text says.
    pub(super) fn asked(&self) -> Overrides {
        let mut outputs = self.show.clone();
        for name in self.pictures.chosen_names() {
            if !outputs.iter().any(|(other, _)| *other == name) {
                outputs.push((name.clone(), name));
            }
        }
        Overrides {
            fine_samples: self.pictures.samples(),
            outputs,
            events: asked_events(&self.event, &self.stop),
            ..self.files.sampled(self.setting.overrides(self.seed.seed))
        }
    }

    /// Refuses what the run cannot be reduced to, and a time that leaves nothing of it.
    pub(super) fn check_reduced(&self, simulation: &Simulation) -> Result<(), Failure> {
        simulation.check_reduced(&self.reduce).map_err(Failure::usage)?;
        let [begin, end] = [simulation.start.t, simulation.until];
        match self.from {
            Some(from) if !(begin.min(end)..=begin.max(end)).contains(&from) => Err(Failure::usage(format!(
                "nothing is left from t = {from} on: the run goes from t = {begin} to {end} (--from, --until)"
            ))),
            _ => Ok(()),
        }
    }

    /// What the run comes to, in a line; nothing if nobody asked.
    fn said(&self, reduced: &Reduced) -> Option<String> {
        let values: Vec<String> =
            reduced.values.iter().map(|(what, value)| format!("{what} = {}", rounded(*value, 7))).collect();
        let from = self.from.map_or(String::new(), |from| format!(" from t = {} on", number(&from)));
        let samples = counted(reduced.samples as u64, "sample");
        (!values.is_empty()).then(|| format!("{} ({samples}{from})", values.join(", ")))
    }

    /// Refuses what a sweep has none of.
    pub(super) fn check_swept(&self) -> Result<(), Failure> {
        if self.files.are_wanted() || self.pictures.animates() {
            return Err(Failure::usage(
                "a sweep has one table and one picture: `--out`, `--events` and `--animate` are for single runs (`--json` tells all, and `leastaction ensemble` writes files)",
            ));
        }
        Ok(())
    }

    /// Writes the requested files of a run, or of the part that was computed.
    fn keep(&self, run: &Motion, about: &About) -> Result<Kept, Failure> {
        let mut kept = Kept::default();
        if !self.files.are_wanted() && !self.pictures.are_wanted() {
            return Ok(kept);
        }
        if self.files.are_wanted() {
            let (written, errors) = self.files.write(run, about)?;
            kept.rows.extend(written.map(|names| ("files", names)));
            kept.errors.extend(errors);
        }
        if self.pictures.are_wanted() {
            let record = run.fine_record().map_err(Failure::run)?;
            let (written, errors) = self.pictures.write(run, &record, about);
            kept.rows.extend(written.map(|names| ("pictures", names)));
            kept.errors.extend(errors);
        }
        Ok(kept)
    }
}

/// A run that failed, and where to find what was computed.
fn failed(error: &RunError, diagnosis: Option<&Diagnosis>, reached: &str, kept: Kept) -> Failure {
    let names: Vec<_> = kept.rows.into_iter().map(|(_, names)| names).collect();
    let found = match names.is_empty() {
        true => String::new(),
        false => format!("; what was computed until t = {reached} is kept: {}", names.join(", ")),
    };
    let diagnosis = diagnosis.map_or(String::new(), |diagnosis| format!("\n{diagnosis}"));
    Failure::run(several(&[vec![format!("{error}{found}{diagnosis}")], kept.errors].concat()))
}

pub(super) fn several(errors: &[String]) -> String {
    errors.join("\nerror: ")
}
