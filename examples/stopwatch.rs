//! Times models for `make bench-peers`: reads requests, one a line, and answers each with a line of JSON.
//!
//! - `ready MODEL METHOD PACE END`: CPU seconds from the text of a model to the end of its first run. All is made anew.
//! - `run MODEL METHOD PACE END BUDGET`: CPU seconds of runs that fill a budget, and the end state.
//! - `after MODEL METHOD PACE END SPAN`: the states after each step of a span that follows the end.
//! - `first MODEL`: CPU seconds from the text of a model to its first accelerations. All is made anew.
//! - `accelerate MODEL BUDGET`: CPU seconds of accelerations at the start, in samples that fill a budget.
//!
//! MODEL is the path of a text, PACE is `step=0.1` or `tolerance=1e-9`, and a state is [q…, q̇…].

use leastaction::{Dynamics, Graph, Integrator, Pace, State, Tolerance, language};
use std::collections::HashMap;
use std::error::Error;
use std::hint::black_box;
use std::io::{BufRead, Write};

type Fallible<T> = Result<T, Box<dyn Error>>;

/// The CPU time of this thread, in seconds: another program that takes its turn does not lengthen it.
#[cfg(unix)]
fn now() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    now.tv_sec as f64 + 1e-9 * now.tv_nsec as f64
}

/// The time in seconds, where that of a thread is not told.
#[cfg(not(unix))]
fn now() -> f64 {
    static BEGUN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    BEGUN.get_or_init(std::time::Instant::now).elapsed().as_secs_f64()
}

fn main() -> Fallible<()> {
    let mut bench = Bench::default();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let answer =
            bench.answer(&words).unwrap_or_else(|error| format!(r#"{{"error": {:?}}}"#, error.to_string()));
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

/// A model that is ready to run.
struct Ready {
    dynamics: Dynamics,
    start: State,
}

impl Ready {
    fn read(path: &str) -> Fallible<Ready> {
        let graph = Graph::new();
        let setup = language::read(&graph, &std::fs::read_to_string(path)?, &[])?;
        let mut dynamics = setup.model.system()?.dynamics()?;
        setup.bind(&mut dynamics)?;
        let start = dynamics.start(&setup.start(&dynamics)?)?;
        Ok(Ready { dynamics, start })
    }

    /// The coordinates of a state, and its velocities.
    fn rated(&mut self, t: f64, block: &[f64]) -> Fallible<Vec<f64>> {
        let (degrees, mut velocities) = (self.start.q.len(), vec![0.0; self.start.q.len()]);
        self.dynamics.velocities(&[t], block, &mut velocities)?;
        Ok([&block[..degrees], &velocities].concat())
    }

    fn accelerate(&mut self, state: &[f64], a: &mut [f64]) -> Fallible<()> {
        Ok(self.dynamics.accelerations(black_box(&[0.0]), black_box(state), black_box(a))?)
    }
}

/// Samples of calls are this long at least, for the clock.
const SAMPLE: f64 = 2e-4;

/// The models that were read.
#[derive(Default)]
struct Bench {
    models: HashMap<String, Ready>,
}

impl Bench {
    fn answer(&mut self, words: &[&str]) -> Fallible<String> {
        match *words {
            ["ready", model, method, pace, end] => {
                let (integrator, before) = (integrator(method, pace)?, now());
                let mut fresh = Ready::read(model)?;
                integrator.run(&mut fresh.dynamics, &fresh.start, end.parse()?)?;
                Ok(format!(r#"{{"seconds": {}}}"#, now() - before))
            }
            ["run", model, method, pace, end, budget] => {
                self.run(model, &integrator(method, pace)?, end.parse()?, budget.parse()?)
            }
            ["after", model, method, pace, end, span] => {
                self.after(model, &integrator(method, pace)?, end.parse()?, span.parse()?)
            }
            ["first", model] => {
                let before = now();
                let mut fresh = Ready::read(model)?;
                let state = fresh.rated(0.0, &fresh.start.block())?;
                fresh.accelerate(&state, &mut vec![0.0; state.len() / 2])?;
                Ok(format!(r#"{{"seconds": {}}}"#, now() - before))
            }
            ["accelerate", model, budget] => self.accelerate(model, budget.parse()?),
            _ => Err(format!("this is no request: {}", words.join(" ")).into()),
        }
    }

    fn ready(&mut self, path: &str) -> Fallible<&mut Ready> {
        if !self.models.contains_key(path) {
            self.models.insert(path.to_owned(), Ready::read(path)?);
        }
        Ok(self.models.get_mut(path).expect("it was read"))
    }

    fn run(&mut self, model: &str, integrator: &Integrator, end: f64, budget: f64) -> Fallible<String> {
        let ready = self.ready(model)?;
        let (begun, mut seconds) = (now(), Vec::new());
        let last = loop {
            let before = now();
            let last = integrator.run(&mut ready.dynamics, &ready.start, end)?;
            let after = now();
            seconds.push(after - before);
            if after - begun >= budget {
                break last;
            }
        };
        let steps = last.work().steps;
        let state = ready.rated(end, &last.end().block())?;
        Ok(format!(r#"{{"seconds": {seconds:?}, "steps": {steps}, "state": {state:?}}}"#))
    }

    fn after(&mut self, model: &str, integrator: &Integrator, end: f64, span: f64) -> Fallible<String> {
        let ready = self.ready(model)?;
        let there = integrator.run(&mut ready.dynamics, &ready.start, end)?.end();
        let further = integrator.clone().every(1).run(&mut ready.dynamics, &there, end + span)?;
        let states: Fallible<Vec<_>> = further.samples().map(|(t, block)| ready.rated(t, block)).collect();
        Ok(format!(r#"{{"states": {:?}}}"#, states?))
    }

    fn accelerate(&mut self, model: &str, budget: f64) -> Fallible<String> {
        let ready = self.ready(model)?;
        let state = ready.rated(0.0, &ready.start.block())?;
        let mut a = vec![0.0; state.len() / 2];
        ready.accelerate(&state, &mut a)?;
        let before = now();
        ready.accelerate(&state, &mut a)?;
        let calls = (SAMPLE / (now() - before).max(1e-8)).ceil();
        let (begun, mut seconds) = (now(), Vec::new());
        while seconds.is_empty() || now() - begun < budget {
            let before = now();
            for _ in 0..calls as u64 {
                ready.accelerate(&state, &mut a)?;
            }
            seconds.push((now() - before) / calls);
        }
        // Long states are not for a line of text.
        a.truncate(1000);
        Ok(format!(r#"{{"seconds": {seconds:?}, "accelerations": {a:?}}}"#))
    }
}

fn integrator(method: &str, pace: &str) -> Fallible<Integrator> {
    let pace = match pace.split_once('=') {
        Some(("step", step)) => Pace::Step(step.parse()?),
        Some(("tolerance", tolerance)) => Pace::Tolerance(Tolerance::relative(tolerance.parse()?)),
        _ => return Err(format!("a pace is step=… or tolerance=…, not {pace}").into()),
    };
    Ok(Integrator::named(method, pace)?.ends_only())
}
