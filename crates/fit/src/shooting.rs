//! Runs of a model from unknown starts with unknown parameters: what they give where something was measured, and how that depends on the unknowns.

use crate::data::Recording;
use crate::error::FitError;
use crate::watch::{Progress, Watch};
use leastaction_integrate::{AdjointError, Card, Integrator, Reason, Seed, Tape};
use leastaction_mechanics::{Dynamics, EvalError, Form, Observable, StartError, State};
use leastaction_simulate::{PrepareError, Problem};
use std::sync::atomic::Ordering;

/// Methods that have gradients, for a system that was to be integrated by another one: the first that goes with it.
const DIFFERENTIABLE: &[&str] =
    &["dop853", "vern9", "radau5", "gauss6", "rattle4", "rattle", "gauss4", "rk4"];

/// The largest amount of numbers of a run that is stored for the reverse pass.
const ROOM: usize = 1 << 24;

/// A trial is given up when it takes this many times the steps of the first run: it would be another motion.
const PATIENCE: u64 = 20;
const FEWEST_STEPS: u64 = 10_000;

/// Steps of differences, relative to the sizes of what is changed: of starts, which are formulas, and of whole runs, which have the errors of their steps.
const START_STEP: f64 = 1e-3;
const RUN_STEP: f64 = 1e-5;

/// A measured number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Which of the times it belongs to.
    pub(crate) sample: usize,
    pub(crate) channel: usize,
    pub(crate) value: f64,
    pub(crate) sigma: Option<f64>,
}

/// What a run is to give.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) name: String,
    /// When the run begins.
    pub(crate) begin: f64,
    /// The times of measured numbers, each once.
    pub(crate) times: Vec<f64>,
    /// The measured numbers, in the order of times.
    pub(crate) rows: Vec<Row>,
}

impl Target {
    pub(crate) fn new(recording: &Recording, channels: &[String], begin: Option<f64>) -> Target {
        let (mut times, mut rows): (Vec<f64>, Vec<Row>) = (Vec::new(), Vec::new());
        for (i, &t) in recording.times.iter().enumerate() {
            for channel in &recording.channels {
                let (value, sigma) = (channel.values[i], channel.sigma.as_ref().map(|sigma| sigma[i]));
                if value.is_nan() {
                    continue;
                }
                if times.last() != Some(&t) {
                    times.push(t);
                }
                let place = channels.iter().position(|what| *what == channel.what);
                let channel = place.unwrap_or_else(|| unreachable!("all channels are listed"));
                rows.push(Row { sample: times.len() - 1, channel, value, sigma });
            }
        }
        let begin = begin.unwrap_or_else(|| times.first().copied().unwrap_or(0.0));
        Target { name: recording.name.clone(), begin, times, rows }
    }

    /// The rows of this number of samples.
    pub(crate) fn rows_of(&self, samples: usize) -> &[Row] {
        &self.rows[..self.rows.partition_point(|row| row.sample < samples)]
    }

    /// How many samples there are in a part of the time.
    pub(crate) fn samples_in(&self, part: f64) -> usize {
        let (first, last) = (self.times[0], self.times[self.times.len() - 1]);
        match part >= 1.0 {
            true => self.times.len(),
            false => self.times.partition_point(|t| *t <= first + part * (last - first)).max(1),
        }
    }
}

/// A run with what it gave.
pub(crate) struct Shot {
    samples: usize,
    /// For each row, in their order.
    pub(crate) predicted: Vec<f64>,
    tape: Option<Tape>,
    states: Vec<(f64, Vec<f64>)>,
    pub(crate) parameters: Vec<f64>,
    /// The numbers of the start that are unknown, where constraints allow them.
    pub(crate) numbers: Vec<f64>,
}

/// Why a run gives nothing to compare.
pub(crate) enum Miss {
    Run(AdjointError),
    Start(StartError),
    Prepare(PrepareError),
    Eval(EvalError),
    Stops(f64),
    NotFinite(usize),
    Interrupted,
}

impl From<AdjointError> for Miss {
    fn from(error: AdjointError) -> Miss {
        Miss::Run(error)
    }
}
impl From<StartError> for Miss {
    fn from(error: StartError) -> Miss {
        Miss::Start(error)
    }
}
impl From<EvalError> for Miss {
    fn from(error: EvalError) -> Miss {
        Miss::Eval(error)
    }
}

impl Miss {
    /// What is said if this happens with the first guess.
    pub(crate) fn first(self, shooting: &Shooting<'_, '_>, target: usize) -> FitError {
        let recording = shooting.targets[target].name.clone();
        match self {
            Miss::Run(source) => FitError::Run { recording, source: Box::new(source) },
            Miss::Start(error) => FitError::Start(error),
            Miss::Prepare(error) => FitError::Prepare(error),
            Miss::Eval(error) => FitError::Eval(error),
            Miss::Stops(t) => FitError::Stops { recording, t },
            Miss::NotFinite(channel) => FitError::NotFinite { what: shooting.channels[channel].0.clone() },
            Miss::Interrupted => FitError::Interrupted,
        }
    }
}

/// A model with its unknowns, and what it is to give.
pub(crate) struct Shooting<'p, 'g> {
    problem: &'p Problem<'g>,
    /// Values that are asked for in place of what the model says of its start.
    asked: Vec<(String, f64)>,
    dynamics: Dynamics,
    integrator: Integrator,
    /// Why derivatives are found by differences of runs, if they are.
    pub(crate) differences: Option<String>,
    pub(crate) channels: Vec<(String, Observable)>,
    /// The places of the parameters that are unknown, and of the numbers of the start.
    pub(crate) free: Vec<usize>,
    pub(crate) starting: Vec<usize>,
    by_velocities: bool,
    pub(crate) targets: Vec<Target>,
    watch: &'p Watch<'p>,
    pub(crate) runs: usize,
    /// How many steps were made in all runs, and how many a run may have at most.
    pub(crate) steps: u64,
    pub(crate) most_steps: u64,
    /// How many steps a unit of time took in the first run.
    steps_per_time: Option<f64>,
}

impl<'p, 'g> Shooting<'p, 'g> {
    pub(crate) fn new(
        problem: &'p Problem<'g>,
        asked: &[(String, f64)],
        integrator: Integrator,
        watch: &'p Watch<'p>,
    ) -> Shooting<'p, 'g> {
        let dynamics = problem.dynamics.clone();
        let by_velocities = dynamics.system().facts().form == Form::Lagrangian;
        let starting = (0..dynamics.system().dimension()).collect();
        Shooting {
            problem,
            asked: asked.to_vec(),
            dynamics,
            integrator,
            differences: None,
            channels: Vec::new(),
            free: Vec::new(),
            starting,
            by_velocities,
            targets: Vec::new(),
            watch,
            runs: 0,
            steps: 0,
            most_steps: u64::MAX,
            steps_per_time: None,
        }
    }

    pub(crate) fn dynamics(&mut self) -> &mut Dynamics {
        &mut self.dynamics
    }

    pub(crate) fn integrator(&self) -> &Integrator {
        &self.integrator
    }

    pub(crate) fn integrate_by(&mut self, integrator: Integrator) {
        self.integrator = integrator;
        self.steps_per_time = None;
    }

    /// Where a recording begins with these unknowns.
    pub(crate) fn state(&mut self, target: usize, x: &[f64]) -> Result<State, Miss> {
        let (parameters, numbers) = (self.parameters(x), self.numbers(x, target).to_vec());
        let block = self.start(target, &parameters, &numbers)?;
        Ok(State::from_block(self.targets[target].begin, &block, self.dynamics.system().degrees()))
    }

    /// How many unknowns there are.
    pub(crate) fn count(&self) -> usize {
        self.free.len() + self.targets.len() * self.starting.len()
    }

    /// The name of a number of the start, by its place in \[q…, v…\] or \[q…, p…\].
    pub(crate) fn start_name(&self, place: usize) -> String {
        let (system, n) = (self.dynamics.system(), self.dynamics.system().degrees());
        if self.by_velocities && place >= n {
            system.velocities().at(place - n)
        } else {
            system.state_name(place)
        }
    }

    /// The parameters of the system that belong to some unknowns.
    pub(crate) fn parameters(&self, x: &[f64]) -> Vec<f64> {
        let mut parameters = self.problem.dynamics.parameters().to_vec();
        self.free.iter().zip(x).for_each(|(&place, value)| parameters[place] = *value);
        parameters
    }

    /// The unknown numbers of the start of a recording.
    pub(crate) fn numbers<'x>(&self, x: &'x [f64], target: usize) -> &'x [f64] {
        &x[self.free.len() + target * self.starting.len()..][..self.starting.len()]
    }

    /// All numbers of the start that the model says, with the parameters of these dynamics: \[q…, v…\] or \[q…, p…\].
    pub(crate) fn stated_numbers(&mut self, t: f64) -> Result<Vec<f64>, Miss> {
        let Shooting { problem, asked, dynamics, .. } = self;
        let state = problem.start_with(dynamics, t, asked).map_err(Miss::Prepare)?;
        self.numbers_of(&state)
    }

    fn numbers_of(&mut self, state: &State) -> Result<Vec<f64>, Miss> {
        let mut block = state.block();
        if self.by_velocities {
            let (n, mut v) = (state.q.len(), vec![0.0; state.p.len()]);
            self.dynamics.velocities(&[state.t], &state.block(), &mut v)?;
            block[n..].copy_from_slice(&v);
        }
        Ok(block)
    }

    /// The state block at the start with these parameters and unknown numbers.
    fn start(&mut self, target: usize, parameters: &[f64], numbers: &[f64]) -> Result<Vec<f64>, Miss> {
        self.dynamics.set_parameters(parameters).map_err(|error| Miss::Start(error.into()))?;
        let (t, dimension) = (self.targets[target].begin, self.dynamics.system().dimension());
        let mut block = match self.starting.len() < dimension {
            true => self.stated_numbers(t)?,
            false => vec![0.0; dimension],
        };
        self.starting.iter().zip(numbers).for_each(|(&place, value)| block[place] = *value);
        self.dynamics.start_block(t, self.by_velocities, &mut block)?;
        Ok(block)
    }

    /// Runs over the first samples of a recording.
    pub(crate) fn shoot(&mut self, target: usize, x: &[f64], samples: usize) -> Result<Shot, Miss> {
        let (parameters, numbers) = (self.parameters(x), self.numbers(x, target).to_vec());
        self.shoot_from(target, parameters, numbers, samples)
    }

    fn shoot_from(
        &mut self,
        target: usize,
        parameters: Vec<f64>,
        numbers: Vec<f64>,
        samples: usize,
    ) -> Result<Shot, Miss> {
        if self.watch.interrupted.load(Ordering::Relaxed) {
            return Err(Miss::Interrupted);
        }
        self.runs += 1;
        let part = samples as f64 / self.targets[target].times.len() as f64;
        (self.watch.progress)(Progress { run: self.runs, part });
        let block = self.start(target, &parameters, &numbers)?;
        let (begin, times) = (self.targets[target].begin, self.targets[target].times[..samples].to_vec());
        let end = times[samples - 1];
        let state = State::from_block(begin, &block, self.dynamics.system().degrees());
        let (tape, states) = match end == begin {
            true => (None, vec![(begin, block)]),
            false => self.motion(&state, &times)?,
        };
        if let Some(&(t, _)) = states.last().filter(|_| states.len() < samples) {
            return Err(Miss::Stops(t));
        }
        let numbers = match self.dynamics.system().facts().constrained {
            true => {
                let allowed = self.numbers_of(&state)?;
                self.starting.iter().map(|&place| allowed[place]).collect()
            }
            false => numbers,
        };
        let Shooting { dynamics, channels, targets, .. } = self;
        let rows = targets[target].rows_of(samples);
        let mut predicted = Vec::with_capacity(rows.len());
        for row in rows {
            let ((t, block), mut value) = (&states[row.sample], [0.0]);
            dynamics.observe(channels[row.channel].1, &[*t], block, &mut value)?;
            if !value[0].is_finite() {
                return Err(Miss::NotFinite(row.channel));
            }
            predicted.push(value[0]);
        }
        Ok(Shot { samples, predicted, tape, states, parameters, numbers })
    }

    /// The states at some times, with the tape of the run if there is one.
    #[allow(clippy::type_complexity)]
    fn motion(&mut self, state: &State, times: &[f64]) -> Result<(Option<Tape>, Vec<(f64, Vec<f64>)>), Miss> {
        let end = times[times.len() - 1];
        let mut most = self.most_steps.min(self.integrator.bounds().0);
        if let Some(rate) = self.steps_per_time {
            most = most
                .min((PATIENCE * (rate * (end - state.t).abs()).ceil() as u64).saturating_add(FEWEST_STEPS));
        }
        let integrator = self.integrator.clone().at(times).at_most(most);
        let (tape, trajectory) = match self.differences.is_some() {
            true => {
                let ran = integrator.run(&mut self.dynamics, state, end);
                (None, ran.map_err(|failed| self.failed(most, AdjointError::Run(failed)))?)
            }
            false => {
                let tape = Tape::record_with(&integrator, &self.dynamics, state, end, &self.free, ROOM);
                match tape {
                    Err(AdjointError::Method { method, works }) => {
                        self.change_method(method, &works);
                        return self.motion(state, times);
                    }
                    Err(AdjointError::Reset { event }) => {
                        self.differences = Some(format!("the event `{event}` sets something"));
                        return self.motion(state, times);
                    }
                    Err(error @ (AdjointError::System { .. } | AdjointError::TooLarge { .. })) => {
                        self.differences = Some(error.to_string());
                        return self.motion(state, times);
                    }
                    tape => {
                        let tape = tape.map_err(|error| self.failed(most, error))?;
                        let trajectory = tape.trajectory().clone();
                        (Some(tape), trajectory)
                    }
                }
            }
        };
        self.steps += trajectory.work().steps;
        if self.steps_per_time.is_none() {
            self.steps_per_time = Some(trajectory.work().steps as f64 / (end - state.t).abs());
        }
        // The sample at which an event ends a run was not requested.
        let ended = matches!(trajectory.reason(), Reason::Event(_));
        let wanted = |t: f64| !ended || times.contains(&t);
        let states = trajectory.samples().filter(|(t, _)| wanted(*t)).map(|(t, y)| (t, y.to_vec()));
        Ok((tape, states.collect()))
    }

    /// What failed, and may have taken all steps that it was allowed.
    fn failed(&mut self, most: u64, error: AdjointError) -> Miss {
        if let AdjointError::Run(failed) = &error {
            let steps = failed.trajectory.as_ref().map_or(most, |kept| kept.work().steps);
            self.steps = self.steps.saturating_add(steps);
        }
        Miss::Run(error)
    }

    /// Takes a method that has gradients.
    fn change_method(&mut self, method: &str, works: &[&'static str]) {
        let other =
            DIFFERENTIABLE.iter().find(|name| works.contains(name)).and_then(|name| Card::named(name).ok());
        match other {
            Some(card) if !self.integrator.card().name.eq(card.name) => {
                self.integrator = self.integrator.clone().by(card);
            }
            _ => self.differences = Some(format!("there are no gradients of runs by {method}")),
        }
    }

    /// How what a run gave depends on the unknowns: a row for each measured number, with the free parameters, and then the unknown numbers of its start.
    pub(crate) fn slopes(&mut self, target: usize, shot: &Shot) -> Result<Vec<f64>, Miss> {
        if self.differences.is_none() {
            match self.slopes_back(target, shot) {
                Err(Miss::Run(error)) => self.differences = Some(error.to_string()),
                Err(Miss::Eval(error)) => self.differences = Some(error.to_string()),
                other => return other,
            }
        }
        self.slopes_by_differences(target, shot)
    }

    /// By the way back over the run.
    fn slopes_back(&mut self, target: usize, shot: &Shot) -> Result<Vec<f64>, Miss> {
        let (k, s) = (self.free.len(), self.starting.len());
        let d = self.dynamics.system().dimension();
        let starts = self.start_slopes(target, shot)?;
        let rows = self.targets[target].rows_of(shot.samples).to_vec();
        let mut all = vec![0.0; rows.len() * (k + s)];
        // What each measured number depends on where it is measured.
        let mut local = Vec::with_capacity(rows.len());
        for row in &rows {
            let (t, block) = &shot.states[row.sample];
            let (what, observable) = &self.channels[row.channel];
            let slopes = self.dynamics.observable_slopes(*observable, *t, block)?;
            let Some(slopes) = slopes else {
                let why = format!("`{what}` is no formula of the state");
                self.differences = Some(why);
                return self.slopes_by_differences(target, shot);
            };
            local.push(slopes);
        }
        // By the state at the start, through the run, and by parameters besides.
        let mut put = |place: usize, by_start: &[f64], by_parameters: &[f64]| {
            let out = &mut all[place * (k + s)..][..k + s];
            for (j, &parameter) in self.free.iter().enumerate() {
                out[j] = by_parameters[j] + local[place].parameters[parameter];
            }
            for (i, slope) in by_start.iter().enumerate().filter(|(_, slope)| **slope != 0.0) {
                out.iter_mut().zip(&starts[i * (k + s)..][..k + s]).for_each(|(sum, x)| *sum += slope * x);
            }
        };
        match &shot.tape {
            None => (0..rows.len()).for_each(|place| put(place, &local[place].state, &vec![0.0; k])),
            Some(tape) if rows.len() < d => {
                let seed = |(row, own): (&Row, &leastaction_mechanics::Slopes)| {
                    Seed::new().sample(row.sample, &own.state)
                };
                let seeds: Vec<Seed> = rows.iter().zip(&local).map(seed).collect();
                for (place, gradient) in tape.gradients(&seeds)?.iter().enumerate() {
                    put(place, &gradient.start, &gradient.parameters);
                }
            }
            Some(tape) => {
                let mut next = 0;
                let mut sums = vec![0.0; d + k];
                tape.sample_slopes(|sample, states| {
                    while next < rows.len() && rows[next].sample == sample {
                        sums.fill(0.0);
                        let weights = local[next].state.iter().zip(states.chunks_exact(d + k));
                        for (weight, row) in weights.filter(|(weight, _)| **weight != 0.0) {
                            sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += weight * x);
                        }
                        put(next, &sums[..d], &sums[d..]);
                        next += 1;
                    }
                })?;
            }
        }
        Ok(all)
    }

    /// How the state at the start depends on parameters and unknown numbers: a row for each number of the state, by differences of the fourth order of what is a formula.
    pub(crate) fn start_slopes(&mut self, target: usize, shot: &Shot) -> Result<Vec<f64>, Miss> {
        let (k, s, d) = (self.free.len(), self.starting.len(), self.dynamics.system().dimension());
        let mut slopes = vec![0.0; d * (k + s)];
        for j in 0..k + s {
            let size = if j < k { shot.parameters[self.free[j]] } else { shot.numbers[j - k] };
            let h = START_STEP * if size == 0.0 { 1.0 } else { size.abs().max(1e-3) };
            let mut sums = vec![0.0; d];
            for (shift, weight) in [(-2.0, 1.0), (-1.0, -8.0), (1.0, 8.0), (2.0, -1.0)] {
                let (mut parameters, mut numbers) = (shot.parameters.clone(), shot.numbers.clone());
                let moved = if j < k { &mut parameters[self.free[j]] } else { &mut numbers[j - k] };
                *moved += shift * h;
                let block = self.start(target, &parameters, &numbers)?;
                sums.iter_mut().zip(&block).for_each(|(sum, y)| *sum += weight * y);
            }
            (0..d).for_each(|i| slopes[i * (k + s) + j] = sums[i] / (12.0 * h));
        }
        self.dynamics.set_parameters(&shot.parameters).map_err(|error| Miss::Start(error.into()))?;
        Ok(slopes)
    }

    /// By differences of whole runs.
    fn slopes_by_differences(&mut self, target: usize, shot: &Shot) -> Result<Vec<f64>, Miss> {
        let (k, s) = (self.free.len(), self.starting.len());
        let mut all = vec![0.0; shot.predicted.len() * (k + s)];
        for j in 0..k + s {
            let size = if j < k { shot.parameters[self.free[j]] } else { shot.numbers[j - k] };
            let h = RUN_STEP * if size == 0.0 { 1.0 } else { size.abs().max(1e-3) };
            let mut ends: [Option<Vec<f64>>; 2] = [None, None];
            for (end, shift) in ends.iter_mut().zip([h, -h]) {
                let (mut parameters, mut numbers) = (shot.parameters.clone(), shot.numbers.clone());
                let moved = if j < k { &mut parameters[self.free[j]] } else { &mut numbers[j - k] };
                *moved += shift;
                match self.shoot_from(target, parameters, numbers, shot.samples) {
                    Ok(shot) => *end = Some(shot.predicted),
                    Err(Miss::Interrupted) => return Err(Miss::Interrupted),
                    Err(_) => {}
                }
            }
            // At the border of what can be computed, one side is enough.
            let (above, below, width) = match &ends {
                [Some(above), Some(below)] => (above, below, 2.0 * h),
                [Some(above), None] => (above, &shot.predicted, h),
                [None, Some(below)] => (&shot.predicted, below, h),
                [None, None] => return Err(Miss::NotFinite(0)),
            };
            for (i, (above, below)) in above.iter().zip(below).enumerate() {
                all[i * (k + s) + j] = (above - below) / width;
            }
        }
        self.dynamics.set_parameters(&shot.parameters).map_err(|error| Miss::Start(error.into()))?;
        Ok(all)
    }

    /// The rates of what is measured at each row of a shot, by differences along the motion.
    pub(crate) fn rates(&mut self, target: usize, shot: &Shot) -> Result<Vec<f64>, Miss> {
        self.dynamics.set_parameters(&shot.parameters).map_err(|error| Miss::Start(error.into()))?;
        let rows = self.targets[target].rows_of(shot.samples).to_vec();
        let mut column = Vec::with_capacity(rows.len());
        for row in rows {
            let (t, block) = &shot.states[row.sample];
            let mut rates = vec![0.0; block.len()];
            self.dynamics.rates(&[*t], block, &mut rates)?;
            let largest = |list: &[f64]| list.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            let h = 1e-6 * largest(block).max(1e-3) / largest(&rates).max(1e-9);
            let mut value = |shift: f64| -> Result<f64, Miss> {
                let moved: Vec<f64> = block.iter().zip(&rates).map(|(y, rate)| y + shift * rate).collect();
                let mut out = [0.0];
                self.dynamics.observe(self.channels[row.channel].1, &[t + shift], &moved, &mut out)?;
                Ok(out[0])
            };
            column.push((value(h)? - value(-h)?) / (2.0 * h));
        }
        Ok(column)
    }
}
