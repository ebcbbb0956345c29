//! The points of a section: as a record for files, and by orbit for plots.

use leastaction_mechanics::{Dynamics, EvalError, Observable, System};
use leastaction_output::{ColumnKind, Columns, Record, RecordTable, Table};
use std::io;
use std::ops::Range;

/// The name of the column of orbits.
const ORBIT: &str = "orbit";

/// Points as a table.
#[derive(Clone, Debug)]
pub struct PointsTable<'a> {
    table: RecordTable<'a>,
    /// Which column has the number of the orbit.
    orbit: Option<usize>,
}

impl Table for PointsTable<'_> {
    fn columns(&self) -> Vec<(&'static str, String)> {
        self.table.columns()
    }

    fn kind(&self, column: usize) -> ColumnKind {
        if self.orbit == Some(column) { ColumnKind::Whole } else { ColumnKind::Number }
    }

    fn rows(&self) -> u64 {
        self.table.rows()
    }

    fn read(&self, column: usize, rows: Range<u64>, into: &mut Vec<f64>) -> io::Result<()> {
        self.table.read(column, rows, into)
    }
}

/// Points, in the order in which they were found.
#[derive(Clone, Debug)]
pub struct Points {
    /// All that is known of them, with the number of their orbit and what is shown as outputs.
    pub record: Record,
    /// The number of the orbit, and what is shown.
    pub shown: Vec<(usize, [f64; 2])>,
    /// Which of the shown quantities have a column of their own.
    own: [bool; 2],
}

impl Points {
    /// No points yet, of a section that shows these.
    pub(super) fn new(system: &System, names: &[String; 2]) -> Points {
        let known = |name: &String| {
            let mut lists = [system.coordinates(), system.velocities(), system.momenta()].into_iter();
            name == "t" || lists.any(|names| names.contains(name))
        };
        let own = [!known(&names[0]), !known(&names[1]) && names[0] != names[1]];
        let more = names.iter().zip(own).filter(|(_, own)| *own).map(|(name, _)| name.as_str());
        let record = Record::blank(system, std::iter::once(ORBIT).chain(more));
        // Where things were, and what constraints did, is not of the points.
        let [coordinates, velocities] =
            [(&record.coordinates, system.coordinates()), (&record.velocities, system.velocities())].map(
                |(columns, free)| {
                    if columns.is_empty() { Columns::default() } else { Columns::new(free.clone()) }
                },
            );
        let record =
            Record { coordinates, velocities, paths: Vec::new(), multipliers: Columns::default(), ..record };
        Points { record, shown: Vec::new(), own }
    }

    /// Takes down a point of an orbit with its energy.
    pub(super) fn add(
        &mut self,
        orbit: usize,
        (t, energy): (f64, f64),
        y: &[f64],
        dynamics: &mut Dynamics,
        shown: [Observable; 2],
    ) -> Result<(), EvalError> {
        let (n, moving) = (dynamics.system().degrees(), !self.record.velocities.is_empty());
        let (mut velocities, mut values) = (vec![0.0; n], [0.0; 2]);
        if moving {
            dynamics.velocities(&[t], y, &mut velocities)?;
        }
        for (what, value) in shown.into_iter().zip(values.chunks_exact_mut(1)) {
            dynamics.observe(what, &[t], y, value)?;
        }
        let record = &mut self.record;
        record.times.push(t);
        record.coordinates.push(&y[..n]);
        if moving {
            record.velocities.push(&velocities);
            record.momenta.push(&y[n..]);
        }
        record.energy.push(energy);
        let own = values.into_iter().zip(self.own).filter(|(_, own)| *own).map(|(value, _)| value);
        let row: Vec<f64> = std::iter::once(orbit as f64).chain(own).collect();
        record.outputs.push(&row);
        self.shown.push((orbit, values));
        Ok(())
    }

    /// The record as a table, in which the number of the orbit is a whole one.
    #[must_use]
    pub fn table(&self) -> PointsTable<'_> {
        let table = self.record.table();
        let orbit = table.columns().iter().position(|(_, name)| name == ORBIT);
        PointsTable { table, orbit }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shown.len()
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }

    /// The first and the last time.
    #[must_use]
    pub fn times(&self) -> [f64; 2] {
        let low = self.record.times.iter().copied().fold(f64::INFINITY, f64::min);
        [low, self.record.times.iter().copied().fold(f64::NEG_INFINITY, f64::max)]
    }

    /// The points of each orbit that has any, with its number.
    pub fn orbits(&self) -> impl Iterator<Item = (usize, Vec<[f64; 2]>)> {
        self.shown
            .chunk_by(|a, b| a.0 == b.0)
            .map(|points| (points[0].0, points.iter().map(|p| p.1).collect()))
    }
}
