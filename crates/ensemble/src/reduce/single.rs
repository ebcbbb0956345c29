//! What reductions look at, of a trajectory that is there already.

use super::ReduceError;
use super::along::Course;
use super::samples::observe;
use super::value::{Context, Value};
use crate::sample::Sampling;
use crate::text::parts;
use leastaction_integrate::Trajectory;
use leastaction_mechanics::{Dynamics, Observable};

/// Numbers of a whole trajectory, as reductions of ensembles have them: `max(x')`, `mean(energy)`, `first(top)`, or an expression at the end.
pub struct Values {
    texts: Vec<String>,
    values: Vec<Value>,
    dynamics: Dynamics,
    observed: Vec<Observable>,
    followed: Vec<Observable>,
}

impl Values {
    /// Reads texts, of which each may contain several with commas between them, for a system with events of these names.
    ///
    /// # Errors
    /// [`ReduceError`] if one is no expression of the system, or there is no such event.
    pub fn new(dynamics: &Dynamics, events: &[String], texts: &[String]) -> Result<Values, ReduceError> {
        let mut own = dynamics.clone();
        let mut context = Context {
            dynamics: Some(&mut own),
            states: Vec::new(),
            events: events.to_vec(),
            sampled: Vec::new(),
            grids: Sampling { list: Vec::new() },
            count: 1,
            // A trajectory has samples: when is known once it is there.
            times: vec![0.0],
            observed: Vec::new(),
            followed: Vec::new(),
        };
        let texts: Vec<String> =
            texts.iter().flat_map(|text| parts(text)).map(|part| part.trim().to_owned()).collect();
        let values = texts.iter().map(|text| context.value(text)).collect::<Result<_, _>>()?;
        let only = |all: Vec<(String, Observable)>| all.into_iter().map(|(_, what)| what).collect();
        let (observed, followed) = (only(context.observed), only(context.followed));
        Ok(Values { texts, values, dynamics: own, observed, followed })
    }

    /// The values of a trajectory of the system, with their texts. Samples and events before a time, if one is given, do not count.
    pub fn of(&mut self, trajectory: &Trajectory, from: Option<f64>) -> Vec<(String, f64)> {
        let (Some(&begin), Some(&end)) = (trajectory.times().first(), trajectory.times().last()) else {
            return self.texts.iter().map(|text| (text.clone(), f64::NAN)).collect();
        };
        let from = from.unwrap_or(begin);
        let counts = |t: f64| if end < begin { t <= from } else { t >= from };
        let dimension = self.dynamics.system().dimension();
        let skipped = trajectory.times().iter().take_while(|&&t| !counts(t)).count();
        let times = &trajectory.times()[skipped..];
        let states = &trajectory.blocks()[skipped * dimension..];
        let dynamics = &mut self.dynamics;
        let mut along = |what: Observable| {
            let mut values = Vec::new();
            observe(dynamics, what, times, states, &mut values);
            Course::of(times, &values)
        };
        let courses: Vec<Course> = self.followed.iter().map(|&what| along(what)).collect();
        let mut at = |what: Observable, place: usize| {
            let (mut values, block) = (Vec::new(), &trajectory.blocks()[place * dimension..][..dimension]);
            observe(dynamics, what, &trajectory.times()[place..=place], block, &mut values);
            values[0]
        };
        let last = trajectory.len() - 1;
        let crossings = |event: usize| {
            let all = trajectory.crossings().iter();
            all.filter(move |crossing| crossing.event == event && counts(crossing.t))
                .map(|crossing| crossing.t)
        };
        let mut value = |value: Value| match value {
            Value::End(place) => at(self.observed[place], last),
            Value::Start(place) => at(self.observed[place], 0),
            Value::First(event) => crossings(event).next().unwrap_or(f64::NAN),
            Value::Crossings(event) => crossings(event).count() as f64,
            Value::Along(along, place) => courses[place].value(along),
        };
        self.texts.iter().cloned().zip(self.values.iter().map(|&one| value(one))).collect()
    }
}
