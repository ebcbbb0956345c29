//! A number: the same for all.

use super::{Draw, Law, Role, SampleError};

#[derive(Debug)]
pub(super) struct Constant(pub(super) f64);

impl Law for Constant {
    fn draw(&self, _: &Role) -> Result<Draw, SampleError> {
        let Constant(value) = *self;
        Ok(Box::new(move |_, _| value))
    }

    fn varies(&self) -> bool {
        false
    }
}
