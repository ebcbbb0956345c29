//! Values that are swept, `--set A=1,2,3`: one run for each, with one table and one picture.

use super::run::Run;
use super::setting::parts;
use super::source::{refused, unprepared};
use super::{Failure, json, table};
use crate::command::progress::Watcher;
use leastaction::integrate::{number, rounded};
use leastaction::output::Record;
use leastaction::simulate::{FailedRun, Overrides, Reduced, Run as Motion};
use leastaction::{Expr, Graph};

/// More runs than this are an ensemble.
const MOST: usize = 10_000;
/// At most this number of coordinates and outputs is in the table.
const FEW: usize = 8;

/// Reads the values of `NAME=VALUES`: a number, several with commas between them, or `LOW..HIGH:COUNT`, evenly from one to the other.
pub(super) fn values(name: &str, text: &str) -> Result<Vec<f64>, String> {
    if let Some((low, rest)) = text.split_once("..") {
        let Some((high, count)) = rest.rsplit_once(':') else {
            return Err(format!("say how many values: `{name}={text}:11` has 11, with both ends"));
        };
        let [low, high] = [one(name, low)?, one(name, high)?];
        let count: usize =
            count.trim().parse().map_err(|_| format!("`{}` is no number of values", count.trim()))?;
        if !(2..=MOST).contains(&count) {
            return Err(format!("a range has 2 to {MOST} values: for more, `leastaction ensemble` is made"));
        }
        let at = |i: usize| match i {
            0 => low,
            i if i + 1 == count => high,
            i => low + (high - low) * i as f64 / (count - 1) as f64,
        };
        return Ok((0..count).map(at).collect());
    }
    let parts = parts(text);
    if parts.len() > MOST {
        return Err(format!("more than {MOST} values are an ensemble: see `leastaction ensemble --help`"));
    }
    parts.into_iter().map(|part| one(name, part)).collect()
}

/// A number, or an expression of numbers such as `pi/4`.
fn one(name: &str, text: &str) -> Result<f64, String> {
    let text = text.trim();
    let number = text.parse().ok().or_else(|| Graph::new().parse(text).ok().and_then(Expr::as_number));
    match number {
        Some(number) if f64::is_finite(number) => Ok(number),
        Some(number) => Err(format!("`{name}` cannot be {number}: numbers are finite")),
        None => Err(format!("`{text}` is not a number")),
    }
}

/// A run of a sweep: the value, and what came of it.
struct Swept {
    value: f64,
    ran: Result<Motion, Box<FailedRun>>,
    record: Option<Record>,
}

impl Run {
    /// One run for each value of a parameter or an input.
    pub(super) fn sweep(&self, name: &str, values: &[f64]) -> Result<String, Failure> {
        self.check_swept()?;
        let source = self.setting.beginning.what.any_source()?;
        let mut all = Vec::new();
        let mut watcher = Watcher::new(!self.quiet)?;
        for &value in values {
            let mut overrides = self.asked();
            overrides.parameters.retain(|(other, _)| other != name);
            overrides.parameters.push((name.to_owned(), value));
            let overrides = Overrides { ..overrides };
            let simulation = source.simulation(&Graph::new(), &overrides);
            let simulation = simulation.map_err(|error| unprepared(&source, &error))?;
            self.check_reduced(&simulation)?;
            let ran = match self.quiet {
                true => simulation.run_watched(|moment| watcher.watch(moment)),
                false => simulation.run_judged(&watcher.interrupted(), |moment| watcher.watch(moment)),
            };
            let interrupted = ran.as_ref().is_ok_and(Motion::is_interrupted);
            let record = match &ran {
                Ok(run) if self.pictures.are_wanted() => Some(run.fine_record().map_err(Failure::run)?),
                _ => None,
            };
            if let Err(error @ FailedRun { run: None, .. }) = &ran {
                watcher.finish();
                return Err(refused(&error.error));
            }
            all.push(Swept { value, ran: ran.map_err(Box::new), record });
            if interrupted {
                break;
            }
        }
        watcher.finish();
        let mut errors = Vec::new();
        let mut said = match (self.quiet, self.json) {
            (true, _) => String::new(),
            (false, true) => documents(&all, (&self.reduce, self.from))?,
            (false, false) => rows(name, &all, (&self.reduce, self.from))?,
        };
        if self.pictures.are_wanted() {
            let runs = all.iter().filter_map(|swept| {
                Some((format!("{name} = {}", rounded(swept.value, 6)), swept.record.as_ref()?))
            });
            let about = format!(
                "{name} = {} to {}, {} runs",
                number(&values[0]),
                number(&values[values.len() - 1]),
                all.len()
            );
            let (written, wrong) = self.pictures.write_curves(runs.collect(), &source.name, &about);
            errors.extend(wrong);
            if let Some(names) = written.filter(|_| !self.quiet && !self.json) {
                said.push_str(&format!("\npictures  {names}\n"));
            }
        }
        let failed = all.iter().filter(|swept| swept.ran.is_err()).count();
        if failed > 0 {
            errors.insert(0, format!("{failed} of {} runs failed", all.len()));
        }
        let interrupted = all.iter().any(|swept| swept.ran.as_ref().is_ok_and(Motion::is_interrupted));
        match (interrupted, errors.is_empty()) {
            (true, _) => Err(Failure::interrupted(watcher.interruption(), errors.join("\n")).saying(said)),
            (false, false) => Err(Failure::run(errors.join("\n")).saying(said)),
            (false, true) => Ok(said),
        }
    }
}

/// A table with a row for each run.
fn rows(name: &str, all: &[Swept], (reduce, from): (&[String], Option<f64>)) -> Result<String, Failure> {
    let Some(first) = all.iter().find_map(|swept| swept.ran.as_ref().ok()) else {
        return Ok(String::new());
    };
    let system = first.simulation.dynamics.system().clone();
    let is_state = |i: usize| system.states().iter().any(|(state, _)| *state == i);
    let shown: Vec<usize> = (0..system.degrees()).filter(|&i| !is_state(i)).take(FEW).collect();
    let rates = !system.velocities().is_empty();
    let mut head = vec![name.to_owned(), "t".to_owned()];
    head.extend(shown.iter().map(|&i| system.coordinates().at(i)));
    head.extend(shown.iter().filter(|_| rates).map(|&i| system.velocities().at(i)));
    let outputs: Vec<String> =
        first.simulation.outputs.iter().take(FEW).map(|(name, _)| name.clone()).collect();
    head.extend(outputs.iter().cloned());
    let reduced = first.reduced(reduce, from).map_err(Failure::run)?;
    head.extend(reduced.values.iter().map(|(text, _)| text.clone()));
    head.extend(["digits".to_owned(), String::new()]);
    let mut lines = vec![head];
    for Swept { value, ran, .. } in all {
        let mut line = vec![rounded(*value, 12)];
        match ran {
            Err(failed) => line.push(format!("failed: {}", failed.error)),
            Ok(run) => {
                let (end, velocities) = (run.trajectory.end(), run.end_velocities().map_err(Failure::run)?);
                let digits = run.error.as_ref().map(|error| error.digits());
                let number =
                    |value: f64| rounded(value, digits.map_or(6, |digits| digits.clamp(1, 10) as usize));
                line.push(rounded(end.t, 10));
                line.extend(shown.iter().map(|&i| number(end.q[i])));
                line.extend(shown.iter().filter(|_| rates).map(|&i| number(velocities[i])));
                let values = run.end_outputs().map_err(Failure::run)?;
                line.extend(values.iter().take(outputs.len()).map(|(_, value)| number(*value)));
                let reduced = run.reduced(reduce, from).map_err(Failure::run)?;
                line.extend(reduced.values.iter().map(|(_, value)| rounded(*value, 7)));
                line.push(digits.map_or("?".to_owned(), |digits| digits.to_string()));
                let measured = run.measure().map_err(Failure::run)?;
                let mut notes: Vec<String> =
                    measured.warnings.iter().map(|warning| format!("warning: {}", warning.code())).collect();
                notes.extend(run.stopped_by().map(|event| format!("stopped by `{event}`")));
                notes.extend(run.accumulated().map(|(event, _)| format!("`{event}` comes to rest")));
                notes.extend(run.is_interrupted().then(|| "interrupted".to_owned()));
                line.push(notes.join(", "));
            }
        }
        lines.push(line);
    }
    Ok(table(&lines))
}

/// The summary of each run for machines, in a list.
fn documents(all: &[Swept], (reduce, from): (&[String], Option<f64>)) -> Result<String, Failure> {
    let mut documents = Vec::new();
    for swept in all {
        let document = match &swept.ran {
            Ok(run) => {
                let reduced = run.reduced(reduce, from).map_err(Failure::run)?;
                let measured = run.measure().map_err(Failure::run)?;
                let ended = if run.is_interrupted() { "interrupted" } else { "complete" };
                let stopped = run.stopped_by().map(|event| format!("stopped by event `{event}`"));
                let rests =
                    run.accumulated().map(|(event, _)| format!("stopped: event `{event}` comes to rest"));
                let ended = stopped.or(rests).unwrap_or_else(|| ended.to_owned());
                json::json(
                    run,
                    &json::Ending { ended: &ended, measured: Some(&measured), failure: None, reduced },
                )?
            }
            Err(failed) => {
                let Some(run) = &failed.run else { continue };
                let (ended, diagnosis) = (format!("failed: {}", failed.error), run.diagnosis(&failed.error));
                let failure = Some((&failed.error, diagnosis.as_ref()));
                json::json(
                    run,
                    &json::Ending {
                        ended: &ended,
                        measured: run.measure().ok().as_ref(),
                        failure,
                        reduced: Reduced::default(),
                    },
                )?
            }
        };
        documents.push(document.trim_end().to_owned());
    }
    Ok(format!("[\n{}\n]\n", documents.join(",\n")))
}

#[cfg(test)]
mod tests {
    use super::values;

    #[test]
    fn values_are_read_as_they_are_written() {
        assert_eq!(values("A", "1, 2.5 ,-3"), Ok(vec![1.0, 2.5, -3.0]));
        assert_eq!(values("A", "pi/4"), Ok(vec![std::f64::consts::FRAC_PI_4]));
        assert_eq!(values("A", "max(1, 2),3"), Ok(vec![2.0, 3.0]));
        assert_eq!(values("A", "0..1:5"), Ok(vec![0.0, 0.25, 0.5, 0.75, 1.0]));
        assert_eq!(values("A", "1..-1:3"), Ok(vec![1.0, 0.0, -1.0]));
        for wrong in
            ["", "1,", "1,,2", "x", "0..1", "0..1:1", "0..1:x", "0..1:1000000", "..:3", "1/0", "0..inf:3"]
        {
            assert!(values("A", wrong).is_err(), "{wrong}");
        }
    }
}
