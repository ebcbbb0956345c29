//! Methods that keep the energy itself, not a neighbour of it.

pub(super) mod average_vector_field;
pub(super) mod discrete_gradient;
pub(super) mod energy_collocation;
mod mean_field;
