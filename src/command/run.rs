//! `leastaction run`: runs a system, writes what is asked for, and prints a summary.

use super::files::Files;
use super::pictures::{Pictures, Shown};
use super::progress::Watcher;
use super::setting::{Begun, Prepared, Seed, Setting};
use super::summary::{Measured, Outcome, summary};
use super::{Failure, json};
use clap::Args;
use leastaction::integrate::number;
use leastaction::language::{self, Direction, Drawing, Errors, Setup};
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
                  leastaction run double-pendulum --tol 1e-12 --every 0.01 --out motion.csv\n  \
                  leastaction run swing.motion --plot swing.svg --animate swing.gif\n  \
                  leastaction show pendulum | leastaction run - --json")]
pub(crate) struct Run {
    #[command(flatten)]
    setting: Setting,
    #[command(flatten)]
    seed: Seed,
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
        self.pictures.check()?;
        let graph = Graph::new();
        let mut prepared = self.setting.prepare(&graph, self.seed.seed)?;
        let watched = prepared.begun.watched()?;
        let Prepared { begun, integrator, why } = prepared;
        let Begun { source, mut dynamics, start, placed, until, compile, .. } = begun;
        let setup = &source.setup;
        let outputs = outputs(setup, &mut dynamics, |errors| source.report(errors))?;
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
                Some(format!("by event `{}` at t = {reached}, before {end}", setup.events[i].name))
            }
            Reason::Interrupted => Some(format!("by Ctrl-C at t = {reached}, before {end}")),
        };
        let ended = match (&error, &stopped) {
            (Some(error), _) => format!("failed: {error}"),
            (None, Some(stopped)) => format!("stopped {stopped}"),
            (None, None) => "complete".to_owned(),
        };
        let about = about(&source.name, &integrator, &dynamics, ended);
        let mut kept = self.keep(&trajectory, &mut dynamics, &outputs, &about, &setup.drawing)?;
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
        about: &About,
        drawing: &Drawing,
    ) -> Result<Kept, Failure> {
        let mut kept = Kept::default();
        if !self.files.are_wanted() && !self.pictures.are_wanted() {
            return Ok(kept);
        }
        let record = Record::new(trajectory, dynamics, outputs).map_err(Failure::run)?;
        if self.files.are_wanted() {
            let (written, errors) = self.files.write(&record, about);
            kept.rows.extend(written.map(|names| ("files", names)));
            kept.errors.extend(errors);
        }
        if self.pictures.are_wanted() {
            let conserved = dynamics.system().conserved().contains(&"energy");
            // Where the drift cannot be told, the energy itself shows why.
            let energy_drift = conserved.then(|| trajectory.energy_drift(dynamics).ok()).flatten();
            let (written, errors) =
                self.pictures.write(&Shown { about, drawing, record: &record, energy_drift });
            kept.rows.extend(written.map(|names| ("pictures", names)));
            kept.errors.extend(errors);
        }
        Ok(kept)
    }
}

/// What files say about a run.
pub(super) fn about(system: &str, integrator: &Integrator, dynamics: &Dynamics, ended: String) -> About {
    let names = dynamics.system().parameters().iter().map(|(name, _)| name.clone());
    About {
        system: system.to_owned(),
        method: integrator.card().name.to_owned(),
        pace: integrator.pace().to_string(),
        parameters: names.zip(dynamics.parameters().iter().copied()).collect(),
        ended,
        notes: Vec::new(),
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

pub(super) fn several(errors: &[String]) -> String {
    errors.join("\nerror: ")
}

/// What the model asks to be recorded, by name.
pub(super) fn outputs(
    setup: &Setup<'_>,
    dynamics: &mut Dynamics,
    wrong: impl Fn(&Errors) -> Failure,
) -> Result<Vec<(String, Observable)>, Failure> {
    let recorded = Record::names(dynamics.system());
    let terms = setup.outputs_besides(&recorded).map_err(|errors| wrong(&errors))?;
    let output =
        |term: &Term<'_>| Ok((term.name.clone(), dynamics.observable(term.value).map_err(Failure::usage)?));
    terms.into_iter().map(output).collect()
}

/// The integrator with the model's events, in their order.
pub(super) fn listening(
    mut integrator: Integrator,
    setup: &Setup<'_>,
    dynamics: &mut Dynamics,
) -> Result<Integrator, Failure> {
    for language::Event { value, direction, stop, .. } in &setup.events {
        let event = Event::new(dynamics.observable(*value).map_err(Failure::usage)?);
        let event = match direction {
            Direction::Both => event,
            Direction::Rising => event.rising(),
            Direction::Falling => event.falling(),
        };
        integrator = integrator.event(if *stop { event.terminal() } else { event });
    }
    Ok(integrator)
}

/// Why a run cannot begin: mostly because of what was asked for.
pub(super) fn refused(error: RunError) -> Failure {
    match error {
        // On the command line, more steps are allowed by an option.
        RunError::TooManySteps { .. } => Failure::usage(format!("{error} (--max-steps)")),
        RunError::Step(_) | RunError::Eval(_) => Failure::run(error),
        other => Failure::usage(other),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may panic
mod tests {
    use super::*;
    use leastaction::Model;

    /// A ball thrown up at 1 with g = 2: it turns at t = 1/2, where it is at 1/4, and lands at t = 1.
    #[test]
    fn outputs_are_recorded_and_events_stop_a_run() {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let y = model.coordinate("y");
        model.particle("ball", 1.0, [y]);
        model.gravity([-2.0]);
        let (rate, mut setup) = (model.velocity(y), Setup::new(model));
        setup.outputs.push(Term { name: "twice".to_owned(), value: y * 2.0 });
        let event = |name: &str, value, stop| language::Event {
            name: name.to_owned(),
            value,
            direction: Direction::Falling,
            stop,
        };
        setup.events = vec![event("top", rate, false), event("ground", y, true)];
        let mut dynamics = setup.model.system().unwrap().dynamics().unwrap();
        let start = dynamics.start(&[("y'", 1.0)]).unwrap();
        let outputs = outputs(&setup, &mut dynamics, |errors| Failure::usage(errors))
            .unwrap_or_else(|failure| panic!("{}", failure.message));
        let throw = Integrator::named("implicit-midpoint", 0.125).unwrap();
        let throw =
            listening(throw, &setup, &mut dynamics).unwrap_or_else(|failure| panic!("{}", failure.message));
        let flight = throw.run(&mut dynamics, &start, 10.0).unwrap();
        let times: Vec<f64> = flight.crossings().iter().map(|crossing| crossing.t).collect();
        assert!((times[0] - 0.5).abs() < 1e-14 && (times[1] - 1.0).abs() < 1e-14 && times.len() == 2);
        assert_eq!((flight.reason(), flight.end().t), (Reason::Event(1), times[1]));
        let record = Record::new(&flight, &mut dynamics, &outputs).unwrap();
        assert!(record.times.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", record.times);
        let twice = &record.outputs[0];
        assert!(twice.name == "twice" && (twice.values[4] - 0.5).abs() < 1e-15, "{twice:?}");
    }

    #[test]
    fn an_output_needs_a_name_of_its_own() {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let y = model.coordinate("y");
        model.particle("ball", 1.0, [y]);
        let mut setup = Setup::new(model);
        setup.outputs.push(Term { name: "p_y".to_owned(), value: y });
        let mut dynamics = setup.model.system().unwrap().dynamics().unwrap();
        let message = outputs(&setup, &mut dynamics, |errors| Failure::usage(errors)).err().unwrap().message;
        assert_eq!(message, "error: `p_y` is recorded anyway, and is something else");
    }
}
