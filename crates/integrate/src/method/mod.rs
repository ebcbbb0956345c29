//! The methods, one file each.

mod average_vector_field;
mod discrete_gradient;
mod energy_collocation;
mod forecast;
mod galerkin;
mod implicit_midpoint;
mod mean_field;
mod rk4;
mod variational;
mod variational_midpoint;

use crate::card::Card;
use leastaction_mechanics::nearest;

/// Every method.
pub const ALL: &[Card] = &[
    rk4::CARD,
    implicit_midpoint::CARD,
    variational_midpoint::CARD,
    variational::ORDER_4,
    variational::ORDER_6,
    variational::ORDER_8,
    discrete_gradient::CARD,
    average_vector_field::CARD,
    energy_collocation::ORDER_4,
    energy_collocation::ORDER_6,
];

impl Card {
    /// The method with this name.
    ///
    /// # Errors
    /// [`UnknownMethod`] if there is none.
    pub fn named(name: &str) -> Result<&'static Card, UnknownMethod> {
        ALL.iter().find(|card| card.name == name).ok_or_else(|| UnknownMethod {
            name: name.to_owned(),
            nearest: nearest(name, ALL.iter().map(|card| card.name)),
        })
    }
}

/// No method has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no method `{name}`{}", suggestion(.nearest))]
pub struct UnknownMethod {
    /// The name that was asked for.
    pub name: String,
    /// A method that is spelt alike.
    pub nearest: Option<String>,
}

fn suggestion(nearest: &Option<String>) -> String {
    match nearest {
        Some(name) => format!(": did you mean `{name}`?"),
        None => format!(": choose one of {}", ALL.iter().map(|c| c.name).collect::<Vec<_>>().join(", ")),
    }
}
