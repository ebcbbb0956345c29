//! Inputs u(t): what drives a system from outside.

use crate::error::TableError;
use std::fmt;
use std::sync::Arc;

/// The value of an input over time.
#[derive(Clone)]
pub enum Input {
    /// The same at all times.
    Constant(f64),
    /// A table, linear between its rows.
    Table(Table),
    /// A function of time.
    Function(Arc<dyn Fn(f64) -> f64 + Send + Sync>),
}

impl Input {
    /// An input that is a function of time.
    #[must_use]
    pub fn function(f: impl Fn(f64) -> f64 + Send + Sync + 'static) -> Input {
        Input::Function(Arc::new(f))
    }

    /// The value at a time.
    #[must_use]
    pub fn at(&self, t: f64) -> f64 {
        match self {
            Input::Constant(value) => *value,
            Input::Table(table) => table.at(t),
            Input::Function(f) => f(t),
        }
    }
}

impl From<f64> for Input {
    fn from(value: f64) -> Input {
        Input::Constant(value)
    }
}

impl From<Table> for Input {
    fn from(table: Table) -> Input {
        Input::Table(table)
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Input::Constant(value) => write!(f, "Constant({value})"),
            Input::Table(table) => table.fmt(f),
            Input::Function(_) => f.write_str("Function"),
        }
    }
}

/// Values at increasing times: linear in between, constant before the first and after the last.
///
/// ```
/// use leastaction_mechanics::Table;
/// let ramp = Table::new(&[0.0, 2.0], &[1.0, 5.0])?;
/// assert_eq!([-1.0, 0.0, 1.0, 2.0, 9.0].map(|t| ramp.at(t)), [1.0, 1.0, 3.0, 5.0, 5.0]);
/// assert_eq!(
///     Table::new(&[0.0, 1.0, 1.0], &[0.0; 3]).unwrap_err().to_string(),
///     "times must increase, but row 2 of the table has 1 after 1"
/// );
/// # Ok::<(), leastaction_mechanics::TableError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    times: Arc<[f64]>,
    values: Arc<[f64]>,
}

impl Table {
    /// A table from times and values.
    ///
    /// # Errors
    /// [`TableError`] if there are no rows, the lengths differ, a number is not finite, or times do not increase.
    pub fn new(times: &[f64], values: &[f64]) -> Result<Table, TableError> {
        if times.len() != values.len() {
            return Err(TableError::Lengths { times: times.len(), values: values.len() });
        }
        if times.is_empty() {
            return Err(TableError::Empty);
        }
        for (row, (&time, &value)) in times.iter().zip(values).enumerate() {
            if !time.is_finite() || !value.is_finite() {
                return Err(TableError::NotFinite { row, time, value });
            }
        }
        if let Some(row) = (1..times.len()).find(|&row| times[row] <= times[row - 1]) {
            return Err(TableError::NotIncreasing { row, time: times[row], before: times[row - 1] });
        }
        Ok(Table { times: times.into(), values: values.into() })
    }

    /// The value at a time; NaN at NaN.
    #[must_use]
    pub fn at(&self, t: f64) -> f64 {
        let after = self.times.partition_point(|&row| row <= t);
        if t.is_nan() {
            f64::NAN
        } else if after == 0 {
            self.values[0]
        } else if after == self.times.len() {
            self.values[after - 1]
        } else {
            let [a, b] = [after - 1, after];
            let share = (t - self.times[a]) / (self.times[b] - self.times[a]);
            (1.0 - share) * self.values[a] + share * self.values[b]
        }
    }
}
