//! Running: from a start or a checkpoint to an end, with samples and events on the way.

use super::{Integrator, Moment, Reason, Sample};
use crate::block::Block;
use crate::card::{Card, Keeps};
use crate::error::{CheckpointError, Failed, RunError};
use crate::method::ALL;
use crate::pace::Pace;
use crate::run::End;
use crate::run::balance::Balancing;
use crate::run::checkpoint::Checkpoint;
use crate::run::event::{Crossing, Event, EventDetector, Hit, Instant};
use crate::run::schedule::{Output, Schedule};
use crate::run_loop::RunLoop;
use crate::run_loop::reset::{Resets, Restart};
use crate::run_loop::ticks::Ticks;
use crate::trajectory::Trajectory;
use leastaction_compile::LANES;
use leastaction_mechanics::{Dynamics, EvalError, Facts, State};
use std::ops::ControlFlow;

impl Integrator {
    /// Runs from a start to an end time, and keeps the samples.
    ///
    /// # Errors
    /// [`Failed`] says why the run cannot begin, or where it failed, and has the samples until then.
    pub fn run(&self, dynamics: &mut Dynamics, start: &State, end: f64) -> Result<Trajectory, Failed> {
        self.run_watched(dynamics, start, end, |_| ControlFlow::Continue(()))
    }

    /// Runs, keeps the samples, and shows each step to a caller who may report progress, write checkpoints, or break off. What was
    /// computed until then is kept, and the last sample is where the run was left.
    ///
    /// # Errors
    /// As [`Integrator::run`].
    pub fn run_watched(
        &self,
        dynamics: &mut Dynamics,
        start: &State,
        end: f64,
        watch: impl FnMut(&mut Moment<'_, '_>) -> ControlFlow<()>,
    ) -> Result<Trajectory, Failed> {
        let block = Block::one(&start.block());
        let trajectory = Trajectory::with_room(dynamics.system(), self.samples_between(start.t, end)?)?;
        let run = self.run_loop(dynamics, start.t, block, end)?;
        self.record(run, trajectory, watch)
    }

    /// Goes on with a run where it was left. Samples begin after the checkpoint.
    ///
    /// # Errors
    /// As [`Integrator::run`]; and if the checkpoint is not of a run of this integrator, with this system and these parameters.
    pub fn resume(&self, dynamics: &mut Dynamics, from: &Checkpoint) -> Result<Trajectory, Failed> {
        self.resume_watched(dynamics, from, |_| ControlFlow::Continue(()))
    }

    /// Goes on with a run where it was left, watched over as by [`Integrator::run_watched`].
    ///
    /// # Errors
    /// As [`Integrator::resume`].
    pub fn resume_watched(
        &self,
        dynamics: &mut Dynamics,
        from: &Checkpoint,
        watch: impl FnMut(&mut Moment<'_, '_>) -> ControlFlow<()>,
    ) -> Result<Trajectory, Failed> {
        let (system, parameters) = (dynamics.system().clone(), dynamics.parameters().to_vec());
        from.check(&system, &parameters).map_err(RunError::from)?;
        if from.method != self.card.name || from.pace != self.pace || from.width != 1 {
            let expected = format!("{} with {}", self.card.name, self.pace);
            let found = format!("{} with {} in {} lanes", from.method, from.pace, from.width);
            return Err(RunError::from(CheckpointError::Integrator { expected, found }).into());
        }
        let trajectory = Trajectory::with_room(&system, self.samples_between(from.t(), from.end)?)?;
        let block = Block::one(&vec![0.0; system.dimension()]);
        let mut run = self.run_loop(dynamics, from.start, block, from.end)?;
        from.restore(&mut run).map_err(RunError::from)?;
        run.fix_all_branches()?;
        self.record(run, trajectory, watch)
    }

    pub(crate) fn run_loop<'d>(
        &self,
        dynamics: &'d mut Dynamics,
        start: f64,
        block: Block,
        end: f64,
    ) -> Result<RunLoop<'d>, RunError> {
        self.check_keeping(dynamics.system().facts())?;
        let limits = self.limits(self.limit);
        self.check_resets(start, end)?;
        let mut run = RunLoop::new(self.card, &self.pace, limits, dynamics, start, block, end)?;
        run.resets = Resets::new(&self.events);
        run.ticks = Ticks::new(&self.events, start, self.ticking_since);
        run.begin(&[true; LANES][..run.block.width()])?;
        Ok(run)
    }

    /// Refuses resets on the way back.
    pub(crate) fn check_resets(&self, start: f64, end: f64) -> Result<(), RunError> {
        let reset = self.events.iter().find_map(Event::reset).filter(|_| end < start);
        reset.map_or(Ok(()), |reset| Err(RunError::ResetBack { event: reset.event().to_owned() }))
    }

    /// Whether all that is demanded is kept by method and pace, and is there to be kept.
    pub(crate) fn check_keeping(&self, facts: &Facts) -> Result<(), RunError> {
        for &what in &self.keeping {
            let lost = match self.pace {
                Pace::Step(_) => false,
                Pace::Density(_) => what == Keeps::Symplectic,
                Pace::Tolerance(_) => matches!(what, Keeps::Symplectic | Keeps::Reversible),
            };
            if lost {
                return Err(RunError::LostByPace { what, pace: self.pace.to_string() });
            }
            if !what.is_there(facts) {
                return Err(RunError::NothingToKeep { what });
            }
            let keeps = |card: &Card| card.kept_in(facts).any(|kept| kept == what);
            if !keeps(self.card) {
                let fits = |card: &Card| keeps(card) && card.needs.met_by(facts);
                let instead = ALL.iter().find(|card| fits(card)).map(|card| card.name);
                return Err(RunError::NotKept { method: self.card.name, what, instead });
            }
        }
        Ok(())
    }

    fn record(
        &self,
        mut run: RunLoop<'_>,
        trajectory: Trajectory,
        watch: impl FnMut(&mut Moment<'_, '_>) -> ControlFlow<()>,
    ) -> Result<Trajectory, Failed> {
        self.record_with(&mut run, trajectory, watch, |_| Ok(()), |_| {})
    }

    /// Keeps the samples of a run, and shows every step that is proposed, and every sample.
    pub(crate) fn record_with(
        &self,
        run: &mut RunLoop<'_>,
        mut trajectory: Trajectory,
        watch: impl FnMut(&mut Moment<'_, '_>) -> ControlFlow<()>,
        proposed: impl FnMut(&mut RunLoop<'_>) -> Result<(), RunError>,
        mut shown: impl FnMut(&Sample<'_>),
    ) -> Result<Trajectory, Failed> {
        let mut balance = self.balanced.then(|| Balancing::new(run));
        let driven = self.drive(run, watch, proposed, &mut balance, |sample| {
            shown(&sample);
            if let Some(hit) = sample.event {
                trajectory.cross(hit, sample.t, sample.block.values(), sample.after);
            }
            // An event may end the run at the very time of the last sample.
            let last =
                sample.event.is_some_and(|hit| hit.terminal) && trajectory.times().last() != Some(&sample.t);
            if sample.event.is_none() || last {
                match sample.after {
                    Some(after) => trajectory.push(sample.t, &after.block()),
                    None => trajectory.push(sample.t, sample.block.values()),
                }
            }
            Ok(ControlFlow::Continue(()))
        });
        let driven = match driven {
            Err(error) if trajectory.is_empty() && run.count() == 0 => return Err(error.into()),
            driven => driven,
        };
        let reached = run.times()[0];
        let cut = driven
            .as_ref()
            .map_or(true, |reason| matches!(reason, Reason::Interrupted | Reason::Accumulated(_)));
        if cut && trajectory.times().last() != Some(&reached) {
            trajectory.push(reached, run.block.values());
        }
        trajectory.work = run.motion.work();
        trajectory.density = run.density();
        trajectory.balance = balance.and_then(Balancing::done);
        trajectory.checkpoint = Some(Checkpoint::of(run, &self.pace));
        match driven {
            Ok(reason) => {
                trajectory.reason = reason;
                Ok(trajectory)
            }
            Err(error) => {
                trajectory.reason = Reason::Interrupted;
                Err(Failed { error, trajectory: Some(Box::new(trajectory)) })
            }
        }
    }

    /// Runs from a start to an end time, and shows an observer the samples. The observer may break off.
    ///
    /// # Errors
    /// [`RunError`] says why the run cannot begin, or where it failed.
    pub fn observe(
        &self,
        dynamics: &mut Dynamics,
        start: &State,
        end: f64,
        observer: impl FnMut(Sample<'_>) -> Result<ControlFlow<()>, EvalError>,
    ) -> Result<End, RunError> {
        self.march(dynamics, start.t, &mut Block::one(&start.block()), end, observer)
    }

    /// Advances a block of one state, or of eight, from a time to another, and shows an observer the samples.
    ///
    /// # Errors
    /// [`RunError`] says why the run cannot begin, or where it failed; the block is then as it was after the last good step.
    pub fn march(
        &self,
        dynamics: &mut Dynamics,
        start: f64,
        block: &mut Block,
        end: f64,
        observer: impl FnMut(Sample<'_>) -> Result<ControlFlow<()>, EvalError>,
    ) -> Result<End, RunError> {
        let mut run = self.run_loop(dynamics, start, block.clone(), end)?;
        let driven = self.drive(&mut run, |_| ControlFlow::Continue(()), |_| Ok(()), &mut None, observer);
        block.clone_from(&run.block);
        Ok(End { reason: driven?, t: run.times()[0], work: run.motion.work() })
    }

    /// The loop: propose a step, look into it, take it.
    fn drive(
        &self,
        run: &mut RunLoop<'_>,
        mut watch: impl FnMut(&mut Moment<'_, '_>) -> ControlFlow<()>,
        mut proposed: impl FnMut(&mut RunLoop<'_>) -> Result<(), RunError>,
        balance: &mut Option<Balancing>,
        mut observer: impl FnMut(Sample<'_>) -> Result<ControlFlow<()>, EvalError>,
    ) -> Result<Reason, RunError> {
        let mut schedule = self.schedule(run)?;
        if !self.events.is_empty() && run.block.width() > 1 {
            return Err(RunError::EventsInLanes);
        }
        let mut detector = EventDetector::new(&self.events, run);
        if !(run.resets.any() && run.count() > 0) {
            detector.begin(run, &[true])?;
        }
        let mut inside = run.block.clone();
        loop {
            if let Some(ticked) = detector.tick(run, 0)? {
                let ended = Integrator::begin_anew(&detector, run, None, ticked, balance, &mut observer)?;
                if let Some(reason) = ended {
                    return Ok(reason);
                }
            }
            let (step, t) = (run.count(), run.times()[0]);
            let slack = run.slack(t);
            if run.is_on_grid()
                && let Some(t) = schedule.due(step, t, slack, run.is_done())
            {
                let (block, dynamics) = (&run.block, run.motion.plain());
                if observer(Sample { step, t, event: None, within: None, after: None, block, dynamics })?
                    .is_break()
                {
                    return Ok(if run.is_done() { Reason::Complete } else { Reason::Interrupted });
                }
            }
            if run.is_done() {
                return Ok(Reason::Complete);
            }
            if watch(&mut Moment { run, pace: &self.pace }).is_break() {
                return Ok(Reason::Interrupted);
            }
            run.propose()?;
            proposed(run)?;
            let end = run.end_of(0);
            let sampled = end - run.slack(end);
            if detector.is_on() || schedule.next_before(sampled).is_some() {
                run.interpolate()?;
            }
            if detector.is_on() {
                detector.detect(run, 0)?;
            }
            // Samples and events of the step, in the order of time.
            let mut restart = None;
            while let Some(Instant { tau, t: time, event }) =
                detector.next(schedule.next_before(sampled), [t, end])
            {
                run.inside(0, tau, time, inside.values_mut())?;
                if event.is_some_and(|hit| self.events[hit.event].reset().is_some()) {
                    restart = Some((tau, detector.reset(run, 0, inside.values())?));
                    break;
                }
                let (block, dynamics) = (&inside, run.motion.plain());
                let sample = Sample { step, t: time, event, within: Some(tau), after: None, block, dynamics };
                if observer(sample)?.is_break() {
                    return Ok(Reason::Interrupted);
                }
                match event {
                    None => schedule.pass(),
                    Some(hit) if hit.terminal => {
                        balance.as_mut().map_or(Ok(()), |balance| balance.add(run, tau))?;
                        return Ok(Reason::Event(hit.event));
                    }
                    Some(_) => detector.pass(),
                }
            }
            let Some((tau, reset)) = restart else {
                balance.as_mut().map_or(Ok(()), |balance| balance.add(run, 1.0))?;
                run.take();
                continue;
            };
            balance.as_mut().map_or(Ok(()), |balance| balance.add(run, tau))?;
            if let Some(reason) =
                Integrator::begin_anew(&detector, run, Some(tau), reset, balance, &mut observer)?
            {
                return Ok(reason);
            }
        }
    }

    /// Shows what is reset at a time, at a part of the next step or between steps, and goes on from there; returns why the run ends, if it does.
    fn begin_anew(
        detector: &EventDetector<'_>,
        run: &mut RunLoop<'_>,
        within: Option<f64>,
        (restart, crossings): (Restart, Vec<Crossing>),
        balance: &mut Option<Balancing>,
        observer: &mut impl FnMut(Sample<'_>) -> Result<ControlFlow<()>, EvalError>,
    ) -> Result<Option<Reason>, RunError> {
        let (step, mut broken_off) = (run.count(), false);
        for (hit, crossing) in restart.hits.iter().zip(&crossings) {
            let block = Block::one(&crossing.state.block());
            let (event, after, dynamics) = (Some(*hit), crossing.after.as_ref(), run.motion.plain());
            let sample = Sample { step, t: restart.t, event, within, after, block: &block, dynamics };
            broken_off |= observer(sample)?.is_break();
        }
        let terminal = restart.hits.iter().find(|hit| hit.terminal);
        let (stuck, more) = detector.begin_anew(run, 0, &restart)?;
        if let Some(crossing) = more {
            let block = Block::one(&crossing.state.block());
            let (rising, after, dynamics) = (crossing.rising, crossing.after.as_ref(), run.motion.plain());
            let event = Some(Hit { event: crossing.event, rising, terminal: false, finally: true });
            let sample = Sample { step, t: crossing.t, event, within, after, block: &block, dynamics };
            broken_off |= observer(sample)?.is_break();
        }
        if let Some(balance) = balance {
            balance.begin_anew(run);
        }
        Ok(match (terminal, stuck) {
            _ if broken_off => Some(Reason::Interrupted),
            (Some(hit), _) => Some(Reason::Event(hit.event)),
            (None, Some(event)) => Some(Reason::Accumulated(event)),
            (None, None) => None,
        })
    }

    fn schedule(&self, run: &RunLoop<'_>) -> Result<Schedule<'_>, RunError> {
        let (start, now, end) = (run.start, run.times()[0], run.end);
        let apart = !matches!(self.pace, Pace::Step(_)) && run.block.width() > 1;
        if apart && self.output != Output::Every(u64::MAX) {
            return Err(RunError::LanesApart);
        }
        // A run that goes on has shown the sample where it was left.
        let seen = (run.count() > 0).then_some(now);
        Schedule::new(&self.output, start, end, seen)
    }

    /// About how many samples a run will have.
    pub(crate) fn samples_between(&self, start: f64, end: f64) -> Result<u64, RunError> {
        Ok(match &self.output {
            Output::Every(k) => self.grid(start, end)?.map_or(0, |grid| grid.steps.div_ceil(*k) + 1),
            Output::Times(times) => times.len() as u64,
            Output::Spaced(spacing) => match ((end - start) / spacing).abs() {
                count if count < 1e15 => count as u64 + 2,
                // Samples that never come to an end are refused by their spacing.
                _ => 0,
            },
        })
    }
}
