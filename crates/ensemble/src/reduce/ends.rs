//! All trajectories, a row each.

use super::{Bound, Kind, Rows, Value, View};
use crate::reduce::value::Context;
use leastaction_integrate::Fate;

pub(super) const KIND: Kind = Kind {
    name: "ends",
    form: "ends or ends(expression, …)",
    about: "a row for each trajectory: both ends, and what is asked for",
    bind: |arguments, context| {
        let values = arguments.values(context)?;
        Ok(Bound::Rows(Box::new(Ends::new(context, values))))
    },
};

/// What a fate is in numbers: 0 complete, −1 failed, 1 + i ended by event i.
fn code(fate: Fate) -> f64 {
    match fate {
        Fate::Complete => 0.0,
        Fate::Failed => -1.0,
        Fate::Event(place) => 1.0 + place as f64,
    }
}

struct Ends {
    /// The parameters that are sampled, by their places among the draws.
    parameters: Vec<(String, usize)>,
    states: Vec<String>,
    values: Vec<(String, Value)>,
}

impl Ends {
    fn new(context: &Context<'_>, mut values: Vec<(String, Value)>) -> Ends {
        let (states, parameters) = (context.states.clone(), context.sampled.clone());
        // What has a column anyway needs no other.
        values.retain(|(text, _)| {
            !states.contains(text) && text != "t" && parameters.iter().all(|(p, _)| p != text)
        });
        Ends { parameters, states, values }
    }
}

impl Rows for Ends {
    fn columns(&self) -> Vec<(&'static str, String)> {
        let fixed = ["trajectory", "fate", "steps", "t"].map(|name| ("ends", name.to_owned()));
        let parameters = self.parameters.iter().map(|(name, _)| ("parameters", name.clone()));
        let starts = self.states.iter().map(|name| ("starts", format!("start.{name}")));
        let states = self.states.iter().map(|name| ("states", name.clone()));
        let values = self.values.iter().map(|(text, _)| ("values", text.clone()));
        fixed.into_iter().chain(parameters).chain(starts).chain(states).chain(values).collect()
    }

    fn at_most(&self, trajectories: u64) -> Option<u64> {
        Some(trajectories)
    }

    fn fill(&self, view: &View<'_>, columns: &mut [Vec<f64>]) {
        let chunk = view.chunk;
        for row in 0..chunk.len() {
            let index = view.index(row);
            let fixed = [index as f64, code(chunk.fates[row]), chunk.steps[row] as f64, chunk.times[row]];
            let parameters = self.parameters.iter().map(|&(_, place)| view.launcher.value(place, index));
            let state = |states: &[f64], i: usize| states[row * chunk.dimension + i];
            let starts = (0..chunk.dimension).map(|i| state(&chunk.starts, i));
            let ends = (0..chunk.dimension).map(|i| state(&chunk.ends, i));
            let values = self.values.iter().map(|&(_, value)| view.value(value, row));
            let all = fixed.into_iter().chain(parameters).chain(starts).chain(ends).chain(values);
            columns.iter_mut().zip(all).for_each(|(column, value)| column.push(value));
        }
    }
}
