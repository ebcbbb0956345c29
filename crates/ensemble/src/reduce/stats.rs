//! Means, deviations and extremes.
//!
//! Sums are without rounding (`exact.rs`): the mean is the nearest number to the true mean of the values, the standard deviation within one unit in
//! its last place, and neither depends on the order of trajectories, chunks or shards.

use super::{Bound, Kind, Summary, Value, View};
use crate::bytes::{Reader, Writer};
use crate::exact::{Exact, Natural, deviation, mean};
use leastaction_integrate::rounded;
use leastaction_output::{Column, ColumnKind};
use std::any::Any;

pub(super) const KIND: Kind = Kind {
    name: "stats",
    form: "stats(expression, …)",
    about: "number, mean, standard deviation, least and largest value",
    bind: |arguments, context| {
        arguments.expect(1..=usize::MAX)?;
        let list = arguments.values(context)?;
        Ok(Bound::Summary(Box::new(move || Box::new(Stats::new(&list)))))
    },
};

/// What is known of the values of some expressions.
#[derive(Clone, Debug)]
pub struct Stats {
    list: Vec<(String, Value, Moments)>,
}

/// What is known of some numbers.
#[derive(Clone, Debug, Default)]
pub struct Moments {
    count: u64,
    missing: u64,
    sum: Exact,
    squares: Exact,
    least: Option<(f64, u64)>,
    largest: Option<(f64, u64)>,
}

impl Moments {
    /// Takes in the value of a trajectory.
    pub fn add(&mut self, value: f64, index: u64) {
        if !value.is_finite() {
            self.missing += 1;
            return;
        }
        self.count += 1;
        self.sum.add(value);
        self.squares.add_square(value);
        self.extend(value, index, value, index);
    }

    /// Takes in extremes. Of equal ones, the first trajectory counts.
    fn extend(&mut self, low: f64, at_low: u64, high: f64, at_high: u64) {
        let lower = |(old, at): (f64, u64)| low < old || low == old && at_low < at;
        let higher = |(old, at): (f64, u64)| high > old || high == old && at_high < at;
        if self.least.is_none_or(lower) {
            self.least = Some((low, at_low));
        }
        if self.largest.is_none_or(higher) {
            self.largest = Some((high, at_high));
        }
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many were not finite.
    #[must_use]
    pub fn missing(&self) -> u64 {
        self.missing
    }

    /// The mean; NaN of none.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.count == 0 { f64::NAN } else { mean(&self.sum, self.count) }
    }

    /// The standard deviation, with n − 1; NaN of none.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        if self.count == 0 { f64::NAN } else { deviation(&self.sum, &self.squares, self.count) }
    }

    /// The least value, and the first trajectory that has it.
    #[must_use]
    pub fn least(&self) -> Option<(f64, u64)> {
        self.least
    }

    /// The largest value, and the first trajectory that has it.
    #[must_use]
    pub fn largest(&self) -> Option<(f64, u64)> {
        self.largest
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        [self.count, self.missing].into_iter().for_each(|whole| bytes.whole(whole));
        for sum in [&self.sum, &self.squares] {
            let (size, negative) = sum.whole();
            // Digits below and above those that are used are left out.
            let skipped = size.0.iter().take_while(|&&digit| digit == 0).count();
            bytes.whole(u64::from(negative));
            bytes.whole(skipped as u64);
            bytes.whole((size.0.len() - skipped) as u64);
            size.0[skipped..].iter().for_each(|digit| bytes.extend(digit.to_le_bytes()));
        }
        for (value, at) in [self.least, self.largest].map(|extreme| extreme.unwrap_or((f64::NAN, 0))) {
            bytes.number(value);
            bytes.whole(at);
        }
    }

    fn absorb(&mut self, bytes: &mut Reader<'_>) -> Option<()> {
        self.count += bytes.whole()?;
        self.missing += bytes.whole()?;
        for sum in [&mut self.sum, &mut self.squares] {
            let negative = bytes.whole()? == 1;
            let skipped = usize::try_from(bytes.whole()?).ok().filter(|skipped| *skipped < 1 << 10)?;
            let count = bytes.count(4)?;
            let mut digits = vec![0; skipped];
            for _ in 0..count {
                digits.push(u32::from_le_bytes(bytes.bytes(4)?.try_into().ok()?));
            }
            sum.add_sum(&Exact::of(&Natural(digits), negative)?);
        }
        let (low, at_low, high, at_high) = (bytes.number()?, bytes.whole()?, bytes.number()?, bytes.whole()?);
        if !low.is_nan() && !high.is_nan() {
            self.extend(low, at_low, high, at_high);
        }
        Some(())
    }
}

impl Stats {
    fn new(list: &[(String, Value)]) -> Stats {
        Stats { list: list.iter().map(|(text, value)| (text.clone(), *value, Moments::default())).collect() }
    }

    /// The expressions, and what is known of each.
    pub fn list(&self) -> impl Iterator<Item = (&str, &Moments)> {
        self.list.iter().map(|(text, _, moments)| (text.as_str(), moments))
    }
}

impl Summary for Stats {
    fn take(&mut self, view: &View<'_>) {
        for row in view.good() {
            let index = view.index(row);
            self.list.iter_mut().for_each(|(_, value, moments)| moments.add(view.value(*value, row), index));
        }
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        self.list.iter().for_each(|(_, _, moments)| moments.save(bytes));
    }

    fn absorb(&mut self, bytes: &mut Reader<'_>) -> Option<()> {
        self.list.iter_mut().try_for_each(|(_, _, moments)| moments.absorb(bytes))
    }

    fn columns(&self) -> Vec<Column> {
        let column = |name: &str, of: &dyn Fn(&Moments) -> f64| Column {
            name: name.to_owned(),
            values: self.list.iter().map(|(_, _, moments)| of(moments)).collect(),
        };
        let places = (0..self.list.len()).map(|i| i as f64).collect();
        vec![
            Column { name: "expression".to_owned(), values: places },
            column("count", &|m| m.count as f64),
            column("missing", &|m| m.missing as f64),
            column("mean", &Moments::mean),
            column("deviation", &Moments::deviation),
            column("least", &|m| m.least.map_or(f64::NAN, |(value, _)| value)),
            column("largest", &|m| m.largest.map_or(f64::NAN, |(value, _)| value)),
        ]
    }

    fn kind(&self, column: usize) -> ColumnKind {
        match column {
            0 => ColumnKind::Word(self.list.iter().map(|(text, ..)| text.clone()).collect()),
            1 | 2 => ColumnKind::Whole,
            _ => ColumnKind::Number,
        }
    }

    fn lines(&self) -> Vec<(String, String)> {
        let summary = |m: &Moments| match (m.least, m.largest) {
            (Some((low, at_low)), Some((high, at_high))) => format!(
                "mean {}, deviation {}, from {} (trajectory {at_low}) to {} (trajectory {at_high}){}",
                short(m.mean()),
                short(m.deviation()),
                short(low),
                short(high),
                missing(m.missing)
            ),
            _ => format!("no values{}", missing(m.missing)),
        };
        self.list.iter().map(|(text, _, moments)| (text.clone(), summary(moments))).collect()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A number for people.
pub(super) fn short(value: f64) -> String {
    rounded(value, 7)
}

/// What is said of values that are missing.
pub(super) fn missing(count: u64) -> String {
    if count == 0 { String::new() } else { format!("; {count} missing") }
}
