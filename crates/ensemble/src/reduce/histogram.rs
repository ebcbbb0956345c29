//! How many values fall into each of many bins.

use super::stats::missing;
use super::{Bound, Kind, Summary, Value, View};
use crate::bytes::{Reader, Writer};
use crate::random::spaced;
use leastaction_integrate::number;
use leastaction_output::{Column, ColumnKind};
use std::any::Any;

pub(super) const KIND: Kind = Kind {
    name: "histogram",
    form: "histogram(expression, low, high, bins)",
    about: "how many values fall into each of so many bins",
    bind: |arguments, context| {
        arguments.expect(4..=4)?;
        let (value, bins) = (arguments.value(0, context)?, arguments.bins(1)?);
        let blank =
            Histogram { text: arguments.list[0].to_owned(), value, bins, counts: Counts::new(bins.count) };
        Ok(Bound::Summary(Box::new(move || Box::new(blank.clone()))))
    },
};

/// Bins of equal width. A bin has its lower edge, and the last one also its upper edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bins {
    /// The lowest edge.
    pub low: f64,
    /// The highest edge.
    pub high: f64,
    /// How many bins there are.
    pub count: usize,
}

/// Where a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    Bin(usize),
    Below,
    Above,
    Missing,
}

impl Bins {
    pub(super) fn new(low: f64, high: f64, count: f64) -> Option<Bins> {
        const MOST: f64 = (1u64 << 24) as f64;
        let whole = count.fract() == 0.0 && (1.0..=MOST).contains(&count);
        (whole && low < high && (high - low).is_finite()).then_some(Bins { low, high, count: count as usize })
    }

    /// An edge, from 0 to the number of bins.
    #[must_use]
    pub fn edge(&self, place: usize) -> f64 {
        spaced(self.low, self.high, place as u64, self.count as u64)
    }

    pub(super) fn spot(&self, value: f64) -> Spot {
        if value.is_nan() {
            return Spot::Missing;
        }
        if value < self.low {
            return Spot::Below;
        }
        if value > self.high {
            return Spot::Above;
        }
        let guess = (value - self.low) / (self.high - self.low) * self.count as f64;
        let mut bin = (guess as usize).min(self.count - 1);
        // Edges are what they say, whatever rounding makes of the guess.
        while bin > 0 && value < self.edge(bin) {
            bin -= 1;
        }
        while bin + 1 < self.count && value >= self.edge(bin + 1) {
            bin += 1;
        }
        Spot::Bin(bin)
    }
}

/// Counts of bins, and of what is outside them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) bins: Vec<u64>,
    pub(super) outside: u64,
    pub(super) missing: u64,
}

impl Counts {
    pub(super) fn new(bins: usize) -> Counts {
        Counts { bins: vec![0; bins], outside: 0, missing: 0 }
    }

    /// Empty bins are left out: a chunk fills at most as many as it has trajectories.
    pub(super) fn save(&self, bytes: &mut Vec<u8>) {
        bytes.whole(self.outside);
        bytes.whole(self.missing);
        let used = self.bins.iter().enumerate().filter(|(_, count)| **count > 0);
        bytes.whole(used.clone().count() as u64);
        for (place, &count) in used {
            bytes.whole(place as u64);
            bytes.whole(count);
        }
    }

    pub(super) fn absorb(&mut self, bytes: &mut Reader<'_>) -> Option<()> {
        self.outside += bytes.whole()?;
        self.missing += bytes.whole()?;
        for _ in 0..bytes.count(16)? {
            let place = usize::try_from(bytes.whole()?).ok()?;
            *self.bins.get_mut(place)? += bytes.whole()?;
        }
        Some(())
    }
}

/// How many values fall into each bin.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    text: String,
    value: Value,
    /// The bins.
    pub bins: Bins,
    /// Below and above the bins together: see `counts.outside`.
    counts: Counts,
}

impl Histogram {
    /// What is counted.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How many are in each bin.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts.bins
    }

    /// How many are below or above all bins.
    #[must_use]
    pub fn outside(&self) -> u64 {
        self.counts.outside
    }
}

impl Summary for Histogram {
    fn take(&mut self, view: &View<'_>) {
        for row in view.good() {
            match self.bins.spot(view.value(self.value, row)) {
                Spot::Bin(bin) => self.counts.bins[bin] += 1,
                Spot::Below | Spot::Above => self.counts.outside += 1,
                Spot::Missing => self.counts.missing += 1,
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
        let column = |name: &str, values: Vec<f64>| Column { name: name.to_owned(), values };
        vec![
            column("low", (0..self.bins.count).map(|i| self.bins.edge(i)).collect()),
            column("high", (0..self.bins.count).map(|i| self.bins.edge(i + 1)).collect()),
            column("count", self.counts.bins.iter().map(|&count| count as f64).collect()),
        ]
    }

    fn kind(&self, column: usize) -> ColumnKind {
        if column == 2 { ColumnKind::Whole } else { ColumnKind::Number }
    }

    fn lines(&self) -> Vec<(String, String)> {
        let Bins { low, high, count } = self.bins;
        let inside: u64 = self.counts.bins.iter().sum();
        let (outside, missing) = (self.counts.outside, missing(self.counts.missing));
        let (low, high) = (number(&low), number(&high));
        vec![(
            self.text.clone(),
            format!("{inside} in {count} bins from {low} to {high}, {outside} outside them{missing}"),
        )]
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may panic
mod tests {
    use super::*;
    use leastaction_testing::Random;

    /// The bin of a value is the one between whose edges it is, for edges themselves and their neighbours too.
    #[test]
    fn values_are_between_the_edges_of_their_bins() {
        let mut random = Random::new(5);
        for _ in 0..200 {
            let low = random.between(-3.0, 3.0);
            let bins =
                Bins::new(low, low + random.between(1e-3, 5.0), (1 + random.below(300)) as f64).unwrap();
            let edges = (0..=bins.count).map(|i| bins.edge(i));
            let near = edges.flat_map(|edge| [edge.next_down(), edge, edge.next_up()]);
            let any = (0..100).map(|_| random.between(bins.low, bins.high));
            for value in near.chain(any.collect::<Vec<_>>()) {
                match bins.spot(value) {
                    Spot::Bin(i) => {
                        let last = i + 1 == bins.count && value == bins.high;
                        assert!(
                            bins.edge(i) <= value && (value < bins.edge(i + 1) || last),
                            "{value} in {i}"
                        );
                    }
                    Spot::Below => assert!(value < bins.low),
                    Spot::Above => assert!(value > bins.high),
                    Spot::Missing => panic!("{value} is a number"),
                }
            }
        }
        assert_eq!(Bins::new(0.0, 1.0, 4.0).unwrap().spot(f64::NAN), Spot::Missing);
        assert!(Bins::new(1.0, 1.0, 4.0).is_none() && Bins::new(0.0, 1.0, 2.5).is_none());
    }
}
