//! What reductions look at: a number for each trajectory.

use super::ReduceError;
use super::along::{Along, Courses};
use crate::sample::{Launcher, Sampling};
use crate::text::{call, parts};
use leastaction_expr::nearest;
use leastaction_integrate::{Chunk, Fate};
use leastaction_mechanics::{Dynamics, Observable};

/// A number for each trajectory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// An observable at the end, by its place.
    End(usize),
    /// An observable at the start, by its place.
    Start(usize),
    /// The time of the first crossing of an event; NaN without one.
    First(usize),
    /// How often an event was crossed.
    Crossings(usize),
    /// A mean or an extreme over the samples of an expression, by its place among those that are followed.
    Along(Along, usize),
}

/// What reductions are bound to.
pub struct Context<'a> {
    /// The system; without one, what was reduced elsewhere can be put together.
    pub dynamics: Option<&'a mut Dynamics>,
    /// The names of coordinates and momenta.
    pub states: Vec<String>,
    /// The names of the integrator's events.
    pub events: Vec<String>,
    /// The parameters that are sampled, with their places in the sampling.
    pub sampled: Vec<(String, usize)>,
    /// The grids that are sampled.
    pub grids: Sampling,
    /// How many trajectories there are.
    pub count: u64,
    /// When samples are taken.
    pub times: Vec<f64>,
    /// The expressions that are observed.
    pub(crate) observed: Vec<(String, Observable)>,
    /// The expressions that are followed over all samples.
    pub(crate) followed: Vec<(String, Observable)>,
}

impl Context<'_> {
    /// The value of a text.
    ///
    /// # Errors
    /// [`ReduceError`] if there is no such event, or it is not an expression of the system.
    pub fn value(&mut self, text: &str) -> Result<Value, ReduceError> {
        if let Some((along, inside)) = along(text) {
            return Ok(Value::Along(along, self.followed(inside, text)?));
        }
        match call(text) {
            Some(("start", inside)) => Ok(Value::Start(self.observable(inside.trim())?)),
            Some(("first", inside)) => Ok(Value::First(self.event(inside.trim(), text)?)),
            Some(("crossings", inside)) => Ok(Value::Crossings(self.event(inside.trim(), text)?)),
            _ => Ok(Value::End(self.observable(text)?)),
        }
    }

    /// The place of an event.
    pub(super) fn event(&self, name: &str, text: &str) -> Result<usize, ReduceError> {
        self.events.iter().position(|event| event == name).ok_or_else(|| ReduceError::UnknownEvent {
            text: text.to_owned(),
            name: name.to_owned(),
            nearest: nearest(name, self.events.iter().map(String::as_str)),
            known: self.events.clone(),
        })
    }

    /// The place of an expression that is followed.
    fn followed(&mut self, inside: &str, text: &str) -> Result<usize, ReduceError> {
        if let Some(place) = self.followed.iter().position(|(other, _)| other == inside) {
            return Ok(place);
        }
        let Some(dynamics) = &mut self.dynamics else { return Ok(0) };
        if self.times.is_empty() {
            return Err(ReduceError::NoTimes { text: text.to_owned() });
        }
        let failed = |source| ReduceError::Observe { text: inside.to_owned(), part: None, source };
        let observable = dynamics.observable(inside).map_err(failed)?;
        self.followed.push((inside.to_owned(), observable));
        Ok(self.followed.len() - 1)
    }

    fn observable(&mut self, text: &str) -> Result<usize, ReduceError> {
        if let Some(place) = self.observed.iter().position(|(other, _)| other == text) {
            return Ok(place);
        }
        let Some(dynamics) = &mut self.dynamics else { return Ok(0) };
        let observable = dynamics.observable(text);
        let failed = |source| ReduceError::Observe { text: text.to_owned(), part: None, source };
        let observable = observable.map_err(failed)?;
        self.observed.push((text.to_owned(), observable));
        Ok(self.observed.len() - 1)
    }
}

/// A mean or an extreme of an expression, as `max(x')`: a function of one argument, as `max` of expressions is not.
pub(super) fn along(text: &str) -> Option<(Along, &str)> {
    let (word, inside) = call(text)?;
    let along = Along::named(word)?;
    // `max(x) + max(y)` ends with a parenthesis, too.
    let mut depth = 0_i32;
    let closed = inside.chars().all(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth >= 0
    });
    (closed && parts(inside).len() == 1).then(|| (along, inside.trim()))
}

/// The trajectories of a chunk, as reductions see them.
pub struct View<'a> {
    /// The chunk.
    pub chunk: &'a Chunk,
    /// Where trajectories began.
    pub launcher: &'a Launcher,
    /// From when on samples and events count, and whether time goes backwards.
    pub(crate) from: (f64, bool),
    /// What is known of expressions over all samples.
    pub(crate) courses: Courses,
}

impl View<'_> {
    /// The rows of trajectories that did not fail.
    pub fn good(&self) -> impl Iterator<Item = usize> {
        let fates = &self.chunk.fates;
        (0..fates.len()).filter(|&row| fates[row] != Fate::Failed)
    }

    /// Whether what is at a time counts, and is not left out with what comes before.
    #[must_use]
    pub fn counts(&self, t: f64) -> bool {
        let (from, backwards) = self.from;
        if backwards { t <= from } else { t >= from }
    }

    /// The number of the trajectory in a row.
    #[must_use]
    pub fn index(&self, row: usize) -> u64 {
        self.chunk.first + row as u64
    }

    /// The value in a row.
    #[must_use]
    pub fn value(&self, value: Value, row: usize) -> f64 {
        let chunk = self.chunk;
        match value {
            Value::End(place) => chunk.after[row * chunk.observed + place],
            Value::Start(place) => chunk.before[row * chunk.observed + place],
            Value::First(event) => self.crossings(row, event).next().unwrap_or(f64::NAN),
            Value::Crossings(event) => self.crossings(row, event).count() as f64,
            Value::Along(along, place) => {
                let course = self.courses.all.get(row * self.courses.width + place);
                course.map_or(f64::NAN, |course| course.value(along))
            }
        }
    }

    /// When an event was crossed by the trajectory in a row.
    fn crossings(&self, row: usize, event: usize) -> impl Iterator<Item = f64> {
        let (all, index) = (&self.chunk.crossings, self.index(row));
        let begin = all.partition_point(|(trajectory, _)| *trajectory < index);
        let own = all[begin..].iter().take_while(move |(trajectory, _)| *trajectory == index);
        own.filter(move |(_, crossing)| crossing.event == event && self.counts(crossing.t))
            .map(|(_, crossing)| crossing.t)
    }
}
