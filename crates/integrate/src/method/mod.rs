//! The methods: a file for each, or for one of each order, in folders by what their steps are made of.

mod collocation;
mod composition;
mod conformal;
mod energy;
mod explicit;
mod ias15;
mod rattle;
mod spark;
mod splitting;
mod tao;
mod taylor;
mod variational;

use crate::card::Card;
use leastaction_mechanics::{Advice, nearest};

/// Every method: first those for any field, by their order, then those that keep what a system's motion keeps.
pub const ALL: &[Card] = &[
    explicit::rk4::CARD,
    explicit::dormand_prince5::CARD,
    explicit::tsit5::CARD,
    explicit::dop853::CARD,
    explicit::vern9::CARD,
    taylor::CARD,
    ias15::CARD,
    collocation::radau5::CARD,
    splitting::symplectic_euler::CARD,
    splitting::verlet::CARD,
    splitting::verlet_position::CARD,
    splitting::ruth3::CARD,
    splitting::forest_ruth4::CARD,
    splitting::mclachlan4::CARD,
    splitting::blanes_moan4::CARD,
    splitting::blanes_moan4_rkn::CARD,
    splitting::yoshida6::CARD,
    splitting::kahan_li6::CARD,
    splitting::blanes_moan6::CARD,
    splitting::blanes_moan6_rkn::CARD,
    splitting::yoshida8::CARD,
    splitting::kahan_li8::CARD,
    splitting::sofroniou_spaletta10::CARD,
    tao::tao2::CARD,
    tao::tao4::CARD,
    tao::tao6::CARD,
    conformal::conformal2::CARD,
    conformal::conformal4::CARD,
    collocation::implicit_midpoint::CARD,
    collocation::gauss::GAUSS4,
    collocation::gauss::GAUSS6,
    collocation::gauss::GAUSS8,
    collocation::gauss::GAUSS10,
    collocation::gauss::GAUSS12,
    collocation::lobatto::STORMER_VERLET,
    collocation::lobatto::LOBATTO_PAIR4,
    collocation::lobatto::LOBATTO_PAIR6,
    spark::gauss::GAUSS_SPARK4,
    spark::gauss::GAUSS_SPARK6,
    spark::gauss::GAUSS_SPARK8,
    variational::midpoint::CARD,
    variational::lobatto::VARIATIONAL4,
    variational::lobatto::VARIATIONAL6,
    variational::lobatto::VARIATIONAL8,
    energy::discrete_gradient::CARD,
    energy::average_vector_field::CARD,
    energy::energy_collocation::ENERGY_COLLOCATION4,
    energy::energy_collocation::ENERGY_COLLOCATION6,
    rattle::shake::CARD,
    rattle::rattle2::CARD,
    rattle::rattle4::CARD,
    rattle::rattle6::CARD,
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
pub struct UnknownMethod {
    /// The name that was asked for.
    pub name: String,
    /// A method that is spelt alike.
    pub nearest: Option<String>,
}

impl UnknownMethod {
    /// What is wrong, and what to do.
    #[must_use]
    pub fn advice(&self) -> Advice {
        let wrong = Advice::cause(format!("there is no method `{}`", self.name));
        match &self.nearest {
            None => wrong.remedy(format!(
                "choose one of {}",
                ALL.iter().map(|c| c.name).collect::<Vec<_>>().join(", ")
            )),
            nearest => wrong.nearest(nearest.as_ref()),
        }
    }
}

impl std::fmt::Display for UnknownMethod {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.advice().fmt(f)
    }
}
