//! What is unknown, and how hard to look for it.

use leastaction_expr::{Expr, Graph};
use std::str::FromStr;

/// A parameter that is free, perhaps within limits.
#[derive(Clone, Debug, PartialEq)]
pub struct Free {
    /// The parameter.
    pub name: String,
    /// The least and the largest value that it may have. Left out, it keeps the sign that it has in the model; one that is 0 there may have any.
    pub limits: Option<[f64; 2]>,
}

impl Free {
    /// A parameter that keeps its sign.
    #[must_use]
    pub fn named(name: &str) -> Free {
        Free { name: name.to_owned(), limits: None }
    }

    /// A parameter between two values.
    #[must_use]
    pub fn between(name: &str, low: f64, high: f64) -> Free {
        Free { name: name.to_owned(), limits: Some([low, high]) }
    }
}

/// Why a text does not say what is free.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FreeError {
    /// There is no name.
    #[error("`{text}` has no name: write NAME, or NAME=LOW..HIGH such as k=1..10")]
    NoName {
        /// The text.
        text: String,
    },
    /// There are no limits after the sign.
    #[error("`{text}`: write the limits as NAME=LOW..HIGH, such as k=1..10, or k=0.. for one")]
    Limits {
        /// The text.
        text: String,
    },
}

/// Reads `NAME` or `NAME=LOW..HIGH`; a limit may be left out.
impl FromStr for Free {
    type Err = FreeError;

    fn from_str(text: &str) -> Result<Free, FreeError> {
        let (name, limits) = match text.split_once('=') {
            None => (text.trim(), None),
            Some((name, limits)) => (name.trim(), Some(limits.trim())),
        };
        if name.is_empty() || name.contains(char::is_whitespace) {
            return Err(FreeError::NoName { text: text.to_owned() });
        }
        let Some(limits) = limits else { return Ok(Free::named(name)) };
        let wrong = || FreeError::Limits { text: text.to_owned() };
        let (low, high) = limits.split_once("..").ok_or_else(wrong)?;
        let read = |text: &str, missing: f64| match text.trim() {
            "" => Some(missing),
            text => text.parse().ok().or_else(|| Graph::new().parse(text).ok().and_then(Expr::as_number)),
        };
        let (low, high) = (read(low, f64::NEG_INFINITY), read(high, f64::INFINITY));
        let (low, high): (f64, f64) = low.zip(high).ok_or_else(wrong)?;
        match low < high {
            true => Ok(Free::between(name, low, high)),
            false => Err(wrong()),
        }
    }
}

/// What is unknown, and how hard to look for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The parameters that are free; none for all of the model.
    pub free: Vec<Free>,
    /// Coordinates, velocities and momenta whose start is known, as the model says it at t = 0. Of all others, each recording has its own at its first time.
    pub known: Vec<String>,
    /// Whether all of the start is known.
    pub known_start: bool,
    /// The largest number of linearisations in each descent.
    pub iterations: usize,
    /// Whether to look for reasons where the model does not explain the data: other units, shifted times. That takes dozens of further fits.
    pub hints: bool,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan { free: Vec::new(), known: Vec::new(), known_start: false, iterations: 60, hints: true }
    }
}

#[cfg(test)]
mod tests {
    use super::Free;

    #[test]
    fn limits_are_read() {
        assert_eq!("m".parse(), Ok(Free::named("m")));
        assert_eq!(" k = 1..10".parse(), Ok(Free::between("k", 1.0, 10.0)));
        assert_eq!("a=-pi/2..".parse(), Ok(Free::between("a", -std::f64::consts::FRAC_PI_2, f64::INFINITY)));
        assert_eq!("c=..0.5".parse(), Ok(Free::between("c", f64::NEG_INFINITY, 0.5)));
        for wrong in ["", "=1..2", "k=", "k=3", "k=2..1", "k=1..1", "k=x..2", "two words", "k=nan..1"] {
            assert!(wrong.parse::<Free>().is_err(), "{wrong}");
        }
    }
}
