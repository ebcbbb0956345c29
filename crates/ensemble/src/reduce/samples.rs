//! Trajectories along the way: a row for each of them and each time.

use super::value::Context;
use super::{Bound, Kind, ReduceError, Rows, Value, View};
use leastaction_compile::LANES;
use leastaction_integrate::Fate;
use leastaction_mechanics::{Dynamics, Observable};
use leastaction_output::ColumnKind;
use std::sync::{Mutex, PoisonError};

pub(super) const KIND: Kind = Kind {
    name: "samples",
    form: "samples or samples(expression, …)",
    about: "a row for each trajectory and sample: the state, and what is asked for",
    bind: |arguments, context| {
        let values = arguments.values(context)?;
        if context.dynamics.is_some() && context.times.is_empty() {
            return Err(ReduceError::NoTimes { text: arguments.text.to_owned() });
        }
        Ok(Bound::Rows(Box::new(Samples::new(context, values))))
    },
};

struct Samples {
    /// The parameters that are sampled, by their places among the draws.
    parameters: Vec<(String, usize)>,
    states: Vec<String>,
    values: Vec<(String, Looked)>,
    times: Vec<f64>,
    /// What expressions are computed with; none where rows are only put together.
    observer: Option<Mutex<Dynamics>>,
}

/// What stands in a column besides the state.
#[derive(Clone, Copy)]
enum Looked {
    /// An expression at each sample.
    Here(Observable),
    /// A value of the whole trajectory.
    Once(Value),
}

impl Samples {
    fn new(context: &Context<'_>, values: Vec<(String, Value)>) -> Samples {
        let looked = |(text, value): (String, Value)| match value {
            Value::End(place) if !context.observed.is_empty() => {
                (text, Looked::Here(context.observed[place].1))
            }
            value => (text, Looked::Once(value)),
        };
        // What has a column anyway needs no other.
        let drawn = |text: &String| context.sampled.iter().any(|(name, _)| name == text);
        let besides =
            |(text, _): &(String, Value)| !(context.states.contains(text) || drawn(text) || text == "t");
        Samples {
            parameters: context.sampled.clone(),
            states: context.states.clone(),
            values: values.into_iter().filter(besides).map(looked).collect(),
            times: context.times.clone(),
            observer: context.dynamics.as_deref().map(|dynamics| Mutex::new(dynamics.clone())),
        }
    }
}

impl Rows for Samples {
    fn columns(&self) -> Vec<(&'static str, String)> {
        let fixed = ["trajectory", "t"].map(|name| ("samples", name.to_owned()));
        let parameters = self.parameters.iter().map(|(name, _)| ("parameters", name.clone()));
        let states = self.states.iter().map(|name| ("states", name.clone()));
        let values = self.values.iter().map(|(text, _)| ("values", text.clone()));
        fixed.into_iter().chain(parameters).chain(states).chain(values).collect()
    }

    fn kind(&self, column: usize) -> ColumnKind {
        if column == 0 { ColumnKind::Whole } else { ColumnKind::Number }
    }

    fn at_most(&self, trajectories: u64) -> Option<u64> {
        trajectories.checked_mul(self.times.len() as u64)
    }

    fn fill(&self, view: &View<'_>, columns: &mut [Vec<f64>]) {
        let (chunk, dimension) = (view.chunk, view.chunk.dimension);
        let mut observer =
            self.observer.as_ref().map(|observer| observer.lock().unwrap_or_else(PoisonError::into_inner));
        let (mut times, mut states, mut parameters) = (Vec::new(), Vec::new(), Vec::new());
        for row in 0..chunk.len() {
            let taken = chunk.samples[row * chunk.sampled * dimension..].chunks_exact(dimension);
            // It did not come to those that are NaN.
            let taken =
                taken.zip(&self.times).take(chunk.sampled).take_while(|(state, _)| !state[0].is_nan());
            times.clear();
            states.clear();
            let mut reached = None;
            for (state, &t) in taken {
                reached = Some(t);
                if view.counts(t) {
                    times.push(t);
                    states.extend_from_slice(state);
                }
            }
            // As in a single run, the last one is where it ended.
            let end = chunk.times[row];
            if chunk.fates[row] != Fate::Complete && !end.is_nan() && reached != Some(end) && view.counts(end)
            {
                times.push(end);
                states.extend_from_slice(&chunk.ends[row * dimension..][..dimension]);
            }
            let drawn = self.parameters.len();
            let (fixed, values) = columns.split_at_mut(2 + drawn + dimension);
            fixed[0].resize(fixed[0].len() + times.len(), view.index(row) as f64);
            fixed[1].extend_from_slice(&times);
            for (&(_, place), column) in self.parameters.iter().zip(&mut fixed[2..]) {
                column.resize(column.len() + times.len(), view.launcher.value(place, view.index(row)));
            }
            for (i, column) in fixed[2 + drawn..].iter_mut().enumerate() {
                column.extend(states.iter().skip(i).step_by(dimension));
            }
            let mut known = true;
            if let (Some(observer), false) = (&mut observer, self.values.is_empty()) {
                view.launcher.parameters(view.index(row), &mut parameters);
                known = observer.set_parameters(&parameters).is_ok();
            }
            for ((_, looked), column) in self.values.iter().zip(values) {
                match (looked, &mut observer) {
                    (&Looked::Here(observable), Some(observer)) if known => {
                        observe(observer, observable, &times, &states, column);
                    }
                    (Looked::Here(_), _) => column.resize(column.len() + times.len(), f64::NAN),
                    (&Looked::Once(value), _) => {
                        column.resize(column.len() + times.len(), view.value(value, row));
                    }
                }
            }
        }
    }
}

/// Appends an observable at all samples of a trajectory. Where it cannot be computed it is NaN.
pub(super) fn observe(
    dynamics: &mut Dynamics,
    observable: Observable,
    times: &[f64],
    states: &[f64],
    into: &mut Vec<f64>,
) {
    let dimension = dynamics.system().dimension();
    let mut block = vec![0.0; LANES * dimension];
    for (t, y) in times.chunks(LANES).zip(states.chunks(LANES * dimension)) {
        // Lanes that are left over repeat the last sample.
        let last = t.len() - 1;
        let at: [f64; LANES] = std::array::from_fn(|lane| t[lane.min(last)]);
        for (place, number) in block.iter_mut().enumerate() {
            *number = y[(place % LANES).min(last) * dimension + place / LANES];
        }
        let mut values = [f64::NAN; LANES];
        if dynamics.observe(observable, &at, &block, &mut values).is_err() {
            for (i, value) in values[..t.len()].iter_mut().enumerate() {
                let mut one = [f64::NAN];
                let y = &y[i * dimension..][..dimension];
                *value = dynamics.observe(observable, &t[i..=i], y, &mut one).map_or(f64::NAN, |()| one[0]);
            }
        }
        into.extend_from_slice(&values[..t.len()]);
    }
}
