//! What an expression is whenever an event happens: the points of a bifurcation diagram.

use super::{Bound, Kind, ReduceError, Rows, View};
use leastaction_mechanics::{Dynamics, Observable};
use leastaction_output::ColumnKind;
use std::sync::{Mutex, PoisonError};

pub(super) const KIND: Kind = Kind {
    name: "section",
    form: "section(event, expression, …)",
    about: "a row for each crossing of an event: when, the parameters that were drawn, and expressions there",
    bind: |arguments, context| {
        if arguments.list.len() < 2 {
            let (text, found) = (arguments.text.to_owned(), arguments.list.len());
            return Err(ReduceError::ArgumentCount { text, form: arguments.form, found });
        }
        let event = context.event(arguments.list[0], arguments.text)?;
        let mut shown = Vec::new();
        for text in &arguments.list[1..] {
            let Some(dynamics) = &mut context.dynamics else { continue };
            let observable = dynamics.observable(*text).map_err(|source| {
                let part = Some((*text).to_owned());
                ReduceError::Observe { text: arguments.text.to_owned(), part, source }
            })?;
            shown.push(observable);
        }
        Ok(Bound::Rows(Box::new(Section {
            event,
            texts: arguments.list[1..].iter().map(|text| (*text).to_owned()).collect(),
            shown,
            parameters: context.sampled.clone(),
            observer: context.dynamics.as_deref().map(|dynamics| Mutex::new(dynamics.clone())),
        })))
    },
};

struct Section {
    event: usize,
    texts: Vec<String>,
    shown: Vec<Observable>,
    /// The parameters that are sampled, by their places among the draws.
    parameters: Vec<(String, usize)>,
    /// What expressions are computed with; none where rows are only put together.
    observer: Option<Mutex<Dynamics>>,
}

impl Rows for Section {
    fn columns(&self) -> Vec<(&'static str, String)> {
        let fixed = ["trajectory", "t"].map(|name| ("section", name.to_owned()));
        let parameters = self.parameters.iter().map(|(name, _)| ("parameters", name.clone()));
        let values = self.texts.iter().map(|text| ("values", text.clone()));
        fixed.into_iter().chain(parameters).chain(values).collect()
    }

    fn kind(&self, column: usize) -> ColumnKind {
        if column == 0 { ColumnKind::Whole } else { ColumnKind::Number }
    }

    fn at_most(&self, _: u64) -> Option<u64> {
        None
    }

    fn fill(&self, view: &View<'_>, columns: &mut [Vec<f64>]) {
        let Some(observer) = &self.observer else { return };
        let mut dynamics = observer.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut parameters, mut of, mut known) = (Vec::new(), None, false);
        let (mut block, mut value) = (Vec::new(), [0.0]);
        for (trajectory, crossing) in &view.chunk.crossings {
            if crossing.event != self.event || !view.counts(crossing.t) {
                continue;
            }
            if of != Some(*trajectory) {
                view.launcher.parameters(*trajectory, &mut parameters);
                known = dynamics.set_parameters(&parameters).is_ok();
                of = Some(*trajectory);
            }
            block.clear();
            block.extend(crossing.state.q.iter().chain(&crossing.state.p));
            let fixed = [*trajectory as f64, crossing.t];
            let drawn = self.parameters.iter().map(|&(_, place)| view.launcher.value(place, *trajectory));
            let shown = self.shown.iter().map(|what| {
                let found = known && dynamics.observe(*what, &[crossing.t], &block, &mut value).is_ok();
                if found { value[0] } else { f64::NAN }
            });
            let all: Vec<f64> = fixed.into_iter().chain(drawn).chain(shown).collect();
            columns.iter_mut().zip(all).for_each(|(column, x)| column.push(x));
        }
    }
}
