//! Quantiles from counts of numbers that begin with the same bits.
//!
//! Sign, exponent and eleven bits of the fraction choose a bin: its numbers differ by less than 2⁻¹¹ of themselves, and its middle is off by less than 2⁻¹²,
//! 0.025 %. Bins are the same for everybody, so that counts of parts add up to those of the whole; there are no more of them than values
//! (as in C. Masson, J. E. Rim and H. K. Lee, doi:10.14778/3352063.3352135, with powers of 2 in the place of logarithms).

use super::stats::{missing, short};
use super::{Bound, Kind, ReduceError, Summary, Value, View};
use crate::bytes::{Reader, Writer};
use leastaction_output::Column;
use std::any::Any;
use std::collections::BTreeMap;

pub(super) const KIND: Kind = Kind {
    name: "quantiles",
    form: "quantiles(expression) or quantiles(expression, part, …)",
    about: "the values that parts of all are below, to 0.025 %",
    bind: |arguments, context| {
        arguments.expect(1..=usize::MAX)?;
        let value = arguments.value(0, context)?;
        let mut wanted = Vec::new();
        for place in 1..arguments.list.len() {
            let part = arguments.number(place)?;
            if !(0.0..=1.0).contains(&part) {
                return Err(ReduceError::Part { text: arguments.text.to_owned(), value: part });
            }
            wanted.push(part);
        }
        if wanted.is_empty() {
            wanted.extend(USUAL);
        }
        let blank = Quantiles {
            text: arguments.list[0].to_owned(),
            value,
            wanted,
            bins: BTreeMap::new(),
            missing: 0,
            least: f64::INFINITY,
            largest: f64::NEG_INFINITY,
        };
        Ok(Bound::Summary(Box::new(move || Box::new(blank.clone()))))
    },
};

/// What is asked for unless something else is.
const USUAL: [f64; 7] = [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99];
/// Bits of a number that do not choose its bin.
const BELOW: u32 = 52 - 11;

/// The values that parts of all are below.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantiles {
    text: String,
    value: Value,
    wanted: Vec<f64>,
    /// Counts by the leading bits, in the order of numbers.
    bins: BTreeMap<i32, u64>,
    missing: u64,
    least: f64,
    largest: f64,
}

/// The bin of a finite number: bins are in the order of numbers.
fn bin(value: f64) -> i32 {
    let lead = (value.abs().to_bits() >> BELOW) as i32;
    if value.is_sign_negative() { -1 - lead } else { lead }
}

/// The middle of a bin.
fn middle(bin: i32) -> f64 {
    let lead = if bin < 0 { -1 - bin } else { bin } as u64;
    let (low, high) = (f64::from_bits(lead << BELOW), f64::from_bits(((lead + 1) << BELOW) - 1));
    // The one at 0 has 0 itself.
    let size = if lead == 0 { 0.0 } else { low + (high - low) / 2.0 };
    if bin < 0 { -size } else { size }
}

impl Quantiles {
    /// How many values there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.bins.values().sum()
    }

    /// The value that a part of all are below or equal to, from 0 for the least to 1 for the largest; NaN of none.
    #[must_use]
    pub fn quantile(&self, part: f64) -> f64 {
        let count = self.count();
        if count == 0 {
            return f64::NAN;
        }
        if part <= 0.0 {
            return self.least;
        }
        // The k-th value, counted from 1.
        let place = ((part * count as f64).ceil() as u64).clamp(1, count);
        let mut seen = 0;
        let bin = self.bins.iter().find(|(_, here)| {
            seen += **here;
            seen >= place
        });
        if place == count {
            return self.largest;
        }
        bin.map_or(f64::NAN, |(&bin, _)| middle(bin).clamp(self.least, self.largest))
    }

    fn add(&mut self, value: f64) {
        if !value.is_finite() {
            self.missing += 1;
            return;
        }
        *self.bins.entry(bin(value)).or_default() += 1;
        self.least = self.least.min(value);
        self.largest = self.largest.max(value);
    }
}

impl Summary for Quantiles {
    fn take(&mut self, view: &View<'_>) {
        view.good().for_each(|row| self.add(view.value(self.value, row)));
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        bytes.whole(self.missing);
        bytes.number(self.least);
        bytes.number(self.largest);
        bytes.whole(self.bins.len() as u64);
        for (&bin, &count) in &self.bins {
            bytes.extend(bin.to_le_bytes());
            bytes.whole(count);
        }
    }

    fn absorb(&mut self, bytes: &mut Reader<'_>) -> Option<()> {
        self.missing += bytes.whole()?;
        self.least = self.least.min(bytes.number()?);
        self.largest = self.largest.max(bytes.number()?);
        for _ in 0..bytes.count(12)? {
            let bin = i32::from_le_bytes(bytes.bytes(4)?.try_into().ok()?);
            *self.bins.entry(bin).or_default() += bytes.whole()?;
        }
        Some(())
    }

    fn columns(&self) -> Vec<Column> {
        let values = self.wanted.iter().map(|&part| self.quantile(part)).collect();
        vec![
            Column { name: "part".to_owned(), values: self.wanted.clone() },
            Column { name: "value".to_owned(), values },
        ]
    }

    fn lines(&self) -> Vec<(String, String)> {
        let parts = |&part: &f64| format!("{} % below {}", short(100.0 * part), short(self.quantile(part)));
        let parts: Vec<String> = self.wanted.iter().map(parts).collect();
        vec![(self.text.clone(), format!("{}{}", parts.join(", "), missing(self.missing)))]
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leastaction_testing::Random;

    fn of(values: &[f64]) -> Quantiles {
        let mut quantiles = Quantiles {
            text: "x".to_owned(),
            value: Value::End(0),
            wanted: Vec::new(),
            bins: BTreeMap::new(),
            missing: 0,
            least: f64::INFINITY,
            largest: f64::NEG_INFINITY,
        };
        values.iter().for_each(|&value| quantiles.add(value));
        quantiles
    }

    /// Against sorting: of values over many magnitudes, of both signs, with zeros.
    #[test]
    fn quantiles_are_those_of_sorted_values() {
        let mut random = Random::new(6);
        for _ in 0..20 {
            let mut values: Vec<f64> = (0..1000)
                .map(|_| (random.between(-1.0, 1.0)) * 10f64.powf(random.between(-5.0, 5.0)))
                .chain([0.0, -0.0, f64::MAX, 5e-324])
                .collect();
            let quantiles = of(&values);
            values.sort_by(f64::total_cmp);
            for k in 0..=100 {
                let part = f64::from(k) / 100.0;
                let place = ((part * values.len() as f64).ceil() as usize).clamp(1, values.len());
                let (exact, found) = (values[place - 1], quantiles.quantile(part));
                assert!(
                    (found - exact).abs() <= exact.abs() / 4096.0 + 1e-300,
                    "{part}: {found} and {exact}"
                );
            }
        }
        assert!(of(&[]).quantile(0.5).is_nan());
        assert_eq!(of(&[f64::NAN, 3.0]).quantile(0.5), 3.0);
    }

    /// Parts that are merged are the whole.
    #[test]
    fn parts_add_up() {
        let mut random = Random::new(7);
        let values: Vec<f64> = (0..3000).map(|_| random.between(-2.0, 5.0).powi(3)).collect();
        let mut merged = of(&[]);
        for part in values.chunks(700).rev() {
            let mut bytes = Vec::new();
            of(part).save(&mut bytes);
            let mut reader = Reader(&bytes);
            assert!(merged.absorb(&mut reader).is_some() && reader.is_done());
            assert!(of(&[]).absorb(&mut Reader(&bytes[..bytes.len() - 1])).is_none());
        }
        assert_eq!(merged, of(&values));
    }
}
