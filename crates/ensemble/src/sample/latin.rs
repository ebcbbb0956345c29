//! Latin hypercubes: an interval is cut into as many strata as there are trajectories, and each stratum is drawn from once, in an order of its own for
//! each dimension (M. D. McKay, R. J. Beckman and W. J. Conover, Technometrics 21 (1979) 239, doi:10.2307/1268522).

use super::permutation::Permutation;
use super::{Draw, Kind, Law, Role, SampleError};
use crate::random::{Purpose, between, bits, unit};
use std::sync::Arc;

pub(super) const KIND: Kind = Kind {
    name: "latin",
    form: "latin(low, high)",
    about: "a dimension of a Latin hypercube: one in each of as many strata as there are trajectories",
    read: |arguments| {
        let [low, high] = arguments.numbers()?;
        arguments.ends(low, high)?;
        Ok(Arc::new(Latin { low, high }))
    },
};

#[derive(Debug)]
struct Latin {
    low: f64,
    high: f64,
}

impl Law for Latin {
    fn draw(&self, role: &Role) -> Result<Draw, SampleError> {
        let (&Latin { low, high }, Role { seed, count, dimension, .. }) = (self, *role);
        let strata = Permutation::new(count, seed, dimension);
        Ok(Box::new(move |index, _| {
            let within = unit(bits(seed, index, dimension, Purpose::Draw));
            between(low, high, (strata.at(index) as f64 + within) / count as f64)
        }))
    }
}
