//! What happened on the way: a row for each crossing.

use super::{Bound, Kind, ReduceError, Rows, View};
use leastaction_output::ColumnKind;

pub(super) const KIND: Kind = Kind {
    name: "events",
    form: "events or events(name, …)",
    about: "a row for each crossing of the model's events",
    bind: |arguments, context| {
        let mut wanted = Vec::new();
        for name in &arguments.list {
            wanted.push(context.event(name, arguments.text)?);
        }
        if context.events.is_empty() {
            let (text, name) = (arguments.text.to_owned(), "events".to_owned());
            return Err(ReduceError::UnknownEvent { text, name, nearest: None, known: Vec::new() });
        }
        if wanted.is_empty() {
            wanted.extend(0..context.events.len());
        }
        let (states, parameters) = (context.states.clone(), context.sampled.clone());
        Ok(Bound::Rows(Box::new(Events { wanted, names: context.events.clone(), parameters, states })))
    },
};

struct Events {
    wanted: Vec<usize>,
    /// The names of all events.
    names: Vec<String>,
    /// The parameters that are sampled, by their places among the draws.
    parameters: Vec<(String, usize)>,
    states: Vec<String>,
}

impl Rows for Events {
    fn columns(&self) -> Vec<(&'static str, String)> {
        let fixed = ["trajectory", "event", "t", "direction"].map(|name| ("events", name.to_owned()));
        let parameters = self.parameters.iter().map(|(name, _)| ("parameters", name.clone()));
        let states = self.states.iter().map(|name| ("states", name.clone()));
        fixed.into_iter().chain(parameters).chain(states).collect()
    }

    fn kind(&self, column: usize) -> ColumnKind {
        match column {
            0 => ColumnKind::Whole,
            1 => ColumnKind::Word(self.names.clone()),
            3 => ColumnKind::Word(["falling", "rising"].map(str::to_owned).into()),
            _ => ColumnKind::Number,
        }
    }

    fn at_most(&self, _: u64) -> Option<u64> {
        None
    }

    fn fill(&self, view: &View<'_>, columns: &mut [Vec<f64>]) {
        for (trajectory, crossing) in &view.chunk.crossings {
            if !self.wanted.contains(&crossing.event) || !view.counts(crossing.t) {
                continue;
            }
            let fixed =
                [*trajectory as f64, crossing.event as f64, crossing.t, f64::from(u8::from(crossing.rising))];
            let parameters =
                self.parameters.iter().map(|&(_, place)| view.launcher.value(place, *trajectory));
            let state = crossing.state.q.iter().chain(&crossing.state.p).copied();
            let all = fixed.into_iter().chain(parameters).chain(state);
            columns.iter_mut().zip(all).for_each(|(column, x)| column.push(x));
        }
    }
}
