//! The methods, one file each.

mod gauss;
mod implicit_midpoint;
mod lobatto;
mod radau5;
mod rk4;

use crate::card::Card;
use leastaction_mechanics::nearest;

/// Every method.
pub const ALL: &[Card] = &[
    rk4::CARD,
    implicit_midpoint::CARD,
    gauss::GAUSS4,
    gauss::GAUSS6,
    gauss::GAUSS8,
    gauss::GAUSS10,
    gauss::GAUSS12,
    lobatto::STORMER_VERLET,
    lobatto::LOBATTO_PAIR4,
    lobatto::LOBATTO_PAIR6,
    radau5::CARD,
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
