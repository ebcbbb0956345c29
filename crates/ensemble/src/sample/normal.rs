//! The normal distribution, by its quantiles.

use super::{Draw, Kind, Law, Role, SampleError};
use crate::random::{Purpose, bits, inner, normal_quantile};
use std::sync::Arc;

pub(super) const KIND: Kind = Kind {
    name: "normal",
    form: "normal(mean, deviation)",
    about: "from the normal distribution",
    read: |arguments| {
        let [mean, deviation] = arguments.numbers()?;
        if deviation < 0.0 {
            return Err(SampleError::Deviation { text: arguments.text.to_owned(), value: deviation });
        }
        Ok(Arc::new(Normal { mean, deviation }))
    },
};

#[derive(Debug)]
struct Normal {
    mean: f64,
    deviation: f64,
}

impl Law for Normal {
    fn draw(&self, role: &Role) -> Result<Draw, SampleError> {
        let (&Normal { mean, deviation }, Role { seed, dimension, .. }) = (self, *role);
        Ok(Box::new(move |index, _| {
            mean + deviation * normal_quantile(inner(bits(seed, index, dimension, Purpose::Draw)))
        }))
    }

    fn varies(&self) -> bool {
        self.deviation > 0.0
    }
}
