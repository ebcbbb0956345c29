//! A value at each point of a grid.

use super::stats::short;
use super::{Bound, Kind, ReduceError, Summary, Value, View};
use crate::bytes::{Reader, Writer};
use leastaction_output::Column;
use std::any::Any;
use std::sync::Arc;

pub(super) const KIND: Kind = Kind {
    name: "map",
    form: "map(expression)",
    about: "a value at each point of the grids that are sampled",
    bind: |arguments, context| {
        arguments.expect(1..=1)?;
        let value = arguments.value(0, context)?;
        let text = || arguments.text.to_owned();
        // A sampling with too many points is refused before anything is reduced.
        let points =
            context.grids.points().ok().flatten().ok_or_else(|| ReduceError::NoGrid { text: text() })?;
        let count = context.count;
        if points != count {
            return Err(ReduceError::Repeated { text: text(), count, points });
        }
        if points > MOST {
            return Err(ReduceError::MapSize { text: text(), points, most: MOST });
        }
        let axes = context.grids.grids().map(|(named, size)| (named.name.clone(), size)).collect();
        let blank = Map {
            text: arguments.list[0].to_owned(),
            value,
            axes,
            first: 0,
            values: Vec::new(),
            points,
            at: Arc::new(context.grids.clone()),
        };
        Ok(Bound::Summary(Box::new(move || Box::new(blank.clone()))))
    },
};

/// The values and places of this number of points need 6 GB.
const MOST: u64 = 1 << 28;

/// A value at each point of a grid.
#[derive(Clone, Debug)]
pub struct Map {
    text: String,
    value: Value,
    axes: Vec<(String, u64)>,
    /// The number of the first point that is known, and the values from there on.
    first: u64,
    values: Vec<f64>,
    points: u64,
    at: Arc<crate::sample::Sampling>,
}

impl Map {
    /// What the values are.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names of the axes, and how many points each has. The last one varies fastest.
    #[must_use]
    pub fn axes(&self) -> &[(String, u64)] {
        &self.axes
    }

    /// The values; NaN where the trajectory failed, or has no value.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The coordinates of an axis.
    #[must_use]
    pub fn axis(&self, place: usize) -> Vec<f64> {
        let role = crate::sample::Role { seed: 0, count: self.points, dimension: 0, rank: 0 };
        let Some((named, size)) = self.at.grids().nth(place) else { return Vec::new() };
        let Ok(draw) = named.law.draw(&role) else { return Vec::new() };
        (0..size).map(|step| draw(0, step)).collect()
    }

    /// Makes room for points up to here, and gives the place of one of them.
    fn room(&mut self, first: u64, len: usize) -> Option<usize> {
        if self.values.is_empty() {
            self.first = first;
        }
        let end = first.checked_add(len as u64).filter(|&end| end <= self.points)?;
        if first < self.first {
            let more = (self.first - first) as usize;
            self.values.splice(0..0, std::iter::repeat_n(f64::NAN, more));
            self.first = first;
        }
        let needed = (end - self.first) as usize;
        if self.values.len() < needed {
            self.values.resize(needed, f64::NAN);
        }
        Some((first - self.first) as usize)
    }
}

impl Summary for Map {
    fn take(&mut self, view: &View<'_>) {
        let Some(place) = self.room(view.chunk.first, view.chunk.len()) else {
            unreachable!(
                "the chunk from {} on is beyond the {} points of the map",
                view.chunk.first, self.points
            );
        };
        for row in view.good() {
            self.values[place + row] = view.value(self.value, row);
        }
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        bytes.whole(self.first);
        bytes.whole(self.values.len() as u64);
        self.values.iter().for_each(|&value| bytes.number(value));
    }

    fn absorb(&mut self, bytes: &mut Reader<'_>) -> Option<()> {
        let (first, count) = (bytes.whole()?, bytes.count(8)?);
        let place = self.room(first, count)?;
        for i in 0..count {
            self.values[place + i] = bytes.number()?;
        }
        Some(())
    }

    fn columns(&self) -> Vec<Column> {
        let mut stride = self.points;
        let mut columns: Vec<Column> = Vec::new();
        for (place, (name, size)) in self.axes.iter().enumerate() {
            stride /= size;
            let (axis, first) = (self.axis(place), self.first);
            let at = |i: usize| axis[((first + i as u64) / stride % size) as usize];
            columns.push(Column { name: name.clone(), values: (0..self.values.len()).map(at).collect() });
        }
        // A coordinate may be looked at where it ends, too.
        let name = match self.axes.iter().any(|(name, _)| *name == self.text) {
            true => format!("end.{}", self.text),
            false => self.text.clone(),
        };
        columns.push(Column { name, values: self.values.clone() });
        columns
    }

    fn lines(&self) -> Vec<(String, String)> {
        let known = self.values.iter().filter(|value| value.is_finite());
        let (low, high) = known
            .clone()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)));
        let sizes: Vec<String> = self.axes.iter().map(|(name, size)| format!("{size} {name}")).collect();
        let (count, all) = (known.count(), self.values.len());
        let range =
            if count > 0 { format!(", from {} to {}", short(low), short(high)) } else { String::new() };
        vec![(self.text.clone(), format!("{count} of {all} points of {}{range}", sizes.join(" x ")))]
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
