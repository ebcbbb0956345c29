//! Equally spaced numbers, both ends among them.

use super::{Draw, Kind, Law, Role, SampleError, Span};
use crate::random::spaced;
use std::sync::Arc;

pub(super) const KIND: Kind = Kind {
    name: "grid",
    form: "grid(low, high, points)",
    about: "equally spaced numbers, with both ends; several grids make a product",
    read: |arguments| {
        let [low, high, points] = arguments.numbers()?;
        arguments.ends(low, high)?;
        if points.fract() != 0.0 || !(2.0..=MOST).contains(&points) {
            return Err(SampleError::GridSize { text: arguments.text.to_owned(), value: points });
        }
        Ok(Arc::new(Grid { low, high, points: points as u64 }))
    },
};

/// A larger grid has points that are equal after rounding.
const MOST: f64 = (1u64 << 53) as f64;

#[derive(Debug)]
struct Grid {
    low: f64,
    high: f64,
    points: u64,
}

impl Law for Grid {
    fn draw(&self, _: &Role) -> Result<Draw, SampleError> {
        let Grid { low, high, points } = *self;
        Ok(Box::new(move |_, step| spaced(low, high, step, points - 1)))
    }

    fn span(&self) -> Span {
        Span::Grid(self.points)
    }
}
