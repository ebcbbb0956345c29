//! What can be wrong with parameters and inputs.

use super::EvalError;
use leastaction_expr::Advice;

/// Why parameters or inputs cannot be set.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SettingError {
    /// The system has no such parameter or input.
    Unknown {
        /// "parameter" or "input".
        what: &'static str,
        /// The name.
        name: String,
        /// A name that is spelt alike.
        nearest: Option<String>,
    },
    /// The input is part of the compiled system.
    Stated {
        /// The name.
        name: String,
    },
    /// The number of parameters is wrong.
    Count {
        /// How many there are.
        expected: usize,
        /// How many were given.
        found: usize,
    },
    /// There is no such lane.
    NoLane {
        /// The number that was given.
        lane: usize,
    },
    /// A parameter, or a constant input, is infinite or NaN.
    NotFinite {
        /// "parameter" or "input".
        what: &'static str,
        /// The parameter or input.
        name: String,
        /// Its value.
        value: f64,
    },
    /// With these parameters a particle's mass is not positive.
    BadMass {
        /// The particle.
        particle: String,
        /// The mass.
        value: f64,
    },
    /// With these parameters a number of the model is out of its range.
    OutOfRange {
        /// What it is.
        name: String,
        /// Its value.
        value: f64,
        /// What it must be, in words.
        range: &'static str,
    },
    /// The masses could not be computed.
    Eval(#[from] EvalError),
}

impl SettingError {
    /// What is wrong, and what to do.
    #[must_use]
    pub fn advice(&self) -> Advice {
        use SettingError as E;
        match self {
            E::Unknown { what, name, nearest } => {
                Advice::cause(format!("there is no {what} `{name}`")).nearest(nearest.as_ref())
            }
            E::Stated { name } => Advice::cause(format!("the input `{name}` is stated by the model"))
                .remedy("give it another value there"),
            E::Count { expected, found } => {
                Advice::cause(format!("{expected} parameters are expected, {found} were given"))
            }
            E::OutOfRange { name, value, range } => {
                Advice::cause(format!("`{name}` is {value} with these parameters, and must be {range}"))
            }
            E::NoLane { lane } => {
                Advice::cause(format!("there is no lane {lane}")).remedy("a block has eight, counted from 0")
            }
            E::NotFinite { what, name, value } => Advice::cause(format!("the {what} `{name}` is {value}"))
                .remedy(format!("{what}s must be finite")),
            E::BadMass { particle, value } => {
                Advice::cause(format!("the mass of particle `{particle}` is {value} with these parameters"))
                    .remedy("masses must be positive")
            }
            E::Eval(error) => Advice::cause(error.to_string()),
        }
    }
}

impl std::fmt::Display for SettingError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.advice().fmt(f)
    }
}

/// Why a table cannot be an input.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TableError {
    /// The table is empty.
    #[error("the table is empty: it needs at least one time")]
    Empty,
    /// There are not as many values as times.
    #[error("the table has {times} times and {values} values")]
    Lengths {
        /// The number of times.
        times: usize,
        /// The number of values.
        values: usize,
    },
    /// A time or a value is not finite.
    #[error("row {row} of the table is ({time}, {value}): both must be finite")]
    NotFinite {
        /// The row.
        row: usize,
        /// The time.
        time: f64,
        /// The value.
        value: f64,
    },
    /// Times do not increase.
    #[error("times must increase, but row {row} of the table has {time} after {before}")]
    NotIncreasing {
        /// The row.
        row: usize,
        /// Its time.
        time: f64,
        /// The time before it.
        before: f64,
    },
}
