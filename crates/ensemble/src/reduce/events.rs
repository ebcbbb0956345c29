//! What happened on the way: a row for each crossing.

use super::{Bound, Kind, ReduceError, Rows, View};

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
        let states = context.states.clone();
        Ok(Bound::Rows(Box::new(Events { wanted, states })))
    },
};

struct Events {
    wanted: Vec<usize>,
    states: Vec<String>,
}

impl Rows for Events {
    fn columns(&self) -> Vec<(&'static str, String)> {
        let fixed = ["trajectory", "event", "t", "rising"].map(|name| ("events", name.to_owned()));
        fixed.into_iter().chain(self.states.iter().map(|name| ("states", name.clone()))).collect()
    }

    fn at_most(&self, _: u64) -> Option<u64> {
        None
    }

    fn fill(&self, view: &View<'_>, columns: &mut [Vec<f64>]) {
        for (trajectory, crossing) in &view.chunk.crossings {
            if !self.wanted.contains(&crossing.event) {
                continue;
            }
            let fixed =
                [*trajectory as f64, crossing.event as f64, crossing.t, f64::from(u8::from(crossing.rising))];
            let state = crossing.state.q.iter().chain(&crossing.state.p).copied();
            columns.iter_mut().zip(fixed.into_iter().chain(state)).for_each(|(column, x)| column.push(x));
        }
    }
}
