//! Times models for `make bench-peers`: reads requests, one a line, and answers each with a line of JSON.
//!
//! - `ready MODEL METHOD PACE END`: CPU seconds from the text of a model to the end of its first run. All is made anew.
//! - `run MODEL METHOD PACE END BUDGET`: CPU seconds of runs that fill a budget, and the end state.
//! - `after MODEL METHOD PACE END SPAN`: the states after each step of a span that follows the end.
//! - `first MODEL`: CPU seconds from the text of a model to its first accelerations. All is made anew.
//! - `accelerate MODEL BUDGET`: CPU seconds of accelerations at the start, in samples that fill a budget; and what it took to read the model.
//! - `ensemble MODEL METHOD PACE END THREADS LANES COUNT STARTS ENDS BUDGET`: CPU and wall seconds of runs of COUNT trajectories that fill a
//!   budget, and the most memory that this process ever had. STARTS is the path of a file of states, taken in turn; ENDS is the path
//!   of one for the ends of the last run, or `-`. Both hold numbers of 8 bytes, least first, and no more.
//! - `forces X Y Z LAMBDA MU THREADS PLACES FORCES BUDGET`: CPU and wall seconds of the forces on a beam of X × Y × Z cells and height 1, in calls that fill a budget; how
//!   long it took until the first call, and the bytes for each tetrahedron. PLACES is the path of a file of where its nodes are, FORCES of one for the forces.
//! - `learn MODEL UNITS THREADS NUMBERS CHUNKS SAMPLES DT GRADIENT BUDGET`: CPU and wall seconds of optimizer steps that fill a budget, and how long it took until the first
//!   one, for a constrained Hamiltonian network with three layers of so many units. NUMBERS is the path of a file of what is learned, CHUNKS of one with the states
//!   of chunks of so many samples, DT apart, GRADIENT of one for the gradient of the loss before the first step.
//! - `products THREADS BUDGET`: the same of the products of matrices alone that such a step needs (256 units, 200 chunks of 5 samples of 3 rods).
//!
//! MODEL is the path of a text, PACE is `step=0.1` or `tolerance=1e-9`, LANES is 1 or 8, and a state is [q…, q̇…].

use leastaction::field::{Mesh, shipped};
use leastaction::integrate::{Ensemble, Launch};
use leastaction::learn::architecture::{Architecture, Structure, chnn};
use leastaction::learn::train::{AdamW, AdamWOptions};
use leastaction::learn::{Chunks, Loss, Objective, Predictor, step};
use leastaction::mechanics::ElementsEvaluator;
use leastaction::network::Activation;
use leastaction::{Dynamics, Graph, Integrator, LANES, Overrides, Pace, Problem, Source, State, Tolerance};
use std::collections::HashMap;
use std::error::Error;
use std::hint::black_box;
use std::io::{BufRead, Write};
use std::ops::ControlFlow;
use std::time::Instant;

#[path = "../crates/learn/benches/step/products.rs"]
mod products;

type Fallible<T> = Result<T, Box<dyn Error>>;

/// The CPU time of this process in seconds, all threads together: another program that takes its turn does not lengthen it.
#[cfg(unix)]
fn now() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    now.tv_sec as f64 + 1e-9 * now.tv_nsec as f64
}

/// The time in seconds, where that of a process is not told.
#[cfg(not(unix))]
fn now() -> f64 {
    static BEGUN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    BEGUN.get_or_init(Instant::now).elapsed().as_secs_f64()
}

/// The most memory that this process ever had, in bytes; none where that is not told.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(1024 * line.split_whitespace().next()?.parse::<u64>().ok()?)
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
    /// How long that took, in CPU seconds.
    seconds: f64,
}

impl Ready {
    fn read(path: &str) -> Fallible<Ready> {
        let (graph, before) = (Graph::new(), now());
        let Problem { dynamics, start, .. } = Source::file(path)?.problem(&graph, &Overrides::default())?;
        Ok(Ready { dynamics, start, seconds: now() - before })
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

/// The seconds that calls take.
#[derive(Default)]
struct Times {
    cpu: Vec<f64>,
    wall: Vec<f64>,
}

impl Times {
    /// Calls until so many seconds have passed, once at least.
    fn fill(&mut self, budget: f64, mut call: impl FnMut()) {
        let begun = Instant::now();
        while self.cpu.is_empty() || begun.elapsed().as_secs_f64() < budget {
            let (before, clock) = (now(), Instant::now());
            call();
            self.cpu.push(now() - before);
            self.wall.push(clock.elapsed().as_secs_f64());
        }
    }

    fn json(&self) -> String {
        let Times { cpu, wall } = self;
        format!(r#""cpu": {cpu:?}, "wall": {wall:?}"#)
    }
}

/// Optimizer steps in single precision, with the 3/8 rule.
fn learn(model: &str, units: usize, threads: usize, files: &[&str], budget: f64) -> Fallible<String> {
    let [numbers, chunks, samples, dt, gradient_path] = *files else {
        unreachable!("the request has these words")
    };
    let (graph, before) = (Graph::new(), Instant::now());
    let setup = Source::file(model)?.setup(&graph, &[])?;
    let chnn = chnn(Structure::of(&setup.model)?, &[units; 3], Activation::Tanh)?;
    let predictor = Predictor::new(&chnn, step::three_eighths, 1)?;
    let mut objective = Objective::<f32>::new(&predictor, Loss::Absolute, dt.parse()?, threads);
    let (count, dimension, samples) = (chnn.layout().len(), chnn.dimension(), samples.parse()?);
    let (mut parameters, states) = (read_states(numbers, count)?, read_states(chunks, samples * dimension)?);
    let batch = || Chunks { states: &states, samples, dimension };
    let mut gradient = vec![0.0; count];
    let loss = objective.loss_and_gradient(&parameters, batch(), &mut gradient);
    let ready = before.elapsed().as_secs_f64();
    std::fs::write(
        gradient_path,
        gradient.iter().flat_map(|slope| slope.to_le_bytes()).collect::<Vec<u8>>(),
    )?;
    let mut optimizer = AdamW::new(count, AdamWOptions::default());
    let mut times = Times::default();
    times.fill(budget, || {
        objective.loss_and_gradient(&parameters, batch(), &mut gradient);
        optimizer.step(3e-3, &gradient, &mut parameters);
    });
    Ok(format!(r#"{{{}, "ready": {ready}, "loss": {loss}}}"#, times.json()))
}

/// Samples of calls are this long at least, for the clock.
const SAMPLE: f64 = 2e-4;

/// The models that were read, and the beam that was asked for last.
#[derive(Default)]
struct Bench {
    models: HashMap<String, Ready>,
    beam: Option<Beam>,
}

/// A beam of tetrahedra.
struct Beam {
    asked: Vec<String>,
    evaluator: ElementsEvaluator,
    places: Vec<f64>,
    /// How long it took to be ready, in CPU seconds.
    ready: f64,
}

impl Beam {
    fn new(asked: &[&str]) -> Fallible<Beam> {
        let [x, y, z, lambda, mu, threads, places] = *asked else {
            unreachable!("the request has these words")
        };
        let cells: [u32; 3] = [x.parse()?, y.parse()?, z.parse()?];
        let before = now();
        let mesh = Mesh::cuboid(cells.map(|count| f64::from(count) / f64::from(cells[1])), cells)?;
        let graph = Graph::new();
        let symbols @ [l, m] = graph.symbols(["lambda", "mu"]);
        let card = shipped("st-venant-kirchhoff")?;
        let elements = card.field(&graph, &[("lambda", l.into()), ("mu", m.into())])?.on(&mesh, 0)?;
        let parameters = [(symbols[0], lambda.parse()?), (symbols[1], mu.parse()?)];
        let mut evaluator = ElementsEvaluator::new(&elements, graph.symbol("t"), &parameters)?;
        evaluator.set_threads(threads.parse()?);
        let places = read_states(places, 3 * mesh.nodes().len())?;
        evaluator.add_forces(0.0, &places, &mut vec![0.0; places.len()])?;
        let asked = asked.iter().map(|&word| word.to_owned()).collect();
        Ok(Beam { asked, evaluator, places, ready: now() - before })
    }
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
            ["ensemble", model, method, pace, end, threads, lanes, count, starts, ends, budget] => {
                let lanes = match lanes.parse()? {
                    1 => false,
                    LANES => true,
                    other => return Err(format!("lanes are 1 or {LANES}, not {other}").into()),
                };
                let ensemble = Ensemble::new(integrator(method, pace)?, 0.0, end.parse()?)
                    .threads(threads.parse()?)
                    .in_lanes(lanes);
                self.ensemble(model, &ensemble, end.parse()?, count.parse()?, [starts, ends], budget.parse()?)
            }
            ["forces", ref asked @ .., forces, budget] if asked.len() == 7 => {
                self.forces(asked, forces, budget.parse()?)
            }
            ["learn", model, units, threads, ref files @ .., budget] if files.len() == 5 => {
                learn(model, units.parse()?, threads.parse()?, files, budget.parse()?)
            }
            ["products", threads, budget] => {
                let (threads, mut times) = (threads.parse()?, Times::default());
                products::of_a_step(threads);
                times.fill(budget.parse()?, || products::of_a_step(threads));
                Ok(format!("{{{}}}", times.json()))
            }
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
        // What the method compiles for itself is in the time until it is ready.
        integrator.run(&mut ready.dynamics, &ready.start, end)?;
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

    fn ensemble(
        &mut self,
        model: &str,
        ensemble: &Ensemble,
        end: f64,
        count: u64,
        [starts, ends]: [&str; 2],
        budget: f64,
    ) -> Fallible<String> {
        let ready = self.ready(model)?;
        let dimension = 2 * ready.start.q.len();
        let mut states = read_states(starts, dimension)?;
        for state in states.chunks_exact_mut(dimension) {
            let mut momenta = vec![0.0; dimension / 2];
            ready.dynamics.momenta(&[0.0], state, &mut momenta)?;
            state[dimension / 2..].copy_from_slice(&momenta);
        }
        let rows: Vec<&[f64]> = states.chunks_exact(dimension).collect();
        let launch = |index: u64, _: &mut Dynamics, launch: &mut Launch| {
            launch.state.copy_from_slice(rows[(index % rows.len() as u64) as usize]);
            Ok(())
        };
        let (begun, mut cpu, mut wall) = (Instant::now(), Vec::new(), Vec::new());
        let (mut reached, mut tally) = (Vec::new(), Default::default());
        while cpu.is_empty() || begun.elapsed().as_secs_f64() < budget {
            reached.clear();
            let (before, clock) = (now(), Instant::now());
            tally = ensemble.run(&ready.dynamics, &launch, 0..count, |chunk| {
                if ends != "-" {
                    reached.extend(chunk.ends().flatten());
                }
                ControlFlow::Continue(())
            })?;
            cpu.push(now() - before);
            wall.push(clock.elapsed().as_secs_f64());
        }
        let peak = peak().map_or_else(|| "null".to_owned(), |bytes| bytes.to_string());
        if ends != "-" {
            let mut bytes = Vec::with_capacity(8 * reached.len());
            for block in reached.chunks_exact(dimension) {
                bytes.extend(ready.rated(end, block)?.into_iter().flat_map(f64::to_le_bytes));
            }
            std::fs::write(ends, bytes)?;
        }
        let (failed, steps) = (tally.failed, tally.steps);
        Ok(format!(
            r#"{{"cpu": {cpu:?}, "wall": {wall:?}, "failed": {failed}, "steps": {steps}, "peak": {peak}}}"#
        ))
    }

    fn forces(&mut self, asked: &[&str], path: &str, budget: f64) -> Fallible<String> {
        let Beam { evaluator, places, ready, .. } = match self.beam.take_if(|beam| beam.asked == asked) {
            Some(beam) => self.beam.insert(beam),
            None => self.beam.insert(Beam::new(asked)?),
        };
        let mut out = vec![0.0; places.len()];
        let (mut times, mut failure) = (Times::default(), None);
        times.fill(budget, || {
            out.fill(0.0);
            failure = evaluator.add_forces(0.0, black_box(places), black_box(&mut out)).err();
        });
        if let Some(failure) = failure {
            return Err(failure.into());
        }
        std::fs::write(path, out.iter().flat_map(|force| force.to_le_bytes()).collect::<Vec<u8>>())?;
        let bytes = evaluator.bytes_per_element();
        Ok(format!(r#"{{{}, "ready": {ready}, "bytes": {bytes}}}"#, times.json()))
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
        let read = ready.seconds;
        Ok(format!(r#"{{"seconds": {seconds:?}, "read": {read}, "accelerations": {a:?}}}"#))
    }
}

fn read_states(path: &str, dimension: usize) -> Fallible<Vec<f64>> {
    let bytes = std::fs::read(path)?;
    let (words, rest) = bytes.as_chunks::<8>();
    if words.is_empty() || !rest.is_empty() || words.len() % dimension != 0 {
        return Err(format!("{path} does not hold states of {dimension} numbers").into());
    }
    Ok(words.iter().map(|word| f64::from_le_bytes(*word)).collect())
}

fn integrator(method: &str, pace: &str) -> Fallible<Integrator> {
    let pace = match pace.split_once('=') {
        Some(("step", step)) => Pace::Step(step.parse()?),
        Some(("tolerance", tolerance)) => Pace::Tolerance(Tolerance::relative(tolerance.parse()?)),
        _ => return Err(format!("a pace is step=… or tolerance=…, not {pace}").into()),
    };
    Ok(Integrator::named(method, pace)?.ends_only())
}
