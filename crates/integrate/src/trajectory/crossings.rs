//! What happened along a trajectory: events, and what they set.

use super::{Trajectory, energy_at, observed};
use crate::integrator::Reason;
use crate::run::event::{Crossing, Hit};
use leastaction_mechanics::{Dynamics, EvalError, Observable, State};

impl Trajectory {
    pub(crate) fn cross(&mut self, hit: Hit, t: f64, block: &[f64], after: Option<&State>) {
        let (state, after) = (State::from_block(t, block, self.degrees), after.cloned());
        let Hit { event, rising, finally, .. } = hit;
        self.crossings.push(Crossing { event, t, rising, state, after, finally });
    }

    /// The events that happened, in the order of the run.
    #[must_use]
    pub fn crossings(&self) -> &[Crossing] {
        &self.crossings
    }

    /// The events that set numbers anew, in the order of the run: the states before and after each.
    pub fn resets(&self) -> impl Iterator<Item = (&State, &State)> {
        self.crossings.iter().filter_map(|crossing| Some((&crossing.state, crossing.after.as_ref()?)))
    }

    /// The resets that the first sample does not show: ticks at the start come before it, and events at the start after it.
    fn resets_since(&self) -> impl Iterator<Item = (&State, &State)> {
        let first = self.state(0);
        let shows = |after: &State| first.as_ref().is_some_and(|first| first == after);
        let seen =
            self.resets().take_while(|(before, _)| first.as_ref().is_some_and(|first| before.t == first.t));
        let seen = seen.enumerate().filter(|(_, (_, after))| shows(after)).last().map_or(0, |(i, _)| i + 1);
        self.resets().skip(seen)
    }

    /// When the event that [accumulates](Reason::Accumulated) would have happened without end, by the last times between: they shrink by one ratio.
    #[must_use]
    pub fn accumulation(&self) -> Option<f64> {
        let Reason::Accumulated(event) = self.reason else { return None };
        self.accumulation_of(event, self.crossings.len())
    }

    /// Where the first so many crossings of an event accumulate.
    fn accumulation_of(&self, event: usize, until: usize) -> Option<f64> {
        let own = self.crossings[..until].iter().rev().filter(|crossing| crossing.event == event);
        let mut times = own.take_while(|crossing| !crossing.finally).map(|crossing| crossing.t);
        let [last, before, first] = [times.next()?, times.next()?, times.next()?];
        let (interval, ratio) = (last - before, (last - before) / (before - first));
        Some(last + if ratio < 1.0 { interval * ratio / (1.0 - ratio) } else { 0.0 })
    }

    /// From when on an event is at rest that would have happened without end, and [finally](crate::Event::finally) set something: where its times accumulate, or the time at which it
    /// left the motion where it was. The run goes on from its last time before that.
    pub fn rests(&self, event: usize) -> impl Iterator<Item = f64> {
        let finals = self.crossings.iter().enumerate().filter(move |(_, c)| c.event == event && c.finally);
        finals.map(move |(i, crossing)| self.accumulation_of(event, i).unwrap_or(crossing.t))
    }

    /// What resets have changed something by until each sample.
    pub(super) fn jumps<E>(&self, mut f: impl FnMut(&State) -> Result<f64, E>) -> Result<Vec<f64>, E> {
        let (mut jumps, mut sum) = (Vec::with_capacity(self.len()), 0.0);
        let way = if self.times.last() < self.times.first() { -1.0 } else { 1.0 };
        let mut resets = self.resets_since().peekable();
        for (i, &t) in self.times.iter().enumerate() {
            // The first sample is the start, before what is reset at once.
            while let Some((before, after)) = resets.next_if(|(before, _)| i > 0 && way * before.t <= way * t)
            {
                sum += f(after)? - f(before)?;
            }
            jumps.push(sum);
        }
        Ok(jumps)
    }

    /// The energy that resets have brought since the first sample, in all: less than 0 where they took it.
    ///
    /// # Errors
    /// [`EvalError`] if it cannot be computed.
    pub fn energy_of_resets(&self, dynamics: &mut Dynamics) -> Result<f64, EvalError> {
        let mut energy = |state: &State| energy_at(dynamics, state);
        self.resets_since().try_fold(0.0, |sum, (before, after)| Ok(sum + energy(after)? - energy(before)?))
    }

    /// What resets have changed an observable by since the first sample, in all.
    ///
    /// # Errors
    /// [`EvalError`] if it cannot be computed.
    pub fn change_of_resets(&self, dynamics: &mut Dynamics, what: Observable) -> Result<f64, EvalError> {
        let mut value = |state: &State| observed(dynamics, what, state);
        self.resets_since().try_fold(0.0, |sum, (before, after)| Ok(sum + value(after)? - value(before)?))
    }
}
