//! Evenly between two numbers, each trajectory for itself.

use super::{Draw, Kind, Law, Role, SampleError};
use crate::random::{Purpose, between, bits, unit};
use std::sync::Arc;

pub(super) const KIND: Kind = Kind {
    name: "uniform",
    form: "uniform(low, high)",
    about: "evenly between two numbers",
    read: |arguments| {
        let [low, high] = arguments.numbers()?;
        arguments.ends(low, high)?;
        Ok(Arc::new(Uniform { low, high }))
    },
};

#[derive(Debug)]
struct Uniform {
    low: f64,
    high: f64,
}

impl Law for Uniform {
    fn draw(&self, role: &Role) -> Result<Draw, SampleError> {
        let (&Uniform { low, high }, Role { seed, dimension, .. }) = (self, *role);
        Ok(Box::new(move |index, _| between(low, high, unit(bits(seed, index, dimension, Purpose::Draw)))))
    }
}
