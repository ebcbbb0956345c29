//! The methods, one file each.

mod average_vector_field;
mod composition;
mod conformal;
mod discrete_gradient;
mod dop853;
mod dormand_prince5;
mod energy_collocation;
mod explicit;
mod galerkin;
mod gauss;
mod gauss_radau;
mod ias15;
mod implicit_midpoint;
mod lobatto;
mod mean_field;
mod radau5;
mod rk4;
mod splitting;
mod tao;
mod taylor;
mod tsit5;
mod variational;
mod variational_midpoint;
mod vern9;

use crate::card::Card;
use leastaction_mechanics::nearest;

/// Every method.
pub const ALL: &[Card] = &[
    rk4::CARD,
    dormand_prince5::CARD,
    tsit5::CARD,
    dop853::CARD,
    vern9::CARD,
    taylor::CARD,
    splitting::symplectic_euler::CARD,
    splitting::verlet::CARD,
    splitting::verlet_position::CARD,
    splitting::ruth3::CARD,
    splitting::forest_ruth4::CARD,
    splitting::mclachlan4::CARD,
    splitting::blanes_moan4::CARD,
    splitting::blanes_moan4_rkn::CARD,
    splitting::blanes_moan6::CARD,
    splitting::blanes_moan6_rkn::CARD,
    splitting::yoshida6::CARD,
    splitting::kahan_li6::CARD,
    splitting::yoshida8::CARD,
    splitting::kahan_li8::CARD,
    splitting::sofroniou_spaletta10::CARD,
    tao::tao2::CARD,
    tao::tao4::CARD,
    tao::tao6::CARD,
    conformal::conformal2::CARD,
    conformal::conformal4::CARD,
    ias15::CARD,
    implicit_midpoint::CARD,
    variational_midpoint::CARD,
    variational::ORDER_4,
    variational::ORDER_6,
    variational::ORDER_8,
    discrete_gradient::CARD,
    average_vector_field::CARD,
    energy_collocation::ORDER_4,
    energy_collocation::ORDER_6,
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
