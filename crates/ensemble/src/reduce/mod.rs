//! Reductions: what is kept of many trajectories.
//!
//! | text | what is kept |
//! |---|---|
//! | `ends`, `ends(x'^2, y)` | a row for each trajectory: its number, its fate (`complete`, `failed`, or the event that ended it), how many steps it took, when it ended, the parameters that were drawn, the states at both ends, and these expressions |
//! | `stats(x, y'^2)` | number, mean, standard deviation, least and largest value of each expression |
//! | `quantiles(x)`, `quantiles(x, 0.05, 0.95)` | the values that parts of all are below, to 0.025 % |
//! | `histogram(x, -1, 1, 50)` | how many fall into each of 50 bins |
//! | `histogram2(x, -1, 1, 50, y, -2, 2, 80)` | the same in two dimensions |
//! | `events`, `events(top, ground)` | a row for each crossing of the model's events: trajectory, event, time, direction (`rising`, `falling`), parameters that were drawn, and state |
//! | `section(strobe, x)` | a row for each crossing of an event: trajectory, time, parameters that were drawn, and these expressions there |
//! | `samples`, `samples(x', energy)` | a row for each trajectory and sample: trajectory, time, parameters that were drawn, state, and these expressions there |
//! | `map(x)` | a value at each point of the grids that are sampled: a picture |
//!
//! An expression is one that can be [observed](leastaction_mechanics::Dynamics::observable), where the trajectory ends. Others can be looked at:
//!
//! | text | value |
//! |---|---|
//! | `start(x)` | an expression where the trajectory begins |
//! | `first(top)` | the time of the first crossing of an event, if there is one |
//! | `crossings(top)` | how often it was crossed |
//! | `min(x)`, `max(x')`, `range(x)`, `mean(V)` | the least and the largest value of an expression over the samples, the difference of both, and its mean over time |
//!
//! Trajectories that failed are counted, and left out of everything else but `ends` and `map`; values that are not finite, such as the time of an event
//! that did not happen, are counted as missing.
//!
//! Each chunk is reduced by itself, and the whole is made of the chunks in their order. Counts and sums are exact ([`Stats`]), so that it does not matter how trajectories
//! were cut into chunks and shards: the results have the same bits.

mod along;
mod ends;
mod error;
mod events;
mod histogram;
mod histogram2;
mod map;
mod quantiles;
mod samples;
mod section;
mod single;
mod stats;
mod tally;
mod value;

pub use along::Along;
pub(crate) use along::{Courses, Follower};
pub use error::ReduceError;
pub use histogram::{Bins, Histogram};
pub use histogram2::Histogram2;
pub use map::Map;
pub use quantiles::Quantiles;
pub use single::Values;
pub use stats::{Moments, Stats};
pub use tally::Overview;
pub use value::{Context, Value, View};

use crate::bytes::Reader;
use crate::text::{call, number, parts};
use leastaction_expr::nearest;
use leastaction_output::{Column, ColumnKind};
use std::any::Any;
use std::fmt;
use std::str::FromStr;

/// A kind of reduction, as it is written.
#[derive(Clone, Copy)]
pub struct Kind {
    /// The word.
    pub name: &'static str,
    /// How it is written.
    pub form: &'static str,
    /// What it keeps.
    pub about: &'static str,
    bind: fn(&Arguments<'_>, &mut Context<'_>) -> Result<Bound, ReduceError>,
}

/// All kinds.
pub const ALL: &[Kind] = &[
    ends::KIND,
    stats::KIND,
    quantiles::KIND,
    histogram::KIND,
    histogram2::KIND,
    events::KIND,
    section::KIND,
    samples::KIND,
    map::KIND,
];

/// A reduction that goes with a system.
pub enum Bound {
    /// Something of bounded size, of which this gives an empty one.
    Summary(Box<dyn Fn() -> Box<dyn Summary> + Send + Sync>),
    /// Rows of numbers.
    Rows(Box<dyn Rows>),
}

/// Something of bounded size that is known of trajectories.
pub trait Summary: Send {
    /// Takes in the trajectories of a chunk.
    fn take(&mut self, view: &View<'_>);

    /// Writes all that is known.
    fn save(&self, bytes: &mut Vec<u8>);

    /// Takes in what was written of other trajectories; `None` if it cannot be read.
    fn absorb(&mut self, bytes: &mut Reader<'_>) -> Option<()>;

    /// What is known, as columns of numbers.
    fn columns(&self) -> Vec<Column>;

    /// What the numbers of a column are.
    fn kind(&self, column: usize) -> ColumnKind {
        let _ = column;
        ColumnKind::Number
    }

    /// What is known, in words: lines of a subject and what is said of it.
    fn lines(&self) -> Vec<(String, String)>;

    /// Itself, to be asked what it is.
    fn as_any(&self) -> &dyn Any;
}

/// Rows of numbers that are known of trajectories.
pub trait Rows: Send + Sync {
    /// What the columns belong to, and their names.
    fn columns(&self) -> Vec<(&'static str, String)>;

    /// What the numbers of a column are.
    fn kind(&self, column: usize) -> ColumnKind;

    /// The largest number of rows of a number of trajectories, without those of their ends; `None` if it depends on the trajectories.
    fn at_most(&self, trajectories: u64) -> Option<u64>;

    /// Appends the rows of a chunk's trajectories, column by column.
    fn fill(&self, view: &View<'_>, columns: &mut [Vec<f64>]);
}

/// A reduction as it is written: `stats(x)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduction {
    text: String,
}

impl Reduction {
    /// Binds it to a system.
    ///
    /// # Errors
    /// [`ReduceError`] if it does not go with it.
    pub fn bind(&self, context: &mut Context<'_>) -> Result<Bound, ReduceError> {
        let (kind, inside) = self.kind()?;
        let arguments = Arguments { text: &self.text, form: kind.form, list: parts(inside) };
        (kind.bind)(&arguments, context)
    }

    /// The kind, and what stands in parentheses.
    fn kind(&self) -> Result<(&'static Kind, &str), ReduceError> {
        let (word, inside) = call(&self.text).unwrap_or((&self.text, ""));
        let kind = ALL.iter().find(|kind| kind.name == word).ok_or_else(|| ReduceError::UnknownKind {
            text: self.text.clone(),
            word: word.to_owned(),
            nearest: nearest(word, ALL.iter().map(|kind| kind.name)),
        })?;
        Ok((kind, inside))
    }

    /// Whether it keeps samples, for which the integrator must say when they are taken.
    #[must_use]
    pub fn keeps_samples(&self) -> bool {
        let inside = call(&self.text).map_or("", |(_, inside)| inside);
        self.word() == samples::KIND.name || parts(inside).iter().any(|part| value::along(part).is_some())
    }

    /// The word of its kind.
    #[must_use]
    pub fn word(&self) -> &str {
        call(&self.text).map_or(self.text.as_str(), |(word, _)| word)
    }
}

impl FromStr for Reduction {
    type Err = ReduceError;

    fn from_str(text: &str) -> Result<Reduction, ReduceError> {
        let reduction = Reduction { text: text.trim().to_owned() };
        reduction.kind()?;
        Ok(reduction)
    }
}

impl fmt::Display for Reduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What stands between the parentheses of a reduction.
#[derive(Clone, Debug)]
pub struct Arguments<'a> {
    /// The whole text, for errors.
    pub text: &'a str,
    /// How it should be written.
    pub form: &'static str,
    /// The arguments.
    pub list: Vec<&'a str>,
}

impl Arguments<'_> {
    /// Checks how many there are.
    fn expect(&self, count: std::ops::RangeInclusive<usize>) -> Result<(), ReduceError> {
        let found = self.list.len();
        let wrong = || ReduceError::ArgumentCount { text: self.text.to_owned(), form: self.form, found };
        if count.contains(&found) { Ok(()) } else { Err(wrong()) }
    }

    /// An argument as a finite number.
    fn number(&self, place: usize) -> Result<f64, ReduceError> {
        let part = self.list[place];
        let wrong = || ReduceError::NotANumber { text: self.text.to_owned(), part: part.to_owned() };
        number(part).filter(|number| number.is_finite()).ok_or_else(wrong)
    }

    /// Three arguments as bins: low, high, and how many.
    fn bins(&self, place: usize) -> Result<Bins, ReduceError> {
        let [low, high, count] = [self.number(place)?, self.number(place + 1)?, self.number(place + 2)?];
        Bins::new(low, high, count).ok_or_else(|| ReduceError::Bins {
            text: self.text.to_owned(),
            low,
            high,
            count,
        })
    }

    /// An argument as a value.
    fn value(&self, place: usize, context: &mut Context<'_>) -> Result<Value, ReduceError> {
        context.value(self.list[place]).map_err(|error| error.within(self.text))
    }

    /// All arguments as values, with their texts.
    fn values(&self, context: &mut Context<'_>) -> Result<Vec<(String, Value)>, ReduceError> {
        (0..self.list.len()).map(|i| Ok((self.list[i].to_owned(), self.value(i, context)?))).collect()
    }
}
