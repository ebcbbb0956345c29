//! The events of a run as a table for files.

use crate::run::Run;
use leastaction_integrate::Crossing;
use leastaction_mechanics::{EvalError, Form};
use leastaction_output::{ColumnKind, Table};
use std::io;
use std::ops::Range;

/// Every crossing of an event in the order of the run: its time `t`, `t_error` by which that may be off, `event`, the name of the event,
/// `direction`, in which it was crossed (`rising` or `falling`, or `tick` of one that happens again and again after a time), and the state.
#[derive(Clone, Debug, PartialEq)]
pub struct EventTable {
    columns: Vec<(&'static str, String, Vec<f64>)>,
    rows: usize,
    /// The names of the events.
    events: Vec<String>,
}

impl Run {
    /// The events as a table.
    ///
    /// # Errors
    /// [`EvalError`] if a velocity cannot be computed.
    pub fn event_table(&self) -> Result<EventTable, EvalError> {
        let (system, crossings) = (self.simulation.dynamics.system(), self.trajectory.crossings());
        let moving = system.facts().form != Form::Ports;
        let all = |of: &dyn Fn(&Crossing) -> f64| crossings.iter().map(of).collect::<Vec<_>>();
        let mut columns = vec![("time", "t".to_owned(), all(&|c| c.t))];
        if let Some(error) = &self.error {
            columns.push(("time", "t_error".to_owned(), error.crossings.clone()));
        }
        columns.push(("event", "event".to_owned(), all(&|c| c.event as f64)));
        let kinds = self.simulation.integrator.events();
        let direction =
            |c: &Crossing| if kinds[c.event].ticks() { 2.0 } else { f64::from(u8::from(c.rising)) };
        columns.push(("event", "direction".to_owned(), all(&direction)));
        let names = system.coordinates().iter().enumerate();
        columns.extend(names.map(|(i, name)| ("coordinates", name, all(&|c| c.state.q[i]))));
        if moving {
            let velocities =
                crossings.iter().map(|c| self.velocities(&c.state)).collect::<Result<Vec<_>, _>>()?;
            let names = system.velocities().iter().enumerate();
            columns.extend(
                names.map(|(i, name)| ("velocities", name, velocities.iter().map(|v| v[i]).collect())),
            );
            let names = system.momenta().iter().enumerate();
            columns.extend(names.map(|(i, name)| ("momenta", name, all(&|c| c.state.p[i]))));
        }
        Ok(EventTable { columns, rows: crossings.len(), events: self.simulation.events.clone() })
    }
}

impl EventTable {
    /// How many crossings there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }
}

impl Table for EventTable {
    fn columns(&self) -> Vec<(&'static str, String)> {
        self.columns.iter().map(|(group, name, _)| (*group, name.clone())).collect()
    }

    fn kind(&self, column: usize) -> ColumnKind {
        match self.columns.get(column).map(|(group, name, _)| (*group, name.as_str())) {
            Some(("event", "event")) => ColumnKind::Word(self.events.clone()),
            Some(("event", _)) => ColumnKind::Word(["falling", "rising", "tick"].map(str::to_owned).into()),
            _ => ColumnKind::Number,
        }
    }

    fn rows(&self) -> u64 {
        self.rows as u64
    }

    fn read(&self, column: usize, rows: Range<u64>, into: &mut Vec<f64>) -> io::Result<()> {
        let values = self.columns.get(column).map(|(.., values)| values);
        let part = values.and_then(|values| values.get(rows.start as usize..rows.end as usize));
        into.extend_from_slice(part.ok_or_else(|| io::Error::other("the table has no such rows"))?);
        Ok(())
    }
}
