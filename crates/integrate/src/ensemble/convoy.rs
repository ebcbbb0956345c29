//! A convoy: trajectories side by side in lanes, each at its own time. Lanes are filled again as they come to their ends.

use super::chunk::Fate;
use super::desk::Desk;
use super::{Ensemble, Launch, Starts};
use crate::block::Block;
use crate::course::{Course, component_name};
use crate::error::RunError;
use crate::run::event::{Crossing, Hit, Lookout};
use leastaction_compile::LANES;
use leastaction_mechanics::{Dynamics, State};

/// Whether to stop is asked every so many steps.
const LISTEN: u32 = 64;

/// Lanes with trajectories in them.
pub(super) struct Convoy<'e, 'd> {
    ensemble: &'e Ensemble,
    course: Course<'d>,
    lookout: Lookout<'e>,
    /// When samples are taken.
    times: &'e [f64],
    /// Which trajectory is in each lane, and how many samples it has given.
    lanes: [Option<Passenger>; LANES],
    width: usize,
    /// Whether a lane may be free.
    free: bool,
    /// Where starts are computed, with which parameters, and the last of them.
    cradle: Dynamics,
    parameters: Vec<f64>,
    launch: Launch,
    /// States within a step, and those that trajectories end with.
    inside: Vec<f64>,
    finals: Vec<f64>,
    final_times: [f64; LANES],
    steps: u32,
}

#[derive(Clone, Copy)]
struct Passenger {
    index: u64,
    sampled: usize,
}

/// Where the numbers of trajectories come from.
pub(super) type Next<'n, 'a> = dyn FnMut(&mut Desk<'a>, bool) -> Option<u64> + 'n;

impl<'e, 'd> Convoy<'e, 'd> {
    pub(super) fn new(
        ensemble: &'e Ensemble,
        dynamics: &'d mut Dynamics,
        width: usize,
        times: &'e [f64],
    ) -> Result<Convoy<'e, 'd>, RunError> {
        let Ensemble { integrator, start, end, .. } = ensemble;
        integrator.check_keeping(dynamics.system().facts())?;
        let (cradle, parameters) = (dynamics.clone(), dynamics.parameters().to_vec());
        let zeros = vec![0.0; dynamics.system().dimension()];
        let launch = Launch { state: zeros.clone(), parameters: parameters.clone() };
        let block = if width == 1 { Block::one(&zeros) } else { Block::lanes([&zeros; LANES]) };
        let mut limits = integrator.limits(integrator.limit);
        // One run may be too short for that, but not all of them.
        limits.compiled = limits.compiled.or((width == LANES).then_some(true));
        let len = block.values().len();
        let mut course =
            Course::new(integrator.card, &integrator.pace, limits, dynamics, *start, block, *end)?;
        (0..width).for_each(|lane| course.rest(lane));
        Ok(Convoy {
            ensemble,
            lookout: Lookout::new(&integrator.events, &course),
            course,
            times,
            lanes: [None; LANES],
            width,
            free: true,
            cradle,
            parameters,
            launch,
            inside: vec![0.0; len],
            finals: vec![0.0; len],
            final_times: [*end; LANES],
            steps: 0,
        })
    }

    /// Runs trajectories until there are no more.
    pub(super) fn sail<'a>(
        &mut self,
        starts: &dyn Starts,
        desk: &mut Desk<'a>,
        next: &mut Next<'_, 'a>,
    ) -> Result<(), RunError> {
        loop {
            self.fill(starts, desk, next, true);
            if self.is_empty() || self.is_stopped(desk) {
                return Ok(());
            }
            let proposed = self.course.propose_each();
            self.conclude(proposed, starts, desk)?;
        }
    }

    /// Whether trajectories can be run in strides: what happens within steps, those do not tell.
    pub(super) fn can_stride(&self) -> bool {
        self.width == LANES && !self.lookout.is_on() && self.times.is_empty() && self.course.can_stride()
    }

    /// Runs trajectories in strides until there are no more, in one convoy or two that can.
    pub(super) fn stride<'a>(
        convoys: &mut [Convoy<'e, 'd>],
        starts: &dyn Starts,
        desk: &mut Desk<'a>,
        next: &mut Next<'_, 'a>,
    ) -> Result<(), RunError> {
        let (blocks, mut out) = (convoys.len(), [false; 2]);
        let Some(first) = convoys.first_mut() else { return Ok(()) };
        let Some(mut stride) = first.course.stride(blocks)? else { return first.sail(starts, desk, next) };
        loop {
            for block in 0..blocks {
                let alone = convoys.iter().enumerate().all(|(k, other)| k == block || other.is_empty());
                let (convoy, out) = (&mut convoys[block], &mut out[block]);
                if *out && convoy.free {
                    convoy.course.come_in(&stride, block);
                    *out = false;
                }
                while !*out {
                    convoy.fill(starts, desk, next, alone);
                    match convoy.course.set_out(&mut stride, block) {
                        Ok(()) => *out = true,
                        Err(error) => convoy.dissolve(&error.into(), starts, desk)?,
                    }
                }
                stride.follow(block, convoy.course.motion.dynamics());
            }
            if convoys.iter().all(Convoy::is_empty) || desk.is_stopped() {
                return Ok(());
            }
            let steps = stride.run(LISTEN)?;
            for (block, convoy) in convoys.iter_mut().enumerate() {
                convoy.course.count_in(&stride, steps);
                if stride.is_halted(block) {
                    out[block] = false;
                    let stuck = convoy.course.come_in(&stride, block);
                    convoy.land([const { None }; LANES], desk)?;
                    if stuck {
                        let proposed = convoy.course.propose_each();
                        convoy.conclude(proposed, starts, desk)?;
                    }
                }
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.lanes.iter().all(Option::is_none)
    }

    /// Whether to stop, asked now and then.
    fn is_stopped(&mut self, desk: &Desk<'_>) -> bool {
        self.steps = self.steps.wrapping_add(1);
        self.steps.is_multiple_of(LISTEN) && desk.is_stopped()
    }

    /// Takes the steps that are proposed.
    fn conclude(
        &mut self,
        proposed: Result<(), RunError>,
        starts: &dyn Starts,
        desk: &mut Desk<'_>,
    ) -> Result<(), RunError> {
        match proposed.and_then(|()| self.advance(desk)) {
            Ok(()) => Ok(()),
            Err(error) => self.dissolve(&error, starts, desk),
        }
    }

    /// Puts trajectories into lanes that are free. Who is alone and has nothing else to do waits for some.
    fn fill<'a>(&mut self, starts: &dyn Starts, desk: &mut Desk<'a>, next: &mut Next<'_, 'a>, alone: bool) {
        while self.free {
            let mut begun = [false; LANES];
            self.free = false;
            for lane in 0..self.width {
                while self.lanes[lane].is_none() {
                    let idle = alone && self.is_empty();
                    let Some(index) = next(desk, idle) else {
                        // There may be one later.
                        self.free = true;
                        break;
                    };
                    match self.board(lane, index, starts) {
                        Ok(()) => {
                            if let Some((chunk, row)) = desk.row(index) {
                                chunk.start_row(row).copy_from_slice(&self.launch.state);
                            }
                            self.lanes[lane] = Some(Passenger { index, sampled: 0 });
                            begun[lane] = true;
                        }
                        Err(why) => desk.close(index, Fate::Failed, Some(why)),
                    }
                }
            }
            if begun.contains(&true) {
                self.begin(begun, desk);
            }
            // Where all end as they begin, there may be more to run.
            if !(begun.contains(&true) && self.is_empty()) {
                return;
            }
        }
    }

    /// Puts the start of a trajectory into a lane.
    fn board(&mut self, lane: usize, index: u64, starts: &dyn Starts) -> Result<(), String> {
        self.launch.state.fill(0.0);
        self.launch.parameters.clone_from(&self.parameters);
        let launched = starts.launch(index, &mut self.cradle, &mut self.launch);
        launched.map_err(|error| error.to_string())?;
        let (state, system) = (&self.launch.state, self.course.motion.system());
        if state.len() != system.dimension() {
            let (expected, found) = (system.dimension(), state.len());
            return Err(RunError::WrongLength { expected, found }.to_string());
        }
        if let Some(place) = state.iter().position(|y| !y.is_finite()) {
            let (name, value) = (component_name(system, place), state[place]);
            return Err(RunError::BadStart { name, value }.to_string());
        }
        let (dynamics, parameters) = (self.course.motion.dynamics(), &self.launch.parameters);
        let set = match self.width {
            1 if dynamics.parameters() != parameters => dynamics.set_parameters(parameters),
            1 => Ok(()),
            _ if dynamics.parameters_in(lane) != parameters => dynamics.set_parameters_in(lane, parameters),
            _ => Ok(()),
        };
        set.map_err(|error| error.to_string())?;
        self.course.block.set_lane(lane, &self.launch.state);
        Ok(())
    }

    /// Begins in lanes that have new trajectories.
    fn begin(&mut self, mut begun: [bool; LANES], desk: &mut Desk<'_>) {
        let mut ended = [const { None }; LANES];
        while begun.contains(&true) {
            let lanes = &begun[..self.width];
            let started = self.course.begin(lanes).and_then(|()| self.lookout.begin(&mut self.course, lanes));
            let Err(error) = started else { break };
            let lane = error.lane().filter(|&lane| begun[lane]);
            let new = begun;
            for j in (0..self.width).filter(|&j| new[j] && lane.is_none_or(|lane| lane == j)) {
                (begun[j], ended[j]) = (false, Some(self.arrive(j, Fate::Failed, Some(error.to_string()))));
            }
        }
        let (t, width) = (self.course.t, self.width);
        for (k, &observable) in self.ensemble.observed.iter().enumerate() {
            let (Course { motion, block, .. }, mut values) = (&mut self.course, [f64::NAN; LANES]);
            // Where it cannot be computed it is NaN.
            let _ = motion.dynamics().observe(observable, &t[..width], block.values(), &mut values[..width]);
            for lane in (0..width).filter(|&lane| begun[lane]) {
                if let Some((chunk, row)) = self.lanes[lane].and_then(|p| desk.row(p.index)) {
                    chunk.before_row(row)[k] = values[lane];
                }
            }
        }
        for lane in (0..width).filter(|&lane| begun[lane]) {
            self.sample_here(lane, desk);
            if self.course.is_over(lane) {
                ended[lane] = Some(self.arrive(lane, Fate::Complete, None));
            }
        }
        self.disembark(ended, desk);
    }

    /// One step of all lanes.
    fn advance(&mut self, desk: &mut Desk<'_>) -> Result<(), RunError> {
        let sampled = !self.times.is_empty();
        if !(self.course.has_failed() || self.lookout.is_on() || sampled) {
            self.course.take();
            if !self.course.any_over() {
                return Ok(());
            }
            // A lane that rests was over before.
            return self.land([const { None }; LANES], desk);
        }
        let mut ended = [const { None }; LANES];
        for (lane, ended) in ended.iter_mut().enumerate().take(self.width) {
            if let Some(error) = self.course.failure(lane) {
                *ended = Some(self.arrive(lane, Fate::Failed, Some(error.to_string())));
            }
        }
        let due = |lane: usize| self.course.is_taken(lane) && self.next_sample(lane).is_some();
        if self.lookout.is_on() || (0..self.width).any(due) {
            self.look_into(&mut ended, desk)?;
        }
        self.course.take();
        self.land(ended, desk)
    }

    /// Frees lanes that have come to the end, and those that have ended before.
    fn land(&mut self, mut ended: Ended, desk: &mut Desk<'_>) -> Result<(), RunError> {
        for (lane, ended) in ended.iter_mut().enumerate().take(self.width) {
            if self.course.is_taken(lane) && ended.is_none() {
                self.sample_here(lane, desk);
                if self.course.is_over(lane) {
                    *ended = Some(self.arrive(lane, Fate::Complete, None));
                }
            }
        }
        self.disembark(ended, desk);
        Ok(())
    }

    /// Samples and events within the proposed step, lane by lane in the order of time.
    fn look_into(&mut self, ended: &mut Ended, desk: &mut Desk<'_>) -> Result<(), RunError> {
        self.course.weave()?;
        let suspects =
            if self.lookout.is_on() { self.lookout.suspects(&mut self.course)? } else { [false; LANES] };
        for lane in 0..self.width {
            if !self.course.is_taken(lane) {
                continue;
            }
            self.lookout.clear();
            if suspects[lane] {
                self.lookout.look(&mut self.course, lane)?;
            }
            let (t, end) = (self.course.t[lane], self.course.end_of(lane));
            while ended[lane].is_none() {
                let of_sample = self.next_sample(lane).map(|time| ((time - t) / (end - t), time));
                let of_event = self.lookout.next();
                let (tau, time, event) = match (of_sample, of_event) {
                    (Some((tau, time)), hit) if hit.is_none_or(|(at, _)| tau < at) => (tau, time, None),
                    (_, Some((tau, hit))) => (tau, t + tau * (end - t), Some(hit)),
                    (_, None) => break,
                };
                self.course.inside(lane, tau, time, &mut self.inside)?;
                let Some(hit) = event else {
                    self.sample(lane, desk);
                    continue;
                };
                self.lookout.pass();
                self.record(lane, time, hit, desk);
                if hit.terminal {
                    self.put_final(lane, time, true);
                    self.course.decline(lane);
                    ended[lane] = Some((Fate::Event(hit.event), None));
                }
            }
        }
        Ok(())
    }

    /// The next sample of a lane, if it comes before the proposed step ends.
    fn next_sample(&self, lane: usize) -> Option<f64> {
        let time = *self.times.get(self.lanes[lane]?.sampled)?;
        let (end, forward) = (self.course.end_of(lane), self.ensemble.end >= self.ensemble.start);
        (if forward { time < end } else { time > end }).then_some(time)
    }

    /// Writes the state of a lane within the step as its next sample.
    fn sample(&mut self, lane: usize, desk: &mut Desk<'_>) {
        let Some(passenger) = &mut self.lanes[lane] else { return };
        if let Some((chunk, row)) = desk.row(passenger.index) {
            read_lane(&self.inside, lane, self.width, chunk.sample_row(row, passenger.sampled));
        }
        passenger.sampled += 1;
    }

    /// Takes a sample where a lane is, if it is due.
    fn sample_here(&mut self, lane: usize, desk: &mut Desk<'_>) {
        let due = self.lanes[lane].and_then(|passenger| self.times.get(passenger.sampled));
        if due == Some(&self.course.t[lane]) {
            self.inside.copy_from_slice(self.course.block.values());
            self.sample(lane, desk);
        }
    }

    /// Writes down an event, with the state within the step.
    fn record(&self, lane: usize, t: f64, hit: Hit, desk: &mut Desk<'_>) {
        let Some(passenger) = self.lanes[lane] else { return };
        let mut state = vec![0.0; self.course.block.dimension()];
        read_lane(&self.inside, lane, self.width, &mut state);
        let state = State::from_block(t, &state, self.cradle.system().degrees());
        if let Some((chunk, _)) = desk.row(passenger.index) {
            let crossing = Crossing { event: hit.event, t, rising: hit.rising, state };
            chunk.crossings.push((passenger.index, crossing));
        }
    }

    /// A lane ends where it is.
    fn arrive(&mut self, lane: usize, fate: Fate, why: Option<String>) -> (Fate, Option<String>) {
        self.put_final(lane, self.course.t[lane], false);
        (fate, why)
    }

    /// The state that a lane ends with: where it is, or within the step.
    fn put_final(&mut self, lane: usize, t: f64, inside: bool) {
        let from = if inside { &self.inside } else { self.course.block.values() };
        for place in (lane..from.len()).step_by(self.width) {
            self.finals[place] = from[place];
        }
        self.final_times[lane] = t;
    }

    /// Tells what became of trajectories that have ended, and frees their lanes.
    fn disembark(&mut self, mut ended: Ended, desk: &mut Desk<'_>) {
        if ended.iter().all(Option::is_none) {
            return;
        }
        let width = self.width;
        for (k, &observable) in self.ensemble.observed.iter().enumerate() {
            let (dynamics, mut values) = (self.course.motion.dynamics(), [f64::NAN; LANES]);
            let times = &self.final_times[..width];
            // Where it cannot be computed it is NaN.
            let _ = dynamics.observe(observable, times, &self.finals, &mut values[..width]);
            for lane in (0..width).filter(|&lane| ended[lane].is_some()) {
                if let Some((chunk, row)) = self.lanes[lane].and_then(|p| desk.row(p.index)) {
                    chunk.after_row(row)[k] = values[lane];
                }
            }
        }
        for lane in 0..width {
            let Some((fate, why)) = ended[lane].take() else { continue };
            let Some(Passenger { index, .. }) = self.lanes[lane].take() else { continue };
            if let Some((chunk, row)) = desk.row(index) {
                read_lane(&self.finals, lane, width, chunk.end_row(row));
                (chunk.times[row], chunk.steps[row]) = (self.final_times[lane], self.course.made(lane));
            }
            desk.close(index, fate, why);
            self.course.rest(lane);
            self.free = true;
        }
    }

    /// Runs the trajectories of a convoy whose step has failed one by one, as the step may have left its marks in lanes that are good.
    fn dissolve(
        &mut self,
        error: &RunError,
        starts: &dyn Starts,
        desk: &mut Desk<'_>,
    ) -> Result<(), RunError> {
        if self.width == 1 {
            let mut ended = [const { None }; LANES];
            ended[0] = Some(self.arrive(0, Fate::Failed, Some(error.to_string())));
            self.disembark(ended, desk);
            return Ok(());
        }
        let mut indices = Vec::new();
        for lane in 0..self.width {
            if let Some(Passenger { index, .. }) = self.lanes[lane].take() {
                indices.push(index);
                if let Some((chunk, row)) = desk.row(index) {
                    chunk.forget(row);
                }
            }
            self.course.rest(lane);
        }
        self.free = true;
        let (mut dynamics, mut indices) = (self.cradle.clone(), indices.into_iter());
        dynamics.set_parameters(&self.parameters)?;
        let mut alone = Convoy::new(self.ensemble, &mut dynamics, 1, self.times)?;
        alone.sail(starts, desk, &mut |_, _| indices.next())
    }
}

/// How trajectories have ended, by lanes; and why, if they failed.
type Ended = [Option<(Fate, Option<String>)>; LANES];

/// Copies the state of a lane.
fn read_lane(block: &[f64], lane: usize, width: usize, state: &mut [f64]) {
    state.iter_mut().zip(block.iter().skip(lane).step_by(width)).for_each(|(to, from)| *to = *from);
}
