//! `leastaction run`: runs a system, writes what is asked for, and prints a summary.

use super::files::Files;
use super::pictures::{Pictures, Shown};
use super::progress::Watcher;
use super::setting::{Prepared, Setting};
use super::source::Source;
use super::summary::{Measured, Outcome, summary};
use super::{Failure, json};
use clap::Args;
use leastaction::integrate::number;
use leastaction::language::{Alarm, Sense, Setup};
use leastaction::output::{About, Record};
use leastaction::{
    Dynamics, Event, Failed, Graph, Integrator, Observable, Reason, RunError, Term, Trajectory,
};
use std::time::Instant;

#[derive(Args)]
#[command(after_help = "Ctrl-C breaks off the run and keeps what was computed.\n\n\
                  Exit codes: 0 success, 1 the run failed, 2 wrong usage, 130 broken off.\n\n\
                  Examples:\n  leastaction run two-body --start \"th'=0.7\" --set m1=1 --until 10\n  \
                  leastaction run coupled-chain --size 3 --method rk4 --step 1e-3\n  \
                  leastaction run double-pendulum --tol 1e-12 --every 0.01 --out motion.csv")]
pub(crate) struct Run {
    #[command(flatten)]
    setting: Setting,
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    pictures: Pictures,
    /// Print a summary for machines: one JSON document
    #[arg(long, conflicts_with = "quiet")]
    json: bool,
    /// Print nothing but errors
    #[arg(long)]
    quiet: bool,
}

/// What was written of a run, as rows of its summary, and what could not be.
#[derive(Default)]
struct Kept {
    rows: Vec<(&'static str, String)>,
    errors: Vec<String>,
}

impl Run {
    pub(crate) fn execute(self) -> Result<String, Failure> {
        self.files.check()?;
        let graph = Graph::new();
        let mut prepared = self.setting.prepare(&graph)?;
        let watched = prepared.watched()?;
        let Prepared { source, mut dynamics, start, placed, until, integrator, why, compile, .. } = prepared;
        let setup = &source.setup;
        let outputs = outputs(setup, &mut dynamics)?;
        let last_step = integrator.last_step_between(start.t, until).map_err(refused)?;
        let integrator =
            self.files.sampled(integrator, &setup.plan, (start.t, until), self.pictures.samples())?;
        let integrator = listening(integrator, setup, &mut dynamics)?;

        let mut watcher = Watcher::new(!self.quiet)?;
        let before = Instant::now();
        let ran = integrator.run_watched(&mut dynamics, &start, until, |moment| watcher.watch(moment));
        let wall = before.elapsed();
        watcher.finish();
        let (trajectory, error) = match ran {
            Ok(trajectory) => (trajectory, None),
            Err(Failed { error, trajectory: Some(kept) }) => (*kept, Some(error)),
            Err(Failed { error, trajectory: None }) => return Err(refused(error)),
        };

        let (reached, end) = (number(&trajectory.end().t), number(&until));
        let stopped = match trajectory.reason() {
            Reason::Complete => None,
            Reason::Event(i) => {
                Some(format!("by event `{}` at t = {reached}, before {end}", setup.alarms[i].name))
            }
            Reason::Interrupted => Some(format!("by Ctrl-C at t = {reached}, before {end}")),
        };
        let ended = match (&error, &stopped) {
            (Some(error), _) => format!("failed: {error}"),
            (None, Some(stopped)) => format!("stopped {stopped}"),
            (None, None) => "complete".to_owned(),
        };
        let about = about(&source.name, &integrator, &dynamics, ended);
        let mut kept = self.keep(&trajectory, &mut dynamics, &outputs, (&source, &integrator, &about))?;
        if let Some(error) = error {
            return Err(failed(&error, &reached, kept));
        }

        let measured = Measured::new(&trajectory, &mut dynamics, &watched)?;
        let interrupted = trajectory.reason() == Reason::Interrupted;
        let last_step = last_step.filter(|_| stopped.is_none());
        let written = kept.rows;
        let outcome =
            Outcome { compile, wall, trajectory, why, last_step, measured, placed, stopped, written };
        let text = match (self.quiet, self.json) {
            (true, _) => String::new(),
            (false, true) => json::json(&source, &integrator, &mut dynamics, &outcome)?,
            (false, false) => summary(&source, &integrator, &mut dynamics, &outcome)?,
        };
        if interrupted && (self.json || self.quiet) {
            kept.errors.push(format!("stopped {}", outcome.stopped.unwrap_or_default()));
        }
        match (interrupted, kept.errors.is_empty()) {
            (true, _) => Err(Failure::interrupted(several(&kept.errors)).saying(text)),
            (false, false) => Err(Failure::run(several(&kept.errors)).saying(text)),
            (false, true) => Ok(text),
        }
    }

    /// Writes what was asked for of a run, or of what there is of one.
    fn keep(
        &self,
        trajectory: &Trajectory,
        dynamics: &mut Dynamics,
        outputs: &[(String, Observable)],
        (source, integrator, about): (&Source<'_>, &Integrator, &About),
    ) -> Result<Kept, Failure> {
        let mut kept = Kept::default();
        let pictured = self.pictures.samples().is_some();
        if !self.files.are_wanted() && !pictured {
            return Ok(kept);
        }
        let record = Record::new(trajectory, dynamics, outputs).map_err(Failure::run)?;
        let (written, errors) = self.files.write(&record, about);
        kept.rows.extend(written.map(|names| ("files", names)));
        kept.errors.extend(errors);
        if pictured {
            let conserved = dynamics.system().conserved().contains(&"energy");
            let energy_drift = trajectory.energy_drift(dynamics).ok().filter(|_| conserved);
            let (method, pace, drawing) = (integrator.card(), integrator.pace(), &source.setup.drawing);
            let system = &source.name;
            let shown = Shown { system, method, pace, drawing, record: &record, energy_drift };
            let (written, errors) = self.pictures.write(&shown);
            kept.rows.extend(written.map(|names| ("pictures", names)));
            kept.errors.extend(errors);
        }
        Ok(kept)
    }
}

/// What files say about a run.
fn about(system: &str, integrator: &Integrator, dynamics: &Dynamics, ended: String) -> About {
    let names = dynamics.system().parameters().iter().map(|(name, _)| name.clone());
    About {
        system: system.to_owned(),
        method: integrator.card().name.to_owned(),
        pace: integrator.pace().to_string(),
        parameters: names.zip(dynamics.parameters().iter().copied()).collect(),
        ended,
    }
}

/// A run that failed, and where to find what was computed.
fn failed(error: &RunError, reached: &str, kept: Kept) -> Failure {
    let names: Vec<_> = kept.rows.into_iter().map(|(_, names)| names).collect();
    let found = match names.is_empty() {
        true => String::new(),
        false => format!("; what was computed until t = {reached} is kept: {}", names.join(", ")),
    };
    Failure::run(several(&[vec![format!("{error}{found}")], kept.errors].concat()))
}

fn several(errors: &[String]) -> String {
    errors.join("\nerror: ")
}

/// What the model asks to be recorded, by name.
fn outputs(setup: &Setup<'_>, dynamics: &mut Dynamics) -> Result<Vec<(String, Observable)>, Failure> {
    let blank = Record::blank(dynamics.system(), setup.outputs.iter().map(|term| term.name.as_str()));
    if let Some(name) = blank.twice() {
        return Err(Failure::usage(format!("the output `{name}` has the name of something else: rename it")));
    }
    let output = |term: &Term<'_>| {
        Ok((term.name.clone(), dynamics.observable(&term.value.to_string()).map_err(Failure::usage)?))
    };
    setup.outputs.iter().map(output).collect()
}

/// The integrator with the model's events, in their order.
fn listening(
    mut integrator: Integrator,
    setup: &Setup<'_>,
    dynamics: &mut Dynamics,
) -> Result<Integrator, Failure> {
    for Alarm { value, sense, stop, .. } in &setup.alarms {
        let event = Event::new(dynamics.observable(&value.to_string()).map_err(Failure::usage)?);
        let event = match sense {
            Sense::Both => event,
            Sense::Rising => event.rising(),
            Sense::Falling => event.falling(),
        };
        integrator = integrator.event(if *stop { event.terminal() } else { event });
    }
    Ok(integrator)
}

/// Why a run cannot begin: mostly because of what was asked for.
fn refused(error: RunError) -> Failure {
    match error {
        // On the command line, more steps are allowed by an option.
        RunError::TooManySteps { .. } => Failure::usage(format!("{error} (--max-steps)")),
        RunError::Step(_) | RunError::Eval(_) => Failure::run(error),
        other => Failure::usage(other),
    }
}
