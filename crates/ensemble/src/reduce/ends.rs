//! All trajectories, a row each.

use super::{Bound, Kind, Rows, Value, View};
use crate::reduce::value::Context;
use leastaction_integrate::Fate;
use leastaction_output::ColumnKind;

pub(super) const KIND: Kind = Kind {
    name: "ends",
    form: "ends or ends(expression, …)",
    about: "a row for each trajectory: both ends, and what is asked for",
    bind: |arguments, context| {
        let values = arguments.values(context)?;
        Ok(Bound::Rows(Box::new(Ends::new(context, values))))
    },
};

/// What a fate is as the place of a word.
fn code(fate: Fate) -> f64 {
    match fate {
        Fate::Failed => 0.0,
        Fate::Complete => 1.0,
        Fate::Event(place) => 2.0 + place as f64,
    }
}

/// The words of fates: an event is called by its name.
fn fates(events: &[String]) -> Vec<String> {
    ["failed", "complete"].into_iter().map(str::to_owned).chain(events.iter().cloned()).collect()
}

struct Ends {
    /// The parameters that are sampled, by their places among the draws.
    parameters: Vec<(String, usize)>,
    states: Vec<String>,
    values: Vec<(String, Value)>,
    fates: Vec<String>,
}

impl Ends {
    fn new(context: &Context<'_>, mut values: Vec<(String, Value)>) -> Ends {
        let (states, parameters) = (context.states.clone(), context.sampled.clone());
        // What has a column anyway needs no other.
        values.retain(|(text, _)| {
            !states.contains(text) && text != "t" && parameters.iter().all(|(p, _)| p != text)
        });
        Ends { parameters, states, values, fates: fates(&context.events) }
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

    fn kind(&self, column: usize) -> ColumnKind {
        match column {
            0 | 2 => ColumnKind::Whole,
            1 => ColumnKind::Word(self.fates.clone()),
            _ => ColumnKind::Number,
        }
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
