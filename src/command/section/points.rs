//! The points of a section: as a record for files, by orbit for plots, and as a picture of braille.

use super::starts::short;
use crate::command::canvas::{Canvas, Ink};
use leastaction::mechanics::Form;
use leastaction::output::{Column, Record};
use leastaction::{Dynamics, EvalError, Observable, System};

/// The size of the picture, in cells.
const CELLS: [usize; 2] = [64, 22];

/// Points, in the order in which they were found.
pub(super) struct Points {
    record: Record,
    /// The number of the orbit, and what is shown.
    shown: Vec<(usize, [f64; 2])>,
    /// Which of the shown quantities have a column of their own.
    own: [bool; 2],
}

impl Points {
    /// No points yet, of a section that shows these.
    pub(super) fn new(system: &System, names: &[String; 2]) -> Points {
        let known = |name: &String| {
            [system.coordinates(), system.velocities(), system.momenta()]
                .into_iter()
                .flatten()
                .any(|n| n == name)
                || name == "t"
        };
        let own = [!known(&names[0]), !known(&names[1]) && names[0] != names[1]];
        let moving = system.facts().form != Form::Ports;
        let columns = |names: &[String]| -> Vec<Column> {
            names.iter().map(|name| Column { name: name.clone(), values: Vec::new() }).collect()
        };
        let more = names.iter().zip(own).filter(|(_, own)| *own).map(|(name, _)| name.clone());
        let record = Record {
            coordinates: columns(system.coordinates()),
            velocities: columns(if moving { system.velocities() } else { &[] }),
            momenta: columns(if moving { system.momenta() } else { &[] }),
            outputs: columns(&std::iter::once("orbit".to_owned()).chain(more).collect::<Vec<_>>()),
            ..Record::default()
        };
        Points { record, shown: Vec::new(), own }
    }

    /// Takes down a point of an orbit, and tells its energy.
    pub(super) fn add(
        &mut self,
        orbit: usize,
        t: f64,
        y: &[f64],
        dynamics: &mut Dynamics,
        shown: [Observable; 2],
    ) -> Result<f64, EvalError> {
        let (n, moving) = (dynamics.system().degrees(), !self.record.velocities.is_empty());
        let (mut velocities, mut energy, mut values) = (vec![0.0; n], [0.0], [0.0; 2]);
        if moving {
            dynamics.velocities(&[t], y, &mut velocities)?;
        }
        dynamics.energy(&[t], y, &mut energy)?;
        for (what, value) in shown.into_iter().zip(values.chunks_exact_mut(1)) {
            dynamics.observe(what, &[t], y, value)?;
        }
        let record = &mut self.record;
        record.times.push(t);
        push(&mut record.coordinates, y);
        push(&mut record.velocities, &velocities);
        push(&mut record.momenta, &y[n..]);
        record.energy.push(energy[0]);
        let own = values.into_iter().zip(self.own).filter(|(_, own)| *own).map(|(value, _)| value);
        let row: Vec<f64> = std::iter::once(orbit as f64).chain(own).collect();
        push(&mut record.outputs, &row);
        self.shown.push((orbit, values));
        Ok(energy[0])
    }

    pub(super) fn len(&self) -> usize {
        self.shown.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }

    pub(super) fn record(&self) -> &Record {
        &self.record
    }

    /// The first and the last time.
    pub(super) fn times(&self) -> [f64; 2] {
        let low = self.record.times.iter().copied().fold(f64::INFINITY, f64::min);
        [low, self.record.times.iter().copied().fold(f64::NEG_INFINITY, f64::max)]
    }

    /// The points of each orbit that has any, with its number.
    pub(super) fn orbits(&self) -> impl Iterator<Item = (usize, Vec<[f64; 2]>)> {
        self.shown
            .chunk_by(|a, b| a.0 == b.0)
            .map(|points| (points[0].0, points.iter().map(|p| p.1).collect()))
    }

    /// The points in braille, with their ranges in words.
    pub(super) fn picture(&self, names: &[String; 2]) -> String {
        let points = || self.shown.iter().map(|(_, point)| point).filter(|p| p.iter().all(|x| x.is_finite()));
        let ranges = [0, 1].map(|axis| {
            let fold = |start: f64, pick: fn(f64, f64) -> f64| points().map(|p| p[axis]).fold(start, pick);
            let (low, high) = (fold(f64::INFINITY, f64::min), fold(f64::NEG_INFINITY, f64::max));
            if high > low { [low, high] } else { [low - 0.5, high + 0.5] }
        });
        if points().next().is_none() {
            return String::new();
        }
        let mut canvas = Canvas::new(CELLS[0], CELLS[1]);
        let dots = canvas.dots().map(|n| n as f64 - 1.0);
        let part = |axis: usize, x: f64| (x - ranges[axis][0]) / (ranges[axis][1] - ranges[axis][0]);
        for [x, y] in points() {
            canvas.dot([part(0, *x) * dots[0] + 0.5, (1.0 - part(1, *y)) * dots[1] + 0.5], Ink::Plain);
        }
        let told = |axis: usize| {
            format!("{} from {} to {}", names[axis], short(ranges[axis][0]), short(ranges[axis][1]))
        };
        let line = |row: usize| (0..CELLS[0]).map(|column| canvas.cell(column, row).0).collect::<String>();
        let lines: Vec<String> =
            (0..CELLS[1]).map(|row| format!("  {}", line(row)).trim_end().to_owned()).collect();
        format!("\n  {} (up)\n\n{}\n\n  {} (right)\n", told(1), lines.join("\n"), told(0))
    }
}

fn push(columns: &mut [Column], values: &[f64]) {
    columns.iter_mut().zip(values).for_each(|(column, &value)| column.values.push(value));
}
