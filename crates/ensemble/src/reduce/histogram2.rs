//! How many pairs of values fall into each of many rectangles.

use super::histogram::{Counts, Spot};
use super::stats::missing;
use super::{Bins, Bound, Kind, ReduceError, Summary, Value, View};
use crate::bytes::Reader;
use leastaction_output::{Column, ColumnKind};
use std::any::Any;

pub(super) const KIND: Kind = Kind {
    name: "histogram2",
    form: "histogram2(x, low, high, bins, y, low, high, bins)",
    about: "how many pairs of values fall into each of so many rectangles",
    bind: |arguments, context| {
        arguments.expect(8..=8)?;
        let mut axis = |i: usize| -> Result<Axis, ReduceError> {
            let (value, bins) = (arguments.value(i, context)?, arguments.bins(i + 1)?);
            Ok(Axis { text: arguments.list[i].to_owned(), value, bins })
        };
        let axes = [axis(0)?, axis(4)?];
        let [x, y] = [axes[0].bins, axes[1].bins];
        let cells = x.count * y.count;
        if cells > MOST {
            let (text, low, high) = (arguments.text.to_owned(), y.low, y.high);
            return Err(ReduceError::Bins { text, low, high, count: cells as f64 });
        }
        let blank = Histogram2 { axes, counts: Counts::new(cells) };
        Ok(Bound::Summary(Box::new(move || Box::new(blank.clone()))))
    },
};

/// The largest number of rectangles: 128 MiB of counts.
const MOST: usize = 1 << 24;

#[derive(Clone, Debug, PartialEq)]
struct Axis {
    text: String,
    value: Value,
    bins: Bins,
}

/// How many pairs of values fall into each rectangle.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram2 {
    axes: [Axis; 2],
    counts: Counts,
}

impl Histogram2 {
    /// What x and y are.
    #[must_use]
    pub fn texts(&self) -> [&str; 2] {
        [&self.axes[0].text, &self.axes[1].text]
    }

    /// The bins of x and of y.
    #[must_use]
    pub fn bins(&self) -> [Bins; 2] {
        [self.axes[0].bins, self.axes[1].bins]
    }

    /// How many are in each rectangle: those of the first bin of x, then those of the second one, and so on.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts.bins
    }
}

impl Summary for Histogram2 {
    fn take(&mut self, view: &View<'_>) {
        let [x, y] = &self.axes;
        for row in view.good() {
            match (x.bins.spot(view.value(x.value, row)), y.bins.spot(view.value(y.value, row))) {
                (Spot::Bin(i), Spot::Bin(j)) => self.counts.bins[i * y.bins.count + j] += 1,
                (Spot::Missing, _) | (_, Spot::Missing) => self.counts.missing += 1,
                _ => self.counts.outside += 1,
            }
        }
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        self.counts.save(bytes);
    }

    fn absorb(&mut self, bytes: &mut Reader<'_>) -> Option<()> {
        self.counts.absorb(bytes)
    }

    fn columns(&self) -> Vec<Column> {
        let [x, y] = self.bins();
        let column = |name: &str, value: &dyn Fn(usize, usize) -> f64| {
            let cells = (0..x.count).flat_map(|i| (0..y.count).map(move |j| (i, j)));
            Column { name: name.to_owned(), values: cells.map(|(i, j)| value(i, j)).collect() }
        };
        vec![
            column("x.low", &|i, _| x.edge(i)),
            column("x.high", &|i, _| x.edge(i + 1)),
            column("y.low", &|_, j| y.edge(j)),
            column("y.high", &|_, j| y.edge(j + 1)),
            column("count", &|i, j| self.counts.bins[i * y.count + j] as f64),
        ]
    }

    fn kind(&self, column: usize) -> ColumnKind {
        if column == 4 { ColumnKind::Whole } else { ColumnKind::Number }
    }

    fn lines(&self) -> Vec<(String, String)> {
        let [x, y] = &self.axes;
        let inside: u64 = self.counts.bins.iter().sum();
        let (outside, missing) = (self.counts.outside, missing(self.counts.missing));
        let cells = format!("{} x {}", x.bins.count, y.bins.count);
        vec![(
            format!("{} and {}", x.text, y.text),
            format!("{inside} in {cells} rectangles, {outside} outside them{missing}"),
        )]
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
