//! A lane group: trajectories side by side in lanes, each at its own time. Lanes are filled again as they come to their ends.

use super::chunk::Fate;
use super::open_chunks::OpenChunks;
use super::{Ensemble, Launch, Starts};
use crate::block::Block;
use crate::error::RunError;
use crate::run::event::{Crossing, EventDetector, Hit, Instant};
use crate::run_loop::RunLoop;
use crate::run_loop::reset::{Resets, Restart};
use crate::run_loop::ticks::Ticks;
use leastaction_compile::LANES;
use leastaction_mechanics::{Dynamics, State};

/// Whether to stop is asked every so many steps.
const LISTEN: u32 = 64;

/// Lanes with trajectories in them.
pub(super) struct LaneGroup<'e, 'd> {
    ensemble: &'e Ensemble,
    run: RunLoop<'d>,
    detector: EventDetector<'e>,
    /// When samples are taken.
    times: &'e [f64],
    /// Which trajectory is in each lane, and how many samples it has given.
    lanes: [Option<Running>; LANES],
    width: usize,
    /// Whether a lane may be free.
    free: bool,
    /// Where starts are computed, with which parameters, and the last of them.
    start_dynamics: Dynamics,
    parameters: Vec<f64>,
    launch: Launch,
    /// States within a step, and those that trajectories end with.
    inside: Vec<f64>,
    finals: Vec<f64>,
    final_times: [f64; LANES],
    steps: u32,
    /// What is to be reset in lanes once the step is taken.
    restarts: [Option<Restart>; LANES],
}

#[derive(Clone, Copy)]
struct Running {
    index: u64,
    sampled: usize,
}

/// Where the numbers of trajectories come from.
pub(super) type Next<'n, 'a> = dyn FnMut(&mut OpenChunks<'a>, bool) -> Option<u64> + 'n;

impl<'e, 'd> LaneGroup<'e, 'd> {
    pub(super) fn new(
        ensemble: &'e Ensemble,
        dynamics: &'d mut Dynamics,
        width: usize,
        times: &'e [f64],
    ) -> Result<LaneGroup<'e, 'd>, RunError> {
        let Ensemble { integrator, start, end, .. } = ensemble;
        integrator.check_keeping(dynamics.system().facts())?;
        integrator.check_resets(*start, *end)?;
        let (start_dynamics, parameters) = (dynamics.clone(), dynamics.parameters().to_vec());
        let zeros = vec![0.0; dynamics.system().dimension()];
        let launch = Launch { state: zeros.clone(), parameters: parameters.clone() };
        let block = if width == 1 { Block::one(&zeros) } else { Block::lanes([&zeros; LANES]) };
        let mut limits = integrator.limits(integrator.limit);
        // One run may be too short for that, but not all of them.
        limits.compiled = limits.compiled.or((width == LANES).then_some(true));
        let len = block.values().len();
        let mut run = RunLoop::new(integrator.card, &integrator.pace, limits, dynamics, *start, block, *end)?;
        run.resets = Resets::new(&integrator.events);
        run.ticks = Ticks::new(&integrator.events, *start, None);
        (0..width).for_each(|lane| run.rest(lane));
        Ok(LaneGroup {
            ensemble,
            detector: EventDetector::new(&integrator.events, &run),
            run,
            times,
            lanes: [None; LANES],
            width,
            free: true,
            start_dynamics,
            parameters,
            launch,
            inside: vec![0.0; len],
            finals: vec![0.0; len],
            final_times: [*end; LANES],
            steps: 0,
            restarts: [const { None }; LANES],
        })
    }

    /// Runs trajectories until there are no more.
    pub(super) fn run_stepwise<'a>(
        &mut self,
        starts: &dyn Starts,
        open: &mut OpenChunks<'a>,
        next: &mut Next<'_, 'a>,
    ) -> Result<(), RunError> {
        loop {
            self.fill(starts, open, next, true);
            if self.is_empty() || self.is_stopped(open) {
                return Ok(());
            }
            let proposed = self.run.propose_each();
            self.conclude(proposed, starts, open)?;
        }
    }

    /// Whether trajectories can be run by compiled loops: these do not tell what happens within steps.
    pub(super) fn can_compile_loop(&mut self) -> bool {
        let is_quiet = !self.detector.is_on() && !self.run.ticks.any() && self.times.is_empty();
        self.width == LANES && is_quiet && self.run.can_compile_loop()
    }

    /// Runs trajectories by a compiled loop until there are no more, in one group or two that can.
    pub(super) fn run_compiled<'a>(
        groups: &mut [LaneGroup<'e, 'd>],
        starts: &dyn Starts,
        open: &mut OpenChunks<'a>,
        next: &mut Next<'_, 'a>,
    ) -> Result<(), RunError> {
        let (blocks, mut out) = (groups.len(), [false; 2]);
        let Some(first) = groups.first_mut() else { unreachable!("a thread has a group at least") };
        let Some(mut compiled) = first.run.compiled_loop(blocks)? else {
            return first.run_stepwise(starts, open, next);
        };
        loop {
            for block in 0..blocks {
                let alone = groups.iter().enumerate().all(|(k, other)| k == block || other.is_empty());
                let (group, out) = (&mut groups[block], &mut out[block]);
                if *out && group.free {
                    group.run.unload_from(&compiled, block);
                    *out = false;
                }
                while !*out {
                    group.fill(starts, open, next, alone);
                    match group.run.load_into(&mut compiled, block) {
                        Ok(()) => *out = true,
                        Err(error) => group.run_one_by_one(&error.into(), starts, open)?,
                    }
                }
                compiled.follow(block, group.run.motion.dynamics());
            }
            if groups.iter().all(LaneGroup::is_empty) || open.is_stopped() {
                return Ok(());
            }
            let steps = compiled.run(LISTEN)?;
            for (block, group) in groups.iter_mut().enumerate() {
                group.run.count_steps(&compiled, steps);
                if compiled.is_halted(block) {
                    out[block] = false;
                    let stuck = group.run.unload_from(&compiled, block);
                    group.finish([const { None }; LANES], open)?;
                    if stuck {
                        let proposed = group.run.propose_each();
                        group.conclude(proposed, starts, open)?;
                    }
                }
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.lanes.iter().all(Option::is_none)
    }

    /// Whether to stop, asked now and then.
    fn is_stopped(&mut self, open: &OpenChunks<'_>) -> bool {
        self.steps = self.steps.wrapping_add(1);
        self.steps.is_multiple_of(LISTEN) && open.is_stopped()
    }

    /// Takes the steps that are proposed.
    fn conclude(
        &mut self,
        proposed: Result<(), RunError>,
        starts: &dyn Starts,
        open: &mut OpenChunks<'_>,
    ) -> Result<(), RunError> {
        match proposed.and_then(|()| self.advance(open)) {
            Ok(()) => Ok(()),
            Err(error) => self.run_one_by_one(&error, starts, open),
        }
    }

    /// Puts trajectories into lanes that are free. Who is alone and has nothing else to do waits for some.
    fn fill<'a>(
        &mut self,
        starts: &dyn Starts,
        open: &mut OpenChunks<'a>,
        next: &mut Next<'_, 'a>,
        alone: bool,
    ) {
        while self.free {
            let mut begun = [false; LANES];
            self.free = false;
            for lane in 0..self.width {
                while self.lanes[lane].is_none() {
                    let idle = alone && self.is_empty();
                    let Some(index) = next(open, idle) else {
                        // There may be one later.
                        self.free = true;
                        break;
                    };
                    match self.start(lane, index, starts) {
                        Ok(()) => {
                            let (chunk, row) = open.row(index);
                            chunk.start_row(row).copy_from_slice(&self.launch.state);
                            self.lanes[lane] = Some(Running { index, sampled: 0 });
                            begun[lane] = true;
                        }
                        Err(why) => open.close(index, Fate::Failed, Some(why)),
                    }
                }
            }
            if begun.contains(&true) {
                self.begin(begun, open);
            }
            // Where all end as they begin, there may be more to run.
            if !(begun.contains(&true) && self.is_empty()) {
                return;
            }
        }
    }

    /// Puts the start of a trajectory into a lane.
    fn start(&mut self, lane: usize, index: u64, starts: &dyn Starts) -> Result<(), String> {
        self.launch.state.fill(0.0);
        self.launch.parameters.clone_from(&self.parameters);
        let launched = starts.launch(index, &mut self.start_dynamics, &mut self.launch);
        launched.map_err(|error| error.to_string())?;
        let (state, system) = (&self.launch.state, self.run.motion.system());
        if state.len() != system.dimension() {
            let (expected, found) = (system.dimension(), state.len());
            return Err(RunError::WrongLength { expected, found }.to_string());
        }
        if let Some(place) = state.iter().position(|y| !y.is_finite()) {
            let (name, value) = (system.state_name(place), state[place]);
            return Err(RunError::BadStart { name, value }.to_string());
        }
        let (dynamics, parameters) = (self.run.motion.plain(), &self.launch.parameters);
        let set = match self.width {
            1 if dynamics.parameters() != parameters => dynamics.set_parameters(parameters),
            1 => Ok(()),
            _ if dynamics.parameters_in(lane) != parameters => dynamics.set_parameters_in(lane, parameters),
            _ => Ok(()),
        };
        set.map_err(|error| error.to_string())?;
        self.run.block.set_lane(lane, &self.launch.state);
        Ok(())
    }

    /// Begins in lanes that have new trajectories.
    fn begin(&mut self, mut begun: [bool; LANES], open: &mut OpenChunks<'_>) {
        let mut ended = [const { None }; LANES];
        while begun.contains(&true) {
            let lanes = &begun[..self.width];
            let started = self.run.begin(lanes).and_then(|()| self.detector.begin(&mut self.run, lanes));
            let Err(error) = started else { break };
            let lane = error.lane().filter(|&lane| begun[lane]);
            let new = begun;
            for j in (0..self.width).filter(|&j| new[j] && lane.is_none_or(|lane| lane == j)) {
                (begun[j], ended[j]) = (false, Some(self.end_here(j, Fate::Failed, Some(error.to_string()))));
            }
        }
        for (lane, ended) in ended.iter_mut().enumerate().filter(|(lane, _)| begun[*lane]) {
            *ended = self.tick(lane, open);
        }
        let (t, width) = (self.run.t, self.width);
        for (k, &observable) in self.ensemble.observed.iter().enumerate() {
            let (RunLoop { motion, block, .. }, mut values) = (&mut self.run, [f64::NAN; LANES]);
            // Where it cannot be computed it is NaN.
            let _ = motion.plain().observe(observable, &t[..width], block.values(), &mut values[..width]);
            for lane in (0..width).filter(|&lane| begun[lane]) {
                if let Some(Running { index, .. }) = self.lanes[lane] {
                    let (chunk, row) = open.row(index);
                    chunk.before_row(row)[k] = values[lane];
                }
            }
        }
        for lane in (0..width).filter(|&lane| begun[lane]) {
            self.sample_here(lane, open);
            if self.run.is_over(lane) && ended[lane].is_none() {
                ended[lane] = Some(self.end_here(lane, Fate::Complete, None));
            }
        }
        self.release(ended, open);
    }

    /// One step of all lanes.
    fn advance(&mut self, open: &mut OpenChunks<'_>) -> Result<(), RunError> {
        let sampled = !self.times.is_empty();
        if !(self.run.has_failed() || self.detector.is_on() || self.run.ticks.any() || sampled) {
            self.run.take();
            if !self.run.any_over() {
                return Ok(());
            }
            // A lane that rests was over before.
            return self.finish([const { None }; LANES], open);
        }
        let mut ended = [const { None }; LANES];
        for (lane, ended) in ended.iter_mut().enumerate().take(self.width) {
            if let Some(error) = self.run.failure(lane) {
                *ended = Some(self.end_here(lane, Fate::Failed, Some(error.to_string())));
            }
        }
        let due = |lane: usize| self.run.is_taken(lane) && self.next_sample(lane).is_some();
        if self.detector.is_on() || (0..self.width).any(due) {
            self.look_into(&mut ended, open)?;
        }
        self.run.take();
        self.restart(&mut ended, open);
        for (lane, ended) in ended.iter_mut().enumerate().take(self.width) {
            if self.run.is_taken(lane) && ended.is_none() {
                *ended = self.tick(lane, open);
                if ended.is_some() {
                    self.sample_here(lane, open);
                    self.run.decline(lane);
                }
            }
        }
        self.finish(ended, open)
    }

    /// Lets a lane go on behind a reset; returns the event that happens there without end.
    fn begin_anew(
        &mut self,
        lane: usize,
        restart: &Restart,
        open: &mut OpenChunks<'_>,
    ) -> Result<Option<usize>, RunError> {
        let (stuck, more) = self.detector.begin_anew(&mut self.run, lane, restart)?;
        more.into_iter().for_each(|crossing| self.write(lane, crossing, open));
        Ok(stuck)
    }

    /// What ticks where a lane is; returns how that ends it, if it does.
    fn tick(&mut self, lane: usize, open: &mut OpenChunks<'_>) -> Option<(Fate, Option<String>)> {
        let failed = |error: RunError| (Fate::Failed, Some(error.to_string()));
        let ended = match self.detector.tick(&mut self.run, lane) {
            Ok(None) => return None,
            Ok(Some((restart, crossings))) => {
                crossings.into_iter().for_each(|crossing| self.write(lane, crossing, open));
                let terminal = restart.hits.iter().find(|hit| hit.terminal).map(|hit| hit.event);
                let begun = self.begin_anew(lane, &restart, open);
                begun.map(|stuck| terminal.or(stuck).map(|event| (Fate::Event(event), None)))
            }
            Err(error) => Err(error),
        };
        let (fate, why) = ended.map_err(failed).unwrap_or_else(Some)?;
        Some(self.end_here(lane, fate, why))
    }

    /// Lanes in which something was reset begin there.
    fn restart(&mut self, ended: &mut Ended, open: &mut OpenChunks<'_>) {
        for (lane, ended) in ended.iter_mut().enumerate().take(self.width) {
            let Some(restart) = self.restarts[lane].take() else { continue };
            let terminal = restart.hits.iter().find(|hit| hit.terminal).map(|hit| hit.event);
            let begun = self.begin_anew(lane, &restart, open);
            *ended = match begun {
                Err(error) => Some(self.end_here(lane, Fate::Failed, Some(error.to_string()))),
                Ok(stuck) => terminal.or(stuck).map(|event| self.end_here(lane, Fate::Event(event), None)),
            };
            if ended.is_some() {
                // It ends at a time at which a sample may be due.
                self.sample_here(lane, open);
                self.run.decline(lane);
            }
        }
    }

    /// Frees lanes that have come to the end, and those that have ended before.
    fn finish(&mut self, mut ended: Ended, open: &mut OpenChunks<'_>) -> Result<(), RunError> {
        for (lane, ended) in ended.iter_mut().enumerate().take(self.width) {
            if self.run.is_taken(lane) && ended.is_none() {
                self.sample_here(lane, open);
                if self.run.is_over(lane) {
                    *ended = Some(self.end_here(lane, Fate::Complete, None));
                }
            }
        }
        self.release(ended, open);
        Ok(())
    }

    /// Samples and events within the proposed step, lane by lane in the order of time.
    fn look_into(&mut self, ended: &mut Ended, open: &mut OpenChunks<'_>) -> Result<(), RunError> {
        self.run.interpolate()?;
        let suspects =
            if self.detector.is_on() { self.detector.suspects(&mut self.run)? } else { [false; LANES] };
        for lane in 0..self.width {
            if !self.run.is_taken(lane) {
                continue;
            }
            self.detector.clear();
            if suspects[lane] {
                self.detector.detect(&mut self.run, lane)?;
            }
            let (t, end) = (self.run.t[lane], self.run.end_of(lane));
            while ended[lane].is_none() {
                let next = self.detector.next(self.next_sample(lane), [t, end]);
                let Some(Instant { tau, t: time, event }) = next else { break };
                self.run.inside(lane, tau, time, &mut self.inside)?;
                let Some(hit) = event else {
                    self.sample(lane, open);
                    continue;
                };
                if self.ensemble.integrator.events[hit.event].reset().is_some() {
                    self.run.decline(lane);
                    match self.detector.reset(&mut self.run, lane, &self.inside) {
                        Ok((restart, crossings)) => {
                            self.restarts[lane] = Some(restart);
                            crossings.into_iter().for_each(|crossing| self.write(lane, crossing, open));
                        }
                        Err(error) => {
                            self.put_final(lane, time, true);
                            ended[lane] = Some((Fate::Failed, Some(error.to_string())));
                        }
                    }
                    break;
                }
                self.detector.pass();
                self.record(lane, time, hit, open);
                if hit.terminal {
                    self.put_final(lane, time, true);
                    self.run.decline(lane);
                    ended[lane] = Some((Fate::Event(hit.event), None));
                }
            }
        }
        Ok(())
    }

    /// The next sample of a lane, if it comes before the proposed step ends.
    fn next_sample(&self, lane: usize) -> Option<f64> {
        let time = *self.times.get(self.lanes[lane]?.sampled)?;
        let (end, forward) = (self.run.end_of(lane), self.ensemble.end >= self.ensemble.start);
        let end = end - self.run.slack(end);
        (if forward { time < end } else { time > end }).then_some(time)
    }

    /// Writes the state of a lane within the step as its next sample.
    fn sample(&mut self, lane: usize, open: &mut OpenChunks<'_>) {
        let Some(running) = &mut self.lanes[lane] else {
            unreachable!("lane {lane} runs where it is sampled")
        };
        let (chunk, row) = open.row(running.index);
        read_lane(&self.inside, lane, self.width, chunk.sample_row(row, running.sampled));
        running.sampled += 1;
    }

    /// Takes a sample where a lane is, if it is due.
    fn sample_here(&mut self, lane: usize, open: &mut OpenChunks<'_>) {
        let due = self.lanes[lane].and_then(|running| self.times.get(running.sampled));
        let t = self.run.t[lane];
        if due.is_some_and(|due| (due - t).abs() <= self.run.slack(t)) {
            self.inside.copy_from_slice(self.run.block.values());
            self.sample(lane, open);
        }
    }

    /// Writes down an event, with the state within the step.
    fn record(&self, lane: usize, t: f64, hit: Hit, open: &mut OpenChunks<'_>) {
        let mut state = vec![0.0; self.run.block.dimension()];
        read_lane(&self.inside, lane, self.width, &mut state);
        let state = State::from_block(t, &state, self.start_dynamics.system().degrees());
        let Hit { event, rising, .. } = hit;
        self.write(lane, Crossing { event, t, rising, state, after: None, finally: false }, open);
    }

    fn write(&self, lane: usize, crossing: Crossing, open: &mut OpenChunks<'_>) {
        let Some(running) = self.lanes[lane] else { unreachable!("lane {lane} runs where an event happens") };
        open.row(running.index).0.crossings.push((running.index, crossing));
    }

    /// A lane ends where it is.
    fn end_here(&mut self, lane: usize, fate: Fate, why: Option<String>) -> (Fate, Option<String>) {
        self.put_final(lane, self.run.t[lane], false);
        (fate, why)
    }

    /// The state that a lane ends with: where it is, or within the step.
    fn put_final(&mut self, lane: usize, t: f64, inside: bool) {
        let from = if inside { &self.inside } else { self.run.block.values() };
        for place in (lane..from.len()).step_by(self.width) {
            self.finals[place] = from[place];
        }
        self.final_times[lane] = t;
    }

    /// Tells what became of trajectories that have ended, and frees their lanes.
    fn release(&mut self, mut ended: Ended, open: &mut OpenChunks<'_>) {
        if ended.iter().all(Option::is_none) {
            return;
        }
        let width = self.width;
        for (k, &observable) in self.ensemble.observed.iter().enumerate() {
            let (dynamics, mut values) = (self.run.motion.plain(), [f64::NAN; LANES]);
            let times = &self.final_times[..width];
            // Where it cannot be computed it is NaN.
            let _ = dynamics.observe(observable, times, &self.finals, &mut values[..width]);
            for lane in (0..width).filter(|&lane| ended[lane].is_some()) {
                if let Some(Running { index, .. }) = self.lanes[lane] {
                    let (chunk, row) = open.row(index);
                    chunk.after_row(row)[k] = values[lane];
                }
            }
        }
        for lane in 0..width {
            let Some((fate, why)) = ended[lane].take() else { continue };
            let Some(Running { index, .. }) = self.lanes[lane].take() else { continue };
            let (chunk, row) = open.row(index);
            read_lane(&self.finals, lane, width, chunk.end_row(row));
            (chunk.times[row], chunk.steps[row]) = (self.final_times[lane], self.run.accepted(lane));
            open.close(index, fate, why);
            self.run.rest(lane);
            self.free = true;
        }
    }

    /// Runs the trajectories of a group whose step has failed one by one, as the step may have left its marks in lanes that are good.
    fn run_one_by_one(
        &mut self,
        error: &RunError,
        starts: &dyn Starts,
        open: &mut OpenChunks<'_>,
    ) -> Result<(), RunError> {
        if self.width == 1 {
            let mut ended = [const { None }; LANES];
            ended[0] = Some(self.end_here(0, Fate::Failed, Some(error.to_string())));
            self.release(ended, open);
            return Ok(());
        }
        let mut indices = Vec::new();
        for lane in 0..self.width {
            if let Some(Running { index, .. }) = self.lanes[lane].take() {
                indices.push(index);
                let (chunk, row) = open.row(index);
                chunk.forget(row);
            }
            self.run.rest(lane);
        }
        self.free = true;
        let (mut dynamics, mut indices) = (self.start_dynamics.clone(), indices.into_iter());
        dynamics.set_parameters(&self.parameters)?;
        let mut alone = LaneGroup::new(self.ensemble, &mut dynamics, 1, self.times)?;
        alone.run_stepwise(starts, open, &mut |_, _| indices.next())
    }
}

/// How trajectories have ended, by lanes; and why, if they failed.
type Ended = [Option<(Fate, Option<String>)>; LANES];

/// Copies the state of a lane.
fn read_lane(block: &[f64], lane: usize, width: usize, state: &mut [f64]) {
    state.iter_mut().zip(block.iter().skip(lane).step_by(width)).for_each(|(to, from)| *to = *from);
}
