//! Reading `NAME=DISTRIBUTION`.

use super::{ALL, Named, SampleError, constant};
use crate::text::{call, number, parts};
use leastaction_expr::nearest;
use std::sync::Arc;

/// What stands between the parentheses of a distribution.
#[derive(Clone, Debug)]
pub struct Arguments<'a> {
    /// The whole text, for errors.
    pub text: &'a str,
    /// The name that is drawn for.
    pub name: &'a str,
    /// How it should be written.
    pub form: &'static str,
    /// The arguments.
    pub list: Vec<&'a str>,
}

impl Arguments<'_> {
    /// The arguments as numbers; their count must be this.
    ///
    /// # Errors
    /// [`SampleError`] if there are more or fewer, or one is not a finite number.
    pub fn numbers<const N: usize>(&self) -> Result<[f64; N], SampleError> {
        self.expect(N..=N)?;
        let mut numbers = [0.0; N];
        for (number, argument) in numbers.iter_mut().zip(&self.list) {
            *number = self.number(argument)?;
        }
        Ok(numbers)
    }

    /// Two numbers, the first of which is smaller.
    ///
    /// # Errors
    /// [`SampleError`] if they are not.
    pub fn ends(&self, low: f64, high: f64) -> Result<(), SampleError> {
        if low < high && (high - low).is_finite() {
            return Ok(());
        }
        Err(SampleError::Ends { text: self.text.to_owned(), low, high })
    }

    pub(super) fn expect(&self, count: std::ops::RangeInclusive<usize>) -> Result<(), SampleError> {
        let found = self.list.len();
        if count.contains(&found) {
            return Ok(());
        }
        Err(SampleError::ArgumentCount { text: self.text.to_owned(), form: self.form, found })
    }

    pub(super) fn number(&self, argument: &str) -> Result<f64, SampleError> {
        let wrong = || SampleError::NotANumber { text: self.text.to_owned(), part: argument.to_owned() };
        number(argument).filter(|number| number.is_finite()).ok_or_else(wrong)
    }
}

pub(super) fn read(text: &str) -> Result<Named, SampleError> {
    let text = text.trim();
    let nameless = || SampleError::NoName { text: text.to_owned() };
    let (name, value) = text.split_once('=').ok_or_else(nameless)?;
    let (name, value) = (name.trim(), value.trim());
    if name.is_empty() || value.is_empty() || name.contains(char::is_whitespace) {
        return Err(nameless());
    }
    let call = call(value);
    let known = call.and_then(|(word, inside)| Some((ALL.iter().find(|kind| kind.name == word)?, inside)));
    let law = match known {
        Some((kind, inside)) => {
            let list = parts(inside);
            (kind.read)(&Arguments { text, name, form: kind.form, list })?
        }
        None => match number(value) {
            Some(number) if number.is_finite() => Arc::new(constant::Constant(number)),
            _ => return Err(unknown(text, value, call.map(|(word, _)| word))),
        },
    };
    Ok(Named { name: name.to_owned(), text: value.to_owned(), law })
}

fn unknown(text: &str, value: &str, word: Option<&str>) -> SampleError {
    // Without parentheses, the word may still be one that needs them.
    let word = word.or_else(|| ALL.iter().map(|kind| kind.name).find(|name| *name == value));
    match word.filter(|word| word.chars().all(char::is_alphanumeric)) {
        Some(word) => {
            let nearest = nearest(word, ALL.iter().map(|kind| kind.name));
            let form = ALL.iter().find(|kind| kind.name == word).map(|kind| kind.form);
            SampleError::UnknownKind { text: text.to_owned(), word: word.to_owned(), nearest, form }
        }
        None => SampleError::NotANumber { text: text.to_owned(), part: value.to_owned() },
    }
}
